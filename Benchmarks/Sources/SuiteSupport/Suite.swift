package import Benchmark
import CScaleMeter
import Foundation

/// How the suites measure: CPU time and allocations of each item, a sample for each handful of items.
///
/// What an item is stands in a benchmark's name. The clock is that of the thread, so that others at work on the machine
/// cost little of its truth.
package enum Suite {
  /// CPU time.
  ///
  /// - Units: picoseconds an item; whole numbers are all that a metric can be.
  package static let time = BenchmarkMetric.custom("CPU, ps an item", useScalingFactor: false)
  /// Calls of the allocator.
  ///
  /// - Units: a thousand items.
  package static let allocations = BenchmarkMetric.custom(
    "allocations, 1,000 items",
    useScalingFactor: false
  )

  /// Whose time is counted.
  package enum Clock {
    /// The calling thread's.
    case thread
    /// That of all threads, where work is handed to others.
    case process

    fileprivate var nanoseconds: Int64 {
      switch self {
      case .thread: scale_thread_nanoseconds()
      case .process: scale_process_nanoseconds()
      }
    }
  }

  /// Whether a smoke test is wanted, which shows that all runs and measures little: `PHAROS_BENCHMARKS=quick`.
  package static var isQuick: Bool { ProcessInfo.processInfo.environment["PHAROS_BENCHMARKS"] == "quick" }

  /// Adds a benchmark.
  ///
  /// - Parameters:
  ///   - name: what is measured, and what an item is.
  ///   - clock: whose time is counted.
  ///   - setUp: makes what it works on, once.
  ///   - prepare: makes the next sample ready, unmeasured.
  ///   - body: does the work of a sample and says how many items that was.
  package static func add<State>(
    _ name: String,
    clock: Clock = .thread,
    setUp: @escaping () -> State,
    prepare: @escaping (inout State) -> Void = { _ in },
    body: @escaping (inout State) -> Int
  ) {
    var state: State?
    var samples = Samples()
    let warmUp = isQuick ? 1 : 20
    Benchmark(
      name,
      configuration: .init(
        metrics: [time, allocations, .throughput],
        warmupIterations: warmUp,
        maxDuration: isQuick ? .milliseconds(50) : .seconds(2),
        maxIterations: isQuick ? 10 : 5_000
      )
    ) { benchmark in
      var present = state.take() ?? setUp()
      prepare(&present)
      benchmark.startMeasurement()
      let before = scale_allocations_of_this_thread()
      let start = clock.nanoseconds
      let items = max(1, body(&present))
      let elapsed = Int(clock.nanoseconds - start) * 1_000 / items
      let allocated = Int(scale_allocations_of_this_thread() - before) * 1_000 / items
      benchmark.stopMeasurement()
      benchmark.measurement(time, elapsed)
      benchmark.measurement(allocations, allocated)
      if benchmark.currentIteration >= warmUp { samples.add(time: elapsed, allocations: allocated) }
      state = present
    } teardown: {
      // What is set up takes memory that the next one should have to itself.
      state = nil
      try samples.write(name: name)
    }
  }
}
