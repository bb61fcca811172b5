import PharosReports

/// One node's view of a tag: levels of the last 15 s, and the distance that it would report.
///
/// - Source: firmware `AdaptivePercentileRSSI` (15 s, 10 to 200 samples, Tukey's fences of 1.5 interquartile ranges, mean
///   of what lies within), `defaults.h` (absorption 2.7, at most 16 m; reported after 0.5 m or 5 s).
/// - Simplified: ten samples are kept however old they are; until there are four, all count.
struct ESPresenseNode: Sendable {
  /// How levels fall with distance.
  static let absorption = 2.7
  /// Metres beyond which nothing is reported.
  static let farthest = 16.0

  private static let window = TimeSpan.seconds(15)
  private static let (fewest, most) = (10, 200)
  private static let (step, pause) = (0.5, TimeSpan.seconds(5))

  /// The distance last reported in metres, and when.
  private(set) var report: (distance: Double, time: Timestamp)?

  private var samples: [(level: Double, time: Timestamp)] = []
  private var sorted: [Double] = []

  /// Takes an advert.
  ///
  /// - Returns: whether the node reports a distance now.
  mutating func hear(_ sighting: Sighting) -> Bool {
    keep(sighting)
    let distance = RadioMath.powerOfTen(
      (sighting.measuredPower - fencedMean) / (10 * ESPresenseNode.absorption)
    )
    guard distance <= ESPresenseNode.farthest else { return false }
    if let report {
      let isDue = sighting.time - report.time >= ESPresenseNode.pause
      guard isDue || abs(distance - report.distance) >= ESPresenseNode.step else { return false }
    }
    report = (distance, sighting.time)
    return true
  }

  private mutating func keep(_ sighting: Sighting) {
    samples.append((sighting.level, sighting.time))
    sorted.insert(sighting.level, at: rank(of: sighting.level))
    while let oldest = samples.first {
      let isOld = sighting.time - oldest.time > ESPresenseNode.window && samples.count > ESPresenseNode.fewest
      guard isOld || samples.count > ESPresenseNode.most else { return }
      sorted.remove(at: rank(of: oldest.level))
      samples.removeFirst()
    }
  }

  /// Where a level stands, or would stand, among the sorted ones.
  private func rank(of level: Double) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < level { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The mean of the levels within Tukey's fences.
  private var fencedMean: Double {
    let count = sorted.count
    var (low, high) = (-Double.infinity, Double.infinity)
    if count >= 4 {
      let (first, third) = (sorted[count / 4], sorted[count * 3 / 4])
      low = first - 1.5 * (third - first)
      high = third + 1.5 * (third - first)
    }
    var (sum, kept) = (0.0, 0.0)
    for level in sorted where level >= low && level <= high {
      sum += level
      kept += 1
    }
    return sum / kept
  }
}
