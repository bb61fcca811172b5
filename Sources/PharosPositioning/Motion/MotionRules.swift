package import PharosReports

/// The constants with which steps, rests, directions and climbs are derived from samples.
package struct MotionRules: Hashable, Sendable {
  // Steps.

  /// Over how long the slow mean of the acceleration's strength is taken.
  ///
  /// - Units: seconds.
  package var stepMean: Float = 2
  /// Over how long the strength is smoothed: what is faster than a step is the shock of the heel and the trembling of the hand.
  ///
  /// - Units: seconds.
  package var stepSmoothing: Float = 0.12
  /// How far the acceleration has to rise above its slow mean for a step.
  ///
  /// Steps of the surveyed walks swing by 3.3 to 11 m/s² in all (1 to 99 %); with half of this rise and fall, net ways of straight walks scattered by
  /// a sixth more.
  ///
  /// - Units: m/s².
  package var stepRise: Float = 0.4
  /// How far it has to fall from its peak for the step to be over.
  ///
  /// - Units: m/s².
  package var stepFall: Float = 1
  /// The same as a share of the swing that the last steps had: between strong steps a weak bump is the other foot's drag, or a turn.
  package var stepShare: Float = 0.35
  /// The shortest time between two steps: four a second are a run.
  package var shortestStep: TimeSpan = .milliseconds(280)
  /// The longest time that one step takes; what comes later begins a new walk.
  package var longestStep: TimeSpan = .milliseconds(1_500)
  /// How long a step usually takes: 1.85 a second on the surveyed walks.
  package var usualDuration: TimeSpan = .milliseconds(540)
  /// The length of a step of which only that is known.
  ///
  /// - Units: metres.
  package var usualStep: Float = 0.72
  /// The length of a step at no swing and no cadence; this line was fitted to 1,160 straight ways between waypoints of the survey.
  ///
  /// With it lengths of half of those ways, fitted to the other half, are off by 9.2 % in the mean (7 % are the taps'); 10.4 % with one length for
  /// all steps, 9.5 % with the swing alone.
  ///
  /// - Units: metres.
  package var lengthBase: Float = 0.260
  /// How much longer a step is for each step a second: quick steps of the same swing are shorter.
  ///
  /// - Units: metre seconds.
  package var lengthForCadence: Float = -0.194
  /// How much longer it is for the fourth root of the swing of the acceleration.
  ///
  /// - Units: metres for each (m/s²)^¼.
  /// - Source: H. Weinberg, "Using the ADXL202 in pedometer and personal navigation applications", Analog Devices AN-602, 2002.
  package var lengthForSwing: Float = 0.541
  /// The shortest and the longest step of a walk.
  ///
  /// - Units: metres.
  package var lengths: ClosedRange<Float> = 0.45...1
  /// How much lengths differ from step to step within a walk, as a share.
  package var stepNoise: Float = 0.10
  /// How much the mean length of a walk's steps differs from what the rules say, as a share: one standard deviation, 6.5 % on the
  /// surveyed walks.
  package var scaleDeviation: Float = 0.08

  // Rest.

  /// How long no step may have been for a rest.
  package var restDelay: TimeSpan = .seconds(1)
  /// How much the acceleration may scatter in a rest: one standard deviation over about half a second.
  ///
  /// - Units: m/s².
  package var restScatter: Float = 0.25
  /// The interval at which a lasting rest is reported.
  package var restInterval: TimeSpan = .seconds(1)

  // Directions.

  /// The part of a heading's error that is new with each step.
  ///
  /// On the surveyed walks the errors of two straight ways of more than 12 m, one after the other, differ by 3.5° in the mean, which is
  /// about what taps on a map are wrong by.
  ///
  /// - Units: radians.
  package var headingNoise: Float = 0.06
  /// The part that lasts for a walk: grip, declination, and what the compass began with.
  ///
  /// Of the surveyed walks half have a mean error between −4° and +7° in one mall, −7° and +9° in the other; nine in ten are within
  /// 15° and 21°.
  ///
  /// - Units: radians.
  package var headingBias: Float = 0.14
  /// Over how long before a step's end the directions count for its heading.
  ///
  /// On the surveyed walks the shorter the better, down to single samples: hands turn before feet do.
  ///
  /// - Units: seconds.
  package var headingWindow: Float = 0.1
  /// How far a turn rate at rest may be from the one learned: a hand that turns slowly is quicker.
  ///
  /// - Units: rad/s.
  package var restTurn: Float = 0.06
  /// Over how long the turn rate at rest is learned.
  ///
  /// - Units: seconds.
  package var zeroRateTime: Float = 2
  /// The greatest turn rate at rest that is believed.
  ///
  /// - Units: rad/s.
  /// - Source: the zero-rate offset of phones' gyroscopes, ±3 °/s (Bosch BMI160, data sheet).
  package var greatestZeroRate: Float = 0.06
  /// How fast a heading that only the turn rate carries along goes astray, beyond a constant error of the sensor.
  ///
  /// - Units: rad/√s.
  package var turnDrift: Float = 0.005
  /// How wrong the heading of a handset's rotation vector is, and for how long alike.
  ///
  /// - Units: radians.
  package var rotationNoise: Float = 0.17
  /// For how long that error stays alike.
  ///
  /// - Units: seconds.
  package var rotationMemory: Float = 5
  /// How long a measured heading has to differ from the own one, beyond three deviations, to be believed instead.
  ///
  /// - Units: seconds.
  package var astrayTime: Float = 10
  /// Over how long gravity straightens an orientation that the turn rate carries along.
  ///
  /// - Units: seconds.
  package var leanTime: Float = 3
  /// How wrong the heading of a magnetic field indoors is.
  ///
  /// - Units: radians.
  package var fieldNoise: Float = 0.35
  /// For how long that error stays alike: as long as it takes to walk past what bends the field.
  ///
  /// - Units: seconds.
  package var fieldMemory: Float = 3

  // Heights.

  /// Over how long the height by the air pressure is smoothed.
  ///
  /// - Units: seconds.
  package var heightSmoothing: Float = 0.6
  /// Over how long the height must not have changed for a climb to be over.
  ///
  /// A landing in a staircase that takes longer cuts a climb in two.
  package var levelWindow: TimeSpan = .seconds(4.2)
  /// How fast the height may change on a level: half of what slow stairs or an escalator do, twice what a ramp of 5 % does.
  ///
  /// - Units: m/s.
  package var levelSpeed: Float = 0.12
  /// How far the height has to leave its level for a climb to begin.
  ///
  /// - Units: metres.
  package var climbStart: Float = 0.6
  /// Over how long a level follows the weather, whose fronts are worth a metre in five minutes.
  ///
  /// - Units: seconds.
  package var weatherTime: Float = 20
  /// The smallest change of height that is reported as a climb: half a floor.
  ///
  /// A smaller one waits for what follows.
  ///
  /// - Units: metres.
  package var leastClimb: Float = 1.5
  /// The share of a climb that no second can cover: a lift that starts and stops at 1.5 m/s² covers 60 % of three metres in one.
  package var suddenShare: Float = 0.7
  /// How wrong a climb's height is: the sensor's noise and the wind in the staircase.
  ///
  /// - Units: metres.
  package var climbDeviation: Float = 0.5
  /// How long one air pressure speaks.
  package var pressureLife: TimeSpan = .seconds(5)

  // Senses.

  /// For how long a sample of acceleration or orientation speaks.
  package var sampleLife: TimeSpan = .milliseconds(500)
  /// For how long a step that the handset detected says that it detects steps: none is detected from samples meanwhile.
  package var handsetStepLife: TimeSpan = .seconds(60)

  /// The rules as they are described.
  package init() {}
}
