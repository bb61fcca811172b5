import PharosDocuments
import PharosModel

/// The latest gaps of a beacon that is outside, which separate one that is heard seldom from reflections.
///
/// What a present beacon sends lies on a grid, and much of it is received: the gaps are small multiples of one interval.
/// Reflections of a beacon that is away lie anywhere. The more gaps there are, the less exactly they must fit:
///
///     gaps   multiples                        greatest distance from the grid, in intervals
///     2      the same                         1/200, at least 0.2 s
///     3, 4   any, two in five received        1/50
///     4      the same                         1/8: a gateway that uploads every 10 s
///
/// Random gaps as frequent as those of reflections fit less than once for fifty times that two lie within 30 s.
struct SparseGaps: Hashable, Sendable {
  /// Regular gaps.
  struct Run: Hashable, Sendable {
    /// The interval in seconds.
    var interval: Float
    /// The number of intervals of each gap, and zeros behind them.
    var multiples: SIMD4<Float>
    /// The number of samples that they lie between.
    var samples: Int
    /// The time from the first of them to the last.
    var span: TimeSpan
  }

  /// The longest interval that is looked for.
  ///
  /// - Units: seconds; two minutes, and what the clocks of cheap beacons are wrong by.
  static let maximumInterval: Float = 125
  /// The least gap that is kept: of adverts that lie closer, any number that a policy asks for falls within its window.
  ///
  /// - Units: seconds.
  private static let minimumGap = Float(AdaptiveSilence.learnedWindow.lowerBound) / 3
  /// The least gap of a run: three adverts that lie closer fall within the window of an untracked beacon anyway.
  ///
  /// - Units: seconds.
  private static let minimumRunGap = Float(AdaptiveSilence.defaultWindow) / 2
  /// The least share of the adverts that must have been received.
  private static let minimumShare: Float = 0.4
  /// The longest gap that may belong to a run.
  private static let maximumGap = maximumInterval * 5

  /// The gaps in seconds, the latest first, and zeros behind them.
  private(set) var gaps = SIMD4<Float>.zero
  /// Bit n: the sample n before the latest was several adverts of the very same time.
  private(set) var repeats: UInt8 = 0

  /// Indicates whether nothing is known.
  var isEmpty: Bool { self == SparseGaps() }

  /// Returns true for a gap that is kept: one that may belong to a run, or of a beacon that had a faster interval.
  static func isSparse(_ gap: Float, known interval: Float) -> Bool {
    gap >= minimumRunGap || gap >= minimumGap && gap > interval * 1.5 && interval > 0
  }

  /// A sample came after a gap.
  mutating func add(_ gap: Float) {
    repeats = gap <= SparseGaps.maximumInterval ? repeats << 1 & 0b11 : 0
    guard gap >= SparseGaps.minimumGap, gap <= SparseGaps.maximumGap else {
      gaps = .zero
      return
    }
    gaps = SIMD4(gap, gaps[0], gaps[1], gaps[2])
  }

  /// A further advert of the very time of the latest sample came, as a gateway sends them that collects adverts and states
  /// no ages.
  ///
  /// One such pair may be one advert that several radios received; the second within two minutes is a batch of several.
  ///
  /// - Returns: true if it is one.
  mutating func recordRepeat() -> Bool {
    repeats |= 1
    return repeats == 0b11
  }

  /// The latest three gaps, if they are equal.
  ///
  /// They show the interval of a beacon that was known to have another one. A beacon of a known interval of which half is lost shows
  /// three equal gaps of four intervals once in 30,000 adverts, so no multiples count.
  var equal: Run? {
    let gaps = SIMD3(gaps[0], gaps[1], gaps[2])
    let interval = gaps.sum() / 3
    let differences = SIMD3(repeating: interval) - gaps
    let tolerance = interval / 50 + IntervalLearner.jitter
    guard gaps.min() >= SparseGaps.minimumGap, differences.max() <= tolerance, differences.min() >= -tolerance
    else { return nil }
    let span = SparseGaps.span(interval * 3)
    return Run(interval: interval, multiples: SIMD4(1, 1, 1, 0), samples: 4, span: span)
  }

  /// The longest run that the latest gaps make, if they are regular.
  var run: Run? {
    for count in stride(from: 4, to: 1, by: -1) where gaps[count - 1] > 0 {
      if let run = run(of: count) { return run }
    }
    return nil
  }

  private func run(of count: Int) -> Run? {
    var shortest = gaps[0]
    for place in 1..<count { shortest = min(shortest, gaps[place]) }
    guard shortest >= SparseGaps.minimumRunGap else { return nil }
    var multiples = SIMD4<Float>.zero
    var span: Float = 0
    for place in 0..<count {
      multiples[place] = (gaps[place] / shortest).rounded()
      span += gaps[place]
    }
    let intervals = multiples.sum()
    let interval = span / intervals
    let isWhole = intervals == Float(count)
    guard isWhole || count > 2, Float(count) >= intervals * SparseGaps.minimumShare,
      interval <= SparseGaps.maximumInterval
    else { return nil }
    var tolerance = interval / 50
    if isWhole, count == 2 { tolerance = max(interval / 200, 0.2) }
    if isWhole, count == 4 { tolerance = interval / 8 }
    for place in 0..<count where (gaps[place] - multiples[place] * interval).magnitude > tolerance {
      return nil
    }
    return Run(
      interval: interval,
      multiples: multiples,
      samples: count + 1,
      span: SparseGaps.span(span)
    )
  }

  /// The time of gaps: a millisecond more than their adverts' times differ by, so that it is no less.
  private static func span(_ seconds: Float) -> TimeSpan {
    .milliseconds(Int64((Double(seconds) * 1_000).rounded(.up)) + 1)
  }
}

extension SparseGaps: FieldParts {
  /// The number of the latest samples that may belong to one run, and the time between the first and the last of them.
  var heard: (samples: Int, span: Float) {
    var (samples, span) = (1, Float(0))
    for place in 0..<4 where gaps[place] > 0 {
      samples += 1
      span += gaps[place]
    }
    return (samples, span)
  }

  /// Hands the gaps to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    for place in 0..<4 { try coder.code(amount: &gaps[place], "a gap while outside") }
    try coder.code(small: &repeats, through: 0b11, "batches")
  }
}
