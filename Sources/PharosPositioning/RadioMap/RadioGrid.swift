public import PharosPlaces

/// The square cells of a floor that a radio map tells levels for, row by row from the south-western one.
public struct RadioGrid: Hashable, Sendable {
  /// The south-western corner of the first cell, on the floor's plane.
  public let corner: Point
  /// The side of a cell.
  ///
  /// - Units: metres.
  public let cell: Float
  /// How many cells lie in a row, from west to east.
  public let columns: Int
  /// How many rows there are, from south to north.
  public let rows: Int

  /// The most cells in a row or rows: with cells of 3 m, six kilometres.
  public static let mostCellsAcross = 2_048
  /// The most cells of a floor: with cells of 3 m, 2.4 km².
  public static let mostCells = 1 << 18

  /// Lays a grid; nil where it has no cells, too many of them, or a side that is none.
  public init?(corner: Point, cell: Float, columns: Int, rows: Int) {
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
  public var count: Int { columns * rows }

  /// The middle of a cell.
  public func middle(column: Int, row: Int) -> Point {
    corner
      + Point(x: (Double(column) + 0.5) * Double(cell), y: (Double(row) + 0.5) * Double(cell))
  }

  /// Where a place lies, counted in cells from the middle of the first one.
  public func position(of point: Point) -> (column: Float, row: Float) {
    (
      Float((point.x - corner.x) / Double(cell) - 0.5),
      Float((point.y - corner.y) / Double(cell) - 0.5)
    )
  }

  /// The cell that a place lies in, or nil outside of the grid.
  public func index(of point: Point) -> Int? {
    let column = ((point.x - corner.x) / Double(cell)).rounded(.down)
    let row = ((point.y - corner.y) / Double(cell)).rounded(.down)
    guard column >= 0, row >= 0, column < Double(columns), row < Double(rows) else { return nil }
    return Int(row) * columns + Int(column)
  }
}

/// The cells of a floor on which a radio map tells one emitter's levels: a rectangle of the floor's grid.
public struct RadioPatch: Hashable, Sendable {
  /// The emitter, as its place in ``RadioMap/emitters``.
  public let emitter: Int32
  /// The floor, as its place in ``RadioMap/floors``.
  public let floor: Int32
  /// The westernmost column of the grid.
  public let column: Int32
  /// The southernmost row of the grid.
  public let row: Int32
  /// How many columns.
  public let columns: Int32
  /// How many rows.
  public let rows: Int32
  /// Where its first cell lies in ``RadioMap/levels`` and ``RadioMap/deviations``; the others follow row by row.
  public let offset: Int32

  /// Makes a patch.
  public init(
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
  public var count: Int { Int(columns) * Int(rows) }
}
