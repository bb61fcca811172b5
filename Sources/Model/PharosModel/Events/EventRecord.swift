public import PharosDocuments

/// A published event in bytes: the event that is read back has the same CloudEvents JSON, byte for byte.
///
/// Numbers are stored with the digits that JSON carries, which makes an exit with all its evidence about a hundred
/// bytes; names are stored beside the bytes, so that a store may keep each of them once.
public struct EventRecord: Hashable, Sendable {
  /// The names that the event mentions, in the order in which the bytes ask for them.
  public private(set) var names: [EventName] = []
  /// All the rest.
  public private(set) var body: [UInt8] = []

  /// Starts empty: a record that is to be filled over and over.
  public init() {}

  /// The record of an event.
  public init(_ event: Event) { fill(with: event) }

  /// A record from the parts that a store kept.
  public init(names: [EventName], body: [UInt8]) {
    self.names = names
    self.body = body
  }

  /// Replaces what the record holds, keeping its storage.
  public mutating func fill(with event: Event) {
    var writer = RecordWriter(names: names, bytes: body)
    names = []
    body = []
    writer.removeAll()
    event.write(to: &writer)
    names = writer.names
    body = writer.bytes
  }

  /// Reads the event back.
  ///
  /// - Throws: a `FieldError` if the bytes are not those of a record, or the names not its names.
  public func event() throws(FieldError) -> Event {
    var reader = RecordReader(names: names, bytes: body[...])
    let event = try Event(from: &reader)
    try reader.finish()
    return event
  }

  /// Returns the time of the event without reading the rest; nil if the bytes hold no time.
  ///
  /// - Shape: bytes 2 to 9 of the body, the first one most significant.
  public static func time<Bytes: RandomAccessCollection>(inBody body: Bytes) -> Timestamp?
  where Bytes.Element == UInt8 {
    guard body.count >= 10 else { return nil }
    var bits: UInt64 = 0
    for byte in body.dropFirst(2).prefix(8) { bits = bits << 8 | UInt64(byte) }
    return Timestamp(nanoseconds: Int64(bitPattern: bits))
  }
}

extension EventRecord: FieldStruct {
  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&names)
    try coder.code(&body)
  }
}

extension Event: FieldCodable {
  /// Writes the event as it was published, its names included.
  public func write(to writer: inout FieldWriter) { EventRecord(self).write(to: &writer) }

  /// Reads an event as it was published.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self = try EventRecord(from: &reader).event()
  }
}
