package import Logging
package import PharosAccess
import PharosEvents
package import PharosPublishing
import ServiceLifecycle
import Synchronization

/// The service that opens live streams: a stream first gives the events that the journal has after the number that its
/// client knows, then the events that are published from now on, without a gap or a repetition.
///
/// A client that is slower than its stream reads on from the journal and slows no other client down. Only events that
/// are not journalled (ranging, fixes, events for live streams alone) are dropped for it, and its stream reports how
/// many.
package final class FeedDesk: Service, Sendable {
  struct State {
    var index = FeedIndex()
    /// The newest sequence number that streams were offered.
    var published: Int64
    var nextID: UInt64 = 0
    var opened: UInt64 = 0
    var refused: UInt64 = 0
    /// How many streams each client has open.
    var clients: [String: Int] = [:]
    var isFinished = false
    /// How many events the teller had lost when streams were last told.
    var toldLost: UInt64 = 0
  }

  let history: any EventHistory
  let settings: FeedSettings
  let state: Mutex<State>
  let tally: FeedTally
  let authorisations: Authorisations
  let reader: HistoryReader
  private let live: LiveApplications
  private let lost: @Sendable () -> UInt64
  private let clock: @Sendable () -> Duration

  /// Makes the desk of a teller.
  ///
  /// - Parameters:
  ///   - teller: the teller whose published events are streamed.
  ///   - history: the journal that the teller commits to.
  ///   - settings: the limits.
  ///   - logger: the logger for failed reads.
  package convenience init(
    teller: Teller,
    history: any EventHistory,
    settings: FeedSettings = FeedSettings(),
    logger: Logger = Logger(label: "pharos.feeds")
  ) {
    let start = ContinuousClock.now
    self.init(
      told: teller.told,
      live: teller.live,
      authorisations: teller.authorisations,
      stream: teller.stream,
      history: history,
      settings: settings,
      logger: logger,
      lost: { [weak teller] in teller?.statistics.lost ?? 0 },
      clock: { ContinuousClock.now - start }
    )
  }

  /// Makes a desk of any told events, by any clock.
  package init(
    told: ToldHub,
    live: LiveApplications,
    authorisations: Authorisations,
    stream: String,
    history: any EventHistory,
    settings: FeedSettings,
    logger: Logger,
    lost: @escaping @Sendable () -> UInt64,
    clock: @escaping @Sendable () -> Duration
  ) {
    self.history = history
    self.settings = settings
    self.authorisations = authorisations
    self.live = live
    self.lost = lost
    self.clock = clock
    tally = FeedTally(limit: settings.waiting)
    reader = HistoryReader(history: history, stream: stream, logger: logger)
    state = Mutex(State(published: history.head))
    told.tap({ [weak self] batch in self?.publish(batch) }, onFinish: { [weak self] in self?.finish() })
  }

  /// Opens a stream.
  ///
  /// - Parameter request: what the client wants.
  /// - Returns: the stream, for one consumer; it is open until it is let go.
  /// - Throws: ``FeedRefusal``.
  package func open(_ request: FeedRequest) throws(FeedRefusal) -> Feed {
    let core = try register(request)
    if let application = request.application { live.open(application) }
    return Feed(desk: self, core: core)
  }

  /// What the desk has done so far.
  package var statistics: FeedStatistics {
    var statistics = FeedStatistics()
    tally.write(to: &statistics)
    state.withLock { state in
      statistics.open = state.index.all.count
      statistics.opened = state.opened
      statistics.refused = state.refused
    }
    return statistics
  }

  /// Looks again and again whether readings or heartbeats are due, until the server stops.
  package func run() async throws {
    await cancelWhenGracefulShutdown { [self] in
      while !Task.isCancelled {
        tick()
        try? await Task.sleep(for: settings.tick)
      }
    }
  }

  /// Ends every stream once what waits for its client is taken; later ones are refused.
  package func finish() {
    let cores = state.withLock { state in
      state.isFinished = true
      return Array(state.index.all.values)
    }
    for core in cores { core.finish() }
  }

  /// Looks whether readings or heartbeats are due, and whether events were lost.
  package func tick() {
    let now = clock()
    let allLost = lost()
    let (cores, newlyLost) = state.withLock { state in
      defer { state.toldLost = allLost }
      return (Array(state.index.all.values), allLost - state.toldLost)
    }
    for core in cores {
      if newlyLost > 0 { core.lose(Int(newlyLost)) }
      core.advance(to: now, heartbeat: settings.heartbeat)
    }
  }

  /// The time since the desk was made.
  var now: Duration { clock() }

  /// A stream meets the present.
  func join(_ core: FeedCore) {
    state.withLock { core.join(published: $0.published) }
  }

  /// A stream is let go.
  func close(_ core: FeedCore) {
    state.withLock { state in
      state.index.remove(core)
      guard let client = core.request.client, let open = state.clients[client] else { return }
      state.clients[client] = open > 1 ? open - 1 : nil
    }
    core.close()
    if let application = core.request.application { live.close(application) }
  }

  private func register(_ request: FeedRequest) throws(FeedRefusal) -> FeedCore {
    let head = history.head
    return try state.withLock { state throws(FeedRefusal) in
      guard !state.isFinished else { throw .stopping }
      guard state.index.all.count < settings.feeds else {
        state.refused += 1
        throw .tooMany(limit: settings.feeds)
      }
      if let client = request.client {
        guard state.clients[client, default: 0] < settings.feedsOfOneClient else {
          state.refused += 1
          throw .tooManyOfOne(limit: settings.feedsOfOneClient)
        }
        state.clients[client, default: 0] += 1
      }
      state.nextID += 1
      state.opened += 1
      let core = FeedCore(id: state.nextID, request: request, tally: tally, at: clock())
      core.begin(published: state.published, head: max(head, state.published))
      state.index.insert(core)
      return core
    }
  }

  /// Offers told events to the streams that want them; on the teller's thread.
  private func publish(_ batch: [ToldEvent]) {
    let touched = state.withLock { state in
      var touched: [UInt64: FeedCore] = [:]
      for told in batch {
        let event = told.event
        state.index.each(wanting: event) { core in
          core.take(told)
          touched[core.id] = core
        }
        if let sequence = told.sequence { state.published = sequence }
      }
      return touched
    }
    let now = clock()
    for core in touched.values { core.wake(at: now) }
  }
}
