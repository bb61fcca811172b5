import PharosReports

/// Chooses which datagrams the table of all that is heard looks at.
///
/// Each millisecond it may look at datagrams until they brought 8 adverts: with little traffic that is all of it, with
/// much it is a sample, and a datagram that is looked at stands for those before it that were not.
struct HeardSampler {
  /// The time after which there is a new budget.
  static let interval = TimeSpan.milliseconds(1)
  /// How many adverts may be looked at in that time: a microsecond's work, a thousandth of the loop.
  static let adverts = 8

  private var next = Timestamp.distantPast
  private var skipped = 0
  /// How many adverts may still be looked at.
  var budget = 0

  /// Whether there is a budget at some time.
  func isDue(at time: Timestamp) -> Bool { budget > 0 || time >= next }

  /// Decides about one datagram.
  ///
  /// - Parameters:
  ///   - time: its R.
  ///   - isNamed: whether it is known who sent it; otherwise it is not looked at.
  /// - Returns: how many datagrams this one stands for, or nil if it is not to be looked at.
  mutating func look(at time: Timestamp, isNamed: Bool = true) -> Double? {
    if time >= next {
      next = time + HeardSampler.interval
      budget = HeardSampler.adverts
    }
    skipped += 1
    guard budget > 0, isNamed else { return nil }
    defer { skipped = 0 }
    return Double(skipped)
  }
}
