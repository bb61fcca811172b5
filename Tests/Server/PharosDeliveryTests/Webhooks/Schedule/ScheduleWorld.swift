import PharosDelivery
import PharosJournal
import PharosModel
import PharosTestSupport
import Testing

/// A receiver, a journal and a clock, all of them slow and obvious, around one schedule: every step that the schedule
/// takes is checked against what a list of all events says.
struct ScheduleWorld {
  enum Fate: Hashable { case open, flying, waiting(until: Timestamp), delivered, dead }

  let settings: DeliverySettings
  let events: [JournaledEvent]
  let concurrency: Int
  var schedule: DeliverySchedule
  var now = Samples.start
  var generator: SeededGenerator

  /// What became of each event since the last start, by sequence.
  var fates: [Int64: Fate] = [:]
  /// Events that were delivered or given up at any time.
  var everFinished: Set<Int64> = []
  var deaths: [Int64: Int] = [:]
  var attempts: [Int64: [Timestamp]] = [:]
  /// What was sent about each topic since the last start, in order, without repetitions of the same.
  var delivered: [DeliveryTopic: [Int64]] = [:]
  var flying: [(attempt: DeliveryAttempt, ends: Timestamp)] = []
  var ledger: DeliveryLedger
  /// Who has failed since the last success.
  var failed: Set<SubjectID> = []
  var heldUntil = Timestamp.distantPast
  var maximumQueue = 0

  init(
    seed: UInt64,
    settings: DeliverySettings,
    subjects: Int,
    regions: Int = 2,
    count: Int,
    concurrency: Int
  ) {
    self.settings = settings
    self.concurrency = concurrency
    var generator = SeededGenerator(seed: seed)
    events = (1...count).map { number in
      JournaledEvent(
        sequence: Int64(number),
        event: ScheduleWorld.event(
          about: Int.random(in: 0..<subjects, using: &generator),
          without: regions,
          counter: UInt64(number)
        )
      )
    }
    self.generator = generator
    ledger = DeliveryLedger(cursor: 0)
    schedule = DeliverySchedule(ledger, concurrency: concurrency, settings: settings)
  }

  /// The events of the first topics have no subject, and are about a region each.
  private static func event(about number: Int, without regions: Int, counter: UInt64) -> Event {
    guard number < regions else { return Samples.event(subject: number, counter: counter) }
    return Samples.event(about: SubjectID.none, counter: counter, region: "region \(number)")
  }

  /// Runs until every event is settled.
  ///
  /// - Parameters:
  ///   - crashes: how often, of a thousand steps, everything since the last save is lost.
  ///   - stops: how often, of a thousand steps, an orderly stop and a restart happen.
  ///   - outcome: how an attempt ends.
  mutating func run(
    crashes: Int = 0,
    stops: Int = 0,
    outcome: (_ attempt: DeliveryAttempt, _ now: Timestamp, _ generator: inout SeededGenerator) ->
      DeliveryOutcome
  ) {
    var steps = 0
    while steps < 20_000 {
      steps += 1
      schedule.advance(to: now)
      step()
      if Int.random(in: 0..<4, using: &generator) == 0 { save() }
      if crashes > 0, Int.random(in: 0..<1_000, using: &generator) < crashes {
        restart()
        continue
      }
      if stops > 0, Int.random(in: 0..<1_000, using: &generator) < stops {
        stop()
        continue
      }
      if schedule.isIdle, flying.isEmpty, schedule.readThrough == events.last?.sequence { break }
      let next = flying.map(\.ends).min()
      let wake = schedule.wakeTime.map { max($0, now) }
      guard let then = [next, wake].compactMap({ $0 }).min() else {
        Issue.record(
          "nothing further will happen, and \(events.count - everFinished.count) events wait"
        )
        return
      }
      now = max(now, then)
      while let index = flying.indices.first(where: { flying[$0].ends <= now }) {
        land(flying.remove(at: index).attempt, outcome)
      }
    }
    save()
    #expect(steps < 20_000, "it never ends")
    #expect(everFinished.count == events.count)
  }

  /// Whether the receiver is taken to be down.
  private var isDown: Bool { failed.count >= settings.subjectsUntilDown }

  private mutating func step() {
    while true {
      while let step = schedule.next(at: now) {
        switch step {
        case .send(let attempt): launch(attempt)
        case .giveUp(let attempt, _): moveToDeadLetters(attempt.entry.sequence, tries: attempt.number - 1)
        }
      }
      guard let load = schedule.nextLoad() else { break }
      switch load {
      case .onward(let after, let limit):
        let found = events.filter { $0.sequence > after }.prefix(limit)
        guard let last = found.last else { return checkNothingIsLeft() }
        schedule.loadOnward(Array(found), through: last.sequence)
      case .lane(let lane, let after, let limit):
        let found = events.filter { $0.sequence > after && DeliveryTopic(of: $0.event) == lane.topic }
        schedule.load(lane, Array(found.prefix(limit)))
      }
    }
    checkNothingIsLeft()
  }

  /// A topic that may be sent is sent, as long as there is room: one that fails holds back itself alone.
  private func checkNothingIsLeft() {
    guard !schedule.isDown, flying.count < concurrency, now >= heldUntil else { return }
    var seen: Set<DeliveryTopic> = []
    for entry in events where entry.sequence <= schedule.readThrough {
      switch fates[entry.sequence] ?? .open {
      case .delivered, .dead: continue
      case .open:
        if seen.insert(DeliveryTopic(of: entry.event)).inserted {
          Issue.record("event \(entry.sequence) could be sent at \(now.rfc3339) and is not")
        }
      case .flying: seen.insert(DeliveryTopic(of: entry.event))
      case .waiting(let until):
        if seen.insert(DeliveryTopic(of: entry.event)).inserted {
          #expect(until > now, "event \(entry.sequence) is due and not sent")
        }
      }
    }
  }

  private mutating func launch(_ attempt: DeliveryAttempt) {
    let sequence = attempt.entry.sequence
    let earlier = events.first {
      guard DeliveryTopic(of: $0.event) == attempt.lane.topic, $0.sequence < sequence else { return false }
      return ![.delivered, .dead].contains(fates[$0.sequence] ?? .open)
    }
    #expect(earlier == nil, "event \(sequence) overtakes \(earlier?.sequence ?? 0)")
    switch fates[sequence] ?? .open {
    case .open: break
    case .waiting(let until): #expect(until <= now || isDown)
    case .flying, .delivered, .dead:
      Issue.record("event \(sequence) is sent once more: \(fates[sequence] ?? .open)")
    }
    #expect(flying.count < concurrency && now >= heldUntil)
    if isDown { #expect(flying.isEmpty, "a receiver that is down is only probed") }
    fates[sequence] = .flying
    attempts[sequence, default: []].append(now)
    let milliseconds = Int64.random(in: 1...500, using: &generator)
    flying.append((attempt, now + .milliseconds(milliseconds)))
    maximumQueue = max(maximumQueue, flying.count)
  }

  private mutating func land(
    _ attempt: DeliveryAttempt,
    _ outcome: (DeliveryAttempt, Timestamp, inout SeededGenerator) -> DeliveryOutcome
  ) {
    let sequence = attempt.entry.sequence
    let result = outcome(attempt, now, &generator)
    let jitter = Double.random(in: 0..<1, using: &generator)
    let verdict = schedule.finish(attempt, result, at: now, jitter: jitter)
    switch (result, verdict) {
    case (.delivered, .delivered):
      if isDown {
        // The receiver is back, so no event waits for the rest of its delay.
        for (sequence, fate) in fates { if case .waiting = fate { fates[sequence] = .waiting(until: now) } }
      }
      failed = []
      fates[sequence] = .delivered
      everFinished.insert(sequence)
      delivered[attempt.lane.topic, default: []].append(sequence)
    case (.failed(_, let retryAfter), .again(let until)):
      failed.insert(attempt.lane.topic.subject)
      if let retryAfter { heldUntil = max(heldUntil, now + retryAfter) }
      let wait = until - now
      var bound = settings.firstDelay
      for _ in 1..<attempt.number { bound = min(bound + bound, settings.maximumDelay) }
      #expect(wait == max(bound * jitter, retryAfter ?? .zero), "attempt \(attempt.number)")
      fates[sequence] = .waiting(until: until)
    case (.failed, .dead):
      failed.insert(attempt.lane.topic.subject)
      let committed = attempt.entry.event.decidedAt
      #expect(now - committed >= settings.giveUpAfter)
      moveToDeadLetters(sequence, tries: attempt.number)
    default: Issue.record("\(result) gave \(verdict)")
    }
  }

  private mutating func moveToDeadLetters(_ sequence: Int64, tries: Int) {
    fates[sequence] = .dead
    everFinished.insert(sequence)
    deaths[sequence] = tries
  }

  /// Writes down what changed, as the journal does.
  mutating func save() {
    guard let update = schedule.drainUpdate(receiver: "test") else { return }
    ledger.cursor = update.cursor
    ledger.delivered = update.delivered
    ledger.failingSince = update.failingSince
    ledger.lanes.removeAll { lane in
      update.caughtUp.contains(lane.topic) || update.lanes.contains { $0.topic == lane.topic }
    }
    ledger.lanes += update.lanes
  }

  /// Stops in an orderly way and starts again: attempts under way are cancelled, and nothing that was settled is open again.
  mutating func stop() {
    for attempt in flying.map(\.attempt) { schedule.abandon(attempt) }
    schedule.separateLanes()
    save()
    restart()
    for sequence in everFinished.sorted() {
      #expect(fates[sequence] == .delivered, "event \(sequence) was settled and comes again after the stop")
    }
  }

  /// Everything since the last save is lost; what was under way may have arrived or not.
  mutating func restart() {
    schedule = DeliverySchedule(ledger, concurrency: concurrency, settings: settings)
    flying = []
    failed = []
    heldUntil = .distantPast
    delivered = [:]
    fates = [:]
    // What the ledger says is settled stays settled.
    for entry in events where entry.sequence <= ledger.cursor { fates[entry.sequence] = .delivered }
    for lane in ledger.lanes {
      var isFirst = true
      for entry in events where DeliveryTopic(of: entry.event) == lane.topic {
        guard entry.sequence > lane.after else {
          fates[entry.sequence] = .delivered
          continue
        }
        fates[entry.sequence] = isFirst ? .waiting(until: lane.nextAttempt) : .open
        if isFirst, lane.attempts == 0 { attempts[entry.sequence] = nil }
        isFirst = false
      }
    }
    for (sequence, fate) in fates where fate == .delivered || fate == .dead {
      // Nothing may count as settled that never was.
      #expect(everFinished.contains(sequence), "event \(sequence) was lost")
    }
  }
}
