import Pharos
import PharosWire
import SocketTraffic

/// All receivers at one number of adverts a datagram.
struct PathMeasurement {
  /// How much to measure.
  struct Plan {
    var adverts: Int
    var hasRanging: Bool
    /// Seconds of the site's traffic before the first round, so that tracks have learned.
    var warmUp: Int
    var rounds: Int
    /// Seconds of the site's traffic in a round.
    var seconds: Int
    var liveRounds: Int
    /// How long a live round sends.
    var liveNanoseconds: Int64
    var segments: Bool
  }

  private let plan: Plan
  private let bare: BareLoop
  private let bareWithSources: BareLoop
  private let channel: PlainChannel
  private let vectors: PlainChannel
  private let served: ServedPath
  private let filling: Lane
  private let sending: Lane
  private var traffic = SiteTraffic()
  /// How many adverts the server must have decided.
  private var adverts = 0

  /// Opens the sockets and lets the server learn its site.
  init(_ plan: Plan, cores: Int) async throws {
    self.plan = plan
    let core: Int32? = cores > 1 ? 0 : nil
    bare = try BareLoop(core: core)
    bareWithSources = try BareLoop(asksSources: true, core: core)
    channel = try await PlainChannel(vector: 1, core: core)
    vectors = try await PlainChannel(vector: 64, core: core)
    served = try await ServedPath(sockets: [MeterSocket()], hasRanging: plan.hasRanging, core: core)
    filling = Lane(core: core)
    sending = Lane(core: cores > 1 ? 1 : nil)
    var warmUp = try FilledRun(adverts: 24, receivers: [served], filling: filling)
    try await warmUp.play(&traffic, seconds: plan.warmUp)
    adverts += plan.warmUp * SiteTraffic.observers * SiteTraffic.heard
  }

  private var receivers: [(receiver: any Receiver, kind: ReceiverKind)] {
    [
      (bare, .bareLoop), (bareWithSources, .other), (channel, .plainChannel), (vectors, .other),
      (served, .served),
    ]
  }

  /// Measures with filled sockets, all receivers in turn.
  mutating func measureFilled() async throws -> [(ThroughputReport.FilledRow, ReceiverKind)] {
    var run = try FilledRun(adverts: plan.adverts, receivers: receivers.map(\.receiver), filling: filling)
    for _ in 0..<plan.rounds { try await run.play(&traffic, seconds: plan.seconds) }
    adverts += plan.rounds * plan.seconds * SiteTraffic.observers * SiteTraffic.heard
    try await check(adverts)
    let reference = run.outcomes[0].rounds.map(\.threadPerDatagram)
    var rows: [(ThroughputReport.FilledRow, ReceiverKind)] = []
    for (outcome, kind) in zip(run.outcomes, receivers.map(\.kind)) {
      let costs = outcome.rounds.map(\.threadPerDatagram)
      let row = ThroughputReport.FilledRow(
        receiver: outcome.name,
        advertsPerDatagram: plan.adverts,
        bytesPerDatagram: run.length,
        nanosecondsPerDatagram: Figure(costs),
        shareOfBareLoop: Figure(zip(reference, costs).map { $0 / $1 }),
        advertsPerSecondAndCore: Figure(costs.map { Double(plan.adverts) * 1e9 / $0 }),
        wallNanosecondsPerDatagram: Figure(
          outcome.rounds.map { Double($0.wall) / Double(max(1, $0.datagrams)) }
        ),
        otherThreadsNanosecondsPerDatagram: Figure(
          outcome.rounds.map { Double($0.others) / Double(max(1, $0.datagrams)) }
        )
      )
      rows.append((row, kind))
    }
    return rows
  }

  /// Measures with a sender, all receivers in turn.
  mutating func measureLive() async throws -> [ThroughputReport.LiveRow] {
    guard plan.liveRounds > 0 else { return [] }
    var traffics = [TrafficLoop](
      repeating: TrafficLoop(&traffic, adverts: plan.adverts),
      count: receivers.count
    )
    var outcomes = [[LiveRun.Outcome]](repeating: [], count: receivers.count)
    let clock = served.clock
    for _ in 0..<plan.liveRounds {
      for (index, (receiver, kind)) in receivers.enumerated() {
        let isServed = kind == .served
        let run = LiveRun(receiver: receiver, sending: sending, segments: plan.segments)
        let outcome = try await run.play(&traffics[index], duration: plan.liveNanoseconds) {
          if isServed { clock.leap(HeldClock.second) }
        }
        if isServed { adverts += outcome.received * plan.adverts }
        outcomes[index].append(outcome)
      }
    }
    try await check(adverts)
    return zip(receivers, outcomes).map { ThroughputReport.LiveRow($0.receiver.name, plan.adverts, $1) }
  }

  /// Ends the server and the channels.
  func finish() async throws {
    try await served.close()
    try await channel.close()
    try await vectors.close()
  }

  /// Checks that the server has processed all datagrams, each advert as what it is, and notified its subscriber.
  private func check(_ adverts: Int) async throws {
    let snapshot = try await served.snapshot()
    let counters = snapshot.monitoring
    guard counters.adverts == UInt64(adverts), counters.matched == UInt64(adverts), counters.late == 0 else {
      throw MeterError(
        "pharos serve was sent \(adverts) adverts in time; it decided \(counters.adverts), knew \(counters.matched) and "
          + "took \(counters.late) for late"
      )
    }
    guard snapshot.decoding.totalRefusals == 0 else {
      throw MeterError("pharos serve refused \(snapshot.decoding.totalRefusals) datagrams that are right")
    }
    guard served.events > 0 else { throw MeterError("no event has reached the subscriber") }
  }
}

extension Spent {
  /// CPU time of the receiving thread for each datagram, in nanoseconds.
  var threadPerDatagram: Double { Double(thread) / Double(max(1, datagrams)) }
}

extension ThroughputReport.LiveRow {
  fileprivate init(_ name: String, _ adverts: Int, _ rounds: [LiveRun.Outcome]) {
    receiver = name
    advertsPerDatagram = adverts
    sentPerSecond = Figure(rounds.map { Double($0.sent) * 1e9 / Double($0.sending) })
    receivedPerSecond = Figure(rounds.map { Double($0.received) * 1e9 / Double($0.spent.wall) })
    droppedShare = Figure(rounds.map { Double($0.dropped) / Double(max(1, $0.sent)) })
    nanosecondsPerDatagram = Figure(rounds.map(\.spent.threadPerDatagram))
    utilisation = Figure(rounds.map { Double($0.spent.thread) / Double($0.spent.wall) })
  }
}
