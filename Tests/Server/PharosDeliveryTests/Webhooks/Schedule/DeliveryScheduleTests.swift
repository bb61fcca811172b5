import PharosDelivery
import PharosJournal
import PharosModel
import PharosTestSupport
import Testing

/// The schedule of deliveries, in virtual time, against a list of all events.
@Suite("Delivery schedule")
struct DeliveryScheduleTests {
  @Test(
    "a receiver that fails half of the time gets everything, in order for each subject",
    arguments: Seeds.drawn(1..<9)
  )
  func half(seed: UInt64) {
    var world = ScheduleWorld(
      seed: seed,
      settings: DeliverySettings(),
      subjects: 7,
      count: 120,
      concurrency: 4
    )
    world.run { _, _, generator in
      Bool.random(using: &generator) ? .delivered : .failed(reason: "status 500", retryAfter: nil)
    }
    #expect(world.deaths.isEmpty)
    for sequences in world.delivered.values { #expect(sequences == sequences.sorted()) }
    #expect(world.maximumQueue == 4, "the receiver is kept busy")
  }

  @Test(
    "crashes at any moment repeat events but lose none and keep their order",
    arguments: Seeds.drawn(1..<17)
  )
  func crashes(seed: UInt64) {
    var settings = DeliverySettings()
    settings.readAhead = 8
    settings.laneReadAhead = 2
    var world = ScheduleWorld(seed: seed, settings: settings, subjects: 5, count: 120, concurrency: 3)
    world.run(crashes: 40) { _, _, generator in
      Int.random(in: 0..<3, using: &generator) > 0
        ? .delivered : .failed(reason: "status 500", retryAfter: nil)
    }
    for sequences in world.delivered.values { #expect(sequences == sequences.sorted()) }
    #expect(world.ledger.cursor == 120)
    #expect(world.ledger.lanes.isEmpty)
  }

  @Test(
    "an orderly stop at any moment repeats no event that was settled, and loses none",
    arguments: Seeds.drawn(1..<17)
  )
  func stops(seed: UInt64) {
    var settings = DeliverySettings()
    settings.readAhead = 8
    settings.laneReadAhead = 2
    var world = ScheduleWorld(seed: seed, settings: settings, subjects: 5, count: 120, concurrency: 3)
    world.run(stops: 40) { _, _, generator in
      Int.random(in: 0..<3, using: &generator) > 0
        ? .delivered : .failed(reason: "status 500", retryAfter: nil)
    }
    #expect(world.ledger.cursor == 120)
    #expect(world.ledger.lanes.isEmpty)
  }

  @Test("a subject that always fails holds back itself alone, and its events die one by one")
  func poison() {
    var world = ScheduleWorld(seed: 3, settings: DeliverySettings(), subjects: 4, count: 60, concurrency: 4)
    let poisoned = Samples.subject(2)
    world.run { attempt, _, _ in
      attempt.entry.event.subject == poisoned ? .failed(reason: "status 422", retryAfter: nil) : .delivered
    }
    let theirs = world.events.filter { $0.event.subject == poisoned }
    #expect(Set(world.deaths.keys) == Set(theirs.map(\.sequence)))
    #expect(world.deaths[theirs[0].sequence] ?? 0 > 50, "a day of tries")
    let others = world.events.filter { $0.event.subject != poisoned }.compactMap {
      world.attempts[$0.sequence]?.first
    }
    #expect(others.allSatisfy { $0 - Samples.start < .minutes(1) }, "the others did not wait")
  }

  @Test(
    "events without a subject that always fail hold back those of their own region alone",
    arguments: [1, 24]
  )
  func withoutSubject(failing: Int) {
    var world = ScheduleWorld(
      seed: 7,
      settings: DeliverySettings(),
      subjects: 30,
      regions: 26,
      count: 300,
      concurrency: 4
    )
    let poisoned = Set((0..<failing).map { "region \($0)" })
    world.run { attempt, _, _ in
      poisoned.contains(attempt.entry.event.region)
        ? .failed(reason: "status 422", retryAfter: nil) : .delivered
    }
    let (theirs, others) = (
      world.events.filter { poisoned.contains($0.event.region) },
      world.events.filter { !poisoned.contains($0.event.region) }
    )
    #expect(Set(world.deaths.keys) == Set(theirs.map(\.sequence)))
    let firsts = others.compactMap { world.attempts[$0.sequence]?.first }
    #expect(firsts.count == others.count && firsts.allSatisfy { $0 - Samples.start < .minutes(1) })
  }

  @Test("a receiver that is down for hours is only probed, and gets everything when it is back")
  func outage() {
    var world = ScheduleWorld(seed: 4, settings: DeliverySettings(), subjects: 50, count: 400, concurrency: 8)
    let back = Samples.start + .minutes(600)
    world.run { _, now, _ in
      now >= back ? .delivered : .failed(reason: "no connection", retryAfter: nil)
    }
    #expect(world.deaths.isEmpty)
    let tries = world.attempts.values.joined().count { $0 < back }
    #expect(tries < 200, "ten hours of probes, not of a flood: \(tries)")
    let last = world.attempts.values.compactMap(\.last).max() ?? .distantPast
    #expect(last - back < .minutes(17), "all is delivered soon after it is back")
  }

  @Test("a receiver that is down for days loses only what is older than a day")
  func days() {
    var settings = DeliverySettings()
    settings.readAhead = 16
    var world = ScheduleWorld(seed: 5, settings: settings, subjects: 60, count: 200, concurrency: 8)
    let back = Samples.start + .minutes(3 * 24 * 60)
    world.run { _, now, _ in now >= back ? .delivered : .failed(reason: "no connection", retryAfter: nil) }
    // All events are of the first minute, so all are older than a day when the receiver is back.
    #expect(world.deaths.count == 200)
    #expect(world.deaths.values.count { $0 == 0 } > 150, "most were given up without a try of their own")
  }

  @Test("Retry-After is respected, for the whole receiver")
  func retryAfter() {
    var world = ScheduleWorld(seed: 6, settings: DeliverySettings(), subjects: 3, count: 30, concurrency: 1)
    var refused: Timestamp?
    world.run { _, now, _ in
      if refused == nil {
        refused = now
        return .failed(reason: "status 429", retryAfter: .minutes(5))
      }
      return .delivered
    }
    let first = world.attempts.values.joined().sorted().dropFirst().first
    #expect(first == refused.map { $0 + .minutes(5) })
  }

  @Test("after 410 nothing further is sent, and nothing is lost")
  func gone() throws {
    var schedule = DeliverySchedule(DeliveryLedger(cursor: 0), concurrency: 1)
    schedule.loadOnward([JournaledEvent(sequence: 1, event: Samples.event(counter: 1))], through: 1)
    guard case .send(let attempt)? = schedule.next(at: Samples.start) else {
      Issue.record("nothing is sent")
      return
    }
    #expect(schedule.finish(attempt, .gone, at: Samples.start, jitter: 0) == .stopped)
    #expect(schedule.isStopped)
    #expect(schedule.next(at: Samples.start + .minutes(60)) == nil)
    #expect(schedule.wakeTime == nil)
    #expect(schedule.cursor == 0, "the event is still to be delivered")
  }

  @Test("waits double up to a quarter of an hour, and are spread over all that is below")
  func waits() {
    let settings = DeliverySettings()
    let bounds = (1...12).map { settings.delay(afterFailures: $0, jitter: 1) }
    #expect(bounds.prefix(4).map(\.seconds) == [1, 2, 4, 8])
    #expect(bounds.last == .minutes(15))
    #expect(bounds == bounds.sorted())
    #expect(settings.delay(afterFailures: 5, jitter: 0) == .zero)
    #expect(settings.delay(afterFailures: 5, jitter: 0.5) == .seconds(8))
    #expect(settings.delay(afterFailures: .max, jitter: 1) == .minutes(15))
  }

  @Test("statuses mean what Standard Webhooks says")
  func statuses() {
    for status in [200, 201, 202, 204, 299] {
      #expect(DeliveryOutcome(status: status, retryAfter: nil) == .delivered)
    }
    #expect(DeliveryOutcome(status: 410, retryAfter: nil) == .gone)
    for status in [301, 302, 400, 401, 404, 413, 429, 500, 503] {
      guard case .failed(let reason, _) = DeliveryOutcome(status: status, retryAfter: nil) else {
        Issue.record("\(status)")
        continue
      }
      #expect(reason.contains("\(status)"))
    }
  }

  @Test("a retry on request ends the wait and keeps the order")
  func expedite() {
    var schedule = DeliverySchedule(DeliveryLedger(cursor: 0), concurrency: 1)
    let events = (1...3).map {
      JournaledEvent(sequence: Int64($0), event: Samples.event(counter: UInt64($0)))
    }
    schedule.loadOnward(events, through: 3)
    guard case .send(let attempt)? = schedule.next(at: Samples.start) else {
      Issue.record("nothing is sent")
      return
    }
    let outcome = DeliveryOutcome.failed(reason: "status 429", retryAfter: .minutes(30))
    #expect(
      schedule.finish(attempt, outcome, at: Samples.start, jitter: 1) == .again(Samples.start + .minutes(30))
    )
    #expect(schedule.wakeTime == Samples.start + .minutes(30))
    schedule.expedite()
    let lane = DeliveryLane(DeliveryTopic(Samples.subject(1)))
    #expect(schedule.nextLoad() == .lane(lane, after: 0, limit: 16))
    schedule.load(lane, events)
    #expect(
      schedule.next(at: Samples.start) == .send(DeliveryAttempt(lane: lane, entry: events[0], number: 2))
    )
  }
}
