import PharosEvents
import PharosJournal
package import PharosReports

extension DeliverySchedule {
  /// What to do at an instant, or nil if there is nothing to do before ``wakeTime`` or the next outcome.
  package mutating func next(at now: Timestamp) -> DeliveryStep? {
    guard !isStopped else { return nil }
    while let (sequence, key) = ready.first {
      guard let lane = lanes[key], lane.state == .ready, let entry = lane.entries.first,
        entry.sequence == sequence
      else {
        _ = ready.removeFirst()
        continue
      }
      let attempt = DeliveryAttempt(lane: key, entry: entry, number: lane.attempts + 1)
      if isGivenUp(attempt, lane, at: now) {
        _ = ready.removeFirst()
        let reason = "nothing of it was taken for \(Int(settings.giveUpAfter.seconds / 3_600)) hours"
        bury(attempt, at: now, tries: lane.attempts, reason: reason)
        return .giveUp(attempt, reason: reason)
      }
      guard maySend(at: now) else { return nil }
      _ = ready.removeFirst()
      lanes[key]?.state = .inFlight
      inFlight += 1
      return .send(attempt)
    }
    return nil
  }

  /// When to come back if nothing else happens before, or nil if only an outcome or a new event can help.
  package var wakeTime: Timestamp? {
    guard !isStopped, !lanes.isEmpty else { return nil }
    if let probeAt { return inFlight == 0 ? max(probeAt, heldUntil) : nil }
    guard inFlight < concurrency else { return nil }
    let due = ready.isEmpty ? waiting.first?.key : heldUntil
    return due.map { max($0, heldUntil) }
  }

  private func maySend(at now: Timestamp) -> Bool {
    guard now >= heldUntil else { return false }
    if let probeAt { return inFlight == 0 && now >= probeAt }
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

  /// Takes the outcome of an attempt.
  ///
  /// - Parameters:
  ///   - attempt: what was sent.
  ///   - outcome: how it ended.
  ///   - now: when it ended.
  ///   - jitter: a random number from 0 up to 1.
  /// - Returns: what becomes of the event.
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
      ready.insert(attempt.lane, at: attempt.entry.sequence)
      isStopped = true
      return .stopped
    case .failed(let reason, let retryAfter):
      return fail(attempt, reason: reason, retryAfter: retryAfter, at: now, jitter: jitter)
    }
  }

  /// An attempt was broken off and says nothing: its event is as if it had not been sent.
  package mutating func abandon(_ attempt: DeliveryAttempt) {
    inFlight -= 1
    lanes[attempt.lane]?.state = .ready
    ready.insert(attempt.lane, at: attempt.entry.sequence)
  }

  /// An event may not be delivered any more: it is done with, and no attempt was made.
  package mutating func discard(_ attempt: DeliveryAttempt) {
    inFlight -= 1
    settled += 1
    if attempt.lane.isReplay { revived.append(attempt.entry.sequence) }
    settle(attempt)
  }

  private mutating func succeed(_ attempt: DeliveryAttempt) {
    delivered += 1
    settled += 1
    failed.removeAll()
    lanes[attempt.lane]?.failingSince = nil
    failingSince = nil
    if isDown {
      (probeAt, probes) = (nil, 0)
      // The receiver is back: the waiting lanes become due at once, without the rest of their backoff.
      while let (at, key) = waiting.removeFirst() { unload(key, waitingUntil: at) }
    }
    if attempt.lane.isReplay { revived.append(attempt.entry.sequence) }
    settle(attempt)
  }

  private mutating func fail(
    _ attempt: DeliveryAttempt,
    reason: String,
    retryAfter: TimeSpan?,
    at now: Timestamp,
    jitter: Double
  ) -> DeliveryVerdict {
    failed.insert(attempt.lane)
    failingSince = failingSince ?? now
    let pause = min(retryAfter ?? .zero, settings.giveUpAfter)
    if retryAfter != nil { heldUntil = max(heldUntil, now + pause) }
    if failed.count >= settings.subjectsUntilDown, inFlight == 0 || !isDown {
      probes += 1
      probeAt = now + max(settings.delay(afterFailures: probes, jitter: jitter), pause)
    }
    guard var lane = lanes[attempt.lane] else { return .dead(reason: reason) }
    let firstTried = lane.firstTried ?? now
    lane.failingSince = lane.failingSince ?? now
    if now - firstTried >= settings.giveUpAfter || isGivenUp(attempt, lane, at: now) {
      lanes[attempt.lane] = lane
      bury(attempt, at: now, tries: attempt.number, reason: reason)
      return .dead(reason: reason)
    }
    let until = now + max(settings.delay(afterFailures: attempt.number, jitter: jitter), pause)
    loadedCount -= lane.entries.count
    lane.entries = []
    lane.after = attempt.lane.isReplay ? 0 : attempt.entry.sequence - 1
    lane.isBehind = true
    flowing.remove(attempt.lane)
    lane.head = attempt.entry.sequence
    lane.attempts = attempt.number
    lane.firstTried = firstTried
    lane.state = .waiting(until: until)
    lanes[attempt.lane] = lane
    waiting.insert(attempt.lane, at: until)
    changedLanes.insert(attempt.lane)
    return .again(until)
  }

  private mutating func bury(_ attempt: DeliveryAttempt, at now: Timestamp, tries: Int, reason: String) {
    settled += 1
    dead.append(
      DeadLetter(
        sequence: attempt.entry.sequence,
        event: attempt.entry.event,
        diedAt: now,
        attempts: tries,
        reason: reason
      )
    )
    settle(attempt)
  }

  /// The first event of a lane is done with; the next one is ready, or has to be looked for.
  private mutating func settle(_ attempt: DeliveryAttempt) {
    guard var lane = lanes[attempt.lane] else { return }
    lane.entries.removeFirst()
    loadedCount -= 1
    lane.after = attempt.lane.isReplay ? 0 : attempt.entry.sequence
    lane.forgetAttempts()
    if let next = lane.entries.first {
      lane.state = .ready
      ready.insert(attempt.lane, at: next.sequence)
      lanes[attempt.lane] = lane
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
