import PharosHTTP
import PharosModel
import PharosSpace
import PharosTestSupport
import Testing

/// OSRM's own interface to the ways of venues.
@Suite("Clients of OSRM", .timeLimit(.minutes(20)))
struct OSRMTests {
  private let plane: FloorPlane

  init() throws {
    plane = .ground(GroundPlane(origin: try #require(Venue.place)))
  }

  /// Positions as clients of OSRM write them; a level follows where there is one.
  private func coordinates(_ points: (x: Double, y: Double, level: Int?)...) throws -> String {
    try points.map { point in
      let coordinate = try #require(plane.coordinate(of: Point(x: point.x, y: point.y)))
      return "\(coordinate.longitude),\(coordinate.latitude)" + (point.level.map { "@\($0)" } ?? "")
    }
    .joined(separator: ";")
  }

  /// A position as the interface's own routes take it.
  private func position(_ x: Double, _ y: Double, _ level: Int) throws -> String {
    let coordinate = try #require(plane.coordinate(of: Point(x: x, y: y)))
    return "\(coordinate.latitude),\(coordinate.longitude),\(level)"
  }

  /// A hall of 20 by 20 metres on some levels, east of the museum.
  private static func hall(_ identifier: String, levels: [Int], east: Double = 0.01) throws -> ServedVenue {
    let corner = try #require(Coordinate(latitude: 59.33, longitude: 18.07 + east))
    let floors = levels.map { level in
      Floor(
        level: level,
        plane: .ground(GroundPlane(origin: corner)),
        walkable: [
          Area(
            name: "Hall \(level)",
            // The upper floors are wider.
            outline: Polygon(rectangleFrom: .origin, to: Point(x: level > 0 ? 60 : 20, y: 20))
          )
        ]
      )
    }
    let venue = Venue(identifier: identifier, buildings: [Building(identifier: "main", floors: floors)])
    return ServedVenue(venue) { _ in throw ServedVenue.Missing() }
  }

  @Test("a route over several waypoints has legs, steps, annotations and waypoints")
  func route() async throws {
    let three = try coordinates((2, 10, nil), (30, 10, nil), (30, 15, nil))
    try await TestService.run { service in
      for server in ["", "/v1/venues/museum"] {
        let plain = try await service.request("GET", "\(server)/route/v1/driving/\(three)?radiuses=&hints=")
          .json
        #expect(plain["code"].string == "Ok" && plain["waypoints"].elements.count == 3)
        #expect(plain["waypoints"].elements.map { $0["level"].integer } == [0, 0, 0])
        #expect(plain["waypoints"][0]["hint"].string == "")
        let legs = plain["routes"][0]["legs"].elements
        #expect(
          legs.count == 2
            && legs.allSatisfy { $0["steps"].elements.isEmpty && $0["annotation"].value == nil }
        )
        #expect(abs((plain["routes"][0]["distance"].number ?? 0) - 33) < 0.1)
        #expect(plain["routes"][0]["geometry"].string?.isEmpty == false)
      }
      let bare = try await service.request(
        "GET",
        "/route/v1/foot/\(three).json?overview=false&generate_hints=false&skip_waypoints=false"
      ).json
      #expect(bare["routes"][0]["geometry"].value == nil && bare["waypoints"][0]["hint"].value == nil)
      let without = try await service.request("GET", "/route/v1/foot/\(three)?skip_waypoints=true").json
      #expect(without["code"].string == "Ok" && without["waypoints"].value == nil)
    }
  }

  @Test("the pieces of annotations are those of the line, and add up to the leg")
  func annotations() async throws {
    let ends = try coordinates((2, 10, 0), (35, 18, 0), (20, 10, 1))
    try await TestService.run { service in
      let query = "annotations=true&geometries=geojson&overview=full"
      let route = try await service.request("GET", "/route/v1/foot/\(ends)?\(query)").json["routes"][0]
      var pieces = 0
      for leg in route["legs"].elements {
        for name in ["distance", "duration", "weight"] {
          let numbers = leg["annotation"][name].elements.compactMap(\.number)
          #expect(abs(numbers.reduce(0, +) - (leg[name].number ?? 0)) < 0.01 * Double(numbers.count) + 0.1)
        }
        #expect(leg["annotation"]["speed"].elements.allSatisfy { ($0.number ?? 9) < 3 })
        pieces += leg["annotation"]["distance"].elements.count
      }
      #expect(pieces == route["geometry"]["coordinates"].elements.count - 1)
      let some = try await service.request("GET", "/route/v1/foot/\(ends)?annotations=duration,nodes").json
      let annotation = some["routes"][0]["legs"][0]["annotation"]
      #expect(annotation.members?.keys.sorted() == ["duration"])
    }
  }

  @Test("the length is that of the interface's own answer", arguments: Seeds.drawn(1..<33 as Range<UInt64>))
  func sameLength(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    try await TestService.run { service in
      for _ in 0..<12 {
        let ends = (0..<2).map { _ in
          (
            x: Double.random(in: 0...40, using: &generator), y: Double.random(in: 0...20, using: &generator),
            level: Int.random(in: 0...1, using: &generator)
          )
        }
        let from = try position(ends[0].x, ends[0].y, ends[0].level)
        let to = try position(ends[1].x, ends[1].y, ends[1].level)
        let own = try await service.request("GET", "/v1/venues/museum/routes?from=\(from)&to=\(to)").json
        let text = try coordinates(
          (ends[0].x, ends[0].y, ends[0].level),
          (ends[1].x, ends[1].y, ends[1].level)
        )
        let route = try await service.request("GET", "/route/v1/foot/\(text)?steps=true").json
        let table = try await service.request("GET", "/table/v1/foot/\(text)?annotations=distance").json
        let expected = try #require(own["routes"][0]["distance"].number, "seed \(seed): \(own)")
        #expect(route["routes"][0]["distance"].number == expected, "seed \(seed)")
        #expect(abs((table["distances"][0][1].number ?? -1) - expected) < 0.02, "seed \(seed)")
        let summed = route["routes"][0]["legs"][0]["steps"].elements.reduce(0) {
          $0 + ($1["distance"].number ?? 0)
        }
        #expect(abs(summed - expected) < 0.05, "seed \(seed)")
      }
    }
  }

  @Test("the level follows a coordinate, the parameter levels or the profile, in this order")
  func levels() async throws {
    try await TestService.run { service in
      for (profile, level, query, expected) in [
        ("foot", 1, "", [1, 0]), ("foot", nil, "levels=1;0", [1, 0]), ("foot", nil, "levels=;1", [0, 1]),
        ("foot@1", nil, "", [1, 1]), ("foot@0,1", nil, "", [0, 1]), ("foot@1", nil, "levels=0;", [0, 1]),
        ("foot@1", 0, "levels=1;0", [0, 0]), ("walking", nil, "", [0, 0]),
      ] as [(String, Int?, String, [Int])] {
        let ends = try coordinates((2, 10, level), (30, 15, nil))
        let answer = try await service.request("GET", "/route/v1/\(profile)/\(ends)?steps=true&\(query)")
        let found = try answer.json["waypoints"].elements.map { $0["level"].integer }
        #expect(found == expected, "\(profile) \(query): \(answer.text)")
        let steps = try answer.json["routes"][0]["legs"][0]["steps"].elements
        let known: Set = ["depart", "arrive", "turn", "continue", "notification"]
        #expect(steps.allSatisfy { known.contains($0["maneuver"]["type"].string ?? "") })
        #expect(steps.dropFirst().dropLast().allSatisfy { $0["maneuver"]["modifier"].string != nil })
        #expect(
          steps.contains { $0["maneuver"]["kind"].string == "take lift" } == (expected[0] != expected[1])
        )
      }
    }
  }

  @Test("without a level, the one nearest to the ground floor is taken; nearest has the others after it")
  func defaultLevel() async throws {
    let house = try Self.hall("house", levels: [-2, -1, 1, 2])
    let corner = try #require(Coordinate(latitude: 59.33, longitude: 18.08))
    let plane = FloorPlane.ground(GroundPlane(origin: corner))
    func text(_ x: Double) throws -> String {
      let coordinate = try #require(plane.coordinate(of: Point(x: x, y: 10)))
      return "\(coordinate.longitude),\(coordinate.latitude)"
    }
    try await TestService.run(venues: [try .museum(), house]) { service in
      for (x, expected) in [(10.0, [1, -1, 2, -2]), (25, [1, -1, 2, -2]), (50, [1, 2, -2, -1])] {
        let path = "/nearest/v1/foot/\(try text(x))?number=4"
        let answer = try await service.request("GET", path).json
        let levels = answer["waypoints"].elements.compactMap { $0["level"].integer }
        #expect(x == 50 ? Set(levels) == Set(expected) && levels[..<2] == [1, 2] : levels == expected)
        #expect(answer["waypoints"][0]["name"].string == "Hall 1")
        let distances = answer["waypoints"].elements.compactMap { $0["distance"].number }
        #expect(distances[0] == 0 && abs(distances[3] - max(0, x - 20)) < 0.1, "\(distances)")
      }
      let one = try await service.request("GET", "/nearest/v1/foot/\(try text(10))").json
      #expect(one["waypoints"].elements.count == 1)
      let below = try await service.request("GET", "/nearest/v1/foot/\(try text(30))@-2?number=4").json
      #expect(below["waypoints"].elements.map { $0["level"].integer } == [-2])
      #expect(abs((below["waypoints"][0]["distance"].number ?? 0) - 10) < 0.1)
    }
  }

  @Test("several venues: the one that holds the coordinates answers, and no way joins two")
  func venues() async throws {
    let venues = [
      try Self.hall("east", levels: [0]), try ServedVenue.museum(),
      try Self.hall("far", levels: [0], east: 1),
    ]
    try await TestService.run(venues: venues) { service in
      let inside = try coordinates((2, 10, nil), (30, 15, nil))
      #expect(try await service.request("GET", "/route/v1/foot/\(inside)").json["code"].string == "Ok")
      let across = try coordinates((2, 10, nil)) + ";18.0801,59.3301"
      let refused = try await service.request("GET", "/route/v1/foot/\(across)")
      #expect(refused.status == 400)
      #expect(try refused.json["code"].string == "NoRoute")
      #expect(refused.text.contains("several venues"))
    }
    try await TestService.run(venues: []) { service in
      let answer = try await service.request("GET", "/nearest/v1/foot/1,2").json
      #expect(answer["code"].string == "NoSegment")
    }
  }

  @Test("wheelchairs avoid steps, exclude avoids a kind of connector")
  func profiles() async throws {
    let ends = try coordinates((2, 10, 0), (30, 15, 1))
    try await TestService.run { service in
      #expect(try await service.request("GET", "/route/v1/wheelchair/\(ends)").json["code"].string == "Ok")
      let without = try await service.request("GET", "/route/v1/foot/\(ends)?exclude=stairs,lift").json
      #expect(without["code"].string == "NoRoute")
      let table = try await service.request("GET", "/table/v1/foot/\(ends)?exclude=lift").json
      #expect(table["code"].string == "Ok" && table["durations"][0][1].isNull)
    }
  }

  @Test("a table has rows of sources and columns of destinations")
  func table() async throws {
    let three = try coordinates((2, 10, nil), (30, 10, nil), (30, 15, nil))
    try await TestService.run { service in
      let query = "annotations=duration,distance&sources=0&destinations=all"
      let table = try await service.request("GET", "/table/v1/foot/\(three)?\(query)").json
      #expect(table["durations"].elements.map { $0.elements.count } == [3])
      #expect(abs((table["distances"][0][1].number ?? 0) - 28) < 0.1)
      #expect(table["sources"].elements.count == 1 && table["destinations"].elements.count == 3)
      let plain = try await service.request("GET", "/table/v1/foot/\(three)?destinations=2;0").json
      #expect(plain["durations"].elements.map { $0.elements.count } == [2, 2, 2])
      #expect(plain["distances"].value == nil && plain["durations"][2][0].number == 0)
    }
  }

  @Test(
    "a route that does not exist has a code of OSRM and names the wrong coordinate",
    arguments: [
      ("route/v1/foot/A;3", "InvalidQuery", "Coordinate 1"),
      ("route/v1/foot/A;B@x", "InvalidQuery", "Coordinate 1"),
      ("route/v1/foot/A;B@", "InvalidQuery", "Coordinate 1"),
      ("route/v1/foot/A;200,3", "InvalidValue", "Coordinate 1"),
      ("route/v1/foot/A", "InvalidOptions", "at least 2"),
      ("route/v1/foot/A;3,4", "NoSegment", "Coordinate 1 is far from level 0"),
      ("route/v1/foot/A;B;18.07,59.32932", "NoSegment", "Coordinate 2 is "),
      ("route/v1/foot@9/A;B", "NoSegment", "no level 9 for coordinate 0"),
      ("route/v1/foot/A;B@9", "NoSegment", "no level 9 for coordinate 1"),
      ("route/v1/foot/A;18.06857,59.32932@0?radiuses=;1", "NoSegment", "Coordinate 1 is 1.7 m"),
      ("route/v1/foot@x/A;B", "InvalidQuery", "level"), ("route/v1/foot@0,1,0/A;B", "InvalidQuery", "level"),
      ("route/v1/foot/A;B?levels=0", "InvalidOptions", "levels"),
      ("route/v1/foot/A;B?levels=0;a", "InvalidQuery", "Levels"),
      ("route/v1/foot/A;B?radiuses=5", "InvalidOptions", "radiuses"),
      ("route/v1/foot/A;B?radiuses=5;-1", "InvalidQuery", "Radiuses"),
      ("route/v1/foot/A;B?bearings=400,5;", "InvalidQuery", "Bearings"),
      ("route/v1/foot/A;B?bearings=40,5;1,2,3", "InvalidQuery", "Bearings"),
      ("route/v1/foot/A;B?approaches=up;", "InvalidQuery", "Approaches"),
      ("route/v1/foot/A;B?hints=a", "InvalidOptions", "hints"),
      ("route/v1/foot/A;B?exclude=motorway", "InvalidValue", "stairs"),
      ("route/v1/foot/A;B?overview=some", "InvalidQuery", "overview"),
      ("route/v1/foot/A;B?annotations=some", "InvalidQuery", "annotations"),
      ("route/v1/foot/A;B?alternatives=some", "InvalidQuery", "alternatives"),
      ("route/v1/foot/A;B?unknown=1", "InvalidQuery", "unknown"),
      ("route/v1/foot/A;B?waypoints=0", "NotImplemented", "waypoints"),
      ("table/v1/foot/A;B?sources=2", "InvalidOptions", "indices"),
      ("table/v1/foot/A;B?annotations=speed", "InvalidQuery", "annotations"),
      ("nearest/v1/foot/A;B", "InvalidOptions", "one coordinate"),
      ("nearest/v1/foot/A?number=0", "InvalidQuery", "number"),
    ]
  )
  func refusals(query: String, code: String, text: String) async throws {
    let path = query.replacing("A", with: "18.06864,59.32932").replacing("B", with: "18.06912,59.32932")
    try await TestService.run { service in
      for server in ["/", "/v1/venues/museum/"] {
        let answer = try await service.request("GET", server + path)
        #expect(answer.status == 400, "\(answer.text)")
        #expect(try answer.json["code"].string == code, "\(answer.text)")
        #expect(try answer.json["message"].string?.contains(text) == true, "\(answer.text)")
      }
      let many = Array(repeating: "18.06864,59.32932", count: 51).joined(separator: ";")
      #expect(try await service.request("GET", "/route/v1/foot/\(many)").json["code"].string == "TooBig")
    }
  }
}
