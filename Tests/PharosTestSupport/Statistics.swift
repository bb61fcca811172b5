extension Collection where Element == Double {
  /// The arithmetic mean.
  package var mean: Double { reduce(0, +) / Double(count) }
  /// The standard deviation.
  package var deviation: Double {
    let mean = mean
    return (map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(count)).squareRoot()
  }
  /// The skewness: negative where the tail reaches further down than up.
  package var skewness: Double {
    let mean = mean
    let deviation = deviation
    return map { (($0 - mean) / deviation) }.map { $0 * $0 * $0 }.mean
  }
}
