/// A value that is kept as bytes, in recordings, checkpoints and the journal: written and read back without loss.
///
/// Fields come in the order in which the types declare them.
public protocol FieldCodable: Equatable, Sendable {
  /// Writes the value.
  func write(to writer: inout FieldWriter)
  /// Reads the value.
  init(from reader: inout FieldReader) throws(FieldError)
}

/// A struct that is coded as its fields, one after the other, and that lists them once for the writer and the reader alike.
public protocol FieldStruct: FieldCodable {
  /// A value whose fields are still to be read.
  static var unread: Self { get }
  /// Hands each field to a coder, in the order in which they are written.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

extension FieldStruct {
  /// Writes the value.
  @inlinable
  public func write(to writer: inout FieldWriter) {
    var copy = self
    copy.visitFields(&writer)
  }

  /// Reads the value.
  @inlinable
  public init(from reader: inout FieldReader) throws(FieldError) {
    self = Self.unread
    try visitFields(&reader)
  }
}

/// The writer or the reader of the fields that a ``FieldStruct`` lists.
public protocol FieldCoder {
  /// The error of a reader; a writer has none.
  associatedtype Failure: Error
  /// Writes a field, or replaces it by the one that is read.
  mutating func code<Value: FieldCodable>(_ field: inout Value) throws(Failure)
  /// Writes the version of a layout, or reads one and checks that it is this one.
  mutating func code(version: UInt8) throws(Failure)
  /// Checks a field that was read; a writer checks nothing.
  func check(_ isInRange: @autoclosure () -> Bool, _ field: StaticString) throws(Failure)
}

extension FieldCoder {
  /// Hands over the values of a list whose length the reader knows.
  @inlinable
  public mutating func code<Value: FieldCodable>(each values: inout [Value]) throws(Failure) {
    for index in values.indices { try code(&values[index]) }
  }

  /// Hands over a counter of transitions, which must leave room for another 2^63 of them.
  @inlinable
  public mutating func code(counter: inout UInt64) throws(Failure) {
    try code(&counter)
    try check(counter <= UInt64(Int64.max), "a counter")
  }

  /// Hands over a number that is used in computations and must be finite.
  @inlinable
  public mutating func code(finite number: inout Double) throws(Failure) {
    try code(&number)
    try check(number.isFinite, "a finite number")
  }

  /// Hands over a place in a list as u32.
  @inlinable
  public mutating func code(place: inout Int) throws(Failure) {
    var number = UInt32(truncatingIfNeeded: place)
    try code(&number)
    place = Int(number)
  }

  /// Hands over a place in a list, or nil.
  @inlinable
  public mutating func code(place: inout Int?) throws(Failure) {
    var number = place.map { UInt32(truncatingIfNeeded: $0) }
    try code(&number)
    place = number.map { Int($0) }
  }
}

/// A choice of a few cases that is coded as a byte: the raw value, or the place of a case that has a word for one.
public protocol FieldChoice: FieldCodable {
  /// The name of the field, for an error about a byte that stands for no case.
  static var fieldName: String { get }
  /// The byte of the case.
  var code: UInt8 { get }
  /// The case that a byte stands for, or nil if it stands for none.
  init?(code: UInt8)
}

extension FieldChoice {
  /// Writes the value.
  @inlinable public func write(to writer: inout FieldWriter) { writer.write(code) }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let tag = try reader.byte()
    guard let value = Self(code: tag) else {
      throw reader.failure(.unknownTag(field: Self.fieldName, tag: tag))
    }
    self = value
  }
}

extension FieldChoice where Self: RawRepresentable, RawValue == UInt8 {
  /// The raw value.
  public var code: UInt8 { rawValue }
  /// The case with a raw value.
  public init?(code: UInt8) { self.init(rawValue: code) }
}

extension FieldChoice
where Self: CaseIterable & RawRepresentable, RawValue == String, AllCases == [Self] {
  /// The place among the cases, which stay in their order: new ones come behind.
  public var code: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 0) }

  /// The case at a place.
  public init?(code: UInt8) {
    guard Int(code) < Self.allCases.count else { return nil }
    self = Self.allCases[Int(code)]
  }
}

extension FieldCodable where Self: FixedWidthInteger {
  /// Writes a whole number, the most significant byte first.
  @inlinable
  public func write(to writer: inout FieldWriter) {
    unsafe withUnsafeBytes(of: bigEndian) { unsafe writer.storage.append(contentsOf: $0) }
  }
  /// Reads the value.
  @inlinable
  public init(from reader: inout FieldReader) throws(FieldError) { self = try reader.number(Self.self) }
}

extension UInt8: FieldCodable {}

extension Int8: FieldCodable {}

extension UInt16: FieldCodable {}

extension UInt32: FieldCodable {}

extension Int32: FieldCodable {}

extension UInt64: FieldCodable {}

extension Int64: FieldCodable {}

extension Int: FieldCodable {}

extension Bool: FieldCodable {
  /// Writes a truth value as 0 or 1.
  @inlinable public func write(to writer: inout FieldWriter) { writer.storage.append(self ? 1 : 0) }
  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { self = try reader.flag() }
}

extension Double: FieldCodable {
  /// Writes a number as the 64 bits of its IEEE 754 form, so that not one of them is lost.
  @inlinable public func write(to writer: inout FieldWriter) { writer.write(bitPattern) }
  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { self = try reader.double() }
}

extension Float: FieldCodable {
  /// Writes a number as the 32 bits of its IEEE 754 form.
  @inlinable public func write(to writer: inout FieldWriter) { writer.write(bitPattern) }
  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { self = try reader.float() }
}

extension String: FieldCodable {
  /// Writes a length in bytes as u32, then the text in UTF-8.
  public func write(to writer: inout FieldWriter) {
    writer.write(UInt32(utf8.count))
    writer.storage.append(contentsOf: utf8)
  }
  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { self = try reader.text() }
}

extension Optional: FieldCodable where Wrapped: FieldCodable {
  /// Writes 0 for nil, or 1 and the value.
  @inlinable
  public func write(to writer: inout FieldWriter) {
    writer.write(self != nil)
    if let self { writer.write(self) }
  }
  /// Reads the value.
  @inlinable
  public init(from reader: inout FieldReader) throws(FieldError) {
    self = try reader.flag() ? try Wrapped(from: &reader) : nil
  }
}

extension Array: FieldCodable where Element: FieldCodable {
  /// Writes a count as u32, then the values.
  @inlinable
  public func write(to writer: inout FieldWriter) {
    writer.write(UInt32(count))
    for value in self { writer.write(value) }
  }
  /// Reads the value; since every element takes a byte at least, its length is bounded by what is left.
  @inlinable
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    for _ in 0..<(try reader.count()) { append(try Element(from: &reader)) }
  }
}

/// The bytes of a value as they are written: big-endian, field after field, nothing between.
public struct FieldWriter: Sendable {
  @usableFromInline var storage: [UInt8] = []

  /// The bytes written so far.
  @inlinable public var bytes: [UInt8] { storage }

  /// Starts with nothing written.
  public init() {}

  /// Makes room for so many bytes more, so that none of them has to wait for it.
  ///
  /// The capacity at least doubles when it grows, so that many small requests cost the same as one.
  public mutating func reserve(_ count: Int) {
    let wanted = storage.count + max(0, count)
    guard wanted > storage.capacity else { return }
    storage.reserveCapacity(max(wanted, storage.capacity * 2))
  }

  /// Writes a value.
  @inlinable public mutating func write<Value: FieldCodable>(_ value: Value) { value.write(to: &self) }

  /// Writes the byte of an enum's case, then what belongs to the case.
  @inlinable
  public mutating func write<each Value: FieldCodable>(tag: UInt8, _ values: repeat each Value) {
    write(tag)
    repeat write(each values)
  }

  /// Writes bytes as they are; how many there are is for the caller to write.
  public mutating func write(raw bytes: [UInt8]) { self.storage.append(contentsOf: bytes) }

  /// Writes a length in bytes as u32, then what the body writes, so that a reader may pass over it.
  public mutating func writeBlock(_ body: (inout FieldWriter) -> Void) {
    let start = storage.count
    write(0 as UInt32)
    body(&self)
    let length = UInt32(truncatingIfNeeded: storage.count - start - 4)
    for place in 0..<4 {
      storage[start + place] = UInt8(truncatingIfNeeded: length >> UInt32(24 - place * 8))
    }
  }
}

extension FieldWriter: FieldCoder {
  /// A writer cannot fail.
  public typealias Failure = Never

  /// Writes a field.
  @inlinable public mutating func code<Value: FieldCodable>(_ field: inout Value) { field.write(to: &self) }
  /// Writes a version.
  public mutating func code(version: UInt8) { write(version) }
  /// Checks nothing: what is written is right.
  @inlinable public func check(_ isInRange: @autoclosure () -> Bool, _ field: StaticString) {}
}

/// Reads back what ``FieldWriter`` wrote; any bytes at all give a value or an error, never more.
public struct FieldReader: Sendable {
  /// The largest depth of a tree: deeper than any site's, shallow enough for every stack.
  public static let deepestTree = 128

  @usableFromInline let bytes: ArraySlice<UInt8>
  @usableFromInline var position: Int
  /// The offset of the first byte in the bytes that the reader was taken from.
  @usableFromInline var origin = 0
  /// The reader's depth in a tree.
  private var depth = 0

  /// Starts at the first byte.
  public init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    self.position = bytes.startIndex
  }

  /// The number of bytes left.
  @inlinable public var remaining: Int { bytes.endIndex - position }

  /// The number of bytes read.
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

  /// Reads a value.
  @inlinable
  public mutating func read<Value: FieldCodable>(_: Value.Type = Value.self) throws(FieldError) -> Value {
    try Value(from: &self)
  }

  /// Reads a value that may be missing.
  @inlinable
  public mutating func optional<Value: FieldCodable>(_: Value.Type) throws(FieldError) -> Value? {
    try Value?(from: &self)
  }

  /// Reads a list.
  @inlinable
  public mutating func list<Value: FieldCodable>(_: Value.Type) throws(FieldError) -> [Value] {
    try [Value](from: &self)
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

extension FieldReader: FieldCoder {
  /// What is wrong with the bytes.
  public typealias Failure = FieldError

  /// Reads a field.
  @inlinable
  public mutating func code<Value: FieldCodable>(_ field: inout Value) throws(FieldError) {
    field = try Value(from: &self)
  }

  /// Reads a version and checks that it is this one.
  public mutating func code(version: UInt8) throws(FieldError) {
    let found = try byte()
    guard found == version else { throw failure(.version(found, expected: version)) }
  }

  /// Checks a field that was read.
  @inlinable
  public func check(_ isInRange: @autoclosure () -> Bool, _ field: StaticString) throws(FieldError) {
    guard isInRange() else { throw failure(.outOfRange(field: "\(field)")) }
  }
}

/// An error in bytes that ``FieldWriter`` should have written.
public struct FieldError: Error, Hashable, Sendable {
  /// A problem found.
  public enum Problem: Hashable, Sendable {
    /// It ends inside a field.
    case cut
    /// So many bytes are left behind the last field.
    case surplus(bytes: Int)
    /// It was written by another version of the program.
    case version(UInt8, expected: UInt8)
    /// The kind of thing is not known.
    case kind(UInt8)
    /// A field that chooses between cases holds a value that is none of them.
    case unknownTag(field: String, tag: UInt8)
    /// A number that the field cannot hold.
    case outOfRange(field: String)
    /// A text is no UTF-8.
    case badText
    /// The identity of an observer or a beacon cannot be one.
    case badIdentity
    /// A tree is deeper than any that is written.
    case tooDeep(limit: Int)
    /// A part of a value that is kept in several parts is missing or misplaced; parts are counted from 0.
    case missingPart(UInt32)
  }

  /// The problem found.
  public let problem: Problem
  /// The position of the problem.
  ///
  /// - Units: bytes from the start.
  public let offset: Int

  /// Makes an error.
  @inlinable
  public init(_ problem: Problem, at offset: Int) {
    self.problem = problem
    self.offset = offset
  }
}

extension FieldError: CustomStringConvertible {
  /// The problem and its place; the caller knows where the bytes came from and adds the remedy.
  public var description: String {
    let place = "byte \(offset): "
    switch problem {
    case .cut: return place + "it ends inside a field"
    case .surplus(let bytes): return place + "\(bytes) bytes too many"
    case .version(let found, let expected):
      return place + "version \(found), this program reads version \(expected)"
    case .kind(let kind): return place + "kind \(kind) is not known"
    case .unknownTag(let field, let tag): return place + "\(tag) is no value of \(field)"
    case .outOfRange(let field): return place + "a number that \(field) cannot hold"
    case .badText: return place + "a text that is not UTF-8"
    case .badIdentity: return place + "an identity that cannot be one"
    case .tooDeep(let limit): return place + "a tree deeper than \(limit) levels"
    case .missingPart(let part): return place + "part \(part) is missing or out of its place"
    }
  }
}
