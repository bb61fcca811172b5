import PharosModel
package import PharosSpace

extension RadioMap {
  /// Makes a map of the beacons, observers and access points that a venue places, by distance, walls and ceilings.
  ///
  /// It contains no shadows, so fixes made with it have a larger radius than those with a survey.
  package init(placed venue: Venue, rules: PlacedRadioRules = PlacedRadioRules()) {
    var draft = RadioMapDraft(floors: [], grids: [], walked: [])
    for (id, floor) in venue.floors {
      guard let grid = RadioGrid(over: floor, cells: rules.fineCell...rules.cell) else { continue }
      draft.floors.append(id)
      draft.grids.append(grid)
    }
    draft.entries = PlacedEmitters(venue, floors: draft.floors, grids: draft.grids, rules: rules).entries
    self = draft.map()
  }

  /// Returns the map with the emitters that the venue places added.
  ///
  /// For an emitter that was surveyed, the survey counts.
  package func adding(placed venue: Venue, rules: PlacedRadioRules = PlacedRadioRules()) -> RadioMap {
    let placed = PlacedEmitters(venue, floors: floors, grids: grids, rules: rules).entries
    guard placed.contains(where: { numbers[$0.emitter] == nil }) else { return self }
    var draft = RadioMapDraft(self)
    draft.entries += placed
    var map = draft.map()
    map.radiusScales = radiusScales
    return map
  }
}

extension RadioMapDraft {
  /// Creates a draft from a map, to which entries can be added.
  fileprivate init(_ map: RadioMap) {
    self.init(floors: map.floors, grids: map.grids, walked: map.walked)
    turns = map.turns
    var anchors: [Int32: RadioAnchor] = [:]
    for anchor in map.anchors { anchors[anchor.emitter] = anchor }
    for (number, emitter) in map.emitters.enumerated() {
      let pieces = map.patches[map.patchRange(of: Int32(number))].map { patch in
        let cells = Int(patch.offset)..<(Int(patch.offset) + patch.count)
        return Piece(
          floor: Int(patch.floor),
          column: Int(patch.column),
          row: Int(patch.row),
          columns: Int(patch.columns),
          rows: Int(patch.rows),
          levels: Array(map.levels[cells]),
          deviations: Array(map.deviations[cells])
        )
      }
      entries.append(
        Entry(
          emitter: emitter,
          // Groups of the survey keep their numbers, which no identity's hash below 2⁶³ can have.
          group: UInt64(1) << 63 | UInt64(map.groups[number]),
          noise: map.noises[number],
          pieces: pieces,
          anchor: anchors[Int32(number)].map { (Int($0.floor), $0.point, $0.deviation) }
        )
      )
    }
  }
}

/// The levels of the emitters that a venue places.
private struct PlacedEmitters {
  private(set) var entries: [RadioMapDraft.Entry] = []
  private let venue: Venue
  private let floors: [FloorID]
  private let grids: [RadioGrid]
  private let rules: PlacedRadioRules

  /// The uncertainty of a place on a plan.
  ///
  /// - Units: metres.
  static let anchorDeviation: Float = 1

  init(_ venue: Venue, floors: [FloorID], grids: [RadioGrid], rules: PlacedRadioRules) {
    self.venue = venue
    self.floors = floors
    self.grids = grids
    self.rules = rules
    for (number, id) in floors.enumerated() {
      guard let floor = venue.floor(id) else { continue }
      let space = FloorSpace(floor)
      for beacon in floor.beacons {
        add(.beacon(beacon.beacon), at: beacon.point, on: number, floor, space, power: rules.beaconPower)
      }
      for observer in floor.observers {
        add(
          .observer(observer.observer),
          at: observer.point,
          on: number,
          floor,
          space,
          power: rules.beaconPower
        )
      }
      for point in floor.accessPoints {
        let emitter = Emitter.accessPoint(point.bssid).plain
        add(emitter, at: point.point, on: number, floor, space, power: rules.accessPointPower)
      }
    }
  }

  private mutating func add(
    _ emitter: Emitter,
    at point: Point,
    on number: Int,
    _ floor: Floor,
    _ space: FloorSpace,
    power: Float
  ) {
    var pieces: [RadioMapDraft.Piece] = []
    for (other, id) in floors.enumerated() where id.building == floors[number].building {
      let ceilings = Float((id.level - floor.level).magnitude)
      guard let place = other == number ? point : moved(point, from: floor, to: id) else { continue }
      var loss = PathLoss(x: Float(place.x), y: Float(place.y), power: power, slope: rules.slope)
      loss.power -= ceilings * rules.ceiling
      let piece = piece(loss, other) { cell in
        other == number ? Float(space.attenuation(between: point, and: cell)) : 0
      }
      if let piece { pieces.append(piece) }
    }
    guard !pieces.isEmpty else { return }
    entries.append(
      RadioMapDraft.Entry(
        emitter: emitter,
        group: emitter.group(frequency: 0),
        noise: rules.readingNoise,
        pieces: pieces,
        anchor: (number, point, PlacedEmitters.anchorDeviation)
      )
    )
  }

  /// Returns the place above or below on another floor, whose plane may have another origin.
  private func moved(_ point: Point, from floor: Floor, to id: FloorID) -> Point? {
    guard let other = venue.floor(id), let coordinate = floor.plane.coordinate(of: point) else { return nil }
    return other.plane.point(of: coordinate)
  }

  /// Returns the cells around an emitter in which it is loud enough; nil if there are none.
  private func piece(
    _ loss: PathLoss,
    _ floor: Int,
    walls: (Point) -> Float
  ) -> RadioMapDraft.Piece? {
    let grid = grids[floor]
    let decades = (loss.power - rules.faintest) / loss.slope
    guard decades > 0, loss.x.isFinite, loss.y.isFinite else { return nil }
    let reach = Float(RadioMath.powerOfTen(Double(min(decades, 3)))) / grid.cell
    let middle = grid.position(of: Point(x: Double(loss.x), y: Double(loss.y)))
    func range(_ middle: Float, _ count: Int) -> Range<Int> {
      let low = min(max(0, middle - reach), Float(count))
      let high = min(max(0, middle + reach + 1), Float(count))
      return Int(low)..<max(Int(low), Int(high))
    }
    let (columns, rows) = (range(middle.column, grid.columns), range(middle.row, grid.rows))
    guard !columns.isEmpty, !rows.isEmpty else { return nil }
    var levels: [UInt8] = []
    levels.reserveCapacity(columns.count * rows.count)
    for row in rows {
      for column in columns {
        let cell = grid.middle(column: column, row: row)
        levels.append(RadioMap.byte(level: loss.level(Float(cell.x), Float(cell.y)) - walls(cell)))
      }
    }
    let deviation = RadioMap.byte(deviation: rules.shadow)
    return RadioMapDraft.Piece(
      floor: floor,
      column: columns.lowerBound,
      row: rows.lowerBound,
      columns: columns.count,
      rows: rows.count,
      levels: levels,
      deviations: [UInt8](repeating: deviation, count: levels.count)
    )
  }
}

/// The constants of a radio map that is made from the positions of emitters, without a survey.
package struct PlacedRadioRules: Hashable, Sendable {
  /// The side of the map's cells on a large floor.
  ///
  /// - Units: metres.
  package var cell: Float = 3
  /// The side of the map's cells on a small floor, whose rooms are a few metres wide.
  ///
  /// - Units: metres.
  package var fineCell: Float = 1
  /// The level of an access point at one metre.
  ///
  /// - Units: dBm. 20 dBm sent, 40 dB lost over the first metre at 2.4 GHz, some in the hand.
  package var accessPointPower: Float = -30
  /// The level of a beacon at one metre, and that at which an observer hears a tag at one metre.
  ///
  /// - Units: dBm. What makers of iBeacons measure as a rule.
  package var beaconPower: Float = -59
  /// The loss over a tenfold distance.
  ///
  /// - Units: dB.
  /// - Source: ITU-R P.1238-12, table 2: 20 N with N of 28 to 30 for offices, 22 for shops.
  package var slope: Float = 25
  /// The attenuation of each ceiling in between.
  ///
  /// - Units: dB.
  /// - Source: ITU-R P.1238-12, table 3: 10 to 15 for one floor.
  package var ceiling: Float = 14
  /// The deviation of levels from all that, by shadows, antennas and tolerances of the makers.
  ///
  /// - Units: dB.
  package var shadow: Float = 7
  /// The scatter of a single reading at one place.
  ///
  /// - Units: dB.
  package var readingNoise: Float = 5
  /// The level that bounds the patch of an emitter, which reaches as far as path loss alone stays above this level.
  ///
  /// - Units: dBm.
  package var faintest: Float = -98

  /// The usual rules.
  package init() {}
}
