import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("The timers and the table of identities")
struct TimerQueueTests {
  @Test(
    "timers fire in order of (due, observer, target), as a sorted array would have it",
    arguments: Seeds.drawn(0..<20)
  )
  func order(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    var timers = TimerQueue()
    var model: [TimerEntry] = []
    var now: Int64 = seed % 2 == 0 ? 1_420_070_400_000_000_000 : -50_000_000_000
    for _ in 0..<400 {
      for _ in 0..<Int.random(in: 0..<6, using: &generator) {
        let reach = [1_000, 20_000_000, 5_000_000_000, 3_600_000_000_000, 90_000_000_000_000_000]
        let span = Int64.random(
          in: 0...Int64(reach[Int.random(in: 0..<5, using: &generator)]),
          using: &generator
        )
        let entry = TimerEntry(
          due: Timestamp(nanoseconds: now + span),
          observer: Int32.random(in: 0..<3, using: &generator),
          target: .page(Int32.random(in: 0..<3, using: &generator))
        )
        timers.set(entry)
        model.append(entry)
      }
      now += Int64.random(in: 0...2_000_000_000, using: &generator)
      let limit = Timestamp(nanoseconds: now)
      var fired: [TimerEntry] = []
      while let entry = timers.next(through: limit) { fired.append(entry) }
      let expected = model.filter { $0.due <= limit }.sorted {
        TimerQueueTests.key($0) < TimerQueueTests.key($1)
      }
      model.removeAll { $0.due <= limit }
      #expect(fired == expected)
    }
    var rest = 0
    while timers.next(through: .distantFuture) != nil { rest += 1 }
    #expect(rest == model.count)
  }

  private static func key(_ entry: TimerEntry) -> (Int64, Int32, Int32) {
    guard case .page(let track) = entry.target else { return (entry.due.nanoseconds, entry.observer, 0) }
    return (entry.due.nanoseconds, entry.observer, track)
  }

  @Test("a timer that is set while others fire takes its place among them")
  func reentrant() {
    var timers = TimerQueue()
    func entry(_ seconds: Int64) -> TimerEntry {
      TimerEntry(due: Timestamp(seconds: seconds), observer: 0, target: .outage)
    }
    timers.set(entry(10))
    timers.set(entry(30))
    #expect(timers.next(through: Timestamp(seconds: 40)) == entry(10))
    timers.set(entry(20))
    #expect(timers.next(through: Timestamp(seconds: 40)) == entry(20))
    timers.set(entry(5))
    #expect(timers.next(through: Timestamp(seconds: 40)) == entry(5))
    #expect(timers.next(through: Timestamp(seconds: 40)) == entry(30))
    #expect(timers.next(through: Timestamp(seconds: 40)) == nil)
  }

  @Test("more timers of one second than room is kept for fire in order, and again in the room that is left")
  func storm() {
    var generator = SeededGenerator(seed: 7)
    var timers = TimerQueue()
    let count: Int32 = 70_000
    for round in Int64(1)...2 {
      for place in 0..<count {
        let offset = Int64.random(in: 0..<1_000_000_000, using: &generator)
        let due = Timestamp(seconds: round * 100_000) + TimeSpan(nanoseconds: offset)
        timers.set(TimerEntry(due: due, observer: 0, target: .page(place)))
      }
      var seen = Array(repeating: false, count: Int(count))
      var last = Timestamp.distantPast
      while let entry = timers.next(through: Timestamp(seconds: round * 100_000 + 1)) {
        guard case .page(let place) = entry.target, !seen[Int(place)], entry.due >= last else {
          Issue.record("\(entry) after \(last)")
          return
        }
        seen[Int(place)] = true
        last = entry.due
      }
      #expect(!seen.contains(false))
    }
  }

  @Test(
    "the table finds what was put in and not taken out, whatever the hashes",
    arguments: [UInt64.max, 0xF]
  )
  func table(mask: UInt64) {
    var generator = SeededGenerator(seed: mask)
    var table = IdentityTable()
    var hashes: [Int: UInt64] = [:]
    for place in 0..<600 {
      let hash = (generator.next() & mask) << (mask == 0xF ? 32 : 0)
      table.insert(hash, place: place)
      hashes[place] = hash
      if place % 3 == 0, let gone = hashes.keys.sorted().first, let hash = hashes.removeValue(forKey: gone) {
        table.remove(hash, place: gone)
        #expect(table.find(hash) { $0 == gone } == nil)
      }
    }
    #expect(table.count == hashes.count)
    for (place, hash) in hashes { #expect(table.find(hash) { $0 == place } == place) }
  }
}
