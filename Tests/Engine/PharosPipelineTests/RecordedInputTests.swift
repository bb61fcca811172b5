import PharosDocuments
import PharosModel
import PharosPipeline
import PharosTestSupport
import Testing

@Suite("Recorded inputs")
struct RecordedInputTests {
  @Test("recorded inputs are read back to the last bit", arguments: Seeds.drawn(0..<300 as Range<UInt64>))
  func roundTrip(seed: UInt64) throws {
    var sites = RandomSites(seed: seed)
    let input = sites.input()
    #expect(try RecordedInput(decoding: input.encoded[...]) == input)
  }

  @Test("every cut is an error that says so", arguments: Seeds.drawn(0..<20 as Range<UInt64>))
  func cuts(seed: UInt64) {
    var sites = RandomSites(seed: seed)
    let bytes = sites.input().encoded
    for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 300)) {
      #expect(throws: FieldError.self) { try RecordedInput(decoding: bytes[..<length]) }
    }
  }

  @Test("surplus bytes are an error")
  func surplus() {
    let bytes = RecordedInput.tick(through: Timestamp(seconds: 1)).encoded + [0]
    let error = #expect(throws: FieldError.self) { try RecordedInput(decoding: bytes[...]) }
    #expect(error?.problem == .surplus(bytes: 1))
  }

  @Test(
    "flipped bytes give an input or an error, never a crash or a flood",
    arguments: Seeds.drawn(0..<40 as Range<UInt64>)
  )
  func mutations(seed: UInt64) {
    var sites = RandomSites(seed: seed)
    let bytes = sites.input().encoded
    var outcomes = 0
    for _ in 0..<200 {
      var mutated = bytes
      for _ in 0..<sites.number(1...4) {
        mutated[sites.number(0...(bytes.count - 1))] = UInt8(sites.number(0...255))
      }
      // What is accepted must be a value that is written as it was read.
      if let input = try? RecordedInput(decoding: mutated[...]) {
        #expect((try? RecordedInput(decoding: input.encoded[...]))?.encoded == input.encoded)
      }
      outcomes += 1
    }
    #expect(outcomes == 200)
  }

  @Test("random bytes are refused", arguments: Seeds.drawn(0..<10 as Range<UInt64>))
  func noise(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let count = Int.random(in: 0..<200, using: &random)
      var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      // A right head, so that the fields behind it are reached.
      let head = [RecordedInput.version, 2, 0, 0]
      for (index, byte) in head.enumerated() where index < count { bytes[index] = byte }
      if let input = try? RecordedInput(decoding: bytes[...]) { #expect(input.encoded.count == bytes.count) }
    }
  }

  @Test("a tree deeper than any site has is refused, not followed")
  func depth() {
    var node = RegionNode(region: Region(identifier: "x", constraint: .proximity(UUID128(high: 0, low: 0))))
    for _ in 0..<300 { node = RegionNode(region: node.region, children: [node]) }
    let change = RegionChange.setRotation(application: "a", [node])
    let bytes = RecordedInput.change(change, at: Timestamp(seconds: 0)).encoded
    let error = #expect(throws: FieldError.self) { try RecordedInput(decoding: bytes[...]) }
    #expect(error?.problem == .tooDeep(limit: 128))
  }

  /// The very bytes of the page "Recording".
  @Test("the example of the documentation is what is written")
  func example() throws {
    let change = RegionChange.stopMonitoring(application: "gallery", identifier: "entrance")
    let input = RecordedInput.change(change, at: Timestamp(seconds: 1_767_258_000))
    let text = "0302000018868fc9a477a000" + "01" + "0000000767616c6c657279" + "00000008656e7472616e6365"
    #expect(Hex.text(input.encoded) == text)
    #expect(RecordedInput.blockType == 0x8050_4852)
  }

  @Test(
    "an error says where, what and what to do",
    arguments: [
      (
        FieldError(.cut, at: 4),
        "byte 4: it ends inside a field"
      ),
      (
        FieldError(.version(9, expected: 3), at: 1),
        "byte 1: version 9, this program reads version 3"
      ),
      (
        FieldError(.unknownTag(field: "liveness", tag: 7), at: 30),
        "byte 30: 7 is no value of liveness"
      ),
    ]
  )
  func prose(error: FieldError, text: String) {
    #expect(error.description == text)
  }
}
