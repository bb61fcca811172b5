public import PharosDocuments

/// A name that an event mentions and that many events share: a store keeps it once and a number for it in each event.
///
/// Two names are equal if they consist of the same bytes, so that a stored name is read back as it was published;
/// Swift's own equality of strings also accepts texts that only look alike.
public enum EventName: Hashable, Sendable {
  /// An application, a region or a zone.
  case text(String)
  /// An observer.
  case observer(ObserverID)
  /// A beacon.
  case beacon(BeaconID)

  /// Returns whether two names consist of the same bytes.
  public static func == (left: EventName, right: EventName) -> Bool {
    switch (left, right) {
    case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
    case (.observer(.name(let left)), .observer(.name(let right))): left.utf8.elementsEqual(right.utf8)
    case (.observer(let left), .observer(let right)): left == right
    case (.beacon(let left), .beacon(let right)): left == right
    default: false
    }
  }

  /// Feeds the bytes to a hasher.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .text(let text), .observer(.name(let text)): EventName.hash(text, into: &hasher)
    case .observer(.eui48(let bits)), .observer(.eui64(let bits)): hasher.combine(bits)
    case .observer(.uuid(let uuid)):
      hasher.combine(uuid.high)
      hasher.combine(uuid.low)
    case .beacon(let beacon):
      let words = beacon.words
      hasher.combine(words.high ^ words.address)
      hasher.combine(words.low ^ words.tail << 24)
    }
  }

  private static func hash(_ text: String, into hasher: inout Hasher) {
    let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable {
      unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    guard isDone == nil else { return }
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

extension EventName: FieldUnion {
  /// The name of the field.
  public static var fieldName: String { "a name's kind" }

  /// Hands each case to a coder.
  @inlinable
  public static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, Self.text) { if case .text(let text) = $0 { text } else { nil } }
    try coder.code(&union, 1, Self.observer) {
      if case .observer(let observer) = $0 { observer } else { nil }
    }
    try coder.code(&union, 2, Self.beacon) { if case .beacon(let beacon) = $0 { beacon } else { nil } }
  }
}

/// The bytes and names of a record as they are written; numbers take as many bytes as they need.
struct RecordWriter {
  private(set) var names: [EventName]
  private(set) var bytes: [UInt8]
  /// The time of the event, from which other times are written as spans.
  var eventTime = Timestamp.distantPast

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

  /// A number as in JSON, rounded to so many decimals; one too large for that in its 64 bits.
  mutating func decimal(_ value: Double, _ decimals: Int) {
    let scaled = (value * RecordNumber.scale(decimals)).rounded()
    guard scaled.magnitude < RecordNumber.largestScaled else {
      number(1)
      return word(value.bitPattern)
    }
    number(RecordNumber.folded(Int64(scaled)) << 1)
  }

  /// A span as in JSON, rounded to milliseconds.
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

  /// A time to the nanosecond, as the span from the time of the event.
  mutating func time(_ time: Timestamp) {
    span(TimeSpan(nanoseconds: time.nanoseconds &- eventTime.nanoseconds))
  }
}

/// The number encoding that the writer and the reader of records share.
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

/// Reads back what ``RecordWriter`` wrote; any bytes and names at all give a value or an error, never more.
struct RecordReader {
  private var names: ArraySlice<EventName>
  private var fields: FieldReader
  /// The time of the event, from which other times are read as spans.
  var eventTime = Timestamp.distantPast
  /// The head of the part that is read, without the flags that were taken.
  var head = RecordHead()

  init(names: [EventName], bytes: ArraySlice<UInt8>) {
    self.names = names[...]
    self.fields = FieldReader(bytes)
  }

  func failure(_ problem: FieldError.Problem) -> FieldError { fields.failure(problem) }

  mutating func finish() throws(FieldError) {
    try fields.finish()
    guard names.isEmpty else { throw failure(.badIdentity) }
  }

  mutating func name() throws(FieldError) -> EventName {
    guard let name = names.popFirst() else { throw failure(.badIdentity) }
    return name
  }

  mutating func textName() throws(FieldError) -> String {
    guard case .text(let text) = try name() else { throw failure(.badIdentity) }
    return text
  }

  mutating func observerName() throws(FieldError) -> ObserverID {
    guard case .observer(let observer) = try name() else { throw failure(.badIdentity) }
    return observer
  }

  mutating func beaconName() throws(FieldError) -> BeaconID {
    guard case .beacon(let beacon) = try name() else { throw failure(.badIdentity) }
    return beacon
  }

  mutating func byte() throws(FieldError) -> UInt8 { try fields.byte() }

  mutating func word() throws(FieldError) -> UInt64 { try fields.number(UInt64.self) }

  mutating func number() throws(FieldError) -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      let byte = try fields.byte()
      guard shift < 63 || byte < 2 else { throw failure(.unknownTag(field: "a number", tag: byte)) }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { break }
    }
    return number
  }

  mutating func signed() throws(FieldError) -> Int64 { RecordNumber.unfolded(try number()) }

  mutating func text() throws(FieldError) -> String {
    let length = try number()
    guard length <= UInt64(fields.remaining) else { throw failure(.cut) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(length))
    for _ in 0..<length { bytes.append(try fields.byte()) }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw failure(.badText) }
    return text
  }

  mutating func decimal(_ decimals: Int) throws(FieldError) -> Double {
    let bits = try number()
    if bits & 1 == 1 { return Double(bitPattern: try word()) }
    return Double(RecordNumber.unfolded(bits >> 1)) / RecordNumber.scale(decimals)
  }

  mutating func milliseconds() throws(FieldError) -> TimeSpan {
    let count = try signed()
    let (nanoseconds, overflow) = count.multipliedReportingOverflow(by: 1_000_000)
    return TimeSpan(nanoseconds: overflow ? (count < 0 ? .min : .max) : nanoseconds)
  }

  mutating func span() throws(FieldError) -> TimeSpan {
    let bits = try number()
    switch bits & 3 {
    case 0: return TimeSpan(nanoseconds: RecordNumber.unfolded(bits >> 2))
    case 1: return .milliseconds(RecordNumber.unfolded(bits >> 2))
    case 2: return TimeSpan(nanoseconds: Int64(bitPattern: try word()))
    default: throw failure(.unknownTag(field: "a span", tag: 3))
    }
  }

  mutating func time() throws(FieldError) -> Timestamp {
    Timestamp(nanoseconds: eventTime.nanoseconds &+ (try span()).nanoseconds)
  }

  /// Reads a value that has a byte form of its own.
  mutating func value<Value: FieldCodable>(_: Value.Type) throws(FieldError) -> Value {
    try Value(from: &fields)
  }
}
