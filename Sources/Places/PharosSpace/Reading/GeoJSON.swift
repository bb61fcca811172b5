import PharosDocuments
import PharosModel

/// A GeoJSON file as a list of features, each with its number, which error messages name.
///
/// - Source: RFC 7946; coordinates are longitude first, then latitude, on WGS 84.
struct GeoJSON {
  /// One feature.
  struct Feature {
    /// The number of the feature in the file, from 1.
    let number: Int
    /// The id that the file gives it.
    let id: String?
    /// The members of its `properties` object.
    let properties: [JSONValue.Member]
    /// The shape; nil if it has none.
    var geometry: Geometry?

    /// The value of a property.
    subscript(_ name: String) -> JSONValue? { properties.first { $0.name == name }?.value }

    /// Returns a property that is a text, without control characters.
    func text(_ name: String) -> String? { self[name]?.string.map(PlainText.clean) }
  }

  /// A shape on the Earth.
  typealias Geometry = Shape<Coordinate>

  /// The features in order, without invalid ones.
  let features: [Feature]

  /// The maximum number of features of a file.
  static let maximumFeatures = 100_000

  /// Reads a file and notes the mistakes in it.
  ///
  /// The result is nil if the file cannot be read or is no list of features at all. Where problems are warnings, a feature
  /// with an invalid shape is kept without it.
  init?(
    file: String,
    of files: VenueFiles,
    problems: DocumentProblems,
    severity: DocumentProblem.Severity = .mistake
  ) {
    guard let bytes = files.bytes(file, problems: problems),
      let value = DocumentNode.parse(bytes, file: file, problems)
    else { return nil }
    let elements: [JSONValue]
    switch (value["type"]?.string, value["features"]) {
    case ("FeatureCollection", .array(let features)): elements = features
    case ("FeatureCollection", .null) where severity == .warning: elements = []
    case ("Feature", _): elements = [value]
    default:
      problems.mistake(file, "no list of features", expected: "a GeoJSON FeatureCollection")
      return nil
    }
    if let system = GeoJSON.foreignSystem(value["crs"]) {
      problems.mistake(
        file,
        "its coordinates are in \(PlainText.cut(system, to: 60)) (crs)",
        expected: "longitude and latitude on WGS 84: convert the file, as with "
          + "`ogr2ogr -t_srs EPSG:4326 new.geojson \(file)`"
      )
      return nil
    }
    guard elements.count <= GeoJSON.maximumFeatures else {
      problems.mistake(file, "\(elements.count) features", expected: "at most \(GeoJSON.maximumFeatures)")
      return nil
    }
    features = GeoJSON.features(elements, of: file, problems: problems, severity: severity)
  }

  private static func features(
    _ elements: [JSONValue],
    of file: String,
    problems: DocumentProblems,
    severity: DocumentProblem.Severity
  ) -> [Feature] {
    var features: [Feature] = []
    for (index, element) in elements.enumerated() where !problems.isFull {
      let id = element["id"].flatMap(GeoJSON.identifier)
      do throws(DocumentProblem) {
        guard element["type"]?.string == "Feature" else {
          throw .shape("type", "no feature", expected: "\"type\": \"Feature\"")
        }
        features.append(try Feature(element, number: index + 1, id: id))
        if let field = GeoJSON.openRing(in: element["geometry"]) {
          problems.add(
            DocumentProblem(
              file: file,
              place: .feature(index + 1, id: id),
              field: field,
              severity: .warning,
              message: "a ring lacks its last position and is closed",
              expected: "the last position the same as the first"
            )
          )
        }
      } catch {
        var problem = error
        if severity == .warning {
          problem.severity = severity
          problem.message += "; it is ignored"
          if let feature = try? Feature(element, number: index + 1, id: id, hasShape: false) {
            features.append(feature)
          }
        }
        problem.file = file
        problem.place = .feature(index + 1, id: id)
        problems.add(problem)
      }
    }
    return features
  }

  /// The field of the first ring whose last position is not the first; nil if there is none.
  private static func openRing(in geometry: JSONValue?) -> String? {
    func isPosition(_ value: JSONValue) -> Bool {
      if case .array(let numbers) = value { numbers.first?.double != nil } else { false }
    }
    // A height that only one of the two has is no other place.
    func place(_ value: JSONValue) -> [Double?] {
      if case .array(let numbers) = value { numbers.prefix(2).map(\.double) } else { [] }
    }
    func search(_ value: JSONValue, _ field: String) -> String? {
      guard case .array(let elements) = value, let first = elements.first, let last = elements.last else {
        return nil
      }
      if isPosition(first) { return place(first) == place(last) ? nil : field }
      return elements.indices.lazy.compactMap { search(elements[$0], "\(field)[\($0)]") }.first
    }
    let kind = geometry?["type"]?.string
    guard kind == "Polygon" || kind == "MultiPolygon", let rings = geometry?["coordinates"] else {
      return nil
    }
    return search(rings, "geometry.coordinates")
  }

  /// The reference system that a `crs` member names; nil for WGS 84 and systems whose degrees differ from it by less than
  /// two metres.
  ///
  /// - Source: the GeoJSON specification of 2008, section 3; RFC 7946 allows WGS 84 alone.
  private static func foreignSystem(_ crs: JSONValue?) -> String? {
    guard let crs, crs != .null else { return nil }
    let properties = crs["properties"]
    let code = properties?["code"]?.double.map { "EPSG:\(Int($0))" }
    guard let name = properties?["name"]?.string ?? code ?? properties?["href"]?.string else {
      return "a reference system without a name"
    }
    let word = String(name.uppercased().filter { $0 != " " })
    let geographic = ["CRS84", "CRS84H", "WGS84", "4326", "4979", "4258", "4937", "4269", "7844"]
    let last = word.split { ":/#".contains($0) }.last.map(String.init) ?? word
    return geographic.contains(last) ? nil : name
  }

  /// The identifier in a value: a text or a whole number.
  static func identifier(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): PlainText.clean(text)
    case .integer(let number): "\(number)"
    default: nil
    }
  }
}

extension GeoJSON.Feature {
  fileprivate init(
    _ element: JSONValue,
    number: Int,
    id: String?,
    hasShape: Bool = true
  ) throws(DocumentProblem) {
    self.number = number
    self.id = id
    switch element["properties"] {
    case .object(let members): properties = members
    case nil, .null: properties = []
    case let other?: throw .shape("properties", other.kind, expected: "an object or null")
    }
    switch element["geometry"] {
    case nil, .null: geometry = nil
    case let value?: geometry = hasShape ? try GeoJSON.Geometry(value) : nil
    }
  }
}

extension JSONValue {
  /// A member of an object.
  subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// A text.
  var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// A whole number, however it is written: `0`, `0.0` or `"0"`.
  var wholeNumber: Int? {
    switch self {
    case .integer(let number): Int(exactly: number)
    case .number(let number): Int(exactly: number)
    case .string(let text): Int(text) ?? Double(text).flatMap { Int(exactly: $0) }
    default: nil
    }
  }

  /// A number.
  var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }
}

extension DocumentProblem {
  /// A mistake in a feature; the reader of the file adds which one.
  fileprivate static func shape(_ field: String, _ message: String, expected: String) -> DocumentProblem {
    DocumentProblem(field: field, message: message, expected: expected)
  }
}

extension GeoJSON.Geometry {
  /// Reads a shape of one of the six kinds that have coordinates.
  init(_ value: JSONValue) throws(DocumentProblem) {
    let field = "geometry.coordinates"
    guard let coordinates = value["coordinates"] else {
      throw .shape(field, "no coordinates", expected: "a list")
    }
    switch value["type"]?.string {
    case "Point": self = .points([try Self.coordinate(coordinates, field)])
    case "MultiPoint": self = .points(try Self.list(coordinates, field, Self.coordinate))
    case "LineString": self = .lines([try Self.line(coordinates, field)])
    case "MultiLineString": self = .lines(try Self.list(coordinates, field, Self.line))
    case "Polygon": self = .polygons([try Self.polygon(coordinates, field)])
    case "MultiPolygon": self = .polygons(try Self.list(coordinates, field, Self.polygon))
    case let type:
      let found = type.map { "type \"\(PlainText.cut($0, to: 40))\"" } ?? "no type"
      throw .shape("geometry.type", found, expected: "Point, LineString, Polygon or a Multi of them")
    }
  }

  private static func list<Element>(
    _ value: JSONValue,
    _ field: String,
    _ read: (JSONValue, String) throws(DocumentProblem) -> Element
  ) throws(DocumentProblem) -> [Element] {
    guard case .array(let elements) = value else {
      throw .shape(field, value.kind, expected: "a list")
    }
    var result: [Element] = []
    result.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() { result.append(try read(element, "\(field)[\(index)]")) }
    return result
  }

  private static func coordinate(_ value: JSONValue, _ field: String) throws(DocumentProblem) -> Coordinate {
    let expected = "[longitude, latitude] in degrees, maybe with a height"
    // What stands behind the height has no meaning that is agreed on (RFC 7946, 3.1.1).
    guard case .array(let numbers) = value, numbers.count >= 2 else {
      throw .shape(field, "no position", expected: expected)
    }
    guard let longitude = numbers[0].double, let latitude = numbers[1].double else {
      throw .shape(field, "no numbers", expected: expected)
    }
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      throw .shape(field, "[\(longitude), \(latitude)] is nowhere on the Earth", expected: expected)
    }
    return coordinate
  }

  private static func line(_ value: JSONValue, _ field: String) throws(DocumentProblem) -> [Coordinate] {
    let line = try list(value, field, coordinate)
    guard line.count >= 2 else {
      throw .shape(field, "a line of \(line.count)", expected: "two positions or more")
    }
    return line
  }

  private static func polygon(_ value: JSONValue, _ field: String) throws(DocumentProblem) -> [[Coordinate]] {
    let rings = try list(value, field, ring)
    guard !rings.isEmpty else { throw .shape(field, "no ring", expected: "an outline") }
    return rings
  }

  private static func ring(_ value: JSONValue, _ field: String) throws(DocumentProblem) -> [Coordinate] {
    let ring = try list(value, field, coordinate)
    // One that only lacks its last position has one meaning.
    let corners = ring.first == ring.last ? ring.dropLast() : ring[...]
    guard corners.count >= 3 else {
      throw .shape(
        field,
        "a ring of \(ring.count)",
        expected: "four positions or more, the last one the same as the first"
      )
    }
    return Array(corners)
  }
}

/// What IMDF says about a feature.
extension GeoJSON.Feature {
  /// The name, in English if there are several languages; empty if there is none.
  var name: String { label("name") }

  /// Indicates whether a wheelchair can use it: as `accessible` says; else, if IMDF's `accessibility` lists anything, if it
  /// lists `wheelchair`; else unless the kind of its `door` is a turnstile or revolves.
  var isAccessible: Bool {
    if case .bool(let isAccessible) = self["accessible"] { return isAccessible }
    let kinds = texts("accessibility")
    guard kinds.isEmpty else { return kinds.contains("wheelchair") }
    let door = self["door"]?["type"]?.string?.lowercased() ?? ""
    return door != "revolving" && !door.hasPrefix("turnstile")
  }

  /// The people that it is meant for, by IMDF's `restriction`, `access_control` and `category`.
  var access: Access {
    ["restriction", "access_control", "category"].flatMap(texts).compactMap(Access.init(imdf:)).max()
      ?? .everyone
  }

  /// The texts that a property holds: one or a list.
  private func texts(_ name: String) -> [String] {
    switch self[name] {
    case .array(let values): values.compactMap(\.string)
    case let value?: value.string.map { [$0] } ?? []
    case nil: []
    }
  }

  /// The position at which to show a feature.
  var displayPoint: Coordinate? {
    guard let value = self["display_point"], case .points(let points) = try? GeoJSON.Geometry(value) else {
      return nil
    }
    return points.first
  }

  /// Returns a text without control characters, in English if there are several languages; empty if there is none.
  func label(_ key: String) -> String {
    let text: String? =
      if case .object(let labels) = self[key] {
        labels.first { $0.name == "en" }?.value.string ?? labels.lazy.compactMap(\.value.string).first
      } else {
        self[key]?.string
      }
    return text.map(PlainText.clean) ?? ""
  }
}
