import CScaleMeter
import Traffic

/// What the two reference loops take here and now.
struct MachineSpeed: Codable {
  /// A step that computes.
  ///
  /// - Units: nanoseconds of CPU time.
  var computing: Double
  /// A step that waits for memory.
  ///
  /// - Units: nanoseconds of CPU time.
  var memory: Double

  /// Runs both loops, some rounds each, and keeps the quickest.
  static func measure() -> MachineSpeed {
    var loops = ReferenceLoops()
    var speed = MachineSpeed(computing: .infinity, memory: .infinity)
    var sum: UInt64 = 0
    for _ in 0..<9 {
      speed.computing = min(speed.computing, time(1_000_000) { sum &+= loops.compute($0) })
      speed.memory = min(speed.memory, time(200_000) { sum &+= UInt64(loops.read($0)) })
    }
    // Never so; but only who looks at the sum needs the loops.
    precondition(sum != 1, "the loops gave 1")
    return speed
  }

  /// The quicker of two measurements, loop by loop.
  func quicker(_ other: MachineSpeed) -> MachineSpeed {
    MachineSpeed(computing: min(computing, other.computing), memory: min(memory, other.memory))
  }

  private static func time(_ steps: Int, _ body: (Int) -> Void) -> Double {
    let start = scale_thread_nanoseconds()
    body(steps)
    return Double(scale_thread_nanoseconds() - start) / Double(steps)
  }
}
