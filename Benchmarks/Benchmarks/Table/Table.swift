import Benchmark
import SuiteSupport

/// The table of tracks, seen through the engine: what an advert's place costs to find, miss and make.
///
/// A look-up alone cannot be had from outside; the difference between orders and sizes is what it costs.
let benchmarks: @Sendable () -> Void = {
  Suite.addReferences()
  Suite.add(
    "table 1 k known, in order, an advert",
    setUp: { Lookups(beacons: 1_000) },
    prepare: { $0.next(.inOrder) }
  ) {
    $0.look()
  }
  Suite.add(
    "table 100 k known, in order, an advert",
    setUp: { Lookups(beacons: 100_000) },
    prepare: { $0.next(.inOrder) }
  ) {
    $0.look()
  }
  Suite.add(
    "table 100 k known, shuffled, an advert",
    setUp: { Lookups(beacons: 100_000) },
    prepare: { $0.next(.shuffled) }
  ) {
    $0.look()
  }
  Suite.add(
    "table untracked beacons, an advert",
    setUp: { Lookups(beacons: 1_000) },
    prepare: { $0.next(.passersBy) }
  ) {
    $0.look()
  }
  Suite.add("table new tracks, an advert", setUp: { Lookups(beacons: 0) }, prepare: { $0.next(.new) }) {
    $0.look()
  }
}
