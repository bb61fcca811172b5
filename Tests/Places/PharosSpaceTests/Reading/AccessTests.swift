import PharosModel
import PharosSpace
import PharosTestSupport
import PharosWays
import Testing

/// Two rooms above a hall, with doors to the hall and one between them, and optionally a corridor above the rooms.
///
/// ```
///  8 +-------------------------+
///    |  corridor               |
///  6 +--------- -+- -----------+   doors at -2...-1 and 1...2
///    |  Room A   |   Room B    |
///    |   start   :             |   door at 2...3.2
///  0 +-- --------+-------- ----+   doors at -8...-6.8 and 6.8...8
///    |  hall                   |
/// -5 +-------------------------+
///   -10          0            10
/// ```
@Suite("Access to openings, units and lifts")
struct AccessTests {
  /// A position in degrees at a place in metres.
  private static func position(_ x: Double, _ y: Double) -> String {
    "[\(13 + x * 1.459099e-5),\(52 + y * 8.993216e-6)]"
  }

  private static func unit(
    _ id: String,
    _ properties: String,
    _ west: Double,
    _ south: Double,
    _ east: Double,
    _ north: Double
  ) -> String {
    let ring = [(west, south), (east, south), (east, north), (west, north), (west, south)].map(position)
    return MemoryVenue.feature(
      id,
      "\"level_id\": \"l\", \(properties)",
      "Polygon",
      "[[\(ring.joined(separator: ","))]]"
    )
  }

  private static func door(
    _ id: String,
    _ from: (Double, Double),
    _ to: (Double, Double),
    _ properties: String = #""category": "pedestrian""#
  ) -> String {
    MemoryVenue.feature(
      id,
      "\"level_id\": \"l\", \(properties)",
      "LineString",
      "[\(position(from.0, from.1)),\(position(to.0, to.1))]"
    )
  }

  /// The archive: with a door between the rooms where its properties are given, and other units.
  private static func house(
    door inner: String? = nil,
    hall: [String] = [unit("hall", #""category": "walkway", "name": {"en": "Hall"}"#, -10, -5, 10, 0)],
    roomB: String = "",
    level: String = "",
    others: [String] = [],
    hasHallDoors: Bool = true
  ) -> MemoryVenue {
    let outline = unit("x", "", -60, -60, 60, 60)
    func outlined(_ id: String, _ properties: String) -> String {
      outline.replacing("\"id\": \"x\"", with: "\"id\": \"\(id)\"")
        .replacing("\"level_id\": \"l\", ", with: properties)
    }
    let hallDoors = [door("a", (-8, 0), (-6.8, 0)), door("b", (6.8, 0), (8, 0))]
    return MemoryVenue([
      "venue.geojson": MemoryVenue.collection([
        outlined("v", #""display_point": {"type": "Point", "coordinates": [13.0, 52.0]}"#)
      ]),
      "level.geojson": MemoryVenue.collection([outlined("l", #""ordinal": 0"# + level)]),
      "unit.geojson": MemoryVenue.collection(
        hall + [
          unit("room-a", #""category": "room", "name": {"en": "Room A"}"#, -10, 0, 0, 6),
          unit("room-b", #""category": "room", "name": {"en": "Room B"}"# + roomB, 0, 0, 10, 6),
        ] + others
      ),
      "opening.geojson": MemoryVenue.collection(
        (hasHallDoors ? hallDoors : []) + (inner.map { [door("c", (0, 2), (0, 3.2), $0)] } ?? [])
          + (others.isEmpty ? [] : [door("d", (-2, 6), (-1, 6)), door("e", (1, 6), (2, 6))])
      ),
    ])
  }

  /// The way from the start to Room B.
  private static func route(in house: MemoryVenue, isAccessible: Bool = false) throws -> WalkingRoute {
    let start = try #require(Coordinate(latitude: 52 + 5 * 8.993216e-6, longitude: 13 - 1.459099e-5))
    let routes = try Router(WalkableGraph(house.read())).routes(
      from: .coordinate(start, level: 0),
      to: .place("Room B"),
      options: RouteOptions(isAccessible: isAccessible)
    )
    return try #require(routes.first)
  }

  @Test(
    "ways use a door that is meant for everyone, and no other while there is another way",
    arguments: [
      (#""category": "pedestrian""#, true), (#""category": "pedestrian.transit""#, true),
      (#""category": "pedestrian", "access_control": null, "door": {"type": "swinging"}"#, true),
      (#""category": "pedestrian", "access_control": []"#, true),
      (#""category": "emergencyexit""#, false), (#""category": "service""#, false),
      (#""category": "automobile""#, false), (#""category": "bicycle""#, false),
      (#""category": "pedestrian", "access_control": ["outofservice"]"#, false),
      (#""category": "pedestrian", "access_control": ["badgereader", "guard"]"#, false),
      (#""category": "pedestrian", "restriction": "employeesonly""#, false),
    ]
  )
  func doors(properties: String, isUsed: Bool) throws {
    let meters = try Self.route(in: Self.house(door: properties)).distance
    #expect(isUsed ? meters < 12 : meters > 20, "\(properties): \(meters)")
  }

  @Test(
    "the only way leads through a door for fewer people, and an instruction says so",
    arguments: [
      (#""category": "service""#, "staff only"), (#""category": "automobile""#, "meant for vehicles"),
      (#""category": "pedestrian", "access_control": ["keyaccess"]"#, "with a key or a pass"),
    ]
  )
  func lastResort(properties: String, note: String) throws {
    let house = Self.house(door: properties, hasHallDoors: false)
    let route = try Self.route(in: house)
    #expect(route.distance < 12)
    let instructions = route.steps.map { $0.instruction(in: .english) }
    #expect(instructions.contains { $0.hasSuffix("(\(note))") }, "\(instructions)")
    let graph = WalkableGraph(try house.read())
    #expect(try WalkableGraph(decoding: graph.encoded()).encoded() == graph.encoded())
  }

  @Test(
    "no way leads through an emergency exit or a door out of service, and the check names the room behind it",
    arguments: [
      #""category": "emergencyexit""#, #""category": "pedestrian", "access_control": "outofservice""#,
    ]
  )
  func impassable(properties: String) throws {
    // Neither room has a door to the hall.
    let house = Self.house(door: properties, hasHallDoors: false)
    #expect(throws: RoutingError.noWay(isAccessible: false, isRestricted: false)) {
      try Self.route(in: house)
    }
    let findings = VenueCheck(try house.read()).findings.map(\.description)
    #expect(findings.contains { $0.contains("emergency exits or out of service") }, "\(findings)")
  }

  @Test(
    "ways go around units for staff, by category, restriction, level or building",
    arguments: [
      (#""category": "walkway""#, true), (#""category": "corridor", "restriction": null"#, true),
      (#""category": "walkway", "restriction": "employeesonly""#, false),
      (#""category": "walkway", "restriction": "restricted""#, false), (#""category": "nonpublic""#, false),
      (#""category": "storage""#, false),
    ]
  )
  func units(properties: String, isUsed: Bool) throws {
    let house = Self.house(others: [Self.unit("corridor", properties, -10, 6, 10, 8)])
    let meters = try Self.route(in: house).distance
    #expect(isUsed ? meters < 14 : meters > 20, "\(properties): \(meters)")
  }

  @Test("an area for staff without walls is used where nothing else leads on, and an instruction says so")
  func gates() throws {
    let house = Self.house(hall: [
      Self.unit("west", #""category": "walkway""#, -10, -5, -3, 0),
      Self.unit("middle", #""category": "walkway", "restriction": "employeesonly""#, -3, -5, 3, 0),
      Self.unit("east", #""category": "walkway""#, 3, -5, 10, 0),
    ])
    let route = try Self.route(in: house)
    #expect(route.distance > 20)
    #expect(route.steps.contains { $0.maneuver.access == .staff })
    let inner = try Self.route(
      in: Self.house(door: #""category": "pedestrian""#, level: #", "restriction": "employeesonly""#)
    )
    #expect(
      inner.steps.allSatisfy { $0.maneuver.access == .everyone },
      "the whole level is for the same people"
    )
  }

  @Test("a goal in a room for staff is reached by the ways for everyone up to its door")
  func staffGoal() throws {
    let house = Self.house(
      door: #""category": "emergencyexit""#,
      roomB: #", "restriction": "employeesonly""#
    )
    let route = try Self.route(in: house)
    #expect(route.distance > 20)
  }

  @Test(
    "the instruction to enter a room for staff says so, however its door lies to the walls",
    arguments: Seeds.drawn(0..<30)
  )
  func staffDoor(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var house = Self.house(roomB: #", "restriction": "employeesonly""#)
    // The hall's edge lies up to the thickness of a wall below the rooms, or on their line.
    let gap = Bool.random(using: &random) ? 0 : Double.random(in: 0.05...0.2, using: &random)
    let west = Double.random(in: 0.5...8, using: &random)
    let width = Double.random(in: 0.8...1.5, using: &random)
    let shift = Double.random(in: 0...gap, using: &random)
    let rooms = String(decoding: house.files["unit.geojson"] ?? [], as: UTF8.self)
    let hall = { (top: Double) in
      Self.unit("hall", #""category": "walkway", "name": {"en": "Hall"}"#, -10, -5, 10, top)
    }
    house.files["unit.geojson"] = Array(rooms.replacing(hall(0), with: hall(-gap)).utf8)
    house.files["opening.geojson"] = Array(
      MemoryVenue.collection([
        Self.door("a", (-8, -shift), (-6.8, -shift)), Self.door("b", (west, -shift), (west + width, -shift)),
      ]).utf8
    )
    let steps = try Self.route(in: house).steps
    let entry = try #require(steps.first { $0.maneuver.kind == .enter && $0.maneuver.name == "Room B" })
    #expect(entry.maneuver.access == .staff && entry.instruction(in: .english) == "Enter Room B (staff only)")
    #expect(steps.filter { $0.maneuver.access != .everyone }.count == 1)
  }

  @Test(
    "a way for wheelchairs avoids turnstiles and revolving doors unless the door lists wheelchairs",
    arguments: [
      (#""door": {"type": "turnstile"}"#, false), (#""door": {"type": "turnstile.fullheight"}"#, false),
      (#""door": {"type": "turnstile.waistheight", "automatic": true}"#, false),
      (#""door": {"type": "revolving"}"#, false), (#""door": {"type": "sliding"}"#, true),
      (#""door": null"#, true), (#""door": {"type": "revolving"}, "accessibility": ["wheelchair"]"#, true),
    ]
  )
  func wheels(properties: String, isUsed: Bool) throws {
    let house = Self.house(door: #""category": "pedestrian", "# + properties)
    let meters = try Self.route(in: house, isAccessible: true).distance
    #expect(isUsed ? meters < 12 : meters > 20, "\(properties): \(meters)")
    #expect(try Self.route(in: house).distance < 12)
  }

  @Test("a lift is for staff where all of its units are, or out of service where its relationship says so")
  func lifts() throws {
    func access(_ units: [String: String], _ relationship: String? = nil) throws -> Access? {
      var archive = IMDFTests.archive()
      var text = String(decoding: archive.files["unit.geojson"] ?? [], as: UTF8.self)
      for (level, properties) in units {
        let old = "\"level_id\": \"\(level)\", \"category\": \"elevator\""
        text = text.replacing(old, with: old + properties)
      }
      archive.files["unit.geojson"] = Array(text.utf8)
      if let relationship {
        archive.files["relationship.geojson"] = Array(
          MemoryVenue.collection([
            MemoryVenue.feature(
              "r",
              "\"category\": \"elevator\", \"origin\": {\"id\": \"g-lift\"}, \"destination\": {\"id\": \"u-lift\"}"
                + relationship,
              "Point",
              "[8.54,47.37]"
            )
          ]).utf8
        )
      }
      return try archive.read().connectors.first { $0.kind == .lift }?.access
    }
    let staff = #", "restriction": "employeesonly""#
    #expect(try access([:]) == .everyone)
    #expect(try access(["g": staff]) == .everyone)
    #expect(try access(["g": staff, "u": staff]) == .staff)
    #expect(try access([:], #", "access_control": ["outofservice"]"#) == .outOfService)
    #expect(try access([:], #", "access_control": ["keyaccess"]"#) == .restricted)
  }
}
