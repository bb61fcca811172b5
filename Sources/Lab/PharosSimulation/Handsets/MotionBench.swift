package import PharosModel
import PharosSpace

/// The readings of the sensors of one handset on its way.
package struct MotionBench: Sendable {
  private let handset: Handset
  private let phase: StepPhase
  private let magnetic: NoiseField
  private let weather: NoiseField
  private let gyroscopeBias: Double
  private var random: RandomStream

  /// The upward tilt of a handset's screen while its carrier looks at it.
  ///
  /// - Units: radians, about 20°.
  private static let tilt = 0.35
  /// The deviation of a compass by steel and currents, and the distance within which it is correlated.
  ///
  /// - Units: radians and metres. The surveyed malls show ±10° between their quartiles.
  private static let magneticTurn = 0.07
  private static let magneticLength = 6.0
  /// The Earth's field towards the north and downwards in the middle latitudes.
  ///
  /// - Units: µT.
  private static let fieldNorth = 20.0
  private static let fieldDown = 44.0
  /// Standard gravity in m/s².
  private static let gravity = 9.80665
  /// The time from one sample of the barometer to the next.
  private static let pressurePeriod = TimeSpan.milliseconds(200)
  /// The noise of a barometer.
  ///
  /// - Units: hPa; that of handsets, a quarter of a metre.
  private static let pressureNoise = 0.03

  package init(_ handset: Handset, seed: UInt64) {
    self.handset = handset
    var random = RandomStream(seed: seed, 32, handset.id.stableHash)
    phase = StepPhase(gait: handset.journey.gait, seed: random.next())
    magnetic = NoiseField(seed: seed, 33, length: MotionBench.magneticLength)
    // Weather and doors: a third of a hectopascal within ten minutes.
    weather = NoiseField(seed: seed, 34, length: 600)
    gyroscopeBias = 0.005 * random.normal()
    self.random = random
  }

  /// Returns the samples from one time until another, with their ages at the end.
  package mutating func samples(from start: TimeSpan, until end: TimeSpan) -> [MotionSample] {
    var samples: [MotionSample] = []
    switch handset.motion {
    case .none: break
    case .steps: appendSteps(from: start, until: end, to: &samples)
    case .raw(let sensors):
      for time in MotionBench.times(rate: sensors.rate, from: start, until: end) {
        append(sensors, at: time, reported: end, to: &samples)
      }
    }
    if handset.hasBarometer {
      let period = MotionBench.pressurePeriod.nanoseconds
      var number = (start.nanoseconds + period - 1) / period
      while number * period < end.nanoseconds {
        let time = TimeSpan(nanoseconds: number * period)
        samples.append(
          MotionSample(kind: .barometer, age: end - time, x: Float(pressure(at: time)), y: 0, z: 0)
        )
        number += 1
      }
    }
    return samples
  }

  private static func times(rate: Int, from start: TimeSpan, until end: TimeSpan) -> [TimeSpan] {
    let period = 1_000_000_000 / Int64(max(1, rate))
    let first = (start.nanoseconds + period - 1) / period
    let last = (end.nanoseconds + period - 1) / period
    return (first..<max(first, last)).map { TimeSpan(nanoseconds: $0 * period) }
  }

  private mutating func append(
    _ sensors: Handset.Sensors,
    at time: TimeSpan,
    reported: TimeSpan,
    to samples: inout [MotionSample]
  ) {
    let place = handset.journey.place(at: time)
    let steps = handset.journey.steps(at: time)
    let heading = heading(at: time)
    var shake = phase.shake(steps: steps, manner: place.manner)
    shake.up += lift(at: time, place: place)
    // Hands are never quite still; the steps of an escalator rattle.
    let tremble = place.manner == .escalator ? 0.15 : 0.04
    let tilt = Trigonometry.sineAndCosine(MotionBench.tilt)
    let up = shake.up + MotionBench.gravity
    func add(_ kind: MotionSample.Kind, _ x: Double, _ y: Double, _ z: Double) {
      samples.append(MotionSample(kind: kind, age: reported - time, x: Float(x), y: Float(y), z: Float(z)))
    }
    add(
      .accelerometer,
      shake.right + tremble * random.normal(),
      shake.forwards * tilt.cosine + up * tilt.sine + tremble * random.normal(),
      up * tilt.cosine - shake.forwards * tilt.sine + tremble * random.normal()
    )
    if sensors.hasGyroscope {
      let turn =
        JourneyTurns.wrapped(heading - self.heading(at: time - MotionBench.turnSpan))
        / MotionBench.turnSpan.seconds
      // Turning clockwise is negative about the axis that points up; the device's z axis leans back by the tilt.
      add(
        .gyroscope,
        0.02 * random.normal(),
        -turn * tilt.sine + 0.02 * random.normal(),
        -turn * tilt.cosine + gyroscopeBias + 0.02 * random.normal()
      )
    }
    let turned = heading + handset.headingBias + magneticTurn(at: place)
    if sensors.hasMagnetometer {
      let direction = Trigonometry.sineAndCosine(turned)
      let forwards = MotionBench.fieldNorth * direction.cosine
      add(
        .magnetometer,
        -MotionBench.fieldNorth * direction.sine + 0.5 * random.normal(),
        forwards * tilt.cosine - MotionBench.fieldDown * tilt.sine + 0.5 * random.normal(),
        -MotionBench.fieldDown * tilt.cosine - forwards * tilt.sine + 0.5 * random.normal()
      )
    }
    if sensors.hasRotationVector {
      // Tilted up about the device's x axis first, then turned clockwise about the axis that points up.
      let half = Trigonometry.sineAndCosine(-JourneyTurns.wrapped(turned + 0.01 * random.normal()) / 2)
      let up = Trigonometry.sineAndCosine(MotionBench.tilt / 2)
      add(.rotationVector, half.cosine * up.sine, half.sine * up.sine, half.sine * up.cosine)
    }
  }

  /// The steps that the handset finds: it misses one in fifty, and knows lengths to some percent.
  private mutating func appendSteps(
    from start: TimeSpan,
    until end: TimeSpan,
    to samples: inout [MotionSample]
  ) {
    for time in MotionBench.times(rate: 50, from: start, until: end) {
      let before = handset.journey.steps(at: time - .milliseconds(20)).rounded(.down)
      guard handset.journey.steps(at: time).rounded(.down) > before, !random.chance(0.02) else { continue }
      let place = handset.journey.place(at: time)
      let length =
        (place.manner == .climbing ? 0.4 : handset.journey.gait.stepLength)
        * (1 + handset.journey.gait.unevenness * random.normal())
      let turned = heading(at: time) + handset.headingBias + magneticTurn(at: place) + 0.03 * random.normal()
      samples.append(
        MotionSample(
          kind: .step,
          age: end - time,
          x: Float(length),
          y: Float(JourneyTurns.wrapped(turned)),
          z: 0
        )
      )
    }
  }

  /// The time over which a turn is measured.
  private static let turnSpan = TimeSpan.milliseconds(20)

  /// Radians from north, clockwise.
  private func heading(at time: TimeSpan) -> Double { handset.journey.turns.bearing(at: time) }

  private func magneticTurn(at place: Journey.Place) -> Double {
    MotionBench.magneticTurn * magnetic.value(at: place.point, layer: place.floor.level)
  }

  /// Returns the vertical acceleration of a lift's cabin, in m/s²; 0 outside lifts.
  private func lift(at time: TimeSpan, place: Journey.Place) -> Double {
    guard place.manner == .lift else { return 0 }
    let span = TimeSpan.milliseconds(200)
    let before = handset.journey.place(at: time - span).height
    let after = handset.journey.place(at: time + span).height
    return (before - 2 * place.height + after) / (span.seconds * span.seconds)
  }

  /// The air pressure in hPa.
  ///
  /// - Source: the ICAO standard atmosphere below 11 km: 1013.25 × (1 − 2.25577 × 10⁻⁵ h)^5.25588.
  private mutating func pressure(at time: TimeSpan) -> Double {
    let height = handset.journey.place(at: time).height
    let standard = 1_013.25 * RadioMath.power(1 - 2.25577e-5 * height, 5.25588)
    return standard + 0.3 * weather.value(at: time.seconds) + MotionBench.pressureNoise * random.normal()
  }
}

/// The shaking of a carried device by a walking body.
struct StepPhase: Sendable {
  private let gait: SimulatedGait
  private let strengths: NoiseField

  init(gait: SimulatedGait, seed: UInt64) {
    self.gait = gait
    strengths = NoiseField(seed: seed, 31, length: 1)
  }

  /// The constant K of a step's length: length = K × swing^¼.
  ///
  /// - Units: metres over the fourth root of m/s².
  /// - Source: Weinberg, Analog Devices AN-602 (2002); K such that 0.71 m swing by 7.5 m/s², as people do who hold a handset
  ///   before them.
  private static let weinberg = 0.43
  /// The swing of the curve below, from its trough to its peak, where its first part has the height 1.
  private static let curveSwing = 2.11
  /// The length of a step on the flat that shakes like a step on stairs.
  ///
  /// - Units: metres.
  private static let stairLength = 0.6

  /// Returns the acceleration by steps, in a frame of the right hand, forwards and up.
  ///
  /// - Parameters:
  ///   - steps: the number of steps taken, including the part of the current step.
  ///   - manner: the manner of movement.
  /// - Returns: m/s².
  func shake(steps: Double, manner: Journey.Manner) -> (right: Double, forwards: Double, up: Double) {
    guard manner == .walking || manner == .climbing else { return (0, 0, 0) }
    let length = manner == .climbing ? StepPhase.stairLength : gait.stepLength
    let number = steps.rounded(.down)
    let strength = max(0.5, 1 + 2.5 * gait.unevenness * strengths.value(at: number))
    let root = length / StepPhase.weinberg
    let swing = root * root * root * root / StepPhase.curveSwing * strength
    let turn = 2 * Double.pi * (steps - number)
    // A sharp push and a long trough, as accelerometers in hands show it.
    let push = Trigonometry.sineAndCosine(turn - 0.6 * .pi)
    let up = swing * (push.cosine + 0.4 * (2 * push.cosine * push.cosine - 1))
    let forwards = 0.3 * swing * Trigonometry.sineAndCosine(turn).sine
    // Left and right feet take turns.
    let side = number.truncatingRemainder(dividingBy: 2) == 0 ? 1.0 : -1.0
    let right = side * 0.25 * swing * Trigonometry.sineAndCosine(turn / 2).sine
    return (right, forwards, up)
  }
}
