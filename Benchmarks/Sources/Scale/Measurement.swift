import CScaleMeter
import PharosEvents
import PharosMonitoring
import PharosReports

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

  private var workload: Workload
  private let plan: Plan
  private var engine: StageOne
  private var naive: NaiveEngine
  private var output = StageOutput()
  private var second = 0

  init(_ workload: Workload, _ plan: Plan) {
    self.workload = workload
    self.plan = plan
    engine = StageOne(site: workload.site)
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
    let change = changeRegions()
    return ScaleRow(
      observers: workload.observers,
      tracks: workload.tracks,
      hasRanging: workload.hasRanging,
      engine: engineTimes.median,
      engineQuickest: engineTimes.min() ?? 0,
      naive: plan.withNaive ? naiveTimes.median : nil,
      bytesPerTrack: bytes,
      allocationsPerAdvert: Double(allocations) / Double(max(1, adverts)),
      regionChange: change.milliseconds,
      afterRegionChange: change.nanosecondsPerAdvertAfter
    )
  }

  /// What a round of traffic cost.
  private struct Round {
    var nanoseconds: Int64 = 0
    var allocations: UInt64 = 0
    var adverts = 0
    var slowestBatch = 0.0

    var nanosecondsPerAdvert: Double { Double(nanoseconds) / Double(max(1, adverts)) }
  }

  private mutating func play(_ seconds: Int = 1, naively: Bool) -> Round {
    var round = Round()
    for _ in 0..<seconds {
      // The naive reference hears the same seconds again.
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
        round.slowestBatch = max(round.slowestBatch, Double(taken) / Double(max(1, count)))
      }
    }
    return round
  }

  /// Gives one application other regions, one call after the other as its program would, and hears a second of traffic.
  private mutating func changeRegions() -> (milliseconds: Double, nanosecondsPerAdvertAfter: Double) {
    var longest: Int64 = 0
    let now = Timestamp(seconds: 1_420_070_400 + Int64(second) + 1)
    // What is due by then is no part of the change.
    engine.advance(to: now - .oneNanosecond, into: &output)
    output.removeAll()
    for region in Workload.regions(of: 1) {
      var other = region
      other.presence.enterSamples = 3
      let start = scale_thread_nanoseconds()
      engine.apply(
        .startMonitoring(application: "application-1", other, assuming: .unknown),
        at: now,
        into: &output
      )
      longest = max(longest, scale_thread_nanoseconds() - start)
      output.removeAll()
    }
    return (Double(longest) / 1e6, play(naively: false).slowestBatch)
  }
}
