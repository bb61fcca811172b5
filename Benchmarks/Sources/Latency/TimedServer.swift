import CSocketMeter
import Logging
import OpenCombine
import Pharos
import PharosModel
import SocketTraffic

/// The server of `pharos serve` with two subscribers that are timed: an OpenCombine subscriber and an `AsyncSequence`.
final class TimedServer {
  let socket: MeterSocket
  let clock: HeldClock
  let sent = SendTimes()
  let publisher: Stopwatch
  let sequence: Stopwatch
  private let server: PharosServer
  private let run: Task<Void, any Error>
  private let subscription: AnyCancellable
  private let reading: Task<Void, Never>

  /// Starts a server and its subscribers.
  ///
  /// - Parameter tick: how often its loop looks while there is traffic, or nil for what `serve` does.
  /// - Throws: why it does not listen.
  init(tick: TimeSpan?) async throws {
    let socket = try MeterSocket()
    self.socket = socket
    clock = HeldClock(loops: 1, sockets: [socket])
    var configuration = IngestConfiguration(listeners: [ListenAddress(descriptor: socket.descriptor)])
    configuration.receiveBuffer = socket.receiveBuffer
    configuration.clock = clock.clock
    if let tick { configuration.busyTick = tick }
    var site = SiteTraffic.site()
    site.applications.append(ProbeTraffic.declaration)
    let server = PharosServer(
      site: site,
      configuration: configuration,
      logger: Logger(label: "latency") { _ in SwiftLogNoOpLogHandler() }
    )
    self.server = server
    let (publisher, sequence) = (Stopwatch(sent), Stopwatch(sent))
    self.publisher = publisher
    self.sequence = sequence
    let decisions = server.events(in: ProbeTraffic.region, application: ProbeTraffic.application)
    subscription = decisions.sink { @Sendable event in publisher.record(event) }
    let elements = decisions.sequence
    reading = Task { for await event in elements { sequence.record(event) } }
    run = Task { try await server.run() }
    _ = try await server.addresses()
    // Held once, so that the thread is known whose CPU time is asked for.
    await clock.hold()
    clock.free()
  }

  /// How many datagrams it has received.
  func received() async throws -> Int { Int(try await server.snapshot().datagrams) }

  /// Ends the server, which closes its socket.
  func close() async throws {
    run.cancel()
    try await run.value
    subscription.cancel()
    await reading.value
  }
}
