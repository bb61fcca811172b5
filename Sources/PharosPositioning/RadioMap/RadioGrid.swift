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

extension RadioGrid {
  /// How far beyond what is drawn a floor's grid reaches: people stand before doors.
  ///
  /// - Units: metres.
  static let border = 6.0

  /// The grid of a floor; nil where nothing tells how large the floor is.
  ///
  /// - Parameters:
  ///   - floor: the floor.
  ///   - cell: the side of a cell in metres, made larger until there are few enough of them.
  package init?(over floor: Floor, cell: Float) {
    guard let extent = floor.extent, (extent.width + extent.height).isFinite else { return nil }
    var side = cell
    while side <= 100 {
      let columns = ((extent.width + 2 * RadioGrid.border) / Double(side)).rounded(.up)
      let rows = ((extent.height + 2 * RadioGrid.border) / Double(side)).rounded(.up)
      if columns <= Double(RadioGrid.mostCellsAcross), rows <= Double(RadioGrid.mostCellsAcross),
        let grid = RadioGrid(
          corner: extent.southWest - Point(x: RadioGrid.border, y: RadioGrid.border),
          cell: side,
          columns: Int(columns),
          rows: Int(rows)
        )
      {
        self = grid
        return
      }
      side *= 1.5
    }
    return nil
  }
}

extension RadioGrid {
  /// How far the middle of each cell is from that of the nearest marked one, in metres; infinitely far where none is marked.
  ///
  /// Two passes over all cells, each by the four neighbours that were done before: ways along the axes and diagonals, at most
  /// 8 % too long.
  ///
  /// - Source: Rosenfeld and Pfaltz, "Distance functions on digital pictures", Pattern Recognition 1 (1968).
  package func distances(from marks: [UInt8]) -> [Float] {
    var found = marks.map { $0 > 0 ? 0 : Float.infinity }
    let diagonal = cell * Float(2).squareRoot()
    let behind = [(-1, 0, cell), (0, -1, cell), (-1, -1, diagonal), (1, -1, diagonal)]
    func relax(_ index: Int, _ sign: Int) {
      let (column, row) = (index % columns, index / columns)
      for (dx, dy, way) in behind {
        let (x, y) = (column + sign * dx, row + sign * dy)
        guard (0..<columns).contains(x), (0..<rows).contains(y) else { continue }
        found[index] = min(found[index], found[y * columns + x] + way)
      }
    }
    for index in found.indices { relax(index, 1) }
    for index in found.indices.reversed() { relax(index, -1) }
    return found
  }
}
