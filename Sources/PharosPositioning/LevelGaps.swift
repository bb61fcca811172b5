/// What tags that are surely in a zone have taught: by how much its observer hears them louder than others do.
///
/// A running mean and variance for each ordered pair of observers. Of each stay few lessons are taken, and old ones fade,
/// so that neither a tag that lies still nor the past rules. Levels go in as stage one gave them, without the offsets that
/// come out of this, so that nothing feeds on itself.
struct LevelGaps: Sendable {
  /// By how much one observer hears louder than another, while the beacon is in the first one's zone.
  struct Gap: Sendable {
    /// The other observer's place in the plan.
    let other: Int
    /// How many lessons count.
    var count = 0.0
    /// - Units: dB.
    var mean = 0.0
    /// - Units: dB².
    var variance = 0.0

    init(other: Int) { self.other = other }

    fileprivate mutating func add(_ gap: Double) {
      count = min(count + 1, LevelGaps.memory)
      let difference = gap - mean
      mean += difference / count
      variance += (difference * (gap - mean) - variance) / count
    }
  }

  /// How many other observers are kept for each, first come first served.
  ///
  /// 16: more than the rooms around any room.
  static let mostOthers = 16
  /// How many lessons a mean goes back.
  static let memory = 256.0
  /// How many lessons a gap is used from.
  static let fewest = 8.0

  /// The gaps of each observer.
  var gaps: [[Gap]]
  /// Counts all lessons.
  var lessons: UInt64 = 0

  /// Starts with nothing learned about so many observers.
  init(observers: Int) { gaps = Array(repeating: [], count: observers) }

  /// Takes one lesson, unless there are too many others already.
  mutating func learn(_ observer: Int, _ other: Int, _ gap: Double) {
    var index = gaps[observer].firstIndex { $0.other == other } ?? gaps[observer].count
    if index == gaps[observer].count {
      guard index < LevelGaps.mostOthers else { return }
      gaps[observer].append(Gap(other: other))
      index = gaps[observer].count - 1
    }
    gaps[observer][index].add(gap)
    lessons &+= 1
  }

  /// What was learned about a pair, if it is enough.
  func gap(_ observer: Int, _ other: Int) -> Gap? {
    gaps[observer].first { $0.other == other && $0.count >= LevelGaps.fewest }
  }

  /// How much sharper a pair of observers tells its zones apart than is taken for granted, from 0.5 to 2.
  ///
  /// The log-likelihood ratio of two normal distributions of one variance grows by separation ÷ variance for each dB.
  func sharpness(_ observer: Int, _ other: Int, _ ground: ZoneGround) -> Double {
    guard let there = gap(observer, other), let back = gap(other, observer) else { return 1 }
    let place = ground.rules.placeDeviation * ground.rules.placeDeviation
    let weight = min(there.count, back.count)
    let learned = weight / (weight + 2 * LevelGaps.fewest)
    let separation =
      ground.rules.separation + learned * ((there.mean + back.mean) / 2 - ground.rules.separation)
    let variance = place + learned * ((there.variance + back.variance) / 4 - place)
    let ratio = (separation / max(variance, place / 4)) / (ground.rules.separation / place)
    return min(max(ratio, 0.5), 2)
  }
}
