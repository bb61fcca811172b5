import PharosModel
import PharosPipeline
import PharosTestSupport

/// Sites and region changes at random from a seed, with every field other than its default now and then.
struct RandomSites {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func flip() -> Bool { Bool.random(using: &random) }
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  mutating func double() -> Double { Double.random(in: -1e6...1e6, using: &random) }
  mutating func span() -> TimeSpan { TimeSpan(nanoseconds: Int64.random(in: .min ... .max, using: &random)) }
  mutating func time() -> Timestamp {
    Timestamp(nanoseconds: Int64.random(in: .min ... .max, using: &random))
  }

  mutating func text() -> String {
    let alphabet = Array("abzAZ09 -_/\"\\\n\u{0}é中🗺")
    return String((0..<number(0...12)).map { _ in alphabet.randomElement(using: &random) ?? "a" })
  }

  mutating func list<Value>(_ maximum: Int, _ make: (inout RandomSites) -> Value) -> [Value] {
    (0..<number(0...maximum)).map { _ in make(&self) }
  }

  mutating func maybe<Value>(_ make: (inout RandomSites) -> Value) -> Value? { flip() ? make(&self) : nil }

  mutating func uuid() -> UUID128 { UUID128(high: random.next(), low: random.next()) }

  mutating func address() -> DeviceAddress {
    let kinds: [DeviceAddress.Kind] = [.public, .random, .unknown]
    return DeviceAddress(bits: random.next(), kind: kinds[number(0...2)])
  }

  mutating func observer() -> ObserverID {
    switch number(0...3) {
    case 0: .eui48(random.next() >> 16)
    case 1: .eui64(random.next())
    case 2: .uuid(uuid())
    default: .name("n" + text())
    }
  }

  mutating func constraint() -> BeaconConstraint {
    switch number(0...2) {
    case 0:
      .proximity(
        uuid(),
        major: maybe { UInt16($0.number(0...65_535)) },
        minor: maybe { UInt16($0.number(0...9)) }
      )
    case 1:
      .eddystone(EddystoneNamespace(high: random.next(), low: 7), instance: maybe { $0.random.next() })
    default: .address(address())
    }
  }

  mutating func beacon() -> BeaconID {
    let beacon: BeaconID =
      switch number(0...2) {
      case 0: .proximity(uuid(), major: UInt16(number(0...65_535)), minor: UInt16(number(0...65_535)))
      case 1: .eddystone(EddystoneNamespace(high: random.next(), low: 9), instance: random.next())
      default: .address(address())
      }
    return flip() ? beacon.keyed(by: address()) : beacon
  }

  mutating func region() -> Region {
    let silences: [PresencePolicy.Silence] = [.adaptive, .fixed(span()), .never]
    return Region(
      identifier: text(),
      constraint: constraint(),
      subject: flip() ? .observer : .beacon(observers: maybe { $0.list(3) { $0.observer() } }),
      keyedByAddress: flip(),
      notifyOnEntry: flip(),
      notifyOnExit: flip(),
      notifyEntryStateOnDisplay: flip(),
      presence: PresencePolicy(
        enterSamples: number(1...9),
        enterWithin: maybe { $0.span() },
        enterRSSI: maybe { $0.double() },
        exitRSSI: maybe { $0.double() },
        enterDistance: maybe { Meters($0.double()) },
        exitDistance: maybe { Meters($0.double()) },
        exitDwell: span(),
        silence: silences[number(0...2)],
        silenceFloor: span(),
        silenceCeiling: span(),
        falseExitsPerDay: abs(double()),
        stillInterval: maybe { $0.span() }
      ),
      maximumHold: span()
    )
  }

  mutating func node(_ depth: Int = 0) -> RegionNode {
    RegionNode(region: region(), children: depth > 3 ? [] : list(2) { $0.node(depth + 1) })
  }

  mutating func request() -> RangingRequest {
    RangingRequest(constraint: constraint(), keyedByAddress: flip(), whileInside: flip())
  }

  mutating func site() -> Site {
    let liveness: [ObserverEntry.Liveness] = [.auto, .heartbeat, .traffic, .assumed]
    return Site(
      stream: text(),
      applications: list(2) {
        Application(
          identifier: $0.text(),
          regions: $0.list(3) { $0.region() },
          ranging: $0.list(2) { $0.request() },
          rotation: $0.list(2) { $0.node() },
          regionLimit: $0.number(0...50)
        )
      },
      observers: list(3) {
        ObserverEntry(
          id: $0.observer(),
          name: $0.maybe { $0.text() },
          rssiOffset: $0.double(),
          liveness: liveness[$0.number(0...3)],
          lag: $0.maybe { $0.span() }
        )
      },
      beacons: list(3) {
        BeaconEntry(
          constraint: $0.constraint(),
          keyedByAddress: $0.flip(),
          name: $0.maybe { $0.text() },
          measuredPower: $0.maybe { $0.double() },
          interval: $0.maybe { $0.span() }
        )
      },
      zones: list(3) {
        Zone(
          identifier: $0.text(),
          name: $0.maybe { $0.text() },
          observers: $0.list(3) { $0.observer() },
          floor: $0.maybe { $0.number(-3...9) },
          adjacent: $0.list(3) { $0.text() },
          beacons: $0.list(2) { $0.constraint() }
        )
      },
      iBeaconCompanies: list(3) { UInt16($0.number(0...65_535)) },
      pathLossExponent: double(),
      admission: flip() ? .open : .listed,
      positioning: maybe { $0.positioning() } ?? PositioningSettings(),
      venues: list(2) { $0.text() }
    )
  }

  mutating func positioning() -> PositioningSettings {
    PositioningSettings(
      interval: .milliseconds(Int64(number(250...3_600_000))),
      lag: .milliseconds(Int64(number(0...30_000))),
      particles: maybe { $0.number(50...2_000) },
      tags: list(2) { $0.constraint() }
    )
  }

  mutating func change() -> RegionChange {
    let states: [RegionState] = [.unknown, .inside, .outside, .unmonitored]
    switch number(0...5) {
    case 0: return .startMonitoring(application: text(), region(), assuming: states[number(0...3)])
    case 1: return .stopMonitoring(application: text(), identifier: text())
    case 2: return .setRotation(application: text(), list(2) { $0.node() })
    case 3: return .startRanging(application: text(), request())
    case 4: return .stopRanging(application: text(), constraint())
    default:
      let subjects: [SubjectID] = [.none, .observer(observer()), .beacon(beacon())]
      return .requestState(application: text(), identifier: text(), subject: subjects[number(0...2)])
    }
  }

  mutating func announcement() -> Event {
    let time = Timestamp(seconds: Int64(number(0...2_000_000_000)))
    return Event(
      stream: text(),
      kind: .authorisationChanged,
      time: time,
      decidedAt: time + .milliseconds(Int64(number(0...1_000))),
      stage: 0,
      subject: .observer(observer()),
      application: text(),
      counter: UInt64(number(0...9)),
      detail: .authorisation(AuthorisationTransition(from: .notDetermined, to: .always, purpose: text()))
    )
  }

  mutating func input() -> RecordedInput {
    switch number(0...5) {
    case 0: .site(site())
    case 1: .tick(through: time())
    case 2: .change(change(), at: time())
    case 3: .pause(through: time(), at: time())
    case 4: .announced(announcement(), at: time())
    default: .clockStep(span(), at: time())
    }
  }
}
