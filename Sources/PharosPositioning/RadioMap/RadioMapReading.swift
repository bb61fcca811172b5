import PharosPlaces
import PharosReports

/// Reads a radio map's fields and checks that they fit each other.
struct RadioMapReading {
  private var parts = RadioMapParts()
  /// How many cells the patches have so far.
  private var cells = 0

  /// How far on a floor's plane a place may lie.
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
  }

  /// The map.
  func map() -> RadioMap { RadioMap(parts) }

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
      cells + columns * rows <= RadioMap.mostCells
    else { throw reader.failure(.outOfRange(field: "a patch")) }
    parts.patches.append(
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
