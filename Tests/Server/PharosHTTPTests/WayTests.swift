import PharosDelivery
import PharosHTTP
import PharosModel
import PharosSpace
import Testing

/// Routes through a venue, in the shape that clients of OSRM know.
@Suite("Ways over HTTP", .timeLimit(.minutes(20)))
struct WayTests {
  private let plane: FloorPlane

  init() throws {
    plane = .ground(GroundPlane(origin: try #require(Venue.place)))
  }

  /// A position as a parameter.
  private func at(_ x: Double, _ y: Double, _ level: Int) throws -> String {
    let coordinate = try #require(plane.coordinate(of: Point(x: x, y: y)))
    return "\(coordinate.latitude),\(coordinate.longitude),\(level)"
  }

  @Test("a route has legs, steps and manoeuvres with bearings, places and sentences")
  func route() async throws {
    let from = try at(2, 10, 0)
    try await TestService.run { service in
      let answer = try await service.request(
        "GET",
        "/v1/venues/museum/routes?from=\(from)&to=Caf%C3%A9&language=de"
      )
      #expect(answer.status == 200)
      let json = try answer.json
      #expect(json["code"].string == "Ok")
      let route = json["routes"][0]
      let steps = route["legs"][0]["steps"]
      #expect(
        steps.elements.compactMap { $0["instruction"].string } == [
          "Gehen Sie los", "Nehmen Sie den Aufzug auf Ebene 1", "Gehen Sie auf Ebene 1 weiter",
          "Sie haben Café erreicht",
        ]
      )
      #expect(steps.elements.compactMap { $0["level"].integer } == [0, 0, 1, 1])
      let lift = steps[1]["maneuver"]
      #expect(lift["type"].string == "notification" && lift["kind"].string == "take lift")
      #expect(lift["level"].integer == 1)
      let waypoints = json["waypoints"].elements
      #expect(waypoints.map { $0["name"].string } == ["", "Café"])
      #expect(waypoints.map { $0["level"].integer } == [0, 1])
      #expect(waypoints.allSatisfy { $0["location"].elements.count == 2 && $0["hint"].string == "" })
      #expect(steps[0]["maneuver"]["bearing_after"].integer == 90)
      #expect(steps[0]["geometry"]["type"].string == "LineString")
      let sum = steps.elements.reduce(0) { $0 + ($1["distance"].number ?? 0) }
      #expect(abs(sum - (route["distance"].number ?? 0)) < 0.05)
      #expect((route["duration"].number ?? 0) > 60)
    }
  }

  @Test("geometries are encoded as polylines where they are asked for")
  func polyline() async throws {
    let (from, to) = (try at(2, 10, 0), try at(18, 18, 0))
    try await TestService.run { service in
      let path = "/v1/venues/museum/routes?from=\(from)&to=\(to)&geometries=polyline6"
      let json = try await service.request("GET", path).json
      #expect(json["routes"][0]["geometry"].string?.isEmpty == false)
    }
  }

  @Test("a subject's last fix is an end; one that was not located is named")
  func subject() async throws {
    try await TestService.run { service in
      let answer = try await service.request("GET", "/v1/venues/museum/routes?from=subject:absent&to=cafe")
      #expect(answer.status == 404)
      #expect(
        try answer.json["detail"].string
          == "There is no fix of \"absent\"; /v1/fixes lists those that there are."
      )
    }
  }

  @Test("places, the nearest one and matrices")
  func others() async throws {
    let (from, to) = (try at(2, 10, 0), try at(30, 10, 0))
    try await TestService.run { service in
      let places = try await service.request("GET", "/v1/venues/museum/places?category=foodservice").json[
        "places"
      ]
      #expect(places.elements.compactMap { $0["id"].string } == ["cafe"])
      #expect(places[0]["floor"].string == "main/1")
      let beside = "/v1/venues/museum/places?from=\(from)"
      #expect(try await service.request("GET", beside).json["places"][0]["side"].string == nil)
      let north = try await service.request("GET", beside + "&heading=0").json["places"][0]
      #expect((north["distance"].number ?? 0) > 0 && north["side"].string == "right")
      let west = try await service.request("GET", beside + "&heading=270").json["places"][0]
      #expect(west["side"].string == "behind")
      for query in ["heading=0", "from=here", "from=1,2", "from=\(from)&heading=400"] {
        #expect(
          try await service.request("GET", "/v1/venues/museum/places?\(query)").status == 400,
          "\(query)"
        )
      }
      let path = "/v1/venues/museum/nearest?category=foodservice&from=\(from)"
      let near = try await service.request("GET", path).json["places"][0]
      #expect(near["name"].string == "Café" && (near["distance"].number ?? 0) > 60)
      let ends = "from=\(from)&from=cafe&to=\(to)&to=main%20door"
      let matrix = try await service.request("GET", "/v1/venues/museum/matrix?\(ends)").json
      #expect(matrix["distances"].elements.map { $0.elements.count } == [2, 2])
      #expect(abs((matrix["distances"][0][0].number ?? 0) - 28) < 0.05)
    }
  }

  @Test("places are found by folded words, with their captions and the distance")
  func search() async throws {
    let from = try at(4, 12, 1)
    try await TestService.run { service in
      for (query, match) in [
        ("CAFE", "whole"), ("roof", "heading"), ("kaffee", "kind"), ("harb+cak", "text"),
      ] {
        let answer = try await service.request(
          "GET",
          "/v1/venues/museum/search?q=\(query)&from=\(from)&limit=3"
        )
        #expect(answer.status == 200, "\(answer.text)")
        let place = try answer.json["places"][0]
        #expect(place["id"].string == "cafe" && place["match"].string == match, "\(query)")
        #expect(place["title"].string == "Café under the roof" && place["floor"].string == "main/1")
        #expect(place["properties"]["phone"].string == "+46 8 123")
        #expect(place["distance"].number == 2)
      }
      let none = try await service.request("GET", "/v1/venues/museum/search?q=xyz").json
      #expect(none["places"].elements.isEmpty)
      for query in ["", "q=", "q=%21", "q=a&limit=0", "q=a&limit=101", "q=a&from=here", "q=a&p=1"] {
        let answer = try await service.request("GET", "/v1/venues/museum/search?\(query)")
        #expect(answer.status == 400, "\(query): \(answer.text)")
      }
      let long = String(repeating: "a", count: 201)
      #expect(try await service.request("GET", "/v1/venues/museum/search?q=\(long)").status == 400)
      #expect(try await service.request("GET", "/v1/venues/gone/search?q=a").status == 404)
    }
  }

  @Test("a position has a a place and an address, and for the operator a zone")
  func spot() async throws {
    func query(_ x: Double, _ y: Double, _ level: Int) throws -> String {
      let parts = try at(x, y, level).split(separator: ",")
      return "latitude=\(parts[0])&longitude=\(parts[1])&level=\(parts[2])"
    }
    let (cafe, desk, outside) = (try query(4, 10, 1), try query(3, 10, 0), try query(70, 10, 0))
    try await TestService.run { service in
      let path = "/v1/venues/museum/at?"
      let upper = try await service.request("GET", path + cafe).json
      #expect(upper["inside"].bool == true && upper["floor"].string == "main/1")
      #expect(upper["room"].string == "Hall" && upper["place"]["id"].string == "cafe")
      #expect(upper["place"]["link"].string == "https://example.org/cafe")
      let lower = try await service.request("GET", path + desk).json
      #expect(lower["zone"]["id"].string == "lobby" && lower["place"].value == nil)
      let away = try await service.request("GET", path + outside).json
      #expect(away["inside"].bool == false && away["floor"].value == nil)
      var shop = service
      let now = service.backend.clock()
      shop.token = try service.backend.tokens.create(name: "a", role: .application("shop"), at: now).secret
      #expect(try await shop.request("GET", path + desk).json["zone"].value == nil)
      let level = try await service.request("GET", path + "latitude=59&longitude=18&level=7")
      #expect(level.status == 404 && level.text.contains("it has -1, 0, 1"))
      for query in [
        "", "latitude=59&longitude=18", "latitude=91&longitude=18&level=0", "latitude=59&level=0",
      ] {
        let answer = try await service.request("GET", path + query)
        #expect(answer.status == 400, "\(query): \(answer.text)")
      }
    }
  }

  @Test(
    "a request for a way that cannot be answered says what to do",
    arguments: [
      ("routes?from=a&to=cafe", 404, "The venue has no place \"a\""),
      ("routes?from=1,2,0&to=cafe", 400, "The origin is far from level 0"),
      ("routes?to=cafe", 400, "from"),
      ("routes?from=main%20door&to=cafe&avoid=lift", 400, "avoid fewer kinds"),
      ("routes?from=main%20door&to=cafe&avoid=rope", 400, "avoid"),
      ("routes?from=main%20door&to=cafe&departure=1970-01-03T12:00:00Z", 400, "\"Café\" is closed"),
      ("routes?from=main%20door&to=cafe&language=xx", 400, "language"),
      ("nearest?category=foodservise&from=cafe", 404, "did you mean \"foodservice\"?"),
      ("matrix?from=cafe", 400, "to"),
    ]
  )
  func refusals(query: String, status: Int, text: String) async throws {
    try await TestService.run { service in
      let answer = try await service.request("GET", "/v1/venues/museum/\(query)")
      #expect(answer.status == status)
      #expect(String(decoding: answer.body, as: UTF8.self).replacing("\\\"", with: "\"").contains(text))
    }
  }

  @Test(
    "a request for a way that cannot be answered has a code of OSRM",
    arguments: [
      ("routes?from=main%20door&to=cafe&avoid=lift", "NoRoute"),
      ("routes?from=main%20door&to=cafe&departure=1970-01-03T12:00:00Z", "NoRoute"),
      ("routes?from=1,2,0&to=cafe", "NoSegment"), ("routes?from=1,2,9&to=cafe", "NoSegment"),
      ("routes?to=cafe", "InvalidOptions"),
    ]
  )
  func codes(query: String, code: String) async throws {
    try await TestService.run { service in
      let answer = try await service.request("GET", "/v1/venues/museum/\(query)")
      #expect(answer.status == 400, "\(answer.text)")
      #expect(try answer.json["code"].string == code)
      #expect(try answer.json["message"].string?.isEmpty == false)
    }
  }

  @Test(
    "an error about a position names the parameter of the end, and the distance of the nearest way",
    arguments: [("from", "The origin is "), ("to", "The destination is ")]
  )
  func ends(parameter: String, start: String) async throws {
    let (inside, outside) = (try at(2, 10, 0), try at(70, 10, 0))
    let (from, to) = parameter == "from" ? (outside, inside) : (inside, outside)
    try await TestService.run { service in
      let json = try await service.request("GET", "/v1/venues/museum/routes?from=\(from)&to=\(to)").json
      #expect(json["detail"].string?.hasPrefix(start + "30.0 m from where people can walk") == true)
      #expect(json["errors"][0]["field"].string == parameter)
    }
  }
}
