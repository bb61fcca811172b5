import PharosFixes
import PharosModel
import PharosSpace
import PharosTestSupport
import Testing

/// A hall of 60 by 24 m with eight access points, whose levels are what the map says and some noise; drawn walks through it.
struct FusionHall {
  static let start = Timestamp(seconds: 1_750_000_000)
  static let observer: ObserverID = .name("phone")
  /// The height of the floor above mean sea level in metres.
  static let altitude = 34.25

  let ground: LocatableVenue
  var random: SeededGenerator
  var sensings: [Sensing] = []
  /// An access point that hangs elsewhere than the map says: it is heard as if at the other end.
  var moved: Int?

  init(
    seed: UInt64 = 1,
    size: Point = Point(x: 60, y: 24),
    altitude: Double? = FusionHall.altitude,
    change: (inout FusionRules) -> Void = { _ in },
    survey: (inout RadioMap) -> Void = { _ in }
  ) throws {
    random = SeededGenerator(seed: seed)
    let origin = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    var floor = Floor(
      level: 0,
      plane: .ground(GroundPlane(origin: origin)),
      walkable: [Area(outline: Polygon(rectangleFrom: .origin, to: size))],
      accessPoints: (0..<8).map { index in
        let share = Point(x: (Double(index % 4) + 0.5) / 4, y: index < 4 ? 0.1 : 0.9)
        return PlacedAccessPoint(
          FusionHall.address(index),
          at: Point(x: share.x * size.x, y: share.y * size.y)
        )
      }
    )
    floor.altitude = altitude
    let venue = Venue(identifier: "hall", buildings: [Building(identifier: "main", floors: [floor])])
    var rules = FusionRules()
    // No body is in the way here.
    rules.scanLead = .zero
    rules.beaconLead = .zero
    change(&rules)
    var radio = RadioMap(placed: venue)
    survey(&radio)
    ground = LocatableVenue(venue: venue, radio: radio, rules: rules)
  }

  /// Addresses of boxes of their own.
  static func address(_ index: Int) -> DeviceAddress {
    DeviceAddress(bits: UInt64(index + 1) << 32 | 0x1234, kind: .public)
  }

  func locator(seed: UInt64 = 7) -> Locator { Locator(ground: ground, seed: seed) }

  static func time(_ seconds: Double) -> Timestamp { start + .seconds(seconds) }

  /// Adds what a sensor tells at a time.
  mutating func add(_ body: Sensing.Body, at seconds: Double) {
    let time = FusionHall.time(seconds)
    sensings.append(
      Sensing(observer: FusionHall.observer, time: time, decidedAt: time, ordinal: 0, body: body)
    )
  }

  /// The level of an access point at a place.
  mutating func level(of index: Int, at point: Point) -> RSSI? {
    let place = index == moved ? Point(x: 60 - point.x, y: point.y) : point
    guard let emitter = ground.radio.emitter(.accessPoint(FusionHall.address(index))),
      let expected = ground.radio.prediction(of: emitter, floor: 0, at: place)
    else { return nil }
    let noise = (0..<4).reduce(Float(0)) { sum, _ in sum + Float.random(in: -3.5...3.5, using: &random) }
    return RSSI(dBm: Int8(max(-110, min(-20, (expected.level + noise).rounded()))))
  }

  /// Adds a scan of all access points, all of them some decibels louder than they are.
  mutating func scan(at point: Point, _ seconds: Double, louder: Int8 = 0) {
    let points = (0..<8).compactMap { index -> AccessPoint? in
      let rssi = level(of: index, at: point)
      return rssi.map {
        AccessPoint(
          bssid: FusionHall.address(index),
          rssi: RSSI(dBm: $0.dBm + louder),
          frequency: 2_412,
          lastHeard: .zero
        )
      }
    }
    add(.accessPoints(points), at: seconds)
  }

  /// Adds a walk along a line at 1.4 m/s: a step every half second, a scan every other second.
  mutating func walk(
    from start: Point,
    to end: Point,
    beginning: Double,
    hasSteps: Bool = true,
    hasScans: Bool = true
  ) -> Double {
    let way = end - start
    let steps = Int(way.length / 0.7)
    let heading = Bearing.of(east: Float(way.x), north: Float(way.y))
    for step in 0..<steps {
      let seconds = beginning + Double(step) * 0.5
      let here = start.interpolated(to: end, share: Double(step) / Double(steps))
      if hasSteps {
        let sample = MotionSample(kind: .step, age: .zero, x: 0.7, y: heading, z: 0)
        add(.motion([sample]), at: seconds)
      }
      if hasScans, step % 4 == 0 { scan(at: here, seconds) }
    }
    return beginning + Double(steps) * 0.5
  }

  /// The fixes that all of it makes, fetched as they come.
  func fixes(seed: UInt64 = 7, tail: Double = 2) -> [FixEstimate] {
    var locator = locator(seed: seed)
    var fixes: [FixEstimate] = []
    for sensing in sensings {
      locator.receive(sensing)
      while let fix = locator.nextFix() { fixes.append(fix) }
    }
    guard let last = sensings.last else { return [] }
    locator.advance(to: last.time + .seconds(tail))
    while let fix = locator.nextFix() { fixes.append(fix) }
    return fixes
  }
}
