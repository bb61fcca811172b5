import PharosModel
import PharosPipeline

/// Words for tests of stage two: seconds after a start, observers by a letter, links as one would say them.
enum LinkScript {
  static let start = Timestamp(seconds: 1_000_000)
  static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  static let tag = BeaconID.proximity(uuid, major: 1, minor: 7)

  static func time(_ seconds: Double) -> Timestamp { start + .seconds(seconds) }
  static func observer(_ name: String) -> ObserverID { .name(name) }

  static func region(
    _ identifier: String = "hall",
    observers: [String]? = nil,
    hold: TimeSpan = Region.defaultMaximumHold
  ) -> Region {
    Region(
      identifier: identifier,
      constraint: .proximity(uuid),
      subject: .beacon(observers: observers.map { $0.map(observer) }),
      maximumHold: hold
    )
  }

  static func site(_ regions: [Region] = [region()], zones: [Zone] = []) -> Site {
    Site(
      stream: "test",
      applications: [Application(identifier: "gallery", regions: regions)],
      zones: zones
    )
  }

  static func life(_ name: String, at seconds: Double) -> StageLink {
    .life(
      ObserverLife(
        observer: observer(name),
        listening: ListeningTime(provenThrough: time(seconds)),
        decidedAt: time(seconds),
        ordinal: 0
      )
    )
  }

  static func presence(
    _ name: String,
    _ state: RegionState,
    at seconds: Double,
    region: String = "hall",
    beacon: BeaconID = tag,
    lastHeard: Double? = nil,
    ordinal: UInt64 = 0
  ) -> StageLink {
    var evidence = Evidence(rule: state == .inside ? .samples : .adaptiveSilence)
    evidence.lastHeard = lastHeard.map(time)
    return .presence(
      PresenceChange(
        observer: observer(name),
        beacon: beacon,
        application: "gallery",
        region: region,
        state: state,
        time: time(seconds),
        decidedAt: time(seconds),
        ordinal: ordinal,
        evidence: evidence
      )
    )
  }

  static func link(_ name: String, isUp: Bool, at seconds: Double) -> StageLink {
    .observer(
      ObserverChange(
        observer: observer(name),
        isUp: isUp,
        time: time(seconds),
        decidedAt: time(seconds),
        ordinal: 0
      )
    )
  }

  static func summary(
    _ name: String,
    _ level: Double,
    at seconds: Double,
    beacon: BeaconID = tag,
    count: UInt32 = 3
  ) -> StageLink {
    .second(
      SecondSummary(
        observer: observer(name),
        until: time(seconds),
        decidedAt: time(seconds) + .milliseconds(500),
        ordinal: 0,
        beacons: [
          BeaconSummary(beacon: beacon, count: count, mean: level, variance: 4, lastHeard: time(seconds))
        ]
      )
    )
  }

  /// What stage two says to links given in any order, run to an end.
  static func events(
    _ site: Site,
    _ links: [StageLink],
    until seconds: Double,
    limits: PositioningLimits = PositioningLimits()
  ) -> [Event] {
    var stage = StageTwo(site: site, limits: limits)
    var events: [Event] = []
    for link in links.sorted(by: StageLink.isOrderedBefore) { stage.restore(link, into: &events) }
    stage.advance(to: time(seconds), into: &events)
    return events.sorted(by: Event.isOrderedBefore)
  }

  /// Events as words: `enter hall @3`.
  static func words(_ events: [Event]) -> [String] {
    events.map { event in
      let seconds = (event.time - start).seconds
      let name = event.kind.type.split(separator: ".").dropFirst().joined(separator: ".")
      return "\(name) \(event.region) @\(seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)")"
    }
  }
}

extension Event {
  var transition: RegionTransition? {
    guard case .region(let transition) = detail else { return nil }
    return transition
  }

  var move: ZoneTransition? {
    guard case .zone(let move) = detail else { return nil }
    return move
  }
}
