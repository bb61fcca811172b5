import PharosDelivery
import PharosDocuments
import PharosSpace
import PharosWays

/// The form in which routes are written.
struct RouteForm: Sendable {
  let language: RouteLanguage
  let geometry: RouteGeometry
  var parts = RouteParts()

  /// Reads the form.
  ///
  /// - Parameters:
  ///   - query: the parameters of the request.
  ///   - geometry: the form of geometries where the request names none.
  init(_ query: inout QueryReading, geometry: RouteGeometry) {
    language = query.word("language", RouteLanguage.self) ?? .english
    self.geometry = query.word("geometries", RouteGeometry.self) ?? geometry
  }

  /// The parameters that it is read from.
  static func parameters(geometry: RouteGeometry) -> [Operation.Parameter] {
    [
      .query(
        "language",
        .words(of: RouteLanguage.self).usually(.string(RouteLanguage.english.rawValue)),
        "The language of instructions."
      ),
      .query(
        "geometries",
        .words(of: RouteGeometry.self).usually(.string(geometry.rawValue)),
        "The form of geometries."
      ),
    ]
  }
}

/// The tables of a matrix, by OSRM's words.
enum RouteTable: String, CaseIterable {
  case duration
  case distance
}

/// An end of routes.
protocol RoutedEnd: Sendable {
  /// The place at which they begin or end.
  var waypoint: Waypoint { get }
}

extension Waypoint: RoutedEnd {
  var waypoint: Waypoint { self }
}

/// A search of routes in a venue, on the threads of requests; its answers have the shape of OSRM's under every address.
///
/// - Source: OSRM HTTP API 5.x, route and table services.
struct RouteSearch {
  let served: ServedVenue
  var options = RouteOptions()

  /// Answers with the routes that lead through ends one after the other; the last closure writes the ends behind them and
  /// receives the legs of the first.
  func routes<End: RoutedEnd>(
    _ form: RouteForm,
    through ends: @escaping @Sendable (WalkableGraph) throws -> [End],
    writing write: (inout JSONText, _ ends: [End], _ legs: [WalkingRoute]) -> Void
  ) async throws -> APIAnswer {
    let (ends, found) = try await answer { [options] router, budget in
      let ends = try ends(router.graph)
      let found = try zip(ends, ends.dropFirst()).map {
        try router.routes(from: $0.waypoint, to: $1.waypoint, options: options, budget: budget)
      }
      return (ends, found)
    }
    let routes = found.count == 1 ? found[0].map { [$0] } : [found.compactMap(\.first)]
    return .json { json in
      json.member("code", "Ok")
      json.objects("routes", routes) { json, legs in
        WalkingRoute.write(
          legs,
          to: &json,
          languages: [form.language],
          geometry: form.geometry,
          parts: form.parts
        )
      }
      write(&json, ends, routes.first ?? [])
    }
  }

  /// Answers with the times and lengths of the routes from each start to each goal; the last closure writes those behind
  /// the tables.
  func matrix<End: RoutedEnd>(
    _ tables: Set<RouteTable> = Set(RouteTable.allCases),
    between ends: @escaping @Sendable (WalkableGraph) throws -> [[End]],
    writing write: (inout JSONText, _ ends: [[End]]) -> Void = { _, _ in }
  ) async throws -> APIAnswer {
    let (ends, rows) = try await answer { [options] router, budget in
      let ends = try ends(router.graph)
      let waypoints = ends.map { $0.map(\.waypoint) }
      return (ends, try router.matrix(from: waypoints[0], to: waypoints[1], options: options, budget: budget))
    }
    return .json { json in
      json.member("code", "Ok")
      if tables.contains(.duration) {
        json.matrix("durations", rows.map { $0.map { $0?.duration } }, decimals: 1)
      }
      if tables.contains(.distance) {
        json.matrix("distances", rows.map { $0.map { $0?.distance } }, decimals: 2)
      }
      write(&json, ends)
    }
  }

  /// Runs a search within the budget of a request; an error of it is an answer.
  ///
  /// The first search makes the venue's router. A search ends when the task is cancelled, because the client has left or the server stops.
  func answer<Answer: Sendable>(
    _ search: @escaping @Sendable (Router, SearchBudget) throws -> Answer
  ) async throws -> Answer {
    let limit = WayDocuments.maximumEnds * WayDocuments.maximumEnds
    do {
      return try await BackgroundExecutor.requests.run { [served] in
        try search(served.router.router, SearchBudget(limit: limit) { Task.isCancelled })
      }
    } catch RoutingError.ended {
      throw CancellationError()
    } catch let error as RoutingError {
      throw Problem(error)
    }
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
    case .position(_, let inner):
      self = Problem(inner)
      self.detail = detail
    case .tooManySearches, .ended:
      self = Problem("tooManySearches", "The request asks for too much", status: 422, detail: detail)
    }
    code = error.code
    guard case .position(let end, _) = error else { return }
    errors = [Field(end.role.parameter, text)]
  }
}

extension RouteEnd.Role {
  /// The parameter of a request that has such ends.
  fileprivate var parameter: String {
    switch self {
    case .origin: "from"
    case .destination: "to"
    case .coordinate: "coordinates"
    }
  }
}

/// Places as the interface shows them, and the bounds of a matrix in the shape of OSRM's answers.
///
/// - Source: OSRM HTTP API 5.x, table service.
enum WayDocuments {
  /// The maximum number of starts, and of goals, of a matrix.
  static let maximumEnds = 50

  /// Writes the ends of a route's legs.
  static func write(
    _ key: StaticString,
    _ waypoints: [Waypoint],
    _ legs: [WalkingRoute],
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
  mutating func matrix(_ key: StaticString, _ rows: [[Double?]], decimals: Int) {
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

/// A place in a list.
struct ListedPlace {
  let place: PointOfInterest
  let floor: FloorID
  let plane: FloorPlane?

  static let members: [DocumentField<ListedPlace>] = [
    .always("id", .text) { $0.place.identifier },
    .always("name", .text) { $0.place.name },
    .sometimes("category", .text) { $0.place.category.isEmpty ? nil : $0.place.category },
    .always("floor", .text) { $0.floor.description },
    .always("level", .integer) { $0.floor.level },
    .sometimes(
      "location",
      .list(.number(decimals: JSONText.degreeDecimals)).stated(as: .list(.number, 2...2))
    ) { row in
      row.plane?.coordinate(of: row.place.point).map { [$0.longitude, $0.latitude] }
    },
    .always("accessible", .flag) { $0.place.isAccessible },
    .part(Caption.members) { $0.place.caption },
  ]
}
