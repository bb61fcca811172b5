package import PharosModel
import PharosVenues

/// The scripted visit of a mall that `pharos demo` plays and `pharos serve --demo` repeats.
///
/// A visitor with a handset comes from the street, looks at a shelf, takes the lift, has a coffee, loses the way to a toy
/// shop, arrives there after all, and leaves through the other door.
package enum MallDay {
  /// The visitor's handset.
  package static let visitor = ObserverID.name("visitor")

  /// Returns the visit as a scene.
  ///
  /// - Parameter bootID: the boot id of the handset; a repetition needs a higher one.
  /// - Returns: the scene, of one handset.
  package static func scene(bootID: UInt32 = 1) -> IndoorScene {
    let venue = SimulatedMall.venue()
    let planner = JourneyPlanner(venue: venue, storey: SimulatedMall.storey)
    let journey: Journey
    do {
      journey = try planner.journey(
        on: SimulatedMall.floor(0),
        from: Point(x: -60, y: 20),
        isOutdoors: true,
        steps
      )
    } catch {
      preconditionFailure("the journey of the demo cannot be walked: \(error)")
    }
    return IndoorScene(
      name: "mall-day",
      summary: "a visitor of a mall looks at a shelf, has a coffee, and finds a toy shop two floors up",
      duration: journey.duration + .seconds(30),
      venue: venue,
      storey: SimulatedMall.storey,
      handsets: [
        Handset(
          id: visitor,
          journey: journey,
          motion: .steps,
          beacons: .ranged,
          hasSatellites: true,
          sourceAddress: "192.0.2.44",
          bootID: bootID
        )
      ]
    )
  }

  /// The steps of the visitor.
  private static let steps: [JourneyStep] = [
    .stay(.seconds(20)),
    .enter(through: SimulatedMall.westDoor),
    .walk(to: Point(x: 6, y: 20)),
    .stay(.seconds(5)),
    // The shelf in the book shop.
    .walk(to: Point(x: 7.5, y: 6)),
    .stay(.seconds(75)),
    .take(SimulatedMall.lift, to: SimulatedMall.floor(1)),
    // A coffee.
    .walk(to: Point(x: 52.5, y: 33)),
    .stay(.seconds(150)),
    // The wrong way to the toys: past the escalator, into the sound room.
    .walk(to: Point(x: 37.5, y: 20)),
    .walk(to: Point(x: 22.5, y: 9)),
    .stay(.seconds(8)),
    .take(SimulatedMall.upperEscalator, to: SimulatedMall.floor(2)),
    .walk(to: Point(x: 7.5, y: 33)),
    .stay(.seconds(90)),
    .take(SimulatedMall.lift, to: SimulatedMall.floor(0)),
    .leave(through: SimulatedMall.eastDoor, to: Point(x: 110, y: 20)),
  ]

  /// The site of the mall.
  package static let siteYAML = """
    applications:
      - id: mall
        regions:
          - { id: ground floor, uuid: \(SimulatedMall.beacons), major: 0 }
          - { id: café, uuid: \(SimulatedMall.beacons), major: 1, minor: 12, enter: { rssi: -75 }, exit: { rssi: -82 } }
    observers:
      - { id: visitor, name: visitor of the mall }
    """
}
