import Benchmark
import PharosModel
import PharosWire
import SuiteSupport

/// From a datagram to reports.
let benchmarks: @Sendable () -> Void = {
  Suite.addReferences()
  Suite.add("wire Pharos 24 adverts, an advert", setUp: { Datagrams(.pharos(24)) }) { $0.decode() }
  Suite.add("wire Pharos 1 advert, an advert", setUp: { Datagrams(.pharos(1)) }) { $0.decode() }
  Suite.add("wire raddec, an advert", setUp: { Datagrams(.raddec) }) { $0.decode() }
  Suite.add("wire Minew 24 adverts, an advert", setUp: { Datagrams(.minew) }) { $0.decode() }
  Suite.add("wire Ingics, an advert", setUp: { Datagrams(.ingics) }) { $0.decode() }
  Suite.add("wire refused: noise, a datagram", setUp: { Datagrams(.noise) }) { $0.decode() }
  Suite.add("wire refused: cut short, a datagram", setUp: { Datagrams(.cutShort) }) { $0.decode() }
}
