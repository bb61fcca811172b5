import PharosDelivery
import PharosModel
import PharosPublishing
import PharosSampleEvents
import PharosTestSupport
import Testing

/// The law of feeds: whatever happens between a journal, its pruning, the commit publisher and a client that is slow
/// and goes and comes back, the client gets every event that it wants once and in order, or a report of what is
/// missing.
@Suite("One client's stream")
struct FeedStateTests {
  /// A server and one client, in virtual time.
  private struct World {
    var generator: SeededGenerator
    let request: FeedRequest
    var now: Duration = .zero
    /// Which events are wanted, by sequence number less one.
    var wanted: [Bool] = []
    var published: Int64 = 0
    var pruned: Int64 = 0
    var state: FeedState

    /// The sequence numbers that came.
    var seen: [Int64] = []
    var gaps: [ClosedRange<Int64>] = []
    var lastID: Int64 = 0
    var readingsOffered = 0
    var readingsSeen: [Int] = []
    var readingsDropped = 0
    var readingsAbandoned = 0
    var heartbeats = 0

    init(seed: UInt64, interval: Duration?) {
      generator = SeededGenerator(seed: seed)
      request = FeedRequest(interval: interval, limit: 16)
      state = FeedState(request: request, at: .zero)
      state.begin(after: 0, published: 0, head: 0)
    }

    var head: Int64 { Int64(wanted.count) }

    mutating func commit() {
      for _ in 0..<Int.random(in: 1...40, using: &generator) {
        wanted.append(Int.random(in: 0..<3, using: &generator) > 0)
      }
    }

    mutating func publish() {
      let reached = Int64.random(in: published...head, using: &generator)
      while published < reached {
        let sequence = published + 1
        if wanted[Int(sequence) - 1] {
          let hasRoom = Int.random(in: 0..<20, using: &generator) > 0
          #expect(state.add(Sample.committed(sequence, Sample.enter(Int(sequence))), hasRoom: hasRoom) == 0)
        }
        published = sequence
        if Int.random(in: 0..<4, using: &generator) == 0 { read() }
      }
    }

    mutating func read() {
      let hasRoom = Int.random(in: 0..<20, using: &generator) > 0
      _ = state.add(Sample.committed(nil, Sample.ranging(readingsOffered)), hasRoom: hasRoom)
      readingsOffered += 1
    }

    mutating func prune() {
      pruned = min(max(pruned, Int64.random(in: 0...max(0, head), using: &generator)), published)
    }

    /// Does one step of the client's; false if it waits.
    mutating func step() -> Bool {
      switch state.next(at: now) {
      case .deliver(let items): record(items)
      case .join: state.join(published: published)
      case .wait: return false
      case .end: Issue.record("the stream ended")
      case .read(let span):
        let limit = Int.random(in: 1...10, using: &generator)
        let first = max(span.after, pruned) + 1
        let found = first > head ? [] : (first...head).filter { wanted[Int($0) - 1] }.prefix(limit)
        let events = found.map { Sample.committed($0, Sample.enter(Int($0))) }
        record(state.found(events, isLast: found.count < limit, oldest: pruned + 1, at: now))
      }
      return true
    }

    mutating func record(_ items: [FeedItem]) {
      for item in items {
        switch item {
        case .event(let committed):
          if let sequence = committed.sequence {
            seen.append(sequence)
            lastID = sequence
          } else {
            readingsSeen.append(committed.event.number)
          }
        case .gap(let from, let to):
          #expect(from <= to && to <= pruned, "a gap of what is still kept")
          gaps.append(from...to)
          lastID = to
        case .restart: Issue.record("a number of another journal")
        case .dropped(let count): readingsDropped += count
        case .heartbeat: heartbeats += 1
        }
      }
    }

    mutating func comeBack() {
      readingsAbandoned = readingsOffered - readingsSeen.count - readingsDropped
      state = FeedState(request: request, at: now)
      state.begin(after: lastID, published: published, head: head)
    }
  }

  @Test(
    "a client misses nothing, however it goes and comes",
    arguments: Seeds.drawn(0..<400 as Range<UInt64>, first: 40)
  )
  func law(seed: UInt64) {
    var world = World(seed: seed, interval: seed.isMultiple(of: 2) ? nil : .seconds(1))
    for _ in 0..<150 {
      switch Int.random(in: 0..<20, using: &world.generator) {
      case 0..<5: world.commit()
      case 5..<10: world.publish()
      case 10: if Int.random(in: 0..<4, using: &world.generator) == 0 { world.prune() }
      case 11: world.comeBack()
      case 12:
        world.now += .milliseconds(300)
        _ = world.state.advance(to: world.now, heartbeat: .seconds(15))
      default: _ = world.step()
      }
    }
    while world.published < world.head { world.publish() }
    world.now += .seconds(2)
    while world.step() {}
    #expect(zip(world.seen, world.seen.dropFirst()).allSatisfy { $0 < $1 }, "repeated or out of order")
    let seen = Set(world.seen)
    for sequence in 1...max(1, world.head) where sequence <= world.head && world.wanted[Int(sequence) - 1] {
      let isPublished = seen.contains(sequence) || world.gaps.contains { $0.contains(sequence) }
      #expect(isPublished, "\(sequence) is missing without a report of a gap")
    }
    #expect(zip(world.readingsSeen, world.readingsSeen.dropFirst()).allSatisfy { $0 < $1 })
    #expect(world.state.waiting == 0)
  }

  @Test("every reading is given, replaced by a newer one, or counted as dropped", arguments: [0, 1, 2, 3])
  func readings(seed: UInt64) {
    var world = World(seed: seed, interval: nil)
    for _ in 0..<500 {
      if Bool.random(using: &world.generator) { world.read() } else { _ = world.step() }
      if Int.random(in: 0..<30, using: &world.generator) == 0 { for _ in 0..<40 { world.read() } }
    }
    while world.step() {}
    #expect(world.readingsSeen.count + world.readingsDropped == world.readingsOffered)
    #expect(world.readingsDropped > 0)
  }

  @Test("with an interval, the newest reading about each thing comes once an interval")
  func coalescing() {
    var state = FeedState(request: FeedRequest(interval: .seconds(1)), at: .zero)
    state.begin(after: nil, published: 0, head: 0)
    var given: [[Int]] = []
    for tick in 0..<40 {
      let now = Duration.milliseconds(100 * tick)
      _ = state.add(Sample.committed(nil, Sample.ranging(2 * tick, major: 1)), hasRoom: true)
      _ = state.add(Sample.committed(nil, Sample.ranging(2 * tick + 1, major: 2)), hasRoom: true)
      guard state.advance(to: now, heartbeat: .seconds(15)), case .deliver(let items) = state.next(at: now)
      else { continue }
      given.append(
        items.compactMap { if case .event(let committed) = $0 { committed.event.number } else { nil } }
      )
    }
    #expect(given == [[0, 1], [20, 21], [40, 41], [60, 61]])
  }

  @Test("a stream that gives nothing for the interval gives a heartbeat, and one that gives does not")
  func heartbeat() {
    var state = FeedState(request: FeedRequest(), at: .zero)
    state.begin(after: nil, published: 0, head: 0)
    var beats: [Int] = []
    for second in 1...60 {
      let now = Duration.seconds(second)
      if second == 20 { _ = state.add(Sample.committed(1, Sample.enter(1)), hasRoom: true) }
      guard state.advance(to: now, heartbeat: .seconds(15)), case .deliver(let items) = state.next(at: now)
      else { continue }
      if items == [.heartbeat] { beats.append(second) }
    }
    #expect(beats == [15, 35, 50])
  }

  @Test(
    "where a stream begins",
    arguments: [
      (after: nil, published: 5, head: 7, expected: [6, 7, 8]),
      (after: 3, published: 5, head: 7, expected: [4, 5, 6, 7, 8]),
      (after: 7, published: 5, head: 7, expected: [8]),
      (after: 6, published: 5, head: 7, expected: [7, 8]),
      (after: -4, published: 5, head: 7, expected: [1, 2, 3, 4, 5, 6, 7, 8]),
      (after: 900, published: 5, head: 7, expected: [1, 2, 3, 4, 5, 6, 7, 8]),
      (after: 0, published: 0, head: 0, expected: [1, 2, 3, 4, 5, 6, 7, 8]),
    ] as [(after: Int64?, published: Int64, head: Int64, expected: [Int64])]
  )
  func beginning(after: Int64?, published: Int64, head: Int64, expected: [Int64]) {
    var state = FeedState(request: FeedRequest(), at: .zero)
    state.begin(after: after, published: published, head: head)
    for sequence in (published + 1)...8 {
      _ = state.add(Sample.committed(sequence, Sample.enter(Int(sequence))), hasRoom: true)
    }
    var seen: [Int64] = []
    loop: while true {
      switch state.next(at: .zero) {
      case .deliver(let items): seen += items.compactMap(\.sequence)
      case .read(let span):
        let events = ((span.after + 1)...max(head, span.through)).map {
          Sample.committed($0, Sample.enter(Int($0)))
        }
        seen += state.found(events, isLast: true, oldest: 1, at: .zero).compactMap(\.sequence)
      case .join: state.join(published: 8)
      case .wait, .end: break loop
      }
    }
    #expect(seen == expected)
  }

  @Test(
    "a client that knows a number of another journal learns that before all else",
    arguments: [0, 7] as [Int64]
  )
  func restart(head: Int64) {
    var state = FeedState(request: FeedRequest(), at: .zero)
    state.begin(after: 900, published: head, head: head)
    #expect(state.isReady(at: .zero))
    guard case .deliver(let items) = state.next(at: .zero) else {
      Issue.record("nothing was delivered")
      return
    }
    #expect(items == [.restart(from: head + 1, to: 900)])
    guard case .deliver = state.next(at: .zero) else { return }
    Issue.record("it was reported twice")
  }

  @Test("a gap of a single pruned event is reported")
  func smallestGap() {
    var state = FeedState(request: FeedRequest(), at: .zero)
    state.begin(after: 0, published: 2, head: 2)
    let items = state.found([Sample.committed(2, Sample.enter(2))], isLast: true, oldest: 2, at: .zero)
    guard case .gap(from: 1, to: 1) = items.first else {
      Issue.record("no gap was reported")
      return
    }
    #expect(items.compactMap(\.sequence) == [2])
  }

  @Test("when the server stops, a stream gives what is next in order and ends")
  func finish() {
    var state = FeedState(request: FeedRequest(), at: .zero)
    state.begin(after: nil, published: 0, head: 0)
    _ = state.add(Sample.committed(1, Sample.enter(1)), hasRoom: true)
    state.isFinished = true
    guard case .deliver(let items) = state.next(at: .zero) else {
      Issue.record("nothing was given")
      return
    }
    #expect(items.compactMap(\.sequence) == [1])
    guard case .end = state.next(at: .zero) else {
      Issue.record("it did not end")
      return
    }
    var behind = FeedState(request: FeedRequest(), at: .zero)
    behind.begin(after: 3, published: 9, head: 9)
    _ = behind.add(Sample.committed(10, Sample.enter(10)), hasRoom: true)
    behind.isFinished = true
    // Giving number 10 now would hide 4 to 9 from a client that comes back with its last id.
    guard case .end = behind.next(at: .zero) else {
      Issue.record("it gave what is not next")
      return
    }
  }
}

extension FeedItem {
  /// The sequence number of an event.
  var sequence: Int64? { if case .event(let committed) = self { committed.sequence } else { nil } }
}
