import PharosDocuments
import PharosFixes
import PharosModel
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Radio maps as bytes")
struct RadioMapCodecTests {
  /// A map of two floors and emitters of every kind, its cells drawn.
  private static func map(seed: UInt64, walked: Bool = true) throws -> RadioMap {
    var generator = SeededGenerator(seed: seed)
    let grids = [
      try #require(RadioGrid(corner: Point(x: -3.5, y: 2), cell: 3, columns: 12, rows: 9)),
      try #require(RadioGrid(corner: .origin, cell: 2.5, columns: 7, rows: 20)),
    ]
    var draft = RadioMapDraft(
      floors: [FloorID(building: "möbel", level: -1), FloorID(building: "möbel", level: 0)],
      grids: grids,
      walked: walked
        ? grids.map { grid in (0..<grid.count).map { _ in UInt8.random(in: 0...9, using: &generator) } } : []
    )
    let uuid = UUID128(high: 5, low: 6)
    let emitters: [Emitter] = [
      .accessPoint(DeviceAddress(bits: 0xAC23_3F00_0001, kind: .unknown)),
      .accessPoint(DeviceAddress(bits: 0xAC23_3F00_0002, kind: .unknown)),
      .beacon(.proximity(uuid, major: 1, minor: 2)),
      .beacon(BeaconID.proximity(uuid, major: 1, minor: 3).keyed(by: DeviceAddress(bits: 9, kind: .unknown))),
      .observer(.eui48(77)), .observer(.name("door")),
    ]
    for (number, emitter) in emitters.enumerated() {
      let pieces = grids.indices.filter { _ in Bool.random(using: &generator) || number == 0 }.map { floor in
        let columns = Int.random(in: 1...grids[floor].columns, using: &generator)
        let rows = Int.random(in: 1...grids[floor].rows, using: &generator)
        return RadioMapDraft.Piece(
          floor: floor,
          column: Int.random(in: 0...(grids[floor].columns - columns), using: &generator),
          row: Int.random(in: 0...(grids[floor].rows - rows), using: &generator),
          columns: columns,
          rows: rows,
          levels: (0..<(columns * rows)).map { _ in UInt8.random(in: 0...255, using: &generator) },
          deviations: (0..<(columns * rows)).map { _ in UInt8.random(in: 40...47, using: &generator) }
        )
      }
      draft.entries.append(
        RadioMapDraft.Entry(
          emitter: emitter,
          group: UInt64(number / 2),
          noise: 4.5,
          pieces: pieces,
          anchor: number % 2 == 0 ? (0, Point(x: 1.25, y: -7), 3.5) : nil
        )
      )
    }
    return draft.map()
  }

  @Test("turned plans and scales of the radius come back; those out of range, and empty lists, are refused")
  func findings() throws {
    var map = try Self.map(seed: 5)
    let plain = map.encoded()
    var draft = RadioMapDraft(floors: map.floors, grids: map.grids, walked: map.walked)
    draft.turns = map.floors.map { PlanTurn(floor: $0, radians: -0.7, walks: 9) }
    map = draft.map()
    #expect(try RadioMap(decoding: map.encoded()) == map)
    draft.turns = []
    #expect(try RadioMap(decoding: draft.map().encoded()).turns.isEmpty)
    draft.turns = [PlanTurn(floor: FloorID(building: "elsewhere", level: 0), radians: 1, walks: 9)]
    #expect(throws: RadioMapError.self) { try RadioMap(decoding: draft.map().encoded()) }
    #expect(throws: RadioMapError.self) { try RadioMap(decoding: Self.signed(plain + [0, 0, 0, 0])) }
    #expect(throws: RadioMapError.self) {
      try RadioMap(decoding: Self.signed(plain + [UInt8](repeating: 0, count: 8)))
    }
    map.radiusScales = RadiusScale.Kind.allCases.map { RadiusScale(kind: $0, factor: 1.25, walks: 40) }
    #expect(try RadioMap(decoding: map.encoded()) == map)
    map.radiusScales = [RadiusScale(kind: .blind, factor: 9, walks: 40)]
    #expect(throws: RadioMapError.self) { try RadioMap(decoding: map.encoded()) }
  }

  /// The bytes with a checksum that fits, so that damage reaches what lies behind it.
  private static func signed(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count > 13 else { return bytes }
    var writer = FieldWriter()
    writer.write(RadioMap.checksum(of: bytes[13...]))
    return Array(bytes[..<5]) + writer.bytes + Array(bytes[13...])
  }

  @Test("a map comes back as it was", arguments: Seeds.drawn(0..<12 as Range<UInt64>))
  func roundTrip(seed: UInt64) throws {
    let map = try Self.map(seed: seed, walked: seed % 2 == 0)
    let again = try RadioMap(decoding: map.encoded())
    #expect(again == map)
    #expect(again.encoded() == map.encoded())
    for emitter in map.emitters { #expect(again.emitter(emitter) == map.emitter(emitter)) }
  }

  @Test("an empty map comes back as well")
  func empty() throws {
    let map = RadioMapDraft(floors: [], grids: [], walked: []).map()
    #expect(try RadioMap(decoding: map.encoded()) == map)
  }

  @Test("every cut is refused")
  func cuts() throws {
    let bytes = try Self.map(seed: 3).encoded()
    for length in bytes.indices {
      #expect(throws: RadioMapError.self) { try RadioMap(decoding: Array(bytes[..<length])) }
      #expect(throws: RadioMapError.self) { try RadioMap(decoding: Self.signed(Array(bytes[..<length]))) }
    }
    #expect(throws: RadioMapError.self) { try RadioMap(decoding: Self.signed(bytes + [0])) }
  }

  @Test("a changed byte is damage")
  func damage() throws {
    let bytes = try Self.map(seed: 3).encoded()
    for place in 5..<bytes.count {
      var changed = bytes
      changed[place] ^= 0x10
      #expect(throws: RadioMapError.damaged) { try RadioMap(decoding: changed) }
    }
    var other = bytes
    other[0] = 0
    #expect(throws: RadioMapError.notARadioMap) { try RadioMap(decoding: other) }
    other = bytes
    other[4] = 9
    #expect(throws: RadioMapError.unreadable(FieldError(.version(9, expected: 1), at: 5))) {
      try RadioMap(decoding: other)
    }
    #expect(throws: RadioMapError.notARadioMap) { try RadioMap(decoding: []) }
  }

  @Test("bytes at random behind a checksum that fits give a map that holds together, or an error")
  func fuzz() throws {
    let bytes = try Self.map(seed: 5).encoded()
    var generator = SeededGenerator(seed: 2_026)
    var accepted = 0
    for _ in 0..<1_500 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        // The first 400 bytes hold the structure; most of the others are cells.
        let end = Bool.random(using: &generator) ? min(bytes.count, 400) : bytes.count
        changed[Int.random(in: 13..<end, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      guard let map = try? RadioMap(decoding: Self.signed(changed)) else { continue }
      accepted += 1
      #expect(map.levels.count == map.patches.reduce(0) { $0 + $1.count })
      #expect(map.deviations.count == map.levels.count)
      for patch in map.patches {
        let point = map.grids[Int(patch.floor)].middle(column: Int(patch.column), row: Int(patch.row))
        _ = map.prediction(of: patch.emitter, floor: Int(patch.floor), at: point)
      }
    }
    #expect(accepted > 50, "hardly any change was harmless: is the fuzz too coarse?")
    #expect(accepted < 1_450, "hardly any change was refused")
  }

  @Test("packed bytes come back, whatever they are", arguments: Seeds.drawn(0..<40 as Range<UInt64>))
  func packing(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var last = 128
    let values = (0..<Int(seed % 40 * 7)).map { _ in
      last = min(255, max(0, last + Int.random(in: -10...10, using: &generator)))
      return UInt8(last)
    }
    let packed = NibblePacking.packed(values)
    #expect(NibblePacking.unpacked(packed, count: values.count) == values)
    #expect(packed.count <= values.count * 3 / 2 + 1)
    #expect(NibblePacking.unpacked(packed + [0], count: values.count) == nil)
    #expect(NibblePacking.unpacked(packed, count: values.count * 2 + 1) == nil)
  }
}
