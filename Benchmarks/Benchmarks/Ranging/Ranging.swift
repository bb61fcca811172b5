import Benchmark
import PharosModel
import PharosPresence
import SuiteSupport
import Traffic

/// What answering "how near?" once a second costs beside monitoring.
let benchmarks: @Sendable () -> Void = {
  Suite.addReferences()
  for share in [0, 10, 100] {
    Suite.add(
      "ranging for \(share) % of applications, an advert",
      setUp: { Ranged(percent: share) },
      prepare: { $0.next() }
    ) {
      $0.receive()
    }
  }
}

/// Ten thousand tracks at a hundred observers, of which a share is ranged.
struct Ranged {
  private var workload: Workload
  private var engine: MonitoringEngine
  private var output = StageOutput()
  private var second = 0
  private var answers = 0

  init(percent: Int) {
    workload = Workload(observers: 100, beacons: 100)
    var site = workload.site
    for place in site.applications.indices where place * percent / 100 != (place + 1) * percent / 100 {
      site.applications[place].ranging = [RangingRequest(constraint: .proximity(Workload.uuid(of: place)))]
    }
    engine = MonitoringEngine(site: site)
    for _ in 0..<(Suite.isQuick ? 3 : 40) {
      next()
      _ = receive()
    }
  }

  /// Goes on to the next second.
  mutating func next() { second += 1 }

  /// Has the engine hear a whole second, answers included; making the traffic costs all shares the same.
  mutating func receive() -> Int {
    var adverts = 0
    for part in 0..<workload.batchesPerSecond {
      workload.fill(batch: part, ofSecond: second)
      adverts += workload.batch.reports.count
      engine.ingest(workload.batch, into: &output)
      answers += output.events.count
      output.removeAll()
    }
    blackHole(answers)
    return adverts
  }
}
