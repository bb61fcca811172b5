import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("The table of identities")
struct IdentityTableTests {
  @Test("it holds what a dictionary holds while it grows, splits and shrinks", arguments: Seeds.drawn(0..<6))
  func model(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    // Few different hashes in every second run: places are distinguished by more than their hash.
    let mask: UInt64 = seed % 2 == 0 ? .max : 0x3FF << 32
    var table = IdentityTable()
    var hashes: [Int: UInt64] = [:]
    var next = 0
    for step in 0..<12_000 {
      if hashes.isEmpty || Int.random(in: 0..<(step < 8_000 ? 4 : 1), using: &generator) != 0 {
        let hash = generator.next() & mask
        table.insert(hash, place: next)
        hashes[next] = hash
        next += 1
      } else {
        let place = Int.random(in: 0..<next, using: &generator)
        guard let hash = hashes.removeValue(forKey: place) else { continue }
        table.remove(hash, place: place)
        #expect(table.find(hash) { $0 == place } == nil)
      }
    }
    #expect(table.count == hashes.count)
    for (place, hash) in hashes { #expect(table.find(hash) { $0 == place } == place) }
    if mask == .max {
      let misses = hashes.filter { table.candidate($0.value) != Int32($0.key) }
      #expect(misses.count <= 2, "the first guess is nearly always right")
    }
  }

  @Test("it is never less than two fifths full, and no insertion moves more than a segment")
  func growth() {
    var generator = SeededGenerator(seed: 3)
    var table = IdentityTable()
    for place in 0..<60_000 {
      let before = table.capacity
      table.insert(generator.next(), place: place)
      // What an insertion adds bounds what it moved.
      #expect(table.capacity - before < 4 * IdentityTable.load)
      if place > 64 { #expect(table.capacity * 2 <= (place + 1) * 5) }
    }
  }

  @Test("a copy goes its own way")
  func copies() {
    var generator = SeededGenerator(seed: 4)
    let hashes = (0..<3_000).map { _ in generator.next() }
    var table = IdentityTable()
    for place in 0..<2_000 { table.insert(hashes[place], place: place) }
    var copy = table
    for place in 2_000..<3_000 { copy.insert(hashes[place], place: place) }
    for place in 0..<500 { table.remove(hashes[place], place: place) }
    #expect(table.count == 1_500)
    #expect(copy.count == 3_000)
    for place in 0..<3_000 {
      #expect(copy.find(hashes[place]) { $0 == place } == place)
      #expect((table.find(hashes[place]) { $0 == place } == place) == (500..<2_000).contains(place))
    }
  }

  @Test("identities chosen to collide by any fixed rule do not collide by the keyed hash")
  func chosenIdentities() {
    let hash = KeyedHash()
    var buckets = [Int](repeating: 0, count: 1_024)
    for number in 0..<65_536 {
      // All alike in every bit but those of major and minor, and in what a fixed fold makes of them.
      let beacon = BeaconID(
        proximityHigh: 7 ^ UInt64(number) << 20,
        low: 1_000_000,
        majorAndMinor: UInt32(number)
      )
      buckets[Int(hash(beacon) >> 54)] += 1
    }
    // 64 each on average: by chance none holds three times as many.
    #expect(buckets.allSatisfy { $0 < 192 })
  }
}
