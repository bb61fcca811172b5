import PharosSpace

/// The times that ways take.
package enum TravelTime {
  /// The walking speed.
  ///
  /// - Units: m/s.
  /// - Source: comfortable gait of adults is 1.27 to 1.46 m/s: Bohannon, Age and Ageing 26 (1997), with some allowance for
  ///   crowds.
  package static let walkingSpeed = 1.3

  /// The time from calling a lift to its doors having closed behind the passenger.
  ///
  /// - Units: seconds.
  /// - Source: CIBSE Guide D (2015), 3.3: a mean waiting time of 30 s is fair; doors take some 8 s.
  static let liftCall = 38.0
  /// The time of a lift for one level.
  ///
  /// - Units: seconds. Four metres at 1.6 m/s, with starting and stopping.
  static let liftLevel = 3.5
  /// The time of a level on stairs, upwards and downwards.
  ///
  /// - Units: seconds. Four metres at 32° are 6.4 m of run, and a landing.
  /// - Source: Fruin, "Pedestrian Planning and Design" (1971): 0.51 m/s of run upwards, 0.67 m/s downwards.
  static let stairsLevel = (up: 14.0, down: 11.0)
  /// The time of a level on an escalator.
  ///
  /// - Units: seconds. Eight metres at the 0.5 m/s of EN 115-1, and the flat steps.
  static let escalatorLevel = 18.0
  /// The time of a level on a ramp.
  ///
  /// - Units: seconds. Four metres at 6 % (DIN 18040-1) are 67 m.
  static let rampLevel = 51.0

  /// The time on a connector in seconds.
  ///
  /// - Parameters:
  ///   - kind: the kind of connector.
  ///   - levels: the number of levels, negative downwards.
  ///   - distance: the horizontal distance between its stops in metres; it takes at least the time of walking it.
  /// - Returns: the time in seconds.
  static func seconds(on kind: Connector.Kind, levels: Int, distance: Double) -> Double {
    let count = Double(levels.magnitude)
    let climbing =
      switch kind {
      case .lift: liftCall + liftLevel * count
      case .stairs: (levels > 0 ? stairsLevel.up : stairsLevel.down) * count
      case .escalator: escalatorLevel * count
      case .ramp: rampLevel * count
      }
    return max(climbing, distance / walkingSpeed)
  }
}
