import FuzzSupport
import PharosDocuments
import PharosFixes
import PharosModel
import PharosSpace

/// A radio map, its magic, version and checksum put right.
final class RadioMapTarget: FuzzTarget {
  static let name = "radio-map"
  static let maximumLength = 2_048

  func run(_ input: RawSpan) {
    let bytes = Self.signed(input.array)
    let map: RadioMap
    do {
      map = try RadioMap(decoding: bytes)
    } catch {
      _ = error.description
      return
    }
    let encoded = map.encoded()
    do {
      demand(try RadioMap(decoding: encoded) == map, "a map comes back as it was")
    } catch {
      demand(false, "what is written can be read: \(error)")
    }
    for (number, emitter) in map.emitters.enumerated() {
      demand(map.emitter(emitter) == Int32(number), "an emitter is found")
      for patch in map.patches[map.patchRange(of: Int32(number))].prefix(4) {
        let grid = map.grids[Int(patch.floor)]
        let middle = grid.middle(column: Int(patch.column), row: Int(patch.row))
        if let found = map.prediction(of: Int32(number), floor: Int(patch.floor), at: middle) {
          demand(found.level.isFinite && found.deviation.isFinite, "a prediction is a number")
        }
      }
      _ = map.prediction(of: Int32(number), floor: 0, at: Point(x: 1e9, y: -1e9))
    }
  }

  /// The bytes behind a head that fits them.
  private static func signed(_ body: [UInt8]) -> [UInt8] {
    var writer = FieldWriter()
    writer.write(0x5048_524D as UInt32)
    writer.write(1 as UInt8)
    writer.write(RadioMap.checksum(of: body[...]))
    return writer.bytes + body
  }

  static func seeds() throws -> [[UInt8]] {
    var random = SeedRandom(5)
    return try (0..<6).map { number in Array(try map(number, &random).encoded().dropFirst(13)) }
  }

  /// Why there is no map.
  private struct NoGrid: Error {}

  private static func map(_ seed: Int, _ random: inout SeedRandom) throws -> RadioMap {
    guard let lower = RadioGrid(corner: Point(x: -3.5, y: 2), cell: 3, columns: 6, rows: 4),
      let upper = RadioGrid(corner: .origin, cell: 2.5, columns: 3, rows: 7)
    else { throw NoGrid() }
    let grids = [lower, upper]
    var draft = RadioMapDraft(
      floors: [FloorID(building: "m\u{F6}bel", level: -1), FloorID(building: "m\u{F6}bel", level: 0)],
      grids: grids,
      walked: seed % 2 == 0 ? grids.map { grid in (0..<grid.count).map { UInt8($0 % 9) } } : []
    )
    let emitters: [Emitter] = [
      .accessPoint(DeviceAddress(bits: 0xAC23_3F00_0001, kind: .unknown)),
      .beacon(.proximity(UUID128(high: 5, low: 6), major: 1, minor: 2)), .observer(.eui48(77)),
      .observer(.name("door")),
    ]
    for (number, emitter) in emitters.prefix(seed + 1).enumerated() {
      let floor = number % 2
      let (columns, rows) = (grids[floor].columns - number % 2, grids[floor].rows - number % 3)
      let piece = RadioMapDraft.Piece(
        floor: floor,
        column: number % 2,
        row: number % 3,
        columns: columns,
        rows: rows,
        levels: (0..<(columns * rows)).map { UInt8(60 + $0) },
        deviations: random.bytes(columns * rows)
      )
      draft.entries.append(
        RadioMapDraft.Entry(
          emitter: emitter,
          group: UInt64(number / 2),
          noise: 4.5,
          pieces: [piece],
          anchor: number % 2 == 0 ? (0, Point(x: 1.25, y: -7), 3.5) : nil
        )
      )
    }
    return draft.map()
  }
}
