import Foundation
import PharosDelivery
import PharosJournal
import PharosModel
import PharosPublishing
import PharosSampleEvents
import PharosTestSupport
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
}
