import Atomics
package import Logging
import NIOCore
import NIOPosix
package import PharosCaptures
package import PharosEvents
import PharosMonitoring
package import PharosPipeline
package import PharosPositioning
package import PharosReports
import Synchronization

/// Datagrams in, events out: sockets, loops, shards and the merger, running.
///
/// Events are delivered in batches from one thread, in the one order that the inputs decide; ``shutdown()`` takes
/// everything through before it returns. What follows from what is decided by the pure modules: a recording of the
/// inputs gives the same events byte for byte.
package final class IngestServer: Sendable {
  /// The sockets, in the order of the listeners and loops.
  package let sockets: [SocketStatus]

  let exchange: Exchange
  private let readers: MultiThreadedEventLoopGroup
  private let consumers: MultiThreadedEventLoopGroup
  let loops: [NIOLoopBound<ReadingLoop>]
  let merger: NIOLoopBound<MergerLoop>
  private let recorder: NIOLoopBound<RecorderLoop>?
  /// Set by the first shutdown.
  ///
  /// Acquired and released, so that exactly one caller does the work.
  let isStopping = ManagedAtomic(false)
  /// The last snapshot, once the loops are gone.
  private let lastSnapshot = Mutex<IngestSnapshot?>(nil)

  let parts: IngestParts
  private let takesCheckpoints: Bool

  private init(parts: IngestParts, sockets: [SocketStatus], takesCheckpoints: Bool) {
    self.sockets = sockets
    self.parts = parts
    self.takesCheckpoints = takesCheckpoints
    exchange = parts.exchange
    readers = parts.readers
    consumers = parts.consumers
    loops = parts.loops
    merger = parts.merger
    recorder = parts.recorder
  }

  /// Opens the sockets and starts the server.
  ///
  /// - Parameters:
  ///   - site: what the site declares.
  ///   - grounds: the venues in which handsets and tags are located; without venues, nothing is located.
  ///   - configuration: where to listen and how.
  ///   - restoration: the state that the previous run has left. States resume, and the time between the runs is no
  ///     evidence of anything. Nil for a start without earlier state.
  ///   - logger: the logger for messages to the operator.
  ///   - sense: takes what handsets sense, in order, on the thread that delivers events and before the events that were
  ///     decided by it; nil if it is not needed.
  ///   - deliver: takes the events, in order, always on the same thread, which it should not block.
  /// - Returns: the server, which listens.
  /// - Throws: ``IngestError``; `RegionRefusal` if a declared application has more regions than it may hold; a
  ///   `CaptureError` if the site is too large to be recorded.
  package static func start(
    site: Site,
    grounds: [Ground] = [],
    configuration: IngestConfiguration,
    restoring restoration: Restoration? = nil,
    logger: Logger,
    sense: (@Sendable ([Sensing]) -> Void)? = nil,
    deliver: @escaping @Sendable ([Event]) -> Void
  ) async throws -> IngestServer {
    try configuration.check()
    let parts = try await IngestParts.make(
      IngestParts.Plan(site, grounds, configuration, restoration, takesSensings: sense != nil, logger),
      sense: sense,
      deliver: deliver
    )
    do {
      let binder = SocketBinder(loops: parts.loops, configuration: configuration, logger: logger)
      let sockets = try await binder.bindAll()
      parts.begin(configuration)
      return IngestServer(
        parts: parts,
        sockets: sockets,
        takesCheckpoints: configuration.checkpoint != nil
      )
    } catch {
      await parts.dispose()
      throw error
    }
  }

  /// Where the listeners listen, each address once: with port 0 the one that the system chose.
  package var localAddresses: [Endpoint] {
    sockets.map(\.address).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// What has been counted and is seen; after the shutdown, what was counted by then.
  package func snapshot() async -> IngestSnapshot {
    if let last = lastSnapshot.withLock({ $0 }) { return last }
    let live = try? await liveSnapshot()
    return live ?? lastSnapshot.withLock { $0 } ?? IngestSnapshot()
  }

  /// Stops: a last drain of the sockets, everything through to the events, the recording ended; then the threads.
  ///
  /// A second call returns at once.
  package func shutdown() async {
    guard !isStopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
    do {
      try await drain()
      await parts.desk.finish(on: merger.eventLoop)
      let last = try await liveSnapshot()
      lastSnapshot.withLock { $0 = last }
    } catch {
      // Only an event loop that is gone refuses, and these go below.
      assertionFailure("the loops ended before the shutdown: \(error)")
    }
    try? await readers.shutdownGracefully()
    try? await consumers.shutdownGracefully()
  }

  /// Takes everything through, in the order of the data: sockets, shards, merger, recorder.
  private func drain() async throws {
    let drained = loops.map { loop in loop.eventLoop.flatSubmit { loop.value.stopReading() } }
    for future in drained { try await future.get() }
    var end = Timestamp.distantPast
    for loop in loops { end = max(end, try await loop.eventLoop.submit { loop.value.freeze() }.get()) }
    let last = end
    let finished = loops.map { loop in loop.eventLoop.flatSubmit { loop.value.finish(at: last) } }
    for future in finished { try await future.get() }
    try await merger.eventLoop.submit { [merger] in merger.value.run() }.get()
    if takesCheckpoints { try await takeLastCheckpoint() }
    if let recorder {
      try await recorder.eventLoop.submit { recorder.value.finish(through: last) }.get()
    }
  }

  /// Stops at once, as if the process were killed: what is under way is not decided, told or saved.
  package func stopAtOnce() async {
    guard !isStopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
    await parts.dispose()
  }

  /// Takes a checkpoint of how all ended; every shard has decided the last input.
  private func takeLastCheckpoint() async throws {
    var engines: [EngineCopy] = []
    for loop in loops {
      engines.append(try await loop.eventLoop.submit { EngineCopy(loop.value.shard.engine) }.get())
    }
    let last = engines
    try await merger.eventLoop.submit { [merger] in merger.value.conclude(last) }.get()
  }

  private func liveSnapshot() async throws -> IngestSnapshot {
    var parts: [LoopSnapshot] = []
    for loop in loops {
      parts.append(
        try await loop.eventLoop.scheduleTask(in: .zero) { loop.value.snapshot() }.futureResult.get()
      )
    }
    var snapshot = IngestSnapshot(loops: parts)
    (snapshot.positioning, snapshot.deliveredThrough) = try await merger.eventLoop.scheduleTask(in: .zero) {
      [merger] in (merger.value.merger.positioningCounters, merger.value.releasedThrough)
    }.futureResult.get()
    snapshot.sockets = sockets
    snapshot.isRecording = recorder != nil && exchange.records
    return snapshot
  }
}
