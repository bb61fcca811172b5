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
    var fields = RadioMapFields(map: self)
    fields.visitFields(&body)
    var writer = FieldWriter()
    writer.reserve(body.bytes.count + 13)
    writer.write(RadioMap.magic)
    writer.write(RadioMap.version)
    writer.write(RadioMap.checksum(of: body.bytes[...]))
    writer.write(raw: body.bytes)
    return writer.bytes
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
      var fields = RadioMapFields(map: RadioMap())
      try fields.visitFields(&reader)
      self = fields.map
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

/// The fields of a radio map, which a reader checks to fit each other.
struct RadioMapFields: FieldParts {
  /// The map that is written, or that grows as it is read.
  private(set) var map: RadioMap
  /// The number of cells of all patches so far.
  private var cells = 0

  init(map: RadioMap) { self.map = map }

  /// The largest coordinate of a place on a floor's plane.
  ///
  /// - Units: metres.
  private static let farthest = 1e6

  private static func isNear(_ point: Point) -> Bool {
    point.x.magnitude <= farthest && point.y.magnitude <= farthest
  }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try visitFloors(&coder)
    var count = map.emitters.count
    try coder.code(count: &count, ofAtLeast: 16)
    for number in 0..<count { try visitEmitter(Int32(number), &coder) }
    try visitAnchors(&coder)
    try coder.code(cells: &map.levels, count: cells)
    try coder.code(cells: &map.deviations, count: cells)
    guard coder.hasMore(!map.turns.isEmpty || !map.radiusScales.isEmpty) else { return }
    try visitTurns(&coder)
    try visitScales(&coder)
    try coder.check(!map.turns.isEmpty || !map.radiusScales.isEmpty, "the findings")
  }

  private mutating func visitFloors<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var count = map.floors.count
    try coder.code(count: &count, ofAtLeast: 37)
    var seen: Set<FloorID> = []
    for number in 0..<count {
      let floor = try coder.floor(map.floors[number])
      let corner = try coder.point(map.grids[number].corner)
      let cell = try coder.field(map.grids[number].cell)
      let columns = try coder.field(UInt32(map.grids[number].columns))
      let rows = try coder.field(UInt32(map.grids[number].rows))
      if Coder.isReader {
        let grid = RadioGrid(corner: corner, cell: cell, columns: Int(columns), rows: Int(rows))
        try coder.check(seen.insert(floor).inserted, "a floor")
        try coder.check(grid != nil && RadioMapFields.isNear(corner), "a floor's grid")
        map.floors.append(floor)
        if let grid { map.grids.append(grid) }
      }
      let isWalked = try coder.field(!map.walked.isEmpty)
      try coder.check(number == 0 || isWalked == !map.walked.isEmpty, "what was walked")
      guard isWalked else { continue }
      if Coder.isReader { map.walked.append([]) }
      try coder.code(cells: &map.walked[number], count: map.grids[number].count)
    }
  }

  private mutating func visitEmitter<Coder: FieldCoder>(
    _ number: Int32,
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    let emitter = try coder.field(map.emitters[Int(number)])
    let group = try coder.field(map.groups[Int(number)])
    let noise = try coder.field(map.noises[Int(number)])
    if Coder.isReader {
      let isNext = map.emitters.last.map { $0 < emitter } ?? true
      try coder.check(emitter == emitter.plain && isNext, "the order of emitters")
      try coder.check(group >= 0 && (0...50).contains(noise), "an emitter")
      _ = map.add(emitter, group: group, noise: noise)
    }
    let known = Coder.isReader ? 0..<0 : map.patchRange(of: number)
    var count = known.count
    try coder.code(count: &count, ofAtLeast: 12)
    var last: Int32 = -1
    for place in known.lowerBound..<known.lowerBound + count {
      let floor = try coder.field(map.patches[place].floor)
      let column = try coder.field(UInt16(truncatingIfNeeded: map.patches[place].column))
      let row = try coder.field(UInt16(truncatingIfNeeded: map.patches[place].row))
      let columns = try coder.field(UInt16(truncatingIfNeeded: map.patches[place].columns))
      let rows = try coder.field(UInt16(truncatingIfNeeded: map.patches[place].rows))
      if Coder.isReader {
        try coder.check(floor > last && floor < Int32(map.floors.count), "a patch's floor")
        last = floor
        map.add(
          RadioPatch(
            emitter: number,
            floor: floor,
            column: Int32(column),
            row: Int32(row),
            columns: Int32(columns),
            rows: Int32(rows),
            offset: Int32(cells)
          )
        )
        let grid = map.grids[Int(floor)]
        let fits = Int(column) + Int(columns) <= grid.columns && Int(row) + Int(rows) <= grid.rows
        let room = RadioMap.maximumCells - cells
        try coder.check(fits && columns > 0 && rows > 0 && Int(columns) * Int(rows) <= room, "a patch")
      }
      cells += Int(columns) * Int(rows)
    }
  }

  private mutating func visitAnchors<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var count = map.anchors.count
    try coder.code(count: &count, ofAtLeast: 28)
    for place in 0..<count {
      let anchor = RadioAnchor(
        emitter: try coder.field(map.anchors[place].emitter),
        floor: try coder.field(map.anchors[place].floor),
        point: try coder.point(map.anchors[place].point),
        deviation: try coder.field(map.anchors[place].deviation)
      )
      guard Coder.isReader else { continue }
      let isNext = map.anchors.last.map { $0.emitter < anchor.emitter } ?? true
      let isKnown = map.emitters.indices.contains(Int(anchor.emitter))
      try coder.check(
        isNext && isKnown && map.floors.indices.contains(Int(anchor.floor))
          && RadioMapFields.isNear(anchor.point) && (0...1e4).contains(anchor.deviation),
        "an anchor"
      )
      map.anchors.append(anchor)
    }
  }

  private mutating func visitTurns<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let fresh = PlanTurn(floor: FloorID(building: "", level: 0), radians: 0, walks: 0)
    try coder.code(list: &map.turns, ofAtLeast: 16, into: fresh) { (turn, coder) throws(Coder.Failure) in
      turn = PlanTurn(
        floor: try coder.floor(turn.floor),
        radians: try coder.field(turn.radians),
        walks: Int(try coder.field(UInt32(turn.walks)))
      )
    }
    let floors = Set(map.turns.map(\.floor))
    let areTurns = map.turns.allSatisfy { (-Float.pi...Float.pi).contains($0.radians) }
    try coder.check(
      floors.count == map.turns.count && floors.isSubset(of: map.floors) && areTurns,
      "a turned plan"
    )
  }

  private mutating func visitScales<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let fresh = RadiusScale(kind: .moving, factor: 1, walks: 0)
    try coder.code(list: &map.radiusScales, ofAtLeast: 9, into: fresh) {
      (scale, coder) throws(Coder.Failure) in
      scale = RadiusScale(
        kind: try coder.field(scale.kind),
        factor: try coder.field(scale.factor),
        walks: Int(try coder.field(UInt32(scale.walks)))
      )
    }
    let kinds = map.radiusScales.map(\.kind.rawValue)
    try coder.check(
      zip(kinds, kinds.dropFirst()).allSatisfy(<)
        && map.radiusScales.allSatisfy { RadiusScale.bounds.contains($0.factor) },
      "the scale of a radius"
    )
  }
}

extension RadiusScale.Kind: FieldChoice {
  /// The name of the field.
  package static var fieldName: String { "the kind of a radius" }
}

extension Emitter: FieldUnion {
  /// The name of the field.
  package static var fieldName: String { "an emitter's kind" }

  /// Hands each case to a coder.
  package static func visitCases<Coder: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.code(&union, 0, Self.accessPoint) {
      if case .accessPoint(let radio) = $0 { radio } else { nil }
    }
    try coder.code(&union, 1, Self.beacon) { if case .beacon(let beacon) = $0 { beacon } else { nil } }
    try coder.code(&union, 2, Self.observer) {
      if case .observer(let observer) = $0 { observer } else { nil }
    }
  }
}

extension FieldCoder {
  fileprivate mutating func floor(_ floor: @autoclosure () -> FloorID) throws(Failure) -> FloorID {
    FloorID(building: try field(floor().building), level: Int(try field(Int32(floor().level))))
  }

  fileprivate mutating func point(_ point: @autoclosure () -> Point) throws(Failure) -> Point {
    Point(x: try field(point().x), y: try field(point().y))
  }

  /// Codes cells, packed.
  fileprivate mutating func code(cells: inout [UInt8], count: Int) throws(Failure) {
    var packed = Self.isReader ? [] : NibblePacking.packed(cells)
    try code(bytes: &packed)
    guard Self.isReader else { return }
    let unpacked = NibblePacking.unpacked(packed, count: count)
    try check(unpacked != nil, "cells")
    cells = unpacked ?? []
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

  /// Unpacks an exact number of bytes; nil if there are fewer or more, or if a difference leads outside the range of a byte.
  package static func unpacked(_ packed: [UInt8], count: Int) -> [UInt8]? {
    guard count <= packed.count * 2 else { return nil }
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
      guard let nibble = next() else { return nil }
      if nibble == escape {
        guard let high = next(), let low = next() else { return nil }
        last = Int(high) << 4 | Int(low)
      } else {
        last += Int(nibble) - 7
      }
      guard (0...255).contains(last) else { return nil }
      values.append(UInt8(last))
    }
    if place % 2 == 1, next() != 0 { return nil }
    guard place == packed.count * 2 else { return nil }
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
