import PharosDocuments
import PharosHTTP
import PharosModel
import PharosTestSupport
import Testing

/// The parsers of what unknown clients send: they accept valid input, refuse the rest, and never crash.
@Suite("Reading what clients send")
struct MessageTests {
  @Test(
    "JSON is read as RFC 8259 has it",
    arguments: [
      ("null", JSONValue.null), (" true ", .bool(true)), ("-0", .integer(0)), ("12", .integer(12)),
      ("1.5e3", .number(1_500)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
      (#""a\"\\\/\b\f\n\r\té😀""#, .string("a\"\\/\u{8}\u{c}\n\r\té😀")),
      (#""\ud83d\ude00""#, .string("😀")),
      ("[]", .array([])),
      ("[1,[2],{}]", .array([.integer(1), .array([.integer(2)]), .object([])])),
      (
        #"{"a":1,"b":null}"#,
        .object([.init(name: "a", value: .integer(1)), .init(name: "b", value: .null)])
      ),
    ]
  )
  func json(text: String, value: JSONValue) throws {
    #expect(try JSONValue(parsing: Array(text.utf8)) == value)
  }

  @Test(
    "invalid JSON is refused with the place of the error",
    arguments: [
      "", "nul", "01", "1.", ".5", "+1", "1e", "1e999", "'a'", #""\x""#, #""\ud83d""#, #""\ude00""#,
      "\"a\nb\"",
      "\"open", "[1,]", "[1 2]", "{1:2}", #"{"a"}"#, #"{"a":1,}"#, #"{"a":1,"a":2}"#, "1 2", "[",
      "{", "NaN",
    ]
  )
  func notJSON(text: String) {
    #expect {
      try BodyDocument.read(Array(text.utf8), name: "body", known: ["a"]) { _ in true }
    } throws: { error in
      Problem(error).map { $0.status == 400 && $0.detail.hasPrefix("Line ") } == true
    }
  }

  @Test("nesting is bounded, and bytes at random never crash")
  func hostileJSON() {
    let deep = Array(String(repeating: "[", count: 100_000).utf8)
    #expect(throws: JSONError.self) { try JSONValue(parsing: deep) }
    #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
    var generator = SeededGenerator(seed: 3)
    let alphabet = Array(#"{}[]",:0123456789.eE+-tfn\u rualse"#.utf8)
    var read = 0
    for _ in 0..<20_000 {
      let length = Int.random(in: 0...24, using: &generator)
      let bytes = (0..<length).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
      if (try? JSONValue(parsing: bytes)) != nil { read += 1 }
    }
    #expect(read > 0)
  }

  @Test(
    "times are read to the nanosecond",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59.5Z", 951_868_799_500_000_000),
      ("2015-01-01T01:00:00+01:00", 1_420_070_400_000_000_000),
      ("2015-01-01t00:00:00.123456789z", 1_420_070_400_123_456_789),
      ("1969-12-31T23:59:59Z", -1_000_000_000),
      ("1420070400", 1_420_070_400_000_000_000), ("1420070400.25", 1_420_070_400_250_000_000),
      ("2016-12-31T23:59:60Z", 1_483_228_800_000_000_000),
    ] as [(String, Int64)]
  )
  func times(text: String, nanoseconds: Int64) {
    #expect(Timestamp(text: text)?.nanoseconds == nanoseconds)
  }

  @Test("a time that was written is read back, whichever it is")
  func timesRoundTrip() {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<5_000 {
      let time = Timestamp(nanoseconds: Int64.random(in: .min ... .max, using: &generator))
      #expect(Timestamp(text: time.rfc3339) == time)
    }
    for time in [Timestamp.distantPast, .distantFuture] { #expect(Timestamp(text: time.rfc3339) == time) }
  }

  @Test(
    "an invalid time is refused",
    arguments: [
      "", "now", "2015-13-01T00:00:00Z", "2015-02-29T00:00:00Z", "2015-01-01T24:00:00Z",
      "2015-01-01T00:00:00",
      "2015-01-01", "2015-01-01T00:00:00.Z", "2015-01-01T00:00:00+25:00", "-5", "1e9", "1.", "١٢٣",
    ]
  )
  func noTimes(text: String) {
    #expect(Timestamp(text: text) == nil)
  }

  @Test("percent-encoding goes there and back, and what is broken is refused")
  func percent() {
    var generator = SeededGenerator(seed: 9)
    for _ in 0..<2_000 {
      let scalars = (0..<8).compactMap { _ in
        UnicodeScalar(UInt32.random(in: 0...0x2_FFFF, using: &generator))
      }
      let text = String(String.UnicodeScalarView(scalars))
      #expect(PercentCoding.decode(PercentCoding.encode(segment: text)) == text)
    }
    #expect(PercentCoding.decode("a+b%2Bc", plusIsSpace: true) == "a b+c")
    #expect(PercentCoding.decode("a+b") == "a+b")
    for text in ["%", "%2", "%zz", "%ff", "a%C3"] { #expect(PercentCoding.decode(text) == nil) }
  }

  @Test(
    "entity tags are compared weakly, in lists too",
    arguments: [
      ("\"a\"", true), ("W/\"a\"", true), ("\"b\", W/\"a\"", true), ("*", true), ("\"b\"", false),
      ("", false),
      ("a", false), ("\"a\"b", false),
    ]
  )
  func tags(field: String, isMatch: Bool) {
    #expect(EntityTag.matches(field, "W/\"a\"") == isMatch)
  }

  @Test(
    "the host of a field is found, and only this machine's names are its own",
    arguments: [
      ("localhost", "localhost", true), ("127.0.0.1:80", "127.0.0.1", true),
      ("[::1]:80", "::1", true),
      ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1", true), ("10.0.0.1", "10.0.0.1", false),
      ("localhost.evil.org", "localhost.evil.org", false),
      ("127.0.0.1.evil.org", "127.0.0.1.evil.org", false),
      ("a.LOCALHOST:1", "a.localhost", true), ("0.0.0.0", "0.0.0.0", false), ("[::1", nil, false),
      ("a:b", nil, false),
      ("", nil, false),
    ] as [(String, String?, Bool)]
  )
  func hosts(field: String, host: String?, isLoopback: Bool) {
    #expect(HostName.host(of: field) == host)
    #expect(host.map { HostPort.isLoopback(host: $0) } ?? false == isLoopback)
  }
}
