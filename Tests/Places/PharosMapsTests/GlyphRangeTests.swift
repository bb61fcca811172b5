import PharosMaps
import PharosTestSupport
import Testing

@Suite("Glyphs for names on maps")
struct GlyphRangeTests {
  @Test("the distance of each pixel is that from the nearest pixel on the other side of the outline")
  func distances() {
    for seed in 1...40 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let (width, height) = (Int.random(in: 1...14, using: &random), Int.random(in: 1...14, using: &random))
      let density = Double.random(in: 0.05...0.95, using: &random)
      let isCovered = (0..<width * height).map { _ in Double.random(in: 0..<1, using: &random) < density }
      guard isCovered.contains(true), isCovered.contains(false) else { continue }
      let found = SignedDistances(of: isCovered.map { $0 ? 1 : 0 }, width: width)
      for place in isCovered.indices {
        let others = isCovered.indices.filter { isCovered[$0] != isCovered[place] }
        let nearest = others.map { other in
          let (x, y) = (place % width - other % width, place / width - other / width)
          return Double(x * x + y * y).squareRoot()
        }.min()
        let wanted = (nearest ?? 0) * (isCovered[place] ? -1 : 1)
        #expect(abs(found.values[place] - wanted) < 1e-9, "seed \(seed), pixel \(place)")
      }
    }
  }

  @Test("a pixel that is covered in part lies on the outline or next to it")
  func partialCoverage() {
    let found = SignedDistances(of: [1, 1, 0.5, 0, 0], width: 5)
    #expect(found.values == [-2, -1, 0, 1, 2])
    #expect(SignedDistances(of: [0, 0.25], width: 2).values[1] == 0.25)
    #expect(SignedDistances(of: [0, 0.75], width: 2).values[1] == -0.25)
  }

  /// The one font of a range: its name, the name of the range, and its glyphs.
  private func stack(_ first: UInt32) throws -> [VectorTileDecoder.Field] {
    let stacks = try VectorTileDecoder.fields(GlyphRange(from: first, font: "Any").bytes[...])
    #expect(stacks.map(\.number) == [1])
    let fields = try VectorTileDecoder.fields(try #require(stacks.first).content)
    let names = fields.prefix(2).map { String(decoding: $0.content, as: UTF8.self) }
    #expect(names == ["Any", "\(first)-\(first + 255)"])
    #expect(fields.map(\.number).elementsEqual([1, 2] + Array(repeating: 3, count: fields.count - 2)))
    return Array(fields.dropFirst(2))
  }

  @Test("a range has the characters of the font with their boxes, and only those")
  func latin() throws {
    var glyphs: [UInt64: [UInt64: VectorTileDecoder.Field]] = [:]
    for glyph in try stack(0) {
      let fields = Dictionary(
        uniqueKeysWithValues: try VectorTileDecoder.fields(glyph.content).map { ($0.number, $0) }
      )
      let character = try #require(fields[1]?.value)
      let (width, height) = (try #require(fields[3]?.value), try #require(fields[4]?.value))
      let picture = fields[2]?.content
      #expect(picture?.count ?? 0 == (width == 0 ? 0 : Int((width + 6) * (height + 6))))
      #expect(picture?.first ?? 0 < 128, "the corner of \(character) lies outside")
      #expect(fields[7]?.value ?? 99 < 40)
      glyphs[character] = fields
    }
    #expect(glyphs.keys.allSatisfy { $0 >= 32 && !(127..<160).contains($0) })
    #expect("AZaz09 é".unicodeScalars.allSatisfy { glyphs[UInt64($0.value)] != nil })
    // The stem of a letter is inside, its box as high as a capital, and it begins below the height of the line.
    let letter = try #require(glyphs[73])
    #expect(letter[2]?.content.max() ?? 0 > 191)
    #expect((15...20).contains(letter[4]?.value ?? 0))
    let top = try #require(letter[6]?.value)
    #expect((-12 ... -6).contains(Int(top >> 1) ^ -Int(top & 1)))
    let space = try #require(glyphs[32])
    #expect(space[2] == nil && space[7]?.value ?? 0 > 0)
  }

  @Test("a range without characters is a range all the same", arguments: [0xD800, 0x10FF00] as [UInt32])
  func empty(first: UInt32) throws { #expect(try stack(first).isEmpty) }
}
