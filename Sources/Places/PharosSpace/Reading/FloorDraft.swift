import PharosDocuments
import PharosModel

/// A floor under construction, with its doors.
struct FloorDraft {
  var floor: Floor
  /// Gaps in walls.
  var doors: [Door] = []
  /// The walkable areas with walls around them, by their index.
  private var rooms: Set<Int> = []
  /// The number of corners of its shapes.
  var corners = 0

  /// The maximum number of corners of a floor.
  ///
  /// A floor of a mall has 5,000, one of an airport 50,000.
  static let maximumCorners = 200_000
  /// The attenuation of an indoor wall for which the files give none.
  ///
  /// - Units: dB.
  /// - Source: plasterboard and glass at 2.4 GHz, ITU-R P.2040; COST 231 gives 3.4 for light walls.
  static let usualAttenuation = 3.4

  init(_ floor: Floor) {
    self.floor = floor
  }

  /// The use of a feature of a map.
  enum Use: String, CaseIterable {
    /// An area in which people can walk.
    case walkable
    /// An area in which people can walk, with walls around it.
    case room
    /// An area in which people cannot walk.
    case obstacle
    /// A wall, which stops people and weakens radio signals.
    case wall
    /// A gap in a wall.
    case door

    /// The list of uses for messages.
    static var expected: String { "walkable, room, obstacle, wall or door" }
  }

  /// Adds a shape in metres.
  mutating func add(_ shape: Shape<Point>, as use: Use, name: String, attenuation: Double) {
    switch use {
    case .walkable: floor.walkable += shape.areas(named: name)
    case .room:
      let areas = shape.areas(named: name)
      rooms.formUnion(floor.walkable.count..<floor.walkable.count + areas.count)
      floor.walkable += areas
      floor.walls.all += shape.sides.map { Wall(from: $0.start, to: $0.end, attenuation: attenuation) }
    case .obstacle: floor.obstacles += shape.areas(named: name)
    case .wall:
      floor.walls.all += shape.sides.map { Wall(from: $0.start, to: $0.end, attenuation: attenuation) }
    case .door: doors += shape.sides.map { Door($0, name: name) }
    }
    corners += shape.positions.count
  }

  /// Restricts the walkable areas from an index on to those that something around them is meant for.
  mutating func restrict(from index: Int, to access: Access) {
    for index in index..<floor.walkable.count {
      floor.walkable[index].access = max(floor.walkable[index].access, access)
    }
  }

  /// Returns the floor with its doors cut.
  ///
  /// - Parameter roomsWithoutDoors: how people come into rooms that no door leads into.
  /// - Returns: the floor.
  func finished(roomsWithoutDoors: RoomsWithoutDoors) -> Floor {
    var floor = floor
    floor.walls = floor.walls.withoutRepeats()
    guard !doors.isEmpty || roomsWithoutDoors == .open else { return floor }
    let doorways = Doorways(floor)
    var openings = doors.map { doorways.opening(of: $0.segment) }
    for (index, opening) in openings.enumerated() {
      var door = doors[index]
      door.segment = opening.segment
      // A door between two areas is the edge of the one that is meant for fewer people.
      let sides = Set(opening.joined.map { floor.walkable[$0].access })
      if sides.count > 1 { door.access = max(door.access, sides.max() ?? .everyone) }
      floor.doors.append(door)
    }
    if roomsWithoutDoors == .open {
      let joined = openings.reduce(into: Set<Int>()) { $0.formUnion($1.joined) }
      let halls = Set(floor.walkable.indices).subtracting(rooms)
      for room in rooms.subtracting(joined).sorted() {
        openings += floor.walkable[room].sides.map { doorways.opening(along: $0, of: room, towards: halls) }
      }
    }
    floor.thresholds += openings.flatMap(\.thresholds)
    floor.walls = floor.walls.opened(by: openings.flatMap(\.faces), within: 1e-3)
    return floor
  }
}

/// How people come into rooms that no door leads into.
enum RoomsWithoutDoors: String, CaseIterable {
  /// They do not.
  case closed
  /// From each hall or corridor that the room touches: there is no wall between them.
  case open
}

/// The drawing of a GeoJSON file's features on a floor.
struct MapLayer {
  let file: String
  /// The use of features that do not state one.
  let use: FloorDraft.Use?
  /// The attenuation of their walls, in dB.
  let attenuation: Double
  let problems: DocumentProblems
  /// The severity of what is wrong with a feature: a warning where the feature is left out and the others are used.
  var severity = DocumentProblem.Severity.mistake

  /// Draws features; those that cannot be drawn are mistakes.
  func draw(_ features: [GeoJSON.Feature], on draft: inout FloorDraft) {
    for feature in features where !problems.isFull {
      guard let geometry = feature.geometry else {
        record(feature, "geometry", "no geometry", expected: "a shape")
        continue
      }
      guard let use = use(of: feature) else { continue }
      let isRight: Bool
      switch (use, geometry) {
      case (.walkable, .polygons), (.room, .polygons), (.obstacle, .polygons): isRight = true
      case (.wall, .polygons), (.wall, .lines), (.door, .lines): isRight = true
      default: isRight = false
      }
      guard isRight else {
        let expected = use == .door ? "a line" : use == .wall ? "a line or a polygon" : "a polygon"
        record(feature, "geometry.type", "\(geometry.kind) cannot be a \(use.rawValue)", expected: expected)
        continue
      }
      guard draw(feature, geometry, as: use, on: &draft) else { return }
    }
  }

  /// Draws a shape whose use is known.
  ///
  /// - Returns: true if there is room for more.
  func draw(
    _ feature: GeoJSON.Feature,
    _ geometry: GeoJSON.Geometry,
    as use: FloorDraft.Use,
    on draft: inout FloorDraft
  ) -> Bool {
    guard let shape = geometry.projected(on: draft.floor.plane) else {
      record(feature, "geometry.coordinates", "far from its floor", expected: "places in the venue")
      return true
    }
    guard draft.corners + shape.positions.count <= FloorDraft.maximumCorners else {
      record(
        feature,
        "geometry.coordinates",
        "the floor has more than \(FloorDraft.maximumCorners) corners",
        expected: "a simpler drawing"
      )
      return false
    }
    let (count, areas) = (draft.doors.count, draft.floor.walkable.count)
    draft.add(shape, as: use, name: feature.name, attenuation: attenuation)
    let access = feature.access
    for index in areas..<draft.floor.walkable.count { draft.floor.walkable[index].access = access }
    guard draft.doors.count > count else { return true }
    let hours = hours(of: feature)
    for index in count..<draft.doors.count {
      draft.doors[index].isAccessible = feature.isAccessible
      draft.doors[index].hours = hours
      draft.doors[index].access = access
    }
    return true
  }

  /// The opening hours of a feature; nil, with a problem noted, if their text is not understood.
  func hours(of feature: GeoJSON.Feature) -> OpeningHours? {
    guard let text = feature.text("hours"), !text.isEmpty else { return nil }
    if let hours = OpeningHours(text) { return hours }
    let message = "\"\(PlainText.cut(text, to: 60))\"" + (severity == .warning ? " is ignored" : "")
    add(feature, "properties.hours", message, OpeningHours.example, severity)
    return nil
  }

  private func use(of feature: GeoJSON.Feature) -> FloorDraft.Use? {
    guard let text = feature.text("as") else {
      if use == nil {
        record(feature, "properties.as", "nothing says what it is", expected: FloorDraft.Use.expected)
      }
      return use
    }
    guard let own = FloorDraft.Use(rawValue: text) else {
      record(
        feature,
        "properties.as",
        "\"\(PlainText.cut(text, to: 40))\"",
        expected: FloorDraft.Use.expected
      )
      return nil
    }
    return own
  }

  /// Notes what is wrong with a feature, which is left out.
  func record(_ feature: GeoJSON.Feature, _ field: String, _ message: String, expected: String) {
    add(
      feature,
      field,
      severity == .warning ? message + "; the feature is left out" : message,
      expected,
      severity
    )
  }

  /// Notes what is ignored of a feature.
  func warn(_ feature: GeoJSON.Feature, _ field: String, _ message: String, expected: String) {
    add(feature, field, message, expected, .warning)
  }

  private func add(
    _ feature: GeoJSON.Feature,
    _ field: String,
    _ message: String,
    _ expected: String,
    _ severity: DocumentProblem.Severity
  ) {
    problems.add(
      DocumentProblem(
        file: file,
        place: .feature(feature.number, id: feature.id),
        field: field,
        severity: severity,
        message: message,
        expected: expected
      )
    )
  }
}
