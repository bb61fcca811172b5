import PharosDelivery
import PharosModel

/// The authorisations as the operator decided them, which the server must keep over all runs and hold its readers to.
struct Consents {
  private struct Decision {
    var state: AuthorisationState
    var since: TrueTime
    /// Indicates whether the server failed or was killed while it stored the decision, so that either may hold.
    var isDoubtful = false
  }

  /// The application that the decisions are about.
  static let application = "gallery"

  private var decisions: [SubjectID: Decision] = [:]
  /// The subjects that were hidden at some time: of their events some were withheld.
  private(set) var everHidden: Set<SubjectID> = []

  /// Notes a decision that the server has stored.
  mutating func record(_ state: AuthorisationState, of subject: SubjectID, at time: TrueTime) {
    decisions[subject] = Decision(state: state, since: time)
    if state != .always { everHidden.insert(subject) }
  }

  /// Notes that a decision may have been stored or not.
  mutating func doubt(_ subject: SubjectID, at time: TrueTime) {
    decisions[subject] = Decision(state: .always, since: time, isDoubtful: true)
    everHidden.insert(subject)
  }

  /// A run begins, with the authorisations that it has read.
  ///
  /// - Returns: the subjects about which it has another decision than the one that was stored.
  mutating func beginRun(with view: AuthorisationView) -> [SubjectID] {
    var wrong: [SubjectID] = []
    for (subject, decision) in decisions {
      let state = view.state(application: Consents.application, subject: subject)
      if decision.isDoubtful {
        decisions[subject]?.isDoubtful = false
        decisions[subject]?.state = state
      } else if state != decision.state {
        wrong.append(subject)
      }
    }
    return wrong.sorted()
  }

  /// Whether a subject has been hidden for certain since a time.
  func hides(_ subject: SubjectID, since time: TrueTime) -> Bool {
    guard let decision = decisions[subject], !decision.isDoubtful else { return false }
    return decision.state != .always && decision.since < time
  }

  /// Whether an event tells of a subject that has been hidden since a time.
  func isLeak(_ event: Event, since time: TrueTime) -> Bool {
    guard event.application == Consents.application, event.kind != .authorisationChanged else {
      return false
    }
    if case .ranging(_, let beacons) = event.detail {
      return beacons.contains { hides(.beacon($0.beacon), since: time) }
    }
    return hides(event.subject, since: time)
  }
}
