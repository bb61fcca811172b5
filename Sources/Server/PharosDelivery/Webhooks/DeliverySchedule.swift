import HeapModule
package import PharosJournal
package import PharosModel

/// The schedule of deliveries to one receiver: a value without a clock, a socket or random numbers of its own.
///
/// Events of one topic (a subject; where there is none, a region or a zone) are sent one after the other, in order; those of
/// different topics concurrently, as many as the receiver allows. An event that fails holds back only its own topic: the topic's
/// later events are not kept in memory but read from the journal again when they are due. A receiver that fails for many subjects in a row is
/// considered down: it is probed with one event at a time, and all other events wait until it takes one.
///
/// An event is given up a day after its first attempt. If its subject or the whole receiver has failed for a day, it
/// is given up a day after it was decided. So a receiver never stays more than a day behind.
///
/// A receiver that sleeps has a ``DeliveryDeferral``: an event that has not been tried waits with the others until all are
/// due. The rule needs nothing but the events themselves, so a restart continues with it.
///
/// The caller loads what ``nextLoad()`` asks for, carries out the steps that ``next(at:)`` returns, passes outcomes to
/// ``finish(_:_:at:jitter:)``, saves what ``drainUpdate(receiver:)`` returns and calls again at ``wakeTime``.
package struct DeliverySchedule: Sendable {
  /// The state of one lane.
  struct Lane: Sendable {
    enum State: Hashable, Sendable {
      /// Its next events must be read from the journal.
      case unloaded
      /// Its first event can be sent.
      case ready
      /// Its first event waits for the end of the deferral.
      case deferred
      /// Its first event is being sent.
      case inFlight
      /// Its next event is not tried before this instant.
      case waiting(until: Timestamp)
    }

    /// The failed attempts to send one event.
    struct Attempts: Sendable {
      /// The sequence of the event.
      var head: Int64
      var count: Int
      var firstTried: Timestamp
    }

    var state: State
    /// The cursor of a lane that is behind; the others share that of the webhook.
    var after: Int64?
    /// The loaded events, in order.
    var entries: [JournaledEvent] = []
    /// The attempts to send its first event, if there were any.
    var attempts: Attempts?
    /// The time since which every attempt of this lane has failed, for any event.
    var failingSince: Timestamp?
    /// The time up to which its events are no longer deferred, because the subject moved.
    var releasedUntil = Timestamp.distantPast

    /// Indicates whether it has a cursor of its own.
    var isBehind: Bool { after != nil }

    /// The sequence that must have been read before the lane is loaded.
    ///
    /// After a restart, the webhook's cursor may lie before that of a lane. The events in between are read first, so
    /// that a lane ends only where the webhook itself continues with the subject.
    var loadableFrom: Int64 { max(after ?? 0, attempts?.head ?? 0) }
  }

  /// The wait for a receiver that is down.
  struct Probe: Sendable {
    /// The time of the next probe.
    var time: Timestamp
    /// The number of probes, the next one included.
    var number: Int
  }

  let settings: DeliverySettings
  /// The maximum number of events that are sent concurrently.
  package var concurrency: Int
  /// The rule by which events wait for each other, or nil if each is sent at once.
  package var deferral: DeliveryDeferral? {
    didSet { if deferral == nil { endDeferral(of: deferred) } }
  }
  /// Indicates whether the receiver has answered that it accepts no further events.
  package internal(set) var isStopped = false
  /// The time since which every attempt has failed.
  package internal(set) var failingSince: Timestamp?
  /// The number of delivered events.
  package internal(set) var delivered: Int64
  /// The sequence up to which the journal was read.
  package internal(set) var readThrough: Int64

  var lanes: [DeliveryLane: Lane] = [:]
  /// The lanes that have no cursor of their own; few, however many are behind.
  var flowing: Set<DeliveryLane> = []
  /// The lanes whose first event can be sent, by the sequence of that event; entries may be outdated.
  var ready = Heap<QueuedLane<Int64>>()
  /// The lanes that wait, by the time at which they are due; entries may be outdated.
  var waiting = Heap<QueuedLane<Timestamp>>()
  /// The lanes that must be loaded, by the sequence that must have been read before; entries may be outdated.
  var unloaded = Heap<QueuedLane<Int64>>()
  /// The lanes whose first event is deferred.
  var deferred: Set<DeliveryLane> = []
  /// The time up to which events are no longer deferred: that of the last release.
  var releasedUntil = Timestamp.distantPast
  /// The number of deferred events that are not in memory, since the last release.
  var deferredElsewhere = 0
  /// The number of loaded events.
  var loadedCount = 0
  /// The number of events that are being sent.
  package internal(set) var inFlight = 0
  /// The subjects that have failed since the last success: whatever has no subject counts as one.
  var failed: Set<SubjectID> = []
  /// The next probe, if the receiver is down.
  var probe: Probe?
  /// The time until which the receiver asked to get no requests.
  var heldUntil = Timestamp.distantPast

  // What has changed since it was written down.
  var changedLanes: Set<DeliveryLane> = []
  var dead: [DeadLetter] = []
  var revived: [Int64] = []
  var finished = 0
  var writtenCursor: Int64
  var writtenFailingSince: Timestamp?

  /// Restores the schedule from a ledger.
  package init(
    _ ledger: DeliveryLedger,
    replays: [SubjectID] = [],
    concurrency: Int,
    deferral: DeliveryDeferral? = nil,
    settings: DeliverySettings = DeliverySettings()
  ) {
    self.settings = settings
    self.concurrency = concurrency
    self.deferral = deferral
    readThrough = ledger.cursor
    writtenCursor = ledger.cursor
    delivered = ledger.delivered
    failingSince = ledger.failingSince
    writtenFailingSince = ledger.failingSince
    for row in ledger.lanes {
      let key = DeliveryLane(row.topic)
      lanes[key] = Lane(
        state: .waiting(until: row.nextAttempt),
        after: row.after,
        attempts: row.firstTried.map {
          Lane.Attempts(head: row.head, count: row.attempts, firstTried: $0)
        },
        failingSince: row.firstTried
      )
      waiting.insert(QueuedLane(key: row.nextAttempt, lane: key))
    }
    for subject in replays { addReplay(of: subject) }
  }

  /// Indicates whether the receiver is considered down.
  package var isDown: Bool { probe != nil }

  /// The number of lanes that are behind.
  package var behindCount: Int { lanes.count - flowing.count }

  /// Indicates whether no event that was read waits for delivery.
  package var isIdle: Bool { lanes.isEmpty }

  /// Adds a lane that delivers the dead letters of a subject once more.
  package mutating func addReplay(of subject: SubjectID) {
    let key = DeliveryLane(DeliveryTopic(subject), isReplay: true)
    // The client that asks for it expects the receiver to be back: probe it at once.
    probe?.time = .distantPast
    guard lanes[key] == nil else { return }
    lanes[key] = Lane(state: .unloaded, after: 0)
    unloaded.insert(QueuedLane(key: 0, lane: key))
  }

  /// Makes all waiting lanes due at once, because the webhook's definition has changed or the clock was set back.
  package mutating func expedite() {
    heldUntil = .distantPast
    probe?.time = .distantPast
    release(at: .distantPast)
    while let entry = waiting.popMin() { unload(entry) }
  }

  /// Marks a lane as one whose events must be read from the journal.
  mutating func unload(_ key: DeliveryLane) {
    lanes[key]?.state = .unloaded
    unloaded.insert(QueuedLane(key: lanes[key]?.loadableFrom ?? 0, lane: key))
  }
}

extension DeliverySchedule {
  /// Advances the time: lanes whose wait is over must be loaded, and the deferred ones are sent once they are due.
  package mutating func advance(to now: Timestamp) {
    if let releaseTime, releaseTime <= now { release(at: now) }
    while let entry = waiting.min, entry.key <= now {
      waiting.removeMin()
      unload(entry)
    }
    // A receiver that is down is probed when its own time has come, with whatever would be due first.
    guard let probe, probe.time <= now, inFlight == 0, ready.isEmpty else { return }
    while unloaded.isEmpty, let entry = waiting.popMin() { unload(entry) }
  }

  /// Marks a lane as one to load, unless the entry of the heap is outdated.
  mutating func unload(_ entry: QueuedLane<Timestamp>) {
    if lanes[entry.lane]?.state == .waiting(until: entry.key) { unload(entry.lane) }
  }

  /// Returns what to read from the journal now, or nil if there is enough to do.
  ///
  /// Lanes come first: their events have waited longest. Before the lane of a replay is read, the caller must save all
  /// changes.
  package mutating func nextLoad() -> DeliveryLoad? {
    guard !isStopped, ready.count + inFlight < 2 * concurrency else { return nil }
    while let entry = unloaded.min {
      guard let lane = lanes[entry.lane], lane.state == .unloaded, lane.loadableFrom == entry.key,
        let after = lane.after
      else {
        unloaded.removeMin()
        continue
      }
      guard entry.key <= readThrough else { break }
      return .lane(entry.lane, after: after, limit: settings.laneReadAhead)
    }
    guard lanes.count < settings.laneLimit, loadedCount < settings.readAhead else { return nil }
    return .onward(after: readThrough, limit: settings.readAhead - loadedCount)
  }

  /// Adds the next events of the journal.
  ///
  /// - Parameters:
  ///   - events: the next events that the receiver wants, in order.
  ///   - through: the sequence up to which the receiver wants no other events.
  package mutating func loadOnward(_ events: [JournaledEvent], through: Int64) {
    for entry in events {
      let key = DeliveryLane(DeliveryTopic(of: entry.event))
      if let lane = lanes[key] {
        guard !lane.isBehind else {
          let known = lane.entries.last?.sequence ?? 0
          if lane.state == .deferred, entry.sequence > known { deferredElsewhere += 1 }
          continue
        }
        guard lane.entries.count < settings.laneReadAhead else {
          if lane.state == .deferred { deferredElsewhere += 1 }
          flowing.remove(key)
          lanes[key]?.after = (lane.entries.first?.sequence ?? entry.sequence) - 1
          changedLanes.insert(key)
          continue
        }
        lanes[key]?.entries.append(entry)
      } else {
        lanes[key] = Lane(state: .ready, entries: [entry])
        flowing.insert(key)
        makeDue(key)
      }
      loadedCount += 1
    }
    readThrough = max(readThrough, through)
  }

  /// Adds the next events of one lane; a lane without any is removed, since it is no longer behind.
  package mutating func load(_ key: DeliveryLane, _ events: [JournaledEvent]) {
    guard var lane = lanes[key], lane.state == .unloaded else { return }
    let end = max(readThrough, lane.attempts?.head ?? 0)
    lane.entries = key.isReplay ? events : events.filter { $0.sequence <= end }
    guard let first = lane.entries.first else {
      lanes[key] = nil
      changedLanes.insert(key)
      return
    }
    // The journal no longer has the event that was tried: the attempts of the next one are counted from zero.
    if lane.attempts?.head != first.sequence { lane.attempts = nil }
    loadedCount += lane.entries.count
    lanes[key] = lane
    makeDue(key)
  }
}

/// The deferral: the rule about when the first event of a lane is due.
extension DeliverySchedule {
  /// The time at which the deferred events are due; nil if none is deferred.
  var releaseTime: Timestamp? {
    guard let deferral, !deferred.isEmpty else { return nil }
    let waiting = deferred.compactMap { lanes[$0]?.entries }
    guard deferredElsewhere + waiting.reduce(0, { $0 + $1.count }) < deferral.maximumCount else {
      return .distantPast
    }
    return waiting.compactMap(\.first?.event.decidedAt).min().map { $0 + deferral.time }
  }

  /// Makes the deferred events due, and with them all that were decided up to now and are still to be read.
  package mutating func release(at now: Timestamp) {
    guard !deferred.isEmpty else { return }
    let latest = deferred.compactMap { lanes[$0]?.entries.map(\.event.decidedAt).max() }.max()
    releasedUntil = max(now, latest ?? now)
    deferredElsewhere = 0
    endDeferral(of: deferred)
  }

  /// Makes the events about a subject due that were decided up to now, because it has moved.
  package mutating func release(_ subject: SubjectID, at now: Timestamp) {
    for key in deferred where key.topic.subject == subject {
      let latest = lanes[key]?.entries.map(\.event.decidedAt).max()
      lanes[key]?.releasedUntil = max(now, latest ?? now)
      endDeferral(of: [key])
    }
  }

  private mutating func endDeferral(of keys: Set<DeliveryLane>) {
    deferred.subtract(keys)
    for key in keys {
      guard lanes[key]?.state == .deferred, let first = lanes[key]?.entries.first else { continue }
      lanes[key]?.state = .ready
      ready.insert(QueuedLane(key: first.sequence, lane: key))
    }
  }

  /// Makes the first event of a lane ready, or defers it: one that was tried before is not deferred again.
  private mutating func makeDue(_ key: DeliveryLane) {
    guard let lane = lanes[key], let first = lane.entries.first else { return }
    let isDeferred =
      deferral != nil && !key.isReplay && lane.attempts == nil
      && first.event.decidedAt > max(releasedUntil, lane.releasedUntil)
    lanes[key]?.state = isDeferred ? .deferred : .ready
    if isDeferred {
      deferred.insert(key)
    } else {
      ready.insert(QueuedLane(key: first.sequence, lane: key))
    }
  }
}

extension DeliverySchedule {
  /// Returns the step to take at an instant, or nil if there is none before ``wakeTime`` or the next outcome.
  package mutating func next(at now: Timestamp) -> DeliveryStep? {
    guard !isStopped else { return nil }
    while let queued = ready.min {
      let key = queued.lane
      guard let lane = lanes[key], lane.state == .ready, let entry = lane.entries.first,
        entry.sequence == queued.key
      else {
        ready.removeMin()
        continue
      }
      let tries = lane.attempts?.count ?? 0
      let attempt = DeliveryAttempt(lane: key, entry: entry, number: tries + 1)
      if isGivenUp(attempt, lane, at: now) {
        ready.removeMin()
        let reason = "nothing of it was taken for \(Int(settings.giveUpAfter.seconds / 3_600)) hours"
        moveToDeadLetters(attempt, at: now, tries: tries, reason: reason)
        return .giveUp(attempt, reason: reason)
      }
      guard maySend(at: now) else { return nil }
      ready.removeMin()
      lanes[key]?.state = .inFlight
      inFlight += 1
      return .send(attempt)
    }
    return nil
  }

  /// The time to call again if nothing else happens before, or nil if only an outcome or a new event can help.
  package var wakeTime: Timestamp? {
    guard !isStopped, !lanes.isEmpty else { return nil }
    if let probe {
      guard inFlight == 0 else { return nil }
      // Where all events are deferred there is nothing to probe with before they are due.
      let isAllDeferred = ready.isEmpty && waiting.isEmpty && unloaded.isEmpty && !deferred.isEmpty
      let earliest = isAllDeferred ? releaseTime ?? .distantPast : .distantPast
      return max(probe.time, heldUntil, earliest)
    }
    guard inFlight < concurrency else { return nil }
    let due = ready.isEmpty ? [waiting.min?.key, releaseTime].compactMap(\.self).min() : heldUntil
    return due.map { max($0, heldUntil) }
  }

  private func maySend(at now: Timestamp) -> Bool {
    guard now >= heldUntil else { return false }
    if let probe { return inFlight == 0 && now >= probe.time }
    return inFlight < concurrency
  }

  /// Returns whether an event is given up although it has not been tried for a day itself.
  ///
  /// It is given up if every attempt for its subject, or for the whole receiver, has failed for a day and the event
  /// is older than a day. A replayed dead letter is exempt: it is old, and still gets its full day of attempts.
  private func isGivenUp(_ attempt: DeliveryAttempt, _ lane: Lane, at now: Timestamp) -> Bool {
    guard !attempt.lane.isReplay, let since = [lane.failingSince, failingSince].compactMap({ $0 }).min()
    else { return false }
    return now - since >= settings.giveUpAfter && now - attempt.entry.event.decidedAt >= settings.giveUpAfter
  }

  /// Applies the outcome of an attempt.
  ///
  /// - Parameters:
  ///   - attempt: the attempt that ended.
  ///   - outcome: the outcome.
  ///   - now: the time at which it ended.
  ///   - jitter: a random number from 0 up to 1.
  /// - Returns: the decision on the event.
  package mutating func finish(
    _ attempt: DeliveryAttempt,
    _ outcome: DeliveryOutcome,
    at now: Timestamp,
    jitter: Double
  ) -> DeliveryVerdict {
    inFlight -= 1
    switch outcome {
    case .delivered:
      succeed(attempt)
      return .delivered
    case .gone:
      lanes[attempt.lane]?.state = .ready
      ready.insert(QueuedLane(key: attempt.entry.sequence, lane: attempt.lane))
      isStopped = true
      return .stopped
    case .failed(let reason, let retryAfter):
      return fail(attempt, reason: reason, retryAfter: retryAfter, at: now, jitter: jitter)
    }
  }

  /// Makes an event ready again whose attempt was cancelled and has no outcome.
  package mutating func abandon(_ attempt: DeliveryAttempt) {
    inFlight -= 1
    lanes[attempt.lane]?.state = .ready
    ready.insert(QueuedLane(key: attempt.entry.sequence, lane: attempt.lane))
  }

  /// Settles an event that may no longer be delivered, without an attempt.
  package mutating func discard(_ attempt: DeliveryAttempt) {
    inFlight -= 1
    finished += 1
    if attempt.lane.isReplay { revived.append(attempt.entry.sequence) }
    finish(attempt)
  }

  private mutating func succeed(_ attempt: DeliveryAttempt) {
    delivered += 1
    finished += 1
    failed.removeAll()
    lanes[attempt.lane]?.failingSince = nil
    failingSince = nil
    if isDown {
      probe = nil
      // The receiver is back: the waiting lanes become due at once, without the rest of their backoff.
      while let entry = waiting.popMin() { unload(entry) }
    }
    if attempt.lane.isReplay { revived.append(attempt.entry.sequence) }
    finish(attempt)
  }

  private mutating func fail(
    _ attempt: DeliveryAttempt,
    reason: String,
    retryAfter: TimeSpan?,
    at now: Timestamp,
    jitter: Double
  ) -> DeliveryVerdict {
    failed.insert(attempt.lane.topic.subject)
    failingSince = failingSince ?? now
    let pause = min(retryAfter ?? .zero, settings.giveUpAfter)
    if retryAfter != nil { heldUntil = max(heldUntil, now + pause) }
    if failed.count >= settings.subjectsUntilDown, inFlight == 0 || !isDown {
      let number = (probe?.number ?? 0) + 1
      let delay = settings.delay(afterFailures: number, jitter: jitter)
      probe = Probe(time: now + max(delay, pause), number: number)
    }
    guard var lane = lanes[attempt.lane] else { return .dead(reason: reason) }
    let firstTried = lane.attempts?.firstTried ?? now
    lane.failingSince = lane.failingSince ?? now
    if now - firstTried >= settings.giveUpAfter || isGivenUp(attempt, lane, at: now) {
      lanes[attempt.lane] = lane
      moveToDeadLetters(attempt, at: now, tries: attempt.number, reason: reason)
      return .dead(reason: reason)
    }
    let until = now + max(settings.delay(afterFailures: attempt.number, jitter: jitter), pause)
    loadedCount -= lane.entries.count
    lane.entries = []
    lane.after = attempt.lane.isReplay ? 0 : attempt.entry.sequence - 1
    flowing.remove(attempt.lane)
    lane.attempts = Lane.Attempts(
      head: attempt.entry.sequence,
      count: attempt.number,
      firstTried: firstTried
    )
    lane.state = .waiting(until: until)
    lanes[attempt.lane] = lane
    waiting.insert(QueuedLane(key: until, lane: attempt.lane))
    changedLanes.insert(attempt.lane)
    return .again(until)
  }

  private mutating func moveToDeadLetters(
    _ attempt: DeliveryAttempt,
    at now: Timestamp,
    tries: Int,
    reason: String
  ) {
    finished += 1
    dead.append(
      DeadLetter(
        sequence: attempt.entry.sequence,
        event: attempt.entry.event,
        diedAt: now,
        attempts: tries,
        reason: reason
      )
    )
    finish(attempt)
  }

  /// Removes the first event of a lane, which is settled; the next one becomes ready, or must be loaded.
  private mutating func finish(_ attempt: DeliveryAttempt) {
    guard var lane = lanes[attempt.lane] else { return }
    lane.entries.removeFirst()
    loadedCount -= 1
    if lane.isBehind { lane.after = attempt.lane.isReplay ? 0 : attempt.entry.sequence }
    lane.attempts = nil
    if !lane.entries.isEmpty {
      lanes[attempt.lane] = lane
      makeDue(attempt.lane)
    } else if lane.isBehind {
      lanes[attempt.lane] = lane
      unload(attempt.lane)
    } else {
      lanes[attempt.lane] = nil
      flowing.remove(attempt.lane)
    }
    if lane.isBehind { changedLanes.insert(attempt.lane) }
  }
}

extension DeliverySchedule {
  /// The sequence up to which every event is settled, except those of lanes that are behind.
  package var cursor: Int64 {
    var lowest = Int64.max
    for key in flowing {
      if let first = lanes[key]?.entries.first { lowest = min(lowest, first.sequence) }
    }
    return lowest == .max ? readThrough : lowest - 1
  }

  /// The number of changes since the last save: settled events and changed lanes.
  package var changeCount: Int { finished + changedLanes.count }

  /// Indicates whether there are unsaved changes that a restart must know.
  ///
  /// A cursor that has moved only over events that the receiver does not want is saved too, but not alone and not at
  /// once.
  package var isChanged: Bool {
    changeCount > 0 || !dead.isEmpty || !revived.isEmpty || failingSince != writtenFailingSince
  }

  /// Indicates whether the cursor differs from the saved one.
  package var isCursorMoved: Bool { cursor != writtenCursor }

  /// Gives each subject with unsettled events a cursor of its own, so that the next update contains every settled event.
  ///
  /// Otherwise the common cursor stands before the oldest unsettled event, which takes no row for each subject; after a
  /// kill, events behind it that were delivered are delivered once more. An orderly stop must repeat none of them.
  package mutating func separateLanes() {
    for key in flowing {
      guard let first = lanes[key]?.entries.first else { continue }
      lanes[key]?.after = first.sequence - 1
      changedLanes.insert(key)
    }
    flowing.removeAll()
  }

  /// Returns the unsaved changes and marks them as saved.
  ///
  /// - Parameter receiver: the identifier of the webhook.
  /// - Returns: the changes, or nil if there are none.
  package mutating func drainUpdate(receiver: String) -> DeliveryUpdate? {
    let cursor = cursor
    guard isChanged || cursor != writtenCursor else { return nil }
    var update = DeliveryUpdate(
      receiver: receiver,
      cursor: cursor,
      delivered: delivered,
      failingSince: failingSince
    )
    for key in changedLanes where !key.isReplay {
      guard let lane = lanes[key], let after = lane.after else {
        update.caughtUp.append(key.topic)
        continue
      }
      var row = DeliveryLedger.Lane(
        topic: key.topic,
        after: after,
        head: lane.attempts?.head ?? 0,
        attempts: lane.attempts?.count ?? 0,
        firstTried: lane.attempts?.firstTried
      )
      if case .waiting(let until) = lane.state { row.nextAttempt = until }
      update.lanes.append(row)
    }
    update.lanes.sort { $0.topic < $1.topic }
    update.caughtUp.sort()
    update.dead = dead
    update.revived = revived
    changedLanes.removeAll(keepingCapacity: true)
    dead.removeAll()
    revived.removeAll()
    finished = 0
    writtenCursor = cursor
    writtenFailingSince = failingSince
    return update
  }
}

extension DeliverySchedule {
  /// Removes the undelivered events of a subject that was erased from the journal.
  ///
  /// An event that is being sent at this moment is sent, but neither retried nor saved.
  package mutating func forget(_ traces: SubjectTraces) {
    for (key, lane) in lanes where traces.contains(key.topic.subject) {
      loadedCount -= lane.entries.count
      lanes[key] = nil
      flowing.remove(key)
      deferred.remove(key)
      failed.remove(key.topic.subject)
      changedLanes.remove(key)
    }
    dead.removeAll { traces.contains($0.event.subject) }
  }
}

/// A lane in a queue, which returns the lane with the lowest key first.
struct QueuedLane<Key: Comparable & Sendable>: Comparable, Sendable {
  /// The sequence or the time that the lane waits for.
  let key: Key
  /// The lane.
  let lane: DeliveryLane

  static func < (left: QueuedLane, right: QueuedLane) -> Bool { left.key < right.key }
}
