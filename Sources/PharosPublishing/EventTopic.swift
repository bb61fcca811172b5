package import PharosEvents
import PharosReports

/// The key by which events are coalesced: a newer event replaces an older one with the same topic.
package struct EventTopic: Hashable, Sendable {
  private let kind: EventKind
  private let application: String
  private let region: String
  private let subject: SubjectID
  /// An observer ranges each of its constraints once a second: they are different things.
  private let constraint: BeaconConstraint?

  /// The topic of an event.
  package init(_ event: Event) {
    kind = event.kind
    application = event.application
    region = event.region
    subject = event.subject
    if case .ranging(let constraint, _) = event.detail {
      self.constraint = constraint
    } else {
      constraint = nil
    }
  }
}
