import PharosModel

/// Walks JSON text where it lies, checking every character; nothing is copied or allocated.
///
/// A value is checked whole before anything inside it is looked at, so that what is malformed is refused
/// wherever it stands. UTF-8 is checked once for the whole datagram, before the first scanner is made.
///
/// - Source: RFC 8259.
struct JSONScanner {
  /// The largest depth of arrays and objects: the deepest understood shape has 5 levels, and a stack is finite.
  static let deepest = 16

  var offset: Int
  private let end: Int

  init(_ range: Range<Int>) {
    offset = range.lowerBound
    end = range.upperBound
  }

  /// Skips white space and returns whether nothing else is left.
  mutating func isAtEnd(_ bytes: RawSpan) -> Bool {
    skipSpace(bytes)
    return offset == end
  }

  /// Passes over a value, whatever it is.
  mutating func value(_ bytes: RawSpan, depth: Int = 0) throws(DatagramRefusal) -> JSONValue {
    skipSpace(bytes)
    switch try peek(bytes) {
    case UInt8(ascii: "{"): return try object(bytes, depth: depth)
    case UInt8(ascii: "["): return try array(bytes, depth: depth)
    case UInt8(ascii: "\""): return try string(bytes)
    case UInt8(ascii: "t"): return try literal(bytes, "true", .yes)
    case UInt8(ascii: "f"): return try literal(bytes, "false", .no)
    case UInt8(ascii: "n"): return try literal(bytes, "null", .null)
    default: return try number(bytes)
    }
  }

  /// The next element inside an array, or nil behind the last one.
  mutating func nextElement(_ bytes: RawSpan) throws(DatagramRefusal) -> JSONValue? {
    guard !isAtEnd(bytes) else { return nil }
    if bytes.byte(at: offset) == UInt8(ascii: ",") { offset += 1 }
    return try value(bytes)
  }

  /// The next key and value inside an object, or nil behind the last ones.
  mutating func nextMember(_ bytes: RawSpan) throws(DatagramRefusal) -> (key: JSONValue, value: JSONValue)? {
    guard !isAtEnd(bytes) else { return nil }
    if bytes.byte(at: offset) == UInt8(ascii: ",") { offset += 1 }
    skipSpace(bytes)
    let key = try string(bytes)
    skipSpace(bytes)
    try expect(UInt8(ascii: ":"), bytes)
    return (key, try value(bytes))
  }

  private mutating func object(_ bytes: RawSpan, depth: Int) throws(DatagramRefusal) -> JSONValue {
    guard depth < JSONScanner.deepest else { throw .badText }
    let start = offset + 1
    offset += 1
    skipSpace(bytes)
    if try peek(bytes) == UInt8(ascii: "}") { return close(.object, from: start) }
    while true {
      skipSpace(bytes)
      _ = try string(bytes)
      skipSpace(bytes)
      try expect(UInt8(ascii: ":"), bytes)
      _ = try value(bytes, depth: depth + 1)
      skipSpace(bytes)
      if try peek(bytes) == UInt8(ascii: "}") { return close(.object, from: start) }
      try expect(UInt8(ascii: ","), bytes)
    }
  }

  private mutating func array(_ bytes: RawSpan, depth: Int) throws(DatagramRefusal) -> JSONValue {
    guard depth < JSONScanner.deepest else { throw .badText }
    let start = offset + 1
    offset += 1
    skipSpace(bytes)
    if try peek(bytes) == UInt8(ascii: "]") { return close(.array, from: start) }
    while true {
      _ = try value(bytes, depth: depth + 1)
      skipSpace(bytes)
      if try peek(bytes) == UInt8(ascii: "]") { return close(.array, from: start) }
      try expect(UInt8(ascii: ","), bytes)
    }
  }

  /// Passes over the closing bracket at hand.
  private mutating func close(_ kind: JSONValue.Kind, from start: Int) -> JSONValue {
    let value = JSONValue(kind, start..<offset)
    offset += 1
    return value
  }

  private mutating func string(_ bytes: RawSpan) throws(DatagramRefusal) -> JSONValue {
    try expect(UInt8(ascii: "\""), bytes)
    let start = offset
    var isEscaped = false
    while true {
      let byte = try peek(bytes)
      switch byte {
      case UInt8(ascii: "\""):
        let value = JSONValue(.string, start..<offset, isEscaped: isEscaped)
        offset += 1
        return value
      case UInt8(ascii: "\\"):
        isEscaped = true
        _ = try escape(bytes)
      case ..<0x20: throw .badText
      default: offset += 1
      }
    }
  }

  private mutating func literal(
    _ bytes: RawSpan,
    _ text: StaticString,
    _ kind: JSONValue.Kind
  ) throws(DatagramRefusal) -> JSONValue {
    let start = offset
    for index in 0..<text.utf8CodeUnitCount {
      try unsafe expect(text.utf8Start[index], bytes)
    }
    return JSONValue(kind, start..<offset)
  }

  private mutating func number(_ bytes: RawSpan) throws(DatagramRefusal) -> JSONValue {
    let start = offset
    if try peek(bytes) == UInt8(ascii: "-") { offset += 1 }
    if try peek(bytes) == UInt8(ascii: "0") { offset += 1 } else { try digits(bytes) }
    if offset < end, bytes.byte(at: offset) == UInt8(ascii: ".") {
      offset += 1
      try digits(bytes)
    }
    if offset < end, bytes.byte(at: offset) | 0x20 == UInt8(ascii: "e") {
      offset += 1
      let sign = try peek(bytes)
      if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { offset += 1 }
      try digits(bytes)
    }
    return JSONValue(.number, start..<offset)
  }

  private mutating func digits(_ bytes: RawSpan) throws(DatagramRefusal) {
    guard WireText.isDigit(try peek(bytes)) else { throw .badText }
    while offset < end, WireText.isDigit(bytes.byte(at: offset)) { offset += 1 }
  }

  private mutating func skipSpace(_ bytes: RawSpan) {
    while offset < end, JSONScanner.isSpace(bytes.byte(at: offset)) { offset += 1 }
  }

  func peek(_ bytes: RawSpan) throws(DatagramRefusal) -> UInt8 {
    guard offset < end else { throw .badText }
    return bytes.byte(at: offset)
  }

  mutating func expect(_ byte: UInt8, _ bytes: RawSpan) throws(DatagramRefusal) {
    guard try peek(bytes) == byte else { throw .badText }
    offset += 1
  }

  /// Returns whether the character is white space in JSON.
  static func isSpace(_ ascii: UInt8) -> Bool {
    ascii == UInt8(ascii: " ") || ascii == UInt8(ascii: "\n") || ascii == UInt8(ascii: "\r")
      || ascii == UInt8(ascii: "\t")
  }
}

/// The backslash sequences of strings.
extension JSONScanner {
  /// Passes over an escape sequence and says which character it stands for.
  mutating func escape(_ bytes: RawSpan) throws(DatagramRefusal) -> Unicode.Scalar {
    try expect(UInt8(ascii: "\\"), bytes)
    let letter = try peek(bytes)
    offset += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw .badText
    }
    let unit = try codeUnit(bytes)
    guard 0xD800...0xDBFF ~= unit else {
      guard let scalar = Unicode.Scalar(unit) else { throw .badText }
      return scalar
    }
    // A high surrogate counts only with its low one.
    try expect(UInt8(ascii: "\\"), bytes)
    try expect(UInt8(ascii: "u"), bytes)
    let low = try codeUnit(bytes)
    guard 0xDC00...0xDFFF ~= low else { throw .badText }
    guard let scalar = Unicode.Scalar(0x1_0000 + (unit - 0xD800) << 10 + (low - 0xDC00)) else {
      throw .badText
    }
    return scalar
  }

  /// The text of a string, its escapes resolved, as UTF-8.
  static func text(of string: JSONValue, _ bytes: RawSpan) throws(DatagramRefusal) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(string.range.count)
    var scanner = JSONScanner(string.range)
    while scanner.offset < string.range.upperBound {
      let byte = try scanner.peek(bytes)
      if byte == UInt8(ascii: "\\") {
        text.append(contentsOf: UTF8.encode(try scanner.escape(bytes)) ?? UTF8.encodedReplacementCharacter)
      } else {
        text.append(byte)
        scanner.offset += 1
      }
    }
    return text
  }

  /// Reads the four hexadecimal digits of a UTF-16 code unit.
  private mutating func codeUnit(_ bytes: RawSpan) throws(DatagramRefusal) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Hex.nibble(try peek(bytes)) else { throw .badText }
      unit = unit << 4 | UInt32(digit)
      offset += 1
    }
    return unit
  }
}

/// A JSON value in a datagram: its kind and its range.
///
/// The value holds no copy of the bytes.
struct JSONValue {
  /// The kind of value.
  enum Kind: UInt8 {
    /// It is not there at all.
    case absent
    case null
    case yes
    case no
    case number
    case string
    case array
    case object
  }

  let kind: Kind
  /// Indicates whether a string holds backslashes, so that its bytes are not its text.
  let isEscaped: Bool
  private let start: UInt32
  private let end: UInt32

  /// The value of a member that an object does not have.
  static let absent = JSONValue(.absent, 0..<0)

  init(_ kind: Kind, _ range: Range<Int>, isEscaped: Bool = false) {
    self.kind = kind
    self.isEscaped = isEscaped
    start = UInt32(range.lowerBound)
    end = UInt32(range.upperBound)
  }

  /// The range of the value, without quotes and brackets.
  var range: Range<Int> { Int(start)..<Int(end) }

  /// Indicates whether there is a value: neither absent nor null.
  var isPresent: Bool { kind != .absent && kind != .null }
}
