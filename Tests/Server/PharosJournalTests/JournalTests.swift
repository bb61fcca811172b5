import Foundation
import PharosJournal
import PharosModel
import Testing

@Suite("The journal")
struct JournalTests {
  /// Appends a timeline in groups of any size, some of its events untold.
  private func fill(
    _ journal: Journal,
    _ timeline: inout Timeline,
    _ model: inout ModelJournal,
    groups: Int
  ) throws {
    for _ in 0..<groups {
      let count = timeline.number(1...40)
      let entries = timeline.events(count).map { event in
        Journal.Entry(event: event, isPublished: !timeline.chance(6))
      }
      let before = Int64(model.committed.count)
      model.append(entries)
      let sequences = try journal.append(entries)
      #expect(sequences.map { $0 != nil } == entries.map(\.isPublished))
      #expect(sequences.compactMap { $0 } == Array(before + 1..<Int64(model.committed.count) + 1))
    }
  }

  @Test("gives back what was appended, in one sequence without a gap", arguments: 1...3)
  func givesBack(seed: Int) throws {
    let journal = try Journal.open(.memory, stream: Timeline.stream)
    var timeline = Timeline(seed: UInt64(seed))
    var model = ModelJournal()
    #expect(journal.head == 0)
    #expect(journal.oldest == 1)
    #expect(try journal.events(after: 0, limit: 5).isEmpty)
    #expect(try journal.events(before: .max, limit: 5).isEmpty)
    try fill(journal, &timeline, &model, groups: 40)
    #expect(journal.head == Int64(model.committed.count))
    let all = try journal.events(after: 0, limit: .max)
    #expect(all.lines == model.committed.lines)
    #expect(try journal.events(before: .max, limit: .max).reversed().lines == model.committed.lines)
    #expect(try journal.event(7)?.event.id == model.committed[6].event.id)
    #expect(try journal.event(0) == nil)
    #expect(try journal.event(journal.head + 1) == nil)
    #expect(try journal.events(after: .max, limit: 5).isEmpty)
    #expect(try journal.events(after: -5, limit: 1).first?.sequence == 1)
    #expect(try journal.append([]).isEmpty)
  }

  @Test("its rows agree with the events, published or not", arguments: 1...3)
  func rows(seed: Int) throws {
    let journal = try Journal.open(.memory, stream: Timeline.stream)
    var timeline = Timeline(seed: UInt64(100 + seed))
    var model = ModelJournal()
    for _ in 0..<20 {
      try fill(journal, &timeline, &model, groups: 3)
      #expect(try journal.publishedState() == model.rows)
    }
    #expect(!model.rows.regions.isEmpty)
    #expect(!model.rows.zones.isEmpty)
    #expect(!model.rows.observers.isEmpty)
  }

  @Test("its rows since a sequence are those that changed behind it, untold changes included")
  func rowsSince() throws {
    let journal = try Journal.open(.memory, stream: Timeline.stream)
    var timeline = Timeline(seed: 9)
    _ = try journal.append(timeline.events(300).map { .init(event: $0) })
    let head = journal.head
    #expect(try journal.publishedState(after: head).isEmpty)
    let omitted = timeline.events(50)
    let rows = StateTable(after: omitted).state
    _ = try journal.append(omitted.map { .init(event: $0, isPublished: false) })
    let since = try journal.publishedState(after: head)
    #expect(journal.head == head)
    // A word since then says the same as the events since then, but for what it knows from before.
    #expect(since.regions.map(\.subject) == rows.regions.map(\.subject))
    #expect(since.regions.map(\.state) == rows.regions.map(\.state))
    #expect(since.regions.map(\.time) == rows.regions.map(\.time))
    #expect(since.observers == rows.observers)
    #expect(!since.regions.isEmpty)
  }

  @Test("all is there when it is opened again, and the sequence goes on", arguments: 1...2)
  func reopened(seed: Int) throws {
    let folder = ScratchFolder()
    var timeline = Timeline(seed: UInt64(seed))
    var model = ModelJournal()
    for _ in 0..<5 {
      let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream)
      #expect(journal.head == Int64(model.committed.count))
      #expect(try journal.publishedState() == model.rows)
      try fill(journal, &timeline, &model, groups: 5)
      #expect(try journal.events(after: 0, limit: .max).lines == model.committed.lines)
      let hall = EventFilter(regions: ["hall"])
      let expected = model.committed.filter { hall.matches($0.event) }
      #expect(try journal.events(after: 0, matching: hall, limit: .max).lines == expected.lines)
    }
  }

  @Test("pages put together are the whole, forwards and backwards")
  func pages() throws {
    let journal = try Journal.open(.memory, stream: Timeline.stream)
    var timeline = Timeline(seed: 5)
    _ = try journal.append(timeline.events(500).map { .init(event: $0) })
    let filter = EventFilter(applications: ["gallery"])
    let all = try journal.events(after: 0, matching: filter, limit: .max)
    var up: [JournaledEvent] = []
    while true {
      let page = try journal.events(after: up.last?.sequence ?? 0, matching: filter, limit: 7)
      if page.isEmpty { break }
      up += page
    }
    var down: [JournaledEvent] = []
    while true {
      let page = try journal.events(before: down.last?.sequence ?? .max, matching: filter, limit: 7)
      if page.isEmpty { break }
      down += page
    }
    #expect(all.count > 50)
    #expect(up.lines == all.lines)
    #expect(down.reversed().lines == all.lines)
  }

  @Test("the statistics count")
  func statistics() throws {
    let journal = try Journal.open(.memory, stream: Timeline.stream)
    var timeline = Timeline(seed: 5)
    for _ in 0..<4 { _ = try journal.append(timeline.events(10).map { .init(event: $0) }) }
    let statistics = journal.statistics()
    #expect(statistics.head == 40)
    #expect(statistics.events == 40)
    #expect(statistics.appended == 40)
    #expect(statistics.commits == 4)
    #expect(statistics.failures == 0)
    #expect(statistics.lastCommit > .zero)
    #expect(statistics.bytes > 0)
  }
}
