import PharosPlaces

/// A summary of what a venue holds, in lines of text for its author.
struct VenueReport {
  private let venue: Venue
  private let folder: String

  init(_ venue: Venue, folder: String) {
    self.venue = venue
    self.folder = folder
  }

  /// What the venue holds, then each floor with its plan, then each connector.
  var lines: [String] {
    let floors = venue.floors
    let name = venue.name == venue.identifier ? "" : " (\(venue.name))"
    let parts = [
      CheckRunner.count(venue.buildings.count, "building"),
      CheckRunner.count(floors.count, "floor"),
      CheckRunner.count(venue.connectors.count, "connector"),
      CheckRunner.count(floors.reduce(0) { $0 + $1.floor.entrances.count }, "entrance"),
      CheckRunner.count(floors.reduce(0) { $0 + $1.floor.beacons.count }, "beacon"),
      CheckRunner.count(floors.reduce(0) { $0 + $1.floor.observers.count }, "observer"),
      CheckRunner.count(floors.reduce(0) { $0 + $1.floor.accessPoints.count }, "access point"),
    ]
    return ["\(folder): venue \"\(venue.identifier)\"\(name): \(parts.joined(separator: ", "))"]
      + floors.flatMap { self.lines(of: $0.floor, $0.id) } + venue.connectors.map(line)
  }

  private func lines(of floor: Floor, _ id: FloorID) -> [String] {
    let names = floor.names.isEmpty ? "" : " \"\(floor.names.joined(separator: "\", \""))\""
    let size = floor.extent.map { "\(Self.text($0.width)) × \(Self.text($0.height)) m" } ?? "nothing drawn"
    let walkable = floor.walkable.reduce(0) { $0 + $1.size }
    let walls = floor.walls.all.reduce(0) { $0 + $1.segment.length }
    let parts = [
      size,
      "\(CheckRunner.count(floor.walkable.count, "walkable area")) (\(Self.text(walkable)) m²)",
      CheckRunner.count(floor.obstacles.count, "obstacle"),
      "\(CheckRunner.count(floor.walls.all.count, "wall")) (\(Self.text(walls)) m)",
    ]
    return ["  floor \(id)\(names): \(parts.joined(separator: ", "))"]
      + (floor.plan.map { [line(of: $0)] } ?? [])
  }

  private func line(of plan: FloorPlan) -> String {
    let alignment = plan.alignment
    let bearing = Self.text(alignment.bearing)
    var parts = [
      "\(plan.width) × \(plan.height) pixels",
      "\(Self.text(alignment.metersPerPixel, decimals: 4)) m a pixel",
      "upper edge faces \(bearing == "360" ? "0" : bearing)°",
      CheckRunner.count(alignment.anchors.count, "anchor"),
    ]
    if alignment.anchors.count > PlanAlignment.fewestAnchors {
      let residuals = alignment.residuals.map { Self.text($0, decimals: 2) }.joined(separator: ", ")
      parts.append(
        "off by \(residuals) m (root mean square \(Self.text(alignment.rootMeanSquare, decimals: 2)) m)"
      )
    }
    return "    plan \(plan.image): \(parts.joined(separator: ", "))"
  }

  private func line(of connector: Connector) -> String {
    let floors = connector.stops.map(\.floor.description).joined(separator: ", ")
    return "  \(connector.kind.rawValue) \"\(connector.identifier)\": \(floors.isEmpty ? "no stop" : floors)"
  }

  /// A number with so many decimals at most.
  private static func text(_ number: Double, decimals: Int = 1) -> String {
    let scale = (0..<decimals).reduce(1.0) { scale, _ in scale * 10 }
    let rounded = (number * scale).rounded() / scale
    return rounded == rounded.rounded() && rounded.magnitude < 1e15 ? "\(Int(rounded))" : "\(rounded)"
  }
}
