import HTTPTypes
import PharosDocuments
import PharosModel
import PharosSpace
import PharosWays

/// OSRM's own interface to the ways of venues: its clients need the address of this server and nothing else.
///
/// A request to `/route`, `/table` or `/nearest` is answered from the venue that holds its coordinates; below
/// `/v1/venues/{id}` there is the same for one venue.
///
/// - Source: OSRM HTTP API 5.x.
struct OSRMResource: Resource {
  let catalog: VenueCatalog

  var routes: [Route] {
    services.flatMap { service in
      ["", "/v1/venues/{id}"].map { server in
        Route(
          .get,
          "\(server)/\(service.name)/v1/{profile}/{coordinates}",
          service.operation(ofVenue: !server.isEmpty),
          access: .anyToken,
          queryErrorCode: OSRMCode.invalidQuery,
          long: true
        ) { request in
          let asked = try OSRMRequest(request, minimumCount: service.minimumCount)
          return try await service.handler(
            asked,
            request.query,
            venue(of: asked, request, isNamed: !server.isEmpty)
          )
        }
      }
    }
  }

  /// A service of OSRM.
  private struct Service: Sendable {
    typealias Handler = @Sendable (OSRMRequest, QueryReading, ServedVenue) async throws -> APIAnswer

    let name: String
    let summary: String
    let minimumCount: Int
    let options: [Operation.Parameter]
    let answer: Schema
    let handler: Handler

    /// Describes the service for all venues, or for the one that the path names.
    func operation(ofVenue isOfVenue: Bool) -> Operation {
      let how =
        isOfVenue
        ? "For one venue: give a client of OSRM `/v1/venues/{id}` as its server."
        : "The venue is the one that holds the coordinates: give a client of OSRM this server's address."
      let operation = Operation(
        "\(name)AsOSRM\(isOfVenue ? "OfVenue" : "")",
        .venues,
        "\(summary) for clients of OSRM\(isOfVenue ? " of one venue" : "")",
        "OSRM's \(name) service. \(how)"
      )
      return operation.with(isOfVenue ? [.venue] : [])
        .with(
          .profile,
          .coordinates(
            minimumCount == 1
              ? "One `longitude,latitude`"
              : "2 to \(WayDocuments.maximumEnds) of `longitude,latitude` with semicolons between"
          )
        )
        .with(options).with(OSRMRequest.options)
        .answering(answer)
    }
  }

  private var services: [Service] {
    [
      Service(
        name: "route",
        summary: "A route",
        minimumCount: 2,
        options: [
          .query("alternatives", .text, "Whether, or how many, alternatives are wanted."),
          .query(
            "annotations",
            .text,
            """
            Whether legs have the length, time, weight and speed of each piece of their line: `true`, \
            `false`, or some of `distance`, `duration`, `weight`, `speed`, `nodes`, `datasources` with \
            commas between. There are no nodes and data sources.
            """
          ),
          .query("continue_straight", .words(of: OSRMDefaultFlag.self), "Changes nothing on foot."),
          .query(
            "overview",
            .words(of: OSRMOverview.self).usually(.string("simplified")),
            "The line of the whole route; `simplified` is the same as `full`."
          ),
          .query("steps", .flag.usually(.bool(false)), "Whether legs have their steps."),
          .query(
            "waypoints",
            .text,
            "The indices of all coordinates with semicolons between; each coordinate is a waypoint."
          ),
        ] + RouteForm.parameters(geometry: .polyline),
        answer: .routes,
        handler: route
      ),
      Service(
        name: "table",
        summary: "Times and lengths of routes",
        minimumCount: 2,
        options: [
          .query("annotations", .text, "`duration`, `distance` or both with a comma between."),
          .query("destinations", .text, "`all`, or indices of coordinates from 0 with semicolons between."),
          .query("sources", .text, "`all`, or indices of coordinates from 0 with semicolons between."),
        ],
        answer: .routeTable,
        handler: table
      ),
      Service(
        name: "nearest",
        summary: "The way nearest to a coordinate",
        minimumCount: 1,
        options: [
          .query(
            "number",
            .integer(Operation.Parameter.pageSizes).usually(.integer(1)),
            "How many positions at most, each on a floor of its own: first the one that a route begins at."
          )
        ],
        answer: .routeNearest,
        handler: nearest
      ),
    ]
  }

  /// Returns the venue that the path names, or the first one that holds all coordinates; outside of all, the nearest.
  private func venue(
    of asked: OSRMRequest,
    _ request: APIRequest,
    isNamed: Bool
  ) throws(Problem) -> ServedVenue {
    guard !isNamed else { return try catalog.venue(request) }
    let all = catalog.venues
    if all.count == 1 { return all[0] }
    let venues = all.map { served in
      (served: served, distances: asked.ends.map { served.venue.distance(to: $0.coordinate) ?? .infinity })
    }
    func farthest(_ distances: [Double]) -> Double { distances.max() ?? .infinity }
    guard let best = venues.min(by: { farthest($0.distances) < farthest($1.distances) }) else {
      throw .osrm(OSRMCode.noSegment, "This server has no venue.")
    }
    let isSpread =
      farthest(best.distances) > WalkableGraph.positionReach
      && asked.ends.indices.allSatisfy { index in
        venues.contains { $0.distances[index] <= WalkableGraph.positionReach }
      }
    if isSpread {
      throw .osrm(OSRMCode.noRoute, "The coordinates lie in several venues, and no way joins them.")
    }
    return best.served
  }

  // MARK: Services

  private func route(
    _ asked: OSRMRequest,
    _ query: QueryReading,
    _ served: ServedVenue
  ) async throws -> APIAnswer {
    var query = query
    var options = asked.routeOptions
    let alternatives = query.text("alternatives") ?? "false"
    if let count = Int(alternatives) ?? ["true": 1, "false": 0][alternatives], count >= 0 {
      // OSRM has none over several waypoints either.
      options.alternatives = asked.ends.count > 2 ? 0 : min(count, RouteOptions.maximumAlternatives)
    } else {
      query.wrong("alternatives", "\"\(alternatives.shortened)\"", expected: "true, false or a number")
    }
    var form = RouteForm(&query, geometry: .polyline)
    form.parts.hasSteps = query.bool("steps") ?? false
    form.parts.hasOverview = query.word("overview", OSRMOverview.self) != .absent
    form.parts.annotations = query.annotations()
    _ = query.word("continue_straight", OSRMDefaultFlag.self)
    let via = query.text("waypoints")
    try query.finish()
    if let via, via != asked.ends.indices.map(String.init).joined(separator: ";") {
      throw Problem.osrm(OSRMCode.notImplemented, "Each coordinate is a waypoint: leave out waypoints.")
    }
    let search = RouteSearch(served: served, options: options)
    return try await search.routes(form, through: { try asked.snapped(to: $0) }) { json, ends, _ in
      asked.write("waypoints", ends, of: served.venue, to: &json)
    }
  }

  private func table(
    _ asked: OSRMRequest,
    _ query: QueryReading,
    _ served: ServedVenue
  ) async throws -> APIAnswer {
    var query = query
    let chosen = ["sources", "destinations"].map { query.text($0) ?? "all" }
    let annotations = query.list("annotations", expected: "duration, distance, or both") {
      RouteTable(rawValue: $0)
    }
    try query.finish()
    let indices = try chosen.map { try asked.indices(chosenBy: $0) }
    let ends: @Sendable (WalkableGraph) throws -> [[OSRMRequest.SnappedEnd]] = { graph in
      let snapped = try asked.snapped(to: graph)
      return indices.map { $0.map { snapped[$0] } }
    }
    let search = RouteSearch(served: served, options: asked.routeOptions)
    return try await search.matrix(annotations ?? [.duration], between: ends) { json, ends in
      for (key, ends) in zip(["sources", "destinations"] as [StaticString], ends) {
        asked.write(key, ends, of: served.venue, to: &json)
      }
    }
  }

  private func nearest(
    _ asked: OSRMRequest,
    _ query: QueryReading,
    _ served: ServedVenue
  ) async throws -> APIAnswer {
    var query = query
    let number = query.integer("number", in: 1...Int64(Page.maximumLength)) ?? 1
    try query.finish()
    guard asked.ends.count == 1 else {
      throw Problem.osrm(OSRMCode.invalidOptions, "Only one coordinate is taken.")
    }
    let found = try await RouteSearch(served: served).answer { router, _ in
      asked.candidates(for: asked.ends[0], on: router.graph)
    }
    guard !found.isEmpty else {
      throw Problem.osrm(OSRMCode.noSegment, "There is no way near the coordinate.")
    }
    return .json { json in
      json.member("code", "Ok")
      asked.write("waypoints", Array(found.prefix(Int(number))), of: served.venue, to: &json)
    }
  }
}

/// The codes of OSRM for requests that it does not answer.
///
/// - Source: OSRM HTTP API 5.x, responses.
private enum OSRMCode {
  static let invalidOptions = "InvalidOptions"
  static let invalidQuery = "InvalidQuery"
  static let invalidValue = "InvalidValue"
  static let noRoute = "NoRoute"
  static let noSegment = "NoSegment"
  static let notImplemented = "NotImplemented"
  static let tooBig = "TooBig"
}

/// The lines of a whole route; simplified and full are the same, since a way has no positions but its corners.
private enum OSRMOverview: String, CaseIterable {
  case simplified
  case full
  case absent = "false"
}

private enum OSRMDefaultFlag: String, CaseIterable {
  case `default`
  case `true`
  case `false`
}

extension Problem {
  /// The problem of a request that a client of OSRM made.
  fileprivate static func osrm(_ code: String, _ detail: String) -> Problem { badRequest(detail).coded(code) }
}

/// The coordinates of a request in the form of OSRM, `longitude,latitude;longitude,latitude`, with their levels and the
/// options that all services have.
///
/// OSRM knows no levels. That of a coordinate follows it after `@`, as in `13.405,52.52@1`. The parameter `levels` has one
/// for each coordinate with semicolons between, and the profile one for all, or one for each with commas between:
/// `foot@1`, `foot@0,2`. The first of the three that is given counts. Without any, the coordinate lies on the level
/// nearest to the ground floor on which people can walk within 10 m of it.
///
/// The profile `wheelchair` avoids steps. Any other word is on foot, since OSRM itself does not look at it.
///
/// - Source: OSRM HTTP API 5.x, general options.
private struct OSRMRequest {
  /// The options of all services.
  static let options: [Operation.Parameter] = [
    .query(
      "approaches",
      .text,
      """
      For each coordinate `unrestricted`, `curb`, `opposite` or nothing, with semicolons between; changes \
      nothing on foot.
      """
    ),
    .query(
      "bearings",
      .text,
      """
      For each coordinate `BEARING,DEVIATION` in degrees or nothing, with semicolons between; changes \
      nothing on foot.
      """
    ),
    .query(
      "exclude",
      .text,
      "Kinds of connectors to avoid, with commas between: `stairs`, `lift`, `escalator`, `ramp`."
    ),
    .query("generate_hints", .flag.usually(.bool(true)), "Whether waypoints have the member `hint`."),
    .query("hints", .text, "For each coordinate anything, with semicolons between; not read."),
    .query(
      "levels",
      .text,
      """
      For each coordinate its level, or nothing where it follows from the venue, with semicolons between: \
      `0;1`.
      """
    ),
    .query(
      "radiuses",
      .text,
      """
      For each coordinate the metres up to which it is moved onto a way, `unlimited` or nothing, with \
      semicolons between. At most 10 m are bridged for routes.
      """
    ),
    .query("skip_waypoints", .flag.usually(.bool(false)), "Whether the waypoints are left out."),
    .query(
      "snapping",
      .words(of: OSRMSnapping.self).usually(.string("default")),
      "All ways are for walking: changes nothing."
    ),
  ]

  struct End {
    let coordinate: Coordinate
    /// The level; nil where it follows from the venue.
    var level: Int?
    /// The distance in metres up to which the coordinate is moved onto a way.
    var reach: Double
  }

  /// An end of a way, moved to where people can walk.
  struct SnappedEnd: RoutedEnd {
    /// The coordinate that was given.
    let given: Coordinate
    let location: Coordinate
    let floor: FloorID
    let meters: Double

    init(_ end: End, _ found: (coordinate: Coordinate, floor: FloorID, meters: Double)) {
      given = end.coordinate
      location = found.coordinate
      floor = found.floor
      meters = found.meters
    }

    var waypoint: Waypoint { .coordinate(given, level: floor.level) }
  }

  private(set) var ends: [End] = []
  private(set) var routeOptions = RouteOptions()
  private let hasHints: Bool
  private let hasWaypoints: Bool

  init(_ request: APIRequest, minimumCount: Int) throws(Problem) {
    var query = request.query
    hasHints = query.bool("generate_hints") ?? true
    hasWaypoints = !(query.bool("skip_waypoints") ?? false)
    _ = query.word("snapping", OSRMSnapping.self)
    try query.finish()
    ends = try OSRMRequest.ends(request.parameter("coordinates"), minimumCount: minimumCount)
    let profile = request.parameter("profile").split(
      separator: "@",
      maxSplits: 1,
      omittingEmptySubsequences: false
    )
    routeOptions.isAccessible = profile[0] == "wheelchair"
    routeOptions.avoided = try OSRMRequest.excluded(query.givenText("exclude") ?? "")
    try readLevels(profile.count == 2 ? profile[1] : nil, query)
    try readRadiuses(query)
    // People walk in any direction and on any side, so that these change nothing.
    for part in try parts("bearings", query) where !part.isEmpty {
      let numbers = part.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) ?? -1 }
      guard numbers.count <= 2, zip(numbers, [360, 180]).allSatisfy({ (0...$1).contains($0) }) else {
        throw .osrm(
          OSRMCode.invalidQuery,
          "Bearings are 0 to 360, with a deviation of 0 to 180 after a comma."
        )
      }
    }
    for part in try parts("approaches", query) where !["", "unrestricted", "curb", "opposite"].contains(part)
    {
      throw .osrm(OSRMCode.invalidQuery, "Approaches are unrestricted, curb or opposite.")
    }
    _ = try parts("hints", query)
  }

  /// Reads coordinates; `.json` may follow the last one.
  private static func ends(_ text: String, minimumCount: Int) throws(Problem) -> [End] {
    let texts = (text.hasSuffix(".json") ? text.dropLast(5) : text[...])
      .split(separator: ";", omittingEmptySubsequences: false)
    guard texts.count <= WayDocuments.maximumEnds else {
      throw .osrm(
        OSRMCode.tooBig,
        "Number of entries \(texts.count) is higher than \(WayDocuments.maximumEnds)."
      )
    }
    var ends: [End] = []
    for (index, text) in texts.enumerated() {
      let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      let numbers =
        halves.first?.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) } ?? []
      let level = halves.count == 2 ? Int(halves[1]) : nil
      guard numbers.count == 2, let longitude = numbers[0], let latitude = numbers[1],
        halves.count == 1 || level != nil
      else {
        throw .osrm(
          OSRMCode.invalidQuery,
          "Coordinate \(index) is not longitude,latitude, or that with @ and a level, as in 13.405,52.52@1."
        )
      }
      guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
        throw .osrm(OSRMCode.invalidValue, "Coordinate \(index) does not lie on the Earth.")
      }
      ends.append(End(coordinate: coordinate, level: level, reach: .infinity))
    }
    guard ends.count >= minimumCount else {
      throw .osrm(OSRMCode.invalidOptions, "Number of coordinates needs to be at least \(minimumCount).")
    }
    return ends
  }

  private static func excluded(_ text: String) throws(Problem) -> Set<Connector.Kind> {
    var kinds: Set<Connector.Kind> = []
    for word in text.split(separator: ",") {
      guard let kind = Connector.Kind(rawValue: String(word)) else {
        let known = Connector.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        throw .osrm(OSRMCode.invalidValue, "Exclude takes \(known), with commas between.")
      }
      kinds.insert(kind)
    }
    return kinds
  }

  private mutating func readLevels(_ ofProfile: Substring?, _ query: QueryReading) throws(Problem) {
    var common: [Int?] = []
    if let ofProfile {
      common = ofProfile.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
      guard common.count == 1 || common.count == ends.count, !common.contains(nil) else {
        throw .osrm(OSRMCode.invalidQuery, "After @, the profile has one level, or one for each coordinate.")
      }
    }
    let given = try parts("levels", query)
    guard given.allSatisfy({ $0.isEmpty || Int($0) != nil }) else {
      throw .osrm(
        OSRMCode.invalidQuery,
        "Levels are whole numbers, or empty where they follow from the venue."
      )
    }
    for index in ends.indices where ends[index].level == nil {
      ends[index].level = given.isEmpty ? nil : Int(given[index])
      if ends[index].level == nil, !common.isEmpty {
        ends[index].level = common[common.count == 1 ? 0 : index]
      }
    }
  }

  private mutating func readRadiuses(_ query: QueryReading) throws(Problem) {
    for (index, part) in try parts("radiuses", query).enumerated() where !part.isEmpty && part != "unlimited"
    {
      guard let radius = Double(part), radius >= 0 else {
        throw .osrm(OSRMCode.invalidQuery, "Radiuses are metres, or unlimited.")
      }
      ends[index].reach = radius
    }
  }

  /// The parts of an option that has one for each coordinate; none where it is not given.
  private func parts(_ name: String, _ query: QueryReading) throws(Problem) -> [Substring] {
    guard let text = query.givenText(name), !text.isEmpty else { return [] }
    let parts = text.split(separator: ";", omittingEmptySubsequences: false)
    guard parts.count == ends.count else {
      throw .osrm(
        OSRMCode.invalidOptions,
        "Number of elements in \(name) size \(parts.count) does not match coordinate size \(ends.count)."
      )
    }
    return parts
  }

  /// Returns the indices in a list; all of them for `all`.
  func indices(chosenBy list: String) throws(Problem) -> [Int] {
    guard list != "all" else { return Array(ends.indices) }
    let numbers = list.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.allSatisfy({ $0.map(ends.indices.contains) ?? false }) else {
      throw .osrm(
        OSRMCode.invalidOptions,
        "Sources and destinations are all, or indices of coordinates from 0 with semicolons between."
      )
    }
    return numbers.compactMap(\.self)
  }

  /// Moves the ends to where people can walk.
  func snapped(to graph: WalkableGraph) throws(RoutingError) -> [SnappedEnd] {
    var snapped: [SnappedEnd] = []
    for (index, end) in ends.enumerated() {
      // A radius of the client's may be smaller than what is bridged.
      let reach = min(end.reach, WalkableGraph.positionReach)
      if let found = graph.firstProjection(of: end.coordinate, level: end.level, within: reach) {
        snapped.append(SnappedEnd(end, found))
        continue
      }
      let nearest = candidates(for: end, on: graph).first
      let place = RouteEnd(.coordinate, index: index)
      if let nearest { throw .position(place, .outside(level: nearest.floor.level, meters: nearest.meters)) }
      // The graph has the reason: there is no such level, or nothing of it anywhere near.
      do throws(RoutingError) { _ = try graph.projection(of: end.coordinate, level: end.level ?? 0) } catch {
        throw .position(place, error)
      }
      throw .position(place, .outside(level: end.level ?? 0, meters: nil))
    }
    return snapped
  }

  /// The positions that may stand for an end, one on each floor: that of a route first.
  func candidates(for end: End, on graph: WalkableGraph) -> [SnappedEnd] {
    graph.projections(
      of: end.coordinate,
      level: end.level,
      within: min(end.reach, WalkableGraph.positionReach)
    )
    .map { SnappedEnd(end, $0) }
  }

  /// Writes waypoints, unless they are not wanted.
  func write(_ key: StaticString, _ ends: [SnappedEnd], of venue: Venue, to json: inout JSONText) {
    guard hasWaypoints else { return }
    json.objects(key, ends) { json, end in
      let floor = venue.floor(end.floor)
      WalkingRoute.writeWaypoint(
        floor.flatMap { $0.name(at: end.location) } ?? "",
        at: end.location,
        level: end.floor.level,
        meters: end.meters,
        hasHint: hasHints,
        to: &json
      )
    }
  }
}

extension Floor {
  /// The name of the place, or else of the area, that a coordinate lies in; nil where none has a name.
  fileprivate func name(at coordinate: Coordinate) -> String? {
    guard let point = plane.point(of: coordinate) else { return nil }
    let place = pointsOfInterest.first { !$0.name.isEmpty && $0.area?.contains(point) ?? false }
    return place?.name ?? walkable.first { !$0.name.isEmpty && $0.contains(point) }?.name
  }
}

/// The ways that a coordinate may be moved to; all of them are for walking.
private enum OSRMSnapping: String, CaseIterable {
  case `default`
  case any
}

extension QueryReading {
  /// The annotations of a route: a truth value, or some of them with commas between.
  ///
  /// Ways have neither nodes nor data sources, so that those are left out.
  fileprivate mutating func annotations() -> Set<RouteAnnotation> {
    let text = givenText("annotations") ?? "false"
    if let all = Bool(text) { return all ? Set(RouteAnnotation.allCases) : [] }
    let known = RouteAnnotation.allCases.map(\.rawValue) + ["nodes", "datasources"]
    let words = text.split(separator: ",").map(String.init)
    if words.isEmpty || !words.allSatisfy(known.contains) {
      wrong(
        "annotations",
        "\"\(text.shortened)\"",
        expected: "true, false, or some of \(known.joined(separator: ", "))"
      )
    }
    return Set(words.compactMap { RouteAnnotation(rawValue: $0) })
  }
}

extension Operation.Parameter {
  fileprivate static let profile = path(
    "profile",
    """
    `wheelchair` avoids steps; any other word is on foot, as OSRM does not look at it. After `@` the level \
    of all coordinates, or one for each with commas between, as in `foot@0,2`.
    """
  )
  fileprivate static func coordinates(_ count: String) -> Self {
    path(
      "coordinates",
      """
      \(count). A level may follow each after `@`, as in `13.405,52.52@1`; without one it is that nearest to \
      the ground floor on which people can walk within 10 m. `.json` at the end changes nothing.
      """
    )
  }
}

extension Schema {
  static let routeTable = Schema.object([
    .required("code", .words(["Ok"])),
    .optional("durations", .list(.list(.one(of: [.number(0...), .null])))),
    .optional("distances", .list(.list(.one(of: [.number(0...), .null])))),
    .optional("sources", .list(.routeWaypoint)),
    .optional("destinations", .list(.routeWaypoint)),
  ]).named("RouteTable")

  static let routeNearest = Schema.object([
    .required("code", .words(["Ok"])),
    .optional("waypoints", .list(.routeWaypoint)),
  ]).named("RouteNearest")
}
