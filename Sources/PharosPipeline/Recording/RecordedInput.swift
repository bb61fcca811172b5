package import PharosReports

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
  /// An edited site took the place of the one before.
  case adoption(Site, at: Timestamp)
  /// A part of what the server went on from when it started again; the parts follow each other right behind the site.
  case restored(RestorationPart, at: Timestamp)

  /// The server stood still from an instant to a later one.
  case pause(through: Timestamp, at: Timestamp)

  /// The type of the pcapng blocks: "PHR" behind the bit that keeps a type for local use.
  package static let blockType: UInt32 = 0x8050_4852

  /// The version of the content's layout: 3 since sites say whom they admit, and recordings may begin with a checkpoint.
  package static let version: UInt8 = 3

  /// The content of the block.
  ///
  /// - Shape: 0 version; 1 kind; 2 zeros; 4 receive time, i64 nanoseconds; 12 the kind's own fields. Big-endian.
  package var encoded: [UInt8] {
    var writer = FieldWriter()
    writer.write(RecordedInput.version)
    switch self {
    case .site(let site):
      RecordedInput.writeHead(kind: 0, at: Timestamp(nanoseconds: 0), to: &writer)
      site.write(to: &writer)
    case .tick(let instant): RecordedInput.writeHead(kind: 1, at: instant, to: &writer)
    case .change(let change, let instant):
      RecordedInput.writeHead(kind: 2, at: instant, to: &writer)
      change.write(to: &writer)
    case .clockStep(let span, let instant):
      RecordedInput.writeHead(kind: 3, at: instant, to: &writer)
      span.write(to: &writer)
    case .adoption(let site, let instant):
      RecordedInput.writeHead(kind: 4, at: instant, to: &writer)
      site.write(to: &writer)
    case .restored(let part, let instant):
      RecordedInput.writeHead(kind: 5, at: instant, to: &writer)
      part.write(to: &writer)
    case .pause(through: let end, at: let instant):
      RecordedInput.writeHead(kind: 6, at: instant, to: &writer)
      end.write(to: &writer)
    }
    return writer.bytes
  }

  /// Reads the content of a block.
  package init(decoding content: ArraySlice<UInt8>) throws(FieldError) {
    var reader = FieldReader(content)
    let version = try reader.byte()
    guard version == RecordedInput.version else {
      throw reader.failure(.version(version, expected: RecordedInput.version))
    }
    let kind = try reader.byte()
    guard try reader.number(UInt16.self) == 0 else {
      throw reader.failure(.version(version, expected: RecordedInput.version))
    }
    let instant = try Timestamp(from: &reader)
    switch kind {
    case 0: self = .site(try Site(from: &reader))
    case 1: self = .tick(through: instant)
    case 2: self = .change(try RegionChange(from: &reader), at: instant)
    case 3: self = .clockStep(try TimeSpan(from: &reader), at: instant)
    case 4: self = .adoption(try Site(from: &reader), at: instant)
    case 5: self = .restored(try RestorationPart(from: &reader), at: instant)
    case 6: self = .pause(through: try Timestamp(from: &reader), at: instant)
    default: throw reader.failure(.kind(kind))
    }
    try reader.finish()
  }

  private static func writeHead(kind: UInt8, at instant: Timestamp, to writer: inout FieldWriter) {
    writer.write(kind)
    writer.write(0 as UInt16)
    instant.write(to: &writer)
  }
}
