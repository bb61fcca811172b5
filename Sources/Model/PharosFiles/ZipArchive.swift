import CZlib

/// The files in a zip archive, stored or deflated.
///
/// - Source: PKWARE, APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16; archives above 4 GiB and encrypted files are not
///   read.
package struct ZipArchive: Sendable {
  /// The reason why an archive or a file in it cannot be read.
  package enum Failure: Error, Hashable, Sendable {
    /// The bytes are no zip archive, or it was cut.
    case notZip
    /// The archive has no such file.
    case missing
    /// The file is encrypted, or packed by a method other than Deflate.
    case unsupported
    /// The bytes of the file are damaged.
    case damaged
  }

  private struct Entry {
    let method: Int
    let isEncrypted: Bool
    let packed: Int
    let header: Int
    let checksum: UInt32
  }

  private let bytes: [UInt8]
  private let entries: [String: Entry]

  /// The first bytes of an archive that holds a file.
  package static let signature: [UInt8] = [0x50, 0x4B, 3, 4]

  /// Reads the directory of an archive.
  package init(_ bytes: [UInt8]) throws(Failure) {
    self.bytes = bytes
    let fields = LittleEndian(bytes: bytes)
    // The end of the directory: 22 bytes and a comment of at most 65,535.
    let lowest = max(0, bytes.count - 22 - 0xFFFF)
    let end = stride(from: bytes.count - 22, through: lowest, by: -1).first {
      fields.long(at: $0) == 0x0605_4B50
    }
    guard let end, let count = fields.short(at: end + 10), var place = fields.long(at: end + 16) else {
      throw .notZip
    }
    var entries: [String: Entry] = [:]
    for _ in 0..<count {
      guard fields.long(at: place) == 0x0201_4B50, let flags = fields.short(at: place + 8),
        let method = fields.short(at: place + 10), let checksum = fields.long(at: place + 16),
        let packed = fields.long(at: place + 20), let nameLength = fields.short(at: place + 28),
        let extra = fields.short(at: place + 30), let comment = fields.short(at: place + 32),
        let header = fields.long(at: place + 42), place + 46 + nameLength <= bytes.count
      else { throw .notZip }
      let name = String(decoding: bytes[place + 46..<place + 46 + nameLength], as: UTF8.self)
      entries[name.replacing("\\", with: "/")] = Entry(
        method: method,
        isEncrypted: flags & 1 != 0,
        packed: packed,
        header: header,
        checksum: UInt32(truncatingIfNeeded: checksum)
      )
      place += 46 + nameLength + extra + comment
    }
    self.entries = entries
  }

  /// The names of the files, with slashes between folders.
  package var names: [String] { entries.keys.filter { !$0.hasSuffix("/") }.sorted() }

  /// Returns the first bytes of a file, without a byte order mark.
  package func contents(of name: String, limit: Int) throws(Failure) -> [UInt8] {
    guard let entry = entries[name] else { throw .missing }
    guard !entry.isEncrypted, entry.method == 0 || entry.method == 8 else { throw .unsupported }
    let fields = LittleEndian(bytes: bytes)
    guard fields.long(at: entry.header) == 0x0403_4B50, let nameLength = fields.short(at: entry.header + 26),
      let extra = fields.short(at: entry.header + 28)
    else { throw .damaged }
    let start = entry.header + 30 + nameLength + extra
    guard start + entry.packed <= bytes.count else { throw .damaged }
    let packed = bytes[start..<start + entry.packed]
    let (found, isWhole) =
      try entry.method == 0
      ? (Array(packed.prefix(limit)), packed.count <= limit)
      : ZipArchive.inflated(packed, limit: limit)
    guard isWhole else { return ByteOrderMark.removed(from: found) }
    let checksum = found.withUnsafeBufferPointer { crc32_z(0, $0.baseAddress, $0.count) }
    guard UInt32(truncatingIfNeeded: checksum) == entry.checksum else { throw .damaged }
    return ByteOrderMark.removed(from: found)
  }

  private static func inflated(
    _ packed: ArraySlice<UInt8>,
    limit: Int
  ) throws(Failure) -> (bytes: [UInt8], isWhole: Bool) {
    guard let found = Inflater.unpacked(packed, .raw, limit: limit) else { throw .damaged }
    return found
  }
}

/// The numbers in bytes, least significant byte first; nil beyond their end.
private struct LittleEndian {
  let bytes: [UInt8]

  func short(at place: Int) -> Int? { number(at: place, length: 2) }
  func long(at place: Int) -> Int? { number(at: place, length: 4) }

  private func number(at place: Int, length: Int) -> Int? {
    guard place >= 0, place + length <= bytes.count else { return nil }
    return (0..<length).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
  }
}
