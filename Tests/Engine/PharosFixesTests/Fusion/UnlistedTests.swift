import PharosFixes
import PharosModel
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Access points that scans do not list")
struct UnlistedTests {
  // The field beside plain sums.

  private static let grid = RadioGrid(corner: Point(x: -6, y: 3), cell: 3, columns: 14, rows: 9)

  /// A map of two floors with access points, some of them in one box, and beacons; patches lie anywhere.
  private static func map(_ random: inout SeededGenerator) throws -> RadioMap {
    let grid = try #require(grid)
    let floors = [FloorID(building: "b", level: 0), FloorID(building: "b", level: 1)]
    var draft = RadioMapDraft(floors: floors, grids: [grid, grid], walked: [])
    for number in 0..<40 {
      let address = DeviceAddress(bits: UInt64(number) << 20 | 1, kind: .public)
      let beacon = BeaconID.proximity(UUID128(high: 1, low: 2), major: 1, minor: UInt16(number))
      var pieces: [RadioMapDraft.Piece] = []
      for floor in 0...1 where Int.random(in: 0..<3, using: &random) > 0 {
        let (column, row) = (
          Int.random(in: 0..<grid.columns, using: &random), Int.random(in: 0..<grid.rows, using: &random)
        )
        let columns = Int.random(in: 1...grid.columns - column, using: &random)
        let rows = Int.random(in: 1...grid.rows - row, using: &random)
        pieces.append(
          RadioMapDraft.Piece(
            floor: floor,
            column: column,
            row: row,
            columns: columns,
            rows: rows,
            levels: (0..<columns * rows).map { _ in UInt8.random(in: 40...180, using: &random) },
            deviations: (0..<columns * rows).map { _ in UInt8.random(in: 0...150, using: &random) }
          )
        )
      }
      draft.entries.append(
        RadioMapDraft.Entry(
          emitter: number.isMultiple(of: 5) ? .beacon(beacon) : .accessPoint(address),
          group: UInt64(number / 3),
          noise: 5,
          pieces: pieces,
          anchor: nil
        )
      )
    }
    return draft.map()
  }

  /// What a cell's sum is, from the levels themselves.
  private static func plain(
    _ map: RadioMap,
    _ rules: FusionRules,
    listed: Set<Int32>,
    _ floor: Int,
    _ column: Int,
    _ row: Int
  ) -> Double {
    var sum = 0.0
    for emitter in map.emitters.indices {
      guard case .accessPoint = map.emitters[emitter], !listed.contains(Int32(emitter)),
        let patch = map.patch(of: Int32(emitter), floor: floor),
        (Int(patch.column)..<Int(patch.column + patch.columns)).contains(column),
        (Int(patch.row)..<Int(patch.row + patch.rows)).contains(row)
      else { continue }
      let place = Int(patch.offset) + (row - Int(patch.row)) * Int(patch.columns) + column - Int(patch.column)
      let level =
        Double(RadioMap.level(map.levels[place])) - Double(RadioMap.deviation(map.deviations[place]))
      let distance = (level - Double(rules.listedLevel)) / Double(rules.listedSlope)
      let probability = Double(rules.maximumListedShare) / (1 + RadioMath.exponential(-distance))
      guard probability >= Double(UnlistedField.minimumListed) else { continue }
      let box = map.groups.count { $0 == map.groups[emitter] }
      let share = Double(rules.unlistedShare) * RadioMath.power(Double(box), -Double(rules.groupShare))
      sum += share * RadioMath.naturalLog(1 - probability)
    }
    return sum
  }

  @Test(
    "a window of the field is the plain sum over what is not listed",
    arguments: Seeds.fixed(1..<21 as Range<UInt64>)
  )
  func sums(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let rules = FusionRules()
    let map = try Self.map(&random)
    let field = UnlistedField(map, rules)
    let listed = map.emitters.indices.filter { _ in Bool.random(using: &random) }.map { Int32($0) }
    let (west, south) = (Int.random(in: 0..<14, using: &random), Int.random(in: 0..<9, using: &random))
    let columns = west..<Int.random(in: west + 1...14, using: &random)
    let rows = south..<Int.random(in: south + 1...9, using: &random)
    for floor in 0...1 {
      var values = [Float](repeating: 1, count: columns.count * rows.count)
      field.add(listed: listed.shuffled(using: &random), to: &values, (columns, rows), floor: floor, map)
      for (index, value) in values.enumerated() {
        let (column, row) = (west + index % columns.count, south + index / columns.count)
        let plain = Self.plain(map, rules, listed: Set(listed), floor, column, row)
        // A map's byte is half a decibel, of which a fifth of a deviation's byte is the tenth.
        #expect(abs(Double(value) - 1 - plain) < 0.1, "floor \(floor), column \(column), row \(row)")
      }
    }
  }

  // Two wings.

  /// A hall of 60 by 24 m: ten access points along its middle are heard alike from either end, six more hang at its eastern end.
  private static func ground(_ change: (inout FusionRules) -> Void) throws -> LocatableVenue {
    let size = Point(x: 60, y: 24)
    let origin = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    let middle = (0..<10).map { PlacedAccessPoint(address($0), at: Point(x: 30, y: 2 + 2 * Double($0))) }
    let eastern = (10..<16).map {
      PlacedAccessPoint(address($0), at: Point(x: 50, y: 7 + 2 * Double($0 - 10)))
    }
    let floor = Floor(
      level: 0,
      plane: .ground(GroundPlane(origin: origin)),
      walkable: [Area(outline: Polygon(rectangleFrom: .origin, to: size))],
      accessPoints: middle + eastern
    )
    var rules = FusionRules()
    change(&rules)
    let venue = Venue(identifier: "hall", buildings: [Building(identifier: "main", floors: [floor])])
    return LocatableVenue(venue: venue, rules: rules)
  }

  private static func address(_ number: Int) -> DeviceAddress {
    DeviceAddress(bits: UInt64(number + 1) << 32 | 0x1234, kind: .public)
  }

  @Test(
    "a value is beaten by the places that are better with all that scans do not list, as the whole field tells",
    arguments: Seeds.fixed(1..<21 as Range<UInt64>)
  )
  func beaten(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let ground = try Self.ground { $0.unlistedShare = 1 }
    let locator = Locator(ground: ground, seed: 1)
    var levels = VenueField(
      values: ground.radio.grids.map { grid in
        (0..<grid.count).map { _ in Float.random(in: -20...0, using: &random) }
      }
    )
    levels.findBest()
    let listed = (0..<16).filter { _ in Bool.random(using: &random) }.compactMap { number in
      ground.radio.emitter(.accessPoint(Self.address(number)))
    }
    var whole = levels
    for (radio, grid) in ground.radio.grids.enumerated() {
      let all = (columns: 0..<grid.columns, rows: 0..<grid.rows)
      ground.content.unlisted.add(listed: listed, to: &whole.values[radio], all, floor: radio, ground.radio)
    }
    whole.findBest()
    #expect(whole.best < levels.best)
    for _ in 0..<50 {
      let value = Float.random(in: -25...1, using: &random)
      #expect(locator.isBeaten(value, by: levels, listed) == (whole.best > value), "\(value)")
      #expect(locator.isBeaten(value, by: levels, nil) == (levels.best > value), "\(value)")
    }
  }

  /// The last fix of who stands at the western end for half a minute, where the middle is heard and nothing of the eastern end.
  private static func fix(seed: UInt64, _ change: (inout FusionRules) -> Void) throws -> FixEstimate {
    let ground = try ground(change)
    var locator = Locator(ground: ground, seed: seed)
    var last: FixEstimate?
    for scan in 0..<15 {
      let time = Timestamp(seconds: 1_750_000_000) + .seconds(Double(2 * scan))
      let points = try (0..<10).map { number in
        let emitter = try #require(ground.radio.emitter(.accessPoint(address(number))))
        let level = try #require(ground.radio.prediction(of: emitter, floor: 0, at: Point(x: 10, y: 12)))
        return AccessPoint(
          bssid: address(number),
          rssi: RSSI(dBm: Int8(level.level.rounded())),
          frequency: 2_412,
          lastHeard: .zero
        )
      }
      locator.receive(
        Sensing(
          observer: .name("phone"),
          time: time,
          decidedAt: time,
          ordinal: UInt64(scan),
          body: .accessPoints(points)
        )
      )
      while let fix = locator.nextFix() { last = fix }
    }
    return try #require(last)
  }

  @Test(
    "of two places that sound alike it is the one where nothing is missing",
    arguments: 1...4 as ClosedRange<UInt64>
  )
  func wings(seed: UInt64) throws {
    let fix = try Self.fix(seed: seed) { _ in }
    #expect(fix.point.x < 22, "\(fix.point)")
    #expect(fix.point.distance(to: Point(x: 10, y: 12)) <= 2 * fix.horizontalAccuracy)
  }

  @Test("with less than a scan nothing is missing", arguments: 1...4 as ClosedRange<UInt64>)
  func few(seed: UInt64) throws {
    let few = try Self.fix(seed: seed) { $0.minimumListed = 11 }
    let deaf = try Self.fix(seed: seed) { $0.unlistedShare = 0 }
    #expect(few == deaf)
    // Both ends are as likely: belief in one of them would be made up.
    #expect(few.horizontalAccuracy > 15, "\(few)")
  }
}
