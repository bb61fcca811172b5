import PharosDocuments
import PharosModel

/// Detects climbs and descents in the air pressure.
///
/// The weather changes the pressure height by a metre in minutes. A door that slams, or a ventilation that starts,
/// changes it at once and often only for a moment. A way between floors takes seconds, at a speed between those two,
/// and ends on another level.
struct HeightWatch: Hashable, Sendable {
  /// A change of height that has begun.
  struct Way: Hashable, Sendable {
    /// The time at which it began.
    var began: Timestamp
    /// The level at which it began.
    var base: Float
    /// The greatest change within about a second.
    var jump: Float
  }

  /// A height of the last seconds, as it was read, and smoothed a little.
  struct Mark: Hashable, Sendable {
    var time: Timestamp
    var height: Float
    var quick: Float
  }

  /// The height of the level that the handset is on: metres by the pressure, 0 at 1,013.25 hPa.
  private var level: Float = 0
  /// The height now.
  private var height: Float = 0
  /// The heights of the last seconds, whose slope shows whether the height still changes.
  private var marks: [Mark] = []
  private var previous = Timestamp.distantPast
  private var way: Way?

  /// The height that one natural logarithm of pressure is worth, at 20 °C.
  ///
  /// - Units: metres.
  /// - Source: the barometric formula, R T ÷ (g M) with R = 8.314 J/(mol K), T = 293 K, g = 9.807 m/s², M = 0.02896 kg/mol.
  static let scaleHeight: Float = 8_581
  /// The time over which a sudden change is measured.
  private static let second = TimeSpan.milliseconds(1_250)
  /// The time constant with which the height is smoothed for that.
  ///
  /// - Units: seconds.
  private static let quickSmoothing: Float = 0.3

  /// Takes an air pressure in hPa, and returns a climb that has ended, if any.
  mutating func update(_ pressure: Float, at time: Timestamp) -> Climb? {
    let raw = -HeightWatch.scaleHeight * Float(RadioMath.naturalLog(Double(pressure) / 1_013.25))
    let passed = Float((time - previous).seconds)
    let isContinued = previous != .distantPast && time - previous <= MotionRules.pressureLife
    previous = time
    guard isContinued, let last = marks.last else {
      (level, height) = (raw, raw)
      marks = [Mark(time: time, height: raw, quick: raw)]
      way = nil
      return nil
    }
    height += passed / (MotionRules.heightSmoothing + passed) * (raw - height)
    let quick = last.quick + passed / (HeightWatch.quickSmoothing + passed) * (raw - last.quick)
    marks.removeAll { time - $0.time > MotionRules.levelWindow }
    marks.append(Mark(time: time, height: raw, quick: quick))
    guard var open = way else {
      if (height - level).magnitude > MotionRules.climbStart {
        way = Way(began: time, base: level, jump: jump)
      } else {
        level += passed / (MotionRules.weatherTime + passed) * (height - level)
      }
      return nil
    }
    open.jump = max(open.jump, jump)
    way = open
    guard let (end, speed) = trend(), speed.magnitude < MotionRules.levelSpeed else { return nil }
    return close(open, at: end, after: passed, time)
  }

  /// Ends a way that has come to a level, and returns a climb if it was one.
  private mutating func close(_ open: Way, at end: Float, after passed: Float, _ time: Timestamp) -> Climb? {
    let meters = end - open.base
    guard meters.magnitude >= MotionRules.minimumClimb else {
      // A landing, or the weather: what follows decides, and what stays is the level.
      way?.base += passed / (MotionRules.weatherTime + passed) * meters
      if meters.magnitude < MotionRules.climbStart / 2 { endClimb(at: end) }
      return nil
    }
    endClimb(at: end)
    // Neither a walker nor a lift covers most of the height between floors within a second: that is a door.
    guard open.jump < MotionRules.suddenShare * meters.magnitude else { return nil }
    return Climb(began: open.began, time: time, meters: meters)
  }

  private mutating func endClimb(at end: Float) {
    (level, height) = (end, end)
    way = nil
  }

  /// The change of height within about the last second.
  private var jump: Float {
    guard let last = marks.last, let first = marks.first(where: { last.time - $0.time <= HeightWatch.second })
    else { return 0 }
    return (last.quick - first.quick).magnitude
  }

  /// The height of the last seconds and the speed at which it changes: the line of least squares; nil before there are
  /// enough of them.
  private func trend() -> (height: Float, speed: Float)? {
    guard let first = marks.first, let last = marks.last,
      last.time - first.time >= MotionRules.levelWindow * 0.75
    else { return nil }
    let count = Float(marks.count)
    var mean = (time: Float(0), height: Float(0))
    for mark in marks {
      mean.time += Float((mark.time - first.time).seconds) / count
      mean.height += (mark.height - last.height) / count
    }
    var (square, product) = (Float(0), Float(0))
    for mark in marks {
      let time = Float((mark.time - first.time).seconds) - mean.time
      square += time * time
      product += time * (mark.height - last.height - mean.height)
    }
    return (last.height + mean.height, product / square)
  }
}

extension HeightWatch {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&level)
    try coder.code(&height)
    try coder.code(&marks)
    try coder.code(&previous)
    try coder.code(&way)
  }
}

extension HeightWatch.Way: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      began: try coder.field(value().began),
      base: try coder.field(value().base),
      jump: try coder.field(value().jump)
    )
  }
}

extension HeightWatch.Mark: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      time: try coder.field(value().time),
      height: try coder.field(value().height),
      quick: try coder.field(value().quick)
    )
  }
}
