import PharosReports

extension MotionTracker {
  /// Whether a sensor can have said so.
  static func isSensible(_ sample: MotionSample) -> Bool {
    switch sample.kind {
    case .accelerometer: isWithin(160, sample)
    case .gyroscope: isWithin(160, sample)
    case .magnetometer: isWithin(5_000, sample)
    case .rotationVector: isWithin(1.01, sample)
    case .barometer: sample.x >= 300 && sample.x <= 1_100
    // Length and heading may be unknown, but a length that is given must be possible for a step.
    case .step: !(sample.x < 0) && !(sample.x > 3) && !(sample.y.magnitude > 100)
    }
  }

  private static func isWithin(_ limit: Float, _ sample: MotionSample) -> Bool {
    sample.x.magnitude <= limit && sample.y.magnitude <= limit && sample.z.magnitude <= limit
  }

  /// Takes the sample whose turn it is.
  mutating func process(_ entry: MotionLane.Entry, of kind: MotionSample.Kind) {
    let vector = SIMD3(entry.x, entry.y, entry.z)
    switch kind {
    case .rotationVector: compass.take(rotationVector: vector, at: entry.time, rules: rules)
    case .gyroscope:
      let isResting = rest.isResting(at: entry.time, rules: rules)
      compass.take(turnRate: vector, at: entry.time, isResting: isResting, rules: rules)
    case .magnetometer: compass.take(field: vector, at: entry.time, rules: rules)
    case .accelerometer: process(acceleration: vector, at: entry.time)
    case .barometer:
      if let climb = heights.take(entry.x, at: entry.time, rules: rules) { tell(.climbed(climb)) }
    case .step:
      sensedThrough = entry.time
      let heading = compass.heading(at: entry.time, rules: rules)
      rest.wake()
      tell(.step(gait.take(length: entry.x, heading: entry.y, own: heading, at: entry.time, rules: rules)))
    }
  }

  private mutating func process(acceleration: SIMD3<Float>, at time: Timestamp) {
    sensedThrough = time
    compass.take(acceleration: acceleration, at: time, rules: rules)
    let strength = acceleration.square.squareRoot()
    if gait.takes(strength, at: time, rules: rules) {
      rest.wake()
      let heading = compass.heading(at: time, rules: rules)
      if let step = gait.step(heading: heading, at: time, rules: rules) { tell(.step(step)) }
    }
    if let still = rest.take(strength, at: time, rules: rules) { tell(still) }
  }
}
