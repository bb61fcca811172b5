/// A JSON value as somebody sent it.
public enum JSONValue: Hashable, Sendable {
  /// Null.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number without fraction and exponent that fits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object, its members in their order, each name once.
  case object([Member])

  /// A member of an object.
  public struct Member: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value.
    public var value: JSONValue

    /// Makes a member.
    public init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The kind of value, for an error message about an unexpected value.
  public var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// Reads the single value that the bytes hold.
  ///
  /// - Throws: the offset and the cause, if they are not valid JSON.
  public init(parsing bytes: [UInt8]) throws(JSONError) { self = try JSONParser.read(bytes) }
}

/// An error that states where and why bytes are not valid JSON.
public struct JSONError: Error, Hashable, Sendable {
  /// The offset at which reading stopped.
  ///
  /// - Units: bytes from the start.
  public let offset: Int
  /// The problem found there.
  public let reason: String
  /// The valid content.
  public let expected: String
}

extension JSONError: CustomStringConvertible {
  /// The offset, the problem and the expected content.
  public var description: String { "at byte \(offset): \(reason) (expected \(expected))" }
}

/// Reads JSON strictly: one value, no comments, no trailing commas, each key of an object once, a bounded depth.
///
/// - Source: RFC 8259.
struct JSONParser {
  private let bytes: [UInt8]
  private var index = 0

  /// The deepest nesting that is read: documents of ours have four levels, and a stack is finite.
  private static let deepest = 32

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The one value that the bytes hold.
  static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
    var parser = JSONParser(bytes)
    parser.skipSpace()
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.peek == nil else { throw parser.problem("something follows the value", "nothing more") }
    return value
  }

  private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

  private func problem(_ reason: String, _ expected: String) -> JSONError {
    JSONError(offset: index, reason: reason, expected: expected)
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      index += 1
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    index += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
    guard depth < JSONParser.deepest else {
      throw problem("nested more than \(JSONParser.deepest) deep", "a flatter document")
    }
    switch peek {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case nil: throw problem("the text ends here", "a value")
    default: return try literal()
    }
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
    index += 1
    var members: [JSONValue.Member] = []
    var seen: Set<String> = []
    skipSpace()
    if take(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipSpace()
      guard peek == UInt8(ascii: "\"") else { throw problem("a key is missing", "a key in quotes") }
      let key = try string()
      guard seen.insert(key).inserted else {
        throw problem("the key \"\(key.prefix(60))\" stands twice", "each key once")
      }
      skipSpace()
      guard take(UInt8(ascii: ":")) else { throw problem("no colon behind a key", "a colon") }
      skipSpace()
      let value = try value(depth: depth + 1)
      members.append(JSONValue.Member(name: key, value: value))
      skipSpace()
      if take(UInt8(ascii: "}")) { return .object(members) }
      guard take(UInt8(ascii: ",")) else { throw problem("an object does not go on", "a comma or }") }
    }
  }

  private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
    index += 1
    var elements: [JSONValue] = []
    skipSpace()
    if take(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      skipSpace()
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if take(UInt8(ascii: "]")) { return .array(elements) }
      guard take(UInt8(ascii: ",")) else { throw problem("an array does not go on", "a comma or ]") }
    }
  }

  /// A number, true, false or null.
  private mutating func literal() throws(JSONError) -> JSONValue {
    let start = index
    while let byte = peek, JSONParser.isLiteral(byte) { index += 1 }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    switch text {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    default:
      guard JSONParser.isNumber(text) else {
        index = start
        throw problem("no value starts here", "an object, an array, a text, a number, true or false")
      }
      if let whole = Int64(text) { return .integer(whole) }
      guard let number = Double(text), number.isFinite else {
        throw problem("the number \(text.prefix(60)) is out of range", "a number of double precision")
      }
      return .number(number)
    }
  }

  private static func isLiteral(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }

  /// Returns whether a text is a number in JSON's notation.
  private static func isNumber(_ text: String) -> Bool {
    var rest = Substring(text)
    func digits() -> Int {
      let count = rest.prefix { $0.isASCII && $0.isNumber }.count
      rest = rest.dropFirst(count)
      return count
    }
    if rest.first == "-" { rest = rest.dropFirst() }
    let startsWithZero = rest.first == "0"
    let whole = digits()
    guard whole > 0, !startsWithZero || whole == 1 else { return false }
    if rest.first == "." {
      rest = rest.dropFirst()
      guard digits() > 0 else { return false }
    }
    if rest.first == "e" || rest.first == "E" {
      rest = rest.dropFirst()
      if rest.first == "+" || rest.first == "-" { rest = rest.dropFirst() }
      guard digits() > 0 else { return false }
    }
    return rest.isEmpty
  }

  private mutating func string() throws(JSONError) -> String {
    index += 1
    var units: [UInt8] = []
    while let byte = peek {
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: units, as: UTF8.self) else {
          throw problem("a text is not UTF-8", "UTF-8")
        }
        return text
      case UInt8(ascii: "\\"): units.append(contentsOf: try escape())
      case 0..<0x20: throw problem("a control character in a text", "an escape, as in \\n")
      default: units.append(byte)
      }
    }
    throw problem("a text does not end", "a quotation mark")
  }

  /// Reads the escape sequence after a backslash and returns it as UTF-8.
  private mutating func escape() throws(JSONError) -> [UInt8] {
    guard let byte = peek else { throw problem("a text does not end", "a quotation mark") }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw problem("an unknown escape", "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")
    }
  }

  private mutating func unicodeEscape() throws(JSONError) -> [UInt8] {
    let high = try hexadecimal()
    var scalar = UInt32(high)
    if UTF16.isLeadSurrogate(high), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
      let low = try hexadecimal()
      guard UTF16.isTrailSurrogate(low) else { throw problem("half a surrogate pair", "both halves") }
      scalar = 0x1_0000 + (UInt32(high) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
    }
    guard let character = Unicode.Scalar(scalar) else {
      throw problem("half a surrogate pair", "both halves")
    }
    return Array(String(character).utf8)
  }

  private mutating func hexadecimal() throws(JSONError) -> UInt16 {
    let digits = bytes[index..<min(index + 4, bytes.count)]
    let text = String(decoding: digits, as: UTF8.self)
    let isHex = digits.count == 4 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    guard isHex, let unit = UInt16(text, radix: 16) else {
      throw problem("an escape without its digits", "four hexadecimal digits")
    }
    index += 4
    return unit
  }
}
