import PharosModel
import PharosPipeline
import PharosTestSupport

/// A made-up site with its observers, tags and inputs, all at random from a seed: what the properties are tried on.
///
/// Regions come in families: any beacon of a UUID, those of a major, one beacon, all under the same policy and about the
/// same subjects, so that being inside a child must mean being inside its parents.
struct World {
  /// A transmitter.
  struct Tag {
    var major: UInt16
    var minor: UInt16
    var address: DeviceAddress
    var interval: Double
  }

  static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  static let start = Timestamp(seconds: 1_700_000_000)
  /// How long inputs come.
  static let length = 150.0
  static let observers: [ObserverID] = [
    .eui48(0xAC23_3FA0_0001), .eui48(0xAC23_3FA0_0002), .name("attic"), .uuid(UUID128(high: 5, low: 6)),
  ]

  let seed: UInt64
  let site: Site
  let tags: [Tag]
  /// The inputs in order of R.
  let inputs: [WorldInput]

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ 1)
    self.seed = seed
    tags = World.tags(&random)
    site = World.site(&random)
    var traffic = WorldTraffic(random: random, tags: tags)
    inputs = traffic.inputs()
  }

  /// The policies that families draw from: every rule of presence in one of them.
  static let policies: [PresencePolicy] = [
    PresencePolicy(),
    PresencePolicy(enterSamples: 1, silence: .fixed(.seconds(4))),
    PresencePolicy(
      enterSamples: 2,
      enterWithin: .seconds(8),
      enterRSSI: -72,
      exitRSSI: -82,
      exitDwell: .seconds(2),
      silence: .fixed(.seconds(12))
    ),
    PresencePolicy(enterSamples: 3, silenceFloor: .seconds(3), falseExitsPerDay: 500),
    PresencePolicy(exitRSSI: -85, exitDwell: .seconds(4), silence: .never),
    PresencePolicy(silenceCeiling: .seconds(40), stillInterval: .seconds(3)),
  ]

  private static func tags(_ random: inout SeededGenerator) -> [Tag] {
    (0..<7).map { index in
      // Two share an identity, and one of them changes its address: that must not matter.
      let minor = UInt16(index == 6 ? 1 : index % 3 + 1)
      let bits = index == 6 ? 0x1234_0000_0000 : 0xC000_0000_0000 | UInt64(index)
      return Tag(
        major: UInt16(index % 2 + 1),
        minor: minor,
        address: DeviceAddress(bits: bits, kind: .random),
        interval: [0.2, 0.5, 1, 1, 2, 4].randomElement(using: &random) ?? 1
      )
    }
  }

  private static func site(_ random: inout SeededGenerator) -> Site {
    let liveness: [ObserverEntry.Liveness] = [.auto, .auto, .heartbeat, .traffic, .assumed]
    let families = (0..<3).flatMap { family($0, &random) }
    return Site(
      stream: "world",
      applications: [
        Application(identifier: "gallery", regions: families),
        Application(
          identifier: "museum",
          rotation: tree(&random),
          regionLimit: Int.random(in: 1...6, using: &random)
        ),
      ],
      observers: observers.map { id in
        ObserverEntry(
          id: id,
          rssiOffset: Double(Int.random(in: -3...3, using: &random)),
          liveness: liveness.randomElement(using: &random) ?? .auto,
          lag: Bool.random(using: &random)
            ? .milliseconds(Int64.random(in: 100...2_000, using: &random)) : nil
        )
      },
      beacons: [
        BeaconEntry(
          constraint: .proximity(uuid, major: 1, minor: 2),
          measuredPower: -59,
          interval: .seconds(1)
        )
      ]
    )
  }

  /// A family: parent, child and grandchild that differ in nothing but how specific they are.
  static func family(_ number: Int, _ random: inout SeededGenerator) -> [Region] {
    let gateways = observers.filter { _ in Bool.random(using: &random) }
    let subjects: [Region.Subject] = [.observer, .beacon(observers: nil), .beacon(observers: gateways)]
    let pattern = Region(
      identifier: "",
      constraint: .proximity(uuid),
      subject: subjects.randomElement(using: &random) ?? .observer,
      keyedByAddress: Int.random(in: 0..<4, using: &random) == 0,
      notifyOnEntry: Int.random(in: 0..<6, using: &random) > 0,
      notifyOnExit: Int.random(in: 0..<6, using: &random) > 0,
      notifyEntryStateOnDisplay: Bool.random(using: &random),
      presence: policies.randomElement(using: &random) ?? PresencePolicy(),
      maximumHold: .seconds(20)
    )
    let major = UInt16.random(in: 1...2, using: &random)
    let minor = UInt16.random(in: 1...3, using: &random)
    let constraints: [BeaconConstraint] = [
      .proximity(uuid), .proximity(uuid, major: major), .proximity(uuid, major: major, minor: minor),
    ]
    return constraints.enumerated().map { level, constraint in
      var region = pattern
      region.identifier = "family\(number).\(level)"
      region.condition = .beacons(constraint)
      return region
    }
  }

  /// A rotation: a venue, its floors and their exhibits, more than fit at once.
  static func tree(_ random: inout SeededGenerator) -> [RegionNode] {
    let policy = policies.randomElement(using: &random) ?? PresencePolicy()
    let subject: Region.Subject =
      Int.random(in: 0..<4, using: &random) == 0 ? .beacon(observers: nil) : .observer
    func region(_ name: String, major: UInt16? = nil, minor: UInt16? = nil) -> Region {
      let constraint = BeaconConstraint.proximity(uuid, major: major, minor: minor)
      return Region(identifier: name, constraint: constraint, subject: subject, presence: policy)
    }
    let floors = (UInt16(1)...2).filter { _ in Int.random(in: 0..<5, using: &random) > 0 }.map { floor in
      let exhibits = (UInt16(1)...3).filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
      return RegionNode(
        region: region("floor\(floor)", major: floor),
        children: exhibits.map {
          RegionNode(region: region("exhibit\(floor).\($0)", major: floor, minor: $0))
        }
      )
    }
    return [RegionNode(region: region("venue"), children: floors)]
  }
}
