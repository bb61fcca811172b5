import PharosWire
import Testing

@Suite struct ADStructuresTests {
  @Test(
    "a walk gives each structure's type and data, and says how it ended",
    arguments: [
      ("", [], false, "nothing at all"),
      ("020106", ["01:06"], false, "one structure"),
      ("020106 03ff4c00 0108", ["01:06", "ff:4c00", "08:"], false, "data may be empty"),
      ("020106 020106", ["01:06", "01:06"], false, "a type may come twice"),
      ("020106 00 0201ff", ["01:06"], false, "a zero ends the walk, and padding need not be zeros"),
      ("00", [], false, "only padding"),
      ("020106 0c002beeddcc", ["01:06"], true, "a gateway's trailing length runs past the end"),
      ("62", [], true, "a length alone"),
      ("01", [], true, "a length without its type"),
      ("0201", [], true, "cut off in the data"),
      ("02ff03 020106", ["ff:03", "01:06"], false, "manufacturer data too short for a company"),
    ]
  )
  func walk(hex: String, expected: [String], isMalformed: Bool, why: String) {
    let payload = bytes(hex)
    let walked = structures(payload)
    #expect(walked.all.map { text($0, in: payload) } == expected, "\(why)")
    #expect(walked.isMalformed == isMalformed, "\(why)")
  }

  @Test("the longest structure and the longest joined payload are walked")
  func maximum() {
    let long = structure(0xFF, Array(repeating: 7, count: 254))
    let payload = (0..<6).flatMap { _ in long } + structure(0x09, Array(repeating: 0x61, count: 112))
    #expect(payload.count == 1_650)
    let walked = structures(payload)
    #expect(walked.all.map(\.payload.count) == [254, 254, 254, 254, 254, 254, 112])
    #expect(walked.all.last?.payload.upperBound == 1_650)
    #expect(!walked.isMalformed)
  }

  @Test("a walk that has ended stays ended", arguments: ["020106", "02010600aa", "020106ff"])
  func staysEnded(hex: String) {
    let payload = bytes(hex)
    var walk = ADStructures()
    while walk.next(in: payload.span.bytes) != nil {}
    let malformed = walk.isMalformed
    let again = walk.next(in: payload.span.bytes)
    #expect(again == nil)
    #expect(walk.isMalformed == malformed)
  }

  private func text(_ structure: ADStructure, in payload: [UInt8]) -> String {
    let digits = payload[structure.payload].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    let type = structure.type.rawValue
    return (type < 16 ? "0" : "") + String(type, radix: 16) + ":" + digits.joined()
  }
}
