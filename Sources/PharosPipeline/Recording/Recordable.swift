import PharosReports

/// A value that a recording can carry: written and read back without loss.
///
/// Fields come in the order in which the types declare them, so that the page "Recording" can be read beside them.
protocol Recordable: Equatable, Sendable {
  /// Writes the value.
  func write(to writer: inout FieldWriter)
  /// Reads the value.
  init(from reader: inout FieldReader) throws(RecordingError)
}

extension String: Recordable {
  func write(to writer: inout FieldWriter) { writer.write(self) }
  init(from reader: inout FieldReader) throws(RecordingError) { self = try reader.text() }
}

extension Double: Recordable {
  func write(to writer: inout FieldWriter) { writer.write(self) }
  init(from reader: inout FieldReader) throws(RecordingError) { self = try reader.double() }
}

extension UInt16: Recordable {
  func write(to writer: inout FieldWriter) { writer.write(self as UInt16) }
  init(from reader: inout FieldReader) throws(RecordingError) { self = try reader.number(UInt16.self) }
}

extension UInt64: Recordable {
  func write(to writer: inout FieldWriter) { writer.write(self as UInt64) }
  init(from reader: inout FieldReader) throws(RecordingError) { self = try reader.number(UInt64.self) }
}

extension TimeSpan: Recordable {
  func write(to writer: inout FieldWriter) { writer.write(nanoseconds) }
  init(from reader: inout FieldReader) throws(RecordingError) {
    self.init(nanoseconds: try reader.number(Int64.self))
  }
}

extension Timestamp: Recordable {
  func write(to writer: inout FieldWriter) { writer.write(nanoseconds) }
  init(from reader: inout FieldReader) throws(RecordingError) {
    self.init(nanoseconds: try reader.number(Int64.self))
  }
}

/// A list where the value itself may be missing, as the observers of a region about beacons are.
struct RecordedList<Element: Recordable>: Recordable {
  let elements: [Element]

  init(_ elements: [Element]) { self.elements = elements }

  func write(to writer: inout FieldWriter) { writer.write(elements) }
  init(from reader: inout FieldReader) throws(RecordingError) { elements = try reader.list(Element.self) }
}
