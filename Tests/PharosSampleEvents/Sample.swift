package import PharosModel
package import PharosPublishing

/// Events for tests, distinguished by their number, which is their time in seconds.
package enum Sample {
  package static func enter(
    _ number: Int,
    application: String = "gallery",
    region: String = "entrance",
    subject: String = "handset"
  ) -> Event {
    event(
      number,
      .regionEnter,
      subject,
      application: application,
      region: region,
      detail: .region(RegionTransition(from: .outside, to: .inside, evidence: Evidence(rule: .samples)))
    )
  }

  package static func ranging(
    _ number: Int,
    application: String = "gallery",
    subject: String = "handset",
    major: UInt16? = nil
  ) -> Event {
    let constraint = BeaconConstraint.proximity(UUID128(high: 1, low: 2), major: major)
    return event(
      number,
      .ranging,
      subject,
      application: application,
      detail: .ranging(constraint: constraint, beacons: [])
    )
  }

  package static func fix(_ number: Int, subject: String = "handset") -> Event {
    let detail = FixDetail(venue: "museum", horizontalAccuracy: 3, sources: .wifi, age: .zero)
    return event(number, .fix, subject, detail: .fix(detail))
  }

  package static func committed(_ sequence: Int64?, _ event: Event) -> PublishedEvent {
    PublishedEvent(sequence: sequence, event: event, stream: "test")
  }

  private static func event(
    _ number: Int,
    _ kind: EventKind,
    _ subject: String,
    application: String = "",
    region: String = "",
    detail: EventDetail
  ) -> Event {
    Event(
      stream: "test",
      kind: kind,
      time: Timestamp(seconds: Int64(number)),
      decidedAt: Timestamp(seconds: Int64(number)),
      stage: kind == .fix ? 2 : 1,
      subject: .observer(.name(subject)),
      application: application,
      region: region,
      counter: UInt64(number),
      detail: detail
    )
  }
}

extension Event {
  /// The number that ``Sample`` gave it.
  package var number: Int { Int(time.nanoseconds / 1_000_000_000) }
}
