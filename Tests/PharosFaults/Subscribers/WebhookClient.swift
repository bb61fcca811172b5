import PharosDelivery
import PharosJournal
import PharosModel
import PharosSimulation

/// A receiver of a webhook, and each run's deliveries to it: the real schedule over the real journal.
///
/// It reads, sends and saves as `WebhookWork` of PharosDelivery does, by the world's clock. The receiver answers late, fails before
/// or after it has taken an event, and is gone for a while.
final class WebhookClient {
  private static let name = "webhook"
  private static let step = 0.1
  private static let saveInterval = TrueTime.seconds(0.2)

  private unowned let world: FaultWorld
  private var random: RandomStream
  private var schedule: DeliverySchedule?
  private var unsaved: (update: DeliveryUpdate, finished: Set<Int64>)?
  private var savedAt: TrueTime = 0
  private var isDownUntil: TrueTime = 0
  /// The events that the receiver has, and the newest of each topic.
  private var received: [Int64: Event] = [:]
  private var newest: [DeliveryTopic: Int64] = [:]
  /// The events that are settled in this run, and those of which the journal knows that.
  private var finished: Set<Int64> = []
  private var kept: Set<Int64> = []
  /// The events that the authorisations withheld.
  private var withheld: Set<Int64> = []

  init(in world: FaultWorld) {
    self.world = world
    random = RandomStream(seed: world.plan.seed, 11)
  }

  private var now: Timestamp { Timestamp(nanoseconds: world.clockwork.now) }
  private var fails: Bool { world.isTroubled && world.plan.kinds.contains(.receiver) }

  /// A run begins.
  func begin(_ life: Life) { next(life) }

  /// The run is over: what it knew and the journal does not is gone.
  func endRun() {
    schedule = nil
    unsaved = nil
    finished = []
  }

  /// The receiver is gone for a while.
  func fail(for duration: TrueTime) { isDownUntil = world.clockwork.now + duration }

  private func next(_ life: Life) {
    world.clockwork.after(.seconds(WebhookClient.step), owner: life.number) {
      [weak self, weak life] in
      guard let self, let life else { return }
      if !life.isPaused { work(life) }
      next(life)
    }
  }

  private func work(_ life: Life) {
    do {
      if schedule == nil {
        let ledger =
          try life.journal.deliveries(to: WebhookClient.name) ?? DeliveryLedger(cursor: 0)
        var settings = DeliverySettings()
        // Half an hour of quiet has to be enough.
        settings.maximumDelay = .seconds(20)
        schedule = DeliverySchedule(ledger, concurrency: 4, settings: settings)
      }
      schedule?.advance(to: now)
      for _ in 0..<16 {
        while case .send(let attempt)? = schedule?.next(at: now) { send(attempt, life) }
        guard try load(life) else { break }
      }
      if world.clockwork.now - savedAt >= WebhookClient.saveInterval { try save(life) }
    } catch {
      world.trace("the webhook waits for the journal: \(error)")
    }
  }

  private func load(_ life: Life) throws -> Bool {
    guard let load = schedule?.nextLoad() else { return false }
    switch load {
    case .onward(let after, let limit):
      let head = life.journal.head
      guard head > after else { return false }
      let events = try life.journal.events(after: after, limit: limit)
      let last = events.last?.sequence ?? head
      schedule?.loadOnward(events, through: events.count == limit ? last : max(head, last))
    case .lane(let lane, let after, let limit):
      let filter = lane.topic.narrowing(.all)
      let events = try life.journal.events(after: after, matching: filter, limit: limit)
      schedule?.load(lane, events)
    }
    return true
  }

  private func save(_ life: Life) throws {
    savedAt = world.clockwork.now
    if unsaved == nil, let update = schedule?.drainUpdate(receiver: WebhookClient.name) {
      unsaved = (update, finished)
    }
    guard let (changes, finished) = unsaved else { return }
    var update = changes
    if world.plant == .savesCursorOfSent { update.cursor = schedule?.readThrough ?? update.cursor }
    try life.journal.save([update], deadLimit: 100)
    guard world.life === life else { return }
    // What is settled beyond the cursor is sent again after a kill.
    kept.formUnion(finished.filter { $0 <= changes.cursor })
    unsaved = nil
  }

  private func send(_ attempt: DeliveryAttempt, _ life: Life) {
    let entry = attempt.entry
    let gate =
      world.plant == .webhookWithoutGate
      ? .open : life.authorisations.view.gate(to: nil, isLive: false)
    guard let event = gate.passed(entry.event) else {
      withheld.insert(entry.sequence)
      schedule?.discard(attempt)
      return
    }
    if finished.contains(entry.sequence) || kept.contains(entry.sequence) {
      world.violate(.receiver, "the webhook is sent \(entry.sequence) again although it has answered")
    }
    if world.consents.isLeak(event, since: world.clockwork.now) {
      world.violate(.leak, "the webhook sends \(event.kind) of \(event.subject), who is hidden")
    }
    let isDown = world.clockwork.now < isDownUntil
    let isLost = isDown || fails && random.chance(0.05)
    let isUnanswered = fails && random.chance(0.05)
    let latency = TrueTime.seconds(fails ? random.uniform(0.005, 1) : 0.005)
    if !isLost {
      world.clockwork.after(latency) { [weak self] in self?.receive(entry.sequence, event) }
    }
    let isAccepted = !isLost && !isUnanswered
    world.clockwork.after(2 * latency, owner: life.number) { [weak self] in
      guard let self else { return }
      let outcome =
        isAccepted ? DeliveryOutcome.delivered : .failed(reason: "no answer", retryAfter: nil)
      _ = schedule?.finish(attempt, outcome, at: now, jitter: random.uniform(0, 1))
      if isAccepted { finished.insert(entry.sequence) }
    }
  }

  private func receive(_ sequence: Int64, _ event: Event) {
    guard received.updateValue(event, forKey: sequence) == nil else { return }
    let topic = DeliveryTopic(of: event)
    if let newest = newest[topic], newest > sequence {
      world.violate(
        .receiver,
        "the webhook is sent \(sequence) of \(event.subject) behind \(newest)"
      )
    }
    newest[topic] = max(newest[topic] ?? 0, sequence)
  }

  /// Returns whether every event up to one has been delivered.
  func isDone(through head: Int64) -> Bool {
    guard let schedule else { return false }
    return schedule.isIdle && schedule.readThrough >= head
  }

  /// Holds what the receiver has against the journal.
  ///
  /// - Parameters:
  ///   - journal: all events.
  ///   - head: the newest event that must have been delivered.
  func check(against journal: [JournaledEvent], through head: Int64) {
    for entry in journal where entry.sequence <= head && !withheld.contains(entry.sequence) {
      guard let event = received[entry.sequence] else {
        return world.violate(.receiver, "the webhook was never sent \(entry.sequence)")
      }
      guard event.isPublished(like: entry.event) else {
        return world.violate(
          .receiver,
          "the webhook was sent another \(entry.sequence) than the journal has"
        )
      }
    }
  }
}
