package import PharosReports

/// A part of a ``Restoration`` as a recording carries it, since a block of a capture is no larger than 1 MiB.
package struct RestorationPart: Hashable, Sendable {
  /// How long a part is at most.
  ///
  /// Half of the largest block that is read back.
  ///
  /// - Units: bytes.
  package static let longest = 512 << 10
  /// How many parts there are at most: enough for 4 GiB, several times what all tables of a server hold.
  package static let most: UInt32 = 8_192

  /// Which part, from 0.
  package let index: UInt32
  /// How many there are.
  package let count: UInt32
  /// Its bytes.
  package let bytes: [UInt8]

  /// Cuts a restoration into parts; at least one.
  package static func parts(of restoration: Restoration) -> [RestorationPart] {
    var writer = FieldWriter()
    restoration.write(to: &writer)
    let all = writer.bytes
    let starts = Array(stride(from: 0, to: all.count, by: longest))
    return starts.enumerated().map { index, start in
      RestorationPart(
        index: UInt32(index),
        count: UInt32(starts.count),
        bytes: Array(all[start..<min(start + longest, all.count)])
      )
    }
  }

  private init(index: UInt32, count: UInt32, bytes: [UInt8]) {
    self.index = index
    self.count = count
    self.bytes = bytes
  }
}

extension RestorationPart: FieldCodable {
  /// Writes the value.
  package func write(to writer: inout FieldWriter) {
    writer.write(index)
    writer.write(count)
    writer.write(UInt32(bytes.count))
    writer.write(raw: bytes)
  }

  /// Reads the value.
  package init(from reader: inout FieldReader) throws(FieldError) {
    index = try reader.number(UInt32.self)
    count = try reader.number(UInt32.self)
    guard index < count, count <= RestorationPart.most else { throw reader.failure(.badIdentity) }
    bytes = try reader.raw(Int(try reader.number(UInt32.self)))
  }
}

/// Puts the parts of a restoration together.
struct RestorationAssembly: Sendable {
  private var bytes: [UInt8] = []
  private var next: UInt32 = 0
  private var count: UInt32 = 0

  /// Takes the next part; gives the whole with the last one.
  ///
  /// - Throws: that a part is missing, or that the whole cannot be read.
  mutating func add(_ part: RestorationPart) throws(FieldError) -> Restoration? {
    guard part.index == next, next == 0 || part.count == count else {
      throw FieldError(.missingPart(next), at: 0)
    }
    if next == 0 { bytes.removeAll() }
    count = part.count
    next += 1
    bytes += part.bytes
    guard next == count else { return nil }
    next = 0
    var reader = FieldReader(bytes[...])
    bytes = []
    let restoration = try Restoration(from: &reader)
    try reader.finish()
    return restoration
  }
}
