import Benchmark
import Traffic

/// What every suite measures beside its own: how quick this machine is just now.
///
/// Figures of two machines, or of two hours of one, are compared as ratios to these.
extension Suite {
  /// The name of the reference that computes.
  package static let computing = "reference: computing, a step"
  /// The name of the reference that waits for memory.
  package static let memory = "reference: memory, a step"

  /// Adds both references.
  package static func addReferences() {
    add(computing, setUp: { ReferenceLoops() }) { loops in
      let steps = 50_000
      blackHole(loops.compute(steps))
      return steps
    }
    add(memory, setUp: { ReferenceLoops() }) { loops in
      let steps = 4_000
      blackHole(loops.read(steps))
      return steps
    }
  }
}
