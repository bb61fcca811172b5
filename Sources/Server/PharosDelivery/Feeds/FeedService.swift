package import Logging
package import PharosModel
package import PharosPublishing
import ServiceLifecycle
import Synchronization

/// The service that opens live streams: a stream first gives the events that the journal has after the number that its
/// client knows, then the events that are published from now on, without a gap or a repetition.
///
/// A client that is slower than its stream reads on from the journal and slows no other client down. Only events that
/// are not journalled (ranging, fixes, events for live streams alone) are dropped for it, and its stream reports how
/// many.
package final class FeedService: Service, Sendable {
  struct State {
    var index = FeedIndex()
    /// The newest sequence number that was offered to streams.
    var published: Int64
    var nextID: UInt64 = 0
    var opened: UInt64 = 0
    var refused: UInt64 = 0
    /// The number of open streams of each client.
    var clients: [String: Int] = [:]
    var isFinished = false
    /// The number of events that the commit publisher had lost at the last tick.
    var reportedLost: UInt64 = 0
  }

  let history: any EventHistory
  package let settings: FeedSettings
  let state: Mutex<State>
  let tally: FeedTally
  let authorisations: Authorisations
  let reader: HistoryReader
  private let live: LiveApplications
  private let ended: @Sendable (Set<String>) -> Set<String>
  private let lost: @Sendable () -> UInt64
  private let clock: @Sendable () -> Duration

  /// Makes the service of a commit publisher.
  ///
  /// - Parameters:
  ///   - commitPublisher: the commit publisher whose published events are streamed.
  ///   - history: the journal that the commit publisher commits to.
  ///   - settings: the limits.
  ///   - ended: returns those of some clients whose tokens are no longer valid.
  ///   - logger: the logger for failed reads.
  package convenience init(
    commitPublisher: CommitPublisher,
    history: any EventHistory,
    settings: FeedSettings = FeedSettings(),
    ended: @escaping @Sendable (Set<String>) -> Set<String> = { _ in [] },
    logger: Logger = Logger(label: "pharos.feeds")
  ) {
    let start = ContinuousClock.now
    self.init(
      committed: commitPublisher.committed,
      live: commitPublisher.live,
      authorisations: commitPublisher.authorisations,
      stream: commitPublisher.stream,
      names: commitPublisher.names,
      history: history,
      settings: settings,
      ended: ended,
      logger: logger,
      lost: { [weak commitPublisher] in commitPublisher?.statistics.lost ?? 0 },
      clock: { ContinuousClock.now - start }
    )
  }

  /// Makes a service for any publisher of events and any clock.
  package init(
    committed: CommittedEventHub,
    live: LiveApplications,
    authorisations: Authorisations,
    stream: String,
    names: @escaping @Sendable () -> SiteNames? = { nil },
    history: any EventHistory,
    settings: FeedSettings,
    ended: @escaping @Sendable (Set<String>) -> Set<String> = { _ in [] },
    logger: Logger,
    lost: @escaping @Sendable () -> UInt64,
    clock: @escaping @Sendable () -> Duration
  ) {
    self.history = history
    self.settings = settings
    self.authorisations = authorisations
    self.live = live
    self.ended = ended
    self.lost = lost
    self.clock = clock
    tally = FeedTally(limit: settings.waiting)
    reader = HistoryReader(history: history, stream: stream, names: names, logger: logger)
    state = Mutex(State(published: history.head))
    committed.tap({ [weak self] batch in self?.publish(batch) }, onFinish: { [weak self] in self?.finish() })
  }

  /// Opens a stream.
  ///
  /// - Parameter request: the request of the client.
  /// - Returns: the stream, for one consumer; it stays open until it is released.
  /// - Throws: ``FeedRefusal``.
  package func open(_ request: FeedRequest) throws(FeedRefusal) -> Feed {
    let core = try register(request)
    if let application = request.application { live.open(application) }
    return Feed(feedService: self, core: core)
  }

  /// The counters of the service.
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

  /// Checks periodically whether tokens have ended and whether readings or heartbeats are due, until the server stops.
  package func run() async throws {
    await cancelWhenGracefulShutdown { [self] in
      while !Task.isCancelled {
        tick()
        try? await Task.sleep(for: settings.tick)
      }
    }
  }

  /// Ends every stream once its client has taken the waiting events; later requests are refused.
  package func finish() {
    let cores = state.withLock { state in
      state.isFinished = true
      return Array(state.index.all.values)
    }
    for core in cores { core.finish() }
  }

  /// Checks whether tokens and temporary full accuracies have ended, whether readings or heartbeats are due, and whether
  /// events were lost.
  ///
  /// A stream of a client whose token has expired or was revoked ends here, without the events that wait for it.
  package func tick() {
    let now = clock()
    let allLost = lost()
    let (cores, clients, newlyLost) = state.withLock { state in
      defer { state.reportedLost = allLost }
      return (Array(state.index.all.values), Set(state.clients.keys), allLost - state.reportedLost)
    }
    authorisations.endExpiredAccuracies()
    let ended = ended(clients)
    for core in cores {
      guard !(core.request.client.map(ended.contains) ?? false) else {
        core.revoke()
        continue
      }
      if newlyLost > 0 { core.lose(Int(newlyLost)) }
      core.advance(to: now, heartbeat: settings.heartbeat)
    }
  }

  /// The time since the service was made.
  var now: Duration { clock() }

  /// Joins a stream to the present.
  func join(_ core: FeedCore) {
    state.withLock { core.join(published: $0.published) }
  }

  /// Closes a released stream.
  func close(_ core: FeedCore) {
    state.withLock { state in
      state.index.remove(core)
      guard let client = core.request.client, let open = state.clients[client] else { return }
      state.clients[client] = open > 1 ? open - 1 : nil
    }
    core.close()
    if let application = core.request.application, live.close(application) {
      authorisations.endSession(of: application)
    }
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
      let known = settings.sharesNumbers ? .max : max(head, state.published)
      core.begin(published: state.published, head: known)
      state.index.insert(core)
      return core
    }
  }

  /// Passes published events to the streams that want them; called on the commit publisher's thread.
  private func publish(_ batch: [PublishedEvent]) {
    let touched = state.withLock { state in
      var touched: [UInt64: FeedCore] = [:]
      for committed in batch {
        let event = committed.event
        state.index.each(wanting: event) { core in
          core.add(committed)
          touched[core.id] = core
        }
        if let sequence = committed.sequence { state.published = sequence }
      }
      return touched
    }
    let now = clock()
    for core in touched.values { core.wake(at: now) }
  }
}

/// The limits of live streams.
package struct FeedSettings: Hashable, Sendable {
  /// The maximum number of open streams.
  package var feeds = 2_048
  /// The maximum number of open streams of one client, so that one token cannot use up all streams: a program needs one,
  /// and a wall of dashboards some dozens.
  package var feedsOfOneClient = 64
  /// The maximum number of waiting events over all streams; beyond it, a stream that lags reads from the journal
  /// instead.
  ///
  /// About 130 MB if all of them were different events; usually most streams wait for the same ones.
  package var waiting = 65_536
  /// The number of events that are read from the journal at a time.
  package var page = 256
  /// The time without any other item after which a stream sends a heartbeat.
  ///
  /// Proxies and mobile networks cut connections that are silent for 30 s and more, and a person who watches a server
  /// wants to see within some seconds that it hangs.
  package var heartbeat: Duration = .seconds(5)
  /// The interval at which the service checks whether tokens have ended and whether readings or heartbeats are due: the
  /// maximum time for which a stream outlives its token.
  package var tick: Duration = .milliseconds(50)
  /// Indicates whether other servers give the same events the same numbers, so that a number beyond the head is one that this
  /// server is about to give.
  package var sharesNumbers = false

  /// Creates the default limits.
  package init() {}
}

/// The counters of live streams.
package struct FeedStatistics: Hashable, Sendable {
  /// Streams open now.
  package var open = 0
  /// Streams opened since the start.
  package var opened: UInt64 = 0
  /// Streams refused because too many were open.
  package var refused: UInt64 = 0
  /// Events handed to clients, each counted for each client.
  package var delivered: UInt64 = 0
  /// Events that are not in the journal and were not taken in time.
  package var dropped: UInt64 = 0
  /// The number of times that a stream fell behind and went back to the journal.
  package var fellBehind: UInt64 = 0
  /// Pages read from the journal.
  package var pages: UInt64 = 0
  /// Reads of the journal that failed, each of which ended a stream.
  package var failedReads: UInt64 = 0
  /// Events that wait in all streams together.
  package var waiting = 0

  /// Creates counters of zero.
  package init() {}
}

/// An index of the streams that may want an event: each is filed under the narrowest member of its filter.
///
/// If a thousand clients watch one subject each, an event about one of them costs one look-up, not a thousand filters.
struct FeedIndex {
  private enum Key: Hashable {
    case subject(SubjectID)
    case region(String)
    case application(String)
    case kind(EventKind)

    /// Returns whether two keys have the same dimension, so that no event has both.
    func isAlike(_ other: Key) -> Bool {
      switch (self, other) {
      case (.subject, .subject), (.region, .region), (.application, .application), (.kind, .kind): true
      default: false
      }
    }
  }

  private var narrow: [Key: [UInt64: FeedCore]] = [:]
  private var wide: [UInt64: FeedCore] = [:]
  /// All streams.
  private(set) var all: [UInt64: FeedCore] = [:]

  mutating func insert(_ core: FeedCore) {
    all[core.id] = core
    guard let keys = FeedIndex.keys(core.request) else {
      wide[core.id] = core
      return
    }
    for key in keys { narrow[key, default: [:]][core.id] = core }
  }

  mutating func remove(_ core: FeedCore) {
    all[core.id] = nil
    wide[core.id] = nil
    for key in FeedIndex.keys(core.request) ?? [] {
      narrow[key]?[core.id] = nil
      if narrow[key]?.isEmpty == true { narrow[key] = nil }
    }
  }

  /// Calls a function with each stream whose filter wants an event, once.
  func each(wanting event: Event, _ body: (FeedCore) -> Void) {
    for core in wide.values where core.request.wants(event) { body(core) }
    guard !narrow.isEmpty else { return }
    // A stream stands under one sort of key alone, and under each of them once, so it is met once.
    let keys: [Key] = [
      .subject(event.subject), .region(event.region), .application(event.application), .kind(event.kind),
    ]
    for key in keys {
      guard let cores = narrow[key] else { continue }
      for core in cores.values where core.request.wants(event) { body(core) }
    }
  }

  /// Returns the keys of a stream, or nil if the stream must be offered every event.
  private static func keys(_ request: FeedRequest) -> Set<Key>? {
    guard let own = keys(request.filter) else { return nil }
    guard let filter = request.shared else { return Set(own) }
    guard let shared = keys(filter), let one = own.first, let other = shared.first else { return nil }
    return one.isAlike(other) ? Set(own).union(shared) : nil
  }

  private static func keys(_ filter: EventFilter) -> [Key]? {
    if let subjects = filter.subjects { return subjects.map { .subject($0) } }
    if let regions = filter.regions { return regions.map { .region($0) } }
    if let applications = filter.applications { return applications.map { .application($0) } }
    return filter.kinds.map { kinds in kinds.map { .kind($0) } }
  }
}

/// The counters that all streams share; the atomics are relaxed, since no counter depends on another.
final class FeedTally: Sendable {
  private let limit: Int
  private let waiting = Atomic<Int>(0)
  private let dropped = Atomic<UInt64>(0)
  private let fellBehind = Atomic<UInt64>(0)
  private let delivered = Atomic<UInt64>(0)
  private let pages = Atomic<UInt64>(0)
  private let failedReads = Atomic<UInt64>(0)

  init(limit: Int) { self.limit = limit }

  /// Indicates whether one more event may wait.
  var hasRoom: Bool { waiting.load(ordering: .relaxed) < limit }

  func count(waiting added: Int, dropped lost: Int = 0, fellBehind fell: Bool = false) {
    if added != 0 { waiting.add(added, ordering: .relaxed) }
    if lost != 0 { dropped.add(UInt64(lost), ordering: .relaxed) }
    if fell { fellBehind.add(1, ordering: .relaxed) }
  }

  func count(delivered count: Int) { delivered.add(UInt64(count), ordering: .relaxed) }

  func countPage(failed: Bool) {
    if failed { failedReads.add(1, ordering: .relaxed) } else { pages.add(1, ordering: .relaxed) }
  }

  /// Adds the counts to statistics.
  func write(to statistics: inout FeedStatistics) {
    statistics.waiting = waiting.load(ordering: .relaxed)
    statistics.dropped = dropped.load(ordering: .relaxed)
    statistics.fellBehind = fellBehind.load(ordering: .relaxed)
    statistics.delivered = delivered.load(ordering: .relaxed)
    statistics.pages = pages.load(ordering: .relaxed)
    statistics.failedReads = failedReads.load(ordering: .relaxed)
  }
}

/// The applications that have a live stream open, which `whenInUse` depends on.
package final class LiveApplications: Sendable {
  private let streams = Mutex<[String: Int]>([:])

  /// Starts without an open stream.
  package init() {}

  /// The applications that have at least one live stream open.
  package var names: Set<String> { streams.withLock { Set($0.keys) } }

  /// Counts an opened stream of an application.
  func open(_ application: String) {
    streams.withLock { $0[application, default: 0] += 1 }
  }

  /// Counts a closed stream of an application, and returns whether it was the last one.
  func close(_ application: String) -> Bool {
    streams.withLock { streams in
      guard let count = streams[application] else { return false }
      streams[application] = count > 1 ? count - 1 : nil
      return count <= 1
    }
  }
}
