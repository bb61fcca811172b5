import PharosPlaces

/// One emitter's levels on a rectangle of a floor's cells, in the making.
struct LevelRaster {
  /// The floor's place.
  let floor: Int
  /// Which columns of the grid.
  let columns: Range<Int>
  /// Which rows of the grid.
  let rows: Range<Int>
  /// The levels in dBm, row by row.
  var levels: [Float]
  /// How far they may be off, in dB, row by row.
  var deviations: [Float]

  /// Where a cell of the grid lies in the lists; nil outside.
  func place(column: Int, row: Int) -> Int? {
    guard columns.contains(column), rows.contains(row) else { return nil }
    return (row - rows.lowerBound) * columns.count + column - columns.lowerBound
  }

  /// What a map keeps of it.
  var piece: RadioMapDraft.Piece {
    RadioMapDraft.Piece(
      floor: floor,
      column: columns.lowerBound,
      row: rows.lowerBound,
      columns: columns.count,
      rows: rows.count,
      levels: levels.map { RadioMap.byte(level: $0) },
      deviations: deviations.map { RadioMap.byte(deviation: $0) }
    )
  }
}
