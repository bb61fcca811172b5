import PharosReports

/// Finds steps in the strength of the acceleration: a bump above its slow mean, and the fall behind it.
///
/// The strength needs no orientation, so the detector does not care how the handset is held.
struct StepDetector: Hashable, Sendable {
  /// A step, as it shows in the acceleration.
  struct Mark: Hashable, Sendable {
    /// When the step before ended, if it was part of the same walk.
    var began: Timestamp?
    /// How far the acceleration swung, from the trough before the bump to its top.
    ///
    /// - Units: m/s².
    var swing: Float
  }

  /// For how many steps the usual swing is taken.
  private static let memory: Float = 4

  private var slow: Float = 0
  private var smooth: Float = 0
  private var top: Float = 0
  private var trough: Float = 0
  private var isRising = false
  /// The swing of the last steps of the walk.
  private var usual: Float = 0
  private var last = Timestamp.distantPast
  private var previous = Timestamp.distantPast

  /// Takes a strength of acceleration, and says whether a step ended with it.
  mutating func take(_ strength: Float, at time: Timestamp, rules: MotionRules) -> Mark? {
    defer { previous = time }
    guard previous != .distantPast, time - previous <= rules.sampleLife else {
      slow = strength
      smooth = 0
      (top, trough, isRising) = (0, 0, false)
      return nil
    }
    let passed = Float((time - previous).seconds)
    slow += passed / (rules.stepMean + passed) * (strength - slow)
    smooth += passed / (rules.stepSmoothing + passed) * (strength - slow - smooth)
    guard isRising else {
      trough = min(trough, smooth)
      if smooth > rules.stepRise {
        isRising = true
        top = smooth
      }
      return nil
    }
    top = max(top, smooth)
    let isOfWalk = last != .distantPast && time - last <= rules.longestStep
    let fall = isOfWalk ? max(rules.stepFall, rules.stepShare * usual) : rules.stepFall
    guard smooth < top - fall, smooth < 0 else { return nil }
    isRising = false
    let swing = top - trough
    guard last == .distantPast || time - last >= rules.shortestStep else { return nil }
    usual = isOfWalk ? usual + (swing - usual) / StepDetector.memory : swing
    let mark = Mark(began: isOfWalk ? last : nil, swing: swing)
    last = time
    trough = smooth
    return mark
  }
}
