package import PharosPlaces

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
