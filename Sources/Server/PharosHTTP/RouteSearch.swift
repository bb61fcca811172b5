import PharosDelivery
import PharosDocuments
import PharosSpace
import PharosWays

/// The searches of routes, on the threads of requests.
enum RouteSearch {
  /// Returns the router of a venue, which the first request makes.
  static func router(of served: ServedVenue) async throws -> Router {
    try await BackgroundExecutor.requests.run { served.router.router }
  }

  /// Runs a search on the threads of requests, within the budget of a request; an error of it is an answer.
  ///
  /// The search ends when the task is cancelled, because the client has left or the server stops.
  static func answer<Answer: Sendable>(
    _ search: @escaping @Sendable (SearchBudget) throws -> Answer
  ) async throws -> Answer {
    let limit = WayDocuments.maximumEnds * WayDocuments.maximumEnds
    do {
      return try await BackgroundExecutor.requests.run {
        try search(SearchBudget(limit: limit) { Task.isCancelled })
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

  /// The problem with the code of OSRM for it.
  func coded(_ code: String) -> Problem {
    var problem = self
    problem.code = code
    return problem
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
