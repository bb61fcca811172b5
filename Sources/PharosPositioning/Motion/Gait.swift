import PharosModel

/// The gait of a person: the steps found in the acceleration or reported by the handset, their lengths, and the
/// resulting speed.
struct Gait: Hashable, Sendable {
  private var detector = StepDetector()
  private var mark: StepDetector.Mark?
  private var handsetStepAt = Timestamp.distantPast
  /// The duration of a step and the fourth root of its swing: means over the last few steps, 0 before the first.
  ///
  /// - Units: seconds and (m/s²)^¼.
  private var period: Float = 0
  private var root: Float = 0
  /// The last step, from either source.
  private var last: Step?

  /// Takes a strength of acceleration, and returns whether it ends a step.
  mutating func takes(_ strength: Float, at time: Timestamp, rules: MotionRules) -> Bool {
    mark = detector.take(strength, at: time, rules: rules)
    return mark != nil
  }

  /// Returns the step that ends now, or nil if the handset itself reports steps.
  mutating func step(heading: Heading?, at time: Timestamp, rules: MotionRules) -> Step? {
    guard let mark, handsetStepAt == .distantPast || time - handsetStepAt > rules.handsetStepLife else {
      return nil
    }
    let began = mark.began ?? time - rules.usualDuration
    learn(mark, at: time, rules: rules)
    let length = length(rules)
    return told(
      Step(
        began: began,
        time: time,
        length: length,
        lengthDeviation: length * rules.stepNoise,
        heading: heading
      )
    )
  }

  /// The number of steps over which the means of period and swing are taken.
  private static let memory: Float = 4

  private mutating func learn(_ mark: StepDetector.Mark, at time: Timestamp, rules: MotionRules) {
    let swing = mark.swing.squareRoot().squareRoot()
    root += (swing - root) / (root > 0 ? Gait.memory : 1)
    guard let began = mark.began else { return }
    let passed = Float((time - began).seconds)
    period += (passed - period) / (period > 0 ? Gait.memory : 1)
  }

  /// Returns the length of steps with the present swing and cadence.
  private func length(_ rules: MotionRules) -> Float {
    let usual = Float(rules.usualDuration.seconds)
    // Beyond what was surveyed the lines that were fitted mean nothing.
    let cadence = min(2.4, max(1.5, 1 / (period > 0 ? period : usual)))
    let length = rules.lengthBase + rules.lengthForCadence * cadence + rules.lengthForSwing * root
    return min(rules.lengths.upperBound, max(rules.lengths.lowerBound, length))
  }

  /// Takes a step that the handset detected, and returns it.
  ///
  /// The rules and the compass supply what the handset does not report.
  mutating func take(
    length: Float,
    heading: Float,
    own: Heading?,
    at time: Timestamp,
    rules: MotionRules
  ) -> Step {
    handsetStepAt = time
    let usual = time - rules.usualDuration
    let began = last.map { time - $0.time <= rules.longestStep ? $0.time : usual } ?? usual
    let length = length > 0 ? length : rules.usualStep
    let toldHeading =
      heading.isFinite
      ? Heading(
        radians: Bearing.wrapped(heading),
        deviation: rules.headingNoise,
        biasDeviation: rules.headingBias,
        reference: .north
      ) : own
    return told(
      Step(
        began: began,
        time: time,
        length: length,
        lengthDeviation: length * rules.stepNoise,
        heading: toldHeading
      )
    )
  }

  /// Returns the speed and the course of a walk that goes on, or nil.
  func walking(at time: Timestamp, rules: MotionRules) -> (speed: Float, course: Float?)? {
    guard let last, time - last.time <= rules.longestStep else { return nil }
    let course = last.heading.flatMap { $0.reference == .north ? $0.radians : nil }
    return (last.length / Float(max(0.2, (last.time - last.began).seconds)), course)
  }

  /// Returns the time for which silence means that no step was made: a handset that reports steps sends nothing while
  /// it rests.
  func life(_ rules: MotionRules) -> TimeSpan {
    handsetStepAt == .distantPast ? .zero : rules.handsetStepLife
  }

  private mutating func told(_ step: Step) -> Step {
    last = step
    return step
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

/// A detector of rest, from the scatter of the acceleration's strength.
struct RestWatch: Hashable, Sendable {
  private var mean: Float = 0
  private var variance: Float = 0
  private var previous = Timestamp.distantPast
  /// The time from which the acceleration has been quiet, or nil while it is not.
  private var quietSince: Timestamp?
  /// The time up to which the rest has been reported.
  private var told = Timestamp.distantPast

  /// The time over which the scatter is taken.
  ///
  /// - Units: seconds.
  private static let memory: Float = 0.5

  /// Returns whether the handset rests: no step for a while, and little scatter.
  func isResting(at time: Timestamp, rules: MotionRules) -> Bool {
    guard let quietSince else { return false }
    return time - quietSince >= rules.restDelay
  }

  /// Takes a strength of acceleration, and returns a rest to report, if any.
  mutating func take(_ strength: Float, at time: Timestamp, rules: MotionRules) -> Movement? {
    defer { previous = time }
    guard previous != .distantPast, time - previous <= rules.sampleLife else {
      (mean, variance, quietSince) = (strength, 0, nil)
      return nil
    }
    let passed = Float((time - previous).seconds)
    let share = passed / (RestWatch.memory + passed)
    let difference = strength - mean
    mean += share * difference
    variance = (1 - share) * (variance + share * difference * difference)
    guard variance < rules.restScatter * rules.restScatter else {
      quietSince = nil
      return nil
    }
    let since = quietSince ?? time
    quietSince = since
    guard time - since >= rules.restDelay else { return nil }
    let from = max(since, told)
    guard time - from >= rules.restInterval else { return nil }
    told = time
    return .still(from: from, to: time)
  }

  /// Ends the rest, because a step was made.
  mutating func wake() { quietSince = nil }
}
