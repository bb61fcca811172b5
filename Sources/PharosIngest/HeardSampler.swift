import PharosReports

/// Chooses which datagrams the table of all that is heard looks at.
///
/// Each millisecond it may look at datagrams until they brought 32 adverts: with little traffic that is all of it, with
/// much it is a sample, and a datagram that is looked at stands for those before it that were not.
struct HeardSampler {
  /// The time after which there is a new budget.
  static let interval = TimeSpan.milliseconds(1)
  /// How many adverts may be looked at in that time.
  static let adverts = 32

  private var next = Timestamp.distantPast
  private var skipped = 0
  /// How many adverts may still be looked at.
  var budget = 0

  /// How many datagrams this one stands for, or nil if it is not to be looked at.
  mutating func look(at time: Timestamp) -> Double? {
    if time >= next {
      next = time + HeardSampler.interval
      budget = HeardSampler.adverts
    }
    skipped += 1
    guard budget > 0 else { return nil }
    defer { skipped = 0 }
    return Double(skipped)
  }
}
