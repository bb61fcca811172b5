import PharosEvents
import PharosReports

/// Bodies in the way: they take 10 to 20 dB for some seconds, and hide a beacon that is not loud enough altogether.
extension AdaptiveSilence {
  /// The level below which one body in the way may hide a beacon altogether.
  ///
  /// - Units: dBm; 20 dB above the −92 to −94 dBm at which usual gateways stop receiving.
  static let bodyReach: Float = -71
  /// The level below which a body and slow fading together may.
  ///
  /// - Units: dBm; 7 dB more.
  static let fadingReach: Float = -64
  /// How long a body stands in the way.
  ///
  /// - Units: seconds; somebody who walks by or stops for a moment.
  static let bodyTime = 10.0
  /// How often that happens where nothing is known.
  ///
  /// - Units: times a day.
  static let bodiesPerDay = 150.0
  /// The shortest pause that is taken for a body.
  ///
  /// - Units: seconds.
  static let bodyLeast: Float = 2
  /// How seldom ordinary losses must make it: three times in a hundred hours.
  ///
  /// - Units: times a second.
  private static let bodyChance = 0.3 / 36_000
  /// After so long a time of watching such tracks what they lost tells by itself whether bodies stand in the way.
  ///
  /// - Units: seconds; ten hours.
  static let bodyDoubt: Float = 36_000
  /// Below this interval a body hides more adverts than are usually lost in a row.
  ///
  /// - Units: seconds.
  private static let fastInterval: Float = 0.5

  /// Whether ordinary losses do not explain a pause.
  func isUnexplained(_ pause: Float) -> Bool {
    guard learner.interval > 0, learner.received >= 64 else { return false }
    var counts = history.all(received: learner.received)
    counts.add(belief)
    let begun = (Double(counts.runs) + 1) / Double(counts.received + 2)
    let goesOn = (Double(counts.lost - counts.runs) + 1) / (Double(counts.lost) + 2)
    let missed = Double(pause / learner.interval) - 1.5
    return RadioMath.binaryLog(begun) + missed * RadioMath.binaryLog(goesOn)
      < RadioMath.binaryLog(AdaptiveSilence.bodyChance * Double(learner.interval))
  }

  /// The silence that a body in the way may make: for as long as it stands there, and what is lost around that.
  func hiding(_ policy: PresencePolicy, _ continuation: Double, pace: Double) -> TimeSpan {
    guard mayHide else { return .zero }
    let bits = RadioMath.binaryLog(AdaptiveSilence.bodiesPerDay / max(policy.falseExitsPerDay, 1e-9))
    let around = max(1, (bits / -RadioMath.binaryLog(continuation)).rounded(.up))
    return .milliseconds(Int64(((AdaptiveSilence.bodyTime + around * pace) * 1_000).rounded(.up)))
  }

  /// The level fell, and a body is as likely the reason as somebody who goes: a fast beacon gets the time of one.
  func shadow(at surroundings: LevelClass) -> TimeSpan {
    guard mayFade, surroundings != .usual, learner.interval < AdaptiveSilence.fastInterval else {
      return .zero
    }
    return .seconds(AdaptiveSilence.bodyTime)
  }
}
