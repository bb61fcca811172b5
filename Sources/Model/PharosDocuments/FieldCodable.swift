/// A value that is kept as bytes, in recordings, checkpoints and the journal: written and read back without loss.
///
/// Fields come in the order in which the types declare them.
public protocol FieldCodable: Equatable, Sendable {
  /// Writes the value.
  func write(to writer: inout FieldWriter)
  /// Reads the value.
  init(from reader: inout FieldReader) throws(FieldError)
}

/// A value that lists its fields once, for the writer and the reader alike.
///
/// The reader reads into a value that is there already, with the configuration that it was made with.
public protocol FieldParts {
  /// Hands each field to a coder, in the order in which they are written.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

/// A struct that is coded as its fields, one after the other, which all have a value before they are read.
public protocol FieldStruct: FieldParts, FieldCodable {
  /// Makes a value whose fields are still to be read.
  init()
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
    self.init()
    try visitFields(&reader)
  }
}

/// A struct that is made of its fields, none of which has a value before it is read.
public protocol FieldRecord: FieldCodable {
  /// Hands each field to a coder, and makes a value of what the coder returns.
  ///
  /// - Parameters:
  ///   - value: returns the value that is written; a reader never asks for it.
  ///   - coder: the writer or the reader.
  /// - Returns: the value that was written or read.
  /// - Throws: the error of a reader.
  static func coded<Coder: FieldCoder>(
    _ value: () -> Self,
    by coder: inout Coder
  ) throws(Coder.Failure) -> Self
}

extension FieldRecord {
  /// Writes the value.
  @inlinable public func write(to writer: inout FieldWriter) { _ = Self.coded({ self }, by: &writer) }

  /// Reads the value.
  @inlinable
  public init(from reader: inout FieldReader) throws(FieldError) {
    self = try Self.coded({ preconditionFailure("a reader has no value yet") }, by: &reader)
  }
}

/// A value that is coded as another one that stands for it, such as a text or a number.
public protocol FieldForm: FieldCodable {
  /// The type of what is written.
  associatedtype Form: FieldCodable
  /// What is wrong with a form that stands for no value.
  static var misfit: FieldError.Problem { get }
  /// What is written.
  var form: Form { get }
  /// Makes the value from what was read; nil if it stands for none.
  init?(form: Form)
}

extension FieldForm {
  /// The form cannot be one of the value.
  @inlinable public static var misfit: FieldError.Problem { .badIdentity }

  /// Writes the value.
  @inlinable public func write(to writer: inout FieldWriter) { writer.write(form) }

  /// Reads the value.
  @inlinable
  public init(from reader: inout FieldReader) throws(FieldError) {
    guard let value = Self(form: try reader.read()) else { throw reader.failure(Self.misfit) }
    self = value
  }
}

/// A choice between cases that hold values: a byte for the case, then what the case holds.
public protocol FieldUnion: FieldCodable {
  /// The name of the field, for an error about a byte that stands for no case.
  static var fieldName: String { get }
  /// Hands each case to a coder.
  static func visitCases<Coder: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout Coder
  ) throws(Coder.Failure)
}

extension FieldUnion {
  /// Writes the value.
  @inlinable
  public func write(to writer: inout FieldWriter) {
    var union = FieldCase(value: self, tag: 0)
    Self.visitCases(&union, &writer)
  }

  /// Reads the value.
  @inlinable
  public init(from reader: inout FieldReader) throws(FieldError) {
    self = try reader.union(tag: try reader.byte())
  }
}

/// The value of a ``FieldUnion`` on the way to a writer, or its byte on the way from a reader.
public struct FieldCase<Value: FieldUnion> {
  /// The value: taken once it is written, given once it is read.
  @usableFromInline var value: Value?
  /// The byte that was read.
  @usableFromInline let tag: UInt8

  @inlinable
  init(value: Value?, tag: UInt8) { (self.value, self.tag) = (value, tag) }
}

/// The writer or the reader of the fields that a ``FieldStruct`` lists.
public protocol FieldCoder {
  /// The error of a reader; a writer has none.
  associatedtype Failure: Error
  /// Indicates whether fields are replaced; otherwise they are written, and what follows from them need not be found again.
  static var isReader: Bool { get }
  /// Writes a field, or replaces it by the one that is read.
  mutating func code<Value: FieldCodable>(_ field: inout Value) throws(Failure)
  /// Writes a field and returns it, or returns the one that is read; a reader never asks for the value.
  mutating func field<Value: FieldCodable>(_ value: @autoclosure () -> Value) throws(Failure) -> Value
  /// Writes the version of a layout, or reads one and checks that it is this one.
  mutating func code(version: UInt8) throws(Failure)
  /// Writes the length of a list, or reads one that what is left can hold, of elements that take at least so many bytes.
  mutating func code(count: inout Int, ofAtLeast minimum: Int) throws(Failure)
  /// Codes so many bytes as they are.
  mutating func code(raw bytes: inout [UInt8], count: Int) throws(Failure)
  /// Codes a case of a union.
  ///
  /// - Parameters:
  ///   - union: the value or its byte.
  ///   - tag: the byte of the case.
  ///   - make: the case, made from what it holds.
  ///   - parts: returns what a value of the case holds; nil for another case.
  /// - Throws: the error of a reader.
  mutating func code<Value: FieldUnion, each Part: FieldCodable>(
    _ union: inout FieldCase<Value>,
    _ tag: UInt8,
    _ make: (repeat each Part) -> Value,
    _ parts: (Value) -> (repeat each Part)?
  ) throws(Failure)
  /// Begins a part whose length stands before it.
  ///
  /// - Returns: what ``endBlock(_:)`` needs to find the length again.
  mutating func beginBlock() throws(Failure) -> Int
  /// Passes over the rest of the part.
  mutating func skipBlock()
  /// Ends the part; a reader checks that all of it was read.
  mutating func endBlock(_ start: Int) throws(Failure)
  /// Goes so many levels deeper in a tree.
  mutating func descend(_ levels: Int) throws(Failure)
  /// Returns true if there is more behind what older versions wrote: if a writer says so, or if a reader has bytes left.
  func hasMore(_ isWritten: @autoclosure () -> Bool) -> Bool
  /// Checks a field that was read; a writer checks nothing.
  func check(_ isInRange: @autoclosure () -> Bool, _ field: StaticString) throws(Failure)
}

extension FieldCoder {
  /// Codes a case of a union that holds nothing.
  @inlinable
  public mutating func code<Value: FieldUnion>(
    _ union: inout FieldCase<Value>,
    _ tag: UInt8,
    _ value: Value
  ) throws(Failure) {
    try code(&union, tag, { value }, { $0 == value ? () : nil })
  }

  /// Codes the parts of a value that is there already.
  @inlinable
  public mutating func code<Value: FieldParts>(parts value: inout Value) throws(Failure) {
    try value.visitFields(&self)
  }

  /// Codes a part whose length stands before it.
  @inlinable
  public mutating func code(block body: (inout Self) throws(Failure) -> Void) throws(Failure) {
    let start = try beginBlock()
    try body(&self)
    try endBlock(start)
  }

  /// Codes the values of a list whose length the reader knows.
  @inlinable
  public mutating func code<Value: FieldCodable>(each values: inout [Value]) throws(Failure) {
    for index in values.indices { try code(&values[index]) }
  }

  /// Codes a list and its length.
  ///
  /// - Parameters:
  ///   - values: the list.
  ///   - minimum: the fewest bytes that an element takes.
  ///   - fresh: the value into which an element is read.
  ///   - body: codes an element.
  /// - Throws: the error of a reader.
  @inlinable
  public mutating func code<Value>(
    list values: inout [Value],
    ofAtLeast minimum: Int = 1,
    into fresh: @autoclosure () -> Value,
    _ body: (inout Value, inout Self) throws(Failure) -> Void
  ) throws(Failure) {
    var count = values.count
    try code(count: &count, ofAtLeast: minimum)
    if Self.isReader { values = [] }
    for place in 0..<count {
      var value = Self.isReader ? fresh() : values[place]
      try body(&value, &self)
      if Self.isReader { values.append(value) }
    }
  }

  /// Codes bytes behind their number.
  @inlinable
  public mutating func code(bytes: inout [UInt8]) throws(Failure) {
    var count = bytes.count
    try code(count: &count, ofAtLeast: 1)
    try code(raw: &bytes, count: count)
  }

  /// Codes a number within bounds.
  @inlinable
  public mutating func code<Number: FieldCodable & Comparable>(
    _ number: inout Number,
    in range: ClosedRange<Number>,
    _ field: StaticString
  ) throws(Failure) {
    try code(&number)
    try check(range.contains(number), field)
  }

  /// Codes a number as one of another width; a number that does not fit is held to the bounds of the other.
  @inlinable
  public mutating func code<Number: FixedWidthInteger, Form: FixedWidthInteger & FieldCodable>(
    _ number: inout Number,
    as _: Form.Type,
    in range: ClosedRange<Form> = Form.min...Form.max,
    _ field: StaticString = "a number"
  ) throws(Failure) {
    var form = Form(clamping: number)
    try code(&form, in: range, field)
    number = Number(clamping: form)
  }

  /// Codes a set of options as its bits.
  @inlinable
  public mutating func code<Options: OptionSet>(options: inout Options) throws(Failure)
  where Options.RawValue: FieldCodable {
    var bits = options.rawValue
    try code(&bits)
    options = Options(rawValue: bits)
  }

  /// Codes a counter of transitions, which must leave room for another 2^63 of them.
  @inlinable
  public mutating func code(counter: inout UInt64) throws(Failure) {
    try code(&counter, in: 0...UInt64(Int64.max), "a counter")
  }

  /// Codes a number that is used in computations and must be finite.
  @inlinable
  public mutating func code(finite number: inout Double) throws(Failure) {
    try code(&number)
    try check(number.isFinite, "a finite number")
  }

  /// Codes a place in a list as u32.
  @inlinable
  public mutating func code(place: inout Int) throws(Failure) { try code(&place, as: UInt32.self) }

  /// Codes a place in a list, or nil.
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

extension Dictionary: FieldCodable where Key: FieldCodable & Comparable, Value: FieldCodable {
  /// Writes a count as u32, then keys and values in the order of the keys.
  @inlinable
  public func write(to writer: inout FieldWriter) {
    writer.write(UInt32(count))
    for (key, value) in sorted(by: { $0.key < $1.key }) {
      writer.write(key)
      writer.write(value)
    }
  }
  /// Reads the value; of a key that comes twice the last value counts.
  @inlinable
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    for _ in 0..<(try reader.count(ofAtLeast: 2)) {
      let key: Key = try reader.read()
      self[key] = try reader.read() as Value
    }
  }
}

extension Set: FieldCodable where Element: FieldCodable & Comparable {
  /// Writes the values in their order, as a list.
  @inlinable public func write(to writer: inout FieldWriter) { writer.write(sorted()) }
  /// Reads the value.
  @inlinable
  public init(from reader: inout FieldReader) throws(FieldError) { self.init(try [Element](from: &reader)) }
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
}

extension FieldWriter: FieldCoder {
  /// A writer cannot fail.
  public typealias Failure = Never
  /// A writer replaces nothing.
  @inlinable public static var isReader: Bool { false }

  /// Writes a field.
  @inlinable public mutating func code<Value: FieldCodable>(_ field: inout Value) { field.write(to: &self) }
  /// Writes a field.
  @inlinable
  public mutating func field<Value: FieldCodable>(_ value: @autoclosure () -> Value) -> Value {
    let value = value()
    value.write(to: &self)
    return value
  }
  /// Writes a version.
  public mutating func code(version: UInt8) { write(version) }
  /// Writes a length.
  @inlinable public mutating func code(count: inout Int, ofAtLeast _: Int) { write(UInt32(count)) }
  /// Writes bytes.
  public mutating func code(raw bytes: inout [UInt8], count _: Int) { write(raw: bytes) }

  /// Writes the case if the value is of this one.
  @inlinable
  public mutating func code<Value: FieldUnion, each Part: FieldCodable>(
    _ union: inout FieldCase<Value>,
    _ tag: UInt8,
    _: (repeat each Part) -> Value,
    _ parts: (Value) -> (repeat each Part)?
  ) {
    guard let value = union.value, let parts = parts(value) else { return }
    union.value = nil
    write(tag: tag, repeat each parts)
  }

  /// Leaves room for the length.
  public mutating func beginBlock() -> Int {
    write(0 as UInt32)
    return storage.count
  }

  /// Leaves the part as it is.
  public mutating func skipBlock() {}

  /// Writes the length.
  public mutating func endBlock(_ start: Int) {
    let length = UInt32(truncatingIfNeeded: storage.count - start)
    for place in 0..<4 {
      storage[start - 4 + place] = UInt8(truncatingIfNeeded: length >> UInt32(24 - place * 8))
    }
  }

  /// Allows every depth.
  public mutating func descend(_: Int) {}
  /// Returns what the caller says.
  @inlinable public func hasMore(_ isWritten: @autoclosure () -> Bool) -> Bool { isWritten() }
  /// Checks nothing: what is written is right.
  @inlinable public func check(_ isInRange: @autoclosure () -> Bool, _ field: StaticString) {}
}

/// Reads back what ``FieldWriter`` wrote; any bytes at all give a value or an error, never more.
public struct FieldReader: Sendable {
  /// The largest depth of a tree: deeper than any site's, shallow enough for every stack.
  public static let deepestTree = 128

  @usableFromInline let bytes: ArraySlice<UInt8>
  @usableFromInline var position: Int
  /// The position behind what may be read.
  @usableFromInline var end: Int
  /// The reader's depth in a tree.
  private var depth = 0

  /// Starts at the first byte.
  public init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    self.position = bytes.startIndex
    self.end = bytes.endIndex
  }

  /// The number of bytes left.
  @inlinable public var remaining: Int { end - position }

  /// The number of bytes read.
  @inlinable public var offset: Int { position - bytes.startIndex }

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

  /// Reads a length of a list whose elements take at least so many bytes each, and which therefore is bounded by what is left.
  public mutating func count(ofAtLeast minimum: Int = 1) throws(FieldError) -> Int {
    let count = Int(try number(UInt32.self))
    guard count <= remaining / max(1, minimum) else { throw failure(.cut) }
    return count
  }

  /// Checks that nothing is left.
  public func finish() throws(FieldError) {
    guard remaining == 0 else { throw failure(.surplus(bytes: remaining)) }
  }
}

extension FieldReader: FieldCoder {
  /// What is wrong with the bytes.
  public typealias Failure = FieldError
  /// A reader replaces each field.
  @inlinable public static var isReader: Bool { true }

  /// Reads a field.
  @inlinable
  public mutating func code<Value: FieldCodable>(_ field: inout Value) throws(FieldError) {
    field = try Value(from: &self)
  }

  /// Reads a field.
  @inlinable
  public mutating func field<Value: FieldCodable>(
    _: @autoclosure () -> Value
  ) throws(FieldError) -> Value {
    try Value(from: &self)
  }

  /// Reads a version and checks that it is this one.
  public mutating func code(version: UInt8) throws(FieldError) {
    let found = try byte()
    guard found == version else { throw failure(.version(found, expected: version)) }
  }

  /// Reads a length.
  public mutating func code(count: inout Int, ofAtLeast minimum: Int) throws(FieldError) {
    count = try self.count(ofAtLeast: minimum)
  }

  /// Reads bytes.
  public mutating func code(raw bytes: inout [UInt8], count: Int) throws(FieldError) {
    bytes = try raw(count)
  }

  /// Reads what the case holds if the byte is of this one.
  @inlinable
  public mutating func code<Value: FieldUnion, each Part: FieldCodable>(
    _ union: inout FieldCase<Value>,
    _ tag: UInt8,
    _ make: (repeat each Part) -> Value,
    _: (Value) -> (repeat each Part)?
  ) throws(FieldError) {
    guard tag == union.tag else { return }
    union.value = make(repeat try read((each Part).self))
  }

  /// Reads the value of a union behind its byte.
  @inlinable
  public mutating func union<Value: FieldUnion>(tag: UInt8) throws(FieldError) -> Value {
    var union = FieldCase<Value>(value: nil, tag: tag)
    try Value.visitCases(&union, &self)
    guard let value = union.value else { throw failure(.unknownTag(field: Value.fieldName, tag: tag)) }
    return value
  }

  /// Reads the length.
  public mutating func beginBlock() throws(FieldError) -> Int {
    let length = Int(try number(UInt32.self))
    guard length <= remaining else { throw failure(.cut) }
    let outer = end
    end = position + length
    return outer
  }

  /// Goes to the end of the part.
  public mutating func skipBlock() { position = end }

  /// Checks that nothing is left, and goes on behind the part.
  public mutating func endBlock(_ outer: Int) throws(FieldError) {
    try finish()
    end = outer
  }

  /// Checks the depth.
  public mutating func descend(_ levels: Int) throws(FieldError) {
    guard depth + levels <= FieldReader.deepestTree else {
      throw failure(.tooDeep(limit: FieldReader.deepestTree))
    }
    depth += levels
  }

  /// Returns true if bytes are left.
  @inlinable public func hasMore(_: @autoclosure () -> Bool) -> Bool { remaining > 0 }

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
