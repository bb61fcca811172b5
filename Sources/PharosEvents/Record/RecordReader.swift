import PharosReports

/// Reads back what ``RecordWriter`` wrote; any bytes and names at all give a value or an error, never more.
struct RecordReader {
  private var names: ArraySlice<EventName>
  private var fields: FieldReader

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

  mutating func time(from origin: Timestamp) throws(FieldError) -> Timestamp {
    Timestamp(nanoseconds: origin.nanoseconds &+ (try span()).nanoseconds)
  }

  /// Reads a value that has a byte form of its own.
  mutating func value<Value: FieldCodable>(_: Value.Type) throws(FieldError) -> Value {
    try Value(from: &fields)
  }
}
