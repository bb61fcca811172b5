import PharosPlaces
import PharosReports

/// A venue as the interface shows it: its floors, where on the Earth they lie, and where their outlines and plans are.
enum VenueDocuments {
  /// The number of decimals of degrees: a hundred-millionth of a degree is a millimetre.
  static let degreeDecimals = 8

  /// Writes a venue as an object.
  static func write(_ venue: Venue, to json: inout JSONText) {
    json.openObject()
    json.member("id", venue.identifier)
    if !venue.name.isEmpty { json.member("name", venue.name) }
    json.openArray("buildings")
    for building in venue.buildings {
      json.openObject()
      json.member("id", building.identifier)
      if !building.name.isEmpty { json.member("name", building.name) }
      json.openArray("floors")
      for floor in building.floors { write(floor, of: building, in: venue, to: &json) }
      json.closeArray()
      json.closeObject()
    }
    json.closeArray()
    json.closeObject()
  }

  private static func write(_ floor: Floor, of building: Building, in venue: Venue, to json: inout JSONText) {
    let parts = [venue.identifier, "floors", building.identifier, "\(floor.level)"]
    let path = "/v1/venues/" + parts.map(PercentCoding.encode).joined(separator: "/")
    json.openObject()
    json.member("id", FloorID(building: building.identifier, level: floor.level).description)
    json.member("level", floor.level)
    json.member("name", floor.name)
    json.openObject("origin")
    json.member("latitude", floor.plane.origin.latitude, decimals: degreeDecimals)
    json.member("longitude", floor.plane.origin.longitude, decimals: degreeDecimals)
    json.closeObject()
    if let bounds = bounds(of: floor) {
      json.openArray("bounds")
      for degrees in bounds { json.element(degrees, decimals: degreeDecimals) }
      json.closeArray()
    }
    json.member("outlines", path)
    if let plan = floor.plan {
      json.openObject("plan")
      json.member("image", path + "/plan")
      write(plan, to: &json)
      json.closeObject()
    }
    json.closeObject()
  }

  private static func write(_ plan: FloorPlan, to json: inout JSONText) {
    let (width, height) = (Double(plan.width), Double(plan.height))
    json.member("width", plan.width)
    json.member("height", plan.height)
    json.member("metersPerPixel", plan.alignment.metersPerPixel, decimals: 6)
    json.openArray("corners")
    for (x, y) in [(0, 0), (width, 0), (width, height), (0, height)] {
      json.position(plan.alignment.coordinate(of: Pixel(x: x, y: y)))
    }
    json.closeArray()
  }

  /// The rectangle around a floor, in degrees: west, south, east, north.
  private static func bounds(of floor: Floor) -> [Double]? {
    guard let extent = floor.extent else { return nil }
    let corners = [
      extent.southWest, Point(x: extent.northEast.x, y: extent.southWest.y),
      extent.northEast, Point(x: extent.southWest.x, y: extent.northEast.y),
    ]
    let coordinates = corners.compactMap { floor.plane.coordinate(of: $0) }
    guard let first = coordinates.first, coordinates.count == corners.count else { return nil }
    return coordinates.reduce([first.longitude, first.latitude, first.longitude, first.latitude]) {
      bounds,
      place in
      [
        min(bounds[0], place.longitude), min(bounds[1], place.latitude),
        max(bounds[2], place.longitude), max(bounds[3], place.latitude),
      ]
    }
  }
}

extension JSONText {
  /// Writes a coordinate as GeoJSON has it: longitude, then latitude.
  mutating func position(_ coordinate: Coordinate) {
    openArray()
    element(coordinate.longitude, decimals: VenueDocuments.degreeDecimals)
    element(coordinate.latitude, decimals: VenueDocuments.degreeDecimals)
    closeArray()
  }
}
