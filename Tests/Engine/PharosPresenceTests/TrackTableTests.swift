import PharosPresence
import PharosTestSupport
import Testing

@Suite("The table of tracks")
struct TrackTableTests {
  /// Hashes are drawn from few, so that buckets overflow; what is in the table is known from a dictionary.
  @Test("finds what is in it and nothing else, whatever comes and goes", arguments: Seeds.drawn(0..<20))
  func churn(seed: Int) {
    var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: seed))
    var table = TrackTable()
    var hashes: [Int: UInt32] = [:]
    for _ in 0..<4_000 {
      let place = Int.random(in: 0..<60, using: &random)
      if let hash = hashes[place] {
        table.remove(hash, place: place)
        hashes[place] = nil
      } else {
        if table.isFull {
          var grown = table.grown()
          for (place, hash) in hashes { grown.insert(hash, place: place) }
          table = grown
        }
        // Homes at the ends of the table, and four tags.
        let hash =
          UInt32.random(in: 0...3, using: &random) << 30 | UInt32.random(in: 0...3, using: &random) << 1
        table.insert(hash, place: place)
        hashes[place] = hash
      }
      #expect(table.count == hashes.count)
      let wanted = Int.random(in: 0..<60, using: &random)
      let hash = hashes[wanted] ?? UInt32.random(in: 0...UInt32.max, using: &random)
      #expect((table.find(hash) { Int($0) == wanted } >= 0) == (hashes[wanted] != nil))
      #expect(hashes[wanted] == nil || table.candidate(hash) >= 0)
    }
  }
}
