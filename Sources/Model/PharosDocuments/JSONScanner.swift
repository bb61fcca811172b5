/// Walks JSON text where it lies, checking every character; nothing is copied or allocated.
///
/// A value is checked whole before anything inside it is looked at, so that what is malformed is refused
/// wherever it stands. The caller checks that text which it takes is UTF-8.
///
/// - Source: RFC 8259.
package struct JSONScanner {
  /// The offset of the next character.
  package fileprivate(set) var offset: Int
  private let end: Int
  /// The largest depth of arrays and objects, since a stack is finite.
  private let deepest: Int

  /// A scanner of a text, or of what lies inside an array or an object that was checked.
  package init(_ range: Range<Int>, deepest: Int = 32) {
    offset = range.lowerBound
    end = range.upperBound
    self.deepest = deepest
  }

  /// An error about the next character.
  func problem(_ reason: String, _ expected: String) -> JSONError {
    JSONError(offset: offset, reason: reason, expected: expected)
  }

  /// Skips white space and returns whether nothing else is left.
  package mutating func isAtEnd(_ bytes: RawSpan) -> Bool {
    skipSpace(bytes)
    return offset == end
  }

  /// Passes over a value, whatever it is.
  package mutating func value(_ bytes: RawSpan) throws(JSONError) -> JSONSlice { try value(bytes, depth: 0) }

  private mutating func value(_ bytes: RawSpan, depth: Int) throws(JSONError) -> JSONSlice {
    guard !isAtEnd(bytes) else { throw problem("the text ends here", "a value") }
    switch bytes.byte(at: offset) {
    case UInt8(ascii: "{"): return try object(bytes, depth: depth)
    case UInt8(ascii: "["): return try array(bytes, depth: depth)
    case UInt8(ascii: "\""): return try string(bytes)
    case UInt8(ascii: "t"): return try literal(bytes, "true", .yes)
    case UInt8(ascii: "f"): return try literal(bytes, "false", .no)
    case UInt8(ascii: "n"): return try literal(bytes, "null", .null)
    default: return try number(bytes)
    }
  }

  /// The next element inside an array that was checked, or nil behind the last one.
  package mutating func nextElement(_ bytes: RawSpan) -> JSONSlice? {
    guard !isAtEnd(bytes) else { return nil }
    _ = take(UInt8(ascii: ","), bytes)
    return try? value(bytes)
  }

  /// The next key and value inside an object that was checked, or nil behind the last ones.
  package mutating func nextMember(_ bytes: RawSpan) -> (key: JSONSlice, value: JSONSlice)? {
    guard !isAtEnd(bytes) else { return nil }
    _ = take(UInt8(ascii: ","), bytes)
    guard let key = try? key(bytes), let value = try? value(bytes) else { return nil }
    return (key, value)
  }

  /// Passes over a key and its colon.
  package mutating func key(_ bytes: RawSpan) throws(JSONError) -> JSONSlice {
    guard !isAtEnd(bytes), bytes.byte(at: offset) == UInt8(ascii: "\"") else {
      throw problem("a key is missing", "a key in quotes")
    }
    let key = try string(bytes)
    skipSpace(bytes)
    guard take(UInt8(ascii: ":"), bytes) else { throw problem("no colon behind a key", "a colon") }
    return key
  }

  private mutating func object(_ bytes: RawSpan, depth: Int) throws(JSONError) -> JSONSlice {
    let start = try open(depth: depth)
    if closes(UInt8(ascii: "}"), bytes) { return close(.object, from: start) }
    while true {
      _ = try key(bytes)
      _ = try value(bytes, depth: depth + 1)
      if closes(UInt8(ascii: "}"), bytes) { return close(.object, from: start) }
      guard take(UInt8(ascii: ","), bytes) else { throw problem("an object does not go on", "a comma or }") }
    }
  }

  private mutating func array(_ bytes: RawSpan, depth: Int) throws(JSONError) -> JSONSlice {
    let start = try open(depth: depth)
    if closes(UInt8(ascii: "]"), bytes) { return close(.array, from: start) }
    while true {
      _ = try value(bytes, depth: depth + 1)
      if closes(UInt8(ascii: "]"), bytes) { return close(.array, from: start) }
      guard take(UInt8(ascii: ","), bytes) else { throw problem("an array does not go on", "a comma or ]") }
    }
  }

  /// Passes over the opening bracket at hand.
  private mutating func open(depth: Int) throws(JSONError) -> Int {
    guard depth < deepest else { throw problem("nested more than \(deepest) deep", "a flatter document") }
    offset += 1
    return offset
  }

  /// Skips white space and returns whether a closing bracket follows.
  private mutating func closes(_ bracket: UInt8, _ bytes: RawSpan) -> Bool {
    !isAtEnd(bytes) && bytes.byte(at: offset) == bracket
  }

  /// Passes over the closing bracket at hand.
  private mutating func close(_ kind: JSONSlice.Kind, from start: Int) -> JSONSlice {
    let value = JSONSlice(kind, start..<offset)
    offset += 1
    return value
  }

  private mutating func string(_ bytes: RawSpan) throws(JSONError) -> JSONSlice {
    offset += 1
    let start = offset
    var isEscaped = false
    while offset < end {
      switch bytes.byte(at: offset) {
      case UInt8(ascii: "\""):
        offset += 1
        return JSONSlice(.string, start..<offset - 1, isEscaped: isEscaped)
      case UInt8(ascii: "\\"):
        isEscaped = true
        _ = try escape(bytes)
      case ..<0x20: throw problem("a control character in a text", "an escape, as in \\n")
      default: offset += 1
      }
    }
    throw problem("a text does not end", "a quotation mark")
  }

  private mutating func literal(
    _ bytes: RawSpan,
    _ text: StaticString,
    _ kind: JSONSlice.Kind
  ) throws(JSONError) -> JSONSlice {
    let start = offset
    for index in 0..<text.utf8CodeUnitCount {
      guard unsafe take(text.utf8Start[index], bytes) else { throw noValue(at: start) }
    }
    return JSONSlice(kind, start..<offset)
  }

  private mutating func number(_ bytes: RawSpan) throws(JSONError) -> JSONSlice {
    let start = offset
    _ = take(UInt8(ascii: "-"), bytes)
    guard take(UInt8(ascii: "0"), bytes) || takeDigits(bytes) else { throw noValue(at: start) }
    if take(UInt8(ascii: "."), bytes) {
      guard takeDigits(bytes) else { throw noValue(at: start) }
    }
    if take(UInt8(ascii: "e"), bytes) || take(UInt8(ascii: "E"), bytes) {
      if !take(UInt8(ascii: "+"), bytes) { _ = take(UInt8(ascii: "-"), bytes) }
      guard takeDigits(bytes) else { throw noValue(at: start) }
    }
    // A number such as 01 or 1x is none, and not a number that something follows.
    if offset < end, JSONScanner.isLiteral(bytes.byte(at: offset)) { throw noValue(at: start) }
    return JSONSlice(.number, start..<offset)
  }

  /// Passes over digits and returns whether there was any.
  private mutating func takeDigits(_ bytes: RawSpan) -> Bool {
    let start = offset
    while offset < end, UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes.byte(at: offset) { offset += 1 }
    return offset > start
  }

  private func noValue(at start: Int) -> JSONError {
    JSONError(
      offset: start,
      reason: "no value starts here",
      expected: "an object, an array, a text, a number, true or false"
    )
  }

  private mutating func skipSpace(_ bytes: RawSpan) {
    while offset < end, JSONScanner.isSpace(bytes.byte(at: offset)) { offset += 1 }
  }

  /// Passes over a character if it is the next one.
  private mutating func take(_ byte: UInt8, _ bytes: RawSpan) -> Bool {
    guard offset < end, bytes.byte(at: offset) == byte else { return false }
    offset += 1
    return true
  }

  /// Returns whether a number or a word may contain the character.
  private static func isLiteral(_ ascii: UInt8) -> Bool {
    switch ascii {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }

  /// Returns whether the character is white space in JSON.
  package static func isSpace(_ ascii: UInt8) -> Bool {
    ascii == UInt8(ascii: " ") || ascii == UInt8(ascii: "\n") || ascii == UInt8(ascii: "\r")
      || ascii == UInt8(ascii: "\t")
  }
}

/// The backslash sequences of strings.
extension JSONScanner {
  /// Passes over an escape sequence and returns the character that it stands for.
  fileprivate mutating func escape(_ bytes: RawSpan) throws(JSONError) -> Unicode.Scalar {
    offset += 1
    guard offset < end else { throw problem("a text does not end", "a quotation mark") }
    let letter = bytes.byte(at: offset)
    offset += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw problem("an unknown escape", "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")
    }
    var scalar = UInt32(try codeUnit(bytes))
    if 0xD800...0xDBFF ~= scalar, take(UInt8(ascii: "\\"), bytes), take(UInt8(ascii: "u"), bytes) {
      let low = UInt32(try codeUnit(bytes))
      guard 0xDC00...0xDFFF ~= low else { throw problem("half a surrogate pair", "both halves") }
      scalar = 0x1_0000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let character = Unicode.Scalar(scalar) else {
      throw problem("half a surrogate pair", "both halves")
    }
    return character
  }

  /// Reads the four hexadecimal digits of a UTF-16 code unit.
  private mutating func codeUnit(_ bytes: RawSpan) throws(JSONError) -> UInt16 {
    var unit: UInt16 = 0
    for place in offset..<offset + 4 {
      guard place < end, let digit = Hex.nibble(bytes.byte(at: place)) else {
        throw problem("an escape without its digits", "four hexadecimal digits")
      }
      unit = unit << 4 | UInt16(digit)
    }
    offset += 4
    return unit
  }
}

extension JSONSlice {
  /// The text of a string, its escapes resolved, as UTF-8.
  package func text(_ bytes: RawSpan) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var scanner = JSONScanner(range)
    while scanner.offset < range.upperBound {
      let byte = bytes.byte(at: scanner.offset)
      if byte == UInt8(ascii: "\\"), let character = try? scanner.escape(bytes) {
        text.append(contentsOf: UTF8.encode(character) ?? UTF8.encodedReplacementCharacter)
      } else {
        text.append(byte)
        scanner.offset += 1
      }
    }
    return text
  }
}

extension RawSpan {
  fileprivate func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

/// A JSON value in a text: its kind and its range.
///
/// The value holds no copy of the bytes.
package struct JSONSlice {
  /// The kind of value.
  package enum Kind: UInt8 {
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

  /// The kind.
  package let kind: Kind
  /// Indicates whether a string holds backslashes, so that its bytes are not its text.
  package let isEscaped: Bool
  private let start: UInt32
  private let end: UInt32

  /// The value of a member that an object does not have.
  package static let absent = JSONSlice(.absent, 0..<0)

  init(_ kind: Kind, _ range: Range<Int>, isEscaped: Bool = false) {
    self.kind = kind
    self.isEscaped = isEscaped
    start = UInt32(range.lowerBound)
    end = UInt32(range.upperBound)
  }

  /// The range of the value, without quotes and brackets.
  package var range: Range<Int> { Int(start)..<Int(end) }

  /// Indicates whether there is a value: neither absent nor null.
  package var isPresent: Bool { kind != .absent && kind != .null }
}
