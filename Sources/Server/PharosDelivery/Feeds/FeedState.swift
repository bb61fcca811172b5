import PharosModel
package import PharosPublishing
import Synchronization

/// The state of one client's stream: a value that takes events, returns the next step, and performs no action itself.
///
/// An event with a sequence number is never dropped. It waits in memory up to the limit. Once the limit is reached, the
/// stream accepts no further such events and records where it stopped. When the client has taken the waiting events,
/// the stream reads on from the journal until it reaches the present again. So the events that the client has yet to
/// get are always, in this order: a span of the journal, the waiting events, and, if the stream fell behind, the
/// events of the journal from there.
package struct FeedState {
  /// A span of sequence numbers that is to be read from the journal.
  package struct Span: Equatable {
    /// The sequence number up to which the journal was read.
    package var after: Int64
    /// The last sequence number to read, included.
    package let through: Int64
  }

  /// The next step of the stream.
  package enum Step {
    /// Pass these items to the client.
    case deliver([FeedItem])
    /// Read the first events of this span, then call ``found(_:isLast:oldest:at:)``.
    case read(Span)
    /// Call ``join(published:)``, then ask again.
    case join
    /// Wait for a wake.
    case wait
    /// The stream has ended.
    case end
  }

  private let limit: Int
  /// The span of the journal that comes before all waiting events.
  private(set) var span: Span?
  private var decisions: [PublishedEvent] = []
  private var readings: FeedReadings
  /// The sequence number up to which events were delivered or lie in the span.
  private var acceptsAfter: Int64 = 0
  /// The sequence number after which it stopped taking events, if it has fallen behind.
  private(set) var behindAfter: Int64?
  private var dropped = 0
  /// The numbers of another journal that the client knows, until they are reported.
  private var foreign: ClosedRange<Int64>?
  private var lastGiven: Duration
  private var isHeartbeatDue = false
  /// Indicates whether the stream ends, because the server stops or the stream is closed.
  package var isFinished = false

  package init(request: FeedRequest, at now: Duration) {
    limit = request.limit
    readings = FeedReadings(limit: request.limit, interval: request.interval)
    lastGiven = now
  }

  /// The number of waiting events.
  package var waiting: Int { decisions.count + readings.count }

  /// Begins with the present, or with the events of the journal after a number that the client knows.
  ///
  /// A number beyond the head is of another journal, so everything that this one holds is new to the client.
  package mutating func begin(after: Int64?, published: Int64, head: Int64) {
    if let after, after > head { foreign = head + 1...after }
    behindAfter = after.map { $0 > head ? 0 : max(0, $0) } ?? published
    join(published: published)
  }

  /// Joins the present: events published so far are read from the journal, later ones are taken as they come.
  package mutating func join(published: Int64) {
    guard let after = behindAfter else { return }
    if published > after { span = Span(after: after, through: published) }
    acceptsAfter = max(after, published)
    behindAfter = nil
  }

  /// Takes an event that the filter wants, unless the stream has it already or has ended.
  ///
  /// - Parameters:
  ///   - committed: the event.
  ///   - hasRoom: true if one more event may wait, over all streams.
  /// - Returns: the number of dropped events.
  package mutating func add(_ committed: PublishedEvent, hasRoom: Bool) -> Int {
    guard !isFinished else { return 0 }
    let hasRoomHere = hasRoom && decisions.count < limit
    if let sequence = committed.sequence {
      guard behindAfter == nil, sequence > acceptsAfter else { return 0 }
      if hasRoomHere { decisions.append(committed) } else { behindAfter = sequence - 1 }
      return 0
    }
    var lost = 0
    if !committed.event.kind.isJournalled {
      lost = readings.add(committed, hasRoom: hasRoom)
    } else if behindAfter == nil, hasRoomHere {
      decisions.append(committed)
    } else {
      // What only live streams get has no place in the journal from which to fetch it later.
      lost = 1
    }
    dropped += lost
    return lost
  }

  /// Counts events that were lost before they could be published.
  mutating func lose(_ count: Int) { dropped += count }

  /// Advances the time.
  ///
  /// - Returns: true if an item is due for the client.
  package mutating func advance(to now: Duration, heartbeat: Duration) -> Bool {
    if now - lastGiven >= heartbeat { isHeartbeatDue = true }
    return isReady(at: now)
  }

  /// Returns whether a waiting client should ask again now.
  package func isReady(at now: Duration) -> Bool {
    !decisions.isEmpty || span != nil || behindAfter != nil || isFinished || isHeartbeatDue || dropped > 0
      || foreign != nil
      || readings.isDue(at: now)
  }

  /// Returns the next step.
  package mutating func next(at now: Duration) -> Step {
    var items: [FeedItem] = []
    if dropped > 0 { items.append(.dropped(dropped)) }
    dropped = 0
    if let foreign { items.append(.restart(from: foreign.lowerBound, to: foreign.upperBound)) }
    foreign = nil
    if let span, !isFinished {
      if items.isEmpty { return .read(span) }
      return deliver(items, at: now)
    }
    if span == nil {
      items += decisions.map { .event($0) }
      decisions.removeAll(keepingCapacity: true)
    }
    if readings.isDue(at: now) { items += readings.give(at: now).map { .event($0) } }
    if !items.isEmpty { return deliver(items, at: now) }
    if isFinished { return .end }
    if behindAfter != nil { return .join }
    if isHeartbeatDue { return deliver([.heartbeat], at: now) }
    return .wait
  }

  /// Ends the stream without the waiting events.
  package mutating func revoke() {
    decisions.removeAll()
    readings = FeedReadings(limit: limit, interval: nil)
    (dropped, foreign, span, isFinished) = (0, nil, nil, true)
  }

  /// Takes the events that the journal has of the span.
  ///
  /// - Parameters:
  ///   - events: the first events after the span's beginning that the filter wants, ascending.
  ///   - isLast: true if there are no further ones.
  ///   - oldest: the oldest sequence number that was kept after they were read.
  ///   - now: the time.
  /// - Returns: the items to pass to the client.
  package mutating func found(
    _ events: [PublishedEvent],
    isLast: Bool,
    oldest: Int64,
    at now: Duration
  ) -> [FeedItem] {
    guard let open = span else { return [] }
    var items: [FeedItem] = []
    if oldest > open.after + 1 { items.append(.gap(from: open.after + 1, to: min(oldest - 1, open.through))) }
    // A full page without events was removed while it was read: what follows it is still to be read.
    let reached = isLast ? open.through : max(events.last?.sequence ?? open.after, oldest - 1)
    // What was read a moment before it was pruned is part of the gap, so that numbers never go back.
    for committed in events {
      guard let sequence = committed.sequence, sequence >= oldest, sequence <= open.through else { continue }
      items.append(.event(committed))
    }
    span = reached < open.through ? Span(after: reached, through: open.through) : nil
    if !items.isEmpty { lastGiven = now }
    return items
  }

  private mutating func deliver(_ items: [FeedItem], at now: Duration) -> Step {
    lastGiven = now
    isHeartbeatDue = false
    return .deliver(items)
  }
}

/// The key by which readings are coalesced: a newer event replaces an older one with the same topic.
private struct EventTopic: Hashable, Sendable {
  private let kind: EventKind
  private let application: String
  private let region: String
  private let subject: SubjectID
  /// An observer ranges each of its constraints once a second: they are different things.
  private let constraint: BeaconConstraint?

  /// The topic of an event.
  init(_ event: Event) {
    kind = event.kind
    application = event.application
    region = event.region
    subject = event.subject
    if case .ranging(let constraint, _) = event.detail {
      self.constraint = constraint
    } else {
      constraint = nil
    }
  }
}

/// The readings that wait for one client: all of them, or the newest of each topic.
struct FeedReadings {
  private let limit: Int
  private let interval: Duration?
  private var waiting: [PublishedEvent] = []
  /// The index of the waiting reading of each topic, if readings are coalesced.
  private var places: [EventTopic: Int] = [:]
  /// The time at which readings were last delivered.
  private var lastGiven: Duration?

  init(limit: Int, interval: Duration?) {
    self.limit = limit
    self.interval = interval
  }

  /// The number of waiting readings.
  var count: Int { waiting.count }

  /// Takes a reading.
  ///
  /// - Parameters:
  ///   - reading: the reading.
  ///   - hasRoom: true if one more may wait.
  /// - Returns: the number of dropped readings, this one or older ones.
  mutating func add(_ reading: PublishedEvent, hasRoom: Bool) -> Int {
    guard interval != nil else {
      guard hasRoom else { return 1 }
      waiting.append(reading)
      guard waiting.count > limit else { return 0 }
      // Given up by half, so that a client that takes nothing costs little for each reading.
      let dropped = max(1, limit / 2)
      waiting.removeFirst(dropped)
      return dropped
    }
    let topic = EventTopic(reading.event)
    if let place = places[topic] {
      waiting[place] = reading
      return 0
    }
    guard hasRoom, waiting.count < limit else { return 1 }
    places[topic] = waiting.count
    waiting.append(reading)
    return 0
  }

  /// Returns whether readings are due.
  func isDue(at now: Duration) -> Bool {
    guard !waiting.isEmpty else { return false }
    guard let interval, let lastGiven else { return true }
    return now - lastGiven >= interval
  }

  /// Returns and removes the waiting readings.
  mutating func give(at now: Duration) -> [PublishedEvent] {
    defer {
      waiting.removeAll(keepingCapacity: true)
      places.removeAll(keepingCapacity: true)
      lastGiven = now
    }
    return waiting
  }
}

/// One open stream: its state behind a lock, and the client that waits for it.
final class FeedCore: Sendable {
  private struct Guarded {
    var state: FeedState
    var waiter: CheckedContinuation<Void, Never>?
  }

  /// The identifier.
  let id: UInt64
  /// The request of the client.
  let request: FeedRequest
  private let guarded: Mutex<Guarded>
  private let tally: FeedTally

  init(id: UInt64, request: FeedRequest, tally: FeedTally, at now: Duration) {
    self.id = id
    self.request = request
    self.tally = tally
    guarded = Mutex(Guarded(state: FeedState(request: request, at: now)))
  }

  /// Begins with the present, or after the number that the client knows.
  func begin(published: Int64, head: Int64) {
    guarded.withLock { $0.state.begin(after: request.after, published: published, head: head) }
  }

  /// Joins the present.
  func join(published: Int64) {
    guarded.withLock { $0.state.join(published: published) }
  }

  /// Takes an event that the filter wants.
  func add(_ committed: PublishedEvent) {
    let hasRoom = tally.hasRoom
    let (added, dropped, fellBehind) = guarded.withLock { guarded in
      let before = (guarded.state.waiting, guarded.state.behindAfter == nil)
      let dropped = guarded.state.add(committed, hasRoom: hasRoom)
      return (
        guarded.state.waiting - before.0, dropped, before.1 && guarded.state.behindAfter != nil
      )
    }
    tally.count(waiting: added, dropped: dropped, fellBehind: fellBehind)
  }

  /// Counts events that were lost before they could be published.
  func lose(_ count: Int) { guarded.withLock { $0.state.lose(count) } }

  /// Advances the time and wakes the client if an item is due.
  func advance(to now: Duration, heartbeat: Duration) {
    resume { state in state.advance(to: now, heartbeat: heartbeat) }
  }

  /// Wakes the client if an item is due.
  func wake(at now: Duration) {
    resume { state in state.isReady(at: now) }
  }

  /// Ends the stream.
  func finish() {
    resume { state in
      state.isFinished = true
      return true
    }
  }

  /// Ends the stream without the waiting events: its client may no longer have them.
  func revoke() {
    let dropped = guarded.withLock { guarded in
      let before = guarded.state.waiting
      guarded.state.revoke()
      return before
    }
    tally.count(waiting: -dropped)
    resume { _ in true }
  }

  /// Returns the next step.
  func next(at now: Duration) -> FeedState.Step {
    let (step, added) = guarded.withLock { guarded in
      let before = guarded.state.waiting
      return (guarded.state.next(at: now), guarded.state.waiting - before)
    }
    tally.count(waiting: added)
    return step
  }

  /// Takes the events that the journal has of the span, and returns the items for the client.
  func found(_ events: [PublishedEvent], isLast: Bool, oldest: Int64, at now: Duration) -> [FeedItem] {
    guarded.withLock { $0.state.found(events, isLast: isLast, oldest: oldest, at: now) }
  }

  /// Waits until an item is due by the given clock, or the task is cancelled.
  func wait(_ now: @Sendable () -> Duration) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let due = guarded.withLock { guarded -> CheckedContinuation<Void, Never>? in
          if guarded.state.isReady(at: now()) || Task.isCancelled { return continuation }
          // A second consumer is a mistake; the first one then looks again instead of waiting forever.
          defer { guarded.waiter = continuation }
          return guarded.waiter
        }
        due?.resume()
      }
    } onCancel: {
      resume { _ in true }
    }
  }

  /// Ends the stream and subtracts its waiting events from the shared count.
  func close() {
    let waiting = guarded.withLock { $0.state.waiting }
    tally.count(waiting: -waiting)
    finish()
  }

  private func resume(if isDue: (inout FeedState) -> Bool) {
    let waiter = guarded.withLock { guarded -> CheckedContinuation<Void, Never>? in
      guard isDue(&guarded.state) else { return nil }
      defer { guarded.waiter = nil }
      return guarded.waiter
    }
    waiter?.resume()
  }
}
