import PharosModel
import PharosPipeline

/// Words for tests of geofences: metres east and north of a middle, seconds after a start.
enum GeofenceScript {
  static let start = Timestamp(seconds: 1_000_000)
  static let middle = Geofence.Position(latitude: 48.137, longitude: 11.575)
  /// The length of a degree at the middle, near enough for tests.
  static let degree = (north: 111_320.0, east: 111_320.0 * 0.66738)
  static let visitor = ObserverID.name("visitor")

  /// A dwell of three fixes.
  static let policy = Geofence.Policy(enterDwell: .seconds(2), exitDwell: .seconds(2))

  static func time(_ seconds: Double) -> Timestamp { start + .seconds(seconds) }

  static func position(_ east: Double, _ north: Double) -> Geofence.Position {
    Geofence.Position(
      latitude: middle.latitude + north / degree.north,
      longitude: middle.longitude + east / degree.east
    )
  }

  static func circle(_ radius: Double, east: Double = 0, north: Double = 0) -> Geofence {
    Geofence(shape: .circle(center: position(east, north), radius: Meters(radius)), policy: policy)
  }

  static func rectangle(_ east: ClosedRange<Double>, _ north: ClosedRange<Double>) -> Geofence {
    Geofence(
      shape: .polygon(rings: [
        [
          position(east.lowerBound, north.lowerBound), position(east.upperBound, north.lowerBound),
          position(east.upperBound, north.upperBound), position(east.lowerBound, north.upperBound),
        ]
      ]),
      policy: policy
    )
  }

  static func site(_ geofences: [(String, Geofence)], rotation: [RegionNode] = []) -> Site {
    let regions = geofences.map { Region(identifier: $0.0, geofence: $0.1) }
    return Site(
      stream: "test",
      applications: [
        Application(identifier: "gallery", regions: regions, rotation: rotation, regionLimit: 1_000)
      ]
    )
  }

  static func fix(
    _ east: Double,
    _ north: Double = 0,
    at seconds: Double,
    accuracy: Double = 3,
    of observer: ObserverID = visitor,
    lag: Double = 0,
    altitude: Double? = nil
  ) -> StageLink {
    let place = position(east, north)
    return .sensing(
      Sensing(
        observer: observer,
        time: time(seconds - lag),
        decidedAt: time(seconds),
        ordinal: UInt64(seconds * 1_000),
        body: .outside(
          OutsideFix(
            latitude: place.latitude,
            longitude: place.longitude,
            horizontalAccuracy: Meters(accuracy),
            speed: nil,
            source: .gnss,
            altitude: altitude.map { Meters($0) }
          )
        )
      )
    )
  }

  /// The events of links given in their order.
  static func events(_ site: Site, _ links: [StageLink], until seconds: Double) -> [Event] {
    var stage = StageTwo(site: site)
    var events: [Event] = []
    for link in links { stage.decide(by: link, into: &events) }
    stage.advance(to: time(seconds), into: &events)
    return events.sorted(by: Event.isOrderedBefore)
  }

  /// Events that name a change, as words: `enter hall @3`.
  static func words(_ events: [Event]) -> [String] {
    events.filter { $0.kind.group != .state }.map { event in
      let seconds = (event.time - start).seconds
      let name = event.kind.type.split(separator: ".").last ?? ""
      return "\(name) \(event.region) @\(Int(seconds.rounded()))"
    }
  }
}

extension StageTwo {
  /// Takes a link, and adds what is decided by it: all events but the fix that it is.
  mutating func decide(by link: StageLink, into events: inout [Event]) {
    var made: [Event] = []
    restore(link, into: &made)
    events += made.filter { $0.kind != .fix }
  }
}

extension Event {
  var transition: RegionTransition? {
    guard case .region(let transition) = detail else { return nil }
    return transition
  }
}
