import CSocketMeter
import PharosModel
import SocketTraffic

/// A server, its saturating rate, and its latency at shares of it.
struct LatencyMeasurement {
  private let server: TimedServer
  private let sending: Lane
  private let duration: Int64
  private let adverts: Int
  private var traffic: TrafficLoop
  private var saturation = 0.0
  private var firstProbe = 0

  /// From which share of a core on a thread counts as saturated.
  private static let saturated = 0.95
  /// What is sent first.
  ///
  /// - Units: adverts a second; a tenth of what the engine's first version took.
  private static let firstRate = 240_000.0
  /// How many rates are tried at most.
  private static let maximumSteps = 10
  /// In how many parts the server hears a second of its site at the beginning: what an observer counts begins when it is first
  /// heard, and with all of them heard at once all their seconds would end at once, ever after.
  private static let partsOfSecond = 16
  /// How many probes a level may have: a third of all numbers there are.
  private static let probesPerLevel = SendTimes.capacity / 3

  /// Starts the server and lets it learn its site.
  init(adverts: Int, tick: TimeSpan?, warmUp: Int, duration: Int64) async throws {
    self.adverts = adverts
    self.duration = duration
    server = try await TimedServer(tick: tick)
    // On this machine the sender stands for others', so it must not keep the server's threads waiting.
    sending = Lane(core: nil, givesWay: true)
    var site = SiteTraffic()
    try await Self.teach(server, &site, seconds: warmUp, sending)
    traffic = TrafficLoop(&site, adverts: adverts)
  }

  /// Lets the server hear some seconds of its site, none of which may get lost.
  private static func teach(
    _ server: TimedServer,
    _ site: inout SiteTraffic,
    seconds: Int,
    _ sending: Lane
  ) async throws {
    let sender = try MeterSender(to: server.socket.port)
    for _ in 0..<seconds {
      let second = site.nextSecond(adverts: 24)
      let part = second.bytes.count / second.length / partsOfSecond * second.length
      for start in stride(from: 0, to: second.bytes.count, by: part) {
        let bytes = second.bytes[start..<min(start + part, second.bytes.count)]
        server.clock.leap(HeldClock.second / Int64(partsOfSecond))
        try await sending.run { try sender.send(bytes, length: second.length) }
        try await server.socket.untilEmpty()
      }
    }
  }

  /// Sends more and more until the receiving thread has no time left, and says what it took then.
  ///
  /// Far beyond that rate nothing would be learned: beacons most of whose adverts are dropped come and go.
  mutating func findSaturation() async throws -> LatencyReport.Saturation {
    var rate = LatencyMeasurement.firstRate / Double(adverts)
    var outcome: Outcome
    var steps = 0
    repeat {
      outcome = try await play(rate: rate, duration: min(duration, 500_000_000), probes: 0..<0)
      saturation = outcome.receivedPerSecond / min(1, max(outcome.utilisation, 0.01))
      rate = min(rate * 4, saturation * 1.1)
      steps += 1
    } while !outcome.isLimit && steps < LatencyMeasurement.maximumSteps
    // Where the sender is slower, or other processes have the core, the thread could have taken more.
    let isExtrapolated = outcome.utilisation < LatencyMeasurement.saturated
    if !isExtrapolated { saturation = outcome.receivedPerSecond }
    return LatencyReport.Saturation(
      datagramsPerSecond: saturation,
      advertsPerSecond: saturation * Double(adverts),
      isExtrapolated: isExtrapolated,
      sentPerSecond: outcome.sent.perSecond,
      receivedPerSecond: outcome.receivedPerSecond,
      droppedShare: outcome.droppedShare,
      utilisation: outcome.utilisation
    )
  }

  /// Sends at a share of the saturating rate and times probes.
  mutating func measure(at share: Double) async throws -> LatencyReport.Row {
    let probes = firstProbe..<firstProbe + LatencyMeasurement.probesPerLevel
    firstProbe = probes.upperBound
    server.publisher.begin(probes)
    server.sequence.begin(probes)
    let outcome = try await play(rate: saturation * share, duration: duration, probes: probes)
    try await awaitEvents(of: outcome)
    return LatencyReport.Row(
      share: share,
      askedDatagramsPerSecond: saturation * share,
      sentDatagramsPerSecond: outcome.sent.perSecond,
      droppedDatagrams: outcome.dropped,
      probes: outcome.sent.probes,
      utilisation: outcome.utilisation,
      publisher: server.publisher.percentiles,
      sequence: server.sequence.percentiles
    )
  }

  /// Ends the server.
  func finish() async throws { try await server.close() }

  private struct Outcome {
    var sent: PacedSender.Sent
    var asked: Double
    var received: Int
    var dropped: Int
    var wall: Int64
    var utilisation: Double

    var receivedPerSecond: Double { Double(received) * 1e9 / Double(wall) }
    var droppedShare: Double { Double(dropped) / Double(max(1, sent.datagrams)) }
    /// Whether more would be of no use: the thread has no time, datagrams are dropped, or the sender is at its limit.
    var isLimit: Bool {
      utilisation >= LatencyMeasurement.saturated || droppedShare > 0.001 || sent.perSecond < asked * 0.9
    }
  }

  private mutating func play(rate: Double, duration: Int64, probes: Range<Int>) async throws -> Outcome {
    let sender = PacedSender(port: server.socket.port, clock: server.clock, times: server.sent)
    let given = traffic
    let drops = server.socket.kernelDrops
    let before = try await server.received()
    let (start, thread) = (meter_now(), server.clock.threadNanoseconds)
    let (sent, used) = try await sending.run {
      var traffic = given
      let sent = try sender.send(&traffic, rate: rate, duration: duration, probes: probes)
      return (sent, traffic)
    }
    traffic = used
    try await server.socket.untilEmpty()
    let wall = meter_now() - start
    let busy = Double(server.clock.threadNanoseconds - thread) / Double(wall)
    // What was taken off the socket in this moment is counted when the loop is asked, which it is between two drains.
    let received = try await server.received() - before
    let dropped = server.socket.kernelDrops - drops
    guard sent.datagrams == received + dropped else {
      throw MeterError(
        "sent \(sent.datagrams) datagrams, received \(received), dropped \(dropped): these do not add up"
      )
    }
    return Outcome(
      sent: sent,
      asked: rate,
      received: received,
      dropped: dropped,
      wall: wall,
      utilisation: busy
    )
  }

  /// Waits until both subscribers have what they must have; where datagrams were dropped, probes may be among them.
  private func awaitEvents(of outcome: Outcome) async throws {
    let minimum = max(1, outcome.sent.probes - outcome.dropped)
    let deadline = meter_now() + 60_000_000_000
    while server.publisher.count < minimum || server.sequence.count < minimum {
      guard meter_now() < deadline else {
        throw MeterError(
          "\(outcome.sent.probes) probes were sent and at most \(outcome.dropped) dropped; the publisher's subscriber received "
            + "\(server.publisher.count), the sequence gave \(server.sequence.count)"
        )
      }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}
