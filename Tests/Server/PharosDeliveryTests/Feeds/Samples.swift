import PharosModel
import PharosPublishing

/// Events for tests, distinguished by their number, which is their time in seconds.
enum Sample {
  static func enter(
    _ number: Int,
    application: String = "gallery",
    region: String = "entrance",
    subject: String = "handset"
  ) -> Event {
    Event(
      stream: "test",
      kind: .regionEnter,
      time: Timestamp(seconds: Int64(number)),
      decidedAt: Timestamp(seconds: Int64(number)),
      stage: 1,
      subject: .observer(.name(subject)),
      application: application,
      region: region,
      counter: UInt64(number),
      detail: .region(RegionTransition(from: .outside, to: .inside, evidence: Evidence(rule: .samples)))
    )
  }

  static func ranging(_ number: Int, subject: String = "handset", major: UInt16? = nil) -> Event {
    Event(
      stream: "test",
      kind: .ranging,
      time: Timestamp(seconds: Int64(number)),
      decidedAt: Timestamp(seconds: Int64(number)),
      stage: 1,
      subject: .observer(.name(subject)),
      application: "gallery",
      counter: UInt64(number),
      detail: .ranging(constraint: .proximity(UUID128(high: 1, low: 2), major: major), beacons: [])
    )
  }

  static func fix(_ number: Int, subject: String = "handset") -> Event {
    Event(
      stream: "test",
      kind: .fix,
      time: Timestamp(seconds: Int64(number)),
      decidedAt: Timestamp(seconds: Int64(number)),
      stage: 2,
      subject: .observer(.name(subject)),
      counter: UInt64(number),
      detail: .fix(FixDetail(venue: "museum", horizontalAccuracy: 3, sources: .wifi, age: .zero))
    )
  }

  static func committed(_ sequence: Int64?, _ event: Event) -> PublishedEvent {
    PublishedEvent(sequence: sequence, event: event, stream: "test")
  }
}

extension Event {
  /// The number that ``Sample`` gave it.
  var number: Int { Int(time.nanoseconds / 1_000_000_000) }
}
