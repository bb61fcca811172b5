import PharosJournal
import PharosModel
import PharosTestSupport
import Testing

@Suite("Places in a block")
struct BlockIndexTests {
  @Test(
    "any set of places comes back from its bytes",
    arguments: [0, 1, 100, 4_095, 4_096, 4_097, 30_000, 65_536]
  )
  func encoding(count: Int) throws {
    var random = SeededGenerator(seed: UInt64(count))
    let places = Array((0..<65_536).shuffled(using: &random).prefix(count)).sorted()
    let bytes = BlockBits.encode(places.map { UInt64($0) }[...])
    #expect(bytes.count == min(count * 2, 8_192))
    var bits = BlockBits()
    try bits.formUnion(encoded: bytes)
    #expect(bits.places(from: 0) == places)
    #expect(bits.isEmpty == (count == 0))
    for first in [0, 1, 63, 64, 65, 4_095, 65_535] {
      #expect(bits.places(from: first) == places.filter { $0 >= first })
    }
  }

  @Test("bytes that are no set are refused", arguments: [1, 7, 8_191, 8_194, 20_000])
  func refused(count: Int) {
    var bits = BlockBits()
    #expect(throws: DamagedRecord.self) { try bits.formUnion(encoded: Array(repeating: 0, count: count)) }
  }

  @Test("a tail's postings say what the tail itself says")
  func tail() throws {
    var random = SeededGenerator(seed: 4)
    var tail = TailIndex(block: 3)
    for place in 0..<5_000 {
      let keys = (0..<4).map { _ in Int64.random(in: 0..<40, using: &random) }
      tail.add(keys, place: place, time: Timestamp(seconds: Int64(place % 77)))
    }
    #expect(tail.earliest == Timestamp(seconds: 0))
    #expect(tail.latest == Timestamp(seconds: 76))
    let postings = tail.postings()
    #expect(postings.map(\.key) == postings.map(\.key).sorted())
    #expect(postings.count == 40)
    for (key, bytes) in postings {
      var bits = BlockBits()
      try bits.formUnion(encoded: bytes)
      #expect(bits == tail.places(of: [key]))
    }
  }

  @Test("a tail is searched from a place on, for few keys and for many", arguments: [1, 8, 9, 40])
  func tailFrom(count: Int) {
    var random = SeededGenerator(seed: UInt64(count))
    var tail = TailIndex(block: 0)
    var mentions: [[Int64]] = []
    for place in 0..<3_000 {
      let keys = (0..<Int.random(in: 1...5, using: &random)).map { _ in
        Int64.random(in: 0..<90, using: &random)
      }
      tail.add(keys, place: place, time: Timestamp(seconds: 1))
      mentions.append(keys)
    }
    let wanted = Set((0..<90).shuffled(using: &random).prefix(count).map { Int64($0) })
    for first in [0, 1, 1_500, 2_999, 3_000, 65_535] {
      let expected = mentions.indices.filter { $0 >= first && !wanted.isDisjoint(with: mentions[$0]) }
      #expect(tail.places(of: wanted, from: first).places(from: 0) == expected)
    }
  }

  @Test("blocks begin and end where they should")
  func bounds() {
    let blocks = Blocks.usual
    #expect(blocks.first(of: 1) == 65_536)
    #expect(blocks.last(of: 0) == 65_535)
    #expect(blocks.isLast(65_535))
    #expect(!blocks.isLast(65_536))
    #expect(blocks.containing(65_536) == 1)
    #expect(blocks.place(of: 65_537) == 1)
  }
}
