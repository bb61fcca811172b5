package import PharosModel
import PharosSpace

/// The scripted day in a mall that `pharos serve --demo` plays again and again.
///
/// A visitor with a handset comes from the street, scans the hall with its camera, steps up to an exhibit of the book shop, takes
/// the lift, has a coffee, asks for the way to a toy shop, strays from it, arrives there after all, and leaves through the other
/// door. A friend sits in the games shop and comes over to the café. A waiter follows the visitor with a drink.
///
/// What the applications of these three ask for meanwhile are ``requests(startingAt:)``.
package enum MallDay {
  /// The visitor's handset.
  package static let visitor = ObserverID.name("visitor")
  /// The handset of the visitor's friend.
  package static let friend = ObserverID.name("friend")
  /// The handset of a waiter of the café.
  package static let waiter = ObserverID.name("waiter")
  /// The beacon of the exhibit in the book shop.
  package static let exhibit = BeaconID.proximity(SimulatedMall.beacons, major: 0, minor: 6)

  /// Returns the day as a scene.
  ///
  /// - Parameter bootID: the boot id of the handsets; a repetition needs a higher one.
  /// - Returns: the scene, of three handsets.
  package static func scene(bootID: UInt32 = 1) -> IndoorScene {
    let journey = self.journey(from: street, isOutdoors: true, arrival + coffee + toys)
    func handset(_ id: ObserverID, _ journey: Journey, from address: String) -> Handset {
      Handset(
        id: id,
        journey: journey,
        motion: .steps,
        beacons: .ranged,
        sourceAddress: address,
        bootID: bootID
      )
    }
    var visitor = handset(visitor, journey, from: "192.0.2.44")
    visitor.hasSatellites = true
    visitor.visualScans = [time(after: hall) - .seconds(2)]
    return IndoorScene(
      name: "mall-day",
      summary: "a visitor of a mall looks at an exhibit, meets a friend, and finds a toy shop two floors up",
      duration: journey.duration + .seconds(30),
      venue: SimulatedMall.venue(),
      storey: SimulatedMall.storey,
      exhibits: [exhibit],
      handsets: [
        visitor,
        handset(friend, self.journey(on: 1, from: Point(x: 7.5, y: 31), friendship), from: "192.0.2.45"),
        handset(waiter, self.journey(on: 1, from: Point(x: 50, y: 35), service), from: "192.0.2.46"),
      ]
    )
  }

  private static let street = Point(x: -60, y: 20)
  private static let table = Point(x: 52.5, y: 33)

  /// From the street into the hall, where the visitor scans.
  private static let hall: [JourneyStep] = [
    .stay(.seconds(20)),
    .enter(through: SimulatedMall.westDoor),
    .walk(to: Point(x: 6, y: 20)),
    .stay(.seconds(8)),
  ]
  /// Right up to the exhibit, to the shelf behind it, and to a table of the café.
  private static let arrival =
    hall + [
      .walk(to: Point(x: 7.5, y: 8.2)),
      .stay(.seconds(15)),
      .walk(to: Point(x: 7.5, y: 5)),
      .stay(.seconds(75)),
      .ride(SimulatedMall.lift, to: SimulatedMall.floor(1)),
      .walk(to: table),
    ]
  private static let coffee: [JourneyStep] = [.stay(.seconds(150))]
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
  /// Over to the café once the visitor is there, and back to the games.
  private static var friendship: [JourneyStep] {
    [
      .stay(seated + .seconds(25)), .walk(to: Point(x: 51, y: 34)), .stay(.seconds(55)),
      .walk(to: Point(x: 7.5, y: 31)),
    ]
  }
  /// After the visitor to the toys, and back to the café.
  private static var service: [JourneyStep] {
    [
      .stay(leaving + .seconds(40)), .ride(SimulatedMall.upperEscalator, to: SimulatedMall.floor(2)),
      .walk(to: Point(x: 9, y: 33)), .stay(.seconds(20)),
      .ride(SimulatedMall.lift, to: SimulatedMall.floor(1)), .walk(to: Point(x: 50, y: 35)),
    ]
  }

  /// The time at which the visitor sits down in the café.
  static var seated: TimeSpan { time(after: arrival) }
  /// The time at which the visitor leaves the café.
  static var leaving: TimeSpan { time(after: arrival + coffee) }

  private static func time(after steps: [JourneyStep]) -> TimeSpan {
    journey(from: street, isOutdoors: true, steps).duration
  }

  private static let planner = JourneyPlanner(venue: SimulatedMall.venue(), storey: SimulatedMall.storey)

  private static func journey(
    on level: Int = 0,
    from point: Point,
    isOutdoors: Bool = false,
    _ steps: [JourneyStep]
  ) -> Journey {
    do {
      return try planner.journey(on: SimulatedMall.floor(level), from: point, isOutdoors: isOutdoors, steps)
    } catch {
      preconditionFailure("a journey of the demo cannot be walked: \(error)")
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
        ranging:
          - { uuid: \(SimulatedMall.beacons), major: 0 }
    observers:
      - { id: visitor, name: visitor of the mall }
      - { id: friend, name: friend of the visitor }
      - { id: waiter, name: waiter of the café }
    beacons:
      - { uuid: \(SimulatedMall.beacons), major: 0, minor: 6, name: exhibit of the book shop, title: A sea chart of 1655,
          description: "Drawn by hand on vellum. The lighthouse on it was never built." }
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
