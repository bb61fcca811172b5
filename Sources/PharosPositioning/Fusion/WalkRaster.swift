import PharosPlaces

/// A floor as a picture of small cells: where one can walk, and where a closer look is due.
///
/// Asking the floor itself costs 34 to 150 ns, which for a thousand particles and two steps a second is more than all the
/// rest; a cell costs two. Only steps through cells that a wall touches ask the floor.
struct WalkRaster: Hashable, Sendable {
  /// What is known of a cell.
  struct Cell: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    /// Its middle can be walked on.
    static let walkable = Cell(rawValue: 1)
    /// A wall passes through it.
    static let walled = Cell(rawValue: 2)
    /// Stairs, a lift or an escalator are near.
    static let connected = Cell(rawValue: 4)
  }

  /// The side of a cell where floors are small enough.
  ///
  /// - Units: metres. Half a step.
  static let cell: Float = 0.5
  /// The most cells of a floor: 1 MiB; larger floors get larger cells.
  static let mostCells = 1 << 20
  /// How far beyond all that is drawn the picture reaches.
  ///
  /// - Units: metres.
  private static let margin = 4.0

  private let west: Float
  private let south: Float
  private let perMeter: Float
  private let columns: Int
  private let rows: Int
  private var cells: [UInt8]

  /// Draws a floor; nothing of it is known to be closed where it has no extent.
  init(_ floor: Floor, space: FloorSpace, stops: [Point], reach: Double) {
    guard let extent = floor.extent, extent.width.isFinite, extent.height.isFinite else {
      (west, south, perMeter, columns, rows, cells) = (0, 0, 1, 0, 0, [])
      return
    }
    var side = Double(WalkRaster.cell)
    let (width, height) = (extent.width + 2 * WalkRaster.margin, extent.height + 2 * WalkRaster.margin)
    while width / side * (height / side) > Double(WalkRaster.mostCells) { side *= 2 }
    columns = Int(width / side) + 1
    rows = Int(height / side) + 1
    let corner = extent.southWest - Point(x: WalkRaster.margin, y: WalkRaster.margin)
    west = Float(corner.x)
    south = Float(corner.y)
    perMeter = Float(1 / side)
    cells = [UInt8](repeating: 0, count: columns * rows)
    let isDrawn = !floor.walkable.isEmpty
    for row in 0..<rows {
      for column in 0..<columns {
        let middle = corner + Point(x: (Double(column) + 0.5) * side, y: (Double(row) + 0.5) * side)
        var cell: Cell = space.isWalkable(middle) || !isDrawn && floor.obstacles.isEmpty ? .walkable : []
        if stops.contains(where: { $0.distance(to: middle) <= reach }) { cell.insert(.connected) }
        cells[row * columns + column] = cell.rawValue
      }
    }
    for wall in floor.walls.all { mark(wall.segment) }
  }

  /// Marks every cell that a wall comes near to.
  private mutating func mark(_ wall: Segment) {
    // Sampled at a third of a cell and widened to the neighbours: no cell that the wall touches is left out.
    let steps = max(1, Int(wall.length * Double(perMeter) * 3))
    for step in 0...steps {
      let point = wall.start.interpolated(to: wall.end, share: Double(step) / Double(steps))
      let column = Int(((Float(point.x) - west) * perMeter).rounded(.down))
      let row = Int(((Float(point.y) - south) * perMeter).rounded(.down))
      for y in max(0, row - 1)...max(0, row + 1) where y < rows {
        for x in max(0, column - 1)...max(0, column + 1) where x < columns {
          cells[y * columns + x] |= Cell.walled.rawValue
        }
      }
    }
  }

  /// What is known at a place; what lies outside of the picture is closed.
  @inline(__always)
  func cell(east: Float, north: Float) -> Cell {
    let column = (east - west) * perMeter
    let row = (north - south) * perMeter
    guard column >= 0, row >= 0, column < Float(columns), row < Float(rows) else {
      return columns == 0 ? .walkable : []
    }
    return Cell(rawValue: cells[Int(row) * columns + Int(column)])
  }
}
