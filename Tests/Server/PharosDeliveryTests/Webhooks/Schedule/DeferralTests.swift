import PharosDelivery
import PharosJournal
import PharosModel
import PharosTestSupport
import Testing

/// Deferred deliveries, in virtual time, against the list of all events.
@Suite("Deferred deliveries")
struct DeferralTests {
  private static let rule = DeliveryDeferral(time: .seconds(60))

  /// Events of two subjects, at these seconds.
  private static func events(at seconds: [Double]) -> [JournaledEvent] {
    seconds.enumerated().map { index, second in
      JournaledEvent(
        sequence: Int64(index + 1),
        event: Samples.event(
          subject: index % 2,
          counter: UInt64(index + 1),
          at: Samples.start + .seconds(second)
        )
      )
    }
  }

  @Test(
    "at any split of time and over any orderly stops each event is delivered once, in order, when it is due",
    arguments: Seeds.drawn(1..<33)
  )
  func stops(seed: UInt64) {
    var world = DeferralWorld(seed: seed)
    world.run(stops: 200)
    #expect(world.delivered.values.joined().count == world.events.count, "none twice")
    for sequences in world.delivered.values { #expect(sequences == sequences.sorted()) }
    #expect(Set(world.delivered.values.joined()) == Set(world.events.map(\.sequence)))
    #expect(world.ledger.cursor == Int64(world.events.count) && world.ledger.lanes.isEmpty)
  }

  @Test(
    "after crashes at any moment none is lost, and each comes for the first time in order",
    arguments: Seeds.drawn(1..<33)
  )
  func crashes(seed: UInt64) {
    var world = DeferralWorld(seed: seed)
    world.run(crashes: 200)
    for sequences in world.delivered.values {
      var firsts: [Int64] = []
      for sequence in sequences where !firsts.contains(sequence) { firsts.append(sequence) }
      #expect(firsts == firsts.sorted())
    }
    #expect(Set(world.delivered.values.joined()) == Set(world.events.map(\.sequence)))
  }

  @Test("all that waits is due with the oldest, and what comes later waits again")
  func time() {
    let entries = Self.events(at: [0, 10, 59, 61, 62])
    var schedule = DeliverySchedule(DeliveryLedger(cursor: 0), concurrency: 8, deferral: Self.rule)
    schedule.loadOnward(Array(entries[..<3]), through: 3)
    #expect(schedule.next(at: Samples.start + .seconds(59)) == nil)
    #expect(schedule.wakeTime == Samples.start + .seconds(60))
    let now = Samples.start + .seconds(60)
    #expect(deliver(&schedule, at: now) == [1, 2, 3])
    #expect(schedule.isIdle)
    schedule.loadOnward(Array(entries[3...]), through: 5)
    #expect(deliver(&schedule, at: Samples.start + .seconds(120)) == [])
    #expect(schedule.wakeTime == Samples.start + .seconds(121))
    #expect(deliver(&schedule, at: Samples.start + .seconds(121)) == [4, 5])
  }

  @Test("as many events as may wait are due at once")
  func count() {
    let rule = DeliveryDeferral(time: .minutes(60), maximumCount: 3)
    var schedule = DeliverySchedule(DeliveryLedger(cursor: 0), concurrency: 8, deferral: rule)
    let entries = Self.events(at: [0, 1, 2])
    schedule.loadOnward(Array(entries[..<2]), through: 2)
    #expect(deliver(&schedule, at: Samples.start + .seconds(1)) == [])
    schedule.loadOnward([entries[2]], through: 3)
    #expect(schedule.wakeTime.map { $0 <= Samples.start } == true)
    #expect(deliver(&schedule, at: Samples.start + .seconds(2)) == [1, 2, 3])
  }

  @Test("a subject that has moved gets its own events, and the others wait")
  func movement() {
    let rule = DeliveryDeferral(time: .minutes(60), distance: 20)
    var schedule = DeliverySchedule(DeliveryLedger(cursor: 0), concurrency: 8, deferral: rule)
    schedule.loadOnward(Self.events(at: [0, 1, 2, 3]), through: 4)
    let now = Samples.start + .seconds(4)
    schedule.release(Samples.subject(0), at: now)
    #expect(deliver(&schedule, at: now) == [1, 3])
    #expect(schedule.wakeTime == Samples.start + .seconds(3_601), "the oldest of the others")
  }

  @Test("an event that failed is retried at its own time, and is not deferred again")
  func retry() throws {
    var schedule = DeliverySchedule(DeliveryLedger(cursor: 0), concurrency: 1, deferral: Self.rule)
    let entries = Self.events(at: [0])
    schedule.loadOnward(entries, through: 1)
    let due = Samples.start + .seconds(60)
    schedule.advance(to: due)
    guard case .send(let attempt)? = schedule.next(at: due) else {
      Issue.record("nothing is sent")
      return
    }
    let outcome = DeliveryOutcome.failed(reason: "status 500", retryAfter: .seconds(5))
    #expect(schedule.finish(attempt, outcome, at: due, jitter: 0) == .again(due + .seconds(5)))
    #expect(schedule.wakeTime == due + .seconds(5))
    schedule.advance(to: due + .seconds(5))
    guard case .lane(let lane, _, _)? = schedule.nextLoad() else {
      Issue.record("nothing is read")
      return
    }
    schedule.load(lane, entries)
    #expect(deliver(&schedule, at: due + .seconds(5)) == [1])
  }

  @Test("without its deferral, and after a change of the receiver, a webhook gets at once what waits")
  func ended() {
    var schedule = DeliverySchedule(DeliveryLedger(cursor: 0), concurrency: 8, deferral: Self.rule)
    let entries = Self.events(at: [0, 1, 2, 3])
    schedule.loadOnward(Array(entries[..<2]), through: 2)
    schedule.deferral = nil
    #expect(deliver(&schedule, at: Samples.start + .seconds(1)) == [1, 2])
    schedule.deferral = Self.rule
    schedule.loadOnward(Array(entries[2...]), through: 4)
    #expect(deliver(&schedule, at: Samples.start + .seconds(3)) == [])
    schedule.expedite()
    #expect(deliver(&schedule, at: Samples.start + .seconds(3)) == [3, 4])
  }

  @Test("a dead letter that is delivered once more does not wait")
  func replay() {
    var schedule = DeliverySchedule(
      DeliveryLedger(cursor: 9),
      replays: [Samples.subject(0)],
      concurrency: 1,
      deferral: Self.rule
    )
    guard case .lane(let lane, _, _)? = schedule.nextLoad() else {
      Issue.record("nothing is read")
      return
    }
    schedule.load(lane, Self.events(at: [0]))
    #expect(deliver(&schedule, at: Samples.start) == [1])
  }

  /// Delivers all that is due, and returns its sequences in the order of the requests.
  private func deliver(_ schedule: inout DeliverySchedule, at now: Timestamp) -> [Int64] {
    var sequences: [Int64] = []
    schedule.advance(to: now)
    while case .send(let attempt)? = schedule.next(at: now) {
      sequences.append(attempt.entry.sequence)
      _ = schedule.finish(attempt, .delivered, at: now, jitter: 0)
    }
    return sequences
  }
}

/// A receiver that takes everything, a journal and a clock around one schedule with a drawn deferral.
private struct DeferralWorld {
  let events: [JournaledEvent]
  let deferral: DeliveryDeferral
  let settings: DeliverySettings
  var generator: SeededGenerator
  var schedule: DeliverySchedule
  var ledger = DeliveryLedger(cursor: 0)
  var now = Samples.start
  /// The sequences that were delivered about each topic, in order.
  var delivered: [DeliveryTopic: [Int64]] = [:]
  /// The sequences that were delivered at this moment.
  var batch: Set<Int64> = []

  init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var time = Samples.start
    let (subjects, count) = (Int.random(in: 1...6, using: &generator), 120)
    events = (1...count).map { number in
      // Some come at one instant, some after a pause in which all others are due.
      let gap = Double.random(in: 0..<1, using: &generator)
      time = time + .seconds(gap < 0.3 ? 0 : gap < 0.9 ? gap * 10 : 90)
      let subject = Int.random(in: 0..<subjects, using: &generator)
      return JournaledEvent(
        sequence: Int64(number),
        event: Samples.event(subject: subject, counter: UInt64(number), at: time)
      )
    }
    deferral = DeliveryDeferral(
      time: .seconds(Double.random(in: 1...80, using: &generator)),
      maximumCount: Int.random(in: 1...40, using: &generator)
    )
    var settings = DeliverySettings()
    settings.readAhead = Int.random(in: 4...64, using: &generator)
    settings.laneReadAhead = Int.random(in: 1...8, using: &generator)
    self.settings = settings
    self.generator = generator
    schedule = DeliverySchedule(ledger, concurrency: 2, deferral: deferral, settings: settings)
  }

  private var isDone: Bool {
    Set(delivered.values.joined()).count == events.count && schedule.isIdle
      && schedule.readThrough == Int64(events.count)
  }

  /// Runs until every event is delivered.
  ///
  /// - Parameters:
  ///   - stops: how often, of a thousand requests and steps, an orderly stop and a restart happen.
  ///   - crashes: how often everything since the last save is lost.
  mutating func run(stops: Int = 0, crashes: Int = 0) {
    var steps = 0
    while !isDone, steps < 20_000 {
      steps += 1
      batch = []
      pass(stops: stops, crashes: crashes)
      if Bool.random(using: &generator) { save() }
      check()
      let pause = Double.random(in: 0..<1, using: &generator) * (steps.isMultiple(of: 7) ? 100 : 5)
      now = now + .seconds(pause)
    }
    schedule.separateLanes()
    save()
    #expect(isDone, "events wait without an end")
  }

  /// Reads and sends until nothing is due; at times the server stops or crashes between two requests.
  private mutating func pass(stops: Int, crashes: Int) {
    var isBusy = true
    while isBusy {
      isBusy = false
      schedule.advance(to: now)
      while let load = schedule.nextLoad(), read(load) { isBusy = true }
      while case .send(let attempt)? = schedule.next(at: now) {
        isBusy = true
        if crashes == 0 { checkDue(attempt) }
        delivered[attempt.lane.topic, default: []].append(attempt.entry.sequence)
        batch.insert(attempt.entry.sequence)
        _ = schedule.finish(attempt, .delivered, at: now, jitter: 0)
        let draw = Int.random(in: 0..<1_000, using: &generator)
        guard draw >= max(stops, crashes) else {
          if stops > 0 { stop() } else { restart() }
          break
        }
      }
      if Int.random(in: 0..<1_000, using: &generator) < max(stops, crashes) {
        if stops > 0 { stop() } else { restart() }
        isBusy = true
      }
      if let wake = schedule.wakeTime, wake <= now { isBusy = true }
    }
  }

  private mutating func read(_ load: DeliveryLoad) -> Bool {
    switch load {
    case .onward(let after, let limit):
      let found = events.filter { $0.sequence > after && $0.event.decidedAt <= now }.prefix(limit)
      guard let last = found.last else { return false }
      schedule.loadOnward(Array(found), through: last.sequence)
    case .lane(let lane, let after, let limit):
      let found = events.filter {
        $0.sequence > after && $0.event.decidedAt <= now && DeliveryTopic(of: $0.event) == lane.topic
      }
      schedule.load(lane, Array(found.prefix(limit)))
    }
    return true
  }

  /// An event is sent once the oldest that waits is due, or as many wait as may, and all others of that moment with it.
  private func checkDue(_ attempt: DeliveryAttempt) {
    let before = Set(delivered.values.joined()).subtracting(batch)
    let waiting = events.filter { $0.event.decidedAt <= now && !before.contains($0.sequence) }
    let isDue = waiting.first.map { $0.event.decidedAt + deferral.time <= now } ?? false
    #expect(
      isDue || waiting.count >= deferral.maximumCount,
      "event \(attempt.entry.sequence) is sent too early"
    )
  }

  /// Nothing that is due still waits, and the schedule wakes in time for the next.
  private func check() {
    let known = Set(delivered.values.joined())
    guard let oldest = events.first(where: { $0.event.decidedAt <= now && !known.contains($0.sequence) })
    else { return }
    let due = oldest.event.decidedAt + deferral.time
    #expect(due > now, "event \(oldest.sequence) is due and not sent")
    if oldest.sequence <= schedule.readThrough, !schedule.isIdle {
      #expect(schedule.wakeTime.map { $0 <= due } ?? false, "nothing wakes for event \(oldest.sequence)")
    }
  }

  private mutating func save() {
    guard let update = schedule.drainUpdate(receiver: "test") else { return }
    ledger.cursor = update.cursor
    ledger.delivered = update.delivered
    ledger.lanes.removeAll { lane in
      update.caughtUp.contains(lane.topic) || update.lanes.contains { $0.topic == lane.topic }
    }
    ledger.lanes += update.lanes
  }

  private mutating func stop() {
    schedule.separateLanes()
    save()
    restart()
  }

  private mutating func restart() {
    schedule = DeliverySchedule(ledger, concurrency: 2, deferral: deferral, settings: settings)
  }
}
