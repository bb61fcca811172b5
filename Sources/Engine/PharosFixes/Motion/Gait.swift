import PharosDocuments
import PharosModel

/// The gait of a person: the steps found in the acceleration or reported by the handset, and their lengths.
struct Gait: Hashable, Sendable {
  private var handsetStepAt = Timestamp.distantPast
  /// The duration of a step and the fourth root of its swing: means over the last few steps, 0 before the first.
  ///
  /// - Units: seconds and (m/s²)^¼.
  private var period: Float = 0
  private var root: Float = 0
  /// The time of the last step, from either source.
  private var steppedAt: Timestamp?

  /// The number of steps over which the means of period and swing are taken.
  private static let memory: Float = 4

  /// Takes a step that shows in the acceleration, and returns it, or nil if the handset itself reports steps.
  mutating func addStep(_ mark: StepDetector.Mark, heading: Heading?, at time: Timestamp) -> Step? {
    guard handsetStepAt == .distantPast || time - handsetStepAt > MotionRules.handsetStepLife else {
      return nil
    }
    learn(mark, at: time)
    let began = mark.began ?? time - MotionRules.usualDuration
    return step(began: began, at: time, length: length, heading: heading)
  }

  private mutating func learn(_ mark: StepDetector.Mark, at time: Timestamp) {
    let swing = mark.swing.squareRoot().squareRoot()
    root += (swing - root) / (root > 0 ? Gait.memory : 1)
    guard let began = mark.began else { return }
    let passed = Float((time - began).seconds)
    period += (passed - period) / (period > 0 ? Gait.memory : 1)
  }

  /// The length of steps with the present swing and cadence.
  private var length: Float {
    let usual = Float(MotionRules.usualDuration.seconds)
    // Beyond what was surveyed the lines that were fitted mean nothing.
    let cadence = min(2.4, max(1.5, 1 / (period > 0 ? period : usual)))
    let length =
      MotionRules.lengthBase + MotionRules.lengthForCadence * cadence + MotionRules.lengthForSwing * root
    return min(MotionRules.lengths.upperBound, max(MotionRules.lengths.lowerBound, length))
  }

  /// Takes a step that the handset detected, and returns it.
  ///
  /// The rules and the compass supply what the handset does not report.
  mutating func addStep(length: Float, heading: Float, own: Heading?, at time: Timestamp) -> Step {
    handsetStepAt = time
    let usual = time - MotionRules.usualDuration
    let began = steppedAt.map { time - $0 <= MotionRules.maximumStep ? $0 : usual } ?? usual
    let reportedHeading =
      heading.isFinite
      ? Heading(
        radians: Bearing.wrapped(heading),
        deviation: MotionRules.headingNoise,
        biasDeviation: MotionRules.headingBias,
        reference: .north
      ) : own
    return step(
      began: began,
      at: time,
      length: length > 0 ? length : MotionRules.usualStep,
      heading: reportedHeading
    )
  }

  private mutating func step(began: Timestamp, at time: Timestamp, length: Float, heading: Heading?) -> Step {
    steppedAt = time
    return Step(
      began: began,
      time: time,
      length: length,
      lengthDeviation: length * MotionRules.stepNoise,
      heading: heading
    )
  }
}

/// Finds steps in the strength of the acceleration: a bump above its slow mean, and the fall behind it.
///
/// The strength needs no orientation, so the detector does not depend on the grip on the handset.
struct StepDetector: Hashable, Sendable {
  /// A step, as it shows in the acceleration.
  struct Mark: Hashable, Sendable {
    /// The end of the step before, if it was part of the same walk.
    var began: Timestamp?
    /// The swing of the acceleration, from the trough before the bump to its top.
    ///
    /// - Units: m/s².
    var swing: Float
  }

  /// The number of steps over which the usual swing is taken.
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

  /// Takes a strength of acceleration, and returns the step that ended with it, if any.
  mutating func update(_ strength: Float, at time: Timestamp) -> Mark? {
    defer { previous = time }
    guard previous != .distantPast, time - previous <= MotionRules.sampleLife else {
      slow = strength
      smooth = 0
      (top, trough, isRising) = (0, 0, false)
      return nil
    }
    let passed = Float((time - previous).seconds)
    slow += passed / (MotionRules.stepMean + passed) * (strength - slow)
    smooth += passed / (MotionRules.stepSmoothing + passed) * (strength - slow - smooth)
    guard isRising else {
      trough = min(trough, smooth)
      if smooth > MotionRules.stepRise {
        isRising = true
        top = smooth
      }
      return nil
    }
    top = max(top, smooth)
    let isOfWalk = last != .distantPast && time - last <= MotionRules.maximumStep
    let fall = isOfWalk ? max(MotionRules.stepFall, MotionRules.stepShare * usual) : MotionRules.stepFall
    guard smooth < top - fall, smooth < 0 else { return nil }
    isRising = false
    let swing = top - trough
    guard last == .distantPast || time - last >= MotionRules.shortestStep else { return nil }
    usual = isOfWalk ? usual + (swing - usual) / StepDetector.memory : swing
    let mark = Mark(began: isOfWalk ? last : nil, swing: swing)
    last = time
    trough = smooth
    return mark
  }
}

/// A detector of rest, from the scatter of the acceleration's strength.
struct RestWatch: Hashable, Sendable {
  private var mean: Float = 0
  private var variance: Float = 0
  private var previous = Timestamp.distantPast
  /// The time from which the acceleration has been quiet, or nil while it is not.
  private var quietSince: Timestamp?
  /// The time up to which the rest has been reported.
  private var consumedThrough = Timestamp.distantPast

  /// The time over which the scatter is taken.
  ///
  /// - Units: seconds.
  private static let memory: Float = 0.5

  /// Returns whether the handset rests: no step for a while, and little scatter.
  func isResting(at time: Timestamp) -> Bool {
    guard let quietSince else { return false }
    return time - quietSince >= MotionRules.restDelay
  }

  /// Takes a strength of acceleration, and returns a rest to report, if any.
  mutating func update(_ strength: Float, at time: Timestamp) -> Movement? {
    defer { previous = time }
    guard previous != .distantPast, time - previous <= MotionRules.sampleLife else {
      (mean, variance, quietSince) = (strength, 0, nil)
      return nil
    }
    let passed = Float((time - previous).seconds)
    let share = passed / (RestWatch.memory + passed)
    let difference = strength - mean
    mean += share * difference
    variance = (1 - share) * (variance + share * difference * difference)
    guard variance < MotionRules.restScatter * MotionRules.restScatter else {
      quietSince = nil
      return nil
    }
    let since = quietSince ?? time
    quietSince = since
    guard time - since >= MotionRules.restDelay else { return nil }
    let from = max(since, consumedThrough)
    guard time - from >= MotionRules.restInterval else { return nil }
    consumedThrough = time
    return .still(from: from, to: time)
  }

  /// Ends the rest, because a step was made.
  mutating func wake() { quietSince = nil }
}

extension Gait {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&handsetStepAt)
    try coder.code(&period)
    try coder.code(&root)
    try coder.code(&steppedAt)
  }
}

extension StepDetector {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&slow)
    try coder.code(&smooth)
    try coder.code(&top)
    try coder.code(&trough)
    try coder.code(&isRising)
    try coder.code(&usual)
    try coder.code(&last)
    try coder.code(&previous)
  }
}

extension RestWatch {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&mean)
    try coder.code(&variance)
    try coder.code(&previous)
    try coder.code(&quietSince)
    try coder.code(&consumedThrough)
  }
}
