package import PharosReports

/// A telephone's region monitoring as its users describe it: looked at once a second, gone after half a minute.
///
/// - Source: users' reports, for no document gives the figure: exits after "up to 30 s", "at least 30 s in the
///   foreground", and one spike of level that enters. Apple publishes neither the span nor the filter, so that this is
///   no rule of Apple's.
/// - Simplified: the foreground only; seconds are counted from the first advert.
package struct CoreLocationLike: Comparator {
  /// What a table calls it.
  package let name = "Core Location-like 30 s"
  /// It says enter and exit, for each observer by itself: it runs on a telephone.
  package var decidesPresence: Bool { true }
  /// It knows no rooms.
  package var decidesRooms: Bool { false }

  private var timeout = SilenceTimeout(
    span: .seconds(30),
    period: .seconds(1),
    enterDelay: .nextLook
  )

  /// Makes the rule.
  package init() {}

  /// Takes an advert.
  package mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    timeout.heard(sighting, into: &verdicts)
  }

  /// Lets time pass.
  package mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    timeout.advance(to: time, into: &verdicts)
  }
}
