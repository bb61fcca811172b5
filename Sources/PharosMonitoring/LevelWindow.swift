/// The last ten levels of a track, for the filters that look at a window.
package struct LevelWindow: Hashable, Sendable {
  /// How many samples are looked at.
  package static let capacity = 10

  var samples: [Double] = []

  /// Starts empty.
  package init() {}

  /// Takes a sample; the oldest goes.
  package mutating func add(_ sample: Double) {
    if samples.isEmpty { samples.reserveCapacity(LevelWindow.capacity) }
    if samples.count == LevelWindow.capacity { samples.removeFirst() }
    samples.append(sample)
  }

  /// Raises the sample taken last by so many dB.
  package mutating func raiseLast(by difference: Double) {
    guard !samples.isEmpty else { return }
    samples[samples.count - 1] += difference
  }

  /// Moves all samples by so many dB.
  mutating func shift(by difference: Double) { samples = samples.map { $0 + difference } }

  /// The mean of all samples, or nil if there are none.
  package var mean: Double? { samples.isEmpty ? nil : samples.reduce(0, +) / Double(samples.count) }

  /// The middle sample, or the mean of the two in the middle.
  package var median: Double? {
    guard !samples.isEmpty else { return nil }
    let sorted = samples.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The level by a filter that looks at a window.
  package func level(_ kind: LevelFilterKind) -> Double? {
    switch kind {
    case .trimmedMean: trimmedMean
    case .median: median
    case .kalman, .movingAverage: mean
    }
  }

  /// The variance of that level in dB².
  package func variance(_ kind: LevelFilterKind) -> Double {
    switch kind {
    case .trimmedMean: varianceOfTrimmedMean
    case .median: varianceOfMedian
    case .kalman, .movingAverage: varianceOfMean
    }
  }

  /// The mean without the highest and the lowest tenth.
  package var trimmedMean: Double? {
    guard !samples.isEmpty else { return nil }
    let cut = samples.count / LevelWindow.capacity
    let kept = samples.sorted()[cut..<(samples.count - cut)]
    return kept.reduce(0, +) / Double(kept.count)
  }

  /// The variance of the samples, never below what rounding to whole decibels makes; the usual noise for one sample.
  package var sampleVariance: Double {
    guard let mean, samples.count > 1 else { return KalmanLevel.noise }
    let sum = samples.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return max(sum / Double(samples.count - 1), 1.0 / 12)
  }

  /// The variance of the mean of the samples.
  package var varianceOfMean: Double { sampleVariance / Double(max(1, samples.count)) }

  /// The variance of the median of the samples: π ÷ 2 times that of the mean, for normal noise and all but few samples.
  package var varianceOfMedian: Double { varianceOfMean * (samples.count > 2 ? .pi / 2 : 1) }

  /// The variance of the trimmed mean.
  ///
  /// The squared deviations of samples drawn in to the ones kept at either end, over the kept share squared.
  ///
  /// - Source: J. W. Tukey and D. H. McLaughlin, "Less vulnerable confidence and significance procedures for location
  ///   based on a single sample", Sankhyā A 25, 1963.
  package var varianceOfTrimmedMean: Double {
    let cut = samples.count / LevelWindow.capacity
    guard cut > 0 else { return varianceOfMean }
    let sorted = samples.sorted()
    let (lowest, highest) = (sorted[cut], sorted[samples.count - 1 - cut])
    let drawn = sorted.map { min(max($0, lowest), highest) }
    let mean = drawn.reduce(0, +) / Double(drawn.count)
    let sum = drawn.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    let kept = 1 - 2 * Double(cut) / Double(samples.count)
    return max(sum / Double(samples.count - 1), 1.0 / 12) / (kept * kept * Double(samples.count))
  }
}
