import Foundation
import PharosJournal
import PharosModel
import Synchronization
import Testing

@Suite("Reading while it is written")
struct JournalConcurrencyTests {
  private final class End: Sendable {
    let isReached = Mutex(false)
  }

  @Test("a reader up to the head misses no event while others are appended", arguments: 1...2)
  func readers(seed: Int) async throws {
    let folder = ScratchFolder()
    let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream, blocks: Blocks(bits: 5))
    let end = End()
    let filters = [
      EventFilter.all, EventFilter(kinds: [.regionState, .zoneEnter]),
      EventFilter(regions: ["hall"], observers: [Timeline.observers[2]]),
    ]
    let found = try await withThrowingTaskGroup(of: (Int, [Int64]).self) { group in
      for (index, filter) in filters.enumerated() {
        group.addTask {
          var sequences: [Int64] = []
          var isLast = false
          while !isLast {
            // Lets the writer have a thread where there are only two.
            await Task.yield()
            isLast = end.isReached.withLock { $0 }
            let head = journal.head
            // Everything up to a head that is known must be found by now.
            while true {
              let page = try journal.events(after: sequences.last ?? 0, matching: filter, limit: 50)
              if page.isEmpty { break }
              sequences += page.map(\.sequence)
              if page.count < 50 { break }
            }
            let newest = try journal.events(before: head + 1, matching: filter, limit: 1)
            if let last = newest.first?.sequence { #expect(sequences.contains(last)) }
          }
          return (index, sequences)
        }
      }
      group.addTask {
        defer { end.isReached.withLock { $0 = true } }
        var timeline = Timeline(seed: UInt64(seed))
        for round in 0..<120 {
          _ = try journal.append(timeline.events(timeline.number(1...60)).map { .init(event: $0) })
          if round % 30 == 7 {
            try journal.save(
              checkpoint: Array(repeating: 3, count: 900_000),
              instant: Timestamp(seconds: 1),
              through: 0
            )
          }
        }
        return (-1, [])
      }
      var found: [Int: [Int64]] = [:]
      for try await (index, sequences) in group { found[index] = sequences }
      return found
    }
    var timeline = Timeline(seed: UInt64(seed))
    var model = ModelJournal()
    for _ in 0..<120 { model.append(timeline.events(timeline.number(1...60)).map { .init(event: $0) }) }
    #expect(journal.head == Int64(model.committed.count))
    for (index, filter) in filters.enumerated() {
      let expected = model.committed.filter { filter.matches($0.event) }.map(\.sequence)
      #expect(found[index] == expected)
      #expect(!expected.isEmpty)
    }
  }
}
