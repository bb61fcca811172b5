package import PharosEvents
import PharosReports

/// What a reading is about: a newer one about the same thing replaces an older one for whoever shows the present.
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
