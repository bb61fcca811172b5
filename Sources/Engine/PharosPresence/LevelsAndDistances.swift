package import PharosDocuments
package import PharosModel

/// The log-distance model of path loss: d = 10^((measured power − level) ÷ (10 × exponent)).
package struct DistanceModel: Hashable, Sendable {
  /// The exponent of the site: 2 in free space.
  package var exponent: Double

  /// Makes a model.
  package init(exponent: Double) { self.exponent = exponent }

  /// The standard deviation of the levels at one distance from one place to the next: walls, furniture, people and antennas.
  ///
  /// A filter over time does not lessen it.
  /// - Units: dB.
  /// - Source: T. S. Rappaport, "Wireless Communications", second edition 2002, table 4.6: 7.0 dB in offices with hard partitions.
  static let shadowing = 7.0

  /// The distance, and how sure it is.
  ///
  /// The logarithm of the distance is as normal as the level, so the true distance lies within a factor of it either way. The
  /// deviation is the radius around it that holds as much.
  ///
  /// - Parameters:
  ///   - level: the filtered level in dBm.
  ///   - variance: the variance of the filtered level in dB².
  ///   - measuredPower: the level at one metre in dBm.
  /// - Returns: metres, and the metres around it that hold 68 of 100 true distances; nil where the model has no answer.
  package func distance(
    level: Double,
    variance: Double,
    measuredPower: Double
  ) -> (meters: Double, deviation: Double)? {
    guard let meters = meters(level: level, measuredPower: measuredPower) else { return nil }
    let spread = (variance + DistanceModel.shadowing * DistanceModel.shadowing).squareRoot()
    let doublings = spread / (10 * exponent) * RadioMath.binaryLogOfTen
    return (meters, meters * DistanceModel.radius(ofLogarithm: doublings * DistanceModel.logarithmOfTwo))
  }

  private static let logarithmOfTwo = 0.693_147_180_559_945_3

  /// Returns the radius around the median of a log-normal value that holds 68 of 100.
  ///
  /// From 1 on it reaches down to zero, and only what is above counts. Below, s ÷ (1 + 0.227 s²) solves the equation to 2 %.
  ///
  /// - Parameter deviation: the standard deviation s of the natural logarithm.
  /// - Returns: a share of the median.
  static func radius(ofLogarithm deviation: Double) -> Double {
    guard deviation > 1.48 else { return deviation / (1 + 0.227 * deviation * deviation) }
    return RadioMath.powerOfTwo(0.468 * deviation / logarithmOfTwo) - 1
  }

  private func meters(level: Double, measuredPower: Double) -> Double? {
    guard exponent > 0 else { return nil }
    let meters = RadioMath.powerOfTwo((measuredPower - level) / (10 * exponent) * RadioMath.binaryLogOfTen)
    return meters.isFinite ? meters : nil
  }

  /// The level at one metre that would explain a level at a known distance.
  package func measuredPower(level: Double, meters: Double) -> Double? {
    guard meters > 0 else { return nil }
    return level + 10 * exponent * RadioMath.binaryLog(meters) / RadioMath.binaryLogOfTen
  }

  /// The level at a distance: where a threshold in metres lies.
  ///
  /// - Returns: dBm, or nil where the model has no answer.
  func level(meters: Double, measuredPower: Double) -> Double? {
    guard meters > 0 else { return nil }
    return measuredPower - 10 * exponent * RadioMath.binaryLog(meters) / RadioMath.binaryLogOfTen
  }
}

extension DistanceModel {
  /// The levels in dBm that a policy enters and leaves at; not a number where it asks for none.
  func levels(of policy: PresencePolicy, measuredPower: Double?) -> (enter: Float, exit: Float) {
    (
      level(policy.enterRSSI, policy.enterDistance, power: measuredPower, without: .infinity),
      level(policy.exitRSSI, policy.exitDistance, power: measuredPower, without: -.infinity)
    )
  }

  /// The level that a threshold in dBm or in metres, or both, comes to; `without` where a power is needed and unknown.
  @inline(__always)
  private func level(_ level: Double?, _ meters: Meters?, power: Double?, without: Float) -> Float {
    guard let meters else { return level.map { Float($0) } ?? .nan }
    guard let power, let there = self.level(meters: meters.value, measuredPower: power) else {
      return without
    }
    return Float(max(there, level ?? -.infinity))
  }
}

/// The level of a track, smoothed, and how sure it is.
///
/// A random walk seen through noise. The walk's rate is that of a walking person: 1 to 3 dB a second a few metres
/// from a beacon. The noise is measured: from the innovations, which is how far each sample lies from what the samples
/// before it let one expect.
///
/// - Source: R. K. Mehra, "On the identification of variances and adaptive Kalman filtering", IEEE Transactions on
///   Automatic Control 15, 1970.
package struct KalmanLevel: Hashable, Sendable {
  /// The drift of the true level.
  ///
  /// - Units: dB² a second; 2 is a walk of 1.4 dB in one second.
  package static let drift = 2.0
  /// The variance of one sample before it has been measured.
  ///
  /// - Units: dB²; 16 is a deviation of 4 dB, the middle of what indoor measurements report (3 to 6 dB).
  package static let noise = 16.0
  /// The bounds of the measured noise.
  ///
  /// - Units: dB²; deviations of 0.7 to 10 dB. A receiver rounds to whole decibels, and beyond 10 dB it is no noise.
  static let bounds: ClosedRange<Float> = 0.5...100
  /// The weight of one innovation in the measured noise: about one in thirty.
  private static let rate: Float = 1.0 / 32
  /// Innovations beyond three deviations count as three: a spike is not noise.
  private static let clip: Float = 9
  /// The number of variances beyond which an innovation is far off.
  private static let far: Float = 4

  var estimate: Float
  var spread: Float
  var measured = Float(KalmanLevel.noise)
  /// -1 if the last innovation was far below the estimate, 1 if it was far above, otherwise 0.
  var push: Int8 = 0

  /// The estimate.
  ///
  /// - Units: dBm.
  package var level: Double { Double(estimate) }
  /// The variance of the estimate.
  ///
  /// - Units: dB².
  package var variance: Double { Double(spread) }

  /// Indicates whether there is no sample yet.
  var isEmpty: Bool { estimate.isNaN }

  /// Starts from a first sample.
  package init(first level: Double) {
    estimate = Float(level)
    spread = Float(KalmanLevel.noise)
  }

  /// A filter in a known state.
  @inline(__always)
  init(estimate: Float, spread: Float, measured: Float, push: Int8) {
    self.estimate = estimate
    self.spread = spread
    self.measured = measured
    self.push = push
  }

  /// Takes a sample that came so many seconds after the last one.
  package mutating func add(_ sample: Double, after seconds: Double) {
    update(Float(sample), after: Float(seconds))
  }

  /// Takes a sample that came so many seconds after the last one.
  @inline(__always)
  mutating func update(_ sample: Float, after seconds: Float) {
    // Beyond a minute the old estimate holds no information; the cap keeps the variance finite.
    let predicted = spread + Float(KalmanLevel.drift) * min(max(seconds, 0), 60)
    let expected = predicted + measured
    let gain = predicted / expected
    let innovation = sample - estimate
    let square = innovation * innovation
    estimate += gain * innovation
    spread = (1 - gain) * predicted
    // Two in a row that are far off on one side are a step of the level, and no noise.
    let pushed: Int8 = square <= KalmanLevel.far * expected ? 0 : innovation < 0 ? -1 : 1
    if pushed == 0 || pushed != push {
      measured += (min(square, KalmanLevel.clip * expected) - expected) * KalmanLevel.rate
      measured = min(max(measured, KalmanLevel.bounds.lowerBound), KalmanLevel.bounds.upperBound)
    }
    push = pushed
  }

  /// Raises the sample taken last by so many dB: a stronger report of the same transmission.
  ///
  /// The gain of that sample was its variance divided by the noise.
  package mutating func raiseLast(by difference: Double) { estimate += spread / measured * Float(difference) }
}

extension KalmanLevel {
  /// Time passes without a sample.
  mutating func age(by seconds: Float) {
    spread = min(spread + Float(KalmanLevel.drift) * max(seconds, 0), Float(KalmanLevel.drift) * 60)
  }
}

/// Sorts distances into immediate, near and far, and holds a class until its edge is clearly crossed.
package struct ProximityClassifier: Hashable, Sendable {
  /// Below this distance a beacon is immediate.
  ///
  /// - Units: metres. Apple publishes no edges; this one is ours, half an arm's length.
  static let immediate = 0.5
  /// Below this distance a beacon is near.
  ///
  /// - Units: metres. Ours as well: across a room but not across a hall.
  static let near = 3.0
  /// The factor by which an edge must be passed before the class changes: a tenth, less than a decibel.
  static let band = 1.1

  var proximity = RangedReading.Proximity.unknown

  package init() {}

  /// The class of a distance; nil is undetermined.
  package mutating func classify(_ meters: Double?) -> RangedReading.Proximity {
    guard let meters else {
      proximity = .unknown
      return .unknown
    }
    let inner = edge(ProximityClassifier.immediate, isWithin: proximity == .immediate)
    let outer = edge(
      ProximityClassifier.near,
      isWithin: proximity == .immediate || proximity == .near
    )
    proximity = meters < inner ? .immediate : meters < outer ? .near : .far
    return proximity
  }

  private func edge(_ meters: Double, isWithin: Bool) -> Double {
    guard proximity != .unknown else { return meters }
    return isWithin ? meters * ProximityClassifier.band : meters / ProximityClassifier.band
  }
}

extension KalmanLevel: FieldParts {
  /// Hands the filter to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(level: &estimate, "a filtered level")
    try coder.code(amount: &spread, "a filter's spread")
    try coder.code(amount: &measured, "a filter's noise")
    try coder.code(&push)
  }
}

extension ProximityClassifier: FieldParts {
  private static let classes: [RangedReading.Proximity] = [.unknown, .immediate, .near, .far]

  /// Hands the class to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var number = UInt8(ProximityClassifier.classes.firstIndex(of: proximity) ?? 0)
    try coder.code(small: &number, through: 3, "a proximity")
    proximity = ProximityClassifier.classes[Int(number)]
  }
}

extension SecondBuckets: FieldParts {
  /// Hands the seconds that are open to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(list: &open, ofAtLeast: 40, into: SecondBucket(number: 0, lastHeard: .distantPast)) {
      (bucket, coder) throws(Coder.Failure) in
      try coder.code(second: &bucket.number)
      try coder.code(&bucket.count)
      try coder.code(&bucket.levels)
      try coder.code(finite: &bucket.sum, "a sum of levels")
      try coder.code(finite: &bucket.squares, "a sum of squares")
      try coder.code(&bucket.lastHeard)
      bucket.count &= 0x7FFF_FFFF
      bucket.levels &= 0x7FFF_FFFF
    }
  }
}

/// The samples of one track in one second, or in one half of a second.
package struct SecondBucket: Hashable, Sendable {
  /// The number of the second or the half, counted from the observer's first report.
  var number: Int64
  /// The number of samples.
  package var count: UInt32 = 0
  /// The number of samples that had a level.
  var levels: UInt32 = 0
  /// The sum of the levels in dBm.
  var sum = 0.0
  /// The sum of their squares in dBm².
  var squares = 0.0
  /// The latest one.
  var lastHeard: Timestamp

  /// The mean level in dBm, or nil if no sample had one.
  package var mean: Double? { levels == 0 ? nil : sum / Double(levels) }

  /// The variance of the levels in dB².
  package var variance: Double {
    guard let mean, levels > 1 else { return 0 }
    return max(0, (squares - sum * mean) / Double(levels - 1))
  }

  /// Adds the samples of another bucket.
  mutating func add(_ other: SecondBucket) {
    count += other.count
    levels += other.levels
    sum += other.sum
    squares += other.squares
    lastHeard = max(lastHeard, other.lastHeard)
  }

  /// The second half of a second.
  static func lastHalf(of second: Int64) -> Int64 { 2 * second + 1 }
}

/// The seconds of a track that are still open, or the halves: as many as the observer's lag spans, and one more.
///
/// A sample counts in the half of its event time, not in that of its arrival, so that observers with different lags can
/// be compared.
package struct SecondBuckets: Hashable, Sendable {
  var open: [SecondBucket] = []

  package init() {}

  /// Adds a sample.
  package mutating func add(number: Int64, at time: Timestamp, level: Double?) {
    let index = position(of: number, at: time)
    open[index].count += 1
    open[index].lastHeard = max(open[index].lastHeard, time)
    guard let level else { return }
    open[index].levels += 1
    open[index].sum += level
    open[index].squares += level * level
  }

  /// Adds the samples of a bucket.
  mutating func merge(_ bucket: SecondBucket) {
    let index = position(of: bucket.number, at: bucket.lastHeard)
    open[index].add(bucket)
  }

  /// Replaces the level of the sample added last to a bucket by a stronger one.
  mutating func raise(number: Int64, from old: Double, to new: Double) {
    guard let index = open.lastIndex(where: { $0.number == number }) else { return }
    open[index].sum += new - old
    open[index].squares += new * new - old * old
  }

  /// Takes all samples up to and including a number out, as one bucket.
  package mutating func close(through number: Int64) -> SecondBucket? {
    guard var closed = open.first, closed.number <= number else { return nil }
    var count = 1
    while count < open.count, open[count].number <= number {
      closed.add(open[count])
      count += 1
    }
    // Nearly always there is one.
    if count == open.count, count == 1 { _ = open.removeLast() } else { open.removeFirst(count) }
    return closed
  }

  private mutating func position(of number: Int64, at time: Timestamp) -> Int {
    var index = open.count
    while index > 0, open[index - 1].number >= number {
      index -= 1
      if open[index].number == number { return index }
    }
    let bucket = SecondBucket(number: number, lastHeard: time)
    if index == open.count { open.append(bucket) } else { open.insert(bucket, at: index) }
    return index
  }
}

/// The usual level of a beacon at an observer, and the deviation from it.
///
/// A mean and a mean absolute deviation over a quarter of an hour; over the first samples their plain means. What is looked
/// at is the mean of two samples in a row: one dip is none, and a person who walks away is noticed before a smoother
/// filter follows. It counts as low or as far below where it lies clearly outside of what is usual.
package struct UsualLevel: Hashable, Sendable {
  /// The time after which it is known well.
  ///
  /// - Units: seconds; a quarter of an hour.
  static let learningTime: Float = 900
  /// The time after which it is known well enough to tell that a level is far below it.
  ///
  /// - Units: seconds.
  static let known = learningTime / 4
  /// The rate at which it follows.
  ///
  /// - Units: shares a second.
  private static let rate = 1 / learningTime
  /// The greatest weight of one sample, once there are many: silence says nothing about levels.
  private static let maximumShare: Float = 1.0 / 64
  /// The number of mean absolute deviations beyond which a level is drawn in.
  private static let clip: Float = 3
  /// The minimum distances from the usual level down to a low level and to a far one.
  ///
  /// - Units: dB; a body takes 10 to 20, the fading of a tag that lies still seldom 8.
  private static let steps: (low: Float, far: Float) = (8, 14)
  /// The same in mean absolute deviations: 1.8 and 3 standard deviations of normal noise.
  private static let deviations: (low: Float, far: Float) = (2.2, 3.8)
  /// The amount by which it must be louder again to count as such.
  ///
  /// - Units: dB.
  private static let hysteresis: Float = 2

  /// The usual level in dBm.
  package var level = Float.nan
  /// The mean absolute deviation from it, in dB.
  var deviation: Float = 2

  package init() {}

  /// Returns true if a level surely is the usual, whatever its class was before.
  @inline(__always)
  func isUsual(_ recent: Float) -> Bool { level - recent <= UsualLevel.steps.low - UsualLevel.hysteresis }

  /// Takes a level that came so many seconds after the last one, as the n-th sample.
  @inline(__always)
  package mutating func add(_ recent: Float, after seconds: Float, samples: UInt32) {
    guard !level.isNaN else {
      level = recent
      return
    }
    var share = min(seconds * UsualLevel.rate, UsualLevel.maximumShare)
    if samples < 64 { share = max(share, 1 / Float(samples + 8)) }
    add(recent, share: share)
  }

  /// The same for the 64th sample and those behind it.
  @inline(__always)
  mutating func addToMany(_ recent: Float, after seconds: Float) {
    add(recent, share: min(seconds * UsualLevel.rate, UsualLevel.maximumShare))
  }

  @inline(__always)
  private mutating func add(_ recent: Float, share: Float) {
    // Clip outliers: the level of a beacon that is being carried in or out is not its usual one.
    let maximum = UsualLevel.clip * deviation + 1
    let difference = min(max(recent - level, -maximum), maximum)
    level += difference * share
    deviation += (difference.magnitude - deviation) * share
  }

  /// Returns the class of a level, with a hysteresis around the class before.
  package func levelClass(of recent: Float, before: LevelClass) -> LevelClass {
    guard !isUsual(recent) else { return .usual }
    let below = level - recent
    let low = max(UsualLevel.steps.low, UsualLevel.deviations.low * deviation)
    let far = max(UsualLevel.steps.far, UsualLevel.deviations.far * deviation)
    if below > (before == .far ? far - UsualLevel.hysteresis : far) { return .far }
    return below > (before == .usual ? low : low - UsualLevel.hysteresis) ? .low : .usual
  }
}

/// The reading of a beacon, and the request of the catalog that it answers.
struct RequestedReading: Sendable {
  var request: Int32
  var reading: RangedReading
}

/// The rank of a reading in its event: by request, nearest first, unknown last; much smaller to sort than the reading.
struct ReadingRank {
  var request: Int32
  /// Its place among the readings.
  var place: Int32
  var meters: Double

  init(_ entry: RequestedReading, at place: Int) {
    request = entry.request
    self.place = Int32(place)
    meters = entry.reading.proximity == .unknown ? .infinity : entry.reading.accuracy
  }
}
