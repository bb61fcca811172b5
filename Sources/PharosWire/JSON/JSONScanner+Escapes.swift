import PharosReports

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
