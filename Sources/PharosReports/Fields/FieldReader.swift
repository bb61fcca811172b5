/// Reads back what ``FieldWriter`` wrote; any bytes at all give a value or an error, never more.
public struct FieldReader: Sendable {
  /// How deep trees may go: deeper ones than any site has, shallow enough for every stack.
  public static let deepestTree = 128

  private let bytes: ArraySlice<UInt8>
  private var position: Int
  /// How deep in a tree the reader is.
  private var depth = 0

  /// Starts at the first byte.
  public init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    self.position = bytes.startIndex
  }

  /// How many bytes are left.
  public var remaining: Int { bytes.endIndex - position }

  /// How many bytes were read.
  public var offset: Int { position - bytes.startIndex }

  /// An error about what was just read.
  public func failure(_ problem: FieldError.Problem) -> FieldError { FieldError(problem, at: offset) }

  /// Reads one byte.
  public mutating func byte() throws(FieldError) -> UInt8 {
    guard remaining > 0 else { throw failure(.cut) }
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads a whole number.
  public mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws(FieldError) -> Number {
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
  public mutating func double() throws(FieldError) -> Double { Double(bitPattern: try number(UInt64.self)) }

  /// Reads a truth value; only 0 and 1 are ones.
  public mutating func flag() throws(FieldError) -> Bool {
    switch try byte() {
    case 0: return false
    case 1: return true
    case let other: throw failure(.unknownTag(field: "a truth value", tag: other))
    }
  }

  /// Reads a text.
  public mutating func text() throws(FieldError) -> String {
    let length = Int(try number(UInt32.self))
    guard length <= remaining else { throw failure(.cut) }
    guard let text = String(validating: bytes[position..<(position + length)], as: UTF8.self) else {
      throw failure(.badText)
    }
    position += length
    return text
  }

  /// Reads a value that may be missing.
  public mutating func optional<Value: FieldCodable>(_: Value.Type) throws(FieldError) -> Value? {
    try flag() ? try Value(from: &self) : nil
  }

  /// Reads a list; since every value takes a byte at least, its length is bounded by what is left.
  public mutating func list<Value: FieldCodable>(_: Value.Type) throws(FieldError) -> [Value] {
    let count = Int(try number(UInt32.self))
    guard count <= remaining else { throw failure(.cut) }
    var values: [Value] = []
    for _ in 0..<count { values.append(try Value(from: &self)) }
    return values
  }

  /// Reads what lies one level deeper in a tree.
  public mutating func deeper<Value>(
    _ body: (inout FieldReader) throws(FieldError) -> Value
  ) throws(FieldError) -> Value {
    guard depth < FieldReader.deepestTree else { throw failure(.tooDeep(limit: FieldReader.deepestTree)) }
    depth += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  /// Checks that nothing is left.
  public func finish() throws(FieldError) {
    guard remaining == 0 else { throw failure(.surplus(bytes: remaining)) }
  }
}
