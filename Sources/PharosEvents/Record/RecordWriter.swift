import PharosReports

/// The bytes and names of a record as they are written; numbers take as many bytes as they need.
struct RecordWriter {
  private(set) var names: [EventName]
  private(set) var bytes: [UInt8]

  /// Takes storage over.
  init(names: [EventName] = [], bytes: [UInt8] = []) {
    self.names = names
    self.bytes = bytes
  }

  mutating func removeAll() {
    names.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }

  mutating func name(_ name: EventName) { names.append(name) }

  mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  /// Eight bytes, the first one most significant.
  mutating func word(_ word: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
    }
  }

  /// Seven bits a byte, the lowest first; the highest bit says that more follow.
  mutating func number(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// A number that may be negative: the sign becomes the lowest bit.
  mutating func signed(_ value: Int64) { number(RecordNumber.folded(value)) }

  /// A text: its length in bytes, then UTF-8.
  mutating func text(_ text: String) {
    number(UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  /// A number as JSON tells it, rounded to so many decimals; one too large for that in its 64 bits.
  mutating func decimal(_ value: Double, _ decimals: Int) {
    let scaled = (value * RecordNumber.scale(decimals)).rounded()
    guard scaled.magnitude < RecordNumber.largestScaled else {
      number(1)
      return word(value.bitPattern)
    }
    number(RecordNumber.folded(Int64(scaled)) << 1)
  }

  /// A span as JSON tells it, rounded to milliseconds.
  mutating func milliseconds(_ span: TimeSpan) { signed(Int64((span.seconds * 1_000).rounded())) }

  /// A span to the nanosecond; whole milliseconds take fewer bytes.
  mutating func span(_ span: TimeSpan) {
    let (milliseconds, rest) = span.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let folded = RecordNumber.folded(span.nanoseconds)
    if rest == 0 {
      number(RecordNumber.folded(milliseconds) << 2 | 1)
    } else if folded < 1 << 62 {
      number(folded << 2)
    } else {
      number(2)
      word(UInt64(bitPattern: span.nanoseconds))
    }
  }

  /// A value that has a byte form of its own.
  mutating func value(_ value: some FieldCodable) {
    var writer = FieldWriter()
    value.write(to: &writer)
    bytes.append(contentsOf: writer.bytes)
  }

  /// A time to the nanosecond, as the span from another one.
  mutating func time(_ time: Timestamp, from origin: Timestamp) {
    span(TimeSpan(nanoseconds: time.nanoseconds &- origin.nanoseconds))
  }
}

/// What the writing and the reading of a record's numbers share.
enum RecordNumber {
  /// Scaled numbers below this come back from a division and a multiplication by the scale unharmed.
  ///
  /// 2^50: each of the two operations is wrong by at most 2^-53 of its result, which leaves the sum below a half.
  static let largestScaled = Double(1 << 50 as Int64)

  /// The same power of ten that JSON is rounded with.
  static func scale(_ decimals: Int) -> Double {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    return scale
  }

  static func folded(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

  static func unfolded(_ bits: UInt64) -> Int64 { Int64(bitPattern: bits >> 1) ^ -Int64(bits & 1) }
}
