import PharosJournal
import PharosModel

/// Events for tests: events about numbered subjects, one after the other.
enum Samples {
  static let stream = "test"
  static let start = Timestamp(seconds: 1_750_000_000)

  /// The names of a site that calls the first subject Ada and a zone the ward.
  static let names = SiteNames(
    Site(
      observers: [ObserverEntry(id: .name("phone 1"), name: "Ada")],
      zones: [Zone(identifier: "ward", name: "Ward 3", observers: [.name("gate")])]
    )
  )

  static func subject(_ number: Int) -> SubjectID { .observer(.name("phone \(number)")) }

  /// An enter or exit of a numbered subject.
  static func event(
    _ kind: EventKind = .regionEnter,
    subject number: Int = 1,
    about subject: SubjectID? = nil,
    counter: UInt64,
    at time: Timestamp = start,
    application: String = "gallery",
    region: String = "entrance"
  ) -> Event {
    let to: RegionState =
      switch kind {
      case .regionExit: .outside
      case .regionUnmonitored: .unmonitored
      default: .inside
      }
    return Event(
      stream: stream,
      kind: kind,
      time: time,
      decidedAt: time,
      stage: 1,
      subject: subject ?? self.subject(number),
      application: application,
      region: region,
      counter: counter,
      detail: .region(
        RegionTransition(from: to == .inside ? .outside : .inside, to: to, evidence: Evidence(rule: .samples))
      )
    )
  }
}
