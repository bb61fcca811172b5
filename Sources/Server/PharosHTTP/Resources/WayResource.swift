import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosSpace
import PharosWays

struct WayResource: Resource {
  let catalog: VenueCatalog
  let commitPublisher: CommitPublisher
  let cache: LiveStateCache
  /// Returns the zones of the site.
  let zones: @Sendable () -> [Zone]

  /// Routes, matrices and places of venues.
  var routes: [Route] {
    let path = "/v1/venues/{id}"
    return [
      Route(
        .get,
        path + "/places",
        Operation(
          "listPlaces",
          .venues,
          "The places of a venue",
          """
          What people look for, with its position: exhibits, shops, restrooms. With `from`, nearest first \
          with distances; with a heading, or from a subject that moves, with the side on which each lies.
          """
        )
        .with(
          .venue,
          .query("category", "Only of these categories."),
          .query("from", .name, "A position (`latitude,longitude,level`) or `subject:` and a subject."),
          .query(
            "heading",
            .number(-360...360),
            "The direction that the subject faces, in degrees clockwise from north; its course by default."
          )
        )
        .answering(.places),
        access: .anyToken,
        handler: places
      ),
      Route(
        .get,
        path + "/search",
        Operation(
          "searchPlaces",
          .venues,
          "The places that match some words",
          """
          Each word of `q` begins a word of what the venue says of a place; case and accents do not count. \
          `match` says where: `whole`, `beginning` and `heading` in the name or title, `kind` in another name, \
          the category or the id, `text` in the description, the address or a property. The best matches come \
          first, with `from` the nearest of them, else by name.
          """
        )
        .with(
          .venue,
          .query("q", .text(1...VenueSearch.maximumQuery), "The words, or their beginnings.").required
            .such(as: "cafe"),
          .query("from", .name, "A position (`latitude,longitude,level`) or `subject:` and a subject."),
          .query(
            "limit",
            .integer(VenueSearch.limits).usually(.integer(Int64(VenueSearch.usualLimit))),
            "How many places to find."
          )
        )
        .answering(.foundPlaces),
        access: .anyToken
      ) { request in
        var query = request.query
        let search = VenueSearch(&query)
        let from = query.text("from")
        try query.finish()
        let served = try catalog.venue(request)
        let position = from == nil ? nil : try await self.position(from ?? "", "from", request).coordinate
        return try await search.answer(in: served, from: position)
      },
      Route(
        .get,
        path + "/at",
        Operation(
          "describePosition",
          .venues,
          "What is at a position: the room, the zone, the place and the address",
          """
          `inside` is false outside of all that is drawn of the level. The zone is that of the nearest gateway in \
          the same room, and is for the operator.
          """
        )
        .with(
          .venue,
          .query("latitude", .number(-90...90), "Degrees, WGS 84.").required,
          .query("longitude", .number(-180...180), "Degrees, WGS 84.").required,
          .query("level", .integer, "The floor's number; 0 is the ground floor.").required
        )
        .answering(.spot),
        access: .anyToken,
        handler: spot
      ),
      Route(
        .get,
        path + "/routes",
        Operation(
          "findRoutes",
          .venues,
          "The fastest route between two ends",
          """
          Routes in the shape of OSRM's answers, with the level and an instruction at each step. 400 says \
          why there is no route and what to do, 404 that a name is not known.
          """
        )
        .with(
          .venue,
          .end("from"),
          .end("to"),
          .query(
            "alternatives",
            .integer(0...RouteOptions.maximumAlternatives).usually(.integer(0)),
            "At most so many routes besides the fastest one."
          ),
          .accessible,
          .avoid,
          .departure
        )
        .with(RouteForm.parameters(geometry: .geojson))
        .answering(.routes),
        access: .anyToken,
        long: true,
        handler: ways
      ),
      Route(
        .get,
        path + "/nearest",
        Operation(
          "findNearest",
          .venues,
          "The places of a category that are reached first",
          "Ordered by the time of the way. A category includes its kinds: `restroom` finds `restroom.female`."
        )
        .with(
          .venue,
          .query("category", .name, "The category.").required,
          .end("from"),
          .query("limit", .integer(1...1_000).usually(.integer(1)), "How many places to find."),
          .accessible,
          .avoid,
          .departure
        )
        .answering(.nearestPlaces),
        access: .anyToken,
        long: true,
        handler: nearest
      ),
      Route(
        .get,
        path + "/matrix",
        Operation(
          "computeMatrix",
          .venues,
          "The ways from several starts to several goals",
          """
          Times in seconds and lengths in metres, a row for each start, in the shape of OSRM's table; null \
          where there is no way. A name that several places bear counts as each of them; at most 2,500 pairs \
          of ends are compared.
          """
        )
        .with(
          .venue,
          .end("from", .list(.name, 1...WayDocuments.maximumEnds), "A start, 1 to 50 times. "),
          .end("to", .list(.name, 1...WayDocuments.maximumEnds), "A goal, 1 to 50 times. "),
          .accessible,
          .avoid,
          .departure
        )
        .answering(.routeMatrix)
        .failing(.invalid, .unavailable),
        access: .anyToken,
        long: true,
        handler: matrix
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
      let rows = places.map { entry in
        let place = ListedPlace(place: entry.place, floor: entry.id, plane: entry.floor.plane)
        return PlaceRow(place: place, direction: entry.direction, hasHeading: bearing != nil)
      }
      json.objects("places", rows, PlaceRow.members)
    }
  }

  /// Describes a position.
  private func spot(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let latitude = query.number("latitude", in: -90...90)
    let longitude = query.number("longitude", in: -180...180)
    let level = query.integer("level", in: Int64(Floor.levels.lowerBound)...Int64(Floor.levels.upperBound))
    for (name, isMissing) in [
      ("latitude", latitude == nil), ("longitude", longitude == nil), ("level", level == nil),
    ] where isMissing && !query.has(name) {
      query.wrong(name, "is missing", expected: "latitude, longitude and level")
    }
    try query.finish()
    let served = try catalog.venue(request)
    guard let latitude, let longitude, let level = level.map(Int.init),
      let coordinate = Coordinate(latitude: latitude, longitude: longitude)
    else { throw Problem.badRequest("The position is incomplete.") }
    let directory = try await BackgroundExecutor.requests.run { served.directory.directory }
    guard directory.levels.contains(level) else {
      let levels = directory.levels.map { "\($0)" }.joined(separator: ", ")
      throw Problem.notFound("Venue \"\(served.venue.identifier)\" has no level \(level); it has \(levels).")
    }
    let spot = directory.spot(at: coordinate, level: level)
    let isOperator = request.principal.application == nil
    return .json(
      SpotRow.members,
      of: SpotRow(
        venue: served.venue,
        level: level,
        spot: spot,
        zone: isOperator ? spot.flatMap { zone(of: $0, level: level) } : nil
      )
    )
  }

  /// The zone at a spot: the one that the nearest observer in the same room stands in, as far as it is on the level.
  private func zone(of spot: VenueDirectory.Spot, level: Int) -> Zone? {
    let zones = zones().filter { $0.floor == nil || $0.floor == level }
    return spot.observers.lazy.compactMap { observer in zones.first { $0.observers.contains(observer) } }
      .first
  }

  private func ways(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let (from, to) = (query.required("from"), query.required("to"))
    var options = query.routeOptions()
    options.alternatives = Int(
      query.integer("alternatives", in: 0...Int64(RouteOptions.maximumAlternatives)) ?? 0
    )
    let form = RouteForm(&query, geometry: .geojson)
    try query.finishRoute()
    let served = try catalog.venue(request)
    let start = try await waypoint(from, "from", request)
    let goal = try await waypoint(to, "to", request)
    let search = RouteSearch(served: served, options: options)
    return try await search.routes(form, through: { _ in [start, goal] }) { json, ends, legs in
      WayDocuments.write("waypoints", ends, legs, to: &json)
    }
  }

  private func nearest(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let (category, from) = (query.required("category"), query.required("from"))
    let options = query.routeOptions()
    let limit = query.limit(default: 1)
    try query.finish()
    let served = try catalog.venue(request)
    let start = try await waypoint(from, "from", request)
    let found = try await RouteSearch(served: served).answer { router, budget in
      try router.nearest(category: category, from: start, options: options, limit: limit, budget: budget)
    }
    return .json { json in
      json.member("code", "Ok")
      let rows = found.map { near in
        let plane = served.venue.floor(near.floor)?.plane
        let place = ListedPlace(place: near.place, floor: near.floor, plane: plane)
        return (place: place, distance: near.distance, duration: near.duration)
      }
      json.objects("places", rows, WayResource.reached)
    }
  }

  fileprivate static let reached: [DocumentField<(place: ListedPlace, distance: Double, duration: Double)>] =
    [
      .part(ListedPlace.members) { $0.place },
      .always("distance", .number(decimals: 2, .number(0...))) { $0.distance },
      .always("duration", .number(decimals: 1, .number(0...))) { $0.duration },
    ]

  private func matrix(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let ends = ["from", "to"].map { query.ends($0) }
    let options = query.routeOptions()
    try query.finish()
    let served = try catalog.venue(request)
    var waypoints: [[Waypoint]] = [[], []]
    for (place, name) in ["from", "to"].enumerated() {
      for text in ends[place] { waypoints[place].append(try await waypoint(text, name, request)) }
    }
    let search = RouteSearch(served: served, options: options)
    return try await search.matrix(between: { [waypoints] _ in waypoints })
  }

  // MARK: Ends

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
    guard !detail.accuracy.isReduced else {
      throw Problem.forbidden(
        "The application's accuracy is reduced to the \(detail.accuracy.rawValue), and a way begins at a position."
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

extension QueryReading {
  /// Ends the reading of the options of a route.
  fileprivate func finishRoute() throws(Problem) {
    do throws(Problem) { try finish() } catch { throw error.coded("InvalidOptions") }
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

  fileprivate mutating func routeOptions() -> RouteOptions {
    let kinds = Connector.Kind.allCases.map(\.rawValue).joined(separator: ", ")
    return RouteOptions(
      isAccessible: bool("accessible") ?? false,
      avoided: list("avoid", expected: "one or more of \(kinds)") { Connector.Kind(rawValue: $0) } ?? [],
      departure: time("departure")
    )
  }
}

extension Operation.Parameter {
  /// An end of a route.
  fileprivate static func end(_ name: String, _ schema: Schema = .name, _ number: String = "") -> Self {
    query(
      name,
      schema,
      """
      \(number)A position as `latitude,longitude,level`, the id or the name of a place or an entrance, or \
      `subject:` and a subject whose last fix is taken.
      """
    ).required
  }
  fileprivate static let accessible = query(
    "accessible",
    .flag.usually(.bool(false)),
    "Without steps, and without doors and places that a wheelchair cannot use."
  )
  fileprivate static let avoid = query(
    "avoid",
    each: .words(of: Connector.Kind.self),
    "Kinds of connectors to avoid."
  )
  fileprivate static let departure = query(
    "departure",
    .text,
    "The time by which opening hours are read; without it, everything is open."
  )
}

/// A place in a list, with its direction from a position.
private struct PlaceRow {
  let place: ListedPlace
  let direction: RelativeDirection?
  let hasHeading: Bool

  static let members: [DocumentField<PlaceRow>] = [
    .part(ListedPlace.members) { $0.place },
    .sometimes(
      "distance",
      .number(decimals: 1),
      "The distance as the crow flies in metres, with `from`."
    ) { $0.direction?.distance },
    .sometimes(
      "direction",
      .number(decimals: 0),
      "The angle clockwise from the heading, -180 to 180 degrees."
    ) { $0.hasHeading ? $0.direction?.degrees : nil },
    .sometimes(
      "side",
      .text(.words(["ahead", "left", "right", "behind"])),
      "The side on which the place lies."
    ) { $0.hasHeading ? $0.direction?.side.rawValue : nil },
  ]
}

/// A search of places by words: what a request asks for, and its answer.
struct VenueSearch: Sendable {
  /// The largest number of characters of a query.
  static let maximumQuery = 200
  /// The numbers of places that may be asked for.
  static let limits = 1...100
  /// The number of places unless a request asks for another.
  static let usualLimit = 20

  private let words: String
  private let limit: Int

  /// Reads the parameters `q` and `limit`.
  init(_ query: inout QueryReading) {
    let given = query.text("q")
    words = given ?? ""
    let expected = "1 to \(VenueSearch.maximumQuery) characters with a letter or a digit"
    if let given {
      if given.unicodeScalars.count > VenueSearch.maximumQuery || FoldedText.words(given).isEmpty {
        query.wrong("q", "\"\(given.shortened)\" cannot be searched for", expected: expected)
      }
    } else if !query.has("q") {
      query.wrong("q", "is missing", expected: expected)
    }
    let range = Int64(VenueSearch.limits.lowerBound)...Int64(VenueSearch.limits.upperBound)
    limit = query.integer("limit", in: range).map(Int.init) ?? VenueSearch.usualLimit
  }

  /// Answers with the places that match; the first search in a venue indexes it.
  func answer(in served: ServedVenue, from position: Coordinate?) async throws -> APIAnswer {
    let found = try await BackgroundExecutor.requests.run {
      served.directory.directory.search(words, from: position, limit: limit)
    }
    return .json { json in
      let rows = found.map { found in
        let plane = served.venue.floor(found.entry.floor)?.plane
        return (ListedPlace(place: found.entry.place, floor: found.entry.floor, plane: plane), found)
      }
      json.objects("places", rows, VenueSearch.members)
    }
  }

  fileprivate static let members: [DocumentField<(place: ListedPlace, found: VenueDirectory.Found)>] = [
    .part(ListedPlace.members) { $0.place },
    .always(
      "match",
      .text(.words(["whole", "beginning", "heading", "kind", "text"])),
      "Where the words stand."
    ) { "\($0.found.match)" },
    .sometimes(
      "distance",
      .number(decimals: 1, .number(0...)),
      "The distance as the crow flies in metres, with `from`."
    ) { $0.found.distance },
  ]
}

/// What is at a position, in an answer.
private struct SpotRow {
  let venue: Venue
  let level: Int
  let spot: VenueDirectory.Spot?
  let zone: Zone?

  static let members: [DocumentField<SpotRow>] = [
    .always("inside", .flag, "Whether the position lies within what is drawn of the level.") {
      $0.spot != nil
    },
    .always("venue", .text) { $0.venue.identifier },
    .always("level", .integer) { $0.level },
    .sometimes("building", .text) { $0.spot?.floor.building },
    .sometimes("floor", .text, "Building and number, as `main/0`.") { $0.spot?.floor.description },
    .sometimes("floorName", .text) { row in row.spot.flatMap { row.venue.floor($0.floor)?.name } },
    .sometimes("room", .text, "The smallest room by its name.") { $0.spot?.room },
    .sometimes(
      "zone",
      .object([
        .always("id", .text) { $0.identifier },
        .sometimes("name", .text) { $0.name },
      ])
    ) { $0.zone },
    .sometimes(
      "place",
      .object(ListedPlace.members),
      "The smallest place; one of which the venue knows the point alone counts within 3 m to each side."
    ) { row in
      row.spot.flatMap { spot in
        spot.place.map {
          ListedPlace(place: $0, floor: spot.floor, plane: row.venue.floor(spot.floor)?.plane)
        }
      }
    },
    .sometimes("address", .text, "The postal address of the place, else of its building, else of the venue.")
    {
      $0.spot.map { $0.address } ?? $0.venue.address
    },
  ]
}

extension Schema {
  static let foundPlaces = Schema.object([.required("places", .list(.object(VenueSearch.members)))])
    .named("FoundPlaces")

  static let spot = Schema.object(SpotRow.members).named("Spot")

  static let places = Schema.object([.required("places", .list(.object(PlaceRow.members)))]).named("Places")

  static let nearestPlaces = Schema.object([
    .required("code", .words(["Ok"])), .required("places", .list(.object(WayResource.reached))),
  ]).named("NearestPlaces")

  static let routeMatrix = Schema.object([
    .required("code", .words(["Ok"])),
    .required("durations", .list(.list(.one(of: [.number(0...), .null])))),
    .required("distances", .list(.list(.one(of: [.number(0...), .null])))),
  ]).named("RouteMatrix")
}
