import PharosPlaces
import PharosReports

/// What is wrong with a shape, and in which field.
struct GeometryProblem: Error {
  let field: String
  let message: String
  let expected: String

  init(_ field: String, _ message: String, expected: String) {
    self.field = field
    self.message = message
    self.expected = expected
  }
}

extension GeoJSON.Geometry {
  /// Reads a shape of one of the six kinds that have coordinates.
  init(_ value: JSONValue) throws(GeometryProblem) {
    let field = "geometry.coordinates"
    guard let coordinates = value["coordinates"] else {
      throw GeometryProblem(field, "no coordinates", expected: "a list")
    }
    switch value["type"]?.string {
    case "Point": self = .points([try Self.coordinate(coordinates, field)])
    case "MultiPoint": self = .points(try Self.list(coordinates, field, Self.coordinate))
    case "LineString": self = .lines([try Self.line(coordinates, field)])
    case "MultiLineString": self = .lines(try Self.list(coordinates, field, Self.line))
    case "Polygon": self = .polygons([try Self.polygon(coordinates, field)])
    case "MultiPolygon": self = .polygons(try Self.list(coordinates, field, Self.polygon))
    case let type:
      let found = type.map { "type \"\(PlainText.cut($0, to: 40))\"" } ?? "no type"
      throw GeometryProblem("geometry.type", found, expected: "Point, LineString, Polygon or a Multi of them")
    }
  }

  private static func list<Element>(
    _ value: JSONValue,
    _ field: String,
    _ read: (JSONValue, String) throws(GeometryProblem) -> Element
  ) throws(GeometryProblem) -> [Element] {
    guard case .array(let elements) = value else {
      throw GeometryProblem(field, value.kind, expected: "a list")
    }
    var result: [Element] = []
    result.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() { result.append(try read(element, "\(field)[\(index)]")) }
    return result
  }

  private static func coordinate(_ value: JSONValue, _ field: String) throws(GeometryProblem) -> Coordinate {
    let expected = "[longitude, latitude] in degrees, maybe with a height"
    guard case .array(let numbers) = value, numbers.count == 2 || numbers.count == 3 else {
      throw GeometryProblem(field, "no position", expected: expected)
    }
    guard let longitude = numbers[0].double, let latitude = numbers[1].double else {
      throw GeometryProblem(field, "no numbers", expected: expected)
    }
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      throw GeometryProblem(field, "[\(longitude), \(latitude)] is nowhere on the Earth", expected: expected)
    }
    return coordinate
  }

  private static func line(_ value: JSONValue, _ field: String) throws(GeometryProblem) -> [Coordinate] {
    let line = try list(value, field, coordinate)
    guard line.count >= 2 else {
      throw GeometryProblem(field, "a line of \(line.count)", expected: "two positions or more")
    }
    return line
  }

  private static func polygon(_ value: JSONValue, _ field: String) throws(GeometryProblem) -> [[Coordinate]] {
    let rings = try list(value, field, ring)
    guard !rings.isEmpty else { throw GeometryProblem(field, "no ring", expected: "an outline") }
    return rings
  }

  private static func ring(_ value: JSONValue, _ field: String) throws(GeometryProblem) -> [Coordinate] {
    var ring = try list(value, field, coordinate)
    guard ring.count >= 4, ring.first == ring.last else {
      let found = ring.count < 4 ? "a ring of \(ring.count)" : "a ring that does not close"
      throw GeometryProblem(
        field,
        found,
        expected: "four positions or more, the last one the same as the first"
      )
    }
    ring.removeLast()
    return ring
  }
}
