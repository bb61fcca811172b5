import Dispatch
package import Logging
import PharosJournal
package import PharosModel
package import PharosPublishing
import ServiceLifecycle
import Synchronization

/// The service that publishes decisions: it judges each event by the authorisations, commits it, and then passes it on.
///
/// **No decision is lost on its way to a reader.** The engine's thread never waits for the commit publisher: it appends events
/// to a queue, and the commit publisher commits them in groups on a thread of its own. The subscribers of committed events only
/// put them into queues of their own. Where the journal is slow or refuses a commit, events wait. When the queue is full, the server
/// stops to read its sockets until half of the queue is committed, so that the kernel drops datagrams, which it counts, and
/// nothing that was decided. Events that are never journalled (ranging, fixes) are still published meanwhile.
package final class CommitPublisher: Service, Sendable {
  /// The hub that publishes the committed events.
  package let committed = CommittedEventHub()
  /// The applications that have a live stream open.
  package let live = LiveApplications()
  /// The authorisations: what each application may learn about each subject.
  package let authorisations: Authorisations
  /// The name of the stream, which the JSON of its events carries as source.
  package let stream: String
  /// Returns the names that events state beside identities.
  package let names: @Sendable () -> SiteNames?

  struct State {
    var work: CommitPublisherState
    /// Indicates whether a call is scheduled that will ask for the next action.
    var hasCall = false
    var hasTimer = false
    /// The newest checkpoint that has not been encoded yet; a newer one replaces it.
    var checkpoint: (checkpoint: CommitPublisherCheckpoint, through: Int64)?
    var drained: [@Sendable () -> Void] = []
  }

  private let hub: EventHub
  let store: any EventStore
  let logger: Logger
  let state: Mutex<State>
  let threads: CommitPublisherThreads
  private let eventJudge: Mutex<EventJudge>
  /// The committed events that the engine decides once more, with their sequence numbers.
  private let known: Mutex<[EventID: Int64]>

  /// Makes a commit publisher that publishes a hub's decisions from now on; ``run()`` drains it at shutdown.
  ///
  /// - Parameters:
  ///   - hub: the hub that delivers the decisions.
  ///   - store: the journal.
  ///   - authorisations: the authorisations of the applications.
  ///   - stream: the name of the stream.
  ///   - names: returns the names that events state beside identities.
  ///   - settings: the settings for grouping and keeping events.
  ///   - zones: the zones of beacons from before.
  ///   - known: the committed events that the engine decides once more, since it reads its inputs from a log, with their numbers.
  ///   - logger: the logger for failures, once each, and for recoveries.
  package convenience init(
    hub: EventHub,
    store: any EventStore,
    authorisations: Authorisations,
    stream: String,
    names: @escaping @Sendable () -> SiteNames? = { nil },
    settings: CommitPublisherSettings = CommitPublisherSettings(),
    zones: [PublishedState.ZoneRecord] = [],
    known: [EventID: Int64] = [:],
    logger: Logger = Logger(label: "pharos.commit")
  ) {
    self.init(
      hub: hub,
      store: store,
      authorisations: authorisations,
      stream: stream,
      names: names,
      settings: settings,
      zones: zones,
      known: known,
      logger: logger,
      threads: .system()
    )
  }

  /// Makes a commit publisher for any threads and any clock.
  package init(
    hub: EventHub,
    store: any EventStore,
    authorisations: Authorisations,
    stream: String,
    names: @escaping @Sendable () -> SiteNames? = { nil },
    settings: CommitPublisherSettings,
    zones: [PublishedState.ZoneRecord] = [],
    known: [EventID: Int64] = [:],
    logger: Logger,
    threads: CommitPublisherThreads
  ) {
    self.hub = hub
    self.store = store
    self.threads = threads
    self.authorisations = authorisations
    self.stream = stream
    self.names = names
    self.logger = logger
    eventJudge = Mutex(EventJudge(zones: zones))
    self.known = Mutex(known)
    state = Mutex(
      State(
        work: CommitPublisherState(settings: settings, head: known.values.min().map { $0 - 1 } ?? store.head)
      )
    )
    hub.tap { [weak self] batch in self?.enqueue(batch, isDelivered: true) }
  }

  /// The counters of the commit publisher.
  package var statistics: CommitPublisherStatistics {
    state.withLock { state in
      var statistics = state.work.statistics
      statistics.waiting = state.work.waiting
      return statistics
    }
  }

  /// Publishes events that the engine did not decide: changes of authorisations, notifications.
  ///
  /// May be called from any thread; never blocks. The events are judged, committed and published like all others.
  package func publish(_ events: [Event]) { enqueue(events, isDelivered: false) }

  /// Keeps a checkpoint once the events before it are committed; never blocks.
  ///
  /// Call it on the engine's thread, after the events that it covers were delivered.
  package func offer(_ checkpoint: CommitPublisherCheckpoint) {
    schedule { $0.enqueue(checkpoint) }
  }

  /// Waits until all events so far are committed and published and the last checkpoint is kept, or until the journal
  /// has refused them several more times.
  package func drain() async {
    await withCheckedContinuation { continuation in drain { continuation.resume() } }
  }

  /// Does the same as ``drain()`` and calls a function at the end.
  package func drain(_ drained: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.work.isDraining = true
      state.drained.append(drained)
    }
    threads.work { self.work() }
  }

  /// Waits for a graceful shutdown, then drains and ends the published streams.
  ///
  /// In a service group, place the commit publisher before the server whose decisions it publishes: services stop in reverse
  /// order, so that everything has been decided by the time it drains.
  package func run() async throws {
    try? await gracefulShutdown()
    await drain()
    committed.finish()
  }

  private func enqueue(_ events: [Event], isDelivered: Bool) {
    guard !events.isEmpty else { return }
    schedule { $0.enqueue(events, isDelivered: isDelivered) }
  }

  private func schedule(_ change: (inout CommitPublisherState) -> Void) {
    let isCallDue = state.withLock { state in
      change(&state.work)
      hub.isFull.store(state.work.statistics.isFull, ordering: .relaxed)
      guard !state.hasCall, !state.hasTimer || state.work.isUrgent else { return false }
      state.hasCall = true
      return true
    }
    if isCallDue {
      threads.work {
        self.state.withLock { $0.hasCall = false }
        self.work()
      }
    }
  }

  /// Performs the actions that are due; called on the commit publisher's own thread.
  private func work() {
    while true {
      let action = state.withLock { state in
        defer { hub.isFull.store(state.work.statistics.isFull, ordering: .relaxed) }
        return state.work.next(at: elapsed)
      }
      switch action {
      case .commit(let group): commit(group)
      case .pass(let events): publish(judge(events), sequences: [])
      case .wait(let delay): return wait(delay)
      case .idle: return callWaiting()
      }
    }
  }

  private func wait(_ delay: Duration) {
    let isDue = state.withLock { state in
      defer { state.hasTimer = true }
      return !state.hasTimer
    }
    guard isDue else { return }
    threads.workLater(delay) {
      self.state.withLock { $0.hasTimer = false }
      self.work()
    }
  }

  /// The time since the commit publisher was made.
  var elapsed: Duration { threads.elapsed() }
}

extension CommitPublisher {
  /// Returns the gate of webhooks and of pages of history.
  ///
  /// - Parameter application: the application that reads, or nil for the operator's readers.
  /// - Returns: the gate.
  package func gate(to application: String?) -> Gate {
    authorisations.view.gate(to: application, isLive: false)
  }

  /// Returns the gate of reads of what holds now: an application counts as in use while it has a live stream open.
  ///
  /// - Parameter application: the application that reads, or nil for the operator's readers.
  /// - Returns: the gate.
  package func presentGate(to application: String?) -> Gate {
    authorisations.view.gate(to: application, isLive: application.map(live.names.contains) ?? false)
  }
}

extension CommitPublisher {
  /// Forgets a subject that is erased from the journal.
  package func forget(_ traces: SubjectTraces) { eventJudge.withLock { $0.forget(traces) } }

  /// Calls the functions that wait for the end of draining, once the last checkpoint is kept.
  func callWaiting() {
    let waiting = state.withLock { state in
      defer { state.drained = [] }
      if !state.drained.isEmpty { state.work.isDraining = false }
      return state.drained
    }
    guard !waiting.isEmpty else { return }
    threads.keep { for drained in waiting { drained() } }
  }

  private func judge(_ events: [Event]) -> [Judgement] {
    let (view, applications) = (authorisations.view, live.names)
    return eventJudge.withLock { $0.judge(events, by: view, liveApplications: applications) }
  }

  private func commit(_ group: Backlog.Group) {
    var group = group
    // The last of them says how far a checkpoint goes that is taken meanwhile.
    let repeated = known.withLock { known -> Int64? in
      var last: Int64?
      if !known.isEmpty {
        group.events.removeAll { event in
          let sequence = known.removeValue(forKey: event.id)
          last = sequence ?? last
          return sequence != nil
        }
      }
      return last
    }
    let judged = judge(group.events)
    let entries = judged.compactMap { judgement in
      judgement.kept.kind.isJournalled
        ? Journal.Entry(event: judgement.kept, isPublished: judgement.verdict == .always) : nil
    }
    do {
      let sequences = entries.isEmpty ? [] : try store.append(entries)
      publish(judged, sequences: sequences)
      finish(group, last: sequences.last { $0 != nil } ?? repeated)
    } catch {
      refuse(group, judged: judged, error: "\(error)")
    }
  }

  private func finish(_ group: Backlog.Group, last: Int64?) {
    let (isNews, isKeeping) = state.withLock { state in
      let isNews = state.work.committed(group, last: last, at: elapsed)
      var isKeeping = false
      if let checkpoint = group.checkpoint {
        isKeeping = state.checkpoint == nil
        state.checkpoint = (checkpoint, state.work.through(checkpoint, behind: group))
      }
      return (isNews, isKeeping)
    }
    if isKeeping { threads.keep { self.keepCheckpoint() } }
    if isNews {
      logger.notice("The journal can be written again.")
    }
  }

  private func refuse(_ group: Backlog.Group, judged: [Judgement], error: String) {
    let kept = group.events.filter(\.kind.isJournalled)
    if kept.count < group.events.count {
      publish(judged.filter { !$0.kept.kind.isJournalled }, sequences: [])
    }
    let (isNews, lost) = state.withLock { state in
      var group = group
      group.events = kept
      let isNews = state.work.failed(group, error: error, at: elapsed)
      return (isNews, state.work.giveUp())
    }
    if isNews {
      logger.error(
        "Cannot write to the journal. Events are queued and the write is retried.",
        metadata: [LogKey.error: "\(error)"]
      )
    }
    if let lost {
      logger.error(
        "The server stops while it cannot write to the journal. Queued events were dropped.",
        metadata: [LogKey.events: "\(lost)", LogKey.error: "\(error)"]
      )
    }
  }

  /// Records that an event leads its subject to another one, which can read of it; false if it cannot be recorded.
  private func isRecorded(_ event: Event) -> Bool {
    guard case .guidance(let detail) = event.detail, let target = detail.target, detail.status != .held,
      let accuracy = authorisations.view.shared(target, with: event.subject)
    else { return true }
    do {
      try authorisations.looks.record(at: target, by: event.subject, .guidance, accuracy, now: event.time)
      return true
    } catch {
      return false
    }
  }

  /// Publishes the events that the authorisations allow; the sequence numbers are those of the journalled ones, in
  /// order.
  private func publish(_ judged: [Judgement], sequences: [Int64?]) {
    var published: [PublishedEvent] = []
    published.reserveCapacity(judged.count)
    let names = names()
    var (committed, passed, withheld) = (0 as UInt64, 0 as UInt64, 0 as UInt64)
    var next = sequences.startIndex
    for judgement in judged {
      var sequence: Int64?
      if judgement.kept.kind.isJournalled, next < sequences.endIndex {
        sequence = sequences[next]
        next += 1
      }
      guard judgement.verdict != .withhold, isRecorded(judgement.published) else {
        withheld += 1
        continue
      }
      if sequence == nil { passed += 1 } else { committed += 1 }
      published.append(
        PublishedEvent(
          sequence: sequence,
          event: judgement.published,
          isLiveOnly: judgement.verdict == .live,
          stream: stream,
          names: names
        )
      )
    }
    state.withLock { state in
      state.work.statistics.committed += committed
      state.work.statistics.passed += passed
      state.work.statistics.withheld += withheld
    }
    self.committed.publish(published)
  }

  private func keepCheckpoint() {
    let pending = state.withLock { state in
      defer { state.checkpoint = nil }
      return state.checkpoint
    }
    guard let (checkpoint, through) = pending else { return }
    do {
      try store.save(checkpoint: checkpoint.encode(), instant: checkpoint.instant, through: through)
      state.withLock { $0.work.statistics.checkpoints += 1 }
    } catch {
      state.withLock { $0.work.statistics.failedCheckpoints += 1 }
      logger.error(
        "A checkpoint could not be stored. The previous one is kept, and the next one is stored as scheduled.",
        metadata: [LogKey.error: "\(error)"]
      )
    }
  }
}

/// The settings of a commit publisher for grouping and keeping events.
package struct CommitPublisherSettings: Hashable, Sendable {
  /// The shortest time between two commits; an event that comes after a pause is committed at once.
  ///
  /// 20 ms is unnoticed by people, and 50 commits a second leave even a disk that needs 10 ms for each half idle.
  package var interval: Duration = .milliseconds(20)
  /// The number of events that are committed without waiting for the interval, and the maximum in one transaction.
  package var group = 4_096
  /// The number of waiting events at which the queue is full: the server reads no sockets until half of it is committed.
  ///
  /// About 200 MB, and minutes of a busy site while its disk is full. What the engine is deciding at that moment comes on
  /// top of it; the rings between its threads bound that.
  package var backlog = 262_144
  /// The pause after a failed commit; it doubles with each further failure.
  package var firstPause: Duration = .milliseconds(100)
  /// The longest pause after a failed commit.
  package var maximumPause: Duration = .seconds(5)

  /// Creates the default settings.
  package init() {}
}

/// The counters of a commit publisher.
package struct CommitPublisherStatistics: Hashable, Sendable {
  /// Events taken from the engine and from others.
  package var received: UInt64 = 0
  /// Events published with a sequence number.
  package var committed: UInt64 = 0
  /// Events published without one: ranging, fixes, and events for live streams only.
  package var passed: UInt64 = 0
  /// Events that the authorisations withhold from all readers.
  package var withheld: UInt64 = 0
  /// Events dropped because the server stopped while it could not write to the journal.
  package var lost: UInt64 = 0
  /// Events that wait to be committed.
  package var waiting = 0
  /// Indicates whether the queue is full, so that the server reads no sockets.
  package var isFull = false
  /// Transactions committed.
  package var commits: UInt64 = 0
  /// Transactions that failed.
  package var failures: UInt64 = 0
  /// Checkpoints kept.
  package var checkpoints: UInt64 = 0
  /// Checkpoints that could not be kept.
  package var failedCheckpoints: UInt64 = 0
  /// A Boolean value that is true if the last commit failed: events that must be journalled wait and are not published.
  package var isFailing = false
  /// The message of the last failure, kept after the recovery.
  package var lastFailure: String?

  /// Creates counters of zero.
  package init() {}
}

/// The threads and the clock of a commit publisher: two serial threads and a clock.
///
/// It is a parameter so that a simulation runs a commit publisher on its own thread and by its own time.
package struct CommitPublisherThreads: Sendable {
  /// A piece of work.
  package typealias Work = @Sendable () -> Void

  /// Runs work soon, serially: commits and what follows from them.
  package let work: @Sendable (@escaping Work) -> Void
  /// Runs work after a time, serially with ``work``.
  package let workLater: @Sendable (Duration, @escaping Work) -> Void
  /// Runs work soon, serially and concurrently with the commits: encoding and saving checkpoints.
  package let keep: @Sendable (@escaping Work) -> Void
  /// The time since the commit publisher was made.
  package let elapsed: @Sendable () -> Duration

  /// Makes threads from functions.
  package init(
    work: @escaping @Sendable (@escaping Work) -> Void,
    workLater: @escaping @Sendable (Duration, @escaping Work) -> Void,
    keep: @escaping @Sendable (@escaping Work) -> Void,
    elapsed: @escaping @Sendable () -> Duration
  ) {
    self.work = work
    self.workLater = workLater
    self.keep = keep
    self.elapsed = elapsed
  }

  /// Makes queues of the commit publisher's own and the machine's clock.
  static func system() -> CommitPublisherThreads {
    let start = ContinuousClock.now
    let queue = DispatchQueue(label: "pharos.commit", qos: .userInitiated)
    let keeper = DispatchQueue(label: "pharos.commit.checkpoints", qos: .utility)
    return CommitPublisherThreads(
      work: { work in queue.async { work() } },
      workLater: { delay, work in queue.asyncAfter(deadline: .now() + delay.inSeconds) { work() } },
      keep: { work in keeper.async { work() } },
      elapsed: { ContinuousClock.now - start }
    )
  }
}

extension Duration {
  /// The length in seconds.
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
