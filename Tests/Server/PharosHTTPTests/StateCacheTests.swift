import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosPublishing
import PharosTestSupport
import Testing

/// The cache that lists of states are read from.
@Suite("The cache of states", .timeLimit(.minutes(20)))
struct StateCacheTests {
  private func change(_ number: Int, _ generator: inout SeededGenerator) throws -> Event {
    let application = ["a", "ab", "b", ""].randomElement(using: &generator) ?? ""
    let observer = try #require(ObserverID("observer-\(Int.random(in: 0..<4, using: &generator))"))
    let states: [RegionState] = [.inside, .outside, .unmonitored, .unknown]
    let to = states.randomElement(using: &generator) ?? .unknown
    return Event(
      stream: "test",
      kind: .regionState,
      time: Timestamp(seconds: Int64(number)),
      decidedAt: Timestamp(seconds: Int64(number)),
      stage: 1,
      subject: .observer(observer),
      application: application,
      region: "region-\(Int.random(in: 0..<3, using: &generator))",
      counter: UInt64(number),
      detail: .region(RegionTransition(from: .unknown, to: to, evidence: Evidence(rule: .samples)))
    )
  }

  @Test("rows and counts of an application are those that a plain search finds")
  func rows() throws {
    var generator = SeededGenerator(seed: 21)
    var cache = StateCache()
    var events: [Event] = []
    let authorisations = try Authorisations(store: try Journal.open(.memory, stream: "test"))
    try authorisations.mark(.observer(.name("observer-1")), isPerson: true)
    let gate = authorisations.view.gate(to: nil, isLive: false)
    for number in 0..<2_000 {
      let event = try change(number, &generator)
      cache.record(event)
      events.append(event)
      guard number % 50 == 0 else { continue }
      let all = StateTable(after: events).state
      for application in ["", "a", "ab", "b", "c"] {
        let expected = all.regions.filter { $0.application == application }
        #expect(cache.rows(of: application).sorted() == expected)
        let counts = cache.counts(of: application, through: gate)
        for region in 0..<3 {
          let name = "region-\(region)"
          let meant = expected.filter {
            $0.region == name && $0.subject.description != "observer-1"
          }
          let count = counts[name] ?? StateCounts()
          #expect(count.inside == meant.count { $0.state == .inside })
          #expect(count.outside == meant.count { $0.state == .outside })
          #expect(count.unmonitored == meant.count { $0.state == .unmonitored })
        }
      }
    }
  }

  @Test("events that are published while the rows are being read are not lost")
  func refill() async throws {
    var generator = SeededGenerator(seed: 22)
    let events = try (0..<300).map { try change($0, &generator) }
    let (committed, journal) = (CommittedEventHub(), try Journal.open(.memory, stream: "test"))
    _ = try journal.append(events[..<100].map { Journal.Entry(event: $0) })
    let authorisations = try Authorisations(store: journal)
    let cache = LiveStateCache(
      committed: committed,
      rows: { () throws(JournalError) in
        let rows = try journal.publishedState()
        // Committed and published after the rows were read, before the cache has them.
        let sequences = try journal.append(events[100..<200].map { Journal.Entry(event: $0) })
        committed.publish(
          zip(sequences, events[100..<200]).map {
            PublishedEvent(sequence: $0, event: $1, stream: "test")
          }
        )
        return rows
      },
      revision: { authorisations.view.revision }
    )
    #expect(try await cache.read { $0.table.state } == StateTable(after: events[..<200]).state)
    committed.publish(events[200...].map { PublishedEvent(sequence: 1, event: $0, stream: "test") })
    #expect(try await cache.read { $0.table.state } == StateTable(after: events).state)
  }
}
