import CScaleMeter
import PharosModel
import PharosPresence
import PharosWire
import Traffic

/// Runs the engine, the yardstick and the naive reference over one workload, round by round in turn.
struct Measurement {
  /// How long and how often to measure.
  struct Plan {
    /// Seconds of traffic before the first measured round, so that tracks have learned.
    var warmUp: Int
    /// In how many of them the beacons are heard first.
    var spread: Int
    /// Measured rounds.
    var rounds: Int
    /// Seconds of traffic in a round.
    var secondsPerRound: Int
    /// Whether the naive reference runs as well.
    var withNaive: Bool
    /// Whether only the engine runs, and no regions are changed: what counts instructions.
    var isCounted = false
  }

  /// Who hears a round.
  private enum Listener {
    case warmUp, engine, decoderAlone, yardstick, naive
  }

  /// The site and its traffic.
  var workload: Workload
  /// What is measured.
  var engine: MonitoringEngine
  /// What the engine says, thrown away.
  var output = StageOutput()
  /// The second of traffic that the engine heard last.
  var second = 0
  /// Reports that were decoded last.
  private(set) var decoded = ReportBatch()
  private let shape: Shape
  private let plan: Plan
  private var decoder = DatagramDecoder()
  private var naive: NaiveEngine
  private var yardstick: Yardstick?
  private var secondOfYardstick = 0

  init(_ shape: Shape, _ plan: Plan) {
    self.shape = shape
    workload = shape.workload(spread: plan.spread)
    self.plan = plan
    engine = MonitoringEngine(site: workload.site)
    naive = NaiveEngine(site: workload.site)
  }

  /// Measures everything there is to one row of the table.
  mutating func run() -> ScaleRow {
    workload.fillWire(batch: 0, ofSecond: 0)
    let before = scale_resident_bytes()
    for _ in 0..<plan.warmUp { _ = play(.warmUp) }
    let bytes = Double(scale_resident_bytes() - before) / Double(workload.tracks)
    if plan.withNaive { for _ in 0..<4 { _ = play(.naive) } }
    if !plan.isCounted {
      yardstick = Yardstick(observers: workload.observers)
      for _ in 0..<4 { _ = play(.yardstick) }
    }
    let rounds = measuredRounds()
    return ScaleRow(
      shape: shape,
      tracks: workload.tracks,
      whole: rounds.engine.map(\.nanosecondsPerAdvert).median,
      quickest: rounds.engine.map(\.nanosecondsPerAdvert).min() ?? 0,
      wire: rounds.decoder.map(\.nanosecondsPerAdvert).median,
      yardstick: rounds.yardstick.map(\.nanosecondsPerAdvert).median,
      ratio: zip(rounds.engine, rounds.yardstick).map { $0.nanosecondsPerAdvert / $1.nanosecondsPerAdvert }
        .median,
      naive: plan.withNaive ? rounds.naive.map(\.nanosecondsPerAdvert).median : nil,
      bytesPerTrack: bytes,
      allocationsPerAdvert: Double(rounds.engine.reduce(0) { $0 + $1.allocations })
        / Double(max(1, rounds.engine.reduce(0) { $0 + $1.adverts })),
      adverts: rounds.engine.reduce(0) { $0 + $1.adverts },
      change: plan.isCounted ? nil : changeRegions()
    )
  }

  /// What the rounds cost, those of each listener.
  private struct Rounds {
    var engine: [Round] = []
    var decoder: [Round] = []
    var yardstick: [Round] = []
    var naive: [Round] = []
  }

  /// Plays the measured rounds.
  private mutating func measuredRounds() -> Rounds {
    var rounds = Rounds()
    for _ in 0..<plan.rounds {
      rounds.engine.append(play(.engine, plan.secondsPerRound))
      guard !plan.isCounted else { continue }
      rounds.yardstick.append(play(.yardstick, plan.secondsPerRound))
      rounds.decoder.append(play(.decoderAlone, max(1, plan.secondsPerRound / 4)))
      if plan.withNaive { rounds.naive.append(play(.naive)) }
    }
    return rounds
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

  /// Plays so many seconds; who hears no new ones hears the second again that the engine heard last.
  private mutating func play(_ listener: Listener, _ seconds: Int = 1) -> Round {
    var round = Round()
    for _ in 0..<seconds {
      switch listener {
      case .warmUp, .engine: second += 1
      case .yardstick: secondOfYardstick += 1
      case .decoderAlone, .naive: break
      }
      for batch in 0..<workload.batchesPerSecond {
        let isYardstick = if case .yardstick = listener { true } else { false }
        workload.fillWire(batch: batch, ofSecond: isYardstick ? secondOfYardstick : second)
        if case .naive = listener { decode() }
        let allocations = scale_allocations_of_this_thread()
        let start = scale_thread_nanoseconds()
        switch listener {
        case .warmUp: receive()
        case .engine: receiveMeasured()
        case .decoderAlone: decode()
        case .yardstick: yardstick?.receive(workload.wire)
        case .naive: naive.ingest(decoded) { _ in }
        }
        round.nanoseconds += scale_thread_nanoseconds() - start
        round.allocations += scale_allocations_of_this_thread() - allocations
        round.adverts += workload.wire.adverts
      }
    }
    return round
  }

  /// The same where it is measured: here instructions are counted.
  @inline(never)
  private mutating func receiveMeasured() { receive() }

  /// Decodes the datagrams and has the engine hear them: what a server's shard does.
  mutating func receive() {
    decode()
    engine.ingest(decoded, into: &output)
    output.removeAll()
  }

  private mutating func decode() {
    decoded.removeAll()
    workload.wire.decode(with: &decoder, into: &decoded)
  }
}
