package import PharosDocuments
import PharosModel
package import PharosSpace

/// The form of the lines in a route's document.
package enum RouteGeometry: String, CaseIterable, Sendable {
  /// A LineString of GeoJSON.
  case geojson
  /// An encoded polyline with five decimals.
  case polyline
  /// An encoded polyline with six decimals.
  case polyline6
}

/// What is written about each piece of a route's line.
///
/// - Source: OSRM HTTP API 5.x, annotation object.
package enum RouteAnnotation: String, CaseIterable, Sendable {
  /// The length in metres.
  case distance
  /// The time in seconds.
  case duration
  /// The weight, which is the time.
  case weight
  /// The speed in metres a second.
  case speed
}

/// The parts of a route's document that a client may leave out or ask for.
package struct RouteParts: Sendable {
  /// Indicates whether the line of the whole route is written.
  package var hasOverview = true
  /// Indicates whether the steps of the legs are written.
  package var hasSteps = true
  /// What is written about each piece of a leg's line.
  package var annotations: Set<RouteAnnotation> = []

  /// Chooses the parts.
  package init(hasOverview: Bool = true, hasSteps: Bool = true, annotations: Set<RouteAnnotation> = []) {
    (self.hasOverview, self.hasSteps, self.annotations) = (hasOverview, hasSteps, annotations)
  }
}

/// The document of a route, in the shape of OSRM's answers, with the level and an instruction at each step.
///
/// - Source: OSRM HTTP API 5.x, route service.
extension WalkingRoute {
  /// The decimals of degrees: a hundred-millionth of a degree is a millimetre.
  private static let degreeDecimals = 8

  /// Writes the members of an open object.
  ///
  /// - Parameters:
  ///   - json: the text.
  ///   - languages: the languages of instructions. One makes the member `instruction` of a step, several `instructions`.
  ///   - geometry: the form of lines.
  package func write(to json: inout JSONText, languages: [RouteLanguage], geometry: RouteGeometry = .geojson)
  {
    WalkingRoute.write([self], to: &json, languages: languages, geometry: geometry)
  }

  /// Writes a route over several waypoints as members of an open object.
  ///
  /// - Parameters:
  ///   - legs: the routes from each waypoint to the next.
  ///   - json: the text.
  ///   - languages: the languages of instructions.
  ///   - geometry: the form of lines.
  ///   - parts: the parts that are written.
  package static func write(
    _ legs: [WalkingRoute],
    to json: inout JSONText,
    languages: [RouteLanguage],
    geometry: RouteGeometry,
    parts: RouteParts = RouteParts()
  ) {
    let duration = legs.reduce(0) { $0 + $1.duration }
    json.member("distance", legs.reduce(0) { $0 + $1.distance }, decimals: 2)
    json.member("duration", duration, decimals: 1)
    json.member("weight", duration, decimals: 1)
    json.member("weight_name", "duration")
    if parts.hasOverview { write(line(of: legs.flatMap(\.steps)), geometry, to: &json) }
    json.objects("legs", legs) { json, leg in
      json.member("distance", leg.distance, decimals: 2)
      json.member("duration", leg.duration, decimals: 1)
      json.member("weight", leg.duration, decimals: 1)
      json.member("summary", "")
      json.objects("steps", parts.hasSteps ? leg.steps : []) { write($1, languages, geometry, to: &$0) }
      leg.write(parts.annotations, to: &json)
    }
  }

  /// The line of some steps, without positions that follow themselves.
  private static func line(of steps: [RouteStep]) -> [Coordinate] {
    steps.flatMap(\.geometry).reduce(into: []) { line, next in
      if line.last != next { line.append(next) }
    }
  }

  /// Writes an array for each annotation, with one number for each piece of the line.
  ///
  /// A step's length and time are shared among its pieces by their lengths. Those of a step without any, as of a lift,
  /// belong to the piece that follows.
  private func write(_ annotations: Set<RouteAnnotation>, to json: inout JSONText) {
    guard !annotations.isEmpty else { return }
    var pieces: [(distance: Double, duration: Double)] = []
    var carried = (distance: 0.0, duration: 0.0)
    var last = steps.first?.geometry.first
    for step in steps {
      var lengths: [Double] = []
      for next in step.geometry where next != last {
        if let last { lengths.append(last.distance(to: next)) }
        last = next
      }
      let whole = lengths.reduce(0, +)
      carried = (carried.distance + step.distance, carried.duration + step.duration)
      guard whole > 0 else { continue }
      for length in lengths {
        pieces.append((carried.distance * length / whole, carried.duration * length / whole))
      }
      carried = (0, 0)
    }
    // What is left over is of a step at the end; a line without pieces is written as one position twice.
    let end = pieces.popLast() ?? (0, 0)
    pieces.append((end.distance + carried.distance, end.duration + carried.duration))
    func write(_ key: StaticString, _ annotation: RouteAnnotation, _ number: ((Double, Double)) -> Double) {
      guard annotations.contains(annotation) else { return }
      json.openArray(key)
      for piece in pieces { json.element(number(piece), decimals: 2) }
      json.closeArray()
    }
    json.openObject("annotation")
    write("distance", .distance) { $0.0 }
    write("duration", .duration) { $0.1 }
    write("weight", .weight) { $0.1 }
    write("speed", .speed) { $0.1 > 0 ? $0.0 / $0.1 : 0 }
    json.closeObject()
  }

  private static func write(
    _ step: RouteStep,
    _ languages: [RouteLanguage],
    _ geometry: RouteGeometry,
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
    if languages.count == 1 {
      json.member("instruction", step.instruction(in: languages[0]))
    } else {
      json.openObject("instructions")
      for language in languages { json.member(named: language.rawValue, step.instruction(in: language)) }
      json.closeObject()
    }
    write(step.geometry, geometry, to: &json)
    json.member("driving_side", "right")
    json.objects("intersections", [maneuver]) { json, maneuver in
      let isArrival = maneuver.kind == .arrive
      let back = (maneuver.bearingBefore + 180) % 360
      let bearings =
        isArrival
        ? [back] : maneuver.kind == .depart ? [maneuver.bearingAfter] : [back, maneuver.bearingAfter]
      write(maneuver.coordinate, "location", to: &json)
      json.openArray("bearings")
      for bearing in bearings { json.element(bearing) }
      json.closeArray()
      json.openArray("entry")
      for (index, _) in bearings.enumerated() { json.element(index == bearings.count - 1) }
      json.closeArray()
      if maneuver.kind != .depart { json.member("in", 0) }
      if !isArrival { json.member("out", bearings.count - 1) }
    }
    json.openObject("maneuver")
    json.member("type", maneuver.type)
    json.member("kind", maneuver.kind.rawValue)
    // Clients of OSRM read a modifier of each manoeuvre between the ends (Leaflet Routing Machine, osrm-v1.js).
    let isEnd = maneuver.kind == .depart || maneuver.kind == .arrive
    json.member("modifier", ifPresent: (maneuver.modifier ?? (isEnd ? nil : .straight))?.rawValue)
    json.member("bearing_before", maneuver.bearingBefore)
    json.member("bearing_after", maneuver.bearingAfter)
    write(maneuver.coordinate, "location", to: &json)
    if let level = maneuver.targetLevel { json.member("level", level) }
    if maneuver.access != .everyone { json.member("access", maneuver.access.rawValue) }
    json.closeObject()
  }

  /// Writes a waypoint as members of an open object.
  ///
  /// - Parameters:
  ///   - name: the name of the place; empty for a position.
  ///   - coordinate: the walkable position that stands for it.
  ///   - level: the level of the position.
  ///   - meters: the distance between the position that was given and this one.
  ///   - hasHint: indicates whether the member `hint` is written; it is empty.
  ///   - json: the text.
  package static func writeWaypoint(
    _ name: String,
    at coordinate: Coordinate,
    level: Int,
    meters: Double,
    hasHint: Bool = true,
    to json: inout JSONText
  ) {
    json.member("name", name)
    write(coordinate, "location", to: &json)
    json.member("distance", meters, decimals: 2)
    if hasHint { json.member("hint", "") }
    json.member("level", level)
  }

  private static func write(_ coordinate: Coordinate, _ key: StaticString, to json: inout JSONText) {
    json.openArray(key)
    write(coordinate, to: &json)
    json.closeArray()
  }

  private static func write(_ coordinate: Coordinate, to json: inout JSONText) {
    json.element(coordinate.longitude, decimals: degreeDecimals)
    json.element(coordinate.latitude, decimals: degreeDecimals)
  }

  private static func write(_ line: [Coordinate], _ form: RouteGeometry, to json: inout JSONText) {
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
  private static func polyline(_ line: [Coordinate], factor: Double) -> String {
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

extension Maneuver {
  /// The type that clients of OSRM know.
  ///
  /// A connector, a door and the edge of a place are notifications, or turns where the way turns there.
  fileprivate var type: String {
    switch kind {
    case .depart, .arrive, .turn, .resume: kind.rawValue
    case .stairs, .lift, .escalator, .ramp: "notification"
    case .enter, .leave, .door: modifier ?? .straight == .straight ? "notification" : Kind.turn.rawValue
    }
  }
}

extension Schema {
  package static let routes = Schema.object([
    .required("code", .words(["Ok"])),
    .required("routes", .list(route)),
    .optional("waypoints", .list(.routeWaypoint)),
  ]).named("Routes")

  /// What a route, a leg and a step cost: metres, seconds, and seconds with what a profile dislikes.
  private static let costs: [Member] = ["distance", "duration", "weight"].map { .required($0, .number(0...)) }

  /// A line as GeoJSON or as a polyline.
  private static let line = Schema.one(of: [
    .object([
      .required("type", .words(["LineString"])),
      .required("coordinates", .list(.list(.number, 2...2))),
    ]), .text,
  ])

  private static let route = Schema.object(
    costs + [
      .required("weight_name", .text),
      .optional("geometry", line),
      .required("legs", .list(leg)),
    ]
  )

  private static let leg = Schema.object(
    costs + [
      .required("summary", .text),
      .required("steps", .list(step)),
      .optional(
        "annotation",
        .object(["distance", "duration", "weight", "speed"].map { .optional($0, .list(.number(0...))) }),
        "About each piece of the leg's line."
      ),
    ]
  )

  private static let step = Schema.object(
    costs + [
      .required("mode", .words(["walking"])),
      .required("name", .text),
      .required("floor", .text),
      .required("level", .integer),
      .required("instruction", .text),
      .required("geometry", line),
      .required("maneuver", maneuver),
      .required("driving_side", .words(["right"])),
      .required("intersections", .list(intersection, 1...)),
    ]
  )

  private static let maneuver = Schema.object([
    .required("type", .words(["depart", "arrive", "turn", "continue", "notification"])),
    .required(
      "kind",
      .words([
        "depart", "arrive", "turn", "take stairs", "take lift", "take escalator", "take ramp", "continue",
        "enter", "leave", "pass door",
      ]),
      "The manoeuvre, where OSRM has no type for it."
    ),
    .optional(
      "modifier",
      .words([
        "uturn", "sharp left", "left", "slight left", "straight", "slight right", "right", "sharp right",
      ])
    ),
    .required("bearing_before", .integer(0...359)),
    .required("bearing_after", .integer(0...359)),
    .required("location", .list(.number, 2...2)),
    .optional("level", .integer, "The level that a connector is taken to."),
    .optional(
      "access",
      .words(Access.allCases.filter { $0 != .everyone && $0.isPassable }.map(\.rawValue)),
      "The people that the door, area or connector is meant for, unless it is everyone."
    ),
  ])

  private static let intersection = Schema.object([
    .required("location", .list(.number, 2...2)),
    .required("bearings", .list(.integer)),
    .required("entry", .list(.flag)),
    .optional("in", .integer),
    .optional("out", .integer),
  ])

  package static let routeWaypoint = Schema.object([
    .required("name", .text, "The name of the place, or of the area around the position; empty without one."),
    .required("location", .list(.number, 2...2)),
    .required("distance", .number(0...), "The distance in metres from the position that was given."),
    .optional("hint", .text),
    .required("level", .integer),
  ]).named("RouteWaypoint")
}
