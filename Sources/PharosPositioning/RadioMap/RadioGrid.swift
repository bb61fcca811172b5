package import PharosPlaces

/// The square cells of a floor that a radio map tells levels for, row by row from the south-western one.
package struct RadioGrid: Hashable, Sendable {
  /// The south-western corner of the first cell, on the floor's plane.
  package let corner: Point
  /// The side of a cell.
  ///
  /// - Units: metres.
  package let cell: Float
  /// How many cells lie in a row, from west to east.
  package let columns: Int
  /// How many rows there are, from south to north.
  package let rows: Int

  /// The most cells in a row or rows: with cells of 3 m, six kilometres.
  package static let mostCellsAcross = 2_048
  /// The most cells of a floor: with cells of 3 m, 2.4 km².
  package static let mostCells = 1 << 18

  /// Lays a grid; nil where it has no cells, too many of them, or a side that is none.
  package init?(corner: Point, cell: Float, columns: Int, rows: Int) {
    guard corner.x.isFinite, corner.y.isFinite, cell.isFinite, cell >= 0.1, cell <= 100,
      (1...RadioGrid.mostCellsAcross).contains(columns), (1...RadioGrid.mostCellsAcross).contains(rows),
      columns * rows <= RadioGrid.mostCells
    else { return nil }
    self.corner = corner
    self.cell = cell
    self.columns = columns
    self.rows = rows
  }

  /// How many cells there are.
  package var count: Int { columns * rows }

  /// The middle of a cell.
  package func middle(column: Int, row: Int) -> Point {
    corner
      + Point(x: (Double(column) + 0.5) * Double(cell), y: (Double(row) + 0.5) * Double(cell))
  }

  /// Where a place lies, counted in cells from the middle of the first one.
  package func position(of point: Point) -> (column: Float, row: Float) {
    (
      Float((point.x - corner.x) / Double(cell) - 0.5),
      Float((point.y - corner.y) / Double(cell) - 0.5)
    )
  }

  /// The cell that a place lies in, or nil outside of the grid.
  package func index(of point: Point) -> Int? {
    let column = ((point.x - corner.x) / Double(cell)).rounded(.down)
    let row = ((point.y - corner.y) / Double(cell)).rounded(.down)
    guard column >= 0, row >= 0, column < Double(columns), row < Double(rows) else { return nil }
    return Int(row) * columns + Int(column)
  }
}

/// The cells of a floor on which a radio map tells one emitter's levels: a rectangle of the floor's grid.
package struct RadioPatch: Hashable, Sendable {
  /// The emitter, as its place in ``RadioMap/emitters``.
  package let emitter: Int32
  /// The floor, as its place in ``RadioMap/floors``.
  package let floor: Int32
  /// The westernmost column of the grid.
  package let column: Int32
  /// The southernmost row of the grid.
  package let row: Int32
  /// How many columns.
  package let columns: Int32
  /// How many rows.
  package let rows: Int32
  /// Where its first cell lies in ``RadioMap/levels`` and ``RadioMap/deviations``; the others follow row by row.
  package let offset: Int32

  /// Makes a patch.
  package init(
    emitter: Int32,
    floor: Int32,
    column: Int32,
    row: Int32,
    columns: Int32,
    rows: Int32,
    offset: Int32
  ) {
    self.emitter = emitter
    self.floor = floor
    self.column = column
    self.row = row
    self.columns = columns
    self.rows = rows
    self.offset = offset
  }

  /// How many cells it has.
  package var count: Int { Int(columns) * Int(rows) }
}
