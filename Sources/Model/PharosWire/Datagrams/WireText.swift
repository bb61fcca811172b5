import PharosDocuments
import PharosModel

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
    guard range.count.isMultiple(of: 2), range.count <= 2 * WireLimits.maximumPayload else { return nil }
    return unsafe withUnsafeTemporaryAllocation(byteCount: range.count / 2, alignment: 1) { buffer in
      for index in 0..<range.count / 2 {
        guard let byte = hexByte(bytes, at: range.lowerBound + 2 * index) else { return nil }
        unsafe buffer[index] = byte
      }
      return unsafe body(UnsafeRawBufferPointer(buffer).bytes)
    }
  }

  /// The bytes of an advert that a text spells in another way than by digits alone, or nil: in digits behind `0x` or with one
  /// character between the octets, or in base64 of either alphabet.
  ///
  /// Digits alone are base64 too, of other bytes; and so is many a word. A text in base64 is therefore an advert only if it
  /// holds whole AD structures.
  static func spelledBytes(_ bytes: RawSpan, _ range: Range<Int>) -> [UInt8]? {
    guard range.count <= 3 * WireLimits.maximumPayload else { return nil }
    var digits = range
    if range.count > 2, begins(bytes, range, with: "0x") || begins(bytes, range, with: "0X") {
      digits = range.dropFirst(2)
    }
    if let octets = separatedOctets(bytes, digits) { return octets }
    guard digits == range, let decoded = base64(bytes, range) else { return nil }
    var structures = ADStructures()
    while structures.next(in: unsafe decoded.span.bytes) != nil {}
    return structures.isMalformed ? nil : decoded
  }

  /// The bytes of octets in digits, with nothing or the same character between any two.
  private static func separatedOctets(_ bytes: RawSpan, _ range: Range<Int>) -> [UInt8]? {
    let isPlain = range.count < 3 || Hex.nibble(bytes.byte(at: range.lowerBound + 2)) != nil
    let step = isPlain ? 2 : 3
    guard isPlain ? range.count.isMultiple(of: 2) : range.count % 3 == 2 else { return nil }
    let separator = isPlain ? 0 : bytes.byte(at: range.lowerBound + 2)
    guard isPlain || Set(" :-,.".utf8).contains(separator) else { return nil }
    var octets: [UInt8] = []
    for offset in stride(from: range.lowerBound, to: range.upperBound, by: step) {
      guard let octet = hexByte(bytes, at: offset) else { return nil }
      guard isPlain || offset + 2 >= range.upperBound || bytes.byte(at: offset + 2) == separator else {
        return nil
      }
      octets.append(octet)
    }
    return octets
  }

  /// The bytes of a text in base64, padded or not.
  ///
  /// - Source: RFC 4648, 4 and 5.
  static func base64(_ bytes: RawSpan, _ range: Range<Int>) -> [UInt8]? {
    var text = range
    while text.count > max(0, range.count - 2), bytes.byte(at: text.upperBound - 1) == UInt8(ascii: "=") {
      text.removeLast()
    }
    guard !text.isEmpty, text.count % 4 != 1, text.count == range.count || range.count.isMultiple(of: 4)
    else { return nil }
    var decoded: [UInt8] = []
    var (word, count) = (0 as UInt32, 0)
    for offset in text {
      let digit: UInt8
      switch bytes.byte(at: offset) {
      case let ascii where UInt8(ascii: "A")...UInt8(ascii: "Z") ~= ascii: digit = ascii - UInt8(ascii: "A")
      case let ascii where UInt8(ascii: "a")...UInt8(ascii: "z") ~= ascii:
        digit = ascii - UInt8(ascii: "a") + 26
      case let ascii where isDigit(ascii): digit = ascii - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"), UInt8(ascii: "-"): digit = 62
      case UInt8(ascii: "/"), UInt8(ascii: "_"): digit = 63
      default: return nil
      }
      (word, count) = (word << 6 | UInt32(digit), count + 6)
      guard count >= 8 else { continue }
      count -= 8
      decoded.append(UInt8(truncatingIfNeeded: word >> UInt32(count)))
    }
    return decoded
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
    guard 1...ObserverID.maximumName ~= range.count else { throw .badIdentity }
    guard let text = string(bytes, range) else { throw .badText }
    guard let name = ObserverID.name(checked: text) else { throw .badIdentity }
    return name
  }

  /// The text of a range, or nil if it is no UTF-8.
  static func string(_ bytes: RawSpan, _ range: Range<Int>) -> String? {
    unsafe bytes.extracting(range).withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
  }

  /// Returns whether a range is UTF-8 throughout.
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

  /// Returns the end of a datagram's text: some senders include one or several of the zeros that end a string in C.
  static func end(_ bytes: RawSpan) -> Int {
    var end = bytes.byteCount
    while end > 0, bytes.byte(at: end - 1) == 0 { end -= 1 }
    return end
  }

  /// Returns whether a range is exactly this text.
  static func isEqual(_ bytes: RawSpan, _ range: Range<Int>, _ text: StaticString) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    return range.allSatisfy { unsafe bytes.byte(at: $0) == text.utf8Start[$0 - range.lowerBound] }
  }

  /// Returns whether a range is this word in any case.
  static func spells(_ bytes: RawSpan, _ range: Range<Int>, _ word: StaticString) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    return range.allSatisfy {
      unsafe bytes.byte(at: $0) | 0x20 == word.utf8Start[$0 - range.lowerBound] | 0x20
    }
  }

  /// Returns whether a range begins with this text.
  static func begins(_ bytes: RawSpan, _ range: Range<Int>, with text: StaticString) -> Bool {
    range.count >= text.utf8CodeUnitCount
      && isEqual(bytes, range.prefix(text.utf8CodeUnitCount), text)
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

extension ReportBatch {
  /// Appends the bytes of an advert that a text in JSON spells, and says where they lie; nil if it spells none, or too many.
  mutating func append(spelled text: JSONSlice, _ bytes: RawSpan) -> Range<UInt32>? {
    guard text.kind == .string else { return nil }
    if !text.isEscaped, let place = WireText.withHex(bytes, text.range, { append(payload: $0) }) {
      return place
    }
    let plain = text.text(bytes)
    let spelled = unsafe WireText.spelledBytes(plain.span.bytes, 0..<plain.count)
    return spelled.flatMap { $0.count <= WireLimits.maximumPayload ? append(payload: $0) : nil }
  }
}

/// The interpretation of times in text formats.
enum WireTime {
  /// The timing that a number of seconds, milliseconds, microseconds or nanoseconds since the epoch gives;
  /// its size tells which, for all times from 1973 on.
  ///
  /// Whole seconds are too coarse to be of use: the receive time stands. The digits are read as they stand,
  /// since a `Double` would lose the last of them.
  ///
  /// - Returns: nil if the number is no time.
  static func timing(_ bytes: RawSpan, _ range: Range<Int>) -> ReportTiming? {
    let point = range.first { bytes.byte(at: $0) == UInt8(ascii: ".") } ?? range.upperBound
    guard let whole = WireText.integer(bytes, range.lowerBound..<point), whole >= 0 else { return nil }
    let unit = nanoseconds(perUnitOf: whole)
    let fraction = point < range.upperBound ? point + 1..<range.upperBound : point..<point
    guard point == range.upperBound || !fraction.isEmpty else { return nil }
    guard let rest = nanoseconds(bytes, fraction: fraction, of: unit) else { return nil }
    guard unit < 1_000_000_000 || !fraction.isEmpty else { return .received }
    let (nanoseconds, overflow) = whole.multipliedReportingOverflow(by: unit)
    guard !overflow else { return nil }
    return .sent(Timestamp(nanoseconds: nanoseconds) + TimeSpan(nanoseconds: rest))
  }

  private static func nanoseconds(perUnitOf time: Int64) -> Int64 {
    switch time {
    case ..<100_000_000_000: 1_000_000_000
    case ..<100_000_000_000_000: 1_000_000
    case ..<100_000_000_000_000_000: 1_000
    default: 1
    }
  }

  private static func nanoseconds(_ bytes: RawSpan, fraction: Range<Int>, of unit: Int64) -> Int64? {
    var sum: Int64 = 0
    var place = unit / 10
    for offset in fraction {
      let ascii = bytes.byte(at: offset)
      guard WireText.isDigit(ascii) else { return nil }
      sum += Int64(ascii - UInt8(ascii: "0")) * place
      place /= 10
    }
    return sum
  }
}

/// The limits that every format applies to values, so that a report means the same in every format.
enum WireLimits {
  /// The longest advertising data there is.
  ///
  /// - Units: bytes.
  /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 4.4.2.
  static let maximumPayload = 1_650

  /// The longest time since the epoch, or since a sender started, that fits a count of nanoseconds.
  ///
  /// - Units: milliseconds, about 292 years.
  static let maximumMilliseconds = Int64.max / 1_000_000

  /// The level that a sender reports, or nil if it is one of those that mean that there was none: 127, 0, and
  /// what no radio can measure (above +20 dBm, or −128).
  static func level(_ dBm: Int) -> RSSI? {
    guard let dBm = Int8(exactly: dBm), isLevel(dBm) else { return nil }
    return RSSI(dBm: dBm)
  }

  /// The level at one metre that a text states, or nil if it is none; 129 to 255 are the byte without its sign.
  static func measuredPower(_ dBm: Double) -> Int8? {
    MeasuredPower.known(129...255 ~= dBm ? dBm - 256 : dBm).map { Int8($0.rounded()) }
  }

  /// Returns whether a number that a sender reports is a level.
  static func isLevel(_ dBm: Int8) -> Bool { dBm != 0 && dBm >= -127 && dBm <= 20 }

  /// A fix, or nil if it lies nowhere on Earth or its accuracy is no length; a speed below 0 is none.
  static func fix(
    _ latitude: Double,
    _ longitude: Double,
    _ accuracy: Double,
    _ speed: Float,
    _ source: OutsideFix.Source
  ) -> OutsideFix? {
    guard -90...90 ~= latitude, -180...180 ~= longitude, accuracy >= 0, accuracy.isFinite else { return nil }
    return OutsideFix(
      latitude: latitude,
      longitude: longitude,
      horizontalAccuracy: Meters(accuracy),
      speed: speed.isFinite && speed >= 0 ? speed : nil,
      source: source
    )
  }

  /// A course in degrees from north clockwise, or nil if it is none.
  static func course(_ degrees: Float?) -> Float? { degrees.flatMap { 0...360 ~= $0 ? $0 : nil } }

  /// A movement, or nil if it is made of no numbers, or took no time.
  static func pose(
    _ session: UInt32,
    _ interval: TimeSpan,
    _ x: Float,
    _ y: Float,
    _ z: Float,
    _ rotation: Rotation?,
    _ quality: RelativePose.Quality
  ) -> RelativePose? {
    guard x.isFinite, y.isFinite, z.isFinite, interval > .zero else { return nil }
    return RelativePose(
      session: session,
      interval: interval,
      x: x,
      y: y,
      z: z,
      rotation: rotation,
      quality: quality
    )
  }
}

/// The lines of a text, or the fields of a line with commas between them.
struct TextFields {
  private var offset: Int
  private let end: Int

  init(_ range: Range<Int>) {
    offset = range.lowerBound
    end = range.upperBound
  }

  /// Indicates whether no field is left.
  var isAtEnd: Bool { offset > end }

  /// The next field; an empty one counts.
  mutating func next(_ bytes: RawSpan) throws(DatagramRefusal) -> Range<Int> {
    guard offset <= end else { throw .tooShort }
    let start = offset
    while offset < end, bytes.byte(at: offset) != UInt8(ascii: ",") { offset += 1 }
    let field = start..<offset
    offset += 1
    return field
  }

  /// The next line that is not empty, without its end.
  mutating func nextLine(_ bytes: RawSpan) -> Range<Int>? {
    while offset < end, TextFields.endsLine(bytes.byte(at: offset)) { offset += 1 }
    guard offset < end else { return nil }
    let start = offset
    while offset < end, !TextFields.endsLine(bytes.byte(at: offset)) { offset += 1 }
    return start..<offset
  }

  private static func endsLine(_ ascii: UInt8) -> Bool {
    ascii == UInt8(ascii: "\n") || ascii == UInt8(ascii: "\r")
  }
}

extension SourceInformation {
  /// What a handset can say; whether visual positioning made a fix is the fix's source.
  static let reported: SourceInformation = [.simulatedBySoftware, .producedByAccessory]
}
