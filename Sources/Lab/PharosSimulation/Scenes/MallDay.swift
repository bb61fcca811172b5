package import PharosModel
import PharosSpace

/// The scripted visit of a mall that `pharos serve --demo` plays again and again.
///
/// A visitor with a handset comes from the street, scans the hall with its camera, looks at a shelf, takes the lift, has a
/// coffee, asks for the way to a toy shop, strays from it, arrives there after all, and leaves through the other door.
package enum MallDay {
  /// The visitor's handset.
  package static let visitor = ObserverID.name("visitor")

  /// Returns the visit as a scene.
  ///
  /// - Parameter bootID: the boot id of the handset; a repetition needs a higher one.
  /// - Returns: the scene, of one handset.
  package static func scene(bootID: UInt32 = 1) -> IndoorScene {
    let journey = self.journey(of: steps)
    return IndoorScene(
      name: "mall-day",
      summary: "a visitor of a mall looks at a shelf, has a coffee, and finds a toy shop two floors up",
      duration: journey.duration + .seconds(30),
      venue: SimulatedMall.venue(),
      storey: SimulatedMall.storey,
      handsets: [
        Handset(
          id: visitor,
          journey: journey,
          motion: .steps,
          beacons: .ranged,
          hasSatellites: true,
          visualScans: [self.journey(of: arrival).duration - .seconds(2)],
          sourceAddress: "192.0.2.44",
          bootID: bootID
        )
      ]
    )
  }

  /// The changes of the visit, at their times since it began: the visitor asks for the way to the toy shop.
  package static var changes: [(time: TimeSpan, change: RegionChange)] {
    let time = journey(of: arrival + coffee).duration - .seconds(20)
    let request = GuidanceRequest(to: .place("Toy Chest"))
    return [(time, .setGuidance(subject: .observer(visitor), request))]
  }

  /// From the street into the hall, where the visitor scans.
  private static let arrival: [JourneyStep] = [
    .stay(.seconds(20)),
    .enter(through: SimulatedMall.westDoor),
    .walk(to: Point(x: 6, y: 20)),
    .stay(.seconds(8)),
  ]
  /// To a shelf of the book shop, and up to the café.
  private static let coffee: [JourneyStep] = [
    .walk(to: Point(x: 7.5, y: 6)),
    .stay(.seconds(75)),
    .ride(SimulatedMall.lift, to: SimulatedMall.floor(1)),
    .walk(to: Point(x: 52.5, y: 33)),
    .stay(.seconds(150)),
  ]
  /// Past the escalator into a wrong shop, then to the toys, and home.
  private static let toys: [JourneyStep] = [
    .walk(to: Point(x: 37.5, y: 20)),
    .walk(to: Point(x: 22.5, y: 9)),
    .stay(.seconds(8)),
    .ride(SimulatedMall.upperEscalator, to: SimulatedMall.floor(2)),
    .walk(to: Point(x: 7.5, y: 33)),
    .stay(.seconds(90)),
    .ride(SimulatedMall.lift, to: SimulatedMall.floor(0)),
    .leave(through: SimulatedMall.eastDoor, to: Point(x: 110, y: 20)),
  ]
  private static var steps: [JourneyStep] { arrival + coffee + toys }

  private static func journey(of steps: [JourneyStep]) -> Journey {
    let planner = JourneyPlanner(venue: SimulatedMall.venue(), storey: SimulatedMall.storey)
    do {
      return try planner.journey(
        on: SimulatedMall.floor(0),
        from: Point(x: -60, y: 20),
        isOutdoors: true,
        steps
      )
    } catch {
      preconditionFailure("the journey of the demo cannot be walked: \(error)")
    }
  }

  /// The site of the mall.
  package static var siteYAML: String {
    """
    # A mall of three floors: its regions are areas of the map, and stays of 45 s and more are visits.
    applications:
      - id: mall
        regions:
          - { id: forecourt, kind: circle, \(position(-25, 20)), radius: 16m }
          - { id: the mall, kind: polygon, coordinates: \(rectangle(0, 0, 60, 40)) }
          - { id: café, kind: polygon, level: 1, coordinates: \(rectangle(45, 25, 60, 40)) }
          - { id: toy shop, kind: polygon, level: 2, coordinates: \(rectangle(0, 25, 15, 40)) }
    observers:
      - { id: visitor, name: visitor of the mall }
    visits: { minimum: 45s }

    """
  }

  private static func position(_ x: Double, _ y: Double) -> String {
    let coordinate = coordinate(x, y)
    return "latitude: \(coordinate.latitude), longitude: \(coordinate.longitude)"
  }

  private static func rectangle(_ west: Double, _ south: Double, _ east: Double, _ north: Double) -> String {
    let corners = [(west, south), (east, south), (east, north), (west, north)].map { coordinate($0, $1) }
    return "[" + corners.map { "[\($0.longitude), \($0.latitude)]" }.joined(separator: ", ") + "]"
  }

  private static func coordinate(_ x: Double, _ y: Double) -> Coordinate {
    guard let plane = SimulatedMall.venue().floor(SimulatedMall.floor(0))?.plane,
      let coordinate = plane.coordinate(of: Point(x: x, y: y))
    else { preconditionFailure("the mall stands on the Earth") }
    return coordinate
  }
}
