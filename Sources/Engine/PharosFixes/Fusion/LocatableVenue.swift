import PharosModel
public import PharosSpace
public import PharosWays

/// A venue prepared for locating: its floors, the ways between them, and its radio map.
///
/// A ground is created once, in about 10 ms a floor, and shared by all subjects. A copy costs a pointer.
public struct LocatableVenue: Sendable {
  /// The content that all copies share.
  package final class Content: Sendable {
    let venue: Venue
    let router: @Sendable () -> Router
    let radio: RadioMap
    let rules: FusionRules
    package let floors: [GroundFloor]
    /// The named places of each floor.
    package let named: [FloorID: NamedPlaces]
    let levels: LevelTable
    /// The evidence of what scans do not list.
    package let unlisted: UnlistedField
    /// The floor of the ground for each floor of the radio map; nil where the venue does not have it.
    let floorOfRadio: [Int?]
    let hasConnectors: Bool
    /// The logarithm of the initial probability, for each floor and each cell of its radio grid.
    let priors: [[Float]]
    /// The distance in metres of each cell from the nearest surveyed one, for each floor of the radio map; empty
    /// without a survey.
    private let remotenesses: [[Float]]
    /// The factors on the radius that the survey showed, by kind of subject.
    let radiusFactors: [RadiusScale.Kind: Float]
    /// The next floors up and down in the same building, for each floor, and the changes between their planes.
    let neighbours: [[(floor: Int, change: PlaneChange)]]

    init(venue: Venue, radio: RadioMap, rules: FusionRules, router: @escaping @Sendable () -> Router) {
      self.venue = venue
      self.router = router
      self.radio = radio
      self.rules = rules
      levels = LevelTable(freedom: rules.tailFreedom)
      unlisted = UnlistedField(radio, rules)
      remotenesses = radio.walked.indices.map { radio.grids[$0].distances(from: radio.walked[$0]) }
      radiusFactors = Dictionary(radio.radiusScales.map { ($0.kind, $0.factor) }) { first, _ in first }
      let all = venue.floors
      floorOfRadio = radio.floors.map { id in all.firstIndex { $0.id == id } }
      named = Dictionary(uniqueKeysWithValues: all.map { ($0.id, NamedPlaces($0.floor)) })
      let exits = LocatableVenue.exits(of: venue)
      floors = all.enumerated().map { number, entry in
        GroundFloor(
          entry.floor,
          id: entry.id,
          exits: exits[number],
          reach: Double(rules.connectorReach),
          radio: radio.floors.firstIndex(of: entry.id),
          turn: radio.turns.first { $0.floor == entry.id }?.radians ?? 0
        )
      }
      priors = floors.map { $0.priors(radio, rules) }
      hasConnectors = exits.contains { !$0.isEmpty }
      neighbours = all.indices.map {
        LocatableVenue.neighbours(of: $0, in: all.map { ($0.id, $0.floor.plane) })
      }
    }

    /// Returns the number of an emitter in the radio map.
    ///
    /// It is a method here because returning the map would cost more than the answer.
    func emitter(_ emitter: Emitter) -> Int32? { radio.emitter(emitter) }

    /// The number of a beacon that was heard with an address.
    func emitter(ofBeacon beacon: BeaconID, address: DeviceAddress?) -> Int32? {
      radio.emitter(ofBeacon: beacon, address: address)
    }

    /// Returns the distance in metres of a place from the nearest surveyed one; 0 where there was no survey.
    package func remoteness(of point: Point, floor: Int) -> Float {
      guard !remotenesses.isEmpty else { return 0 }
      return radio.grids[floor].index(of: point).map { remotenesses[floor][$0] } ?? .infinity
    }
  }

  package let content: Content

  /// Prepares a venue.
  ///
  /// - Parameters:
  ///   - venue: the venue.
  ///   - radio: the radio map that a survey of it gave; nil to derive one from the places of the venue's radios.
  ///   - router: returns the venue's router once a subject is guided there; nil to make it then.
  public init(venue: Venue, radio: RadioMap? = nil, router: (@Sendable () -> Router)? = nil) {
    self.init(venue: venue, radio: radio, rules: FusionRules(), router: router)
  }

  /// Prepares a venue for locating with constants other than the usual ones.
  package init(
    venue: Venue,
    radio: RadioMap? = nil,
    rules: FusionRules,
    router: (@Sendable () -> Router)? = nil
  ) {
    content = Content(
      venue: venue,
      radio: radio ?? RadioMap(placed: venue),
      rules: rules,
      router: router ?? { Router(WalkableGraph(venue)) }
    )
  }

  /// The venue.
  public var venue: Venue { content.venue }
  /// The positions of the observers that are placed in it, on floors that are bound to the Earth.
  package var observerPositions: [Geofence.Position] {
    venue.floors.flatMap { entry in
      entry.floor.observers.compactMap { entry.floor.plane.coordinate(of: $0.point) }
    }
    .map { Geofence.Position(latitude: $0.latitude, longitude: $0.longitude) }
  }
  /// Returns its router; each call may make one.
  package func router() -> Router { content.router() }
  /// Its radio map.
  public var radio: RadioMap { content.radio }
  /// The constants.
  package var rules: FusionRules { content.rules }

  /// Returns the ways that lead to other floors, for each floor.
  private static func exits(of venue: Venue) -> [[GroundFloor.Exit]] {
    let ids = venue.floors.map(\.id)
    var found = [[GroundFloor.Exit]](repeating: [], count: ids.count)
    for connector in venue.connectors {
      for start in connector.stops {
        guard let from = ids.firstIndex(of: start.floor) else { continue }
        for end in connector.stops where end.floor != start.floor {
          guard let to = ids.firstIndex(of: end.floor) else { continue }
          let rise = end.floor.level - start.floor.level
          found[from].append(
            GroundFloor.Exit(point: start.point, floor: to, arrival: end.point, rise: rise)
          )
        }
      }
    }
    return found
  }

  private static func neighbours(
    of number: Int,
    in floors: [(id: FloorID, plane: FloorPlane)]
  ) -> [(floor: Int, change: PlaneChange)] {
    floors.indices.compactMap { other in
      let isNext =
        floors[other].id.building == floors[number].id.building
        && abs(floors[other].id.level - floors[number].id.level) == 1
      guard isNext else { return nil }
      return PlaneChange(from: floors[number].plane, to: floors[other].plane).map { (other, $0) }
    }
  }
}

/// A floor prepared for particles.
///
/// It is a class, because every particle queries its own floor at every step, and a copy would cost more than the
/// query.
package final class GroundFloor: Sendable {
  /// A way to another floor.
  struct Exit: Sendable {
    /// The place on this floor where it begins.
    let point: Point
    /// The other floor, as its place in ``LocatableVenue/floors``.
    let floor: Int
    /// The place on the other floor where it ends.
    let arrival: Point
    /// The number of floors up, negative if down.
    let rise: Int
  }

  package let id: FloorID
  let plane: FloorPlane
  /// The height above mean sea level in metres, if it is known.
  let altitude: Double?
  let raster: WalkRaster
  let space: FloorSpace
  /// The ways to other floors.
  let exits: [Exit]
  /// The doors to the outdoors.
  let entrances: [Point]
  /// The rectangle around all that is drawn; nil where nothing is.
  let extent: Extent?
  /// The floor's place in the radio map; nil where that does not know it.
  let radio: Int?
  /// The angle by which walks on the plan point clockwise of their compass headings, as the survey showed it.
  ///
  /// - Units: radians.
  let turn: Float

  /// Prepares a floor with the ways that lead from it to other floors.
  init(_ floor: Floor, id: FloorID, exits: [Exit], reach: Double, radio: Int?, turn: Float = 0) {
    self.id = id
    plane = floor.plane
    altitude = floor.altitude
    space = FloorSpace(floor)
    raster = WalkRaster(floor, space: space, stops: exits.map(\.point), reach: reach)
    self.exits = exits
    entrances = floor.entrances.map(\.point)
    extent = floor.extent
    self.radio = radio
    self.turn = turn
  }

  /// Returns whether a place lies within the drawn extent of the floor, or within a margin in metres around it.
  func holds(_ point: Point, margin: Double) -> Bool {
    guard let extent else { return false }
    return point.x >= extent.southWest.x - margin && point.x <= extent.northEast.x + margin
      && point.y >= extent.southWest.y - margin && point.y <= extent.northEast.y + margin
  }
}

extension GroundFloor {
  /// Returns the initial log-probability of each cell of the floor's radio grid, from the share of the cell that can
  /// be walked on.
  func priors(_ map: RadioMap, _ rules: FusionRules) -> [Float] {
    guard let radio else { return [] }
    let grid = map.grids[radio]
    let closed = FusionMath.exponential(-rules.closedPrior)
    return (0..<grid.count).map { index in
      let middle = grid.middle(column: index % grid.columns, row: index / grid.columns)
      var open: Float = 0
      for step in 0..<9 {
        let east = Float(middle.x) + Float(step % 3 - 1) * grid.cell / 3
        let north = Float(middle.y) + Float(step / 3 - 1) * grid.cell / 3
        if raster.cell(east: east, north: north).contains(.walkable) { open += 1.0 / 9 }
      }
      return Float(RadioMath.naturalLog(Double(open + closed * (1 - open))))
    }
  }
}

/// The mapping of places of one floor to the plane of another.
///
/// Planes of one building differ by shift, turn and scale, so three places determine it.
package struct PlaneChange: Sendable {
  /// The place of the origin on the other plane.
  private let origin: Point
  /// The ways on the other plane of a metre along each axis.
  private let alongX, alongY: Point

  /// The distance over which the change is measured: about a floor.
  ///
  /// - Units: metres.
  private static let reach = 100.0

  /// The change from one plane to another; nil where they do not reach each other.
  package init?(from: FloorPlane, to: FloorPlane) {
    func moved(_ point: Point) -> Point? { from.coordinate(of: point).flatMap { to.point(of: $0) } }
    let reach = PlaneChange.reach
    guard let origin = moved(.origin), let east = moved(Point(x: reach, y: 0)),
      let north = moved(Point(x: 0, y: reach))
    else { return nil }
    self.origin = origin
    alongX = Point(x: (east.x - origin.x) / reach, y: (east.y - origin.y) / reach)
    alongY = Point(x: (north.x - origin.x) / reach, y: (north.y - origin.y) / reach)
  }

  /// Returns the mapped place.
  package func callAsFunction(_ point: Point) -> Point { origin + alongX * point.x + alongY * point.y }

  /// Returns the mapped place of a particle.
  func callAsFunction(_ east: Float, _ north: Float) -> (east: Float, north: Float) {
    (
      Float(alongX.x) * east + Float(alongY.x) * north + Float(origin.x),
      Float(alongX.y) * east + Float(alongY.y) * north + Float(origin.y)
    )
  }
}

/// A floor as a raster of small cells, which shows where one can walk and where an exact query is necessary.
///
/// A query of the floor itself costs 34 to 150 ns, which for a thousand particles and two steps a second is more than
/// all the rest. A cell costs two. Only steps through cells that a wall touches query the floor.
struct WalkRaster: Hashable, Sendable {
  /// The properties of a cell.
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
  static let maximumCells = 1 << 20
  /// The distance by which the raster extends beyond the drawn extent.
  ///
  /// - Units: metres.
  static let margin = 4.0

  private let west: Float
  private let south: Float
  private let perMeter: Float
  private let columns: Int
  private let rows: Int
  private var cells: [UInt8]

  /// Rasterizes a floor.
  ///
  /// If the floor has no extent, every place counts as walkable.
  init(_ floor: Floor, space: FloorSpace, stops: [Point], reach: Double) {
    guard let extent = floor.extent, extent.width.isFinite, extent.height.isFinite else {
      (west, south, perMeter, columns, rows, cells) = (0, 0, 1, 0, 0, [])
      return
    }
    var side = Double(WalkRaster.cell)
    let (width, height) = (extent.width + 2 * WalkRaster.margin, extent.height + 2 * WalkRaster.margin)
    while width / side * (height / side) > Double(WalkRaster.maximumCells) { side *= 2 }
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

  /// Returns the properties of a place.
  ///
  /// A place outside of the raster is not walkable.
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
