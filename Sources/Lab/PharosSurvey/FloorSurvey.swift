import PharosFixes
package import PharosModel
package import PharosSpace

/// The parts of a floor that the survey covered with walks, scans and listening for beacons.
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
  /// The number of times that each cell was walked through, at most 255.
  private(set) var passes: [UInt8]
  /// The cells that lie within 3 m of a walk.
  private(set) var isNear: [Bool]
  private(set) var walks = 0
  private(set) var meters = 0.0
  /// The places where Wi-Fi was scanned.
  private(set) var scans: [Listening] = []
  /// The places of listening for beacons.
  private(set) var listenings: [Listening] = []
  var accessPointReadings = 0
  var beaconReadings = 0

  /// The distance from a walk within which a cell counts as surveyed.
  ///
  /// - Units: metres.
  static let nearness = 3.0
  /// The interval at which a walk is sampled.
  static let interval = TimeSpan.milliseconds(500)

  /// Creates the survey of a floor, or returns nil if the extent of the floor is unknown.
  package init?(_ id: FloorID, _ floor: Floor, cells: ClosedRange<Float>) {
    guard let grid = RadioGrid(over: floor, cells: cells) else { return nil }
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

  /// Records the course of a walk and the places where it listened.
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

  /// The cells farther than ``farness`` from every walk; empty before ``findFarCells()``.
  private(set) var farCells: [Int] = []

  /// The distance from every walk beyond which silence in a cell is no evidence.
  ///
  /// - Units: metres. One and a half lengths over which shadows change.
  static let farness = 9.0

  /// Finds the cells far from every walk.
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

  /// The share of the walkable cells that was surveyed; nil where the walkable area is unknown.
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
