import PharosModel
import PharosPublishing
import PharosTestSupport
import Synchronization
import Testing

/// Decisions in batches, for programs that sleep between them.
@Suite("Deferred batches", .timeLimit(.minutes(20)))
struct DeferredEventTests {
  private static func event(_ number: Int, of subject: Int = 0, kind: EventKind = .regionState) -> Event {
    Event(
      stream: "test",
      kind: kind,
      time: Timestamp(seconds: Int64(number)),
      decidedAt: Timestamp(seconds: Int64(number)),
      stage: 1,
      subject: .observer(.name("phone \(subject)")),
      application: "default",
      region: "lobby",
      counter: UInt64(number),
      detail: .region(RegionTransition(from: .unknown, to: .inside, evidence: Evidence(rule: .samples)))
    )
  }

  private static func fix(_ number: Int, of subject: Int = 0, at x: Double) -> Event {
    let detail = FixDetail(
      venue: "museum",
      building: "main",
      x: x,
      horizontalAccuracy: 1,
      sources: .wifi,
      age: .zero
    )
    return Event(
      stream: "test",
      kind: .fix,
      time: Timestamp(seconds: Int64(number)),
      decidedAt: Timestamp(seconds: Int64(number)),
      stage: 2,
      subject: .observer(.name("phone \(subject)")),
      counter: UInt64(number),
      detail: .fix(detail)
    )
  }

  /// The numbers of events, which are their seconds.
  private static func numbers(_ batches: [[Event]]) -> [[Double]] {
    batches.map { batch in batch.map { ($0.time - Timestamp(seconds: 0)).seconds } }
  }

  /// A timer that a test fires.
  private final class FiredTimer: Sendable {
    private let works = Mutex<[@Sendable () -> Void]>([])

    var count: Int { works.withLock { $0.count } }
    var timer: UpdateTimer { { [self] _, work in works.withLock { $0.append(work) } } }

    func fire(_ index: Int) {
      let work = works.withLock { $0[index] }
      work()
    }
  }

  @Test(
    "at any split of time each decision is in one batch, in order for each subject",
    arguments: Seeds.drawn(1..<65)
  )
  func once(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var batches = DeferredBatches(distance: 20, maximumCount: Int.random(in: 1...9, using: &generator))
    var sent: [Event] = []
    var received: [[Event]] = []
    for number in 1...200 {
      let subject = Int.random(in: 0..<4, using: &generator)
      let isFix = Bool.random(using: &generator)
      let place = Double.random(in: 0..<60, using: &generator)
      let event = isFix ? Self.fix(number, of: subject, at: place) : Self.event(number, of: subject)
      sent.append(event)
      received += batches.add([event])
      if Int.random(in: 0..<10, using: &generator) == 0 { received.append(batches.flush()) }
    }
    received.append(batches.flush())
    #expect(batches.isEmpty)
    #expect(received.joined().map(\.time).sorted() == sent.map(\.time))
    for subject in Set(sent.map(\.subject)) {
      let theirs = received.joined().filter { $0.subject == subject }.map(\.time)
      #expect(theirs == theirs.sorted())
    }
  }

  @Test("a batch is due by its number, or for the subject that has moved")
  func due() {
    var batches = DeferredBatches(distance: 20, maximumCount: 5)
    #expect(batches.add([Self.event(1), Self.event(2, of: 1), Self.fix(3, at: 0)]).isEmpty)
    #expect(Self.numbers(batches.add([Self.fix(4, at: 21)])) == [[1, 3, 4]])
    #expect(Self.numbers(batches.add((5...8).map { Self.event($0) })) == [[2, 5, 6, 7, 8]])
    #expect(batches.isEmpty)
  }

  @Test("a subscriber gets what waits when the first of it has waited for the time, and the rest at the end")
  func stream() async {
    let hub = EventHub()
    let timer = FiredTimer()
    let kinds = DeferredBatches(kinds: [.regionState], maximumCount: 100)
    let sequence = hub.deferredEvents(kinds, timeout: .seconds(60), timer: timer.timer).values
    hub.publish([Self.event(1), Self.fix(2, at: 0)])
    hub.publish([Self.event(3)])
    #expect(timer.count == 1, "one timeout for all that waits")
    timer.fire(0)
    hub.publish([Self.event(4)])
    #expect(timer.count == 2)
    timer.fire(0)
    hub.publish([Self.event(5)])
    hub.finish()
    var batches: [[Event]] = []
    for await batch in sequence { batches.append(batch) }
    #expect(Self.numbers(batches) == [[1, 3], [4, 5]], "a timeout that is over ends no later round")
  }
}
