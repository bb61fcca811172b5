import PharosPlaces
import PharosReports

extension RadioMap {
  /// "PHRM".
  private static let magic: UInt32 = 0x5048_524D
  /// The version of the layout.
  private static let version: UInt8 = 1
  /// The most cells of all patches together.
  ///
  /// Two bytes each; a mall of five floors with 5,000 radios takes ten million.
  package static let mostCells = 1 << 28

  /// The bytes that it is kept as.
  ///
  /// - Shape: 0 "PHRM"; 4 version; 5 checksum of all that follows, u64; then the floors, each with its grid and what was
  ///   walked; the emitters, each with its group, its noise and its patches; the anchors; the levels; the deviations. Lists
  ///   are behind their length as u32; cells are packed as differences of four bits. Big-endian.
  package func encoded() -> [UInt8] {
    var body = FieldWriter()
    body.reserve(levels.count + deviations.count + emitters.count * 64)
    writeFloors(to: &body)
    body.write(UInt32(emitters.count))
    for number in emitters.indices { writeEmitter(number, to: &body) }
    body.write(UInt32(anchors.count))
    for anchor in anchors {
      body.write(anchor.emitter)
      body.write(anchor.floor)
      body.write(anchor.point.x)
      body.write(anchor.point.y)
      body.write(anchor.deviation)
    }
    body.writeBlock { $0.write(raw: NibblePacking.packed(levels)) }
    body.writeBlock { $0.write(raw: NibblePacking.packed(deviations)) }
    var writer = FieldWriter()
    writer.reserve(body.bytes.count + 13)
    writer.write(RadioMap.magic)
    writer.write(RadioMap.version)
    writer.write(RadioMap.checksum(of: body.bytes[...]))
    writer.write(raw: body.bytes)
    return writer.bytes
  }

  private func writeFloors(to writer: inout FieldWriter) {
    writer.write(UInt32(floors.count))
    for number in floors.indices {
      let grid = grids[number]
      writer.write(floors[number].building)
      writer.write(Int32(floors[number].level))
      writer.write(grid.corner.x)
      writer.write(grid.corner.y)
      writer.write(grid.cell)
      writer.write(UInt32(grid.columns))
      writer.write(UInt32(grid.rows))
      writer.write(!walked.isEmpty)
      if !walked.isEmpty { writer.writeBlock { $0.write(raw: NibblePacking.packed(walked[number])) } }
    }
  }

  private func writeEmitter(_ number: Int, to writer: inout FieldWriter) {
    switch emitters[number] {
    case .accessPoint(let address):
      writer.write(0 as UInt8)
      address.write(to: &writer)
    case .beacon(let beacon):
      writer.write(1 as UInt8)
      beacon.write(to: &writer)
    case .observer(let observer):
      writer.write(2 as UInt8)
      observer.write(to: &writer)
    }
    writer.write(groups[number])
    writer.write(noises[number])
    let range = patchRange(of: Int32(number))
    writer.write(UInt32(range.count))
    for patch in patches[range] {
      writer.write(patch.floor)
      for side in [patch.column, patch.row, patch.columns, patch.rows] {
        writer.write(UInt16(truncatingIfNeeded: side))
      }
    }
  }

  /// Decodes the bytes that ``encoded()`` returned, which must be complete and without surplus.
  ///
  /// Any bytes give a map or an error, and never take more memory than a map of their length can.
  ///
  /// - Throws: A ``RadioMapError`` if the bytes are no radio map, of another version, or damaged. Its description is
  ///   written for the operator of the venue.
  public init(decoding bytes: [UInt8]) throws(RadioMapError) {
    var reader = FieldReader(bytes[...])
    guard bytes.count >= 4, bytes[..<4].reduce(0, { $0 << 8 | UInt32($1) }) == RadioMap.magic else {
      throw .notARadioMap
    }
    do throws(FieldError) {
      _ = try reader.number(UInt32.self)
      let version = try reader.byte()
      guard version == RadioMap.version else {
        throw reader.failure(.version(version, expected: RadioMap.version))
      }
      let sum = try reader.number(UInt64.self)
      guard sum == RadioMap.checksum(of: bytes[reader.offset...]) else { throw .init(.badIdentity, at: -1) }
      self = try RadioMapReading(&reader).map()
      try reader.finish()
    } catch {
      throw error.offset < 0 ? .damaged : .unreadable(error)
    }
  }

  /// Finds bytes that were changed since they were written; no defence against forgery, which files are not kept by.
  ///
  /// - Source: FNV-1a, eight bytes at a time, with the high bits brought down after each.
  package static func checksum(of bytes: ArraySlice<UInt8>) -> UInt64 {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    func mix(_ word: UInt64) {
      sum = (sum ^ word) &* 0x0000_0100_0000_01B3
      sum ^= sum >> 32
    }
    mix(UInt64(bytes.count))
    var word: UInt64 = 0
    var held = 0
    for byte in bytes {
      word = word << 8 | UInt64(byte)
      held += 1
      if held == 8 {
        mix(word)
        (word, held) = (0, 0)
      }
    }
    if held > 0 { mix(word) }
    return sum
  }
}
