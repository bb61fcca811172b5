import PharosModel
import PharosMQTT

/// A small site with two rooms, and events about it.
enum Samples {
  static let cat = BeaconID("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7") ?? .unread
  static let keys = BeaconID("mac:c0:de:00:00:00:01") ?? .unread
  static let gateway = ObserverID.eui48(0xAC23_3FA0_0001)
  static let names = MQTTNames(prefix: "pharos", discovery: "homeassistant", stream: "pharos")
  static let start = Timestamp(seconds: 1_767_225_600)

  static let site: Site = {
    let constraint = BeaconConstraint.proximity(cat.uuid ?? UUID128(high: 0, low: 0))
    return Site(
      applications: [
        Application(
          identifier: "default",
          regions: [
            Region(identifier: "house", constraint: constraint),
            Region(identifier: "Garden", constraint: constraint),
          ]
        )
      ],
      observers: [ObserverEntry(id: gateway, name: "kitchen gateway")],
      beacons: [BeaconEntry(constraint: constraint, name: "Minka")],
      zones: [
        Zone(identifier: "kitchen", name: "Kitchen", observers: [gateway]),
        Zone(identifier: "hall", observers: [.name("hall")]),
      ]
    )
  }()

  static func event(
    _ kind: EventKind,
    _ subject: SubjectID = .beacon(cat),
    application: String = "",
    region: String = "",
    second: Int64 = 0,
    counter: UInt64 = 0,
    detail: EventDetail
  ) -> Event {
    let time = start + .seconds(Double(second))
    return Event(
      stream: "pharos",
      kind: kind,
      time: time,
      decidedAt: time,
      stage: 2,
      subject: subject,
      application: application,
      region: region,
      counter: counter,
      detail: detail
    )
  }

  /// A change of state.
  static func state(
    _ to: RegionState,
    from: RegionState = .unknown,
    _ subject: BeaconID = cat,
    region: String = "house",
    second: Int64 = 0,
    isAnswer: Bool = false
  ) -> Event {
    let transition = RegionTransition(
      from: from,
      to: to,
      observer: gateway,
      isAnswer: isAnswer,
      evidence: Evidence(rule: .samples)
    )
    return event(
      .regionState,
      .beacon(subject),
      application: "default",
      region: region,
      second: second,
      counter: UInt64(second),
      detail: .region(transition)
    )
  }

  /// A change of state that the machine of the region `house` made.
  static func state(_ change: RegionMachine.Change, _ subject: BeaconID, step: Int) -> Event {
    Event(
      stream: "pharos",
      kind: .regionState,
      time: change.time,
      decidedAt: start + .seconds(Double(10 * step + 10)),
      stage: 2,
      subject: .beacon(subject),
      application: "default",
      region: "house",
      counter: UInt64(step),
      detail: .region(RegionTransition(change, observer: gateway, evidence: Evidence(rule: .samples)))
    )
  }

  /// An enter of a zone, or an exit from it.
  static func zone(_ kind: EventKind, _ zone: String, to next: String? = nil, second: Int64 = 0) -> Event {
    let transition = ZoneTransition(from: nil, to: next, margin: nil, dwell: nil, reason: .margin)
    return event(kind, region: zone, second: second, counter: UInt64(second), detail: .zone(transition))
  }

  /// An observer that comes or goes.
  static func observer(_ kind: EventKind, second: Int64 = 0) -> Event {
    event(
      kind,
      .observer(gateway),
      second: second,
      counter: UInt64(second),
      detail: .observer(ObserverTransition())
    )
  }

  /// A ranging of one beacon.
  static func ranging(_ accuracy: Double, by observer: ObserverID = gateway, second: Int64 = 0) -> Event {
    let reading = RangedReading(
      beacon: cat,
      rssi: -60,
      accuracy: accuracy,
      deviation: 0.5,
      proximity: accuracy < 0 ? .unknown : .near,
      samples: 3
    )
    return event(
      .ranging,
      .observer(observer),
      application: "default",
      second: second,
      detail: .ranging(constraint: .proximity(UUID128(high: 0, low: 0)), beacons: [reading])
    )
  }

  /// A fix in a venue that is bound to the Earth.
  static let fix = event(
    .fix,
    detail: .fix(
      FixDetail(
        venue: "home",
        building: "house",
        floorName: "ground floor",
        latitude: 47.3769,
        longitude: 8.5417,
        x: 1.5,
        y: 2.5,
        horizontalAccuracy: 2.25,
        sources: .observers,
        age: .zero
      )
    )
  )
}
