import Benchmark
import PharosCaptures
import PharosPipeline
import SuiteSupport

/// From the bytes of a capture to packets, and to the reports in them.
let benchmarks: @Sendable () -> Void = {
  Suite.addReferences()
  Suite.add("captures pcapng, packets alone, a packet", setUp: { Recorded(.datagrams(1)) }) { $0.walk() }
  Suite.add("captures UDP with 1 advert, an advert", setUp: { Recorded(.datagrams(1)) }) { $0.read() }
  Suite.add("captures UDP with 24 adverts, an advert", setUp: { Recorded(.datagrams(24)) }) { $0.read() }
  Suite.add("captures HCI, an advert", setUp: { Recorded(.hci) }) { $0.read() }
}
