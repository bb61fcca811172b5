package import PharosSpace

/// The square cells of a floor for which a radio map has levels, row by row from the south-western one.
package struct RadioGrid: Hashable, Sendable {
  /// The south-western corner of the first cell, on the floor's plane.
  package let corner: Point
  /// The side of a cell.
  ///
  /// - Units: metres.
  package let cell: Float
  /// The number of cells in a row, from west to east.
  package let columns: Int
  /// The number of rows, from south to north.
  package let rows: Int

  /// The most cells in a row or rows: with cells of 3 m, six kilometres.
  package static let maximumCellsAcross = 2_048
  /// The most cells of a floor: with cells of 3 m, 2.4 km².
  package static let maximumCells = 1 << 18

  /// Creates a grid, or returns nil if it has no cells or too many, or if the side of a cell is out of range.
  package init?(corner: Point, cell: Float, columns: Int, rows: Int) {
    guard corner.x.isFinite, corner.y.isFinite, cell.isFinite, cell >= 0.1, cell <= 100,
      (1...RadioGrid.maximumCellsAcross).contains(columns), (1...RadioGrid.maximumCellsAcross).contains(rows),
      columns * rows <= RadioGrid.maximumCells
    else { return nil }
    self.corner = corner
    self.cell = cell
    self.columns = columns
    self.rows = rows
  }

  /// The number of cells.
  package var count: Int { columns * rows }

  /// Returns the middle of a cell.
  package func middle(column: Int, row: Int) -> Point {
    corner
      + Point(x: (Double(column) + 0.5) * Double(cell), y: (Double(row) + 0.5) * Double(cell))
  }

  /// Returns the position of a place, counted in cells from the middle of the first cell.
  package func position(of point: Point) -> (column: Float, row: Float) {
    (
      Float((point.x - corner.x) / Double(cell) - 0.5),
      Float((point.y - corner.y) / Double(cell) - 0.5)
    )
  }

  /// Returns the index of the cell that contains a place, or nil outside of the grid.
  package func index(of point: Point) -> Int? {
    let column = ((point.x - corner.x) / Double(cell)).rounded(.down)
    let row = ((point.y - corner.y) / Double(cell)).rounded(.down)
    guard column >= 0, row >= 0, column < Double(columns), row < Double(rows) else { return nil }
    return Int(row) * columns + Int(column)
  }
}

/// The cells of a floor for which a radio map has one emitter's levels: a rectangle of the floor's grid.
package struct RadioPatch: Hashable, Sendable {
  /// The emitter, as its place in ``RadioMap/emitters``.
  package let emitter: Int32
  /// The floor, as its place in ``RadioMap/floors``.
  package let floor: Int32
  /// The westernmost column of the grid.
  package let column: Int32
  /// The southernmost row of the grid.
  package let row: Int32
  /// The number of columns.
  package let columns: Int32
  /// The number of rows.
  package let rows: Int32
  /// The index of its first cell in ``RadioMap/levels`` and ``RadioMap/deviations``; the others follow row by row.
  package let offset: Int32

  /// The number of cells.
  package var count: Int { Int(columns) * Int(rows) }

  /// Returns the cells of a row or column between which a place lies, as the first cell and the share of the second,
  /// clamped to the row or column.
  @inline(__always)
  static func cells(at place: Float, of count: Int) -> (first: Int, share: Float) {
    let held = min(max(place, 0), Float(count - 1))
    let first = min(Int(held), max(0, count - 2))
    return (first, held - Float(first))
  }
}

extension RadioGrid {
  /// The distance by which a floor's grid extends beyond the drawn floor, because people stand in front of doors.
  ///
  /// - Units: metres.
  static let border = 6.0

  /// The number of cells up to which the cells of a floor are as small as they may be.
  ///
  /// 4,096: with cells of 1 m a floor of 50 by 50 m, whose field a tag needs in some tens of microseconds.
  private static let fineCells: Float = 4_096

  /// Creates the grid of a floor with cells that are the smaller, the smaller the floor is.
  package init?(over floor: Floor, cells: ClosedRange<Float>) {
    guard let extent = floor.extent else { return nil }
    let (width, height) = (extent.width + 2 * RadioGrid.border, extent.height + 2 * RadioGrid.border)
    let side = Float((width * height).squareRoot()) / RadioGrid.fineCells.squareRoot()
    self.init(over: floor, cell: min(cells.upperBound, max(cells.lowerBound, side)))
  }

  /// Creates the grid of a floor, or returns nil if the extent of the floor is unknown.
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
      if columns <= Double(RadioGrid.maximumCellsAcross), rows <= Double(RadioGrid.maximumCellsAcross),
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
  /// Returns the distance in metres from the middle of each cell to that of the nearest marked cell, or infinity if
  /// none is marked.
  ///
  /// The algorithm makes two passes over all cells and compares each cell with its four neighbours that were visited
  /// before. Paths follow axes and diagonals, so distances are at most 8 % too long.
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
