import PharosSpace

/// The parts of a venue that people can walk to: in each building, the largest part that ways on floors, connectors and
/// entrances join.
struct VenueReach {
  /// What is cut off on each floor.
  private(set) var floors: [FloorID: FloorReach] = [:]

  /// What is cut off on a floor.
  struct FloorReach {
    /// Indicates whether no part of the floor is joined to the largest part of the building.
    ///
    /// The floor is then judged by the largest part that it has.
    let isCutOff: Bool
    /// The walkable areas that are cut off, by their index in the floor's list.
    let areas: [Int]
    /// The places that are cut off.
    let places: [PointOfInterest]
  }

  init(_ venue: Venue) {
    let parts = venue.floors.map { GraphFloor.Part($0.floor, id: $0.id) }
    // No way leads through an emergency exit, or through what is out of service.
    let widest = Access.allCases.filter(\.isPassable).max() ?? .everyone
    let meshes = parts.map { $0.mesh.closing($0.closedTags(upTo: widest)) }
    let pieces = meshes.map(\.pieces)
    var first: [Int] = []
    var sizes: [Double] = []
    for piece in pieces {
      first.append(sizes.count)
      sizes += piece.sizes
    }
    // All entrances lead to the outdoors, which has no size of its own.
    let outdoors = sizes.count
    var joined = JoinedSets(count: outdoors + 1)
    func piece(on floor: Int, at point: Point, within reach: Double) -> Int? {
      meshes[floor].nearestPlace(to: point, within: reach).map {
        first[floor] + pieces[floor].of[$0.triangle]
      }
    }
    let numbers = Dictionary(uniqueKeysWithValues: zip(parts.map(\.id), parts.indices))
    for connector in venue.connectors where connector.access.isPassable {
      let stops = connector.stops.compactMap { stop in
        numbers[stop.floor].flatMap { piece(on: $0, at: stop.point, within: WalkableGraph.connectorReach) }
      }
      for stop in stops.dropFirst() { joined.join(stops[0], stop) }
    }
    for (floor, part) in parts.enumerated() {
      for entrance in part.entrances {
        let piece = piece(on: floor, at: entrance.point, within: WalkableGraph.connectorReach)
        if let piece { joined.join(piece, outdoors) }
      }
    }
    var totals: [Int: Double] = [:]
    for (piece, size) in sizes.enumerated() { totals[joined.root(of: piece), default: 0] += size }
    func largest(on floors: [Int]) -> Int? {
      let roots = Set(
        floors.flatMap { floor in pieces[floor].sizes.indices.map { joined.root(of: first[floor] + $0) } }
      )
      return roots.max { (totals[$0] ?? 0, $1) < (totals[$1] ?? 0, $0) }
    }
    let buildings = Dictionary(grouping: parts.indices) { parts[$0].id.building }
    let main = buildings.mapValues { largest(on: $0) }
    for (floor, entry) in venue.floors.enumerated() {
      let roots = Set(pieces[floor].sizes.indices.map { joined.root(of: first[floor] + $0) })
      let building = main[entry.id.building].flatMap { $0 }
      let isCutOff = building.map { !roots.contains($0) } ?? false
      let reached = isCutOff ? largest(on: [floor]) : building
      let isReached = pieces[floor].of.map { joined.root(of: first[floor] + $0) == reached }
      floors[entry.id] = FloorReach(
        isCutOff: isCutOff && !roots.isEmpty,
        areas: VenueReach.unreached(entry.floor, meshes[floor], isReached),
        places: entry.floor.pointsOfInterest.filter { place in
          let target = meshes[floor].nearestPlace(to: place.point, within: WalkableGraph.placeReach)
          return target.map { !isReached[$0.triangle] } ?? true
        }
      )
    }
  }

  /// The areas that have triangles, of which none is reached.
  private static func unreached(_ floor: Floor, _ mesh: WalkableMesh, _ isReached: [Bool]) -> [Int] {
    let corners = floor.walkable.flatMap(\.outline.corners)
    let frame = GridFrame(over: corners, cell: FloorSpace.cell, areas: floor.walkable)
    let index = AreaIndex(walkable: floor.walkable, obstacles: [], frame: frame)
    var found = [Bool?](repeating: nil, count: floor.walkable.count)
    for triangle in isReached.indices {
      for area in index.walkable(at: mesh.center(of: triangle)) {
        found[area] = found[area] ?? false || isReached[triangle]
      }
    }
    // A triangle of an open floor may reach over several small areas.
    for (number, area) in floor.walkable.enumerated() where found[number] != true {
      guard let inner = area.innerPoint, let place = mesh.place(of: inner) else { continue }
      found[number] = found[number] ?? false || isReached[place.triangle]
    }
    return found.indices.filter { found[$0] == false }
  }
}
