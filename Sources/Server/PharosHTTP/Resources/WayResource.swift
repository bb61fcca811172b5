import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosSpace
import PharosWays
import Synchronization

struct WayResource: Resource {
  let catalog: VenueCatalog
  let commitPublisher: CommitPublisher
  let cache: LiveStateCache

  /// Routes, matrices and places of venues.
  var routes: [Route] {
    let path = "/v1/venues/{id}"
    let options = ["accessible", "avoid", "departure"]
    return [
      Route(
        .get,
        path + "/places",
        access: .anyToken,
        query: ["category", "from", "heading"],
        handler: places
      ),
      Route(
        .get,
        path + "/routes",
        access: .anyToken,
        query: ["from", "to", "alternatives", "language", "geometries"] + options,
        long: true,
        handler: ways
      ),
      Route(
        .get,
        path + "/nearest",
        access: .anyToken,
        query: ["category", "from", "limit"] + options,
        long: true,
        handler: nearest
      ),
      Route(
        .get,
        path + "/matrix",
        access: .anyToken,
        query: ["from", "to"] + options,
        long: true,
        handler: matrix
      ),
      Route(
        .get,
        path + "/route/v1/{profile}/{coordinates}",
        access: .anyToken,
        query: OSRMRequest.options + ["alternatives", "steps", "geometries", "overview", "language"],
        long: true,
        handler: osrmRoute
      ),
      Route(
        .get,
        path + "/table/v1/{profile}/{coordinates}",
        access: .anyToken,
        query: OSRMRequest.options + ["sources", "destinations"],
        long: true,
        handler: osrmTable
      ),
    ]
  }

  /// Lists places; from a position or a subject with their distances, nearest first, and with a heading with their sides.
  private func places(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let categories = query.texts("category")
    let from = query.text("from")
    let heading = query.number("heading", in: -360...360)
    if heading != nil, from == nil { query.wrong("heading", "is set without from", expected: "both") }
    try query.finish()
    let venue = try catalog.venue(request).venue
    let position = from == nil ? nil : try await self.position(from ?? "", "from", request)
    let bearing = heading ?? position?.course
    var places = venue.floors.flatMap { id, floor in
      floor.pointsOfInterest.map { place in
        let coordinate = floor.plane.coordinate(of: place.point)
        let direction = position.flatMap { position in
          coordinate.map { RelativeDirection(from: position.coordinate, heading: bearing ?? 0, to: $0) }
        }
        return (id: id, floor: floor, place: place, direction: direction)
      }
    }
    .filter { entry in categories?.contains(entry.place.category) ?? true }
    if position != nil {
      places.sort { ($0.direction?.distance ?? .infinity) < ($1.direction?.distance ?? .infinity) }
    }
    return .json { json in
      json.objects("places", places) { json, entry in
        WayDocuments.write(entry.place, on: entry.id, at: entry.floor.plane, to: &json)
        guard let direction = entry.direction else { return }
        json.member("distance", direction.distance, decimals: 1)
        guard bearing != nil else { return }
        json.member("direction", direction.degrees, decimals: 0)
        json.member("side", direction.side.rawValue)
      }
    }
  }

  private func ways(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let (from, to) = (query.required("from"), query.required("to"))
    var options = query.routeOptions()
    options.alternatives = Int(
      query.integer("alternatives", in: 0...Int64(RouteOptions.maximumAlternatives)) ?? 0
    )
    let language = query.word("language", RouteLanguage.self) ?? .english
    let geometries = query.word("geometries", RouteGeometry.self) ?? .geojson
    try query.finishRoute()
    let router = try await router(request)
    let start = try await waypoint(from, "from", request)
    let goal = try await waypoint(to, "to", request)
    let routes = try await RouteSearch.answer { [options] budget in
      try router.routes(from: start, to: goal, options: options, budget: budget)
    }
    return .json { json in
      json.member("code", "Ok")
      json.objects("routes", routes) {
        $1.write(to: &$0, languages: [language], geometry: geometries)
      }
      WayDocuments.write("waypoints", [start, goal], routes.prefix(1), to: &json)
    }
  }

  // MARK: Clients of OSRM

  private func osrmRoute(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    var options = RouteOptions()
    let alternatives = query.text("alternatives") ?? "false"
    if let count = Int(alternatives) ?? ["true": 1, "false": 0][alternatives], count >= 0 {
      options.alternatives = min(count, RouteOptions.maximumAlternatives)
    } else {
      query.wrong("alternatives", "\"\(alternatives.shortened)\"", expected: "true, false or a number")
    }
    let language = query.word("language", RouteLanguage.self) ?? .english
    let geometries = query.word("geometries", RouteGeometry.self) ?? .polyline
    let hasSteps = query.bool("steps") ?? false
    let overview = query.text("overview") ?? "simplified"
    if !["simplified", "full", "false"].contains(overview) {
      query.wrong("overview", "\"\(overview.shortened)\"", expected: "simplified, full or false")
    }
    try query.finishRoute()
    let waypoints = try OSRMRequest(request, catalog.venue(request).venue).waypoints
    if waypoints.count > 2 { options.alternatives = 0 }
    let router = try await router(request)
    let found = try await RouteSearch.answer { [options] budget in
      try zip(waypoints, waypoints.dropFirst()).map {
        try router.routes(from: $0, to: $1, options: options, budget: budget)
      }
    }
    let routes = found.count == 1 ? found[0].map { [$0] } : [found.compactMap(\.first)]
    return .json { json in
      json.member("code", "Ok")
      json.objects("routes", routes) { json, legs in
        WalkingRoute.write(
          legs,
          to: &json,
          languages: [language],
          geometry: geometries,
          hasOverview: overview != "false",
          hasSteps: hasSteps
        )
      }
      WayDocuments.write("waypoints", waypoints, routes[0][...], to: &json)
    }
  }

  private func osrmTable(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let chosen = ["sources", "destinations"].map { query.text($0) ?? "all" }
    let annotations = query.text("annotations") ?? "duration"
    try query.finishRoute()
    let asked = try OSRMRequest(request, catalog.venue(request).venue)
    let ends = try chosen.map { try asked.waypoints(chosenBy: $0) }
    let router = try await router(request)
    let (rows, snapped) = try await RouteSearch.answer { budget in
      let rows = try router.matrix(from: ends[0], to: ends[1], options: RouteOptions(), budget: budget)
      return (rows, try ends.map { try $0.map { try router.graph.snapped($0) } })
    }
    return .json { json in
      json.member("code", "Ok")
      if annotations.contains("duration") || !annotations.contains("distance") {
        json.matrix("durations", rows.map { $0.map { $0?.duration } }, decimals: 1)
      }
      if annotations.contains("distance") {
        json.matrix("distances", rows.map { $0.map { $0?.distance } }, decimals: 2)
      }
      for (key, waypoints) in zip(["sources", "destinations"] as [StaticString], snapped) {
        json.objects(key, waypoints) { json, end in
          WalkingRoute.writeWaypoint("", at: end.coordinate, level: end.level, meters: end.meters, to: &json)
        }
      }
    }
  }

  private func nearest(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let (category, from) = (query.required("category"), query.required("from"))
    let options = query.routeOptions()
    let limit = query.limit(default: 1)
    try query.finish()
    let (router, venue) = (try await router(request), try catalog.venue(request).venue)
    let start = try await waypoint(from, "from", request)
    let found = try await RouteSearch.answer { budget in
      try router.nearest(category: category, from: start, options: options, limit: limit, budget: budget)
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
    let rows = try await RouteSearch.answer { [starts, goals] budget in
      try router.matrix(from: starts, to: goals, options: options, budget: budget)
    }
    return .json { json in
      json.member("code", "Ok")
      json.matrix("durations", rows.map { $0.map { $0?.duration } }, decimals: 1)
      json.matrix("distances", rows.map { $0.map { $0?.distance } }, decimals: 2)
    }
  }

  // MARK: Ends

  private func router(_ request: APIRequest) async throws -> Router {
    let served = try catalog.venue(request)
    return try await Blocking.searches.run { _ in served.router.router }
  }

  /// Reads an end of a route: `latitude,longitude,level`, `subject:` and a subject, or a place.
  private func waypoint(_ text: String, _ name: String, _ request: APIRequest) async throws -> Waypoint {
    let isPosition = text.hasPrefix(WayResource.subjectPrefix) || Waypoint.isPosition(text)
    guard isPosition else { return .place(text) }
    let position = try await position(text, name, request)
    return .coordinate(position.coordinate, level: position.level)
  }

  private static let subjectPrefix = "subject:"

  /// Reads a position: `latitude,longitude,level`, or `subject:` and a subject, whose course comes with it.
  private func position(
    _ text: String,
    _ name: String,
    _ request: APIRequest
  ) async throws -> (coordinate: Coordinate, level: Int, course: Double?) {
    guard text.hasPrefix(WayResource.subjectPrefix) else {
      guard case .coordinate(let coordinate, let level)? = Waypoint(position: text) else {
        let expected = "latitude,longitude,level, as in 52.5200,13.2900,0, or subject: and a subject"
        let field = Problem.Field(name, "\"\(text.shortened)\" is no position", expected: expected)
        throw Problem.badQuery([field])
      }
      return (coordinate, level, nil)
    }
    let name = String(text.dropFirst(WayResource.subjectPrefix.count))
    guard let subject = SubjectID(name),
      let event = try await cache.fix(
        of: subject,
        through: commitPublisher.presentGate(for: request.principal)
      ),
      case .fix(let detail) = event.detail
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
    return (coordinate, detail.level, detail.course.map { $0 * 180 / .pi })
  }

}

/// The searches of routes on threads of their own.
enum RouteSearch {
  /// Runs a search on the threads of searches, within the budget of a request; an error of it is an answer.
  ///
  /// The search ends when the task is cancelled, because the client has left or the server stops.
  static func answer<Answer: Sendable>(
    _ search: @escaping @Sendable (SearchBudget) throws -> Answer
  ) async throws -> Answer {
    let ending = Flag()
    let budget = SearchBudget(limit: WayDocuments.maximumEnds * WayDocuments.maximumEnds) { ending.isSet }
    do {
      return try await withTaskCancellationHandler {
        try await Blocking.searches.run { _ in try search(budget) }
      } onCancel: {
        ending.set()
      }
    } catch RoutingError.ended {
      throw CancellationError()
    } catch let error as RoutingError {
      throw Problem(error)
    }
  }

  /// A flag that one task sets and a search on another thread reads.
  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
  }
}

extension Problem {
  /// The problem of a search: an unknown name is not found, and all else cannot be answered, as OSRM has it.
  fileprivate init(_ error: RoutingError) {
    let text = "\(error)"
    let detail = text.prefix(1).uppercased() + text.dropFirst() + "."
    switch error {
    case .unknownPlace, .unknownCategory: self = .notFound(detail)
    case .unknownLevel, .outside, .unreachablePlace, .closed, .inaccessiblePlace, .noWay:
      self = Problem("noRoute", "There is no route", status: 400, detail: detail)
    case .tooManySearches, .ended:
      self = Problem("tooManySearches", "The request asks for too much", status: 422, detail: detail)
    }
    code = error.code
  }

  /// The problem of a request that a client of OSRM made.
  fileprivate static func osrm(_ code: String, _ detail: String) -> Problem {
    var problem = badRequest(detail)
    problem.code = code
    return problem
  }
}

/// The ends of a request in the form of OSRM: `longitude,latitude;longitude,latitude` on the levels of the profile.
///
/// The profile is any word, for all ways are walked; `@` and a level after it, or one for each coordinate with commas
/// between, say on which levels the coordinates lie: `foot@1`, `foot@0,2`. Without one, all lie on level 0, or on the
/// lowest of a venue without level 0.
///
/// - Source: OSRM HTTP API 5.x, general options.
private struct OSRMRequest {
  /// The options of all services that are accepted; those that are not read change nothing on foot.
  static let options = [
    "annotations", "approaches", "bearings", "continue_straight", "exclude", "generate_hints", "hints",
    "radiuses",
    "skip_waypoints", "snapping", "waypoints",
  ]

  let waypoints: [Waypoint]

  init(_ request: APIRequest, _ venue: Venue) throws(Problem) {
    let texts = request.parameter("coordinates").split(separator: ";", omittingEmptySubsequences: false)
    let coordinates = texts.compactMap { text -> Coordinate? in
      let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
      guard numbers.count == 2, let longitude = numbers[0], let latitude = numbers[1] else { return nil }
      return Coordinate(latitude: latitude, longitude: longitude)
    }
    guard coordinates.count == texts.count, (2...WayDocuments.maximumEnds).contains(coordinates.count) else {
      throw .osrm(
        "InvalidQuery",
        "The coordinates must be 2 to \(WayDocuments.maximumEnds) of longitude,latitude with semicolons between."
      )
    }
    let known = Set(venue.floors.map(\.id.level))
    let parts = request.parameter("profile").split(
      separator: "@",
      maxSplits: 1,
      omittingEmptySubsequences: false
    )
    var levels = [known.contains(0) ? 0 : known.min() ?? 0]
    if parts.count == 2 {
      let given = parts[1].split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
      guard given.count == 1 || given.count == coordinates.count, given.allSatisfy({ $0 != nil }) else {
        throw .osrm("InvalidQuery", "After @, the profile must have one level, or one for each coordinate.")
      }
      levels = given.compactMap { $0 }
    }
    waypoints = coordinates.enumerated().map {
      .coordinate($1, level: levels.count == 1 ? levels[0] : levels[$0])
    }
  }

  /// The ends whose numbers a list has; all of them for `all`.
  func waypoints(chosenBy list: String) throws(Problem) -> [Waypoint] {
    guard list != "all" else { return waypoints }
    let numbers = list.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.allSatisfy({ $0.map(waypoints.indices.contains) ?? false }) else {
      throw .osrm("InvalidOptions", "sources and destinations must be all, or numbers of coordinates from 0.")
    }
    return numbers.compactMap { $0 }.map { waypoints[$0] }
  }
}

extension WalkableGraph {
  /// The walkable position that stands for an end of a way.
  fileprivate func snapped(
    _ waypoint: Waypoint
  ) throws(RoutingError) -> (coordinate: Coordinate, level: Int, meters: Double) {
    switch waypoint {
    case .coordinate(let coordinate, let level):
      let found = try projection(of: coordinate, level: level)
      return (found.coordinate, level, found.meters)
    case .place(let name): throw .unknownPlace(name, nearest: nil)
    }
  }
}

extension QueryReading {
  /// Ends the reading of the options of a route.
  fileprivate func finishRoute() throws(Problem) {
    do throws(Problem) { try finish() } catch {
      var problem = error
      problem.code = "InvalidOptions"
      throw problem
    }
  }

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
    if !(1...WayDocuments.maximumEnds).contains(texts.count) {
      wrong(name, "is given \(texts.count) times", expected: "1 to \(WayDocuments.maximumEnds) ends")
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

/// Places as the interface shows them, and the bounds of a matrix in the shape of OSRM's answers.
///
/// - Source: OSRM HTTP API 5.x, table service.
enum WayDocuments {
  /// The maximum number of starts, and of goals, of a matrix.
  static let maximumEnds = 50

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
      json.element(coordinate.longitude, decimals: VenueDocuments.degreeDecimals)
      json.element(coordinate.latitude, decimals: VenueDocuments.degreeDecimals)
      json.closeArray()
    }
    json.member("accessible", place.isAccessible)
  }

  /// Writes the ends of a route's legs.
  static func write(
    _ key: StaticString,
    _ waypoints: [Waypoint],
    _ legs: ArraySlice<WalkingRoute>,
    to json: inout JSONText
  ) {
    let steps = legs.prefix(1).compactMap(\.steps.first) + legs.compactMap(\.steps.last)
    json.objects(key, Array(zip(waypoints, steps))) { json, end in
      let maneuver = end.1.maneuver
      var meters = 0.0
      if case .coordinate(let given, _) = end.0 { meters = given.distance(to: maneuver.coordinate) }
      WalkingRoute.writeWaypoint(
        maneuver.kind == .arrive ? maneuver.name : "",
        at: maneuver.coordinate,
        level: maneuver.level,
        meters: meters,
        to: &json
      )
    }
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
