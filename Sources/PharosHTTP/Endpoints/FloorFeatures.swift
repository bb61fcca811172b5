import PharosPlaces
import PharosReports

/// What is drawn of a floor, as GeoJSON: where one can walk, walls, ways in and up, and what hangs there.
///
/// Each feature's property `kind` says what it is. Walls of one attenuation make one feature, since a mall has ten thousand
/// of them.
///
/// - Source: RFC 7946.
struct FloorFeatures {
  private let id: FloorID
  private let floor: Floor
  private let connectors: [Connector]
  private let withRadios: Bool

  /// Creates the features of a floor.
  ///
  /// - Parameters:
  ///   - floor: the floor.
  ///   - connectors: the ways up and down that stop on it.
  ///   - id: the floor's identifier.
  ///   - withRadios: whether to include beacons, observers and access points.
  init(of floor: Floor, connectors: [Connector], on id: FloorID, withRadios: Bool) {
    self.floor = floor
    self.connectors = connectors
    self.id = id
    self.withRadios = withRadios
  }

  /// Writes a feature collection.
  func write(to json: inout JSONText) {
    json.openObject()
    json.member("type", "FeatureCollection")
    json.openArray("features")
    for area in floor.walkable { write(area, kind: "walkable", to: &json) }
    for area in floor.obstacles { write(area, kind: "obstacle", to: &json) }
    writeWalls(to: &json)
    for entrance in floor.entrances {
      write(entrance.point, kind: "entrance", id: entrance.identifier, to: &json)
    }
    for connector in connectors {
      for stop in connector.stops where stop.floor == id {
        write(stop.point, kind: connector.kind.rawValue, id: connector.identifier, to: &json)
      }
    }
    if withRadios { writeRadios(to: &json) }
    json.closeArray()
    json.closeObject()
  }

  private func writeRadios(to json: inout JSONText) {
    for beacon in floor.beacons {
      write(beacon.point, kind: "beacon", id: beacon.beacon.description, to: &json)
    }
    for observer in floor.observers {
      write(observer.point, kind: "observer", id: observer.observer.description, to: &json)
    }
    for point in floor.accessPoints {
      write(point.point, kind: "accessPoint", id: point.bssid.description, to: &json)
    }
  }

  private func write(_ area: Area, kind: String, to json: inout JSONText) {
    guard let outline = ring(area.outline, isOuter: true) else { return }
    let holes = area.holes.compactMap { ring($0, isOuter: false) }
    feature(kind: kind, geometry: "Polygon", to: &json) { json in
      for ring in [outline] + holes {
        json.openArray()
        for corner in ring { json.position(corner) }
        json.closeArray()
      }
    } properties: { json in
      if !area.name.isEmpty { json.member("name", area.name) }
    }
  }

  private func writeWalls(to json: inout JSONText) {
    let groups = Dictionary(grouping: floor.walls.all, by: \.attenuation)
    for (attenuation, walls) in groups.sorted(by: { $0.key < $1.key }) {
      feature(kind: "wall", geometry: "MultiLineString", to: &json) { json in
        for wall in walls {
          guard let start = floor.plane.coordinate(of: wall.segment.start),
            let end = floor.plane.coordinate(of: wall.segment.end)
          else { continue }
          json.openArray()
          json.position(start)
          json.position(end)
          json.closeArray()
        }
      } properties: { json in
        json.member("attenuation", attenuation, decimals: 2)
      }
    }
  }

  private func write(_ point: Point, kind: String, id: String, to json: inout JSONText) {
    guard let coordinate = floor.plane.coordinate(of: point) else { return }
    json.openObject()
    json.member("type", "Feature")
    json.openObject("geometry")
    json.member("type", "Point")
    json.openArray("coordinates")
    json.element(coordinate.longitude, decimals: VenueDocuments.degreeDecimals)
    json.element(coordinate.latitude, decimals: VenueDocuments.degreeDecimals)
    json.closeArray()
    json.closeObject()
    json.openObject("properties")
    json.member("kind", kind)
    json.member("id", id)
    json.closeObject()
    json.closeObject()
  }

  private func feature(
    kind: String,
    geometry: String,
    to json: inout JSONText,
    coordinates: (inout JSONText) -> Void,
    properties: (inout JSONText) -> Void
  ) {
    json.openObject()
    json.member("type", "Feature")
    json.openObject("geometry")
    json.member("type", geometry)
    json.openArray("coordinates")
    coordinates(&json)
    json.closeArray()
    json.closeObject()
    json.openObject("properties")
    json.member("kind", kind)
    properties(&json)
    json.closeObject()
    json.closeObject()
  }

  /// A closed ring, outer ones counterclockwise and holes clockwise as RFC 7946 asks; nil for one that holds nothing.
  private func ring(_ polygon: Polygon, isOuter: Bool) -> [Coordinate]? {
    var corners = polygon.corners
    guard corners.count >= 3, var previous = corners.last else { return nil }
    var twice = 0.0
    for corner in corners {
      twice += previous.cross(corner)
      previous = corner
    }
    if (twice > 0) != isOuter { corners.reverse() }
    let places = corners.compactMap { floor.plane.coordinate(of: $0) }
    guard places.count == corners.count, let first = places.first else { return nil }
    return places + [first]
  }
}
