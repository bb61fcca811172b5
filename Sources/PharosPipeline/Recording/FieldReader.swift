import PharosReports

/// Reads back what ``FieldWriter`` wrote; any bytes at all give a value or an error, never more.
struct FieldReader: Sendable {
  /// How deep trees may go: deeper ones than any site has, shallow enough for every stack.
  static let deepestTree = 128

  private let bytes: ArraySlice<UInt8>
  private var position: Int
  /// How deep in a tree the reader is.
  private var depth = 0

  /// Starts at the first byte.
  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    self.position = bytes.startIndex
  }

  /// How many bytes are left.
  var remaining: Int { bytes.endIndex - position }

  /// How many bytes were read.
  var offset: Int { position - bytes.startIndex }

  /// An error about what was just read.
  func failure(_ problem: RecordingError.Problem) -> RecordingError { RecordingError(problem, at: offset) }

  /// Reads one byte.
  mutating func byte() throws(RecordingError) -> UInt8 {
    guard remaining > 0 else { throw failure(.cut) }
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads a whole number.
  mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws(RecordingError) -> Number {
    let length = Number.bitWidth / 8
    guard remaining >= length else { throw failure(.cut) }
    var number: Number = 0
    for index in position..<(position + length) {
      number = number << 8 | Number(truncatingIfNeeded: bytes[index])
    }
    position += length
    return number
  }

  /// Reads a number from its 64 bits.
  mutating func double() throws(RecordingError) -> Double { Double(bitPattern: try number(UInt64.self)) }

  /// Reads a truth value; only 0 and 1 are ones.
  mutating func flag() throws(RecordingError) -> Bool {
    switch try byte() {
    case 0: return false
    case 1: return true
    case let other: throw failure(.unknownTag(field: "a truth value", tag: other))
    }
  }

  /// Reads a text.
  mutating func text() throws(RecordingError) -> String {
    let length = Int(try number(UInt32.self))
    guard length <= remaining else { throw failure(.cut) }
    guard let text = String(validating: bytes[position..<(position + length)], as: UTF8.self) else {
      throw failure(.badText)
    }
    position += length
    return text
  }

  /// Reads a value that may be missing.
  mutating func optional<Value: Recordable>(_: Value.Type) throws(RecordingError) -> Value? {
    try flag() ? try Value(from: &self) : nil
  }

  /// Reads a list; since every value takes a byte at least, its length is bounded by what is left.
  mutating func list<Value: Recordable>(_: Value.Type) throws(RecordingError) -> [Value] {
    let count = Int(try number(UInt32.self))
    guard count <= remaining else { throw failure(.cut) }
    var values: [Value] = []
    for _ in 0..<count { values.append(try Value(from: &self)) }
    return values
  }

  /// Reads what lies one level deeper in a tree.
  mutating func deeper<Value>(
    _ body: (inout FieldReader) throws(RecordingError) -> Value
  ) throws(RecordingError) -> Value {
    guard depth < FieldReader.deepestTree else { throw failure(.tooDeep(limit: FieldReader.deepestTree)) }
    depth += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  /// Checks that nothing is left.
  func finish() throws(RecordingError) {
    guard remaining == 0 else { throw failure(.surplus(bytes: remaining)) }
  }
}
