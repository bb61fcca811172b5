import CScaleMeter
import PharosEvents
import PharosMonitoring
import PharosReports
import Traffic

/// Runs the engine and the naive reference over one workload, round by round in turn.
struct Measurement {
  /// How long and how often to measure.
  struct Plan {
    /// Seconds of traffic before the first measured round, so that tracks have learned.
    var warmUp: Int
    /// Measured rounds.
    var rounds: Int
    /// Seconds of traffic in a round.
    var secondsPerRound: Int
    /// Whether the naive reference runs as well.
    var withNaive: Bool
  }

  /// The site and its traffic.
  var workload: Workload
  /// What is measured.
  var engine: MonitoringEngine
  /// What the engine says, thrown away.
  var output = StageOutput()
  /// The second of traffic that was played last.
  var second = 0
  private let plan: Plan
  private var naive: NaiveEngine

  init(_ workload: Workload, _ plan: Plan) {
    self.workload = workload
    self.plan = plan
    engine = MonitoringEngine(site: workload.site)
    naive = NaiveEngine(site: workload.site)
  }

  /// Measures everything there is to one row of the table.
  mutating func run() -> ScaleRow {
    workload.fill(batch: 0, ofSecond: 0)
    let before = scale_resident_bytes()
    for _ in 0..<plan.warmUp { _ = play(naively: false) }
    let bytes = Double(scale_resident_bytes() - before) / Double(workload.tracks)
    if plan.withNaive { for _ in 0..<4 { _ = play(naively: true) } }
    var engineTimes: [Double] = []
    var naiveTimes: [Double] = []
    var allocations: UInt64 = 0
    var adverts = 0
    for _ in 0..<plan.rounds {
      let round = play(plan.secondsPerRound, naively: false)
      engineTimes.append(round.nanosecondsPerAdvert)
      allocations += round.allocations
      adverts += round.adverts
      if plan.withNaive { naiveTimes.append(play(1, naively: true).nanosecondsPerAdvert) }
    }
    return ScaleRow(
      observers: workload.observers,
      tracks: workload.tracks,
      advertsPerDatagram: workload.advertsPerDatagram,
      hasRanging: workload.hasRanging,
      engine: engineTimes.median,
      engineQuickest: engineTimes.min() ?? 0,
      naive: plan.withNaive ? naiveTimes.median : nil,
      bytesPerTrack: bytes,
      allocationsPerAdvert: Double(allocations) / Double(max(1, adverts)),
      change: changeRegions()
    )
  }

  /// What a round of traffic cost.
  struct Round {
    /// CPU time of all batches.
    ///
    /// - Units: nanoseconds.
    var nanoseconds: Int64 = 0
    /// Calls of the allocator.
    var allocations: UInt64 = 0
    /// How many adverts were heard.
    var adverts = 0
    var nanosecondsPerAdvert: Double { Double(nanoseconds) / Double(max(1, adverts)) }
  }

  /// Plays so many seconds; the naive reference hears the second again that the engine heard last.
  mutating func play(_ seconds: Int = 1, naively: Bool) -> Round {
    var round = Round()
    for _ in 0..<seconds {
      if !naively { second += 1 }
      for batch in 0..<workload.batchesPerSecond {
        workload.fill(batch: batch, ofSecond: second)
        let count = workload.batch.reports.count
        let allocations = scale_allocations_of_this_thread()
        let start = scale_thread_nanoseconds()
        if naively {
          naive.ingest(workload.batch) { _ in }
        } else {
          engine.ingest(workload.batch, into: &output)
          output.removeAll()
        }
        let taken = scale_thread_nanoseconds() - start
        round.nanoseconds += taken
        round.allocations += scale_allocations_of_this_thread() - allocations
        round.adverts += count
      }
    }
    return round
  }
}
