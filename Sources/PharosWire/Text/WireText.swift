import PharosReports

/// Reads what text formats spell, straight from the bytes of the datagram.
///
/// The rules are those of the words' own initialisers; only names allocate.
enum WireText {
  /// The bytes that a range of hexadecimal digits spells, handed to `body`, or nil if they are none, or too
  /// many.
  static func withHex<Result>(
    _ bytes: RawSpan,
    _ range: Range<Int>,
    _ body: (RawSpan) -> Result
  ) -> Result? {
    guard range.count.isMultiple(of: 2), range.count <= 2 * WireLimits.longestPayload else { return nil }
    return unsafe withUnsafeTemporaryAllocation(byteCount: range.count / 2, alignment: 1) { buffer in
      for index in 0..<range.count / 2 {
        guard let byte = hexByte(bytes, at: range.lowerBound + 2 * index) else { return nil }
        unsafe buffer[index] = byte
      }
      return unsafe body(UnsafeRawBufferPointer(buffer).bytes)
    }
  }

  /// The number that exactly `count` octets spell, with colons or dashes between them or with nothing, or
  /// nil.
  static func octets(_ bytes: RawSpan, _ range: Range<Int>, count: Int) -> UInt64? {
    let step: Int
    switch range.count {
    case count * 2: step = 2
    case count * 3 - 1: step = 3
    default: return nil
    }
    var value: UInt64 = 0
    for index in 0..<count {
      let place = range.lowerBound + index * step
      guard let byte = hexByte(bytes, at: place) else { return nil }
      value = value << 8 | UInt64(byte)
      guard step == 3, index < count - 1 else { continue }
      let separator = bytes.byte(at: place + 2)
      guard separator == UInt8(ascii: ":") || separator == UInt8(ascii: "-") else { return nil }
      guard separator == bytes.byte(at: range.lowerBound + 2) else { return nil }
    }
    return value
  }

  /// A device address as people write it.
  static func address(
    _ bytes: RawSpan,
    _ range: Range<Int>,
    kind: DeviceAddress.Kind = .unknown
  ) -> DeviceAddress? {
    octets(bytes, range, count: 6).map { DeviceAddress(bits: $0, kind: kind) }
  }

  /// A UUID of 32 digits, with or without the four dashes in their usual places.
  static func uuid(_ bytes: RawSpan, _ range: Range<Int>) -> UUID128? {
    guard range.count == 32 || range.count == 36 else { return nil }
    let dashed = range.count == 36
    var high: UInt64 = 0
    var low: UInt64 = 0
    for index in 0..<range.count {
      let ascii = bytes.byte(at: range.lowerBound + index)
      if dashed, index == 8 || index == 13 || index == 18 || index == 23 {
        guard ascii == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Hex.nibble(ascii) else { return nil }
      high = high << 4 | low >> 60
      low = low << 4 | UInt64(digit)
    }
    return UUID128(high: high, low: low)
  }

  /// An observer's identity: a MAC, an EUI-64, a UUID, or else a name of 1 to 64 bytes without control
  /// characters.
  static func observer(_ bytes: RawSpan, _ range: Range<Int>) throws(DatagramRefusal) -> ObserverID {
    if let bits = octets(bytes, range, count: 6) { return .eui48(bits) }
    if let bits = octets(bytes, range, count: 8) { return .eui64(bits) }
    if let uuid = uuid(bytes, range) { return .uuid(uuid) }
    guard 1...ObserverID.longestName ~= range.count else { throw .badIdentity }
    for offset in range where bytes.byte(at: offset) < 0x20 || bytes.byte(at: offset) == 0x7F {
      throw .badIdentity
    }
    guard let name = string(bytes, range) else { throw .badText }
    return .name(name)
  }

  /// The text of a range, or nil if it is no UTF-8.
  static func string(_ bytes: RawSpan, _ range: Range<Int>) -> String? {
    unsafe bytes.extracting(range).withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
  }

  /// Whether a range is UTF-8 throughout.
  static func isUTF8(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    unsafe bytes.extracting(range).withUnsafeBytes { raw in
      unsafe (try? UTF8Span(validating: raw.bindMemory(to: UInt8.self).span)) != nil
    }
  }

  /// A decimal number, with a fraction and an exponent if it has them, or nil.
  static func number(_ bytes: RawSpan, _ range: Range<Int>) -> Double? {
    if let whole = integer(bytes, range) { return Double(whole) }
    guard let first = range.first, let text = string(bytes, range) else { return nil }
    // Swift reads "nan", "inf" and hexadecimal too; here a number is made of digits.
    guard bytes.byte(at: first) == UInt8(ascii: "-") || isDigit(bytes.byte(at: first)) else { return nil }
    guard !range.contains(where: { bytes.byte(at: $0) | 0x20 == UInt8(ascii: "x") }) else { return nil }
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }

  /// A whole number that fits 64 bits, with a minus sign if it has one, or nil.
  static func integer(_ bytes: RawSpan, _ range: Range<Int>) -> Int64? {
    guard let first = range.first else { return nil }
    let negative = bytes.byte(at: first) == UInt8(ascii: "-")
    let digits = (negative ? first + 1 : first)..<range.upperBound
    guard 1...19 ~= digits.count else { return nil }
    var value: Int64 = 0
    for offset in digits {
      let ascii = bytes.byte(at: offset)
      guard isDigit(ascii) else { return nil }
      let (scaled, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = scaled.addingReportingOverflow(Int64(ascii - UInt8(ascii: "0")))
      guard !overflow, !carry else { return nil }
      value = sum
    }
    return negative ? -value : value
  }

  /// Where the text of a datagram ends: some senders count the zero that ends a string in C, or several.
  static func end(_ bytes: RawSpan) -> Int {
    var end = bytes.byteCount
    while end > 0, bytes.byte(at: end - 1) == 0 { end -= 1 }
    return end
  }

  static func isDigit(_ ascii: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= ascii }

  private static func hexByte(_ bytes: RawSpan, at offset: Int) -> UInt8? {
    guard let high = Hex.nibble(bytes.byte(at: offset)), let low = Hex.nibble(bytes.byte(at: offset + 1))
    else {
      return nil
    }
    return high << 4 | low
  }
}
