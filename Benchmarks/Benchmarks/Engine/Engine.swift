import Benchmark
import PharosModel
import PharosPresence
import SuiteSupport
import Traffic

/// The whole of stage one on the traffic of `scale`, beside the naive reference.
let benchmarks: @Sendable () -> Void = {
  Suite.addReferences()
  Suite.add("engine 1 k tracks, an advert", setUp: { HeardSite(10, 100) }, prepare: { $0.next() }) {
    $0.receive()
  }
  Suite.add("engine 100 k tracks, an advert", setUp: { HeardSite(1_000, 100) }, prepare: { $0.next() }) {
    $0.receive()
  }
  Suite.add(
    "engine 100 k tracks, 1 advert a datagram, an advert",
    setUp: { HeardSite(1_000, 100, 1) },
    prepare: { $0.next() }
  ) {
    $0.receive()
  }
  Suite.add("naive 1 k tracks, an advert", setUp: { HeardSite(10, 100) }, prepare: { $0.next() }) {
    $0.receiveNaively()
  }
  Suite.add("naive 100 k tracks, an advert", setUp: { HeardSite(1_000, 100) }, prepare: { $0.next() }) {
    $0.receiveNaively()
  }
}

/// A site with its engine, its naive twin and the traffic that either hears.
struct HeardSite {
  private var workload: Workload
  private var engine: MonitoringEngine
  private var naive: NaiveEngine
  private var output = StageOutput()
  private var second = 0
  private var part = 0
  private var hasWarmedUp = false

  init(_ observers: Int, _ beacons: Int, _ advertsPerDatagram: Int = 24) {
    workload = Workload(observers: observers, beacons: beacons, advertsPerDatagram: advertsPerDatagram)
    engine = MonitoringEngine(site: workload.site)
    naive = NaiveEngine(site: workload.site)
  }

  /// Fills the next batch of 64 datagrams.
  mutating func next() {
    workload.fill(batch: part, ofSecond: second)
    part += 1
    guard part == workload.batchesPerSecond else { return }
    part = 0
    second += 1
  }

  /// Has the engine hear it; before the first, as many seconds as tracks need to learn their intervals.
  mutating func receive() -> Int {
    if !hasWarmedUp {
      hasWarmedUp = true
      for _ in 0..<(Suite.isQuick ? 3 : 60) * workload.batchesPerSecond {
        engine.ingest(workload.batch, into: &output)
        output.removeAll()
        next()
      }
    }
    engine.ingest(workload.batch, into: &output)
    output.removeAll()
    return workload.batch.reports.count
  }

  /// Has the naive reference hear it.
  mutating func receiveNaively() -> Int {
    naive.ingest(workload.batch) { blackHole($0) }
    return workload.batch.reports.count
  }
}
