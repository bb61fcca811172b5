import PharosDocuments
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

/// The scanner, tried through the format: an unknown member may hold any JSON, and must be JSON.
@Suite("JSON text")
struct JSONScannerTests {
  private func accepts(_ value: String) -> Bool {
    let text = #"{"gw":"a","mac":"000000000001","rssi":-60,"other":"# + value + "}"
    let (lines, notes) = read(Array(text.utf8))
    return lines == ["a advert 00:00:00:00:00:01/unknown -60 unknown [] received"] && notes.skipped.isEmpty
  }

  @Test(
    "JSON that RFC 8259 allows is accepted",
    arguments: [
      "0", "-0", "1.5", "-1.5e10", "1E+2", "1e-2", "true", "false", "null", "\"\"", "\"\\u0041\\n\\\\\\/\"",
      "[]", "{}",
      " [ 1 , [ 2 , { } ] , { \"a\" : \"b\" } ] ", "\"\u{E9}\u{1F600}\"", "\"\\ud83d\\ude00\"", "\"\u{7F}\"",
      "[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]",
    ]
  )
  func valid(value: String) { #expect(accepts(value)) }

  @Test(
    "JSON that it forbids is refused or counted",
    arguments: [
      "", "01", "+1", ".5", "1.", "1e", "--1", "0x1", "tru", "True", "nul", "NaN", "'a'", "\"", "\"\\x\"",
      "\"\\u12\"",
      "\"\\u12g4\"", "\"\\ud83d\"", "\"\\ud83dx\"", "\"\\ud83d\\u0041\"", "\"\\ude00\"", "\"\n\"",
      "\"\u{1}\"", "[1,]", "[1 2]",
      "[,]", "[1", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:2}", "}", "]", "1 1",
      "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
    ]
  )
  func invalid(value: String) { #expect(!accepts(value)) }

  @Test(
    "bytes that are no UTF-8 are counted",
    arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]]
  )
  func encoding(damage: [UInt8]) {
    let text =
      Array(#"{"gw":"a","mac":"000000000001","rssi":-60,"other":""#.utf8) + damage + Array("\"}".utf8)
    let (lines, notes) = read(text)
    #expect(lines?.count == 1 && notes.skipped == [.badText: 1])
  }

  @Test("any nesting is refused without exhausting the stack", arguments: ["[", "{\"adverts\":[", "{\"a\":"])
  func depth(opening: String) {
    #expect(decoded(String(repeating: opening, count: 5_000)) == .failure(.badText))
  }

  @Test("the last of two members of one name counts")
  func duplicates() {
    #expect(
      decoded(#"{"gw":"a","gw":"b","heartbeat":false,"heartbeat":true}"#)
        == .success(["b heartbeat - - 0 received"])
    )
  }

  @Test(
    "an identity has the value that it has elsewhere, however it is written",
    arguments: Seeds.drawn(0..<300, first: 18)
  )
  func identities(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let alphabet = Array("0123456789abcdefABCDEF:-gx ")
    let separators = ["", ":", "-"]
    let separator = separators[Int(seed % 3)]
    let octets = [6, 8, 16][Int(seed / 3 % 3)]
    var text = (0..<octets).map { _ in Hex.text(CollectionOfOne(UInt8.random(in: 0...255, using: &random))) }
      .joined(separator: separator)
    if seed.isMultiple(of: 2) {
      let place = Int.random(in: 0..<text.count, using: &random)
      let character = alphabet.randomElement(using: &random) ?? "0"
      var characters = Array(text)
      characters[place] = character
      text = String(characters)
    }
    let expected = ObserverID(text).map { "\($0) heartbeat - - 0 received" }
    #expect(
      decoded(#"{"observer":"\#(text)","heartbeat":true}"#) == expected.map { .success([$0]) }
        ?? .failure(.badIdentity)
    )
  }
}
