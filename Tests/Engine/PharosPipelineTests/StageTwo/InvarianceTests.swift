import PharosFixes
import PharosModel
import PharosPipeline
import PharosTestSupport
import Testing

@Suite("Stage two depends on its inputs alone")
struct InvarianceTests {
  private static let site = LinkScript.site(
    [LinkScript.region(hold: .seconds(40))],
    zones: ["a", "b", "c"].map { Zone(identifier: $0, observers: [.name($0)]) }
  )

  @Test("ticks between the links change nothing", arguments: [11, 12, 13, 14] as [UInt64])
  func ticks(seed: UInt64) {
    let links = RandomLinks.make(seed: seed, count: 2_000)
    let expected = LinkScript.events(Self.site, links, until: 2_000)
    var random = SeededGenerator(seed: seed)
    var stage = StageTwo(site: Self.site)
    var events: [Event] = []
    for (index, link) in links.enumerated() {
      stage.restore(link, into: &events)
      guard index + 1 < links.count, links[index + 1].decidedAt > link.decidedAt else { continue }
      let room = (links[index + 1].decidedAt - link.decidedAt).nanoseconds
      for _ in 0..<Int.random(in: 0..<3, using: &random) {
        let instant = link.decidedAt + TimeSpan(nanoseconds: Int64.random(in: 0..<room, using: &random))
        stage.advance(to: instant, into: &events)
      }
    }
    stage.advance(to: LinkScript.time(2_000), into: &events)
    #expect(events.sorted(by: Event.isOrderedBefore) == expected)
    #expect(expected.count > 100)
  }

  @Test("events come in the order of their decisions")
  func order() {
    let links = RandomLinks.make(seed: 21, count: 2_000)
    var stage = StageTwo(site: Self.site)
    var events: [Event] = []
    for link in links { stage.restore(link, into: &events) }
    #expect(zip(events, events.dropFirst()).allSatisfy { $0.decidedAt <= $1.decidedAt })
  }

  @Test("enters and exits of a region alternate", arguments: [31, 32, 33] as [UInt64])
  func alternation(seed: UInt64) {
    let events = LinkScript.events(Self.site, RandomLinks.make(seed: seed, count: 4_000), until: 4_000)
    var isInside: [SubjectID: Bool] = [:]
    for event in events where event.kind == .regionEnter || event.kind == .regionExit {
      #expect(isInside[event.subject, default: false] == (event.kind == .regionExit))
      isInside[event.subject] = event.kind == .regionEnter
    }
    #expect(isInside.count == 4)
  }

  @Test("every change of state begins where the one before ended", arguments: [41, 42] as [UInt64])
  func chain(seed: UInt64) {
    let events = LinkScript.events(Self.site, RandomLinks.make(seed: seed, count: 4_000), until: 4_000)
    var state: [SubjectID: RegionState] = [:]
    for event in events where event.kind == .regionState {
      #expect(event.transition?.from == state[event.subject, default: .unknown])
      state[event.subject] = event.transition?.to
    }
    #expect(state.count == 4)
  }

  @Test("the queue of deadlines gives them in order")
  func deadlines() {
    var random = SeededGenerator(seed: 51)
    var queue = DeadlineQueue()
    var expected: [Int64] = []
    for slot in 0..<500 {
      let due = Int64.random(in: 0..<200, using: &random)
      expected.append(due)
      queue.insert(DeadlineQueue.Entry(due: Timestamp(nanoseconds: due), slot: slot, generation: 1))
    }
    var given: [Int64] = []
    while let entry = queue.pop(through: Timestamp(nanoseconds: 99)) { given.append(entry.due.nanoseconds) }
    #expect(given == expected.sorted().filter { $0 <= 99 })
    while let entry = queue.pop(through: .distantFuture) { given.append(entry.due.nanoseconds) }
    #expect(given == expected.sorted())
  }
}
