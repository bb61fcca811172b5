import PharosReports

/// One stay of a subject: from when to when it is within range, and the level that it has without chance.
struct DrillStay: Sendable {
  /// How fast the level of somebody who comes or leaves on foot changes.
  ///
  /// - Units: dB a second: 1.4 m/s past furniture and a door or two.
  private static let walkingSlope = (1.5, 4.0)
  /// How fast the level of somebody who passes by far off changes.
  ///
  /// - Units: dB a second: 1.2 m/s at 12 to 35 m.
  private static let passingSlope = (0.4, 1.2)

  /// When it begins and ends, in nanoseconds since the drill began.
  let from: Int64
  let until: Int64
  /// The level while it is there, in dBm; of one who passes by the highest.
  let level: Double
  /// How fast the level rises and falls at both ends, in dB a second; 0 where it comes and goes at once.
  let slope: Double

  /// How far the slow noise of the drill may carry it, in dB.
  private let reach: Double

  init(
    from: Int64,
    length: Int64,
    motion: Drill.Motion,
    noise: Drill.Noise,
    random: inout RandomStream
  ) {
    reach = 3 * noise.slow
    self.from = from
    until = from + length
    switch motion {
    case .still:
      level = random.uniform(-75, -55)
      slope = 0
    case .shadowed:
      level = random.uniform(-78, -62)
      slope = 0
    case .walking:
      level = random.uniform(-76, -62)
      slope = random.uniform(DrillStay.walkingSlope.0, DrillStay.walkingSlope.1)
    case .passing:
      level = random.uniform(-88, -78)
      slope = random.uniform(DrillStay.passingSlope.0, DrillStay.passingSlope.1)
    }
  }

  /// From when on any advert may be the last one within range.
  var goingFrom: Int64 {
    guard slope > 0 else { return until }
    return max(from + (until - from) / 2, until - Int64(reach / slope * 1e9))
  }

  /// When not even chance can bring an advert any more.
  var silentFrom: Int64 {
    slope > 0 ? until + Int64((DrillAir.edge + reach) / slope * 1e9) : until
  }

  /// The level without chance at a time, in dBm.
  func level(at time: Int64) -> Double {
    guard slope > 0 else { return level }
    let ramp = min(Double(time - from), Double(until - time)) / 1e9
    return min(level, DrillAir.sensitivity + slope * ramp)
  }
}
