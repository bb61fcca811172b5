/// A rule that was broken.
package struct Violation: Sendable {
  /// The rules.
  package enum Rule: String, CaseIterable, Sendable {
    /// Published events follow from earlier ones; enters and exits alternate.
    case order
    /// No id is given twice; no event has two.
    case ids
    /// The journal's numbers have no gaps, and what it holds was decided.
    case journal
    /// A subscriber that comes back gets everything once.
    case subscriber
    /// A stream in the process gives what was published, but what it counts as dropped.
    case stream
    /// No subject exits while it is there.
    case exit
    /// No subject enters while it is not there.
    case enter
    /// What came in adds up to what was made of it.
    case counters
    /// Nothing grows beyond its bounds.
    case memory
    /// Once the world is quiet, the published state is true.
    case quiet
    /// A server starts from whatever the one before has left.
    case start
    /// A webhook is sent everything in the order of each subject, and nothing again that it has answered and the journal knows; a
    /// broker has retained the states that the events tell.
    case receiver
    /// Nothing that a decision hides is published, and decisions are kept.
    case leak
    /// No signed datagram is taken twice, and none is refused that was not taken.
    case replay
  }

  /// Which rule.
  package var rule: Rule
  /// When, in seconds since the beginning.
  package var time: Double
  /// What was found.
  package var text: String
}
