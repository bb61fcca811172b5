import PharosDocuments
import PharosModel
import PharosTestSupport

/// Regions drawn at random, within what a site file allows.
enum DrawnRegion {
  static func region(using random: inout SeededGenerator) -> Region {
    let observers = (0..<Int.random(in: 1...3, using: &random)).map { ObserverID.name("desk-\($0)") }
    if Int.random(in: 0..<4, using: &random) == 0 { return area(using: &random) }
    let subjects: [Region.Subject] = [.observer, .beacon(observers: nil), .beacon(observers: observers)]
    var region = Region(
      identifier: ["a", "the door", "é/\"quoted\"", "日本"].randomElement(using: &random) ?? "a",
      constraint: constraint(using: &random),
      subject: subjects.randomElement(using: &random) ?? .observer,
      keyedByAddress: Bool.random(using: &random),
      notifyOnEntry: Bool.random(using: &random),
      notifyOnExit: Bool.random(using: &random),
      notifyEntryStateOnDisplay: Bool.random(using: &random),
      presence: policy(using: &random),
      maximumHold: time(using: &random)
    )
    region.caption = caption(using: &random)
    return region
  }

  /// The words about a region or a beacon; often none.
  static func caption(using random: inout SeededGenerator) -> Caption {
    var caption = Caption()
    func isDrawn() -> Bool { Int.random(in: 0..<3, using: &random) == 0 }
    if isDrawn() { caption.title = "The \"Vasa\", 1628: № 7" }
    if isDrawn() { caption.description = "Two lines:\n- the second # one" }
    if isDrawn() { caption.address = "Galärvarvsvägen 14\n115 21 Stockholm" }
    if isDrawn() { caption.picture = "http://[::1]:8080/a%20b.jpg?c=1#d" }
    if isDrawn() { caption.link = "https://example.org" }
    if isDrawn() { caption.properties = ["seats": "12", "été": "yes"] }
    return caption
  }

  /// A region that is an area.
  private static func area(using random: inout SeededGenerator) -> Region {
    let middle = Geofence.Position(
      latitude: Double.random(in: -80...80, using: &random),
      longitude: Double.random(in: -170...170, using: &random)
    )
    func square(_ half: Double, east: Double = 0) -> [Geofence.Position] {
      [(-half, -half), (half, -half), (half, half), (-half, half)].map {
        Geofence.Position(latitude: middle.latitude + $0.1, longitude: middle.longitude + east + $0.0)
      }
    }
    let shapes: [Geofence.Shape] = [
      .circle(center: middle, radius: Meters(Double.random(in: 0.1...100_000, using: &random))),
      .polygon(rings: [square(0.01)]), .polygon(rings: [square(0.01), square(0.003)]),
      .polygon(rings: [square(0.01), square(0.003), square(0.01, east: 0.05), square(0.002, east: 0.05)]),
    ]
    var geofence = Geofence(shape: shapes.randomElement(using: &random) ?? shapes[0])
    if Bool.random(using: &random) { geofence.level = Int.random(in: -100...1_000, using: &random) }
    if Bool.random(using: &random) { geofence.building = "é house" }
    if Bool.random(using: &random) {
      let from = Double(Int.random(in: -200...200, using: &random)) / 2
      let ranges = [
        Geofence.AltitudeRange(from: Meters(from)), Geofence.AltitudeRange(to: Meters(from)),
        Geofence.AltitudeRange(from: Meters(from), to: Meters(from + 3.25), reference: .ellipsoid),
      ]
      geofence.altitude = ranges.randomElement(using: &random)
    }
    geofence.policy.enterProbability = Double.random(in: 0.51...0.9999, using: &random)
    geofence.policy.exitProbability = Double.random(in: 0.0001...0.5, using: &random)
    geofence.policy.enterDwell = Bool.random(using: &random) ? .zero : time(using: &random)
    if Bool.random(using: &random) { geofence.policy.exitDwell = time(using: &random) }
    var region = Region(
      identifier: ["a", "the yard"].randomElement(using: &random) ?? "a",
      geofence: geofence,
      subject: Bool.random(using: &random) ? .observer : .beacon(observers: nil),
      notifyOnEntry: Bool.random(using: &random),
      notifyOnExit: Bool.random(using: &random)
    )
    region.caption = caption(using: &random)
    return region
  }

  static func constraint(using random: inout SeededGenerator) -> BeaconConstraint {
    let uuid = UUID128(
      high: UInt64.random(in: .min ... .max, using: &random),
      low: UInt64.random(in: .min ... .max, using: &random)
    )
    let number = UInt16.random(in: .min ... .max, using: &random)
    let namespace = EddystoneNamespace(high: UInt64.random(in: .min ... .max, using: &random), low: number)
    let instance = UInt64.random(in: 0..<(1 << 48), using: &random)
    let all: [BeaconConstraint] = [
      .proximity(uuid), .proximity(uuid, major: number), .proximity(uuid, major: 0, minor: number),
      .eddystone(namespace), .eddystone(namespace, instance: instance),
      DeviceAddress(Hex.text(instance, bytes: 6)).map { .address($0) } ?? .proximity(uuid),
    ]
    return all.randomElement(using: &random) ?? .proximity(uuid)
  }

  private static func policy(using random: inout SeededGenerator) -> PresencePolicy {
    var policy = PresencePolicy(enterSamples: Int.random(in: 1...1_000, using: &random))
    let silences: [PresencePolicy.Silence] = [.adaptive, .never, .fixed(time(using: &random))]
    policy.silence = silences.randomElement(using: &random) ?? .adaptive
    policy.silenceCeiling = policy.silenceFloor + time(using: &random)
    policy.falseExitsPerDay = Double.random(in: 1e-6...1_000, using: &random)
    policy.exitDwell = Bool.random(using: &random) ? .zero : time(using: &random)
    if Bool.random(using: &random) { policy.enterWithin = time(using: &random) }
    if Bool.random(using: &random) { policy.stillInterval = time(using: &random) }
    if Bool.random(using: &random) {
      policy.enterRSSI = Double.random(in: -100 ... -50, using: &random)
      policy.exitRSSI = -100.5
    }
    if Bool.random(using: &random) {
      policy.enterDistance = Meters(Double.random(in: 1e-6...2, using: &random))
      policy.exitDistance = Meters(Double.random(in: 3...1_000, using: &random))
    }
    return policy
  }

  private static func time(using random: inout SeededGenerator) -> TimeSpan {
    let units: [Int64] = [1, 1_000, 1_000_000, 1_000_000_000, 60_000_000_000]
    return TimeSpan(
      nanoseconds: Int64.random(in: 1...5_000, using: &random) * (units.randomElement(using: &random) ?? 1)
    )
  }
}
