package import PharosCaptures
public import PharosDocuments
public import PharosModel

/// An input of a server that is no datagram, as a recording carries it: the content of one local-use block.
package enum RecordedInput: Hashable, Sendable {
  /// The site that the server started with; the first input of every recording.
  case site(Site)
  /// The server had all inputs up to here: the last input of a recording that was ended in order.
  case tick(through: Timestamp)
  /// The regions changed.
  case change(RegionChange, at: Timestamp)
  /// The wall clock was set by so much.
  case clockStep(TimeSpan, at: Timestamp)
  /// A part of what the server went on from when it started again; the parts follow each other right behind the site.
  case restored(RecordedPart, at: Timestamp)
  /// A part of a datagram that is longer than a packet can hold, as HTTP and MQTT bring them; the parts follow each other.
  case datagram(RecordedPart, from: Endpoint, to: Endpoint, at: Timestamp)

  /// The server stood still from an instant to a later one.
  case pause(through: Timestamp, at: Timestamp)
  /// An event that the engines did not decide: a changed authorisation, a notification.
  case announced(Event, at: Timestamp)

  /// The type of the pcapng blocks: "PHR" behind the bit that keeps a type for local use.
  package static let blockType: UInt32 = 0x8050_4852

  /// The version of the content's layout: 3 since sites say whom they admit, and recordings may begin with a checkpoint.
  package static let version: UInt8 = 3

  /// The content of the block.
  ///
  /// - Shape: 0 version; 1 kind; 2 zeros; 4 receive time, i64 nanoseconds; 12 the kind's own fields. Big-endian.
  package var encoded: [UInt8] {
    var writer = FieldWriter()
    func write<each Value: FieldCodable>(_ kind: UInt8, at instant: Timestamp, _ values: repeat each Value) {
      writer.write(tag: kind, 0 as UInt16, instant)
      repeat writer.write(each values)
    }
    writer.code(version: RecordedInput.version)
    switch self {
    case .site(let site): write(0, at: Timestamp(nanoseconds: 0), site)
    case .tick(let instant): write(1, at: instant)
    case .change(let change, let instant): write(2, at: instant, change)
    case .clockStep(let span, let instant): write(3, at: instant, span)
    case .restored(let part, let instant): write(5, at: instant, part)
    case .pause(through: let end, at: let instant): write(6, at: instant, end)
    case .datagram(let part, from: let source, to: let destination, at: let instant):
      write(7, at: instant, source, destination, part)
    case .announced(let event, let instant): write(8, at: instant, event)
    }
    return writer.bytes
  }

  /// The receive time; nil for the site.
  var instant: Timestamp? {
    switch self {
    case .site: nil
    case .tick(let instant), .change(_, let instant), .clockStep(_, let instant), .restored(_, let instant),
      .pause(_, let instant), .datagram(_, _, _, let instant), .announced(_, let instant):
      instant
    }
  }

  /// Reads the content of a block.
  package init(decoding content: ArraySlice<UInt8>) throws(FieldError) {
    var reader = FieldReader(content)
    try reader.code(version: RecordedInput.version)
    let kind = try reader.byte()
    guard try reader.number(UInt16.self) == 0 else {
      throw reader.failure(.version(RecordedInput.version, expected: RecordedInput.version))
    }
    let instant = try Timestamp(from: &reader)
    switch kind {
    case 0: self = .site(try Site(from: &reader))
    case 1: self = .tick(through: instant)
    case 2: self = .change(try RegionChange(from: &reader), at: instant)
    case 3: self = .clockStep(try TimeSpan(from: &reader), at: instant)
    case 5: self = .restored(try RecordedPart(from: &reader), at: instant)
    case 6: self = .pause(through: try Timestamp(from: &reader), at: instant)
    case 7:
      let (source, destination) = (try Endpoint(from: &reader), try Endpoint(from: &reader))
      self = .datagram(try RecordedPart(from: &reader), from: source, to: destination, at: instant)
    case 8: self = .announced(try Event(from: &reader), at: instant)
    default: throw reader.failure(.kind(kind))
    }
    try reader.finish()
  }
}

/// Writes a recording: every input of a server in its total order, in a pcapng that Wireshark opens.
///
/// Datagrams are packets with made-up IP and UDP headers, stamped with R; all other inputs lie in blocks for local use.
/// The site stands first, so that a recording needs no other file to be processed. The bytes gather here until the caller
/// takes them; whatever was taken is a whole capture, so that a recording that was cut off is good up to there.
///
/// The caller gives the inputs in the order in which the engines took them, and ends with ``finish(through:)``.
package struct RecordingWriter: Sendable {
  /// The number of datagrams written.
  package private(set) var datagrams: UInt64 = 0
  /// The number of other inputs written, the site among them.
  package private(set) var otherInputs: UInt64 = 0

  private var capture: CaptureWriter

  /// Starts a recording with the site that the server runs with.
  ///
  /// - Throws: that the site is larger than a block that is read back, 1 MiB.
  package init(site: Site, application: String = "pharos") throws(CaptureError) {
    capture = CaptureWriter(
      comment: "Pharos recording of stream \(site.stream): all inputs in order",
      application: application
    )
    try write(.site(site))
  }

  /// The number of bytes that wait to be taken.
  package var pendingCount: Int { capture.pendingCount }

  /// Hands over what was written since the last time and forgets it.
  package mutating func drainBytes() -> [UInt8] { capture.drainBytes() }

  /// Writes a datagram as it was received, whether it decodes or not; one that no packet can hold in as many blocks as it
  /// takes.
  package mutating func write(
    datagram payload: RawSpan,
    from source: Endpoint,
    to destination: Endpoint,
    received: Timestamp
  ) throws(CaptureError) {
    datagrams &+= 1
    guard payload.byteCount > CaptureWriter.maximumPayload else {
      return try capture.write(payload: payload, from: source, to: destination, at: received)
    }
    for part in RecordedPart.parts(of: payload.withUnsafeBytes { Array($0) }) {
      try write(.datagram(part, from: source, to: destination, at: received))
    }
  }

  /// Writes an input that is no datagram.
  ///
  /// - Throws: that it is larger than a block that is read back, 1 MiB.
  package mutating func write(_ input: RecordedInput) throws(CaptureError) {
    try capture.write(block: RecordedInput.blockType, content: input.encoded.span.bytes)
    otherInputs &+= 1
  }

  /// Writes what the server went on from when it started again, in as many blocks as it takes.
  ///
  /// It comes right behind the site, before all other inputs.
  ///
  /// - Throws: nothing in practice; the parts are smaller than a block that is read back.
  package mutating func write(_ restoration: Restoration, at instant: Timestamp) throws(CaptureError) {
    for part in RecordedPart.parts(of: restoration) { try write(.restored(part, at: instant)) }
  }

  /// Ends the recording: the server had all inputs up to this instant, and decided all that was due by then.
  ///
  /// - Throws: nothing in practice; a tick is small.
  package mutating func finish(through instant: Timestamp) throws(CaptureError) {
    try write(.tick(through: instant))
  }
}

/// A part of something large as a recording carries it, since a block of a capture is no larger than 1 MiB.
package struct RecordedPart: Hashable, Sendable {
  /// The maximum length of a part.
  ///
  /// Half of the largest block that is read back.
  ///
  /// - Units: bytes.
  package static let maximumLength = 512 << 10
  /// The maximum number of parts: enough for 4 GiB, several times what all tables of a server hold.
  package static let maximumCount: UInt32 = 8_192

  /// The number of this part, from 0.
  package let index: UInt32
  /// The number of parts.
  package let count: UInt32
  /// Its bytes.
  package let bytes: [UInt8]

  /// Cuts a restoration into parts; at least one.
  package static func parts(of restoration: Restoration) -> [RecordedPart] {
    var writer = FieldWriter()
    restoration.write(to: &writer)
    return parts(of: writer.bytes)
  }

  /// Cuts bytes into parts; at least one unless there are none.
  package static func parts(of all: [UInt8]) -> [RecordedPart] {
    let starts = Array(stride(from: 0, to: all.count, by: maximumLength))
    return starts.enumerated().map { index, start in
      RecordedPart(
        index: UInt32(index),
        count: UInt32(starts.count),
        bytes: Array(all[start..<min(start + maximumLength, all.count)])
      )
    }
  }

  private init(index: UInt32, count: UInt32, bytes: [UInt8]) {
    self.index = index
    self.count = count
    self.bytes = bytes
  }
}

extension RecordedPart: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let index = try coder.field(value().index)
    let count = try coder.field(value().count)
    try coder.check(index < count && count <= RecordedPart.maximumCount, "a part")
    var bytes = C.isReader ? [] : value().bytes
    try coder.code(bytes: &bytes)
    return RecordedPart(index: index, count: count, bytes: bytes)
  }
}

extension IPAddress.Version: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "a version of IP" }
}

extension Endpoint: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let high = try coder.field(value().address.asV6.high)
    let low = try coder.field(value().address.asV6.low)
    let address =
      switch try coder.field(value().address.version) {
      case .v4: IPAddress(v4: UInt32(truncatingIfNeeded: low))
      case .v6: IPAddress(v6: high, low)
      }
    return Endpoint(address, port: try coder.field(value().port))
  }
}

/// Puts the parts of something large together.
package struct PartAssembly: Sendable {
  private var bytes: [UInt8] = []
  private var next: UInt32 = 0
  private var count: UInt32 = 0

  /// Starts before a first part.
  package init() {}

  /// Takes the next part; gives the whole with the last one.
  ///
  /// - Throws: that a part is missing.
  package mutating func add(_ part: RecordedPart) throws(FieldError) -> [UInt8]? {
    guard part.index == next, next == 0 || part.count == count else {
      throw FieldError(.missingPart(next), at: 0)
    }
    count = part.count
    next += 1
    bytes += part.bytes
    guard next == count else { return nil }
    defer { self = PartAssembly() }
    return bytes
  }
}
