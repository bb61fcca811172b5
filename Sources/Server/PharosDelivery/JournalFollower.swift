package import Logging
package import PharosJournal
package import PharosModel
package import PharosPublishing
import ServiceLifecycle
import Synchronization

// One task follows the journal for one consumer: a webhook, the notification rules, the MQTT broker. Each pass of it
//
//   1. takes the mail that other threads have left, and the time,
//   2. reads pages of the journal behind the consumer's cursor, up to a bound, while the consumer asks for them,
//   3. has the consumer act, and runs the requests that it wants to send,
//   4. saves the consumer's cursor and state once they are due,
//   5. waits for the signal (mail, committed events), or for the earliest of the consumer's alarm, the save and the retry.
//
// The consumer saves its cursor only behind what it has accepted, so a kill between the two delivers those events again and
// loses none. An orderly stop waits for the requests in flight and ends with a save, so it repeats none that was accepted. While the journal fails, nothing is read or saved; pauses grow up to a limit, and the log names the failure
// once and the recovery once.

/// A consumer of the journal's events: a value that a ``JournalFollower`` owns, without a clock, a task or a lock of its own.
package protocol JournalConsumer: Sendable {
  /// The messages of other threads to the consumer, collected until its next pass.
  associatedtype Mail: Sendable
  /// The state of the consumer as other threads see it.
  associatedtype Report: Sendable
  /// A change of the mail.
  typealias Message = @Sendable (inout Mail) -> Void
  /// Work that runs beside the passes and may end with a message to the consumer.
  typealias Action = @Sendable () async -> Message?

  /// Mail without messages.
  static var emptyMail: Mail { get }
  /// Adds events that were just published to the mail; called on the publisher's thread.
  static func collect(_ batch: [PublishedEvent], into mail: inout Mail)

  /// Called once before the first pass; `post` leaves a message from any thread.
  func start(_ post: @escaping @Sendable (@escaping Message) -> Void)
  /// Begins a pass with the messages since the last one. `stoppingSince` is the time at which the server began to stop.
  mutating func process(_ mail: Mail, at now: Timestamp, stoppingSince: Timestamp?)
  /// Reads what it wants next; returns false, without reading, if it has enough or there is nothing after its cursor.
  mutating func read(from pages: JournalPages) throws -> Bool
  /// Does the work that is due. `isCaughtUp` is true if ``read(from:)`` had nothing left to read.
  mutating func act(at now: Timestamp, isCaughtUp: Bool) -> [Action]
  /// The time for which its unsaved changes may stay unsaved, or nil if there are none.
  var saveDelay: TimeSpan? { get }
  /// Saves its unsaved changes; if it throws, they are still unsaved.
  ///
  /// The last save follows an orderly stop and contains every event that the receiver has accepted, in whatever order it
  /// accepted them: none of them comes again after the restart.
  mutating func save(to journal: Journal) throws
  /// Returns the time of its next work if nothing happens before.
  func wakeTime(at now: Timestamp) -> Timestamp?
  /// Returns whether it has finished, after the server began to stop.
  func isDone(at now: Timestamp) -> Bool
  /// Returns whether its actions have had the time that a stopping server gives them.
  func isOverdue(at now: Timestamp) -> Bool
  /// Called when the wall clock was set back, which lengthens every wait until a time.
  mutating func clockWasSetBack()
  /// Called behind the last save: it gives back what it holds, such as a connection.
  func end()
  /// The present state.
  var report: Report { get }
}

extension JournalConsumer {
  package static func collect(_: [PublishedEvent], into _: inout Mail) {}
  package func start(_: @escaping @Sendable (@escaping Message) -> Void) {}
  package func isOverdue(at _: Timestamp) -> Bool { false }
  package func end() {}
  package mutating func clockWasSetBack() {}
}

/// The service that follows the journal for one consumer until a graceful shutdown begins or its task is cancelled.
package final class JournalFollower<Consumer: JournalConsumer>: Service {
  private struct Shared {
    var mail = Consumer.emptyMail
    var isStopping = false
    var report: Consumer.Report
  }

  /// The maximum number of pages that are read before the consumer acts.
  private static var maximumReads: Int { 16 }

  private let pages: JournalPages
  private let hub: CommittedEventHub
  private let clock: any DeliveryClock
  private let restore: @Sendable (JournalPages) throws -> Consumer
  private let shared: Mutex<Shared>
  private let signal = AsyncSignal()

  /// Makes a follower, which begins once it runs.
  ///
  /// - Parameters:
  ///   - pages: the journal, and the name of the follower in the log.
  ///   - hub: the hub of the journal's events, each of which wakes the follower.
  ///   - clock: the time.
  ///   - report: the report before the first pass.
  ///   - restore: reads the consumer from the journal; called again after a pause if it throws.
  package init(
    _ pages: JournalPages,
    hub: CommittedEventHub,
    clock: any DeliveryClock,
    report: Consumer.Report,
    restore: @escaping @Sendable (JournalPages) throws -> Consumer
  ) {
    self.pages = pages
    self.hub = hub
    self.clock = clock
    self.restore = restore
    shared = Mutex(Shared(report: report))
  }

  /// The state of the consumer after its last pass.
  package var report: Consumer.Report { shared.withLock { $0.report } }

  /// Leaves a message for the consumer and wakes it.
  package func post(_ message: Consumer.Message) {
    shared.withLock { message(&$0.mail) }
    signal.ring()
  }

  /// Wakes the consumer.
  package func wake() { signal.ring() }

  /// Stops the follower once its consumer is done and saved.
  package func stop() {
    shared.withLock { $0.isStopping = true }
    signal.ring()
  }

  /// Follows the journal.
  package func run() async {
    let tap = hub.tap { [weak self] batch in self?.post { Consumer.collect(batch, into: &$0) } }
    await withTaskCancellationHandler {
      await withGracefulShutdownHandler {
        await withTaskExecutorPreference(BackgroundExecutor.followers) { await follow() }
      } onGracefulShutdown: {
        self.stop()
      }
    } onCancel: {
      stop()
    }
    tap.cancel()
  }

  /// Follows while it is on duty, until it is stopped.
  private func follow() async {
    let ring = pages.duty.tap { [signal] in signal.ring() }
    defer { ring.cancel() }
    // One that is stopped before it begins still saves the mail that it has.
    repeat {
      if pages.duty.isOn {
        await followOnDuty()
      } else if !isStopping {
        await signal.wait()
      }
    } while !isStopping
  }

  private var isStopping: Bool { shared.withLock { $0.isStopping } }

  private func followOnDuty() async {
    pages.duty.follows(true)
    defer { pages.duty.follows(false) }
    var access = JournalAccess(pages)
    guard var consumer = await restored(&access) else { return }
    consumer.start { [weak self] message in self?.post(message) }
    await withDiscardingTaskGroup { group in
      var stoppingSince: Timestamp?
      var savedAt = clock.now
      var latest = savedAt
      while true {
        let now = clock.now
        if now < latest - JournalAccess.clockStep {
          savedAt = now
          access.clockWasSetBack()
          consumer.clockWasSetBack()
        }
        latest = now
        let (mail, isStopping) = shared.withLock { shared in
          defer { shared.mail = Consumer.emptyMail }
          return (shared.mail, shared.isStopping || !pages.duty.isOn)
        }
        if isStopping { stoppingSince = stoppingSince ?? now }
        consumer.process(mail, at: now, stoppingSince: stoppingSince)
        let (reads, isCaughtUp) = read(&consumer, &access, at: now)
        for action in consumer.act(at: now, isCaughtUp: isCaughtUp) {
          group.addTask { if let message = await action() { self.post(message) } }
        }
        if let delay = consumer.saveDelay, now >= savedAt + delay, access.isOpen(at: now) {
          savedAt = now
          save(&consumer, &access, at: now)
        }
        let report = consumer.report
        shared.withLock { $0.report = report }
        if consumer.isDone(at: now) { break }
        if consumer.isOverdue(at: now) { group.cancelAll() }
        if reads > 0 { continue }
        let save = consumer.saveDelay.map { max(savedAt + $0, access.heldUntil) }
        let retry = access.isOpen(at: now) ? nil : access.heldUntil
        await wait(until: [consumer.wakeTime(at: now), save, retry].compactMap { $0 }.min())
      }
      group.cancelAll()
    }
    save(&consumer, &access, at: clock.now)
    consumer.end()
  }

  /// Reads the consumer from the journal; waits while that fails, and returns nil if the server stops meanwhile.
  private func restored(_ access: inout JournalAccess) async -> Consumer? {
    while true {
      if let consumer = access.attempt(.read, at: clock.now, { try restore(pages) }) { return consumer }
      while !access.isOpen(at: clock.now) {
        if isStopping || !pages.duty.isOn { return nil }
        await wait(until: access.heldUntil)
      }
    }
  }

  private func read(
    _ consumer: inout Consumer,
    _ access: inout JournalAccess,
    at now: Timestamp
  ) -> (reads: Int, isCaughtUp: Bool) {
    guard access.isOpen(at: now) else { return (0, false) }
    for reads in 0..<Self.maximumReads {
      do {
        guard try consumer.read(from: pages) else { return (reads, true) }
        access.succeeded(.read)
      } catch {
        access.failed(.read, error, at: now)
        return (0, false)
      }
    }
    return (Self.maximumReads, false)
  }

  private func save(_ consumer: inout Consumer, _ access: inout JournalAccess, at now: Timestamp) {
    access.attempt(.save, at: now) { try consumer.save(to: pages.journal) }
  }

  private func wait(until time: Timestamp?) async {
    let cancel = time.map { clock.alarm(at: $0, ring: signal.ring) }
    await signal.wait()
    cancel?()
  }
}

/// Whether this server does what one server of several does alone, such as deliveries; a single server always does.
package final class Duty: Sendable {
  /// The duty of a server that has no others beside it.
  package static let always = Duty(until: nil)

  private struct State {
    /// The end, unless another one is set before; nil for none.
    var end: ContinuousClock.Instant?
    var taps: [Int: @Sendable () -> Void] = [:]
    var next = 0
    /// The number of followers that follow, and have not saved their last state.
    var followers = 0
  }

  private let state: Mutex<State>

  /// Makes a duty that has ended, until it is set.
  package convenience init() { self.init(until: .now) }

  private init(until end: ContinuousClock.Instant?) { state = Mutex(State(end: end)) }

  /// Indicates whether the server is on duty.
  package var isOn: Bool { state.withLock { $0.end.map { .now < $0 } ?? true } }

  /// Sets the end of the duty, which may lie in the past.
  package func set(until end: ContinuousClock.Instant) {
    let taps = state.withLock { state -> [@Sendable () -> Void] in
      let wasOn = state.end.map { .now < $0 } ?? true
      state.end = end
      return wasOn == (.now < end) ? [] : Array(state.taps.values)
    }
    for tap in taps { tap() }
  }

  /// Indicates whether some follower has not saved its last state yet.
  package var isBusy: Bool { state.withLock { $0.followers > 0 } }

  /// Counts a follower while it follows.
  func follows(_ begins: Bool) { state.withLock { $0.followers += begins ? 1 : -1 } }

  /// Ends calls of a function.
  struct Tap: Sendable {
    let cancel: @Sendable () -> Void
  }

  /// Calls a function whenever it begins or ends.
  func tap(_ changed: @escaping @Sendable () -> Void) -> Tap {
    let id = state.withLock { state in
      state.taps[state.next] = changed
      state.next += 1
      return state.next - 1
    }
    return Tap { self.state.withLock { _ = $0.taps.removeValue(forKey: id) } }
  }
}

/// The journal as one follower reads it, page by page.
package struct JournalPages: Sendable {
  /// The journal.
  package let journal: Journal
  /// The logger; its metadata names the follower.
  package let logger: Logger
  /// Whether the follower follows.
  let duty: Duty
  /// The pages that followers share which often read the same; nil for a follower that reads alone.
  var recent: RecentPages<JournalPage>?

  /// Makes the pages of a follower that the log calls `name`.
  package init(_ journal: Journal, logger: Logger, name: String, duty: Duty = .always) {
    (self.journal, self.duty) = (journal, duty)
    var logger = logger
    logger[metadataKey: "follower"] = "\(name)"
    self.logger = logger
  }

  /// Reads the next page after a sequence, or returns nil if the journal has nothing after it.
  ///
  /// Events that retention has removed before they were read are logged.
  package func next(after: Int64, matching filter: EventFilter, limit: Int) throws -> JournalPage? {
    let head = journal.head
    guard head > after else { return nil }
    let key = PageKey(after: after, filter: filter, limit: limit, removals: journal.removals, head: head)
    let page = try recent?[key] ?? journal.page(after: after, matching: filter, limit: limit)
    recent?.keep(page, key)
    if page.missed > 0 {
      logger.warning(
        "The journal's retention removed events before they were delivered.",
        metadata: ["events": "\(page.missed)"]
      )
    }
    return page
  }

  /// Returns the sequence at which a saved cursor continues.
  ///
  /// A cursor beyond the head is of a journal that has lost its newest events since, as a restored copy has. Waiting for the head to
  /// reach the cursor would lose all events in between, so it continues at the head.
  package func resume(_ cursor: Int64) -> Int64 {
    let head = journal.head
    if cursor > head {
      logger.warning(
        "The saved cursor lies beyond the journal, which was restored to an older state. Continuing at its end.",
        metadata: ["cursor": "\(cursor)", "head": "\(head)"]
      )
    }
    return min(cursor, head)
  }
}

/// The times at which a follower may access its journal: after a failure it waits, longer after each further one.
struct JournalAccess {
  enum Operation { case read, save }

  /// The wait after the first failure; it doubles with each further one.
  static let firstPause = TimeSpan.seconds(1)
  /// The longest wait after a failure.
  static let maximumPause = TimeSpan.seconds(8)
  /// The backward step of the wall clock that ends all waits, which would last that much longer otherwise.
  static let clockStep = TimeSpan.seconds(10)

  private let logger: Logger
  /// The time until which the journal is not accessed.
  private(set) var heldUntil = Timestamp.distantPast
  private var pause = JournalAccess.firstPause
  /// The operation whose success ends the failure: a journal that cannot be written may still be read.
  private var failing: Operation?

  init(_ pages: JournalPages) { logger = pages.logger }

  func isOpen(at now: Timestamp) -> Bool { now >= heldUntil }

  mutating func clockWasSetBack() { heldUntil = .distantPast }

  mutating func failed(_ operation: Operation, _ error: any Error, at now: Timestamp) {
    if failing == nil {
      logger.error(
        "Cannot access the journal. Deliveries wait, and the access is retried.",
        metadata: ["reason": "\(error)"]
      )
    }
    failing = operation
    heldUntil = now + pause
    pause = min(pause + pause, JournalAccess.maximumPause)
  }

  mutating func succeeded(_ operation: Operation) {
    guard failing == operation else { return }
    (failing, pause) = (nil, JournalAccess.firstPause)
    logger.notice("The journal can be accessed again. Deliveries continue.")
  }

  @discardableResult
  mutating func attempt<Value>(
    _ operation: Operation,
    at now: Timestamp,
    _ body: () throws -> Value
  ) -> Value? {
    do {
      let value = try body()
      succeeded(operation)
      return value
    } catch {
      failed(operation, error, at: now)
      return nil
    }
  }
}
