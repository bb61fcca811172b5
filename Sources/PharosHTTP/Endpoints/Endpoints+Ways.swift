import HTTPTypes
import PharosDelivery
import PharosModel
import PharosVenues

extension Endpoints {
  /// Routes, matrices and places of venues.
  var wayRoutes: [Route] {
    let path = "/v1/venues/{id}"
    let options = ["accessible", "avoid", "departure"]
    return [
      Route(
        .get,
        path + "/places",
        access: .anyToken,
        query: ["category"],
        conditional: true,
        handler: places
      ),
      Route(
        .get,
        path + "/routes",
        access: .anyToken,
        query: ["from", "to", "alternatives", "language", "geometries"] + options,
        handler: ways
      ),
      Route(
        .get,
        path + "/nearest",
        access: .anyToken,
        query: ["category", "from", "limit"] + options,
        handler: nearest
      ),
      Route(.get, path + "/matrix", access: .anyToken, query: ["from", "to"] + options, handler: matrix),
    ]
  }

  private func places(_ request: APIRequest) throws -> APIAnswer {
    var query = request.query
    let categories = query.texts("category")
    try query.finish()
    let venue = try venue(request).venue
    let places = venue.floors.flatMap { id, floor in
      floor.pointsOfInterest.map { (id: id, floor: floor, place: $0) }
    }
    .filter { entry in categories?.contains(entry.place.category) ?? true }
    return .json { json in
      json.objects("places", places) { json, entry in
        WayDocuments.write(entry.place, on: entry.id, at: entry.floor.plane, to: &json)
      }
    }
  }

  private func ways(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let (from, to) = (query.required("from"), query.required("to"))
    var options = query.routeOptions()
    options.alternatives = Int(
      query.integer("alternatives", in: 0...Int64(RouteOptions.mostAlternatives)) ?? 0
    )
    let language = query.word("language", RouteLanguage.self) ?? .english
    let geometries = query.word("geometries", WayDocuments.Geometry.self) ?? .geojson
    try query.finish()
    let router = try await router(request)
    let start = try await waypoint(from, "from", request)
    let goal = try await waypoint(to, "to", request)
    let routes = try await Endpoints.answer { [options] in
      try router.routes(from: start, to: goal, options: options)
    }
    return .json { json in
      json.member("code", "Ok")
      json.objects("routes", routes) {
        WayDocuments.write($1, language: language, geometries: geometries, to: &$0)
      }
    }
  }

  private func nearest(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let (category, from) = (query.required("category"), query.required("from"))
    let options = query.routeOptions()
    let limit = query.limit(default: 1)
    try query.finish()
    let (router, venue) = (try await router(request), try venue(request).venue)
    let start = try await waypoint(from, "from", request)
    let found = try await Endpoints.answer {
      try router.nearest(category: category, from: start, options: options, limit: limit)
    }
    return .json { json in
      json.member("code", "Ok")
      json.objects("places", found) { json, near in
        if let plane = venue.floor(near.floor)?.plane {
          WayDocuments.write(near.place, on: near.floor, at: plane, to: &json)
        }
        json.member("distance", near.distance, decimals: 2)
        json.member("duration", near.duration, decimals: 1)
      }
    }
  }

  private func matrix(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let ends = ["from", "to"].map { query.ends($0) }
    let options = query.routeOptions()
    try query.finish()
    let router = try await router(request)
    var starts: [Waypoint] = []
    for text in ends[0] { starts.append(try await waypoint(text, "from", request)) }
    var goals: [Waypoint] = []
    for text in ends[1] { goals.append(try await waypoint(text, "to", request)) }
    let rows = try await Endpoints.answer { [starts, goals] in
      try router.matrix(from: starts, to: goals, options: options)
    }
    return .json { json in
      json.member("code", "Ok")
      json.matrix("durations", rows.map { $0.map { $0?.duration } }, decimals: 1)
      json.matrix("distances", rows.map { $0.map { $0?.distance } }, decimals: 2)
    }
  }

  // MARK: Ends

  private func router(_ request: APIRequest) async throws -> Router {
    let served = try venue(request)
    return try await Blocking.run { served.router.router }
  }

  /// Reads an end of a route: `latitude,longitude,level`, `subject:` and a subject, or a place.
  private func waypoint(_ text: String, _ name: String, _ request: APIRequest) async throws -> Waypoint {
    let prefix = "subject:"
    if text.hasPrefix(prefix) {
      let name = String(text.dropFirst(prefix.count))
      let isShown = cache.visibility(ofFixesTo: request.principal)
      guard let subject = SubjectID(name), let event = try await cache.read({ $0.fix(of: subject) }),
        isShown(event), case .fix(let detail) = event.detail
      else {
        throw Problem.notFound(
          "There is no fix of \"\(name.shortened)\"; /v1/fixes lists those that there are."
        )
      }
      guard detail.isIndoors, detail.venue == request.parameter("id"), let latitude = detail.latitude,
        let longitude = detail.longitude,
        let coordinate = Coordinate(latitude: latitude, longitude: longitude)
      else {
        throw Problem.notFound(
          "\"\(name.shortened)\" is not inside of the venue; /v1/fixes/{subject} says where it is."
        )
      }
      return .coordinate(coordinate, level: detail.level)
    }
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ Double($0) != nil }) else { return .place(text) }
    let numbers = parts.map(String.init)
    guard let latitude = Double(numbers[0]), let longitude = Double(numbers[1]), let level = Int(numbers[2]),
      let coordinate = Coordinate(latitude: latitude, longitude: longitude)
    else {
      let expected = "latitude,longitude,level, as in 52.5200,13.2900,0"
      throw Problem.badQuery([Problem.Field(name, "\"\(text.shortened)\" is no position", expected: expected)]
      )
    }
    return .coordinate(coordinate, level: level)
  }

  /// Runs a search off the shared threads; an error of it is an answer.
  private static func answer<Answer: Sendable>(
    _ search: @escaping @Sendable () throws -> Answer
  ) async throws -> Answer {
    do {
      return try await Blocking.run(search)
    } catch let error as RoutingError {
      let text = "\(error)"
      throw Problem.notFound(text.prefix(1).uppercased() + text.dropFirst() + ".")
    }
  }
}

extension QueryReading {
  /// A text that must be there; empty if it is not.
  fileprivate mutating func required(_ name: String) -> String {
    guard let text = text(name) else {
      wrong(name, "is missing", expected: "a position, a place or a subject")
      return ""
    }
    return text
  }

  /// The texts of a parameter that may be repeated, in their order.
  fileprivate mutating func ends(_ name: String) -> [String] {
    let texts = orderedTexts(name)
    if !(1...WayDocuments.mostEnds).contains(texts.count) {
      wrong(name, "is given \(texts.count) times", expected: "1 to \(WayDocuments.mostEnds) ends")
    }
    return texts
  }

  fileprivate mutating func word<Word: RawRepresentable<String> & CaseIterable>(
    _ name: String,
    _ type: Word.Type
  ) -> Word? {
    guard let text = text(name) else { return nil }
    if let word = Word(rawValue: text) { return word }
    let expected = Word.allCases.map(\.rawValue).joined(separator: ", ")
    wrong(name, "\"\(text.shortened)\" is not known", expected: "one of \(expected)")
    return nil
  }

  fileprivate mutating func routeOptions() -> RouteOptions {
    let kinds = Connector.Kind.allCases.map(\.rawValue).joined(separator: ", ")
    return RouteOptions(
      isAccessible: bool("accessible") ?? false,
      avoided: list("avoid", expected: "one or more of \(kinds)") { Connector.Kind(rawValue: $0) } ?? [],
      departure: time("departure")
    )
  }
}

/// Routes and places as the interface shows them: routes in the shape of OSRM's answers.
///
/// - Source: OSRM HTTP API 5.x, route and table services.
enum WayDocuments {
  /// The form of geometries.
  enum Geometry: String, CaseIterable {
    /// A LineString of GeoJSON.
    case geojson
    /// An encoded polyline with five decimals.
    case polyline
    /// An encoded polyline with six decimals.
    case polyline6
  }

  /// The maximum number of starts, and of goals, of a matrix.
  static let mostEnds = 50

  /// Writes a place as members of an object.
  static func write(
    _ place: PointOfInterest,
    on floor: FloorID,
    at plane: FloorPlane,
    to json: inout JSONText
  ) {
    json.member("id", place.identifier)
    json.member("name", place.name)
    json.member("category", ifPresent: place.category.isEmpty ? nil : place.category)
    json.member("floor", floor.description)
    json.member("level", floor.level)
    if let coordinate = plane.coordinate(of: place.point) {
      json.openArray("location")
      write(coordinate, to: &json)
      json.closeArray()
    }
    json.member("accessible", place.isAccessible)
  }

  private static func write(_ coordinate: Coordinate, to json: inout JSONText) {
    json.element(coordinate.longitude, decimals: VenueDocuments.degreeDecimals)
    json.element(coordinate.latitude, decimals: VenueDocuments.degreeDecimals)
  }

  /// Writes a route as members of an object.
  static func write(
    _ route: WalkingRoute,
    language: RouteLanguage,
    geometries: Geometry,
    to json: inout JSONText
  ) {
    json.member("distance", route.distance, decimals: 2)
    json.member("duration", route.duration, decimals: 1)
    json.member("weight", route.duration, decimals: 1)
    json.member("weight_name", "duration")
    write(route.steps.flatMap(\.geometry), geometries, to: &json)
    json.objects("legs", [route]) { json, route in
      json.member("distance", route.distance, decimals: 2)
      json.member("duration", route.duration, decimals: 1)
      json.member("weight", route.duration, decimals: 1)
      json.member("summary", "")
      json.objects("steps", route.steps) { write($1, language, geometries, to: &$0) }
    }
  }

  private static func write(
    _ step: RouteStep,
    _ language: RouteLanguage,
    _ geometries: Geometry,
    to json: inout JSONText
  ) {
    let maneuver = step.maneuver
    json.member("distance", step.distance, decimals: 2)
    json.member("duration", step.duration, decimals: 1)
    json.member("weight", step.duration, decimals: 1)
    json.member("mode", "walking")
    json.member("name", maneuver.name)
    json.member("floor", step.floor.description)
    json.member("level", maneuver.level)
    json.member("instruction", step.instruction(in: language))
    write(step.geometry, geometries, to: &json)
    json.openObject("maneuver")
    json.member("type", maneuver.kind.rawValue)
    json.member("modifier", ifPresent: maneuver.modifier?.rawValue)
    json.member("bearing_before", maneuver.bearingBefore)
    json.member("bearing_after", maneuver.bearingAfter)
    json.openArray("location")
    write(maneuver.coordinate, to: &json)
    json.closeArray()
    if let level = maneuver.targetLevel { json.member("level", level) }
    json.closeObject()
  }

  private static func write(_ line: [Coordinate], _ form: Geometry, to json: inout JSONText) {
    switch form {
    case .geojson:
      // A line needs two positions.
      let line = line.count == 1 ? line + line : line
      json.openObject("geometry")
      json.member("type", "LineString")
      json.openArray("coordinates")
      for coordinate in line {
        json.openArray()
        write(coordinate, to: &json)
        json.closeArray()
      }
      json.closeArray()
      json.closeObject()
    case .polyline: json.member("geometry", polyline(line, factor: 1e5))
    case .polyline6: json.member("geometry", polyline(line, factor: 1e6))
    }
  }

  /// Encodes a line.
  ///
  /// - Source: Google, "Encoded polyline algorithm format".
  static func polyline(_ line: [Coordinate], factor: Double) -> String {
    var text: [UInt8] = []
    var before = (latitude: 0, longitude: 0)
    func append(_ difference: Int) {
      var bits = difference < 0 ? ~(difference << 1) : difference << 1
      while bits >= 0x20 {
        text.append(UInt8(bits & 0x1F | 0x20) + 63)
        bits >>= 5
      }
      text.append(UInt8(bits) + 63)
    }
    for coordinate in line {
      let here = (
        latitude: Int((coordinate.latitude * factor).rounded()),
        longitude: Int((coordinate.longitude * factor).rounded())
      )
      append(here.latitude - before.latitude)
      append(here.longitude - before.longitude)
      before = here
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension JSONText {
  /// Writes rows of numbers; null where there is none.
  fileprivate mutating func matrix(_ key: StaticString, _ rows: [[Double?]], decimals: Int) {
    openArray(key)
    for row in rows {
      openArray()
      for number in row {
        // A number that is not finite is written as null.
        element(number ?? .nan, decimals: decimals)
      }
      closeArray()
    }
    closeArray()
  }
}
