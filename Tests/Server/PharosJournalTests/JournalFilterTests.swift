import PharosJournal
import PharosModel
import Testing

@Suite("Finding events")
struct JournalFilterTests {
  /// A journal with many blocks of 256 events that are full and one that is not.
  private static let large = Result { () throws -> (journal: Journal, events: [JournaledEvent]) in
    let journal = try Journal.open(
      .memory,
      stream: Timeline.stream,
      settings: JournalSettings(maximumAge: nil, maximumBytes: .max),
      blocks: Blocks(bits: 8)
    )
    var timeline = Timeline(seed: 77)
    var model = ModelJournal()
    while model.committed.count < 4_000 {
      let entries = timeline.events(timeline.number(1...700)).map { Journal.Entry(event: $0) }
      model.append(entries)
      _ = try journal.append(entries)
    }
    return (journal, model.committed)
  }

  @Test("a search finds the events that its filter matches, from either end", arguments: 1...4)
  func model(seed: Int) throws {
    let (journal, events) = try JournalFilterTests.large.get()
    var timeline = Timeline(seed: UInt64(seed))
    var found = 0
    for _ in 0..<60 {
      let filter = timeline.filter(over: events.count)
      let limit = timeline.number(1...40)
      let start = Int64(timeline.number(0...events.count + 10))
      let up = events.lazy.filter { $0.sequence > start && filter.matches($0.event) }.prefix(limit)
      let down = events.reversed().lazy.filter { $0.sequence < start && filter.matches($0.event) }.prefix(
        limit
      )
      #expect(try journal.events(after: start, matching: filter, limit: limit).lines == Array(up).lines)
      #expect(try journal.events(before: start, matching: filter, limit: limit).lines == Array(down).lines)
      found += up.count
    }
    #expect(found > 0)
  }

  @Test("all that a filter lets through is found over the ends of blocks")
  func whole() throws {
    let (journal, events) = try JournalFilterTests.large.get()
    let filter = EventFilter(kinds: [.zoneEnter], observers: [Timeline.observers[0]])
    let expected = events.filter { filter.matches($0.event) }
    #expect(expected.count > 20)
    #expect(try journal.events(after: 0, matching: filter, limit: .max).lines == expected.lines)
    let back = try journal.events(before: .max, matching: filter, limit: .max)
    #expect(back.reversed().lines == expected.lines)
  }

  @Test("a name that the journal has never seen finds nothing")
  func outsider() throws {
    let (journal, _) = try JournalFilterTests.large.get()
    for filter in [
      EventFilter(applications: ["unknown"]), EventFilter(regions: ["unknown"]),
      EventFilter(subjects: [.observer(.name("unknown"))]), EventFilter(observers: [.name("unknown")]),
      EventFilter(kinds: []), EventFilter(since: .distantFuture),
      EventFilter(since: Timestamp(seconds: 2_000_000_000), until: Timestamp(seconds: 1_000_000_000)),
    ] {
      #expect(try journal.events(after: 0, matching: filter, limit: 10).isEmpty)
      #expect(try journal.events(before: .max, matching: filter, limit: 10).isEmpty)
    }
  }
}
