package import PharosModel

/// The constants with which steps, rests, directions and climbs are derived from samples.
package enum MotionRules {
  // Steps.

  /// The time over which the slow mean of the acceleration's strength is taken.
  ///
  /// - Units: seconds.
  package static let stepMean: Float = 2
  /// The time over which the strength is smoothed: faster changes than a step are the shock of the heel and the
  /// trembling of the hand.
  ///
  /// - Units: seconds.
  package static let stepSmoothing: Float = 0.12
  /// The rise of the acceleration above its slow mean that a step requires.
  ///
  /// Steps of the surveyed walks swing by 3.3 to 11 m/s² in all (1 to 99 %). With half of this rise and fall, net ways
  /// of straight walks scattered by a sixth more.
  ///
  /// - Units: m/s².
  package static let stepRise: Float = 0.4
  /// The fall from its peak that ends the step.
  ///
  /// - Units: m/s².
  package static let stepFall: Float = 1
  /// The same as a share of the swing that the last steps had: between strong steps a weak bump is the other foot's drag, or a turn.
  package static let stepShare: Float = 0.35
  /// The shortest time between two steps: four a second are a run.
  package static let shortestStep: TimeSpan = .milliseconds(280)
  /// The longest time that one step takes; a later step begins a new walk.
  package static let maximumStep: TimeSpan = .milliseconds(1_500)
  /// The usual duration of a step: 1.85 a second on the surveyed walks.
  package static let usualDuration: TimeSpan = .milliseconds(540)
  /// The length of a step that the handset reports without a length.
  ///
  /// - Units: metres.
  package static let usualStep: Float = 0.72
  /// The length of a step at no swing and no cadence; this line was fitted to 1,160 straight ways between waypoints of the survey.
  ///
  /// With it, the predicted lengths of half of those ways, fitted to the other half, are off by 9.2 % in the mean (7 %
  /// are the taps'); with one length for all steps 10.4 %, with the swing alone 9.5 %.
  ///
  /// - Units: metres.
  package static let lengthBase: Float = 0.260
  /// The increase of the step length for each step a second: quick steps of the same swing are shorter.
  ///
  /// - Units: metre seconds.
  package static let lengthForCadence: Float = -0.194
  /// The increase of the step length for the fourth root of the swing of the acceleration.
  ///
  /// - Units: metres for each (m/s²)^¼.
  /// - Source: H. Weinberg, "Using the ADXL202 in pedometer and personal navigation applications", Analog Devices AN-602, 2002.
  package static let lengthForSwing: Float = 0.541
  /// The shortest and the longest step of a walk.
  ///
  /// - Units: metres.
  package static let lengths: ClosedRange<Float> = 0.45...1
  /// The variation of lengths from step to step within a walk, as a share.
  package static let stepNoise: Float = 0.10

  // Rest.

  /// The time without a step that a rest requires.
  package static let restDelay: TimeSpan = .seconds(1)
  /// The maximum scatter of the acceleration in a rest: one standard deviation over about half a second.
  ///
  /// - Units: m/s².
  package static let restScatter: Float = 0.25
  /// The interval at which a lasting rest is reported.
  package static let restInterval: TimeSpan = .seconds(1)

  // Directions.

  /// The part of a heading's error that is new with each step.
  ///
  /// On the surveyed walks, the errors of two straight ways of more than 12 m, one after the other, differ by 3.5° in
  /// the mean, which is about the error of taps on a map.
  ///
  /// - Units: radians.
  package static let headingNoise: Float = 0.06
  /// The part that lasts for a walk: grip, declination, and the initial error of the compass.
  ///
  /// Of the surveyed walks half have a mean error between −4° and +7° in one mall, −7° and +9° in the other; nine in ten are within
  /// 15° and 21°.
  ///
  /// - Units: radians.
  package static let headingBias: Float = 0.14
  /// The time before a step's end over which the directions count for its heading.
  ///
  /// On the surveyed walks the shorter the better, down to single samples: hands turn before feet do.
  ///
  /// - Units: seconds.
  package static let headingWindow: Float = 0.1
  /// The maximum difference of a turn rate at rest from the learned one: a hand that turns slowly is quicker.
  ///
  /// - Units: rad/s.
  package static let restTurn: Float = 0.06
  /// The time over which the turn rate at rest is learned.
  ///
  /// - Units: seconds.
  package static let zeroRateTime: Float = 2
  /// The greatest turn rate at rest that is accepted.
  ///
  /// - Units: rad/s.
  /// - Source: the zero-rate offset of phones' gyroscopes, ±3 °/s (Bosch BMI160, data sheet).
  package static let maximumZeroRate: Float = 0.06
  /// The rate at which the error of a heading grows that only the turn rate carries along, beyond a constant error of
  /// the sensor.
  ///
  /// - Units: rad/√s.
  package static let turnDrift: Float = 0.005
  /// The error of the heading of a handset's rotation vector.
  ///
  /// - Units: radians.
  package static let rotationNoise: Float = 0.17
  /// The time for which that error stays alike.
  ///
  /// - Units: seconds.
  package static let rotationMemory: Float = 5
  /// The time for which a measured heading has to differ from the own one, by more than three deviations, to replace
  /// it.
  ///
  /// - Units: seconds.
  package static let astrayTime: Float = 10
  /// The time over which gravity straightens an orientation that the turn rate carries along.
  ///
  /// - Units: seconds.
  package static let leanTime: Float = 3
  /// The error of the heading of a magnetic field indoors.
  ///
  /// - Units: radians.
  package static let fieldNoise: Float = 0.35
  /// The time for which that error stays alike: as long as it takes to walk past the iron that bends the field.
  ///
  /// - Units: seconds.
  package static let fieldMemory: Float = 3

  // Heights.

  /// The time over which the height by the air pressure is smoothed.
  ///
  /// - Units: seconds.
  package static let heightSmoothing: Float = 0.6
  /// The time over which the height must not have changed for a climb to be over.
  ///
  /// A landing in a staircase that takes longer cuts a climb in two.
  package static let levelWindow: TimeSpan = .seconds(4.2)
  /// The maximum speed at which the height changes on a level: half of that of slow stairs or an escalator, twice that
  /// of a ramp of 5 %.
  ///
  /// - Units: m/s.
  package static let levelSpeed: Float = 0.12
  /// The distance of the height from its level at which a climb begins.
  ///
  /// - Units: metres.
  package static let climbStart: Float = 0.6
  /// The time over which a level follows the weather, whose fronts are worth a metre in five minutes.
  ///
  /// - Units: seconds.
  package static let weatherTime: Float = 20
  /// The smallest change of height that is reported as a climb: half a floor.
  ///
  /// A smaller one stays open until later samples decide.
  ///
  /// - Units: metres.
  package static let minimumClimb: Float = 1.5
  /// The share of a climb that no second can cover: a lift that starts and stops at 1.5 m/s² covers 60 % of three metres in one.
  package static let suddenShare: Float = 0.7
  /// The time for which one air pressure is valid.
  package static let pressureLife: TimeSpan = .seconds(5)

  // Senses.

  /// The time for which a sample of acceleration or orientation is valid.
  package static let sampleLife: TimeSpan = .milliseconds(500)
  /// The time for which a step that the handset detected shows that the handset detects steps.
  ///
  /// Meanwhile none is detected from samples.
  package static let handsetStepLife: TimeSpan = .seconds(60)
}
