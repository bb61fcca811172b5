import Benchmark
import SuiteSupport

/// From the merger's batches to subscribers; CPU time of all threads together, since a subscription is drained elsewhere.
let benchmarks: @Sendable () -> Void = {
  Suite.addReferences()
  for count in [1, 4] {
    Suite.add(
      "publishing to \(count) OpenCombine, an event",
      clock: .process,
      setUp: { Hearers(.publisher, count) }
    ) {
      $0.publish()
    }
  }
  Suite.add("publishing to 1 AsyncSequence, an event", clock: .process, setUp: { Hearers(.sequence, 1) }) {
    $0.publish()
  }
  Suite.add("publishing batches to 1 OpenCombine, an event", clock: .process, setUp: { Hearers(.batches, 1) })
  {
    $0.publish()
  }
  Suite.add("publishing without subscribers, an event", clock: .process, setUp: { Hearers(.publisher, 0) }) {
    $0.publish()
  }
}
