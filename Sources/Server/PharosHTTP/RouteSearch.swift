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
      .list(.number(decimals: VenueDocuments.degreeDecimals)).stated(as: .list(.number, 2...2))
    ) { row in
      row.plane?.coordinate(of: row.place.point).map { [$0.longitude, $0.latitude] }
    },
    .always("accessible", .flag) { $0.place.isAccessible },
  ]
}
