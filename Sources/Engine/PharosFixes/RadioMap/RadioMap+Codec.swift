public import PharosDocuments
import PharosModel
import PharosSpace

extension RadioMap {
  /// "PHRM".
  private static let magic: UInt32 = 0x5048_524D
  /// The version of the layout.
  private static let version: UInt8 = 1
  /// The most cells of all patches together.
  ///
  /// Two bytes each; a mall of five floors with 5,000 radios takes ten million.
  package static let maximumCells = 1 << 28

  /// Returns the encoded map.
  ///
  /// - Shape: 0 "PHRM"; 4 version; 5 checksum of all that follows, u64; then the floors, each with its grid and what was
  ///   walked; the emitters, each with its group, its noise and its patches; the anchors; the levels; the deviations. Lists
  ///   are behind their length as u32; cells are packed as differences of four bits. Big-endian. Plans that are not
  ///   turned to north and scales of the radius follow where there are any; maps of earlier versions end before.
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
    if !turns.isEmpty || !radiusScales.isEmpty { writeFindings(to: &body) }
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

  private func writeFindings(to writer: inout FieldWriter) {
    writer.write(UInt32(turns.count))
    for turn in turns {
      writer.write(turn.floor.building)
      writer.write(Int32(turn.floor.level))
      writer.write(turn.radians)
      writer.write(UInt32(turn.walks))
    }
    writer.write(UInt32(radiusScales.count))
    for scale in radiusScales {
      writer.write(scale.kind.rawValue)
      writer.write(scale.factor)
      writer.write(UInt32(scale.walks))
    }
  }

  private func writeEmitter(_ number: Int, to writer: inout FieldWriter) {
    switch emitters[number] {
    case .accessPoint(let address): writer.write(tag: 0, address)
    case .beacon(let beacon): writer.write(tag: 1, beacon)
    case .observer(let observer): writer.write(tag: 2, observer)
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

  /// Decodes the bytes that `encoded()` returned, which must be complete and without surplus.
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
      try reader.code(version: RadioMap.version)
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

/// Reads a radio map's fields and checks that they fit each other.
struct RadioMapReading {
  private var parts = RadioMap()
  /// The number of cells of all patches so far.
  private var cells = 0

  /// The largest coordinate of a place on a floor's plane.
  ///
  /// - Units: metres.
  private static let farthest = 1e6

  /// Reads all fields.
  init(_ reader: inout FieldReader) throws(FieldError) {
    try readFloors(&reader)
    let count = try reader.count(ofAtLeast: 16)
    for _ in 0..<count { try readEmitter(&reader) }
    try readAnchors(&reader)
    var block = try reader.block()
    parts.levels = try NibblePacking.unpacked(&block, count: cells)
    block = try reader.block()
    parts.deviations = try NibblePacking.unpacked(&block, count: cells)
    if reader.remaining > 0 { try readFindings(&reader) }
  }

  /// The map.
  func map() -> RadioMap { parts }

  private mutating func readFloors(_ reader: inout FieldReader) throws(FieldError) {
    let count = try reader.count(ofAtLeast: 37)
    var seen: Set<FloorID> = []
    for number in 0..<count {
      let building = try reader.text()
      let floor = FloorID(building: building, level: Int(try reader.number(Int32.self)))
      guard seen.insert(floor).inserted else { throw reader.failure(.outOfRange(field: "a floor")) }
      let corner = Point(x: try reader.double(), y: try reader.double())
      let cell = try reader.float()
      let columns = Int(try reader.number(UInt32.self))
      let rows = Int(try reader.number(UInt32.self))
      guard corner.x.magnitude <= RadioMapReading.farthest, corner.y.magnitude <= RadioMapReading.farthest,
        let grid = RadioGrid(corner: corner, cell: cell, columns: columns, rows: rows)
      else { throw reader.failure(.outOfRange(field: "a floor's grid")) }
      parts.floors.append(floor)
      parts.grids.append(grid)
      let isWalked = try reader.flag()
      guard number == 0 || isWalked == !parts.walked.isEmpty else {
        throw reader.failure(.outOfRange(field: "what was walked"))
      }
      guard isWalked else { continue }
      var block = try reader.block()
      parts.walked.append(try NibblePacking.unpacked(&block, count: grid.count))
    }
  }

  private mutating func readEmitter(_ reader: inout FieldReader) throws(FieldError) {
    let emitter: Emitter
    switch try reader.byte() {
    case 0: emitter = .accessPoint(try DeviceAddress(from: &reader))
    case 1: emitter = .beacon(try BeaconID(from: &reader))
    case 2: emitter = .observer(try ObserverID(from: &reader))
    case let tag: throw reader.failure(.unknownTag(field: "an emitter's kind", tag: tag))
    }
    guard emitter == emitter.plain, parts.emitters.last.map({ $0 < emitter }) ?? true else {
      throw reader.failure(.outOfRange(field: "the order of emitters"))
    }
    let group = try reader.number(Int32.self)
    let noise = try reader.float()
    guard group >= 0, (0...50).contains(noise) else { throw reader.failure(.outOfRange(field: "an emitter")) }
    let number = parts.add(emitter, group: group, noise: noise)
    var last: Int32 = -1
    for _ in 0..<(try reader.count(ofAtLeast: 12)) {
      let floor = try reader.number(Int32.self)
      guard floor > last, floor < Int32(parts.floors.count) else {
        throw reader.failure(.outOfRange(field: "a patch's floor"))
      }
      last = floor
      try readPatch(of: number, on: floor, &reader)
    }
  }

  private mutating func readPatch(
    of emitter: Int32,
    on floor: Int32,
    _ reader: inout FieldReader
  ) throws(FieldError) {
    let column = Int(try reader.number(UInt16.self))
    let row = Int(try reader.number(UInt16.self))
    let columns = Int(try reader.number(UInt16.self))
    let rows = Int(try reader.number(UInt16.self))
    let grid = parts.grids[Int(floor)]
    guard columns > 0, rows > 0, column + columns <= grid.columns, row + rows <= grid.rows,
      cells + columns * rows <= RadioMap.maximumCells
    else { throw reader.failure(.outOfRange(field: "a patch")) }
    parts.add(
      RadioPatch(
        emitter: emitter,
        floor: floor,
        column: Int32(column),
        row: Int32(row),
        columns: Int32(columns),
        rows: Int32(rows),
        offset: Int32(cells)
      )
    )
    cells += columns * rows
  }

  private mutating func readFindings(_ reader: inout FieldReader) throws(FieldError) {
    for _ in 0..<(try reader.count(ofAtLeast: 16)) {
      let building = try reader.text()
      let floor = FloorID(building: building, level: Int(try reader.number(Int32.self)))
      let radians = try reader.float()
      let walks = Int(try reader.number(UInt32.self))
      guard parts.floors.contains(floor), !parts.turns.contains(where: { $0.floor == floor }),
        (-Float.pi...Float.pi).contains(radians)
      else { throw reader.failure(.outOfRange(field: "a turned plan")) }
      parts.turns.append(PlanTurn(floor: floor, radians: radians, walks: walks))
    }
    for _ in 0..<(try reader.count(ofAtLeast: 9)) {
      guard let kind = RadiusScale.Kind(rawValue: try reader.byte()),
        parts.radiusScales.last.map({ $0.kind.rawValue < kind.rawValue }) ?? true
      else { throw reader.failure(.outOfRange(field: "the kind of a radius")) }
      let factor = try reader.float()
      guard RadiusScale.bounds.contains(factor) else {
        throw reader.failure(.outOfRange(field: "the scale of a radius"))
      }
      let walks = Int(try reader.number(UInt32.self))
      parts.radiusScales.append(RadiusScale(kind: kind, factor: factor, walks: walks))
    }
    guard !parts.turns.isEmpty || !parts.radiusScales.isEmpty else {
      throw reader.failure(.outOfRange(field: "the findings"))
    }
  }

  private mutating func readAnchors(_ reader: inout FieldReader) throws(FieldError) {
    for _ in 0..<(try reader.count(ofAtLeast: 28)) {
      let emitter = try reader.number(Int32.self)
      let floor = try reader.number(Int32.self)
      let point = Point(x: try reader.double(), y: try reader.double())
      let deviation = try reader.float()
      let farthest = RadioMapReading.farthest
      guard (0..<Int32(parts.emitters.count)).contains(emitter),
        (0..<Int32(parts.floors.count)).contains(floor),
        parts.anchors.last.map({ $0.emitter < emitter }) ?? true, point.x.magnitude <= farthest,
        point.y.magnitude <= farthest, (0...1e4).contains(deviation)
      else { throw reader.failure(.outOfRange(field: "an anchor")) }
      parts.anchors.append(RadioAnchor(emitter: emitter, floor: floor, point: point, deviation: deviation))
    }
  }
}

/// A coding that halves the size of bytes that change little from one to the next.
///
/// Each byte is coded by its difference from the one before. A difference from −7 to 7 takes four bits; any other byte
/// is coded as the bits 1111 followed by its own eight bits. Levels in steps of half a decibel and deviations that grow
/// slowly nearly always fit into four bits.
package enum NibblePacking {
  private static let escape: UInt8 = 15

  /// Packs bytes.
  package static func packed(_ values: [UInt8]) -> [UInt8] {
    var nibbles = NibbleWriter()
    var last: UInt8 = 0
    for value in values {
      let difference = Int(value) - Int(last)
      if (-7...7).contains(difference) {
        nibbles.write(UInt8(difference + 7))
      } else {
        nibbles.write(escape)
        nibbles.write(value >> 4)
        nibbles.write(value & 15)
      }
      last = value
    }
    return nibbles.bytes
  }

  /// Unpacks an exact number of bytes.
  ///
  /// - Throws: a `FieldError` if there are fewer or more bytes, or if a difference leads outside the range of a byte.
  package static func unpacked(_ reader: inout FieldReader, count: Int) throws(FieldError) -> [UInt8] {
    let packed = try reader.raw(reader.remaining)
    guard count <= packed.count * 2 else { throw reader.failure(.cut) }
    var values: [UInt8] = []
    values.reserveCapacity(count)
    var place = 0
    func next() -> UInt8? {
      guard place / 2 < packed.count else { return nil }
      defer { place += 1 }
      return place % 2 == 0 ? packed[place / 2] >> 4 : packed[place / 2] & 15
    }
    var last = 0
    for _ in 0..<count {
      guard let nibble = next() else { throw reader.failure(.cut) }
      if nibble == escape {
        guard let high = next(), let low = next() else { throw reader.failure(.cut) }
        last = Int(high) << 4 | Int(low)
      } else {
        last += Int(nibble) - 7
      }
      guard (0...255).contains(last) else { throw reader.failure(.outOfRange(field: "a cell")) }
      values.append(UInt8(last))
    }
    if place % 2 == 1, next() != 0 { throw reader.failure(.outOfRange(field: "the last half byte")) }
    guard place == packed.count * 2 else { throw reader.failure(.surplus(bytes: packed.count - place / 2)) }
    return values
  }
}

/// Half bytes, one after the other, the higher half first.
private struct NibbleWriter {
  var bytes: [UInt8] = []
  private var isHalf = false

  mutating func write(_ nibble: UInt8) {
    if isHalf {
      bytes[bytes.count - 1] |= nibble
    } else {
      bytes.append(nibble << 4)
    }
    isHalf.toggle()
  }
}

/// The reason why bytes cannot be read as a radio map.
public enum RadioMapError: Error, Hashable, Sendable {
  /// The bytes are no radio map.
  case notARadioMap
  /// They were changed since they were written.
  case damaged
  /// They were written by another version of the program, or hold what none writes.
  case unreadable(FieldError)
}

extension RadioMapError: CustomStringConvertible {
  /// A description of the error.
  public var description: String {
    switch self {
    case .notARadioMap: return "this is no radio map: its first bytes are not PHRM"
    case .damaged: return "the radio map is damaged: its checksum is another one"
    case .unreadable(let error): return "the radio map cannot be read, \(error)"
    }
  }
}
