import Logging
import PharosDelivery
import PharosJournal
import PharosModel
import PharosPublishing
import Synchronization
import Testing

/// A consumer that accepts events one page at a time, as long as its receiver takes them, and saves its cursor.
private struct Collector: JournalConsumer {
  struct Mail: Sendable {
    var acknowledged = 0
  }

  /// What the test sees and sets from its own thread.
  final class Outside: Sendable {
    struct State {
      var accepted: [Int64] = []
      var canRestore = true
      var canRead = true
      var canSave = true
      var reads = 0
      var saved: Int64?
      var isStarted = false
    }

    let state = Mutex(State())
    let passes = AsyncStream<Void>.makeStream()

    var accepted: [Int64] { state.withLock { $0.accepted } }

    func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    /// Waits until a condition holds, which is checked after each pass.
    func wait(until condition: (State) -> Bool) async {
      if state.withLock({ condition($0) }) { return }
      for await _ in passes.stream where state.withLock({ condition($0) }) { return }
    }
  }

  static let receiver = "collector"
  static let pageLimit = 4
  static var emptyMail: Mail { Mail() }

  let outside: Outside
  /// The number of events that the receiver takes without an acknowledgement.
  let window: Int
  var cursor: Int64
  var savedCursor: Int64
  var missed: Int64 = 0
  var outstanding = 0
  var isStopping = false

  init(_ outside: Outside, window: Int, _ pages: JournalPages) throws {
    guard outside.state.withLock({ $0.canRestore }) else { throw JournalError(.locked, at: "test") }
    let ledger = try pages.journal.deliveries(to: Collector.receiver)
    self.outside = outside
    self.window = window
    cursor = pages.resume(ledger?.cursor ?? 0)
    savedCursor = cursor
  }

  var report: Int64 { missed }

  func start(_: @escaping @Sendable (@escaping Message) -> Void) { outside.set { $0.isStarted = true } }

  mutating func process(_ mail: Mail, at _: Timestamp, stoppingSince: Timestamp?) {
    isStopping = stoppingSince != nil
    outstanding -= mail.acknowledged
  }

  mutating func read(from pages: JournalPages) throws -> Bool {
    guard outside.state.withLock({ $0.canRead }) else { throw JournalError(.locked, at: "test") }
    guard !isStopping, outstanding < window else { return false }
    guard let page = try pages.next(after: cursor, matching: .all, limit: Collector.pageLimit) else {
      return false
    }
    missed += page.missed
    outstanding += page.events.count
    cursor = page.through
    outside.set { state in
      state.accepted += page.events.map(\.sequence)
      state.reads += 1
    }
    return true
  }

  mutating func act(at _: Timestamp, isCaughtUp _: Bool) -> [Action] {
    outside.passes.continuation.yield()
    return []
  }

  func wakeTime(at _: Timestamp) -> Timestamp? { nil }
  func isDone(at _: Timestamp) -> Bool { isStopping }
  var saveDelay: TimeSpan? { cursor == savedCursor ? nil : .seconds(1) }

  mutating func save(to journal: Journal) throws {
    guard cursor != savedCursor else { return }
    guard outside.state.withLock({ $0.canSave }) else { throw JournalError(.full, at: "test") }
    try journal.save(
      [DeliveryUpdate(receiver: Collector.receiver, cursor: cursor, delivered: cursor)],
      deadLimit: 0
    )
    savedCursor = cursor
    outside.set { $0.saved = cursor }
    outside.passes.continuation.yield()
  }
}

@Suite("The follower of the journal", .timeLimit(.minutes(20)))
struct JournalFollowerTests {
  private let journal: Journal
  private let hub = CommittedEventHub()
  private let clock = StandingClock()
  private let log = RecordedLog()

  init() throws { journal = try Journal.open(.memory, stream: Samples.stream) }

  private func append(_ counters: ClosedRange<UInt64>) throws {
    let events = counters.map { Samples.event(counter: $0) }
    let sequences = try journal.append(events.map { Journal.Entry(event: $0) })
    hub.publish(
      zip(sequences, events).map { PublishedEvent(sequence: $0, event: $1, stream: Samples.stream) }
    )
  }

  private func save(cursor: Int64) throws {
    let update = DeliveryUpdate(receiver: Collector.receiver, cursor: cursor, delivered: cursor)
    try journal.save([update], deadLimit: 0)
  }

  private var savedCursor: Int64? {
    get throws { try journal.deliveries(to: Collector.receiver)?.cursor }
  }

  /// Runs a follower while `body` runs, and returns the number of events that it missed.
  @discardableResult
  private func follow(
    _ outside: Collector.Outside,
    window: Int = .max,
    _ body: (JournalFollower<Collector>) async throws -> Void
  ) async throws -> Int64 {
    let follower = JournalFollower<Collector>(
      JournalPages(journal, logger: Logger(label: "test") { [log] _ in log }, name: "collector"),
      hub: hub,
      clock: clock,
      report: 0
    ) { pages in
      try Collector(outside, window: window, pages)
    }
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await follower.run() }
      try await body(follower)
      follower.stop()
    }
    return follower.report
  }

  @Test("events are handed over in order, once, and the cursor is saved when it is due and at the end")
  func order() async throws {
    let outside = Collector.Outside()
    try append(1...10)
    try await follow(outside) { _ in
      await outside.wait { $0.accepted.count == 10 }
      try append(11...12)
      await outside.wait { $0.accepted.count == 12 }
      #expect(try savedCursor == nil, "the save is not due yet")
      clock.advance(to: clock.now + .seconds(1))
      await outside.wait { $0.saved == 12 }
      try append(13...13)
      await outside.wait { $0.accepted.count == 13 }
    }
    #expect(outside.accepted == Array(1...13))
    #expect(try savedCursor == 13)
    #expect(log.lines.isEmpty)
  }

  @Test("a slow consumer is handed no further page until it asks for one")
  func slow() async throws {
    let outside = Collector.Outside()
    try append(1...100)
    try await follow(outside, window: 8) { follower in
      await outside.wait { $0.accepted.count == 8 }
      for round in 1...11 {
        follower.post { $0.acknowledged += 8 }
        await outside.wait { $0.accepted.count == 8 + 8 * round }
        #expect(outside.state.withLock { $0.reads } == 2 + 2 * round)
      }
    }
    #expect(outside.accepted == Array(1...96))
    #expect(try savedCursor == 96)
  }

  @Test(
    "after a kill between accepting and saving, the events since the last save come again and none is lost"
  )
  func killed() async throws {
    try append(1...9)
    // The state that a killed follower leaves: it has accepted 9 events and saved a cursor of 5.
    try save(cursor: 5)
    let outside = Collector.Outside()
    try await follow(outside) { _ in await outside.wait { $0.accepted.count == 4 } }
    #expect(outside.accepted == [6, 7, 8, 9])
  }

  @Test(
    "while reads fail, they are retried after growing pauses, and the log names the failure and the recovery"
  )
  func failingReads() async throws {
    let outside = Collector.Outside()
    outside.set { $0.canRead = false }
    try append(1...3)
    try await follow(outside) { _ in
      for pause in [1.0, 2, 4, 8, 8] {
        let due = clock.now + .seconds(pause)
        await clock.waitForAlarm(at: due)
        clock.advance(to: due)
      }
      #expect(outside.accepted.isEmpty)
      await clock.waitForAlarm(at: clock.now + .seconds(8))
      outside.set { $0.canRead = true }
      clock.advance(to: clock.now + .seconds(8))
      await outside.wait { $0.accepted.count == 3 }
    }
    #expect(
      log.lines == [
        "error: Cannot access the journal. Deliveries wait, and the access is retried.",
        "notice: The journal can be accessed again. Deliveries continue.",
      ]
    )
  }

  @Test(
    "a journal that can be read but not written is reported once, and the cursor is saved after the recovery"
  )
  func failingSaves() async throws {
    let outside = Collector.Outside()
    outside.set { $0.canSave = false }
    try append(1...3)
    try await follow(outside) { _ in
      await outside.wait { $0.accepted.count == 3 }
      for pause in [1, 1, 2, 4] as [Double] {
        let due = clock.now + .seconds(pause)
        await clock.waitForAlarm(at: due)
        clock.advance(to: due)
      }
      await clock.waitForAlarm(at: clock.now + .seconds(8))
      outside.set { $0.canSave = true }
      clock.advance(to: clock.now + .seconds(8))
      await outside.wait { $0.saved == 3 }
    }
    #expect(log.lines.count == 2, "\(log.lines)")
  }

  @Test("a follower that cannot be restored waits for the journal, and stops at once when the server stops")
  func unreadable() async throws {
    let outside = Collector.Outside()
    outside.set { $0.canRestore = false }
    try append(1...2)
    try await follow(outside) { _ in
      await clock.waitForAlarm(at: clock.now + .seconds(1))
    }
    #expect(outside.accepted.isEmpty)
    outside.set { $0.canRestore = true }
    try await follow(outside) { _ in await outside.wait { $0.accepted.count == 2 } }
  }

  @Test("a cursor beyond a restored journal continues at its end, and the log says so")
  func restored() async throws {
    try append(1...4)
    try save(cursor: 100)
    let outside = Collector.Outside()
    try await follow(outside) { _ in
      await outside.wait { $0.isStarted }
      try append(5...6)
      await outside.wait { $0.accepted.count == 2 }
    }
    #expect(outside.accepted == [5, 6])
    #expect(try savedCursor == 6)
    #expect(log.lines.count == 1 && log.lines[0].contains("restored to an older state"))
  }

  @Test("events that retention has removed are counted and logged, and the rest is handed over")
  func removed() async throws {
    try append(1...20)
    _ = try journal.prune(now: Samples.start + .minutes(60 * 24 * 60))
    #expect(journal.oldest == 21)
    try append(21...22)
    let outside = Collector.Outside()
    let missed = try await follow(outside) { _ in
      await outside.wait { $0.accepted.count == 2 }
    }
    #expect(missed == 20)
    #expect(outside.accepted == [21, 22])
    #expect(log.lines == ["warning: The journal's retention removed events before they were delivered."])
  }

  @Test("a saved lane beyond a restored journal starts again at the journal's end")
  func lanes() {
    var ledger = DeliveryLedger(cursor: 90)
    ledger.lanes = [
      DeliveryLedger.Lane(topic: DeliveryTopic(Samples.subject(1)), after: 20, head: 25, attempts: 3),
      DeliveryLedger.Lane(topic: DeliveryTopic(Samples.subject(2)), after: 80, head: 85, attempts: 3),
    ]
    ledger.rewind(to: 50)
    #expect(ledger.cursor == 50)
    #expect(
      ledger.lanes[0]
        == DeliveryLedger.Lane(topic: DeliveryTopic(Samples.subject(1)), after: 20, head: 25, attempts: 3)
    )
    #expect(ledger.lanes[1] == DeliveryLedger.Lane(topic: DeliveryTopic(Samples.subject(2)), after: 50))
  }
}
