/// One rule's row in a scene of presence, as figures.
struct PresenceFigures {
  /// False exits per subject-day, with the 95 % interval.
  var rate: Double?
  var interval: ClosedRange<Double>?
  /// Quantiles of delays in seconds.
  var exit50: Double?
  var exit95: Double?
  var enter50: Double?
  var enter95: Double?
  /// Enters of what was not there.
  var ghosts: Int?

  /// Boils a tally down, given how many subject-days there were.
  init(_ tally: PresenceTally, days: Double) {
    setRate(tally.falseExits, days: days)
    exit50 = Statistics.quantile(0.5, of: tally.exitDelays)
    exit95 = Statistics.quantile(0.95, of: tally.exitDelays)
    enter50 = Statistics.quantile(0.5, of: tally.enterDelays)
    enter95 = Statistics.quantile(0.95, of: tally.enterDelays)
    ghosts = tally.ghostEnters
  }

  /// The figures of the shortest fixed time-out of the sweep that makes at most so many false exits; nil if even
  /// the longest makes more.
  init?(fixedWithin count: Int, of result: PresenceResult) {
    guard let span = result.gaps.shortest(within: count) else { return nil }
    self.init(fixed: span, of: result)
  }

  /// The figures of a fixed time-out of so many seconds.
  init(fixed span: Double, of result: PresenceResult) {
    if let made = result.gaps.falseExits(of: span) { setRate(made, days: result.subjectDays) }
    exit50 = result.gaps.delay(of: span, quantile: 0.5)
    exit95 = result.gaps.delay(of: span, quantile: 0.95)
  }

  private mutating func setRate(_ count: Int, days: Double) {
    guard days > 0 else { return }
    rate = Double(count) / days
    let counts = Statistics.countInterval(count)
    interval = (counts.lowerBound / days)...(counts.upperBound / days)
  }
}
