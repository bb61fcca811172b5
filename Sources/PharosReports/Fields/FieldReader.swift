/// Reads back what ``FieldWriter`` wrote; any bytes at all give a value or an error, never more.
public struct FieldReader: Sendable {
  /// How deep trees may go: deeper ones than any site has, shallow enough for every stack.
  public static let deepestTree = 128

  @usableFromInline let bytes: ArraySlice<UInt8>
  @usableFromInline var position: Int
  /// Where the first byte lies in what the reader was taken from.
  @usableFromInline var origin = 0
  /// How deep in a tree the reader is.
  private var depth = 0

  /// Starts at the first byte.
  public init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    self.position = bytes.startIndex
  }

  /// How many bytes are left.
  @inlinable public var remaining: Int { bytes.endIndex - position }

  /// How many bytes were read.
  @inlinable public var offset: Int { origin + position - bytes.startIndex }

  /// An error about what was just read.
  @inlinable public func failure(_ problem: FieldError.Problem) -> FieldError {
    FieldError(problem, at: offset)
  }

  /// Reads one byte.
  @inlinable
  public mutating func byte() throws(FieldError) -> UInt8 {
    guard remaining > 0 else { throw failure(.cut) }
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads a whole number.
  @inlinable
  public mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws(FieldError) -> Number {
    let length = Number.bitWidth / 8
    guard remaining >= length else { throw failure(.cut) }
    let start = position - bytes.startIndex
    let number = unsafe bytes.withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: start, as: Number.self)
    }
    position += length
    return Number(bigEndian: number)
  }

  /// Reads a number from its 64 bits.
  @inlinable public mutating func double() throws(FieldError) -> Double {
    Double(bitPattern: try number(UInt64.self))
  }

  /// Reads a number from its 32 bits.
  @inlinable public mutating func float() throws(FieldError) -> Float {
    Float(bitPattern: try number(UInt32.self))
  }

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

  /// Reads so many bytes as they are.
  public mutating func raw(_ count: Int) throws(FieldError) -> [UInt8] {
    guard count >= 0, count <= remaining else { throw failure(.cut) }
    defer { position += count }
    return Array(bytes[position..<(position + count)])
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

  /// Reads a length and gives a reader of so many bytes, which are passed over here.
  public mutating func block() throws(FieldError) -> FieldReader {
    let length = Int(try number(UInt32.self))
    guard length <= remaining else { throw failure(.cut) }
    defer { position += length }
    var block = FieldReader(bytes[position..<(position + length)])
    block.depth = depth
    block.origin = offset
    return block
  }

  /// Reads a length of a list whose elements take at least so many bytes each, and which therefore is bounded by what is left.
  public mutating func count(ofAtLeast least: Int = 1) throws(FieldError) -> Int {
    let count = Int(try number(UInt32.self))
    guard count <= remaining / max(1, least) else { throw failure(.cut) }
    return count
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
