import PharosDocuments
import PharosModel

/// The keys of a region that is an area, in the site file and in JSON.
enum GeofenceDocument {
  /// The kinds of regions.
  enum Kind: String, CaseIterable, Sendable {
    case beacons, circle, polygon
  }

  /// The keys of the outline.
  static let shapeKeys = ["kind", "latitude", "longitude", "radius", "coordinates", "file"]
  /// All keys but those of the rules.
  static let keys = shapeKeys.dropFirst() + DocumentField.keys(floor) + ["altitude"]
  /// The longest GeoJSON file that a site may name.
  private static let largestFile = 1 << 20

  static let floor: [DocumentField<Geofence>] = [
    DocumentField(
      "level",
      \.level,
      .integer(in: -100...1_000),
      "The floor of an area, 0 for the ground floor and outdoors; without it every floor."
    ),
    DocumentField(
      "building",
      \.building,
      .filled("a building of a venue"),
      "The building of an area; without it every building and outdoors."
    ),
  ]
  static let altitude: [DocumentField<Geofence.AltitudeRange>] = [
    DocumentField("from", \.from, .height, "The lowest height, as in `35m`; without it all below `to`."),
    DocumentField("to", \.to, .height, "The greatest height, as in `38.5m`; without it all above `from`."),
    DocumentField(
      "reference",
      \.reference,
      .word(Geofence.AltitudeRange.Reference.allCases),
      """
      What the heights are measured from: mean sea level, as the `altitude` of fixes, or the WGS 84 ellipsoid, as \
      their `ellipsoidalAltitude`. By default `seaLevel`.
      """
    ),
  ]
  static let enter: [DocumentField<Geofence.Policy>] = [
    DocumentField(
      "probability",
      \.enterProbability,
      .number(in: 0.5...0.9999),
      "Of an area: the probability above which a subject is inside; 0.9 unless given."
    ),
    DocumentField(
      "dwell",
      \.enterDwell,
      .timeOrZero,
      "Of an area: the time for which the probability must be above it; 1s unless given."
    ),
  ]
  static let exit: [DocumentField<Geofence.Policy>] = [
    DocumentField(
      "probability",
      \.exitProbability,
      .number(in: 0.0001...0.5),
      "Of an area: the probability below which a subject is outside; 0.1 unless given."
    ),
    DocumentField("dwell", \.exitDwell, .timeOrZero),
  ]

  /// Reads an area; nil if it is noted as a mistake.
  static func geofence(
    _ fields: DocumentFields,
    _ kind: Kind,
    files: ((String) throws -> [UInt8])?
  ) -> Geofence? {
    var policy = Geofence.Policy()
    if let rules = fields.fields("enter", known: DocumentField.keys(enter)) {
      DocumentField.read(enter, of: rules, into: &policy)
    }
    if let rules = fields.fields("exit", known: DocumentField.keys(exit)) {
      DocumentField.read(exit, of: rules, into: &policy)
      if policy.exitProbability >= policy.enterProbability {
        rules.mistake("probability", "the exit probability must be below the enter probability")
      }
    }
    let range = fields.has("altitude") ? heights(of: fields) : nil
    let shape = kind == .circle ? circle(fields) : polygon(fields, files: files)
    guard let shape, !fields.has("altitude") || range != nil else { return nil }
    var geofence = Geofence(shape: shape.value, altitude: range ?? shape.altitude, policy: policy)
    DocumentField.read(floor, of: fields, into: &geofence)
    if let problem = geofence.problem {
      fields.mistake(
        shape.key,
        "\(problem)",
        expected: "a circle on the Earth"
      )
      return nil
    }
    return geofence
  }

  /// Reads a range of heights; nil if it is noted as a mistake.
  private static func heights(of fields: DocumentFields) -> Geofence.AltitudeRange? {
    guard let heights = fields.fields("altitude", known: DocumentField.keys(altitude)) else { return nil }
    var range = Geofence.AltitudeRange()
    DocumentField.read(altitude, of: heights, into: &range)
    let isWrong = ["from", "to"].contains { heights.has($0) } && range.from == nil && range.to == nil
    guard !isWrong else { return nil }
    let probe = Geofence(
      shape: .circle(center: .init(latitude: 0, longitude: 0), radius: Meters(1)),
      altitude: range
    )
    if let problem = probe.problem {
      heights.mistake("from", "\(problem)", expected: "from, to or both, as in { from: 35m, to: 38m }")
      return nil
    }
    return range
  }

  private typealias Outline = (value: Geofence.Shape, altitude: Geofence.AltitudeRange?, key: String)

  private static func circle(_ fields: DocumentFields) -> Outline? {
    for key in ["coordinates", "file"] where fields.has(key) {
      fields.mistake(key, "a circle has no \(key)", expected: "latitude, longitude and radius")
    }
    let latitude = fields.required("latitude", .number(in: -90...90, unit: "degrees"))
    let longitude = fields.required("longitude", .number(in: -180...180, unit: "degrees"))
    let radius = fields.required("radius", .radius)
    guard let latitude, let longitude, let radius else { return nil }
    return (
      .circle(center: Geofence.Position(latitude: latitude, longitude: longitude), radius: radius), nil,
      "radius"
    )
  }

  private static func polygon(
    _ fields: DocumentFields,
    files: ((String) throws -> [UInt8])?
  ) -> Outline? {
    for key in ["latitude", "longitude", "radius"] where fields.has(key) {
      fields.mistake(key, "a polygon has no \(key)", expected: "coordinates or a file")
    }
    let expected = "coordinates: [[longitude, latitude], …], or the name of a GeoJSON file"
    switch (fields["coordinates"], fields["file"]) {
    case (let node?, nil):
      return polygons(node, fields, "coordinates", closed: false).map { ($0, nil, "coordinates") }
    case (nil, .some):
      return polygonsOfFile(fields, files: files).map { ($0.shape, $0.altitude, "file") }
    case (nil, nil): fields.mistake("coordinates", "coordinates are missing", expected: expected)
    case (.some, .some): fields.mistake("file", "both coordinates and a file are given", expected: expected)
    }
    return nil
  }

  /// Reads a ring, a polygon (a list of rings of which all but the first are holes) or a list of polygons; where `closed` is
  /// true, each ring must end with its first position, as in GeoJSON.
  private static func polygons(
    _ node: DocumentNode,
    _ fields: DocumentFields,
    _ key: String,
    closed: Bool
  ) -> Geofence.Shape? {
    let isList = node.elements?.first?.elements?.first?.elements?.first?.elements != nil
    var polygons: [[[Geofence.Position]]] = []
    for (number, part) in (isList ? node.elements ?? [] : [node]).enumerated() {
      let owner = isList ? " of polygon \(number + 1)" : ""
      guard let rings = rings(part, fields, key, owner: owner, closed: closed) else { return nil }
      polygons.append(rings)
    }
    let shape = Geofence.Shape.polygon(rings: Array(polygons.joined()))
    if let problem = Geofence(shape: shape).problem {
      let message = describe(problem, of: polygons, isList: isList)
      fields.mistake(key, message, expected: "simple polygons beside each other")
      return nil
    }
    for (number, polygon) in polygons.enumerated() {
      guard let found = shape.polygons.first(where: { $0.first == polygon.first }) else {
        fields.mistake(
          key,
          "polygon \(number + 1) lies within another one",
          expected: "polygons beside each other"
        )
        return nil
      }
      guard let stray = polygon.firstIndex(where: { !found.contains($0) }) else { continue }
      let place = isList ? " of polygon \(number + 1)" : ""
      let message = "ring \(stray)\(place) is a hole that does not lie within the outline alone"
      fields.mistake(key, message, expected: "an outline and its holes, or a list of polygons")
      return nil
    }
    return shape
  }

  /// Returns a description of what is wrong with polygons, which are counted from 1: of two that overlap with a place where
  /// they do, of one with its ring and its corner.
  private static func describe(
    _ problem: Geofence.Problem,
    of polygons: [[[Geofence.Position]]],
    isList: Bool
  ) -> String {
    let rings = Array(polygons.joined())
    let owners = polygons.enumerated().flatMap { number, polygon in
      polygon.indices.map { (polygon: number + 1, ring: $0) }
    }
    switch problem {
    case .crossing(let ring, let edge, let otherRing, let otherEdge)
    where owners[ring].polygon != owners[otherRing].polygon:
      let place = crossing(of: rings[ring], edge, rings[otherRing], otherEdge)
      return "polygons \(owners[ring].polygon) and \(owners[otherRing].polygon) overlap near "
        + "\(Wording.decimal(place.latitude, places: 5)), \(Wording.decimal(place.longitude, places: 5))"
    case .repeatedRing(let ring, let otherRing) where owners[ring].polygon != owners[otherRing].polygon:
      return
        "polygons \(owners[ring].polygon) and \(owners[otherRing].polygon) have an outline or a hole in common"
    default:
      return problem.description { ring in
        isList ? "ring \(owners[ring].ring) of polygon \(owners[ring].polygon)" : "ring \(ring)"
      }
    }
  }

  /// Returns the position at which two edges cross, each of which is named by its first corner; that corner of the first edge
  /// where they only touch or lie on each other.
  private static func crossing(
    of ring: [Geofence.Position],
    _ edge: Int,
    _ otherRing: [Geofence.Position],
    _ otherEdge: Int
  ) -> Geofence.Position {
    let (start, end) = (ring[edge], ring[(edge + 1) % ring.count])
    let (other, otherEnd) = (otherRing[otherEdge], otherRing[(otherEdge + 1) % otherRing.count])
    let along = (x: end.longitude - start.longitude, y: end.latitude - start.latitude)
    let across = (x: otherEnd.longitude - other.longitude, y: otherEnd.latitude - other.latitude)
    let turn = along.x * across.y - along.y * across.x
    guard turn != 0 else { return start }
    let between = (x: other.longitude - start.longitude, y: other.latitude - start.latitude)
    let part = min(max((between.x * across.y - between.y * across.x) / turn, 0), 1)
    return Geofence.Position(
      latitude: start.latitude + part * along.y,
      longitude: start.longitude + part * along.x
    )
  }

  /// Reads a ring, or a list of rings.
  private static func rings(
    _ node: DocumentNode,
    _ fields: DocumentFields,
    _ key: String,
    owner: String,
    closed: Bool
  ) -> [[Geofence.Position]]? {
    guard let elements = node.elements, let first = elements.first?.elements else {
      let found = node.elements?.isEmpty == true ? "is empty" : "is \(node.sketch)"
      let subject = closed ? "the geometry" : key
      fields.mistake(key, "\(subject)\(owner) \(found)", expected: "a list of [longitude, latitude]")
      return nil
    }
    let isOneRing = first.first?.elements == nil
    var rings: [[Geofence.Position]] = []
    for (number, ring) in (isOneRing ? [node] : elements).enumerated() {
      guard let corners = ring.elements else {
        fields.mistake(
          key,
          "ring \(number)\(owner) is \(ring.sketch)",
          expected: "a list of [longitude, latitude]"
        )
        return nil
      }
      guard corners.count <= Geofence.maximumCorners + 1 else {
        fields.mistake(key, "\(Geofence.Problem.tooManyCorners(corners.count))")
        return nil
      }
      var positions: [Geofence.Position] = []
      for (place, corner) in corners.enumerated() {
        let numbers = (corner.elements ?? []).map { $0.scalar(.number).flatMap { Double($0) } ?? .nan }
        // What stands behind the height has no meaning that is agreed on (RFC 7946, 3.1.1).
        guard numbers.count >= 2, (-180...180).contains(numbers[0]),
          (-90...90).contains(numbers[1])
        else {
          fields.problems.mistake(
            "\(fields.place): ring \(number)\(owner), corner \(place) is not a position",
            line: corner.line,
            field: fields.path(of: key) + (isOneRing ? "[\(place)]" : "[\(number)][\(place)]"),
            expected: "[longitude, latitude] in degrees"
          )
          return nil
        }
        positions.append(Geofence.Position(latitude: numbers[1], longitude: numbers[0]))
      }
      let isClosed = positions.count > 1 && positions.first == positions.last
      if closed, !isClosed {
        fields.problems.warning(
          "\(fields.place): ring \(number)\(owner) lacks its last position and is closed",
          line: (fields[key] ?? node).line,
          field: fields.path(of: key),
          expected: "its last position the same as its first"
        )
      }
      if isClosed { positions.removeLast() }
      rings.append(positions)
    }
    return rings
  }

  /// Reads the polygons of a GeoJSON file: a geometry, a feature, or a collection of one feature, whose properties may hold the
  /// range of heights under the key and in the form of the site file.
  private static func polygonsOfFile(
    _ fields: DocumentFields,
    files: ((String) throws -> [UInt8])?
  ) -> (shape: Geofence.Shape, altitude: Geofence.AltitudeRange?)? {
    guard let name = fields.requiredText("file", expected: "the name of a GeoJSON file") else { return nil }
    guard let files else {
      fields.mistake("file", "a file cannot be named here", expected: "coordinates")
      return nil
    }
    let bytes: [UInt8]
    do {
      bytes = try files(name)
    } catch {
      fields.mistake(
        "file",
        "\(name) cannot be read: \(error)",
        expected: "a file in the folder of the site file"
      )
      return nil
    }
    guard bytes.count <= largestFile else {
      fields.mistake("file", "\(name) is longer than \(largestFile) bytes", expected: "one polygon")
      return nil
    }
    guard let json = DocumentNode.parse(bytes, file: name, fields.problems) else { return nil }
    let root = DocumentNode(json)
    var (geometry, properties) = (root, DocumentNode?.none)
    if root["type"]?.scalar == "FeatureCollection" {
      let features = root["features"]?.elements ?? []
      guard features.count == 1 else {
        fields.mistake("file", "\(name) has \(features.count) features", expected: "one polygon")
        return nil
      }
      geometry = features[0]["geometry"] ?? root
      properties = features[0]["properties"]
    } else if root["type"]?.scalar == "Feature" {
      geometry = root["geometry"] ?? root
      properties = root["properties"]
    }
    let type = geometry["type"]?.scalar
    guard type == "Polygon" || type == "MultiPolygon", let coordinates = geometry["coordinates"] else {
      let kind = PlainText.cut(type ?? "nothing", to: 40)
      fields.mistake("file", "\(name) holds \(kind)", expected: "a GeoJSON Polygon or MultiPolygon")
      return nil
    }
    guard let shape = polygons(coordinates, fields, "file", closed: true) else { return nil }
    guard !fields.has("altitude"), let properties, properties["altitude"] != nil,
      let keys = properties.members?.compactMap(\.key.scalar),
      let stated = DocumentFields(properties, place: name, known: keys, problems: fields.problems)
    else { return (shape, nil) }
    return heights(of: stated).map { (shape, $0) }
  }

  /// Writes an area's members.
  static func write(_ geofence: Geofence, to json: inout JSONText) {
    switch geofence.shape {
    case .circle(let center, let radius):
      json.member("kind", Kind.circle.rawValue)
      json.member("latitude", center.latitude)
      json.member("longitude", center.longitude)
      json.member("radius", "\(radius.value)m")
    case .polygon:
      json.member("kind", Kind.polygon.rawValue)
      json.openArray("coordinates")
      let polygons = geofence.shape.polygons
      for polygon in polygons {
        if polygons.count > 1 { json.openArray() }
        for ring in polygon { write(ring, to: &json) }
        if polygons.count > 1 { json.closeArray() }
      }
      json.closeArray()
    }
    DocumentField.write(floor, of: geofence, to: &json)
    guard let range = geofence.altitude else { return }
    json.openObject("altitude")
    DocumentField.write(altitude, of: range, to: &json)
    json.closeObject()
  }

  private static func write(_ ring: [Geofence.Position], to json: inout JSONText) {
    json.openArray()
    for corner in ring {
      json.openArray()
      json.element(corner.longitude)
      json.element(corner.latitude)
      json.closeArray()
    }
    json.closeArray()
  }

  /// Writes the rules.
  static func write(_ policy: Geofence.Policy, to json: inout JSONText) {
    json.openObject("enter")
    DocumentField.write(enter, of: policy, to: &json)
    json.closeObject()
    json.openObject("exit")
    DocumentField.write(exit, of: policy, to: &json)
    json.closeObject()
  }
}

extension ValueForm where Value == Meters {
  /// The radius of a circle.
  fileprivate static var radius: Self {
    ValueForm(
      expected: "a distance in metres with its unit, above 0 and at most 100km, as in 20m",
      text: { "\($0.value)m" },
      parse: { text in
        guard text.hasSuffix("m"), let meters = Double(text.dropLast()) else { return nil }
        return meters > 0 && meters <= Geofence.largestRadius.value ? Meters(meters) : nil
      }
    )
  }
}

extension ValueForm where Value == Meters {
  /// A height, which may lie below its reference.
  fileprivate static var height: Self {
    ValueForm(
      expected: "a height in metres with its unit, as in 35m or -2.5m",
      schema: .pattern(#"^-?[0-9]+(\.[0-9]+)?m$"#).described("Metres with their unit, as in `-2.5m`."),
      text: { "\($0.value)m" },
      parse: { text in
        guard text.hasSuffix("m"), let meters = Double(text.dropLast()) else { return nil }
        return Geofence.AltitudeRange.bounds.contains(meters) ? Meters(meters) : nil
      }
    )
  }
}
