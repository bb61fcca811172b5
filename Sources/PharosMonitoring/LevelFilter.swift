/// Which filter smooths the levels of a track.
public enum LevelFilterKind: UInt8, Hashable, Sendable {
  /// A Kalman filter of one state: the default.
  case kalman
  /// The mean of the last ten samples without the highest and the lowest tenth, as AltBeacon's running average.
  case trimmedMean
  /// The median of the last ten samples.
  case median
  /// The mean of the last ten samples.
  case movingAverage
}

/// The level of a track, smoothed, and how sure it is.
///
/// A random walk seen through noise. The walk's rate is that of somebody who walks: 1 to 3 dB a second a few metres
/// from a beacon. The noise is the fading of three channels indoors.
public struct KalmanLevel: Hashable, Sendable {
  /// By how much the true level wanders.
  ///
  /// - Units: dB² a second; 2 is a walk of 1.4 dB in one second.
  public static let drift = 2.0
  /// The variance of one sample.
  ///
  /// - Units: dB²; 16 is a deviation of 4 dB, the middle of what indoor measurements report (3 to 6 dB).
  public static let noise = 16.0

  /// The estimate.
  ///
  /// - Units: dBm.
  public private(set) var level: Double
  /// The variance of the estimate.
  ///
  /// - Units: dB².
  public private(set) var variance: Double
  private var gain: Double

  /// Starts from a first sample.
  public init(first level: Double) {
    self.level = level
    variance = KalmanLevel.noise
    gain = 1
  }

  /// Takes a sample that came so many seconds after the last one.
  public mutating func add(_ sample: Double, after seconds: Double) {
    // Beyond a minute the old estimate says nothing any more; the cap keeps the variance finite.
    let predicted = variance + KalmanLevel.drift * min(max(seconds, 0), 60)
    gain = predicted / (predicted + KalmanLevel.noise)
    level += gain * (sample - level)
    variance = (1 - gain) * predicted
  }

  /// Raises the sample taken last by so many dB: a stronger report of the same transmission.
  public mutating func raiseLast(by difference: Double) { level += gain * difference }
}

/// The last ten levels of a track, for the filters that look at a window.
public struct LevelWindow: Hashable, Sendable {
  /// How many samples are looked at.
  public static let capacity = 10

  private var samples: [Double] = []

  /// Starts empty.
  public init() {}

  /// Takes a sample; the oldest goes.
  public mutating func add(_ sample: Double) {
    if samples.isEmpty { samples.reserveCapacity(LevelWindow.capacity) }
    if samples.count == LevelWindow.capacity { samples.removeFirst() }
    samples.append(sample)
  }

  /// Raises the sample taken last by so many dB.
  public mutating func raiseLast(by difference: Double) {
    guard !samples.isEmpty else { return }
    samples[samples.count - 1] += difference
  }

  /// The mean of all samples, or nil if there are none.
  public var mean: Double? { samples.isEmpty ? nil : samples.reduce(0, +) / Double(samples.count) }

  /// The middle sample, or the mean of the two in the middle.
  public var median: Double? {
    guard !samples.isEmpty else { return nil }
    let sorted = samples.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The mean without the highest and the lowest tenth.
  public var trimmedMean: Double? {
    guard !samples.isEmpty else { return nil }
    let cut = samples.count / LevelWindow.capacity
    let kept = samples.sorted()[cut..<(samples.count - cut)]
    return kept.reduce(0, +) / Double(kept.count)
  }

  /// The variance of the mean of the samples, never below that of a perfect window.
  public var varianceOfMean: Double {
    guard let mean, samples.count > 1 else { return KalmanLevel.noise }
    let sum = samples.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return max(sum / Double(samples.count - 1), 1) / Double(samples.count)
  }
}

/// The chosen filter of one track.
struct LevelFilter: Sendable {
  private var window = LevelWindow()
  private var kalman: KalmanLevel?

  /// Takes a sample.
  mutating func add(_ sample: Double, after seconds: Double, kind: LevelFilterKind) {
    if kind != .kalman { window.add(sample) }
    kalman?.add(sample, after: seconds)
    if kalman == nil { kalman = KalmanLevel(first: sample) }
  }

  /// Raises the sample taken last by so many dB.
  mutating func raiseLast(by difference: Double) {
    kalman?.raiseLast(by: difference)
    window.raiseLast(by: difference)
  }

  /// The filtered level in dBm, or nil before the first sample.
  func level(_ kind: LevelFilterKind) -> Double? {
    switch kind {
    case .kalman: kalman?.level
    case .trimmedMean: window.trimmedMean
    case .median: window.median
    case .movingAverage: window.mean
    }
  }

  /// The variance of the filtered level in dB².
  func variance(_ kind: LevelFilterKind) -> Double {
    kind == .kalman ? kalman?.variance ?? KalmanLevel.noise : window.varianceOfMean
  }
}
