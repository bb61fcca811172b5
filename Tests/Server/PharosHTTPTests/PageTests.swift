import PharosHTTP
import PharosTestSupport
import Testing

/// Pages of lists that change between them.
@Suite("Pages")
struct PageTests {
  @Test("an entry that stays is listed exactly once while others come and go between pages")
  func stability() throws {
    for seed in 0..<50 {
      var generator = SeededGenerator(seed: UInt64(seed))
      var entries = Set((0..<40).map { _ in Int.random(in: 100...999, using: &generator) })
      let staying = entries.filter { $0 % 3 == 0 }
      let limit = Int.random(in: 1...9, using: &generator)
      var seen: [Int] = []
      var cursor: String?
      repeat {
        let target = "/x?limit=\(limit)" + (cursor.map { "&cursor=\($0)" } ?? "")
        var query = try QueryReading(target: target, known: ["limit", "cursor"])
        let after = Page.key(&query) { $0.first.flatMap { Int($0) } }
        try query.finish()
        let page = Page.cut(
          entries.sorted(),
          limit: limit,
          isBehind: after.map { key in { $0 > key } }
        ) {
          ["\($0)"]
        }
        #expect(page.entries.count <= limit)
        seen += page.entries
        cursor = page.next
        entries = entries.filter { $0 % 3 == 0 || Bool.random(using: &generator) }
        for _ in 0..<3 {
          let new = Int.random(in: 100...999, using: &generator)
          if new % 3 != 0 { entries.insert(new) }
        }
      } while cursor != nil
      #expect(seen == seen.sorted())
      #expect(Set(seen).count == seen.count)
      #expect(staying.isSubset(of: seen))
    }
  }

  @Test(
    "a cursor that Pharos did not give is refused",
    arguments: ["x", "c", "c0", "czz", "cff", "c61"]
  )
  func outsiders(cursor: String) throws {
    let target = "/x?cursor=\(cursor)"
    var query = try QueryReading(target: target, known: ["cursor"])
    #expect(Page.key(&query) { $0.first.flatMap { Int($0) } } == nil)
    #expect(throws: Problem.self) { try query.finish() }
  }
}
