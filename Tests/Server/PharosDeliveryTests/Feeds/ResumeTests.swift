import Foundation
import PharosDelivery
import PharosJournal
import PharosModel
import PharosPublishing
import PharosSampleEvents
import PharosTestSupport
import Synchronization
import Testing

/// CommitPublisher, journal and desk together, on their own threads, with clients that go and come back.
@Suite("Coming back", .timeLimit(.minutes(20)))
struct ResumeTests {
  private static let total = 10_000
  private static let subjects = (0..<10).map { "handset-\($0)" }

  private func event(_ number: Int) -> Event {
    Sample.enter(number, subject: Self.subjects[number % Self.subjects.count])
  }

  /// Reads until everything wanted is there, going away after a drawn number of events, fifty times.
  private func read(
    _ feedService: FeedService,
    _ filter: EventFilter,
    expecting count: Int,
    seed: UInt64
  ) async throws -> (seen: [PublishedEvent], comings: Int) {
    var generator = SeededGenerator(seed: seed)
    var seen: [PublishedEvent] = []
    var last: Int64 = 0
    var comings = 0
    while seen.count < count {
      comings += 1
      let feed = try feedService.open(FeedRequest(filter: filter, after: last, limit: 64))
      let patience = comings > 50 ? Int.max : Int.random(in: 1...max(1, count / 25), using: &generator)
      var accepted = 0
      reading: for await items in feed {
        for item in items {
          guard case .event(let committed) = item, let sequence = committed.sequence else { continue }
          seen.append(committed)
          last = sequence
          accepted += 1
          if accepted == patience || seen.count == count { break reading }
        }
        if Int.random(in: 0..<4, using: &generator) == 0 { await Task.yield() }
      }
    }
    return (seen, comings)
  }

  @Test("a client that goes and comes back fifty times has every event once", arguments: [true, false])
  func fifty(isOnDisk: Bool) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pharos-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let journal = try Journal.open(isOnDisk ? .folder(folder.path) : .memory, stream: "test")
    let hub = EventHub()
    let commitPublisher = CommitPublisher(
      hub: hub,
      store: journal,
      authorisations: try Authorisations(store: journal),
      stream: "test"
    )
    let feedService = FeedService(commitPublisher: commitPublisher, history: journal)
    async let everything = read(feedService, .all, expecting: Self.total, seed: 1)
    async let some = read(
      feedService,
      EventFilter(subjects: [.observer(.name("handset-3")), .observer(.name("handset-7"))]),
      expecting: Self.total / 5,
      seed: 2
    )
    for start in stride(from: 0, to: Self.total, by: 50) {
      hub.publish((start..<start + 50).map(event))
      if start.isMultiple(of: 500) { await Task.yield() }
    }
    let (all, comings) = try await everything
    #expect(all.map(\.event.number) == Array(0..<Self.total))
    #expect(all.map(\.sequence) == (1...Self.total).map { Int64($0) })
    #expect(comings > 10)
    let (few, _) = try await some
    #expect(few.map(\.event.number) == (0..<Self.total).filter { [3, 7].contains($0 % 10) })
    // Events delivered live and events read back are the same, byte for byte.
    for committed in all.suffix(200) {
      #expect(
        String(decoding: committed.cloudEvent, as: UTF8.self)
          == event(committed.event.number).cloudEvent(stream: "test")
      )
    }
  }

  @Test("a stream goes on over a restart with the same numbers and ids")
  func restart() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pharos-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var last: Int64 = 0
    var seen: [PublishedEvent] = []
    for life in 0..<5 {
      let (ended, end) = AsyncStream<Void>.makeStream()
      do {
        let store = LentJournal(try Journal.open(.folder(folder.path), stream: "test"), end)
        let hub = EventHub()
        let commitPublisher = CommitPublisher(
          hub: hub,
          store: store,
          authorisations: try Authorisations(store: Journal.open(.memory, stream: "test")),
          stream: "test"
        )
        let feedService = FeedService(commitPublisher: commitPublisher, history: store)
        hub.publish((life * 100..<life * 100 + 100).map(event))
        await commitPublisher.drain()
        // Each life but the last leaves 50 events for the next one.
        let wanted = life == 4 ? 500 : life * 100 + 50
        var iterator = try feedService.open(FeedRequest(after: last)).makeAsyncIterator()
        while seen.count < wanted, let items = await iterator.next() {
          for case .event(let committed) in items where seen.count < wanted {
            seen.append(committed)
            last = committed.sequence ?? last
          }
        }
      }
      // The folder is free for the next life once the journal is released.
      for await _ in ended {}
    }
    #expect(seen.map(\.event.number) == Array(0..<500))
    #expect(seen.map(\.sequence) == (1...500).map { Int64($0) })
    #expect(seen.map(\.event.id) == (0..<500).map { event($0).id })
  }
}

/// A journal that reports when it is released.
private final class LentJournal: EventStore {
  private let journal: Mutex<Journal?>
  private let end: AsyncStream<Void>.Continuation
  private struct Returned: Error {}

  init(_ journal: Journal, _ end: AsyncStream<Void>.Continuation) {
    self.journal = Mutex(journal)
    self.end = end
  }

  deinit {
    journal.withLock { $0 = nil }
    end.finish()
  }

  var head: Int64 { journal.withLock { $0?.head ?? 0 } }
  var oldest: Int64 { journal.withLock { $0?.oldest ?? 1 } }
  var removals: UInt64 { journal.withLock { $0?.removals ?? 0 } }

  func events(after: Int64, matching filter: EventFilter, limit: Int) throws -> [JournaledEvent] {
    try lent().events(after: after, matching: filter, limit: limit)
  }

  func append(_ entries: [Journal.Entry]) throws -> [Int64?] { try lent().append(entries) }

  func save(checkpoint: [UInt8], instant: Timestamp, through: Int64) throws {
    try lent().save(checkpoint: checkpoint, instant: instant, through: through)
  }

  private func lent() throws -> Journal {
    guard let journal = journal.withLock({ $0 }) else { throw Returned() }
    return journal
  }
}
