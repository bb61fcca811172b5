import Logging
import PharosDelivery
import PharosJournal
import PharosModel
import PharosPublishing
import PharosSampleEvents
import PharosTestSupport
import Synchronization
import Testing

@Suite("Live streams", .timeLimit(.minutes(20)))
struct FeedServiceTests {
  @Test("each stream carries what its filter names", arguments: [true, false])
  func filters(isLate: Bool) async throws {
    let harness = try FeedHarness()
    let filters: [EventFilter] = [
      .all, EventFilter(subjects: [.observer(.name("a"))]), EventFilter(regions: ["hall", "entrance"]),
      EventFilter(applications: ["other"]), EventFilter(kinds: [.ranging]),
      EventFilter(kinds: [.regionEnter], subjects: [.observer(.name("a")), .observer(.name("b"))]),
    ]
    var events: [Event] = []
    var generator = SeededGenerator(seed: 1)
    for number in 0..<200 {
      events.append(
        Sample.enter(
          number,
          application: ["gallery", "other"].randomElement(using: &generator) ?? "",
          region: ["hall", "entrance", "stairs"].randomElement(using: &generator) ?? "",
          subject: ["a", "b", "c"].randomElement(using: &generator) ?? ""
        )
      )
    }
    events.append(Sample.ranging(200, subject: "a"))
    if isLate { harness.publish(events) }
    let feeds = try filters.map { try harness.feedService.open(FeedRequest(filter: $0, after: 0)) }
    if !isLate { harness.publish(events) }
    for (feed, filter) in zip(feeds, filters) {
      var iterator = feed.makeAsyncIterator()
      let wanted = events.filter { filter.matches($0) && !(isLate && $0.kind == .ranging) }.map(\.number)
      #expect(await harness.numbers(wanted.count, from: &iterator) == wanted)
    }
  }

  @Test(
    "an application's stream gets shared readings once each, whatever its own filter names, and nothing else of others",
    arguments: [
      (EventFilter(applications: ["gallery"]), EventFilter(kinds: [.fix], applications: [""])),
      (
        EventFilter(applications: ["gallery"], subjects: [.observer(.name("a"))]),
        EventFilter(kinds: [.fix], applications: [""], subjects: [.observer(.name("a"))])
      ),
      (
        EventFilter(kinds: [.fix, .ranging], applications: ["gallery"]),
        EventFilter(kinds: [.fix], applications: [""])
      ),
      (EventFilter(regions: ["hall"]), EventFilter(kinds: [.fix], applications: [""])),
    ]
  )
  func shared(filter: EventFilter, shared: EventFilter) async throws {
    let harness = try FeedHarness()
    var generator = SeededGenerator(seed: 3)
    let events = (0..<300).map { number -> Event in
      let subject = ["a", "b"].randomElement(using: &generator) ?? ""
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: return Sample.fix(number, subject: subject)
      case 1: return Sample.ranging(number, subject: subject)
      case 2:
        let region = ["hall", "entrance"].randomElement(using: &generator) ?? ""
        return Sample.enter(number, region: region, subject: subject)
      default: return Sample.enter(number, application: "", subject: subject)
      }
    }
    let feed = try harness.feedService.open(
      FeedRequest(filter: filter, limit: 1_000, application: "gallery", shared: shared)
    )
    harness.publish(events)
    let wanted = events.filter { filter.matches($0) || shared.matches($0) }.map(\.number)
    #expect(wanted.count > 20)
    var iterator = feed.makeAsyncIterator()
    #expect(await harness.numbers(wanted.count, from: &iterator).sorted() == wanted)
    feed.close()
    #expect(await iterator.next() == nil)
  }

  @Test("streams beyond the limit are refused with words, and a closed one makes room")
  func limit() throws {
    let harness = try FeedHarness { $0.feeds = 3 }
    var feeds = try (0..<3).map { _ in try harness.feedService.open(FeedRequest()) }
    let error = #expect(throws: FeedRefusal.tooMany(limit: 3)) { try harness.feedService.open(FeedRequest()) }
    #expect(error?.description.hasPrefix("3 live streams are open") == true)
    #expect(harness.feedService.statistics.refused == 1)
    feeds.removeLast()
    #expect(harness.feedService.statistics.open == 2)
    _ = try harness.feedService.open(FeedRequest())
    harness.feedService.finish()
    #expect(throws: FeedRefusal.stopping) { try harness.feedService.open(FeedRequest()) }
  }

  @Test("a client that takes nothing holds at most its limit and later misses nothing")
  func slow() async throws {
    let harness = try FeedHarness()
    let slow = try harness.feedService.open(FeedRequest(limit: 16))
    let quick = try harness.feedService.open(FeedRequest(limit: 4_096))
    for number in 0..<1_000 {
      harness.publish([Sample.enter(number)])
      #expect(harness.feedService.statistics.waiting <= 16 + number + 1)
    }
    #expect(harness.feedService.statistics.waiting == 16 + 1_000)
    #expect(harness.feedService.statistics.fellBehind == 1)
    var iterator = slow.makeAsyncIterator()
    #expect(await harness.numbers(1_000, from: &iterator) == Array(0..<1_000))
    var quickIterator = quick.makeAsyncIterator()
    #expect(await harness.numbers(1_000, from: &quickIterator) == Array(0..<1_000))
    #expect(harness.feedService.statistics.waiting == 0)
    #expect(harness.feedService.statistics.dropped == 0)
  }

  @Test("all streams together hold at most their limit, and still miss nothing")
  func sharedLimit() async throws {
    let harness = try FeedHarness { $0.waiting = 100 }
    let feeds = try (0..<20).map { _ in try harness.feedService.open(FeedRequest(limit: 64)) }
    for number in 0..<200 { harness.publish([Sample.enter(number)]) }
    #expect(harness.feedService.statistics.waiting <= 100)
    for feed in feeds {
      var iterator = feed.makeAsyncIterator()
      #expect(await harness.numbers(200, from: &iterator) == Array(0..<200))
    }
    #expect(harness.feedService.statistics.waiting == 0)
  }

  @Test("a withdrawal holds for what waits already and for what is read back")
  func withdrawal() async throws {
    let harness = try FeedHarness()
    harness.publish([Sample.enter(0), Sample.enter(1, subject: "gateway")])
    let waiting = try harness.feedService.open(FeedRequest(application: "gallery"))
    let reading = try harness.feedService.open(FeedRequest(after: 0, application: "gallery"))
    harness.publish([Sample.enter(2), Sample.enter(3, subject: "gateway"), Sample.ranging(4)])
    _ = try harness.authorisations.set(
      .denied,
      application: "gallery",
      subject: .observer(.name("handset")),
      by: .local,
      stream: "test",
      at: Timestamp(seconds: 5)
    )
    harness.feedService.finish()
    #expect(await numbers(waiting) == [3])
    let fresh = try FeedHarness(sharing: harness)
    let late = try fresh.feedService.open(FeedRequest(after: 0, application: "gallery"))
    var iterator = late.makeAsyncIterator()
    #expect(await harness.numbers(2, from: &iterator) == [1, 3])
    withExtendedLifetime(reading) {}
  }

  @Test("a stream ends at the tick behind the end of its client's token, without what waits for it")
  func endOfToken() async throws {
    let harness = try FeedHarness()
    let ending = try harness.feedService.open(FeedRequest(client: "token a"))
    let lasting = try harness.feedService.open(FeedRequest(client: "token b"))
    var (lost, kept) = (ending.makeAsyncIterator(), lasting.makeAsyncIterator())
    harness.publish([Sample.enter(1)])
    #expect(await harness.numbers(1, from: &lost) == [1])
    harness.publish([Sample.enter(2)])
    harness.end("token a")
    harness.feedService.tick()
    harness.publish([Sample.enter(3)])
    #expect(await harness.numbers(1, from: &lost).isEmpty)
    #expect(await harness.numbers(3, from: &kept) == [1, 2, 3])
    // A stream that is opened with the token as it ends goes at the next tick.
    var late = try harness.feedService.open(FeedRequest(client: "token a")).makeAsyncIterator()
    harness.feedService.tick()
    #expect(await harness.numbers(1, from: &late).isEmpty)
  }

  @Test("an application is in use while it has a stream open")
  func inUse() throws {
    let harness = try FeedHarness()
    #expect(harness.live.names.isEmpty)
    var feeds = [
      try harness.feedService.open(FeedRequest(application: "a")),
      try harness.feedService.open(FeedRequest(application: "a")),
      try harness.feedService.open(FeedRequest()),
    ]
    #expect(harness.live.names == ["a"])
    feeds.removeFirst()
    #expect(harness.live.names == ["a"])
    feeds.removeAll()
    #expect(harness.live.names.isEmpty)
  }

  @Test("events that could not be delivered are reported to every client as dropped")
  func lost() async throws {
    let harness = try FeedHarness()
    let feeds = try (0..<3).map { _ in try harness.feedService.open(FeedRequest()) }
    harness.lose(12)
    harness.feedService.tick()
    harness.lose(5)
    harness.feedService.tick()
    for feed in feeds {
      var iterator = feed.makeAsyncIterator()
      #expect(await iterator.next() == [.dropped(17)])
    }
  }

  @Test("a silent stream gives heartbeats, and a tick wakes a waiting reader")
  func heartbeat() async throws {
    let harness = try FeedHarness()
    let feed = try harness.feedService.open(FeedRequest())
    async let first = feed.makeAsyncIterator().following()
    harness.advance(by: .seconds(15))
    harness.feedService.tick()
    #expect(await first == [.heartbeat])
  }

  @Test("a journal that cannot be read ends the stream, and says so")
  func unreadable() async throws {
    let harness = try FeedHarness()
    harness.publish([Sample.enter(1)])
    harness.store.refuse(true)
    let feed = try harness.feedService.open(FeedRequest(after: 0))
    #expect(await numbers(feed).isEmpty)
    #expect(harness.feedService.statistics.failedReads == 1)
    #expect(harness.log.lines.contains { $0.contains("Cannot read the journal") })
  }

  @Test("a cancelled client stops waiting")
  func cancellation() async throws {
    let harness = try FeedHarness()
    let feed = try harness.feedService.open(FeedRequest())
    let task = Task { await numbers(feed).count }
    task.cancel()
    #expect(await task.value == 0)
  }

  @Test("events that are pruned before a client comes back are reported as a gap")
  func gap() async throws {
    let harness = try FeedHarness()
    harness.publish((0..<100).map { Sample.enter($0) })
    harness.store.prune(through: 60)
    let feed = try harness.feedService.open(FeedRequest(after: 20))
    var iterator = feed.makeAsyncIterator()
    let items = await iterator.next() ?? []
    #expect(items.first == .gap(from: 21, to: 60))
    #expect(items.count == 41)
  }

  @Test("events that are pruned just before they are read are reported as a gap")
  func pruning() async throws {
    let harness = try FeedHarness { $0.page = 256 }
    harness.publish((0..<100).map { Sample.enter($0) })
    harness.store.contents.withLock { contents in
      contents.beforeRead = { [store = harness.store] in store.prune(through: 60) }
    }
    var iterator = try harness.feedService.open(FeedRequest(after: 20)).makeAsyncIterator()
    let items = await iterator.next() ?? []
    #expect(items.first == .gap(from: 21, to: 60))
    #expect(items.compactMap(\.sequence) == (61...100).map { Int64($0) })
  }

  @Test(
    "a journal that is pruned while it is read gives gaps and events, none of them twice",
    arguments: [1, 5, 13]
  )
  func racing(step: Int64) async throws {
    let harness = try FeedHarness { $0.page = 8 }
    harness.publish((0..<200).map { Sample.enter($0) })
    harness.store.contents.withLock { contents in
      contents.afterRead = { [store = harness.store] in store.prune(through: min(150, store.oldest + step)) }
    }
    var iterator = try harness.feedService.open(FeedRequest(after: 0)).makeAsyncIterator()
    var committed: [Int64] = []
    while committed.last != 200, let items = await iterator.next() {
      for item in items {
        switch item {
        case .gap(let from, let to): committed += from...to
        case .event(let event): committed.append(event.sequence ?? 0)
        default: Issue.record("\(item)")
        }
      }
    }
    #expect(committed == (1...200).map { Int64($0) })
  }
}

extension Feed.Iterator {
  /// The next items of a copy.
  func following() async -> [FeedItem]? {
    var copy = self
    return await copy.next()
  }
}
