import CSocketMeter
import Logging
import OpenCombine
import Pharos
import PharosIngest
import PharosModel
import SocketTraffic
import Synchronization

/// The path of `pharos serve`: its server with all that it decides and publishes, with one subscriber, and with the
/// settings that `serve` uses; only the clocks are those of a benchmark.
final class ServedPath: Receiver {
  let name: String
  let sockets: [MeterSocket]
  let clock: HeldClock
  private let server: PharosServer
  private let run: Task<Void, any Error>
  private let subscription: AnyCancellable
  private let heard = Events()
  private var startThread: Int64 = 0
  private var startWall: Int64 = 0
  private var startCount = 0

  /// How many events have reached the subscriber.
  private final class Events: Sendable {
    let count = Atomic<Int>(0)
  }

  /// Starts a server and holds its loops.
  ///
  /// - Parameters:
  ///   - sockets: its sockets, one for each loop.
  ///   - hasRanging: whether one application in ten asks for ranging.
  ///   - core: the core that its loop is kept on, or nil for any.
  /// - Throws: why it does not listen.
  init(sockets: [MeterSocket], hasRanging: Bool = true, core: Int32? = nil) async throws {
    name = sockets.count == 1 ? "pharos serve" : "pharos serve, \(sockets.count) loops"
    self.sockets = sockets
    clock = HeldClock(loops: sockets.count, sockets: sockets, core: core)
    var configuration = IngestConfiguration(
      listeners: sockets.map { ListenAddress(descriptor: $0.descriptor) },
      loops: sockets.count
    )
    configuration.receiveBuffer = sockets[0].receiveBuffer
    configuration.clock = clock.clock
    let server = PharosServer(
      site: SiteTraffic.site(hasRanging: hasRanging),
      configuration: configuration,
      logger: Logger(label: "throughput") { _ in SwiftLogNoOpLogHandler() }
    )
    self.server = server
    subscription = server.events.sink { @Sendable [heard] _ in heard.count.add(1, ordering: .relaxed) }
    run = Task { try await server.run() }
    _ = try await server.addresses()
    await clock.hold()
  }

  var socket: MeterSocket { sockets[0] }
  /// How many events have reached the subscriber.
  var events: Int { heard.count.load(ordering: .relaxed) }

  /// Ends the server, which closes its sockets.
  func close() async throws {
    clock.free()
    run.cancel()
    try await run.value
    subscription.cancel()
  }

  /// What the server has counted, once it has decided all that it has taken.
  func snapshot() async throws -> IngestSnapshot {
    clock.free()
    let snapshot = try await server.snapshot()
    await clock.hold()
    return snapshot
  }

  func drain(_ datagrams: Int, isNewSecond: Bool) async throws -> Spent {
    let before = meter_process_nanoseconds()
    let work = await clock.release(datagrams: datagrams, leap: isNewSecond ? HeldClock.second : 0)
    let process = meter_process_nanoseconds() - before
    let thread = work.map(\.thread).reduce(0, +)
    return Spent(
      datagrams: datagrams,
      thread: thread,
      wall: work.map(\.wall).max() ?? 0,
      busiest: work.map(\.thread).max() ?? 0,
      others: max(0, process - thread)
    )
  }

  func begin() async throws {
    startCount = Int(try await snapshot().datagrams)
    clock.free()
    startWall = meter_now()
    startThread = clock.threadNanoseconds
  }

  func end() async throws -> Spent {
    for socket in sockets { try await socket.untilEmpty() }
    let wall = meter_now() - startWall
    await clock.hold()
    let thread = clock.threadNanoseconds - startThread
    let count = Int(try await snapshot().datagrams) - startCount
    return Spent(datagrams: count, thread: thread, wall: wall)
  }
}
