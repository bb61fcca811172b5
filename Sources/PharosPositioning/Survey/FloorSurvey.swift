package import PharosPlaces
package import PharosReports

/// Where on a floor the survey walked and listened.
package struct FloorSurvey {
  /// A place where a Wi-Fi scan or a second of listening for beacons ended.
  struct Listening {
    var x: Float
    var y: Float
    var walk: Int32
  }

  let id: FloorID
  let grid: RadioGrid
  let plane: FloorPlane
  let isWalkable: [Bool]
  let hasWalkable: Bool
  /// How often each cell was walked through, held at 255.
  private(set) var passes: [UInt8]
  /// Which cells lie within 3 m of a walk.
  private(set) var isNear: [Bool]
  private(set) var walks = 0
  private(set) var meters = 0.0
  /// Where Wi-Fi was scanned.
  private(set) var scans: [Listening] = []
  /// Where beacons were listened for.
  private(set) var listenings: [Listening] = []
  var accessPointReadings = 0
  var beaconReadings = 0

  /// How far from a walk a cell counts as surveyed.
  ///
  /// - Units: metres.
  static let nearness = 3.0
  /// How often a walk is looked at.
  static let interval = TimeSpan.milliseconds(500)

  /// Lays the grid of a floor; nil where nothing tells how large it is.
  package init?(_ id: FloorID, _ floor: Floor, cell: Float) {
    guard let grid = RadioGrid(over: floor, cell: cell) else { return nil }
    self.id = id
    plane = floor.plane
    self.grid = grid
    passes = [UInt8](repeating: 0, count: grid.count)
    isNear = [Bool](repeating: false, count: grid.count)
    hasWalkable = !floor.walkable.isEmpty
    let space = FloorSpace(floor)
    isWalkable = (0..<grid.count).map { cell in
      space.isWalkable(grid.middle(column: cell % grid.columns, row: cell / grid.columns))
    }
  }

  /// Notes where a walk led and where it listened.
  package mutating func add(_ path: WalkedPath, walk: Int32, scanTimes: [Timestamp], hearsBeacons: Bool) {
    guard let span = path.span else { return }
    walks += 1
    meters += path.length
    for time in scanTimes {
      guard let point = path.position(at: time) else { continue }
      scans.append(Listening(x: Float(point.x), y: Float(point.y), walk: walk))
    }
    var last: Int?
    var time = span.lowerBound
    var count = 0
    while time <= span.upperBound, let point = path.position(at: time) {
      if let cell = grid.index(of: point), cell != last {
        passes[cell] &+= passes[cell] < 255 ? 1 : 0
        last = cell
        markNear(point)
      }
      if hearsBeacons, count % 2 == 0 {
        listenings.append(Listening(x: Float(point.x), y: Float(point.y), walk: walk))
      }
      count += 1
      time = time + FloorSurvey.interval
    }
  }

  private mutating func markNear(_ point: Point) {
    let reach = Int(FloorSurvey.nearness / Double(grid.cell)) + 1
    guard let cell = grid.index(of: point) else { return }
    let (column, row) = (cell % grid.columns, cell / grid.columns)
    for y in max(0, row - reach)...min(grid.rows - 1, row + reach) {
      for x in max(0, column - reach)...min(grid.columns - 1, column + reach)
      where grid.middle(column: x, row: y).distance(to: point) <= FloorSurvey.nearness {
        isNear[y * grid.columns + x] = true
      }
    }
  }

  /// The cells farther than ``farness`` from every walk, once they were looked for.
  private(set) var farCells: [Int] = []

  /// How far from every walk a cell must lie for its silence to say nothing.
  ///
  /// - Units: metres. One and a half lengths over which shadows change.
  static let farness = 9.0

  /// Looks for the cells far from every walk.
  mutating func findFarCells() {
    var isFar = [Bool](repeating: true, count: grid.count)
    let reach = Int(FloorSurvey.farness / Double(grid.cell))
    for cell in passes.indices where passes[cell] > 0 {
      let (column, row) = (cell % grid.columns, cell / grid.columns)
      for y in max(0, row - reach)...min(grid.rows - 1, row + reach) {
        for x in max(0, column - reach)...min(grid.columns - 1, column + reach)
        where (x - column) * (x - column) + (y - row) * (y - row) <= reach * reach {
          isFar[y * grid.columns + x] = false
        }
      }
    }
    farCells = isFar.indices.filter { isFar[$0] }
  }

  /// The share of what is walkable that was surveyed; nil where nothing says what is walkable.
  var surveyedShare: Double? {
    guard hasWalkable else { return nil }
    var (walkable, surveyed) = (0, 0)
    for cell in isWalkable.indices where isWalkable[cell] {
      walkable += 1
      if isNear[cell] { surveyed += 1 }
    }
    return walkable == 0 ? nil : Double(surveyed) / Double(walkable)
  }
}
