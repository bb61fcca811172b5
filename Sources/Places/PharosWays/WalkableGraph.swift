public import PharosSpace

/// A venue made ready for routes: where people can walk on each floor, and the connectors between floors.
///
/// Everything that routes need is in it, names and opening hours included, so that a graph read from bytes answers as the
/// one that was built from the venue.
public struct WalkableGraph: Sendable {
  /// The identifier of the venue.
  public let venue: String
  /// The local time of the venue.
  let localTime: LocalTime
  /// The display names of the buildings by their identifiers.
  let buildings: [String: String]
  let floors: [GraphFloor]
  let connectors: [Connector]
  /// The stops of each connector: the floor's index and the stop's index there, in the order of the connector's stops;
  /// nil for a floor that the venue does not have.
  let stops: [[Stop?]]
  /// The limits under which ways are searched, one after the other until there is one: everyone, and those that a door,
  /// a gate or a connector is meant for.
  let accessLimits: [Access]
  /// The horizontal distance between the stops of each connector in metres, row by row.
  private let rideLengths: [[Double]]

  /// A connector's stop in the graph.
  struct Stop {
    let floor: Int
    /// The index among the floor's stops.
    let number: Int
  }

  /// The distance from the walkable area up to which a connector's point is moved onto it: it may lie in the middle of a
  /// shaft.
  ///
  /// - Units: metres.
  static let connectorReach = VenueCheck.connectorTolerance

  /// Builds the graph of a venue.
  public init(_ venue: Venue) {
    self.init(
      venue: venue.identifier,
      localTime: venue.localTime,
      buildings: Dictionary(venue.buildings.map { ($0.identifier, $0.name) }) { first, _ in first },
      parts: venue.floors.map { GraphFloor.Part($0.floor, id: $0.id) },
      connectors: venue.connectors
    )
  }

  /// Builds a graph of its parts, as they were encoded.
  init(
    venue: String,
    localTime: LocalTime,
    buildings: [String: String],
    parts: [GraphFloor.Part],
    connectors: [Connector]
  ) {
    self.venue = venue
    self.localTime = localTime
    self.buildings = buildings
    self.connectors = connectors
    let numbers = Dictionary(zip(parts.map(\.id), parts.indices)) { first, _ in first }
    var places = [[GraphFloor.StopPlace]](repeating: [], count: parts.count)
    var stops: [[Stop?]] = []
    for (index, connector) in connectors.enumerated() {
      stops.append(
        connector.stops.enumerated().map { order, stop in
          guard let floor = numbers[stop.floor] else { return nil }
          let place = parts[floor].mesh.nearestPlace(to: stop.point, within: WalkableGraph.connectorReach)
          places[floor].append(GraphFloor.StopPlace(connector: index, order: order, place: place))
          return Stop(floor: floor, number: places[floor].count - 1)
        }
      )
    }
    self.stops = stops
    let floors = zip(parts, places).map { GraphFloor($0, stops: $1) }
    self.floors = floors
    let accesses = floors.flatMap(\.accesses) + connectors.map(\.access)
    accessLimits = Set(accesses + [.everyone]).filter(\.isPassable).sorted()
    rideLengths = zip(connectors, stops).map { connector, stops in
      let planes = stops.map { $0.map { parts[$0.floor].plane } }
      return connector.stops.indices.flatMap { from in
        connector.stops.indices.map { to in
          guard let start = planes[from]?.coordinate(of: connector.stops[from].point),
            let moved = planes[to]?.point(of: start)
          else { return .infinity }
          return moved.distance(to: connector.stops[to].point)
        }
      }
    }
  }

  /// The horizontal distance between two stops of a connector in metres; infinite if either has no floor.
  func rideLength(_ connector: Int, from: Int, to: Int) -> Double {
    rideLengths[connector][from * connectors[connector].stops.count + to]
  }

  /// The number of corners and lines of all floors.
  package var size: (corners: Int, lines: Int) {
    floors.reduce((0, 0)) { ($0.0 + $1.ways.nodeCount, $0.1 + $1.ways.edgeCount) }
  }
}

/// A floor of a walkable graph.
struct GraphFloor: Sendable {
  /// What is encoded of a floor; all else is computed from it.
  struct Part: Sendable {
    let id: FloorID
    let name: String
    let plane: FloorPlane
    let mesh: WalkableMesh
    let doors: [Door]
    let entrances: [Entrance]
    let places: [PointOfInterest]
  }

  /// The place at which a connector stops; nil if it cannot be walked to.
  struct StopPlace: Sendable {
    let connector: Int
    /// The index among the connector's stops.
    let order: Int
    let place: WalkableMesh.Place?
  }

  let part: Part
  let stops: [StopPlace]
  /// The people that its doors and gates are meant for.
  let accesses: Set<Access>
  /// The ways for everyone while all doors are open.
  let ways: CornerGraph
  /// The ways without the doors and gates of these tags, for every limit, with and without those that a wheelchair cannot
  /// pass.
  private let variants: [Set<UInt16>: CornerGraph]
  /// Indicates whether any door has opening hours.
  private let hasHours: Bool

  init(_ part: Part, stops: [StopPlace]) {
    self.part = part
    self.stops = stops
    let places = stops.map(\.place)
    let gates = Set(part.mesh.tags).compactMap { MeshDrawing.access(ofGate: $0) }
    accesses = Set(part.doors.map(\.access) + gates)
    hasHours = part.doors.contains { $0.hours != nil }
    var variants: [Set<UInt16>: CornerGraph] = [:]
    for limit in accesses.union([.everyone]) where limit.isPassable {
      for isAccessible in [false, true] {
        let closed = part.closedTags(upTo: limit) { isAccessible && !$0.isAccessible }
        if variants[closed] == nil {
          variants[closed] = CornerGraph(part.mesh.closing(closed), stops: places)
        }
      }
    }
    self.variants = variants
    let closed = part.closedTags(upTo: .everyone) { _ in false }
    ways = variants[closed] ?? CornerGraph(part.mesh.closing(closed), stops: places)
  }

  /// The ways that are meant for some people, while some doors are closed.
  ///
  /// Those of opening hours are computed on demand, which takes as long as building the floor did.
  func ways(upTo limit: Access, isAccessible: Bool, isOpen: (Door) -> Bool) -> CornerGraph {
    // What the floor does not have makes no difference.
    let limit = accesses.filter { $0 <= limit }.max() ?? .everyone
    let closed = part.closedTags(upTo: limit) { door in
      hasHours && !isOpen(door) || isAccessible && !door.isAccessible
    }
    return variants[closed] ?? CornerGraph(part.mesh.closing(closed), stops: stops.map(\.place))
  }
}

extension GraphFloor.Part {
  /// The part of a floor of a venue.
  init(_ floor: Floor, id: FloorID) {
    self.init(
      id: id,
      name: floor.name,
      plane: floor.plane,
      mesh: WalkableMesh(floor),
      doors: floor.doors,
      entrances: floor.entrances,
      places: floor.pointsOfInterest
    )
  }

  /// The tags of the doors and gates that are meant for fewer people than a limit, and of doors that are closed.
  func closedTags(upTo limit: Access, isClosed: (Door) -> Bool = { _ in false }) -> Set<UInt16> {
    let tagged = zip(MeshDrawing.firstDoor..<MeshDrawing.endOfDoors, doors)
    let closed = tagged.filter { $0.1.access > limit || isClosed($0.1) }.map(\.0)
    return Set(closed + Access.allCases.filter { $0 > limit }.map(MeshDrawing.gate))
  }
}

extension WalkableGraph {
  /// A place on a floor of the graph.
  struct Location: Hashable {
    let floor: Int
    let place: WalkableMesh.Place
  }

  /// The distance from the walkable area up to which a position is moved onto it.
  ///
  /// - Units: metres. Positions err by some metres; a larger distance is another place or another floor.
  package static let positionReach = 10.0
  /// The same for places, which may lie deep in a shop that is drawn as an obstacle.
  ///
  /// - Units: metres.
  static let placeReach = 100.0

  /// Finds the walkable place nearest to a coordinate on the floors of a level.
  ///
  /// - Throws: ``RoutingError`` for a level that the venue does not have, and outside of the walkable areas.
  func location(of coordinate: Coordinate, level: Int) throws(RoutingError) -> Location {
    let candidates = floors.indices.filter { floors[$0].part.id.level == level }
    guard !candidates.isEmpty else {
      throw .unknownLevel(level, known: Set(floors.map(\.part.id.level)).sorted())
    }
    let best = candidates.compactMap { nearest(to: coordinate, onFloor: $0) }
      .min { $0.distance < $1.distance }
    guard let best else { throw .outside(level: level, meters: nil) }
    guard best.distance <= WalkableGraph.positionReach else {
      throw .outside(level: level, meters: best.distance)
    }
    return best.location
  }

  /// The distance up to which the walkable place nearest to a coordinate is looked for.
  ///
  /// - Units: metres.
  private static let searchReach = 1_000.0

  /// The walkable place of a floor nearest to a coordinate, and the distance to it in metres.
  private func nearest(
    to coordinate: Coordinate,
    onFloor index: Int,
    within reach: Double = WalkableGraph.searchReach
  ) -> (location: Location, distance: Double)? {
    guard let point = floors[index].part.plane.point(of: coordinate),
      let place = floors[index].part.mesh.nearestPlace(to: point, within: reach)
    else { return nil }
    return (Location(floor: index, place: place), place.point.point.distance(to: point))
  }

  /// Finds the walkable places nearest to a coordinate, one on each floor: of a level, or of all where none is known.
  ///
  /// Those within `reach` come first, in the order of their levels: the ground floor, then those above and below it by
  /// their distance from it, the upper one first. The others follow by their distance from the coordinate. So the first
  /// is on the ground floor wherever people can walk there, whatever lies above.
  ///
  /// - Parameters:
  ///   - coordinate: the coordinate.
  ///   - level: the level, or nil.
  ///   - reach: the distance in metres up to which the level decides.
  /// - Returns: the coordinates of the places, their floors and the distances to them in metres.
  package func projections(
    of coordinate: Coordinate,
    level: Int? = nil,
    within reach: Double = WalkableGraph.positionReach
  ) -> [(coordinate: Coordinate, floor: FloorID, meters: Double)] {
    let found = floors.indices
      .filter { index in level.map { $0 == floors[index].part.id.level } ?? true }
      .compactMap { nearest(to: coordinate, onFloor: $0) }
    func key(_ found: (location: Location, distance: Double)) -> (Int, Int, Double) {
      found.distance <= reach
        ? (0, rank(ofFloor: found.location.floor), found.distance) : (1, 0, found.distance)
    }
    return found.sorted { key($0) < key($1) }.map { projection(of: coordinate, at: $0) }
  }

  /// Finds the first of ``projections(of:level:within:)`` if it is within `reach`; nil otherwise.
  ///
  /// Floors are looked at in their order, and only as far as `reach`, until one has a place.
  package func firstProjection(
    of coordinate: Coordinate,
    level: Int? = nil,
    within reach: Double
  ) -> (coordinate: Coordinate, floor: FloorID, meters: Double)? {
    let candidates = floors.indices.filter { index in level.map { $0 == floors[index].part.id.level } ?? true
    }
    let ranked = Dictionary(grouping: candidates) { rank(ofFloor: $0) }.sorted { $0.key < $1.key }
    for (_, indices) in ranked {
      let found = indices.compactMap { nearest(to: coordinate, onFloor: $0, within: reach) }
      if let best = found.min(by: { $0.distance < $1.distance }) {
        return projection(of: coordinate, at: best)
      }
    }
    return nil
  }

  /// The place of a floor in the order in which levels are tried: 0, 1, −1, 2, −2 and so on.
  private func rank(ofFloor index: Int) -> Int {
    let level = floors[index].part.id.level
    return level > 0 ? 2 * level - 1 : -2 * level
  }

  private func projection(
    of coordinate: Coordinate,
    at found: (location: Location, distance: Double)
  ) -> (coordinate: Coordinate, floor: FloorID, meters: Double) {
    let part = floors[found.location.floor].part
    return (
      part.plane.coordinate(of: found.location.place.point.point) ?? coordinate, part.id, found.distance
    )
  }

  /// Finds the walkable place nearest to a coordinate on a level.
  ///
  /// - Returns: the coordinate of the place, its floor and the distance to it in metres.
  /// - Throws: ``RoutingError`` for a level that the venue does not have, and outside of the walkable areas.
  public func projection(
    of coordinate: Coordinate,
    level: Int
  ) throws(RoutingError) -> (coordinate: Coordinate, floor: FloorID, meters: Double) {
    let location = try location(of: coordinate, level: level)
    let part = floors[location.floor].part
    let point = location.place.point.point
    let meters = part.plane.point(of: coordinate)?.distance(to: point) ?? 0
    return (part.plane.coordinate(of: point) ?? coordinate, part.id, meters)
  }

  /// Every place of interest with its floor.
  public var places: [(floor: FloorID, place: PointOfInterest)] {
    floors.flatMap { floor in floor.part.places.map { (floor.part.id, $0) } }
  }

  /// The display name of a floor.
  func name(of floor: Int) -> String { floors[floor].part.name }
}
