package import PharosReports

/// A detector of driving from the speeds of outside fixes.
///
/// A subject that drives is not in a building.
package struct DrivingGate: Hashable, Sendable {
  /// From which speed on a subject drives: faster than a sprint through a hall, slower than any traffic that flows.
  ///
  /// - Units: m/s.
  package static let drivingSpeed: Float = 7
  /// Below which speed it does so no longer: a brisk walk.
  ///
  /// - Units: m/s.
  package static let walkingSpeed: Float = 2.5
  /// How long a speed speaks when no fix follows: a car stands at a light or is in a tunnel.
  package static let memory = TimeSpan.seconds(30)
  /// The greatest speed that is believed: that of a fast train.
  ///
  /// - Units: m/s.
  package static let fastest: Float = 120

  private var fastAt: Timestamp?

  /// Creates a gate for a subject that does not drive.
  package init() {}

  /// Takes an outside fix.
  ///
  /// A fix without a speed, or with an impossible one, changes nothing.
  package mutating func take(_ fix: OutsideFix, at time: Timestamp) {
    guard let speed = fix.speed, speed >= 0, speed <= DrivingGate.fastest else { return }
    if speed >= DrivingGate.drivingSpeed {
      fastAt = max(fastAt ?? time, time)
    } else if speed < DrivingGate.walkingSpeed {
      fastAt = nil
    } else if isDriving(at: time) {
      // Between the two what was so remains so.
      fastAt = max(fastAt ?? time, time)
    }
  }

  /// Ends driving, because the subject walks.
  ///
  /// A single step proves no walk: one jolt of a car may look like a step.
  package mutating func takeWalk() { fastAt = nil }

  /// Whether the subject drives.
  package func isDriving(at time: Timestamp) -> Bool {
    guard let fastAt else { return false }
    return time - fastAt <= DrivingGate.memory
  }
}
