package import PharosSpace

/// A radio map under construction: emitters in any order, each with its patches.
package struct RadioMapDraft {
  /// One emitter.
  package struct Entry {
    var emitter: Emitter
    /// A number that emitters of one box share.
    var group: UInt64
    /// The scatter of a single reading, in dB.
    var noise: Float
    /// Its patches, each on a floor of its own.
    var pieces: [Piece]
    /// The position, if it is known: the floor's place, the point, and the uncertainty in metres.
    var anchor: (floor: Int, point: Point, deviation: Float)?

    package init(
      emitter: Emitter,
      group: UInt64,
      noise: Float,
      pieces: [Piece],
      anchor: (floor: Int, point: Point, deviation: Float)? = nil
    ) {
      self.emitter = emitter
      self.group = group
      self.noise = noise
      self.pieces = pieces
      self.anchor = anchor
    }
  }

  /// The expected levels of one emitter on one floor, with their deviations.
  package struct Piece {
    var floor: Int
    var column: Int
    var row: Int
    var columns: Int
    var rows: Int
    /// Bytes of levels, row by row.
    var levels: [UInt8]
    /// Bytes of deviations, row by row.
    var deviations: [UInt8]

    package init(
      floor: Int,
      column: Int,
      row: Int,
      columns: Int,
      rows: Int,
      levels: [UInt8],
      deviations: [UInt8]
    ) {
      self.floor = floor
      self.column = column
      self.row = row
      self.columns = columns
      self.rows = rows
      self.levels = levels
      self.deviations = deviations
    }
  }

  var floors: [FloorID]
  var grids: [RadioGrid]
  var walked: [[UInt8]]
  package var entries: [Entry] = []
  /// The plans that are not turned to north.
  package var turns: [PlanTurn] = []

  package init(floors: [FloorID], grids: [RadioGrid], walked: [[UInt8]], entries: [Entry] = []) {
    self.floors = floors
    self.grids = grids
    self.walked = walked
    self.entries = entries
  }

  /// Returns the map.
  ///
  /// If an emitter occurs twice, the first entry counts.
  package func map() -> RadioMap {
    let sorted = entries.enumerated()
      .sorted { ($0.element.emitter, $0.offset) < ($1.element.emitter, $1.offset) }
      .map(\.element)
    var map = RadioMap(floors: floors, grids: grids, walked: walked)
    var groupNumbers: [UInt64: Int32] = [:]
    for entry in sorted where map.emitters.last != entry.emitter {
      let group = groupNumbers[entry.group] ?? Int32(groupNumbers.count)
      groupNumbers[entry.group] = group
      let number = map.add(entry.emitter, group: group, noise: entry.noise)
      for piece in entry.pieces.sorted(by: { $0.floor < $1.floor }) {
        map.add(
          RadioPatch(
            emitter: number,
            floor: Int32(piece.floor),
            column: Int32(piece.column),
            row: Int32(piece.row),
            columns: Int32(piece.columns),
            rows: Int32(piece.rows),
            offset: Int32(map.levels.count)
          )
        )
        map.levels += piece.levels
        map.deviations += piece.deviations
      }
      if let anchor = entry.anchor {
        map.anchors.append(
          RadioAnchor(
            emitter: number,
            floor: Int32(anchor.floor),
            point: anchor.point,
            deviation: anchor.deviation
          )
        )
      }
    }
    map.turns = turns
    return map
  }
}
