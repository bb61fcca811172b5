import PharosModel
import PharosPresence
import PharosTestSupport
import PharosWire

/// A made-up site and its inputs, at random from a seed, with something in it of all that an engine keeps: every sort of
/// identity, policy, filter, liveness and timing, shared identities, zones, ranging, rotations, untracked beacons and
/// changes.
struct StateWorld {
  enum Input {
    case report(ReportBody, payload: [UInt8], ObserverID, ReportTiming)
    case change(RegionChange)
  }

  static let observers: [ObserverID] = [
    .eui48(1), .eui48(2), .name("three"), .eui64(4), .uuid(UUID128(high: 5, low: 6)), .eui48(77),
  ]
  static let other = UUID128(high: 1, low: 2)
  static let namespace = EddystoneNamespace(high: 7, low: 8)
  static let tag = DeviceAddress(bits: 0xAC23_3F00_0001, kind: .public)

  let site: Site
  var inputs: [(time: Double, input: Input)] = []
  private var random: SeededGenerator
  private var sequences: [ObserverID: (boot: UInt32, number: UInt32)] = [:]

  init(seed: Int, count: Int = 900, changes: Bool = true) {
    random = SeededGenerator(seed: UInt64(seed) &* 0x9E37_79B9 &+ 3)
    site = StateWorld.site(&random)
    var time = 0.0
    for _ in 0..<count {
      time += Double.random(in: 0...0.3, using: &random)
      if Int.random(in: 0..<150, using: &random) == 0 { time += Double.random(in: 0...150, using: &random) }
      guard let input = input(at: time, changes) else { continue }
      inputs.append(((time * 1e6).rounded() / 1e6, input))
    }
  }

  static let policies: [PresencePolicy] = [
    PresencePolicy(),
    PresencePolicy(enterSamples: 1, silence: .fixed(.seconds(4))),
    PresencePolicy(enterRSSI: -72, exitRSSI: -80, exitDwell: .seconds(2), silence: .fixed(.seconds(12))),
    PresencePolicy(enterSamples: 3, silenceFloor: .seconds(3), falseExitsPerDay: 500),
    PresencePolicy(enterDistance: Meters(4), exitDistance: Meters(9), silence: .never),
    PresencePolicy(silenceCeiling: .seconds(40), stillInterval: .seconds(3)),
  ]

  private static func site(_ random: inout SeededGenerator) -> Site {
    let constraints: [BeaconConstraint] = [
      .proximity(Timeline.uuid), .proximity(Timeline.uuid, major: 1), .proximity(other, major: 2),
      .eddystone(namespace), .address(tag),
    ]
    let regions = constraints.enumerated().flatMap { number, constraint in
      policies.indices.filter { _ in Bool.random(using: &random) }.map { policy in
        let gateways = observers.filter { _ in Bool.random(using: &random) }
        let subjects: [Region.Subject] = [
          .observer, .observer, .beacon(observers: nil), .beacon(observers: gateways),
        ]
        return Region(
          identifier: "r\(number).\(policy)",
          constraint: constraint,
          subject: subjects.randomElement(using: &random) ?? .observer,
          keyedByAddress: Int.random(in: 0..<6, using: &random) == 0,
          notifyEntryStateOnDisplay: Bool.random(using: &random),
          presence: policies[policy]
        )
      }
    }
    let liveness: [ObserverEntry.Liveness] = [.auto, .auto, .heartbeat, .traffic, .assumed]
    return Site(
      stream: "state",
      applications: [
        Application(identifier: "gallery", regions: regions, ranging: ranging, regionLimit: 100),
        Application(identifier: "museum", rotation: tree(&random), regionLimit: 3),
      ],
      observers: observers.dropLast(2).map { id in
        ObserverEntry(
          id: id,
          rssiOffset: Double(Int.random(in: -3...3, using: &random)),
          liveness: liveness.randomElement(using: &random) ?? .auto,
          lag: Bool.random(using: &random) ? .milliseconds(Int64.random(in: 50...2_000, using: &random)) : nil
        )
      },
      beacons: [
        BeaconEntry(
          constraint: .proximity(Timeline.uuid, major: 1, minor: 2),
          measuredPower: -61,
          interval: .seconds(1)
        ),
        BeaconEntry(constraint: .proximity(other, major: 2), keyedByAddress: Bool.random(using: &random)),
      ],
      zones: [
        Zone(identifier: "lobby", observers: Array(observers.prefix(2))),
        Zone(identifier: "attic", observers: [observers[2]], beacons: [.proximity(other)]),
      ]
    )
  }

  private static let ranging = [
    RangingRequest(constraint: .proximity(Timeline.uuid)),
    RangingRequest(constraint: .proximity(Timeline.uuid, major: 1), whileInside: true),
    RangingRequest(constraint: .proximity(other)),
  ]

  private static func tree(_ random: inout SeededGenerator) -> [RegionNode] {
    let policy = policies.randomElement(using: &random) ?? PresencePolicy()
    func region(_ name: String, _ major: UInt16? = nil) -> Region {
      Region(identifier: name, constraint: .proximity(Timeline.uuid, major: major), presence: policy)
    }
    let floors = (UInt16(1)...4).filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
    return [
      RegionNode(
        region: region("venue"),
        children: floors.map { RegionNode(region: region("floor\($0)", $0)) }
      )
    ]
  }

  private mutating func input(at time: Double, _ hasChanges: Bool) -> Input? {
    let observer = StateWorld.observers.randomElement(using: &random) ?? .eui48(1)
    // Some spells in which an observer is not heard at all.
    if Int(time / 37) % 5 == (StateWorld.observers.firstIndex(of: observer) ?? 0) { return nil }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<78: return .report(advert(), payload: payload(), observer, timing(time))
    case 78..<86:
      let count = Bool.random(using: &random) ? UInt32.random(in: 0...20, using: &random) : nil
      return .report(.heartbeat(Heartbeat(advertsHeard: count)), payload: [], observer, timing(time))
    case 86: return .report(.displayOn, payload: [], observer, .received)
    case 87:
      let state = [ScanState.off, .windowed, .foreground, .foreground].randomElement(using: &random) ?? .off
      return .report(.scanState(state), payload: [], observer, .received)
    case 88..<91:
      let beacon = BeaconID.proximity(
        Timeline.uuid,
        major: UInt16.random(in: 1...4, using: &random),
        minor: 9
      )
      return .report(
        .rangedBeacon(RangedBeacon(beacon: beacon, rssi: RSSI(dBm: -66), accuracy: Meters(2))),
        payload: [],
        observer,
        .received
      )
    case 91..<96:
      return .report(.transmission(head(of: observer)), payload: [], observer, .received)
    default: return hasChanges ? .change(change(observer)) : nil
    }
  }

  private mutating func head(of observer: ObserverID) -> Transmission {
    var (boot, number) = sequences[observer] ?? (1, 0)
    if Int.random(in: 0..<20, using: &random) == 0 { (boot, number) = (boot + 1, 0) }
    number += UInt32([1, 1, 1, 4].randomElement(using: &random) ?? 1)
    sequences[observer] = (boot, number)
    return Transmission(bootID: boot, sequence: number, uptime: .zero)
  }

  private mutating func timing(_ time: Double) -> ReportTiming {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: .age(.milliseconds(Int64.random(in: 0...3_000, using: &random)))
    case 1: .age(.milliseconds(Int64.random(in: 0...200, using: &random)))
    case 2: .sent(Timeline.at(time + 1_000 - Double.random(in: 0...0.3, using: &random)))
    default: .received
    }
  }

  private mutating func advert() -> ReportBody {
    let bits = UInt64.random(in: 0...3, using: &random)
    let addresses: [DeviceAddress?] = [
      nil, StateWorld.tag, DeviceAddress(bits: 0xC000_0000_0000 | bits, kind: .random),
      DeviceAddress(bits: bits, kind: .random),
    ]
    let rssi = Int8.random(in: -95 ... -45, using: &random)
    return .advert(
      Advert(
        address: addresses.randomElement(using: &random) ?? nil,
        rssi: Int.random(in: 0..<20, using: &random) == 0 ? nil : RSSI(dBm: rssi),
        payload: 0..<0
      )
    )
  }

  private mutating func payload() -> [UInt8] {
    let minor = UInt16.random(in: 1...2, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0:
      return (0..<Int.random(in: 0...31, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
      }
    case 1:
      return StateWorld.eddystone([
        0x00, 0xE7, 0, 0, 0, 0, 0, 0, 0, 7, 0, 8, 0, 0, 0, 0, 0, UInt8(minor), 0, 0,
      ])
    case 2: return StateWorld.eddystone([0x20, 0, 0x0B, UInt8(minor), 0x15, 0, 0, 0, 0, 1, 0, 0, 0, 9])
    case 3, 4: return Timeline.iBeacon(2, minor, uuid: StateWorld.other)
    default: return Timeline.iBeacon(UInt16.random(in: 1...4, using: &random), minor)
    }
  }

  /// The AD structures of an Eddystone frame.
  private static func eddystone(_ frame: [UInt8]) -> [UInt8] {
    [0x03, 0x03, 0xAA, 0xFE, UInt8(frame.count + 3), 0x16, 0xAA, 0xFE] + frame
  }

  private mutating func change(_ observer: ObserverID) -> RegionChange {
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1:
      let major = UInt16.random(in: 1...3, using: &random)
      let policy = StateWorld.policies.randomElement(using: &random) ?? PresencePolicy()
      let region = Region(
        identifier: "moving\(Int.random(in: 0..<2, using: &random))",
        constraint: .proximity(Timeline.uuid, major: major),
        presence: policy
      )
      let states: [RegionState] = [.unknown, .unknown, .inside, .outside]
      return .startMonitoring(
        application: "gallery",
        region,
        assuming: states.randomElement(using: &random) ?? .unknown
      )
    case 2:
      return .stopMonitoring(
        application: "gallery",
        identifier: "moving\(Int.random(in: 0..<2, using: &random))"
      )
    case 3: return .requestState(application: "museum", identifier: "venue", subject: .observer(observer))
    case 4: return .setRotation(application: "museum", StateWorld.tree(&random))
    case 5: return .stopRanging(application: "gallery", .proximity(StateWorld.other))
    case 6:
      return .startRanging(application: "gallery", RangingRequest(constraint: .proximity(StateWorld.other)))
    default:
      return .stopMonitoring(
        application: "gallery",
        identifier: "r0.\(Int.random(in: 0..<6, using: &random))"
      )
    }
  }
}
