public import PharosReports

/// A telephone's region monitoring as its users describe it: looked at once a second, gone after half a minute.
///
/// - Source: users' reports, for no document gives the figure: exits after "up to 30 s", "at least 30 s in the
///   foreground", and one spike of level that enters. Apple publishes neither the span nor the filter, so that this is
///   no rule of Apple's.
/// - Simplified: the foreground only; seconds are counted from the first advert.
public struct CoreLocationLike: Comparator {
  /// What a table calls it.
  public let name = "Core Location-like 30 s"
  /// It says enter and exit, for each observer by itself: it runs on a telephone.
  public var decidesPresence: Bool { true }
  /// It knows no rooms.
  public var decidesRooms: Bool { false }

  private var timeout = SilenceTimeout(
    span: .seconds(30),
    period: .seconds(1),
    enterDelay: .nextLook
  )

  /// Makes the rule.
  public init() {}

  /// Takes an advert.
  public mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    timeout.heard(sighting, into: &verdicts)
  }

  /// Lets time pass.
  public mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    timeout.advance(to: time, into: &verdicts)
  }
}
