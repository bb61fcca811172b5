import PharosModel
import PharosSite
import PharosSpace
import PharosTestSupport
import PharosWays
import Testing

/// A floor plan in metres, turned and written as an IMDF archive.
private struct DrawnPlan {
  /// The angle by which it is turned, in radians.
  var angle = 0.0
  private(set) var units: [String] = []
  private(set) var openings: [String] = []
  /// The middle of each unit.
  private(set) var middles: [String: Point] = [:]

  private func position(_ point: Point) -> String {
    let (sine, cosine) = Trigonometry.sineAndCosine(angle)
    let turned = Point(x: point.x * cosine - point.y * sine, y: point.x * sine + point.y * cosine)
    let coordinate = GroundPlane(origin: DrawnPlan.origin).coordinate(of: turned) ?? DrawnPlan.origin
    return "[\(coordinate.longitude), \(coordinate.latitude)]"
  }

  static let origin = Coordinate(latitude: 52, longitude: 13) ?? .zero

  mutating func unit(_ name: String, _ category: String, _ corners: [Point]) {
    let ring = (corners + corners.prefix(1)).map(position).joined(separator: ",")
    let properties =
      "\"level_id\": \"l\", \"category\": \"\(category)\", \"name\": {\"en\": \"\(name)\"}"
    units.append(MemoryVenue.feature(name, properties, "Polygon", "[[\(ring)]]"))
    middles[name] = corners.reduce(.origin) { $0 + $1 } * (1 / Double(corners.count))
  }

  mutating func unit(
    _ name: String,
    _ category: String,
    _ x: Double,
    _ y: Double,
    _ toX: Double,
    _ toY: Double
  ) {
    unit(name, category, Polygon(rectangleFrom: Point(x: x, y: y), to: Point(x: toX, y: toY)).corners)
  }

  mutating func door(_ from: Point, _ to: Point) {
    openings.append(
      MemoryVenue.feature(
        "door \(openings.count)",
        "\"level_id\": \"l\", \"category\": \"pedestrian\"",
        "LineString",
        "[\(position(from)), \(position(to))]"
      )
    )
  }

  var archive: MemoryVenue {
    let place = position(.origin)
    return MemoryVenue([
      "venue.geojson": MemoryVenue.collection([
        MemoryVenue.feature(
          "v",
          "\"display_point\": {\"type\": \"Point\", \"coordinates\": \(place)}",
          "Point",
          place
        )
      ]),
      "level.geojson": MemoryVenue.collection([
        MemoryVenue.feature("l", "\"ordinal\": 0, \"name\": {\"en\": \"L\"}", "Point", place)
      ]),
      "unit.geojson": MemoryVenue.collection(units),
      "opening.geojson": MemoryVenue.collection(openings),
    ])
  }

  /// The units that there is a way to from a unit, and those that `check` names as cut off.
  func ways(from start: String) throws -> (reached: Set<String>, named: Set<String>) {
    let venue = try archive.read()
    let router = Router(WalkableGraph(venue))
    let reached = middles.keys.filter { name in
      name == start || (try? router.routes(from: .place(start), to: .place(name))) != nil
    }
    let findings = VenueCheck(venue).findings.map(\.description)
    let named = middles.keys.filter { name in
      findings.contains { $0.contains("\"\(name)\" (") && $0.contains("cannot be walked to") }
    }
    return (Set(reached), Set(named))
  }
}

@Suite("Doors between outlines that lie apart")
struct DoorwayTests {
  /// A ward: two corridors that cross, and rooms on both sides of them, of which every sixth has no door.
  ///
  /// - Returns: the plan and the rooms that have doors.
  private func hospital(
    gap: Double,
    angle: Double,
    _ random: inout SeededGenerator
  ) -> (DrawnPlan, Set<String>) {
    var plan = DrawnPlan(angle: angle)
    plan.unit("corridor", "walkway", 0, 0, 48, 3)
    plan.unit("wing", "walkway", 20, 3, 23, 30)
    var joined: Set<String> = ["corridor", "wing"]
    func share() -> Double { Double(random.next() % 1_001) / 1_000 }
    for side in [0, 1] {
      for number in 0..<8 {
        let x = Double(number) * 6 + 0.1
        if side == 1, x + 5.8 > 20, x < 23 { continue }
        let name = "room \(side)\(number)"
        let y = side == 0 ? -gap : 3 + gap
        plan.unit(name, "room", x, y, x + 5.8, side == 0 ? y - 5 : y + 5)
        guard (number + side) % 6 != 5 else { continue }
        // The door lies on either outline, between them or beside them, and may be a little oblique.
        let start = x + 0.5 + share() * 3
        let height = (side == 0 ? -gap : 3) + gap * share() + 0.1 * (share() - 0.5)
        let slope = 0.1 * (share() - 0.5)
        plan.door(Point(x: start, y: height - slope), Point(x: start + 1.2, y: height + slope))
        joined.insert(name)
      }
    }
    for number in 0..<3 {
      let y = 10 + Double(number) * 6
      let name = "ward \(number)"
      plan.unit(name, "room", 23 + gap, y, 30, y + 5.8)
      plan.door(Point(x: 23 + gap * share(), y: y + 2), Point(x: 23 + gap * share(), y: y + 3))
      joined.insert(name)
      // A room behind the room.
      plan.unit("store \(number)", "storage", 30 + gap, y, 34, y + 5.8)
      if number > 0 {
        plan.door(Point(x: 30 + gap / 2, y: y + 4), Point(x: 30 + gap / 2, y: y + 4.8))
        joined.insert("store \(number)")
      }
    }
    return (plan, joined)
  }

  /// An office: one open room with cells in it that are not rectangles, walls of their own thickness between them.
  private func office(gap: Double, angle: Double, _ random: inout SeededGenerator) -> (DrawnPlan, Set<String>)
  {
    var plan = DrawnPlan(angle: angle)
    plan.unit("open plan", "walkway", 0, 0, 30, 8)
    var joined: Set<String> = ["open plan"]
    for number in 0..<5 {
      let x = Double(number) * 6
      let lean = 0.3 * Double(number % 3)
      let name = "cell \(number)"
      plan.unit(
        name,
        "office",
        [
          Point(x: x + gap / 2, y: 8 + gap), Point(x: x + 6 - gap / 2, y: 8 + gap),
          Point(x: x + 6 - gap / 2 - lean, y: 13), Point(x: x + gap / 2 + lean, y: 13),
        ]
      )
      guard number != 2 else { continue }
      let start = x + 1 + Double(random.next() % 3_000) / 1_000
      plan.door(Point(x: start, y: 8), Point(x: start + 0.9, y: 8))
      joined.insert(name)
    }
    return (plan, joined)
  }

  @Test(
    "every unit that a door joins has a way, and no other; check names those",
    arguments: [0, 0.0005, 0.001, 0.009, 0.05, 0.1, 0.2, 0.3]
  )
  func gaps(gap: Double) throws {
    var random = SeededGenerator(seed: 39)
    for angle in [0, 0.35, 1.2] {
      for (plan, joined) in [
        hospital(gap: gap, angle: angle, &random), office(gap: gap, angle: angle, &random),
      ] {
        let start = plan.middles["corridor"] == nil ? "open plan" : "corridor"
        let (reached, named) = try plan.ways(from: start)
        #expect(reached == joined, "gap \(gap), angle \(angle)")
        #expect(named == Set(plan.middles.keys).subtracting(joined), "gap \(gap), angle \(angle)")
      }
    }
  }

  @Test("random gaps, angles and doors leave no room that has a door without a way, and open no other")
  func random() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<12 {
      let gap = Double(random.next() % 3_001) / 10_000
      let angle = Double(random.next() % 6_283) / 1_000
      let (plan, joined) = hospital(gap: gap, angle: angle, &random)
      let (reached, named) = try plan.ways(from: "corridor")
      #expect(reached == joined, "seed \(seed), gap \(gap), angle \(angle)")
      #expect(named == Set(plan.middles.keys).subtracting(joined), "seed \(seed), gap \(gap), angle \(angle)")
    }
  }

  @Test("outlines that overlap are joined by their door", arguments: [0.001, 0.05, 0.2])
  func overlap(depth: Double) throws {
    var plan = DrawnPlan()
    plan.unit("hall", "walkway", 0, 0, 20, 5)
    plan.unit("room", "room", 8, 5 - depth, 12, 9)
    plan.unit("shut", "room", 13, 5 - depth, 17, 9)
    plan.door(Point(x: 9, y: 5), Point(x: 10, y: 5))
    #expect(try plan.ways(from: "hall").reached.contains("room"))
  }

  @Test("a door that is drawn longer than its room does not open the next room", arguments: [0, 0.1, 0.2])
  func longDoor(gap: Double) throws {
    var plan = DrawnPlan()
    plan.unit("hall", "walkway", 0, 0, 20, 5)
    plan.unit("room", "room", 2, 5 + gap, 6 - gap, 9)
    plan.unit("shut", "room", 6, 5 + gap, 10, 9)
    plan.door(Point(x: 5, y: 5), Point(x: 6.4, y: 5))
    #expect(try plan.ways(from: "hall").reached == ["hall", "room"])
  }

  @Test("neither does it where a hall is drawn under all rooms", arguments: [0, 0.2])
  func longDoorOverHall(gap: Double) throws {
    var plan = DrawnPlan()
    plan.unit("hall", "walkway", 0, 0, 20, 10)
    plan.unit("room", "room", 2, 5, 6 - gap, 9)
    plan.unit("shut", "room", 6, 5, 10, 9)
    plan.door(Point(x: 5, y: 5), Point(x: 6.4, y: 5))
    let venue = try plan.archive.read()
    let walls = venue.floors[0].floor.walls
    #expect(walls.count(between: Point(x: 5.5, y: 4), and: Point(x: 5.5, y: 6)) == 0)
    #expect(walls.count(between: Point(x: 6.2, y: 4), and: Point(x: 6.2, y: 6)) == 1)
  }

  @Test("doors side by side and at a corner open their own rooms")
  func corner() throws {
    var plan = DrawnPlan()
    plan.unit("hall", "walkway", 0, 0, 10, 5)
    plan.unit("left", "room", 0, 5.15, 4.95, 9)
    plan.unit("right", "room", 5.05, 5.15, 10, 9)
    plan.unit("beside", "room", 10.15, 0, 14, 9)
    plan.door(Point(x: 4.05, y: 5.07), Point(x: 4.95, y: 5.07))
    plan.door(Point(x: 5.05, y: 5.07), Point(x: 5.95, y: 5.07))
    #expect(try plan.ways(from: "hall").reached == ["hall", "left", "right"])
    plan.door(Point(x: 10, y: 4.2), Point(x: 10, y: 5))
    #expect(try plan.ways(from: "hall").reached == ["hall", "left", "right", "beside"])
  }

  @Test("outlines that lie too far apart at a door are named with their distance")
  func tooFar() throws {
    var plan = DrawnPlan()
    plan.unit("hall", "walkway", 0, 0, 20, 5)
    plan.unit("room", "room", 8, 5.45, 12, 9)
    plan.door(Point(x: 9, y: 5), Point(x: 10, y: 5))
    let findings = VenueCheck(try plan.archive.read()).findings.map(\.description)
    #expect(
      findings.contains {
        $0.hasPrefix("floor main/0: \"room\" (") && $0.contains("the outlines at its door lie 0.45 m apart")
      },
      "\(findings)"
    )
  }

  @Test("a door through a wall that is drawn as a solid unit is open")
  func solidWall() throws {
    var plan = DrawnPlan()
    plan.unit("hall", "walkway", 0, 0, 20, 5)
    plan.unit("wall", "concrete", 0, 5, 20, 5.2)
    plan.unit("room", "room", 8, 5.2, 12, 9)
    plan.door(Point(x: 9, y: 5), Point(x: 10, y: 5))
    #expect(try plan.ways(from: "hall").reached.isSuperset(of: ["hall", "room"]))
  }

  @Test("a closed door across a thick wall stops people")
  func closedDoor() throws {
    var plan = DrawnPlan()
    plan.unit("hall", "walkway", 0, 0, 20, 5)
    plan.unit("room", "room", 8, 5.2, 12, 9)
    plan.door(Point(x: 9, y: 5.1), Point(x: 10, y: 5.1))
    var venue = try plan.archive.read()
    venue.buildings[0].floors[0].doors[0].isAccessible = false
    let router = Router(WalkableGraph(venue))
    #expect(throws: Never.self) { try router.routes(from: .place("hall"), to: .place("room")) }
    #expect(throws: RoutingError.noWay(isAccessible: true, isRestricted: false)) {
      try router.routes(from: .place("hall"), to: .place("room"), options: RouteOptions(isAccessible: true))
    }
  }

  @Test("rooms without a door are open towards the corridor that they touch where the venue says so")
  func roomsWithoutDoors() throws {
    var plan = DrawnPlan()
    plan.unit("hall", "walkway", 0, 0, 20, 5)
    plan.unit("room", "room", 2, 5.1, 6, 9)
    plan.unit("next", "room", 6, 5, 10, 9)
    plan.unit("behind", "room", 6, 9, 10, 13)
    plan.unit("with door", "room", 12, 5, 16, 9)
    plan.unit("beside", "room", 16, 6, 20, 9)
    plan.door(Point(x: 16, y: 7), Point(x: 16, y: 8))
    let closed = plan.archive
    let findings = VenueCheck(try closed.read()).findings.map(\.description)
    #expect(findings.contains { $0.contains("\"roomsWithoutDoors: open\" in venue.yaml") })
    var files = closed.files.reduce(into: [String: [UInt8]]()) { $0["imdf/" + $1.key] = $1.value }
    files["venue.yaml"] = Array("id: v\nimdf: imdf\nroomsWithoutDoors: open\n".utf8)
    var open = MemoryVenue([:])
    open.files = files
    let venue = try open.read()
    let router = Router(WalkableGraph(venue))
    let reached = plan.middles.keys.filter {
      $0 == "hall" || (try? router.routes(from: .place("hall"), to: .place($0))) != nil
    }
    // Two rooms stay closed: one touches no corridor, and two have a door, which leads elsewhere.
    #expect(Set(reached) == ["hall", "room", "next"])
    #expect(venue.floors[0].floor.doors.count == 1)
    #expect(!VenueCheck(venue).findings.contains { "\($0)".contains("roomsWithoutDoors") })
  }
}
