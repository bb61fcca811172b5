import PharosDelivery
import PharosHTTP
import PharosModel
import PharosSite
import PharosSpace
import Testing

/// What one needs to draw a floor: where it lies, its outlines, its plan.
@Suite("Venues over HTTP", .timeLimit(.minutes(20)))
struct VenueTests {
  private let plane: FloorPlane
  private let floor = "/v1/venues/museum/floors/main/0"

  init() throws {
    plane = .ground(GroundPlane(origin: try #require(Venue.place)))
  }

  /// The place on the floor of a position of GeoJSON.
  private func point(_ position: JSON) throws -> Point {
    let (longitude, latitude) = (position[0].number ?? 0, position[1].number ?? 0)
    let coordinate = try #require(Coordinate(latitude: latitude, longitude: longitude))
    return try #require(plane.point(of: coordinate))
  }

  /// How far a position of GeoJSON lies from a place on the floor.
  private func distance(_ position: JSON, _ place: Point) throws -> Double {
    try point(position).distance(to: place)
  }

  @Test("a venue says where its floors lie, to the centimetre")
  func documents() async throws {
    try await TestService.run { service in
      let list = try await service.request("GET", "/v1/venues").json["venues"]
      #expect(list.elements.map { $0["id"].string } == ["museum"])
      let venue = try await service.request("GET", "/v1/venues/museum").json
      let floors = venue["buildings"][0]["floors"]
      #expect(floors.elements.compactMap { $0["level"].integer } == [-1, 0, 1])
      #expect(floors.elements.compactMap { $0["name"].string } == ["-1", "Ground floor", "1"])
      let ground = floors[1]
      #expect(ground["id"].string == "main/0")
      #expect(ground["outlines"].string == floor)
      let bounds = ground["bounds"].elements.compactMap(\.number)
      let corners = [[bounds[0], bounds[1]], [bounds[2], bounds[3]]].map { JSON($0) }
      #expect(try distance(corners[0], Point(x: 0, y: 0)) < 0.01)
      #expect(try distance(corners[1], Point(x: 40, y: 20)) < 0.01)
      let plan = ground["plan"]
      #expect(plan["image"].string == floor + "/plan")
      #expect(try distance(plan["corners"][0], Point(x: 0, y: 20)) < 0.01)
      #expect(try distance(plan["corners"][2], Point(x: 40, y: 0)) < 0.01)
      #expect(abs((plan["metersPerPixel"].number ?? 0) - 0.1) < 0.001)
      #expect(floors[0]["bounds"].value == nil)
      #expect(floors[0]["plan"].value == nil)
    }
  }

  @Test("outlines are GeoJSON: rings closed, outer ones counterclockwise, holes clockwise")
  func outlines() async throws {
    try await TestService.run { service in
      let answer = try await service.request("GET", floor)
      #expect(answer.headers["content-type"] == "application/geo+json")
      let features = try answer.json["features"].elements
      let kinds = features.compactMap { $0["properties"]["kind"].string }
      #expect(
        kinds == ["walkable", "obstacle", "wall", "wall", "entrance", "lift", "observer", "accessPoint"]
      )
      for feature in features.prefix(2) {
        for (index, ring) in feature["geometry"]["coordinates"].elements.enumerated() {
          let corners = try ring.elements.map { try point($0) }
          #expect(corners.first == corners.last)
          #expect(corners.count == 5)
          let twice = zip(corners, corners.dropFirst()).reduce(0) { $0 + $1.0.cross($1.1) }
          #expect((twice > 0) == (index == 0))
        }
      }
      #expect(features[0]["properties"]["name"].string == "Hall")
      #expect(features[2]["properties"]["attenuation"].number == 6)
      #expect(features[2]["geometry"]["coordinates"].elements.count == 2)
      #expect(features[4]["properties"]["id"].string == "main door")
      #expect(try distance(features[5]["geometry"]["coordinates"], Point(x: 38, y: 10)) < 0.01)
    }
  }

  @Test("a plan is the image of the venue's folder, or the reason why there is none")
  func plans() async throws {
    try await TestService.run { service in
      let answer = try await service.request("GET", floor + "/plan")
      #expect(answer.headers["content-type"] == "image/png")
      #expect(answer.body == ServedVenue.image)
      let tag = try #require(answer.headers["etag"])
      let again = try await service.request("GET", floor + "/plan", headers: ["If-None-Match": tag])
      #expect(again.status == 304)
      for (path, status) in [
        ("/v1/venues/museum/floors/main/1/plan", 503), ("/v1/venues/museum/floors/main/-1/plan", 404),
        ("/v1/venues/museum/floors/main/7", 404), ("/v1/venues/museum/floors/west/0", 404),
        ("/v1/venues/museum/floors/main/ground", 404), ("/v1/venues/mall", 404),
        ("/v1/venues/mall/floors/main/0/plan", 404),
      ] {
        let answer = try await service.request("GET", path)
        #expect(answer.status == status, "\(path): \(answer.text)")
      }
    }
  }

  @Test("an application sees floors, and not where radios hang")
  func radios() async throws {
    let configuration = HTTPConfiguration(
      address: HostPort(host: "127.0.0.1", port: 0),
      tokensRequired: true
    )
    try await TestService.run(configuration: configuration) { service in
      #expect(try await service.request("GET", floor).status == 401)
      var shop = service
      let now = service.backend.clock()
      shop.token = try service.backend.tokens.create(name: "s", role: .application("shop"), at: now).secret
      let features = try await shop.request("GET", floor).json["features"].elements
      let kinds = Set(features.compactMap { $0["properties"]["kind"].string })
      #expect(kinds == ["walkable", "obstacle", "wall", "entrance", "lift"])
    }
  }
}
