import Atomics
package import Logging
import NIOCore
import NIOPosix
import PharosCaptures
package import PharosDocuments
package import PharosFixes
package import PharosModel
package import PharosPipeline
package import PharosPresence
package import PharosRooms
package import PharosSecurity
package import PharosSite
import Synchronization

/// Datagrams in, events out: sockets, loops, shards and the merger, running.
///
/// Events are delivered in batches from one thread, in the one order that the inputs decide; ``shutdown()`` takes
/// everything through before it returns. What follows from what is decided by the pure modules: a recording of the
/// inputs gives the same events byte for byte.
package final class IngestServer: Sendable {
  /// The sockets, in the order of the listeners and loops.
  package let sockets: [SocketStatus]

  private let parts: IngestParts
  private let configuration: IngestConfiguration
  /// Set by the first shutdown.
  ///
  /// Acquired and released, so that exactly one caller does the work.
  private let isStopping = ManagedAtomic(false)
  /// Held while loops learn of a change.
  private let updates = Mutex(())
  /// The last snapshot, once the loops are gone.
  private let lastSnapshot = Mutex<IngestSnapshot?>(nil)

  private var loops: [NIOLoopBound<ReadingLoop>] { parts.loops }
  private var merger: NIOLoopBound<MergerLoop> { parts.merger }

  private init(parts: IngestParts, sockets: [SocketStatus], configuration: IngestConfiguration) {
    self.sockets = sockets
    self.parts = parts
    self.configuration = configuration
  }

  /// Opens the sockets and starts the server.
  ///
  /// - Parameters:
  ///   - owner: the owner of the site.
  ///   - venues: the venues in which handsets and tags are located; without venues, nothing is located.
  ///   - configuration: the settings.
  ///   - restoration: the state that the previous run has left. States resume, and the time between the runs is no
  ///     evidence of anything, unless ``IngestConfiguration/continuesExactly`` is set. Nil for a start without earlier state.
  ///   - logger: the logger for messages to the operator.
  ///   - sense: takes what handsets sense, in order, on the thread that delivers events and before the events that were
  ///     decided by it; nil if it is not needed.
  ///   - deliver: takes the events, in order, always on the same thread, which it should not block.
  /// - Returns: the server, which listens.
  /// - Throws: ``IngestError``; `RegionRefusal` if a declared application has more regions than it may hold; a
  ///   `CaptureError` if the site is too large to be recorded.
  package static func start(
    owner: SiteOwner,
    venues: [LocatableVenue] = [],
    configuration: IngestConfiguration,
    restoring restoration: Restoration? = nil,
    logger: Logger,
    sense: (@Sendable ([Sensing]) -> Void)? = nil,
    deliver: @escaping @Sendable ([Event]) -> Void
  ) async throws -> IngestServer {
    try configuration.check()
    let parts = try await IngestParts.make(
      IngestParts.Plan(owner, venues, configuration, restoration, forwardsSensings: sense != nil, logger),
      sense: sense,
      deliver: deliver
    )
    do {
      let binder = SocketBinder(loops: parts.loops, configuration: configuration, logger: logger)
      let sockets = try await binder.bindAll()
      parts.begin(configuration)
      let server = IngestServer(parts: parts, sockets: sockets, configuration: configuration)
      await server.beginReading()
      return server
    } catch {
      await parts.dispose()
      throw error
    }
  }

  /// Begins to read the log of inputs, if the server has one.
  private func beginReading() async {
    let loop = loops[0]
    let position = try? await loop.look { [weak self] reading in
      reading.logged?.applied?.edited = { [weak self] edit in self?.follow(edit) }
      return reading.logged?.applied?.reading.position
    }
    guard let log = configuration.log?.log, let position else { return }
    log.read(behind: position) { [weak self] entries in
      guard let self, !isStopping.load(ordering: .acquiring) else { throw IngestError.stopped }
      do {
        // A loop that is gone refuses what is scheduled, and would lose what is submitted.
        try loop.eventLoop.scheduleTask(in: .zero) { loop.value.receive(entries) }
          .futureResult.flatMap { $0 }.wait()
      } catch is EventLoopError {
        throw IngestError.stopped
      }
    }
  }

  /// Has the loops follow an edit that another server has asked for.
  private func follow(_ edit: SiteEdit) {
    for case .forget(let traces) in edit.changes {
      for loop in loops { loop.eventLoop.execute { loop.value.intake.forget(traces) } }
    }
    if edit.changesSite { updateLoops() }
  }

  /// The addresses on which the listeners listen, each once: with port 0 the one that the system chose.
  package var localAddresses: [Endpoint] {
    sockets.map(\.address).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Returns the current counters and tables; after the shutdown, the last ones.
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
      await parts.signingStore.finish(on: merger.eventLoop)
      let last = try await liveSnapshot()
      lastSnapshot.withLock { $0 = last }
    } catch {
      // Only an event loop that is gone refuses, and these go below.
      assertionFailure("the loops ended before the shutdown: \(error)")
    }
    await parts.join()
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
    if configuration.checkpoint != nil { try await makeLastCheckpoint() }
    let recorder = parts.recorder
    try await recorder.eventLoop.submit { recorder.value.finish(through: last) }.get()
  }

  /// Stops at once, as if the process were killed: inputs in progress are not decided, published or saved.
  package func stopAtOnce() async {
    guard !isStopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
    await parts.dispose()
  }

  /// Takes a checkpoint of how all ended; every shard has decided the last input.
  private func makeLastCheckpoint() async throws {
    var engines: [EngineCopy] = []
    for loop in loops {
      engines.append(try await loop.eventLoop.submit { EngineCopy(loop.value.shard.engine) }.get())
    }
    let last = engines
    let place = try await loops[0].look { $0.logPlace }
    try await merger.eventLoop.submit { [merger] in merger.value.conclude(last, place) }.get()
  }

  private func liveSnapshot() async throws -> IngestSnapshot {
    var snapshot = IngestSnapshot(merging: try await look { $0.snapshot() })
    (snapshot.positioning, snapshot.deliveredThrough) = try await merger.look {
      ($0.merger.positioningCounters, $0.releasedThrough)
    }
    snapshot.sockets = sockets
    snapshot.isRecording = parts.exchange.records
    return snapshot
  }
}

extension IngestServer {
  /// The site with all changes so far.
  package var site: Site { parts.owner.site }

  /// Changes the site, at an instant that has its place among all inputs.
  ///
  /// Returns once the change is accepted; an event says when it had consequences.
  ///
  /// - Throws: `RegionRefusal`, nothing having changed; ``IngestError/stopped``.
  package func apply(_ change: RegionChange) async throws { try await apply(all: [change]) }

  /// Makes several changes at one instant, all of them or none.
  ///
  /// - Throws: `RegionRefusal`, nothing having changed; ``IngestError/stopped``.
  package func apply(all changes: [RegionChange]) async throws { try await make(.changes(changes), .whole) }

  /// Takes over an edited site file, at an instant that has its place among all inputs.
  ///
  /// Unchanged declarations go on as they were, and the regions that applications added at run time stay. Returns once
  /// the site is accepted.
  ///
  /// - Throws: `RegionRefusal`, nothing having changed; ``IngestError/stopped``.
  package func adopt(_ site: Site) async throws { try await make(.file(site), .whole) }

  /// Makes an edit that a store keeps as well.
  ///
  /// The owner of the site checks it, the store commits it, and the engine makes it. No other change of the site may be asked for
  /// meanwhile.
  ///
  /// Where inputs go through a log, the edit and its documents do too: `LoggedIngest.store` stores these, and nothing is checked
  /// beforehand.
  ///
  /// - Parameters:
  ///   - edit: the edit.
  ///   - documents: the documents that belong to it.
  ///   - commit: stores them.
  /// - Throws: `RegionRefusal`, ``IngestError/overloaded(waiting:)`` or the error of the commit, nothing having changed;
  ///   ``IngestError/stopped``, in which case the next start may find the edit committed.
  package func change(
    _ edit: SiteEdit,
    with documents: [DocumentChange] = [],
    committing commit: () async throws -> Void
  ) async throws {
    guard !isReplicated else { return try await make(edit.logged(with: documents), .whole) }
    try await ask { .change(edit, .check, $0) }
    try await commit()
    try await make(edit, .committed)
  }

  /// Indicates whether inputs go through a log.
  package var isReplicated: Bool { configuration.log != nil }

  /// Stores and drops documents on all servers that share the log.
  ///
  /// - Parameters:
  ///   - documents: the documents.
  ///   - answer: is called once this server has stored them, or with the reason why it has not.
  package func store(_ documents: [DocumentChange], _ answer: @escaping @Sendable ((any Error)?) -> Void) {
    guard isReplicated, !isStopping.load(ordering: .acquiring) else { return answer(IngestError.stopped) }
    let loop = loops[0]
    loop.eventLoop.scheduleTask(in: .zero) {
      let promise = loop.eventLoop.makePromise(of: Void.self)
      loop.value.request(.change(.logged([], documents), .whole, promise))
      return promise.futureResult
    }
    .futureResult.flatMap { $0 }
    .whenComplete { result in
      switch result {
      case .success: answer(nil)
      case .failure(let error): answer(error is EventLoopError ? IngestError.stopped : error)
      }
    }
  }

  private func make(_ edit: SiteEdit, _ part: ServerInputs.ChangePart) async throws {
    try await ask { .change(edit, part, $0) }
    // Edits of a log are followed where they are read, also those of others.
    guard !isReplicated else { return }
    for case .forget(let traces) in edit.changes {
      for loop in loops { try await loop.look { $0.intake.forget(traces) } }
    }
    if edit.changesSite { updateLoops() }
  }

  /// Passes the devices and the observers that the site names to the loops.
  private func updateLoops() {
    // One after the other, so that the newest site comes last.
    updates.withLock { _ in
      let site = site
      let (known, listed) = (KnownDevices(site), AdmissionCheck.listed(by: site))
      for loop in loops {
        loop.eventLoop.execute {
          loop.value.intake.recognise(known, showsUnregistered: loop.value.configuration.showsUnregistered)
          loop.value.intake.gate.adopt(listed: listed)
        }
      }
    }
  }

  /// Takes over other keys for signed datagrams; returns once every loop uses them.
  ///
  /// A key that stays keeps its replay window; a removed key is no longer valid.
  ///
  /// - Parameter observers: all observers with their keys.
  /// - Throws: ``IngestError/stopped``.
  package func adopt(keys observers: [KeyedObserver]) async throws {
    let keys = parts.signingStore.adopt(observers)
    for loop in loops { try await loop.look { $0.intake.gate.adopt(keys) } }
  }

  /// The longest datagram that does not come over a socket.
  ///
  /// - Units: bytes.
  package static let largestMessage = ServerInputs.largestMessage

  /// The maximum number of datagrams that ``receive(_:from:under:)`` takes: as many as one call takes off a socket.
  package static let maximumAtOnce = DatagramDrain.slots

  /// Takes datagrams of one sender that came otherwise than over UDP, as if they had.
  ///
  /// They have their place among all inputs and are recorded with their source; one longer than ``largestMessage`` is
  /// refused as truncated.
  ///
  /// - Parameters:
  ///   - payloads: their bytes, in any format that is understood, at most ``maximumAtOnce`` of them.
  ///   - source: the sender.
  ///   - policy: the policy by which they are accepted or refused.
  /// - Returns: the outcome for each.
  /// - Throws: ``IngestError/stopped``; ``IngestError/overloaded(waiting:)``.
  package func receive(
    _ payloads: [[UInt8]],
    from source: Endpoint,
    under policy: ListenPolicy
  ) async throws -> [Receipt] {
    precondition(payloads.count <= IngestServer.maximumAtOnce, "more datagrams than an R can be given to")
    return try await ask { .datagrams(payloads, from: source, policy, $0) }
  }

  /// Publishes events that the engines did not decide, such as a changed authorisation or a notification.
  ///
  /// They have their place among all inputs, are recorded, and are delivered in the order of all events. The call returns at once.
  ///
  /// - Parameters:
  ///   - events: the events, with their ids, and with times by the wall clock.
  ///   - otherwise: takes the events instead where the server stops before they have a place.
  package func announce(_ events: [Event], otherwise: @escaping @Sendable ([Event]) -> Void) {
    guard !isStopping.load(ordering: .acquiring) else { return otherwise(events) }
    let loop = loops[0]
    loop.eventLoop.scheduleTask(in: .zero) {
      loop.value.request(.announce(events, otherwise: otherwise))
    }.futureResult.whenFailure { _ in otherwise(events) }
  }

  /// Takes a checkpoint as soon as the last one has been written, one for all who ask meanwhile; returns once it was
  /// handed over, which does nothing where the configuration takes none.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func checkpoint() async throws {
    try await ask { .checkpoint($0) }
  }

  /// Begins a recording of all inputs; returns once it has begun.
  ///
  /// It begins with the exact state of the engines there: to process it gives the same events from then on, byte for
  /// byte. While nothing is recorded, recording costs nothing.
  ///
  /// - Parameter order: the limits, and where the bytes go.
  /// - Returns: the R behind which it begins.
  /// - Throws: ``IngestError/alreadyRecording``; ``IngestError/cannotRecord(reason:)``; ``IngestError/stopped``;
  ///   ``IngestError/overloaded(waiting:)``.
  @discardableResult
  package func record(_ order: RecordingOrder) async throws -> Timestamp {
    guard !isStopping.load(ordering: .acquiring) else { throw IngestError.stopped }
    let interval = configuration.idleTick
    guard try await parts.recorder.look({ $0.prepare(every: interval) }) else {
      throw IngestError.alreadyRecording
    }
    do {
      // Behind this, every loop pushes what it takes to the recorder, which discards it up to the beginning.
      for loop in loops { try await loop.look { _ in } }
      return try await ask { .record(order, $0) }
    } catch IngestError.cannotRecord(let reason) {
      throw IngestError.cannotRecord(reason: reason)
    } catch {
      // The recorder has not heard of it.
      parts.exchange.stopRecording()
      throw error
    }
  }

  /// Ends the recording that ``record(_:)`` began, with all inputs so far; returns once its last bytes were handed over.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func endRecording() async throws {
    guard !isStopping.load(ordering: .acquiring) else { throw IngestError.stopped }
    try await parts.recorder.look { $0.endOrder() }
  }

  /// Has loop 0 take a request and waits for its answer.
  private func ask<Answer: Sendable>(
    _ request: @escaping @Sendable (EventLoopPromise<Answer>) -> ServerInputs.Request
  ) async throws -> Answer {
    guard !isStopping.load(ordering: .acquiring) else { throw IngestError.stopped }
    let loop = loops[0]
    do {
      return try await loop.eventLoop.scheduleTask(in: .zero) {
        let answer = loop.eventLoop.makePromise(of: Answer.self)
        loop.value.request(request(answer))
        return answer.futureResult
      }.futureResult.flatMap { $0 }.get()
    } catch is EventLoopError {
      throw IngestError.stopped
    }
  }
}

/// Looks at what the engines know. Each is taken where the engine works, between two runs of it, and changes nothing.
extension IngestServer {
  /// Returns the tracks that stage one knows, in order, a page at a time.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func tracks(_ query: TrackQuery) async throws -> [TrackInsight] {
    let found = try await look { $0.shard.engine.tracks(query) }
    return Array(found.flatMap { $0 }.sorted { $0.key < $1.key }.prefix(query.limit))
  }

  /// The observers that are heard and do not count, in their order.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func quarantine() async throws -> [QuarantinedObserver] {
    try await look { $0.shard.engine.quarantine() }.flatMap { $0 }.sorted { $0.id < $1.id }
  }

  /// Returns the itineraries and the guidance of subjects, as the changes that assign them.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func assignments() async throws -> Set<RegionChange> { try await mergerCopy().assignments }

  /// Returns the location of every beacon that some observer of a zone hears, or that is in a zone, in their order.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func tags() async throws -> [TagStanding] { try await mergerCopy().tagStandings() }

  /// Returns the state of every beacon towards every region about beacons that it has met.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func beaconStandings() async throws -> [BeaconStanding] { try await mergerCopy().beaconStandings() }

  /// Returns the present state of a subject towards a region that stage two decides about, an area or one about beacons as
  /// subjects, and the start of its visit; nil for other regions.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func state(
    of subject: SubjectID,
    in region: RegionKey
  ) async throws -> (state: RegionState, enteredAt: Timestamp?)? {
    try await merger.look { $0.merger.state(of: subject, in: region) }
  }

  /// Returns the state of every observer towards every region that it has met.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func standings() async throws -> [RegionStanding] {
    try await look { $0.shard.engine.standings() }.flatMap { $0 }
  }

  /// The offsets of observers that stand in zones, as they were found from the tags that they hear in common.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func calibrations() async throws -> [Calibration] { try await mergerCopy().calibrations }

  private func look<Found: Sendable>(
    _ body: @escaping @Sendable (ReadingLoop) -> Found
  ) async throws -> [Found] {
    var found: [Found] = []
    for loop in loops { found.append(try await loop.look(body)) }
    return found
  }

  /// A copy of the merger, which costs its thread next to nothing; what is asked of it is put together elsewhere.
  private func mergerCopy() async throws -> EventMerger {
    try await merger.look { $0.merger.withoutPending }
  }
}

extension NIOLoopBound {
  /// Has the loop do something with the value between two pieces of its work, and returns the result.
  ///
  /// - Throws: ``IngestError/stopped``; what the body throws.
  fileprivate func look<Result: Sendable>(
    _ body: @escaping @Sendable (Value) throws -> Result
  ) async throws -> Result {
    do {
      return try await eventLoop.scheduleTask(in: .zero) { try body(value) }.futureResult.get()
    } catch is EventLoopError {
      throw IngestError.stopped
    }
  }
}
