import PharosEvents

/// How loud a beacon usually is at an observer, and how far it strays from that.
///
/// A mean and a mean absolute deviation over a quarter of an hour; over the first samples their plain means. What is looked
/// at is the mean of two samples in a row: one dip is none, and somebody who walks away is seen to go before a smoother
/// filter follows. It counts as low or as far below where it lies clearly outside of what is usual.
package struct UsualLevel: Hashable, Sendable {
  /// After how long it is known well.
  ///
  /// - Units: seconds; a quarter of an hour.
  static let settled: Float = 900
  /// How fast it follows.
  ///
  /// - Units: shares a second.
  private static let rate = 1 / settled
  /// How much one sample says at most, once there are many: silence says nothing about levels.
  private static let greatestShare: Float = 1.0 / 64
  /// Beyond how many mean absolute deviations a level is drawn in.
  private static let clip: Float = 3
  /// How much lower a low level lies at least, and a far one.
  ///
  /// - Units: dB; a body takes 10 to 20, the fading of a tag that lies still seldom 8.
  private static let steps: (low: Float, far: Float) = (8, 14)
  /// The same in mean absolute deviations: 1.8 and 3 standard deviations of normal noise.
  private static let deviations: (low: Float, far: Float) = (2.2, 3.8)
  /// By how much it must be louder again to count as such.
  ///
  /// - Units: dB.
  private static let hysteresis: Float = 2

  /// The usual level in dBm.
  package var level = Float.nan
  /// The mean absolute deviation from it, in dB.
  var deviation: Float = 2

  package init() {}

  /// Whether a level surely is the usual, wherever it was before.
  @inline(__always)
  func isUsual(_ recent: Float) -> Bool { level - recent <= UsualLevel.steps.low - UsualLevel.hysteresis }

  /// Takes a level that came so many seconds after the last one, as the n-th sample.
  @inline(__always)
  package mutating func add(_ recent: Float, after seconds: Float, samples: UInt32) {
    guard !level.isNaN else {
      level = recent
      return
    }
    var share = min(seconds * UsualLevel.rate, UsualLevel.greatestShare)
    if samples < 64 { share = max(share, 1 / Float(samples + 8)) }
    add(recent, share: share)
  }

  /// The same for the 64th sample and those behind it.
  @inline(__always)
  mutating func addToMany(_ recent: Float, after seconds: Float) {
    add(recent, share: min(seconds * UsualLevel.rate, UsualLevel.greatestShare))
  }

  @inline(__always)
  private mutating func add(_ recent: Float, share: Float) {
    // Clip outliers: the level of a beacon that is being carried in or out is not its usual one.
    let most = UsualLevel.clip * deviation + 1
    let difference = min(max(recent - level, -most), most)
    level += difference * share
    deviation += (difference.magnitude - deviation) * share
  }

  /// Where a level lies, by a hysteresis near where it was.
  func levelClass(_ recent: Float, before: LevelClass) -> LevelClass {
    switch surroundings(recent, before: before == .usual ? 0 : before == .low ? 1 : 2) {
    case 0: .usual
    case 1: .low
    default: .far
    }
  }

  /// Where a level lies: 0 for the usual, 1 for low, 2 for far below; by a hysteresis near where it was.
  package func surroundings(_ recent: Float, before: UInt8) -> UInt8 {
    guard !isUsual(recent) else { return 0 }
    let below = level - recent
    let low = max(UsualLevel.steps.low, UsualLevel.deviations.low * deviation)
    let far = max(UsualLevel.steps.far, UsualLevel.deviations.far * deviation)
    if below > (before == 2 ? far - UsualLevel.hysteresis : far) { return 2 }
    return below > (before == 0 ? low : low - UsualLevel.hysteresis) ? 1 : 0
  }
}
