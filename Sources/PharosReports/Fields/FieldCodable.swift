/// A value that is kept as bytes, in recordings, checkpoints and the journal: written and read back without loss.
///
/// Fields come in the order in which the types declare them.
public protocol FieldCodable: Equatable, Sendable {
  /// Writes the value.
  func write(to writer: inout FieldWriter)
  /// Reads the value.
  init(from reader: inout FieldReader) throws(FieldError)
}

extension String: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) { writer.write(self) }
  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { self = try reader.text() }
}

extension Double: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) { writer.write(self) }
  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { self = try reader.double() }
}

extension UInt16: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) { writer.write(self as UInt16) }
  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { self = try reader.number(UInt16.self) }
}

extension UInt64: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) { writer.write(self as UInt64) }
  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { self = try reader.number(UInt64.self) }
}

extension TimeSpan: FieldCodable {
  /// Writes the value.
  @inlinable public func write(to writer: inout FieldWriter) { writer.write(nanoseconds) }
  /// Reads the value.
  @inlinable
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(nanoseconds: try reader.number(Int64.self))
  }
}

extension Timestamp: FieldCodable {
  /// Writes the value.
  @inlinable public func write(to writer: inout FieldWriter) { writer.write(nanoseconds) }
  /// Reads the value.
  @inlinable
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(nanoseconds: try reader.number(Int64.self))
  }
}

/// A list where the value itself may be missing, as the observers of a region about beacons are.
public struct FieldList<Element: FieldCodable>: FieldCodable {
  /// The values.
  public let elements: [Element]

  /// Wraps values.
  public init(_ elements: [Element]) { self.elements = elements }

  /// Writes the value.
  public func write(to writer: inout FieldWriter) { writer.write(elements) }
  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { elements = try reader.list(Element.self) }
}
