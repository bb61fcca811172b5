import GRDB
import PharosJournal
import PharosModel
import Testing

@Suite("Retention of the journal")
struct JournalRetentionTests {
  private func journal(_ location: Journal.Location = .memory, _ settings: JournalSettings) throws -> Journal
  {
    try Journal.open(location, stream: Timeline.stream, settings: settings, blocks: Blocks(bits: 6))
  }

  private func state(_ subject: Int, _ to: RegionState, at second: Int) -> Journal.Entry {
    let transition = RegionTransition(from: .unknown, to: to, evidence: Evidence(rule: .samples))
    let event = Event(
      stream: Timeline.stream,
      kind: .regionState,
      time: Timestamp(seconds: Int64(second)),
      decidedAt: Timestamp(seconds: Int64(second)),
      stage: 1,
      subject: .observer(.name("handset \(subject)")),
      application: "gallery",
      region: "hall",
      counter: UInt64(second),
      detail: .region(transition)
    )
    return .init(event: event)
  }

  @Test("no event and no summary that is kept lies before the earliest time, and what is dropped moves it")
  func earliest() throws {
    let journal = try journal(.memory, JournalSettings(maximumAge: .seconds(1_000), maximumBytes: .max))
    #expect(try journal.earliestTime() == nil)
    _ = try journal.append((1...9_000).map { state($0 % 50, .inside, at: $0) })
    #expect(try journal.earliestTime() == Timestamp(seconds: 1))
    _ = try journal.prune(now: Timestamp(seconds: 6_001))
    let earliest = try #require(try journal.earliestTime())
    let first = try #require(try journal.events(after: 0, limit: 1).first?.event.time)
    #expect(earliest <= first && first - earliest < TimeSpan.seconds(65_536))
    var sample = HistorySample(minute: HistoryMinute(60))
    sample.places[.zone("lobby")] = PlaceMinute(inside: 1, unmonitored: 0)
    try journal.record(sample)
    #expect(try journal.earliestTime() == min(earliest, HistoryMinute(60).start))
  }

  @Test(
    "events above the age are removed up to the first younger one; the sequence stays, and others are found"
  )
  func age() throws {
    let folder = ScratchFolder()
    let settings = JournalSettings(maximumAge: .seconds(1_000), maximumBytes: .max)
    do {
      let journal = try journal(.folder(folder.path), settings)
      _ = try journal.append((1...9_000).map { state($0 % 50, .inside, at: $0) })
      #expect(try journal.prune(now: Timestamp(seconds: 1_000)) == Pruned())
      let pruned = try journal.prune(now: Timestamp(seconds: 6_001))
      #expect(pruned.events == 5_000)
      #expect(pruned.heldBack == 0)
      #expect(journal.oldest == 5_001)
      #expect(journal.head == 9_000)
      #expect(journal.statistics().pruned == 5_000)
      #expect(try journal.event(5_000) == nil)
      #expect(try journal.event(5_001)?.event.time == Timestamp(seconds: 5_001))
      let one = EventFilter(subjects: [.observer(.name("handset 7"))])
      let found = try journal.events(after: 0, matching: one, limit: .max)
      #expect(found.map(\.sequence) == (5_001...9_000).filter { $0 % 50 == 7 })
      let back = try journal.events(before: .max, matching: one, limit: .max)
      #expect(back.reversed().map(\.sequence) == found.map(\.sequence))
      let left = try journal.read { try Int.fetchOne($0, sql: "SELECT min(block) FROM postings") }
      #expect(left == 5_001 >> 6)
      #expect(try journal.prune(now: Timestamp(seconds: 1_000_000)).events == 4_000)
      #expect(journal.oldest == 9_001)
    }
    let journal = try journal(.folder(folder.path), settings)
    #expect(journal.head == 9_000)
    #expect(journal.oldest == 9_001)
    #expect(try journal.events(after: 0, limit: 10).isEmpty)
    #expect(try journal.append([state(1, .outside, at: 1_000_001)]) == [9_001])
    #expect(try journal.events(after: 0, limit: 10).map(\.sequence) == [9_001])
  }

  @Test("rows that say gone go with their events, those that say inside stay; unused names go")
  func rows() throws {
    let journal = try journal(.memory, JournalSettings(maximumAge: .seconds(100), maximumBytes: .max))
    _ = try journal.append((0..<200).map { state($0, $0 % 2 == 0 ? .inside : .outside, at: 1_000 + $0) })
    _ = try journal.append((200..<300).map { _ in state(0, .inside, at: 5_000) })
    let pruned = try journal.prune(now: Timestamp(seconds: 5_001))
    #expect(pruned.events == 200)
    #expect(pruned.rows == 100)
    // The names of the last five are used in a block of which some events are kept.
    #expect(pruned.names == 95)
    let committed = try journal.publishedState()
    #expect(committed.regions.count == 100)
    #expect(committed.regions.allSatisfy { $0.state == .inside })
    // A name that went and comes again is as good as new.
    _ = try journal.append([state(1, .inside, at: 5_002)])
    let found = try journal.events(
      after: 0,
      matching: EventFilter(subjects: [.observer(.name("handset 1"))]),
      limit: 10
    )
    #expect(found.map(\.sequence) == [301])
    #expect(try journal.publishedState().regions.count == 101)
  }

  @Test("deliveries that were given up and checkpoints go with the events of their time")
  func letters() throws {
    let journal = try journal(.memory, JournalSettings(maximumAge: .seconds(100), maximumBytes: .max))
    _ = try journal.append((1...6).map { state($0, .outside, at: 1_000 * $0) })
    var update = DeliveryUpdate(receiver: "hook", cursor: 6, delivered: 0)
    update.dead = try journal.events(after: 0, limit: 6).map {
      DeadLetter(
        sequence: $0.sequence,
        event: $0.event,
        diedAt: $0.event.time,
        attempts: 1,
        reason: "refused"
      )
    }
    try journal.save([update], deadLimit: 100)
    try journal.save(checkpoint: [1], instant: Timestamp(seconds: 2_000), through: 2)
    try journal.save(checkpoint: [2], instant: Timestamp(seconds: 6_000), through: 6)
    #expect(try journal.prune(now: Timestamp(seconds: 1_000)) == Pruned())
    let pruned = try journal.prune(now: Timestamp(seconds: 4_100))
    #expect(pruned.letters == 3)
    #expect(pruned.checkpoints == 1)
    #expect(try journal.deadLetters(of: "hook", limit: 10).map(\.sequence) == [6, 5, 4])
    #expect(try journal.latestCheckpoint()?.bytes == [2])
    let rest = try journal.prune(now: Timestamp(seconds: 1_000_000))
    #expect(rest.letters == 3)
    #expect(rest.checkpoints == 1)
    #expect(try journal.latestCheckpoint() == nil)
    #expect(try journal.deadLetterCount(of: "hook") == 0)
  }

  @Test("a journal that is full makes room by itself and keeps the newest")
  func size() throws {
    let settings = JournalSettings(maximumAge: nil, maximumBytes: 2 << 20)
    let journal = try journal(.memory, settings)
    var timeline = Timeline(seed: 3)
    var model = ModelJournal()
    for _ in 0..<100 {
      let entries = timeline.events(500).map { Journal.Entry(event: $0) }
      model.append(entries)
      _ = try journal.append(entries)
      // What 4,096 events take, which is what goes at once, and what a group brings.
      #expect(journal.statistics().bytes < settings.maximumBytes + 1 << 20)
    }
    #expect(journal.oldest > 10_000)
    #expect(journal.head == 50_000)
    let kept = Array(model.committed[Int(journal.oldest - 1)...])
    #expect(kept.count > 5_000)
    #expect(try journal.events(after: 0, limit: .max).map(\.sequence) == kept.map(\.sequence))
    for _ in 0..<10 {
      let filter = timeline.filter(over: 50_000)
      let expected = kept.filter { filter.matches($0.event) }.map(\.sequence)
      #expect(try journal.events(after: 0, matching: filter, limit: .max).map(\.sequence) == expected)
    }
    #expect(try journal.publishedState() == model.rows)
  }

  @Test("events that a webhook still needs stay and are counted, up to a bound of memory")
  func heldBack() throws {
    let journal = try journal(.memory, JournalSettings(maximumAge: .seconds(10), maximumBytes: 1 << 20))
    _ = try journal.append((1...1_000).map { state($0 % 9, .inside, at: $0) })
    try journal.save([DeliveryUpdate(receiver: "till", cursor: 300, delivered: 300)], deadLimit: 10)
    let pruned = try journal.prune(now: Timestamp(seconds: 100_000))
    #expect(pruned.events == 300)
    #expect(pruned.heldBack == 700)
    #expect(journal.oldest == 301)
    var second = 2_000
    while journal.oldest == 301, second < 100_000 {
      _ = try journal.append((0..<1_000).map { state($0 % 9, .inside, at: second + $0) })
      second += 1_000
    }
    #expect(journal.oldest > 301)
    #expect(journal.statistics().bytes > 1 << 20)
  }
}
