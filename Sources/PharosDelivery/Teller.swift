package import Logging
package import PharosAccess
package import PharosEvents
package import PharosPublishing
import ServiceLifecycle
import Synchronization

/// The service that publishes decisions: it judges each event by the authorisations, commits it, and then passes it on.
///
/// The engine's thread never waits for the teller: it appends events to a queue, and the teller commits them in
/// groups on a thread of its own. While the journal refuses a commit, events wait; beyond a limit the oldest are
/// dropped and counted. Events that are never journalled (ranging, fixes) are still published meanwhile.
package final class Teller: Service, Sendable {
  /// Where told events come out.
  package let told = ToldHub()
  /// Which applications have a live stream open.
  package let live = LiveApplications()
  /// What each application may learn about each subject.
  package let authorisations: Authorisations
  /// The name of the stream, which the JSON of its events carries as source.
  package let stream: String

  struct State {
    var work: TellerState
    /// Whether a call is under way that will ask what to do, at once or after a wait.
    var hasCall = false
    var hasTimer = false
    /// Newer checkpoints replace older ones that have not been written out yet.
    var checkpoint: (checkpoint: TellerCheckpoint, through: Int64)?
    var drained: [@Sendable () -> Void] = []
  }

  let store: any EventStore
  let logger: Logger
  let state: Mutex<State>
  let threads: TellerThreads

  /// Makes a teller that publishes a hub's decisions from now on; ``run()`` drains it at shutdown.
  ///
  /// - Parameters:
  ///   - hub: the hub that delivers the decisions.
  ///   - store: the journal.
  ///   - authorisations: what each application may learn.
  ///   - stream: the name of the stream.
  ///   - settings: how events are grouped and kept.
  ///   - logger: the logger for failures, once each, and for recoveries.
  package convenience init(
    hub: EventHub,
    store: any EventStore,
    authorisations: Authorisations,
    stream: String,
    settings: TellerSettings = TellerSettings(),
    logger: Logger = Logger(label: "pharos.teller")
  ) {
    self.init(
      hub: hub,
      store: store,
      authorisations: authorisations,
      stream: stream,
      settings: settings,
      logger: logger,
      threads: .system()
    )
  }

  /// Makes a teller that works on any threads, by any clock.
  package init(
    hub: EventHub,
    store: any EventStore,
    authorisations: Authorisations,
    stream: String,
    settings: TellerSettings,
    logger: Logger,
    threads: TellerThreads
  ) {
    self.store = store
    self.threads = threads
    self.authorisations = authorisations
    self.stream = stream
    self.logger = logger
    state = Mutex(State(work: TellerState(settings: settings, head: store.head)))
    hub.tap { [weak self] batch in self?.take(batch, isDelivered: true) }
  }

  /// What it has done so far.
  package var statistics: TellerStatistics {
    state.withLock { state in
      var statistics = state.work.statistics
      statistics.waiting = state.work.waiting
      return statistics
    }
  }

  /// Tells events that the engine did not decide: a change of authorisation, a notification.
  ///
  /// From any thread; never blocks. They are judged, committed and told like all others.
  package func tell(_ events: [Event]) { take(events, isDelivered: false) }

  /// Keeps a checkpoint once the events before it are committed; never blocks.
  ///
  /// To be called on the engine's thread, after the events that it covers were delivered.
  package func offer(_ checkpoint: TellerCheckpoint) {
    schedule { $0.take(checkpoint) }
  }

  /// Waits until everything that has come so far is committed and told and the last checkpoint is kept, or until the
  /// journal has refused it some times more.
  package func drain() async {
    await withCheckedContinuation { continuation in drain { continuation.resume() } }
  }

  /// The same, with a function that is called then.
  package func drain(_ drained: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.work.isDraining = true
      state.drained.append(drained)
    }
    threads.work { self.work() }
  }

  /// Waits for a graceful shutdown, then drains and ends the told streams.
  ///
  /// In a service group it stands before the server whose decisions it tells: services stop in reverse order, so that
  /// everything has been decided by the time it drains.
  package func run() async throws {
    try? await gracefulShutdown()
    await drain()
    told.finish()
  }

  private func take(_ events: [Event], isDelivered: Bool) {
    guard !events.isEmpty else { return }
    schedule { $0.take(events, isDelivered: isDelivered) }
  }

  private func schedule(_ change: (inout TellerState) -> Void) {
    let isCallDue = state.withLock { state in
      change(&state.work)
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

  /// Does what is due; on the teller's own thread.
  private func work() {
    while true {
      switch state.withLock({ $0.work.next(at: elapsed) }) {
      case .commit(let group): commit(group)
      case .pass(let events): publish(events, judged: judge(events), sequences: [])
      case .wait(let delay): return wait(delay)
      case .idle: return settle()
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

  /// The time since the teller was made.
  var elapsed: Duration { threads.elapsed() }
}
