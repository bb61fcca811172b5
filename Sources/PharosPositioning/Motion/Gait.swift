import PharosReports

/// How somebody walks: the steps found in the acceleration or told by the handset, their lengths, and the speed that they make.
struct Gait: Hashable, Sendable {
  private var detector = StepDetector()
  private var mark: StepDetector.Mark?
  private var handsetStepAt = Timestamp.distantPast
  /// The time that steps take, and the fourth root of their swing: means over the last few; nothing before the first.
  ///
  /// - Units: seconds and (m/s²)^¼.
  private var period: Float = 0
  private var root: Float = 0
  /// The last step, of either origin.
  private var last: Step?

  /// Takes a strength of acceleration, and says whether it ends a step.
  mutating func takes(_ strength: Float, at time: Timestamp, rules: MotionRules) -> Bool {
    mark = detector.take(strength, at: time, rules: rules)
    return mark != nil
  }

  /// The step that ends now, or nil where the handset tells steps by itself.
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

  /// For how many steps the means of period and swing are taken.
  private static let memory: Float = 4

  private mutating func learn(_ mark: StepDetector.Mark, at time: Timestamp, rules: MotionRules) {
    let swing = mark.swing.squareRoot().squareRoot()
    root += (swing - root) / (root > 0 ? Gait.memory : 1)
    guard let began = mark.began else { return }
    let passed = Float((time - began).seconds)
    period += (passed - period) / (period > 0 ? Gait.memory : 1)
  }

  /// How far steps of such a swing and cadence go.
  private func length(_ rules: MotionRules) -> Float {
    let usual = Float(rules.usualDuration.seconds)
    // Beyond what was surveyed the lines that were fitted mean nothing.
    let cadence = min(2.4, max(1.5, 1 / (period > 0 ? period : usual)))
    let length = rules.lengthBase + rules.lengthForCadence * cadence + rules.lengthForSwing * root
    return min(rules.lengths.upperBound, max(rules.lengths.lowerBound, length))
  }

  /// The step that the handset detected; what it does not tell comes from the rules and from the compass.
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

  /// The speed and the course of a walk that goes on, or nil.
  func walking(at time: Timestamp, rules: MotionRules) -> (speed: Float, course: Float?)? {
    guard let last, time - last.time <= rules.longestStep else { return nil }
    let course = last.heading.flatMap { $0.reference == .north ? $0.radians : nil }
    return (last.length / Float(max(0.2, (last.time - last.began).seconds)), course)
  }

  /// For how long silence means that no step was made: a handset that tells steps says nothing while it rests.
  func life(_ rules: MotionRules) -> TimeSpan {
    handsetStepAt == .distantPast ? .zero : rules.handsetStepLife
  }

  private mutating func told(_ step: Step) -> Step {
    last = step
    return step
  }
}
