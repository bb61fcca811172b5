import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosSpace

/// The venues and their floors.
struct VenueResource: Resource {
  let catalog: VenueCatalog

  var routes: [Route] {
    let path = "/v1/venues/{id}"
    return [
      Route(
        .get,
        "/v1/venues",
        Operation(
          "listVenues",
          .venues,
          "The venues, their buildings and floors",
          "With `near`, the venues near a coordinate, the nearest first."
        )
        .with(
          .query(
            "near",
            .text,
            """
            A coordinate as LATITUDE,LONGITUDE in degrees: sorts by distance, and each venue has its \
            `distance`.
            """
          ).such(as: "59.3293,18.0686"),
          .query("within", .number(0...20_100_000), "The largest distance in metres; needs `near`.")
        )
        .answering(.list("venues", of: .venue)),
        access: .anyToken,
        conditional: true,
        handler: venues
      ),
      Route(
        .get,
        path,
        Operation("getVenue", .venues, "A venue")
          .with(.venue)
          .answering(.venue),
        access: .anyToken,
        conditional: true
      ) { request in
        let served = try catalog.venue(request)
        return .json(VenueRow.members, of: VenueRow(venue: served.venue))
      },
      Route(
        .get,
        path + "/floors/{building}/{level}",
        Operation(
          "getFloor",
          .venues,
          "What is drawn of a floor, as GeoJSON",
          """
          Where one can walk, obstacles, walls, entrances, stairs and lifts; for the operator also what \
          hangs there. The property `kind` says what a feature is.
          """
        )
        .with(.venue, .building, .level)
        .answering(.done(APIAnswer.featureType, .floorFeatures)),
        access: .anyToken,
        conditional: true,
        handler: outlines
      ),
      Route(
        .get,
        path + "/floors/{building}/{level}/plan",
        Operation(
          "getFloorPlan",
          .venues,
          "The image of a floor's plan",
          "The corners of the floor's `plan` say how the image lies on the Earth."
        )
        .with(.venue, .building, .level)
        .answering(.bytes("image/png"))
        .failing(.unavailable),
        access: .anyToken,
        conditional: true,
        handler: plan
      ),
    ]
  }

  /// The venues in the order of the site file, or those near a coordinate, the nearest first.
  private func venues(_ request: APIRequest) throws -> APIAnswer {
    var query = request.query
    let near = query.text("near").flatMap { text -> Coordinate? in
      let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
      if numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1],
        let coordinate = Coordinate(latitude: latitude, longitude: longitude)
      {
        return coordinate
      }
      query.wrong("near", "\"\(text.shortened)\" is no coordinate", expected: "LATITUDE,LONGITUDE in degrees")
      return nil
    }
    let within = query.number("within", in: 0...20_100_000)
    if within != nil, near == nil { query.wrong("within", "needs near", expected: "near=LATITUDE,LONGITUDE") }
    try query.finish()
    guard let near else {
      return .json {
        $0.objects("venues", catalog.venues.map { VenueRow(venue: $0.venue) }, VenueRow.members)
      }
    }
    let found = catalog.venues.compactMap { served in
      served.venue.distance(to: near).map { (venue: served.venue, distance: $0) }
    }
    .filter { $0.distance <= within ?? .infinity }
    .sorted { ($0.distance, $0.venue.identifier) < ($1.distance, $1.venue.identifier) }
    let rows = found.map { VenueRow(venue: $0.venue, distance: $0.distance) }
    return .json { $0.objects("venues", rows, VenueRow.members) }
  }

  private func outlines(_ request: APIRequest) throws -> APIAnswer {
    let (served, floor) = try catalog.floor(request)
    let features = FloorFeatures(
      floor: floor.floor,
      connectors: served.venue.connectors.filter { $0.stops.contains { $0.floor == floor.id } },
      id: floor.id,
      // Where radios hang is the operator's own affair.
      withRadios: request.principal.application == nil
    )
    return .features { features.write(to: &$0) }
  }

  private func plan(_ request: APIRequest) async throws -> APIAnswer {
    let (served, floor) = try catalog.floor(request)
    guard let plan = floor.floor.plan else {
      throw Problem.notFound("Floor \(floor.id) has no plan; its outlines are one step up.")
    }
    do {
      let image = try await BackgroundExecutor.requests.run { try served.image(plan.image) }
      return .bytes(image, type: "image/png")
    } catch {
      throw Problem.unavailable(
        """
        The image of floor \(floor.id) cannot be read; `pharos check` says what is wrong with the venue's \
        folder.
        """
      )
    }
  }

}

/// A venue as the interface shows it: its floors, their positions on the Earth, and the paths of their outlines and
/// plans.
enum VenueDocuments {
  /// The rectangle around a floor, in degrees: west, south, east, north.
  static func bounds(of floor: Floor) -> [Double]? {
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

/// A venue in an answer.
private struct VenueRow {
  let venue: Venue
  var distance: Double?

  static let members: [DocumentField<VenueRow>] = [
    .always("id", .text) { $0.venue.identifier },
    .sometimes("name", .text) { $0.venue.name.isEmpty ? nil : $0.venue.name },
    .sometimes("address", .text) { $0.venue.address },
    .always(
      "buildings",
      .list(
        .object([
          .always("id", .text) { $0.building.identifier },
          .sometimes("name", .text) { $0.building.name.isEmpty ? nil : $0.building.name },
          .sometimes("address", .text) { $0.building.address },
          .always("floors", .list(.object(FloorRow.members).stated(as: .floor))) { row in
            row.building.floors.map { FloorRow(floor: $0, building: row.building, venue: row.venue) }
          },
        ])
      )
    ) { row in row.venue.buildings.map { (building: $0, venue: row.venue) } },
    .sometimes(
      "distance",
      .number(decimals: 1, .number(0...)),
      "The distance from the coordinate in `near`, in metres; 0 within a floor's rectangle."
    ) { $0.distance },
  ]
}

/// A floor in an answer.
private struct FloorRow {
  let floor: Floor
  let building: Building
  let venue: Venue

  private func path(to what: String) -> String {
    let parts = [venue.identifier, what, building.identifier, "\(floor.level)"]
    return "/v1/venues/" + parts.map(PercentCoding.encode).joined(separator: "/")
  }

  static let members: [DocumentField<FloorRow>] = [
    .always("id", .text, "Building and number, as `main/0`.") {
      FloorID(building: $0.building.identifier, level: $0.floor.level).description
    },
    .always("level", .integer, "0 is the ground floor.") { $0.floor.level },
    .always("name", .text) { $0.floor.name },
    .sometimes("altitude", .number(decimals: 2), "Metres above mean sea level.") { $0.floor.altitude },
    .always(
      "origin",
      .object([
        .always("latitude", .number(decimals: JSONText.degreeDecimals)) { $0.latitude },
        .always("longitude", .number(decimals: JSONText.degreeDecimals)) { $0.longitude },
      ]),
      "Where x and y are 0."
    ) { $0.floor.plane.origin },
    .sometimes(
      "bounds",
      .list(.degrees).stated(as: .list(.number, 4...)),
      "West, south, east and north of what is drawn, in degrees."
    ) { VenueDocuments.bounds(of: $0.floor) },
    .always("outlines", .text, "Where its GeoJSON is.") { $0.path(to: "floors") },
    .sometimes(
      "tiles",
      .text,
      """
      The path of its map tiles, with {z}, {x} and {y} for zoom, column and row; missing if nothing of it is \
      drawn.
      """
    ) { $0.floor.extent == nil ? nil : $0.path(to: "tiles") + "/{z}/{x}/{y}.png" },
    .sometimes(
      "plan",
      .object([
        .always("image", .text, "Where the image is.") { $0.image },
        .part(FloorPlan.members) { $0.plan },
      ])
    ) { row in row.floor.plan.map { (image: row.path(to: "floors") + "/plan", plan: $0) } },
  ]
}

extension FloorPlan {
  fileprivate static let members: [DocumentField<FloorPlan>] = [
    .always("width", ValueForm<Int>.integer.stated(as: .integer(1...))) { $0.width },
    .always("height", ValueForm<Int>.integer.stated(as: .integer(1...))) { $0.height },
    .always("metersPerPixel", .number(decimals: 6)) { $0.alignment.metersPerPixel },
    .always(
      "corners",
      .list(.list(.degrees))
        .stated(as: .list(.list(.number, 2...).described("Longitude, then latitude, in degrees."), 4...)),
      "Where the image's corners lie: left above, right above, right below, left below."
    ) { plan in
      let (width, height) = (Double(plan.width), Double(plan.height))
      return [(0, 0), (width, 0), (width, height), (0, height)].map { x, y in
        let corner = plan.alignment.coordinate(of: Pixel(x: x, y: y))
        return [corner.longitude, corner.latitude]
      }
    },
  ]
}

extension ValueForm where Value == Double {
  fileprivate static var degrees: Self { .number(decimals: JSONText.degreeDecimals) }
}

extension JSONText {
  /// Writes a coordinate as GeoJSON has it: longitude, then latitude.
  fileprivate mutating func position(_ coordinate: Coordinate) {
    openArray()
    degrees([coordinate.longitude, coordinate.latitude])
    closeArray()
  }
}

/// The features of a floor, as GeoJSON: walkable areas, obstacles, walls, entrances, connectors, and radios.
///
/// Each feature's property `kind` gives its type. Walls of one attenuation make one feature, since a mall has ten
/// thousand of them.
///
/// - Source: RFC 7946.
struct FloorFeatures {
  /// The floor.
  let floor: Floor
  /// The ways up and down that stop on it.
  let connectors: [Connector]
  /// The floor's identifier.
  let id: FloorID
  /// Indicates whether to include beacons, observers and access points.
  let withRadios: Bool

  /// Writes the features of a collection.
  func write(to json: inout JSONText) {
    for area in floor.walkable { write(area, kind: "walkable", to: &json) }
    for area in floor.obstacles { write(area, kind: "obstacle", to: &json) }
    writeWalls(to: &json)
    for place in floor.pointsOfInterest { write(place, to: &json) }
    for entrance in floor.entrances {
      write(entrance.point, kind: "entrance", id: entrance.identifier, to: &json)
    }
    for connector in connectors {
      for stop in connector.stops where stop.floor == id {
        write(stop.point, kind: connector.kind.rawValue, id: connector.identifier, to: &json)
      }
    }
    if withRadios { writeRadios(to: &json) }
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

  private func write(_ place: PointOfInterest, to json: inout JSONText) {
    guard let coordinate = floor.plane.coordinate(of: place.point) else { return }
    feature(kind: "place", geometry: "Point", to: &json) { json in
      json.degrees([coordinate.longitude, coordinate.latitude])
    } properties: { json in
      json.member("id", place.identifier)
      json.member("name", place.name)
      json.member("category", ifPresent: place.category.isEmpty ? nil : place.category)
      DocumentField.write(Caption.members, of: place.caption, to: &json)
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
    feature(kind: kind, geometry: "Point", to: &json) { json in
      json.degrees([coordinate.longitude, coordinate.latitude])
    } properties: { json in
      json.member("id", id)
    }
  }

  private func feature(
    kind: String,
    geometry: String,
    to json: inout JSONText,
    coordinates: (inout JSONText) -> Void,
    properties: (inout JSONText) -> Void
  ) {
    json.feature(geometry, coordinates: coordinates) { json in
      json.member("kind", kind)
      properties(&json)
    }
  }

  /// A closed ring, outer ones counterclockwise and holes clockwise as RFC 7946 asks; nil for one that holds nothing.
  private func ring(_ polygon: Polygon, isOuter: Bool) -> [Coordinate]? {
    var corners = polygon.corners
    guard corners.count >= 3 else { return nil }
    if (polygon.signedArea > 0) != isOuter { corners.reverse() }
    let places = corners.compactMap { floor.plane.coordinate(of: $0) }
    guard places.count == corners.count, let first = places.first else { return nil }
    return places + [first]
  }
}

extension Operation.Parameter {
  fileprivate static let building = path("building", "The building.")
  fileprivate static let level = path("level", "The floor's number; 0 is the ground floor.", .integer)
}

extension Schema {
  static let venue = Schema.object(VenueRow.members).named("Venue")

  static let floor = Schema.object(FloorRow.members).named("Floor")

  static let floorFeatures = Schema.object([
    .required("type", .constant("FeatureCollection")),
    .required(
      "features",
      .list(
        .object([
          .required("type", .constant("Feature")),
          .required(
            "geometry",
            .object([
              .required("type", .words(["Polygon", "MultiLineString", "Point"])),
              .required("coordinates", .list(.any)),
            ])
          ),
          .required(
            "properties",
            .object(
              [
                .required(
                  "kind",
                  .words([
                    "walkable", "obstacle", "wall", "entrance", "stairs", "lift", "escalator", "ramp",
                    "beacon",
                    "observer", "accessPoint", "place",
                  ])
                ),
                .optional("name", .text),
                .optional("id", .text),
                .optional("category", .text),
                .optional("attenuation", .number, "What a wall takes from a signal; dB."),
              ] + .written(Caption.members)
            )
          ),
        ])
      )
    ),
  ]).described("A feature collection (RFC 7946).").named("FloorFeatures")
}
