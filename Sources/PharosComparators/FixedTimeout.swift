package import PharosReports

/// Here on the first advert, gone so long after the last: the rule that everybody writes first.
///
/// It looks at every instant, so that it is the best that its span can do: a peer with the same span is later by up to
/// its scan period, never earlier.
package struct FixedTimeout: Comparator {
  /// What a table calls it: `fixed 30 s`.
  package let name: String
  /// It says enter and exit, for each observer by itself.
  package var decidesPresence: Bool { true }
  /// It knows no rooms.
  package var decidesRooms: Bool { false }

  private var timeout: SilenceTimeout

  /// Makes a rule; an advert that comes when the span is just over still counts.
  package init(_ span: TimeSpan) {
    name = "fixed \(FixedTimeout.text(span))"
    timeout = SilenceTimeout(span: span)
  }

  /// Takes an advert.
  package mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    timeout.heard(sighting, into: &verdicts)
  }

  /// Lets time pass.
  package mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    timeout.advance(to: time, into: &verdicts)
  }

  private static func text(_ span: TimeSpan) -> String {
    let milliseconds = span.nanoseconds / 1_000_000
    return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
  }
}
