/// Reads JSON strictly: no comments, no trailing commas, each name of an object once, a bounded depth.
///
/// - Source: RFC 8259.
struct JSONParser {
  /// Why some bytes are no JSON, and where.
  struct Failure: Error {
    var offset: Int
    var reason: String
  }

  /// How deep containers may lie in each other; Pharos's own bodies need four.
  static let deepest = 32

  private let bytes: [UInt8]
  private var place = 0
  private var depth = 0

  /// Starts at the first byte.
  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The one value that the bytes hold.
  mutating func document() throws(Failure) -> JSONValue {
    let value = try value()
    skipSpace()
    guard place == bytes.count else { throw failure("something follows the value") }
    return value
  }

  private mutating func value() throws(Failure) -> JSONValue {
    skipSpace()
    guard let byte = peek else { throw failure("the text ends where a value was expected") }
    switch byte {
    case UInt8(ascii: "{"): return try nested { (parser) throws(Failure) in try parser.object() }
    case UInt8(ascii: "["): return try nested { (parser) throws(Failure) in try parser.array() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw failure("a value was expected")
    }
  }

  private mutating func nested(
    _ body: (inout JSONParser) throws(Failure) -> JSONValue
  ) throws(Failure) -> JSONValue {
    depth += 1
    guard depth <= JSONParser.deepest else {
      throw failure("it is nested deeper than \(JSONParser.deepest)")
    }
    defer { depth -= 1 }
    place += 1
    return try body(&self)
  }

  private mutating func object() throws(Failure) -> JSONValue {
    var members: [JSONValue.Member] = []
    var names: Set<String> = []
    if takes("}") { return .object([]) }
    repeat {
      skipSpace()
      guard peek == UInt8(ascii: "\"") else {
        throw failure("a name in double quotes was expected")
      }
      let name = try string()
      guard names.insert(name).inserted else { throw failure("the name \"\(name)\" comes twice") }
      guard takes(":") else { throw failure("a colon was expected") }
      members.append(JSONValue.Member(name: name, value: try value()))
    } while takes(",")
    guard takes("}") else { throw failure("a comma or a closing brace was expected") }
    return .object(members)
  }

  private mutating func array() throws(Failure) -> JSONValue {
    var elements: [JSONValue] = []
    if takes("]") { return .array([]) }
    repeat { elements.append(try value()) } while takes(",")
    guard takes("]") else { throw failure("a comma or a closing bracket was expected") }
    return .array(elements)
  }

  private mutating func word(_ text: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
    let expected = Array(text.description.utf8)
    guard bytes[place...].starts(with: expected) else { throw failure("a value was expected") }
    place += expected.count
    return value
  }

  private mutating func number() throws(Failure) -> JSONValue {
    let start = place
    if peek == UInt8(ascii: "-") { place += 1 }
    if peek == UInt8(ascii: "0") { place += 1 } else { try digits() }
    var isWhole = true
    if peek == UInt8(ascii: ".") {
      isWhole = false
      place += 1
      try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      isWhole = false
      place += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { place += 1 }
      try digits()
    }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    if isWhole, let integer = Int64(text) { return .integer(integer) }
    guard let number = Double(text), number.isFinite else {
      throw failure("a number is out of range")
    }
    return .number(number)
  }

  private mutating func digits() throws(Failure) {
    let start = place
    while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
    guard place > start else { throw failure("a digit was expected") }
  }
}

extension JSONParser {
  private mutating func string() throws(Failure) -> String {
    let start = place
    place += 1
    var text: [UInt8] = []
    while let byte = peek {
      place += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(validating: text, as: UTF8.self) else {
          throw Failure(offset: start, reason: "a string is no UTF-8")
        }
        return string
      case UInt8(ascii: "\\"): try escape(into: &text)
      case 0..<0x20: throw failure("a string holds a control character; write it as an escape")
      default: text.append(byte)
      }
    }
    throw Failure(offset: start, reason: "a string does not end")
  }

  private mutating func escape(into text: inout [UInt8]) throws(Failure) {
    guard let byte = peek else { throw failure("the text ends inside an escape") }
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: try character().utf8)
    default: throw failure("an escape is none that JSON knows")
    }
  }

  private mutating func character() throws(Failure) -> Character {
    let first = try unit()
    if let scalar = UnicodeScalar(first) { return Character(scalar) }
    guard (0xD800..<0xDC00).contains(first), peek == UInt8(ascii: "\\") else {
      throw failure("an escape is half of a surrogate pair")
    }
    place += 1
    guard peek == UInt8(ascii: "u") else { throw failure("an escape is half of a surrogate pair") }
    place += 1
    let second = try unit()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = UnicodeScalar(0x1_0000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw failure("an escape is half of a surrogate pair") }
    return Character(scalar)
  }

  private mutating func unit() throws(Failure) -> UInt32 {
    guard place + 4 <= bytes.count,
      bytes[place..<place + 4].allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
      let unit = UInt32(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
    else { throw failure("four hexadecimal digits were expected") }
    place += 4
    return unit
  }

  private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      place += 1
    }
  }

  private mutating func takes(_ character: UnicodeScalar) -> Bool {
    skipSpace()
    guard peek == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  private func failure(_ reason: String) -> Failure { Failure(offset: place, reason: reason) }
}
