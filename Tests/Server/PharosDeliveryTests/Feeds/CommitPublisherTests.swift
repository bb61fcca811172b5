import PharosDelivery
import PharosJournal
import PharosModel
import PharosPublishing
import PharosSampleEvents
import Synchronization
import Testing

@Suite("Narration", .timeLimit(.minutes(20)))
struct CommitPublisherTests {
  @Test("events are published in order, numbered without gaps, and not before they are committed")
  func order() async throws {
    let harness = try CommitPublisherHarness()
    let uncommitted = Mutex(0)
    harness.commitPublisher.committed.tap { [store = harness.store] batch in
      let head = store.head
      for committed in batch where (committed.sequence ?? 0) > head { uncommitted.withLock { $0 += 1 } }
    }
    for start in stride(from: 0, to: 6_000, by: 37) {
      harness.hub.publish((start..<min(6_000, start + 37)).map { Sample.enter($0) })
    }
    let committed = await harness.finish()
    #expect(committed.map(\.event.number) == Array(0..<6_000))
    #expect(committed.map(\.sequence) == (1...6_000).map { $0 })
    #expect(uncommitted.withLock { $0 } == 0)
    #expect(harness.commitPublisher.statistics.committed == 6_000)
    #expect(harness.commitPublisher.statistics.waiting == 0)
  }

  @Test("events that arrive during a commit are committed together")
  func groups() async throws {
    let harness = try CommitPublisherHarness { $0.group = 100 }
    for number in 0..<1_000 { harness.hub.publish([Sample.enter(number)]) }
    let committed = await harness.finish()
    #expect(committed.count == 1_000)
    // The first commit may hold any number; the rest comes in groups of a hundred or by the clock.
    #expect(harness.store.contents.withLock { $0.appends } < 1_000)
  }

  @Test("ranging passes through without a number and without being kept")
  func ranging() async throws {
    let harness = try CommitPublisherHarness()
    harness.hub.publish([Sample.enter(1), Sample.ranging(2), Sample.enter(3), Sample.ranging(4)])
    let committed = await harness.finish()
    #expect(committed.map(\.event.number) == [1, 2, 3, 4])
    #expect(committed.map(\.sequence) == [1, nil, 2, nil])
    #expect(harness.store.contents.withLock { $0.entries.count } == 2)
    #expect(harness.commitPublisher.statistics.passed == 2)
  }

  @Test("while the journal fails, ranging goes on, other events wait, and none is lost or published early")
  func refusal() async throws {
    let harness = try CommitPublisherHarness()
    harness.store.refuse(true)
    var iterator = harness.committed.makeAsyncIterator()
    for number in 0..<10 {
      harness.hub.publish([Sample.enter(number), Sample.ranging(100 + number)])
      let next = await iterator.next()
      #expect(next?.event.number == 100 + number)
    }
    #expect(harness.commitPublisher.statistics.isFailing)
    #expect(harness.commitPublisher.statistics.lastFailure?.contains("disk is full") == true)
    #expect(harness.commitPublisher.statistics.waiting == 10)
    harness.store.refuse(false)
    for number in 0..<10 {
      let next = await iterator.next()
      #expect(next?.event.number == number && next?.sequence == Int64(number + 1))
    }
    await harness.commitPublisher.drain()
    #expect(!harness.commitPublisher.statistics.isFailing)
    #expect(harness.log.lines.count == 2, "\(harness.log.lines)")
    #expect(harness.log.lines.first?.hasPrefix("error: Cannot write to the journal.") == true)
    #expect(harness.log.lines.last == "notice: The journal can be written again.")
  }

  @Test("a full queue asks the server to stop reading, drops no event, and keeps the order")
  func limit() async throws {
    let harness = try CommitPublisherHarness { settings in
      settings.backlog = 1_000
      settings.group = 100
    }
    let hub = harness.hub
    func isFull() -> Bool { hub.isFull.load(ordering: .relaxed) }
    harness.store.refuse(true)
    for number in 0..<999 { hub.publish([Sample.enter(number)]) }
    #expect(!isFull())
    for number in 999..<5_000 { hub.publish([Sample.enter(number)]) }
    #expect(isFull() && harness.commitPublisher.statistics.isFull)
    harness.store.refuse(false)
    let committed = await harness.finish()
    #expect(!isFull())
    #expect(committed.map(\.event.number) == Array(0..<5_000))
    #expect(committed.map(\.sequence) == (1...5_000).map { Int64($0) })
    #expect(harness.commitPublisher.statistics.lost == 0)
  }

  @Test("a server that stops while it cannot write to the journal logs how many events were lost")
  func givingUp() async throws {
    let harness = try CommitPublisherHarness()
    harness.store.refuse(true)
    harness.hub.publish((0..<10).map { Sample.enter($0) })
    let committed = await harness.finish()
    #expect(committed.isEmpty)
    #expect(harness.commitPublisher.statistics.lost == 10)
    #expect(harness.log.lines.contains { $0.contains("Queued events were dropped") })
  }

  @Test("events of other producers are published with the rest")
  func narration() async throws {
    let harness = try CommitPublisherHarness()
    harness.hub.publish([Sample.enter(1)])
    harness.commitPublisher.publish([Sample.enter(2)])
    harness.commitPublisher.publish([])
    let committed = await harness.finish()
    #expect(committed.map(\.event.number) == [1, 2])
  }
}

@Suite("Narration by authorisation", .timeLimit(.minutes(20)))
struct CommitPublisherAuthorisationTests {
  @Test("no event about a person is published, while rows follow; a change of authorisation is published")
  func withheld() async throws {
    let harness = try CommitPublisherHarness()
    harness.declarePerson()
    harness.hub.publish([Sample.enter(1), Sample.enter(2, subject: "gateway"), Sample.ranging(3)])
    await harness.commitPublisher.drain()
    #expect(
      try harness.commitPublisher.authorise(
        .always,
        application: "gallery",
        subject: .observer(.name("handset")),
        by: .local,
        at: Timestamp(seconds: 4)
      )
    )
    harness.hub.publish([Sample.enter(5)])
    let committed = await harness.finish()
    #expect(committed.map(\.event.number) == [2, 4, 5])
    #expect(committed.map(\.event.kind) == [.regionEnter, .authorisationChanged, .regionEnter])
    #expect(committed.map(\.sequence) == [1, 2, 3])
    let entries = harness.store.contents.withLock { $0.entries }
    #expect(entries.map(\.event.number) == [1, 2, 4, 5])
    #expect(entries.map(\.isPublished) == [false, true, true, true])
    #expect(harness.commitPublisher.statistics.withheld == 2)
  }

  @Test("while in use, events go to live streams alone, and only while there are any")
  func whileInUse() async throws {
    let harness = try CommitPublisherHarness()
    harness.declarePerson()
    let handset = SubjectID.observer(.name("handset"))
    try harness.commitPublisher.authorise(
      .whenInUse,
      application: "gallery",
      subject: handset,
      by: .local,
      at: Timestamp(seconds: 1)
    )
    let feedService = FeedService(commitPublisher: harness.commitPublisher, history: harness.store)
    harness.hub.publish([Sample.enter(2)])
    await harness.commitPublisher.drain()
    let feed = try feedService.open(FeedRequest(application: "gallery"))
    let other = try feedService.open(FeedRequest(application: "other"))
    let boss = try feedService.open(FeedRequest())
    harness.hub.publish([Sample.enter(3), Sample.ranging(4), Sample.enter(5, subject: "gateway")])
    let committed = await harness.finish()
    #expect(committed.map(\.event.number) == [1, 3, 4, 5])
    #expect(committed.map(\.sequence) == [1, nil, nil, 2])
    #expect(committed.map(\.isLiveOnly) == [false, true, true, false])
    #expect(await numbers(feed) == [3, 5, 4])
    #expect(await numbers(other) == [5])
    #expect(await numbers(boss) == [5])
    #expect(harness.commitPublisher.gate(to: "gallery").passed(Sample.enter(3)) == nil)
  }
}

@Suite("Checkpoints", .timeLimit(.minutes(20)))
struct CommitPublisherCheckpointTests {
  private func checkpoint(_ second: Int64, before: UInt64) -> CommitPublisherCheckpoint {
    CommitPublisherCheckpoint(
      instant: Timestamp(seconds: second),
      eventsBefore: before,
      encode: { [UInt8(second)] }
    )
  }

  @Test("a checkpoint is kept with the sequence number of the last event that it covers")
  func through() async throws {
    let harness = try CommitPublisherHarness { $0.interval = .zero }
    harness.hub.publish([Sample.enter(1), Sample.ranging(2), Sample.enter(3)])
    harness.commitPublisher.offer(checkpoint(10, before: 3))
    harness.hub.publish([Sample.enter(4)])
    await harness.commitPublisher.drain()
    harness.commitPublisher.publish([Sample.enter(5)])
    harness.commitPublisher.offer(checkpoint(20, before: 4))
    await harness.commitPublisher.drain()
    harness.commitPublisher.offer(checkpoint(30, before: 4))
    await harness.commitPublisher.drain()
    let kept = harness.store.contents.withLock { $0.checkpoints }
    #expect(kept.map(\.through) == [2, 4, 4])
    #expect(kept.map(\.bytes) == [[10], [20], [30]])
    #expect(harness.commitPublisher.statistics.checkpoints == 3)
  }

  @Test(
    "events that the engine decides once more are not committed again, and a checkpoint among them covers no later one"
  )
  func repeated() async throws {
    let events = (1...8).map { Sample.enter($0) }
    let known = Dictionary(uniqueKeysWithValues: (2..<6).map { (events[$0].id, Int64($0) + 1) })
    let harness = try CommitPublisherHarness(known: known) { $0.interval = .zero }
    _ = try harness.store.append(events.prefix(6).map { Journal.Entry(event: $0) })
    harness.hub.publish(Array(events[2..<4]))
    harness.commitPublisher.offer(checkpoint(1, before: 2))
    await harness.commitPublisher.drain()
    harness.hub.publish(Array(events[4..<8]))
    harness.commitPublisher.offer(checkpoint(2, before: 6))
    let committed = await harness.finish()
    #expect(committed.map(\.sequence) == [7, 8])
    #expect(harness.store.contents.withLock { $0.checkpoints.map(\.through) } == [4, 8])
    #expect(harness.store.contents.withLock { $0.events } == events)
  }

  @Test("one that covers less than what is committed already never claims more")
  func late() async throws {
    let harness = try CommitPublisherHarness { settings in
      settings.interval = .zero
      settings.group = 1
    }
    for number in 1...10 {
      harness.hub.publish([Sample.enter(number)])
      await harness.commitPublisher.drain()
    }
    harness.commitPublisher.offer(checkpoint(1, before: 7))
    await harness.commitPublisher.drain()
    #expect(harness.store.contents.withLock { $0.checkpoints.map(\.through) } == [7])
  }

  @Test("a checkpoint that cannot be stored is logged and counted, the next one is stored")
  func failure() async throws {
    let harness = try CommitPublisherHarness()
    harness.store.refuse(true)
    harness.commitPublisher.offer(checkpoint(1, before: 0))
    await harness.commitPublisher.drain()
    harness.store.refuse(false)
    harness.commitPublisher.offer(checkpoint(2, before: 0))
    await harness.commitPublisher.drain()
    #expect(harness.store.contents.withLock { $0.checkpoints.map(\.bytes) } == [[2]])
    #expect(harness.commitPublisher.statistics.failedCheckpoints == 1)
    #expect(harness.log.lines.contains { $0.contains("checkpoint could not be stored") })
  }
}

/// The numbers of the events of a feed that ends.
func numbers(_ feed: Feed) async -> [Int] {
  var numbers: [Int] = []
  for await items in feed {
    for item in items { if case .event(let committed) = item { numbers.append(committed.event.number) } }
  }
  return numbers
}

extension CommitPublisher {
  /// Changes what an application may learn about a subject, and publishes the change.
  @discardableResult
  fileprivate func authorise(
    _ state: AuthorisationState,
    application: String,
    subject: SubjectID,
    by principal: Principal,
    at now: Timestamp
  ) throws(AccessError) -> Bool {
    let event = try authorisations.set(
      state,
      application: application,
      subject: subject,
      by: principal,
      stream: stream,
      at: now
    )
    if let event { publish([event]) }
    return event != nil
  }
}
