import Foundation
import PharosHTTP
import PharosMaps
import PharosModel
import PharosSpace
import Synchronization
import Testing

/// Tiles and bundles as programs fetch them.
@Suite("Maps over HTTP", .timeLimit(.minutes(20)))
struct MapTests {
  private static let id = FloorID(building: "main", level: 0)

  /// A hall of 40 by 20 metres that is drawn from its areas.
  private static func hall(
    _ identifier: String = "hall",
    width: Double = 40,
    east: Double = 0
  ) throws -> ServedVenue {
    let corner = try #require(Coordinate(latitude: 59.33, longitude: 18.07 + east))
    let floor = Floor(
      level: 0,
      plane: .ground(GroundPlane(origin: corner)),
      walkable: [Area(name: "Hall", outline: Polygon(rectangleFrom: .origin, to: Point(x: width, y: 20)))],
      pointsOfInterest: [PointOfInterest(identifier: "desk", name: "Desk", point: Point(x: 4, y: 4))]
    )
    let venue = Venue(identifier: identifier, buildings: [Building(identifier: "main", floors: [floor])])
    return ServedVenue(venue) { _ in throw ServedVenue.Missing() }
  }

  private static func path(_ tile: MapTile, _ form: String, venue: String = "hall") -> String {
    "/v1/venues/\(venue)/tiles/main/0/\(tile.zoom)/\(tile.x)/\(tile.y).\(form)"
  }

  @Test(
    "a range of bytes may hold any numbers",
    arguments: [
      ("bytes=0-9223372036854775807", ByteRange.part(0..<100)),
      ("bytes=5-99999999999999999999999", .part(5..<100)),
      ("bytes=9223372036854775807-", .beyond), ("bytes=99999999999999999999-99999999999999999999", .beyond),
      ("bytes=-9223372036854775807", .part(0..<100)), ("bytes=-99999999999999999999", .part(0..<100)),
      ("bytes=-0", .beyond), ("bytes=7-3", .whole), ("bytes=-", .whole), ("bytes=0-99", .part(0..<100)),
    ]
  )
  func ranges(field: String, range: ByteRange) { #expect(ByteRange(field: field, size: 100) == range) }

  @Test("a tile is a picture of 256 or 512 pixels or a vector tile, with a tag")
  func tiles() async throws {
    let served = try Self.hall()
    let floor = try #require(MappedFloor(Self.id, of: served.venue))
    let tile = try #require(MapTile.covering(floor.rect, zoom: 19).first)
    try await TestService.run(venues: [served]) { service in
      for (query, size) in [("", 256), ("?size=256", 256), ("?size=512", 512)] {
        let answer = try await service.request("GET", Self.path(tile, "png") + query)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.headers["content-type"] == "image/png")
        #expect(try answer.body == FloorRenderer(floor, image: nil).png(tile, size: size))
        let tag = try #require(answer.headers["etag"])
        let again = try await service.request(
          "GET",
          Self.path(tile, "png") + query,
          headers: ["If-None-Match": tag]
        )
        #expect(again.status == 304 && again.body.isEmpty)
      }
      let vector = try await service.request("GET", Self.path(tile, "mvt"))
      #expect(vector.headers["content-type"] == "application/vnd.mapbox-vector-tile")
      #expect(vector.body == VectorTile(tile, of: floor).bytes)
    }
  }

  @Test("a tile beside the floor is empty, and one that cannot be is refused with the reason")
  func refused() async throws {
    let served = try Self.hall()
    let floor = try #require(MappedFloor(Self.id, of: served.venue))
    let tile = try #require(MapTile.covering(floor.rect, zoom: 19).first)
    let beside = try #require(MapTile(zoom: 19, x: tile.x - 50, y: tile.y))
    try await TestService.run(venues: [served, try .museum()]) { service in
      for (target, status) in [
        (Self.path(beside, "png"), 204), (Self.path(beside, "mvt"), 204),
        (Self.path(tile, "png") + "?size=300", 400), (Self.path(tile, "png") + "?size=x", 400),
        (Self.path(tile, "mvt") + "?size=256", 400), (Self.path(tile, "gif"), 404),
        (Self.path(tile, "png", venue: "none"), 404), ("/v1/venues/hall/tiles/main/7/0/0/0.png", 404),
        ("/v1/venues/hall/tiles/west/0/0/0/0.png", 404), ("/v1/venues/hall/tiles/main/0/1/2/0.png", 404),
        ("/v1/venues/hall/tiles/main/0/99/0/0.png", 404), ("/v1/venues/hall/tiles/main/0/a/0/0.png", 404),
        ("/v1/venues/hall/tiles/main/0/0/0/0.mvt", 200),
        // The image of the upper floor is not there, but vector tiles need none.
        ("/v1/venues/museum/tiles/main/1/0/0/0.png", 503), ("/v1/venues/museum/tiles/main/1/0/0/0.mvt", 200),
        ("/v1/venues/museum/bundle", 503), ("/v1/venues/none/bundle", 404),
        ("/v1/venues/hall/bundle?since=1", 400),
      ] {
        let answer = try await service.request("GET", target)
        #expect(answer.status == status, "\(target): \(answer.text)")
      }
    }
  }

  @Test("a bundle is downloaded whole, in parts, or as what changed")
  func bundle() async throws {
    try await TestService.run(venues: [try Self.hall()]) { service in
      let path = "/v1/venues/hall/bundle"
      let whole = try await service.request("GET", path)
      #expect(whole.status == 200, "\(whole.text)")
      #expect(whole.headers["content-type"] == "application/vnd.sqlite3")
      #expect(whole.headers["content-length"] == "\(whole.body.count)")
      let tag = try #require(whole.headers["etag"])
      let folder = FileManager.default.temporaryDirectory.appending(path: "maps-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      func file(_ name: String) -> String { folder.appending(path: name).path }
      try Data(whole.body).write(to: URL(filePath: file("old")))
      let old = try VenueBundle(path: file("old"))
      try old.verify()
      #expect(tag == "\"\(old.contentVersion)\"")
      #expect(try await service.request("GET", path, headers: ["If-None-Match": tag]).status == 304)

      let half = whole.body.count / 2
      let first = try await service.request("GET", path, headers: ["Range": "bytes=0-\(half - 1)"])
      let second = try await service.request(
        "GET",
        path,
        headers: ["Range": "bytes=\(half)-", "If-Range": tag]
      )
      #expect(first.status == 206 && second.status == 206)
      #expect(first.headers["content-range"] == "bytes 0-\(half - 1)/\(whole.body.count)")
      #expect(first.body + second.body == whole.body)
      let tail = try await service.request("GET", path, headers: ["Range": "bytes=-10"])
      #expect(tail.body == Array(whole.body.suffix(10)))
      let other = try await service.request(
        "GET",
        path,
        headers: ["Range": "bytes=5-", "If-Range": "\"old\""]
      )
      #expect(other.status == 200 && other.body == whole.body)
      let beyond = try await service.request("GET", path, headers: ["Range": "bytes=\(whole.body.count)-"])
      #expect(beyond.status == 416)
      #expect(beyond.headers["content-range"] == "bytes */\(whole.body.count)")
      for ignored in ["bytes=5-2", "bytes=a-b", "bytes=0-1,4-5", "lines=0-1", "bytes=-"] {
        #expect(
          try await service.request("GET", path, headers: ["Range": ignored]).status == 200,
          "\(ignored)"
        )
      }

      // The same version has no delta; after a change there is one.
      let since = path + "?since=\(old.contentVersion)"
      #expect(try await service.request("GET", since).status == 204)
      let changed = try Self.hall(width: 45)
      service.backend.shelf.venues.withLock { $0 = [changed] }
      let delta = try await service.request("GET", since)
      #expect(delta.status == 200)
      #expect(delta.headers["content-type"] == "application/vnd.pharos.bundle-delta")
      try Data(delta.body).write(to: URL(filePath: file("delta")))
      let version = try BundleDelta.apply(file("delta"), to: file("old"), at: file("new"))
      #expect(try await service.request("GET", path).headers["etag"] == "\"\(version)\"")
      let unknown = try await service.request("GET", path + "?since=00000000000000000000000000000000")
      #expect(unknown.headers["content-type"] == "application/vnd.sqlite3")
    }
  }

  @Test("a client keeps tiles for five minutes, and gets vector tiles packed if it accepts that")
  func packed() async throws {
    let served = try Self.hall()
    let floor = try #require(MappedFloor(Self.id, of: served.venue))
    let tile = try #require(MapTile.covering(floor.rect, zoom: 19).first)
    try await TestService.run(venues: [served]) { service in
      for path in [
        Self.path(tile, "mvt"), "/v1/venues/hall/vector/\(tile.zoom)/\(tile.x)/\(tile.y).mvt",
      ] {
        for (field, isPacked) in [
          ("gzip, deflate, br", true), ("br;q=1.0, gzip;q=0.8", true), ("*", true), ("gzip;q=0", false),
          ("br", false), ("identity, gzip; q=0.000", false),
        ] {
          let answer = try await service.request("GET", path, headers: ["Accept-Encoding": field])
          #expect(answer.headers["content-encoding"] == (isPacked ? "gzip" : nil), "\(field)")
          #expect(answer.headers["vary"]?.contains("Accept-Encoding") == true)
          #expect(answer.headers["cache-control"] == "max-age=300")
          let plain = try await service.request("GET", path)
          #expect(plain.headers["content-encoding"] == nil)
          if isPacked {
            #expect(answer.body.starts(with: [0x1F, 0x8B]))
            // gzip ends with the number of bytes that were packed.
            let size = answer.body.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            #expect(size == plain.body.count)
          } else {
            #expect(answer.body == plain.body)
          }
          let tag = try #require(answer.headers["etag"])
          let again = try await service.request(
            "GET",
            path,
            headers: ["Accept-Encoding": field, "If-None-Match": tag]
          )
          #expect(again.status == 304 && again.headers["cache-control"] == "max-age=300")
        }
      }
      let picture = try await service.request("GET", Self.path(tile, "png"))
      #expect(picture.headers["cache-control"] == "max-age=300")
      // A program that knows no pictures asks for bytes; one that knows both gets the type that says more.
      let general = "application/octet-stream"
      for (accepted, type) in [
        ("*/*", "image/png"), (general, general), ("image/png, \(general)", "image/png"),
        ("text/plain", "image/png"),
      ] {
        let answer = try await service.request("GET", Self.path(tile, "png"), headers: ["Accept": accepted])
        #expect(answer.headers["content-type"] == type && answer.body == picture.body, "\(accepted)")
      }
      let metrics = try await service.request("GET", "/metrics", headers: ["Accept": "text/plain;q=0.5"])
      #expect(metrics.headers["content-type"]?.hasPrefix("text/plain; version=") == true)
      let style = try await service.request("GET", "/v1/venues/hall/style.json")
      #expect(style.headers["cache-control"] == "no-cache")
    }
  }

  @Test("TileJSON and the style lead to tiles of all floors by absolute addresses")
  func styles() async throws {
    let museum = try ServedVenue.museum()
    try await TestService.run(venues: [museum]) { service in
      let tiles = try await service.request("GET", "/v1/venues/museum/tiles.json").json
      let address = "http://\(service.address)"
      #expect(tiles["tiles"][0].string == "\(address)/v1/venues/museum/vector/{z}/{x}/{y}.mvt")
      let bounds = tiles["bounds"].elements.compactMap(\.number)
      #expect(bounds.count == 4 && bounds[0] < bounds[2] && bounds[1] < bounds[3])
      let center = tiles["center"].elements.compactMap(\.number)
      #expect(
        bounds[0] < center[0] && center[0] < bounds[2] && bounds[1] < center[1] && center[1] < bounds[3]
      )
      #expect((17...21).contains(center[2]), "a hall of 40 m is seen whole: \(center)")
      let layers = Set(tiles["vector_layers"].elements.compactMap { $0["id"].string })

      let style = try await service.request("GET", "/v1/venues/museum/style.json").json
      #expect(style["sources"]["venue"]["url"].string == "\(address)/v1/venues/museum/tiles.json")
      #expect(style["metadata"]["pharos:level"].integer == 0)
      #expect(style["metadata"]["pharos:levels"].elements.compactMap(\.integer) == [-1, 0, 1])
      #expect(style["glyphs"].string == "\(address)/v1/fonts/{fontstack}/{range}.pbf")
      let drawn = style["layers"].elements.filter { $0["source"].string != nil }
      #expect(!drawn.isEmpty && drawn.allSatisfy { layers.contains($0["source-layer"].string ?? "") })
      #expect(drawn.allSatisfy { $0["filter"][1][2].integer == 0 && $0["filter"][1][1][1].string == "level" })
      let texts = drawn.filter { $0["type"].string == "symbol" }
      #expect(texts.count == 1 && texts[0]["layout"]["text-font"][0].string == "Pharos Sans")

      let glyphs = "https%3A%2F%2Ffonts.example.org%2F%7Bfontstack%7D%2F%7Brange%7D.pbf"
      let labelled = try await service.request(
        "GET",
        "/v1/venues/museum/style.json?level=1&glyphs=\(glyphs)&font=Open%20Sans"
      ).json
      #expect(labelled["glyphs"].string == "https://fonts.example.org/{fontstack}/{range}.pbf")
      let names = try #require(labelled["layers"].elements.last)
      #expect(names["layout"]["text-font"][0].string == "Open Sans" && names["filter"][1][2].integer == 1)

      let forwarded = ["X-Forwarded-Proto": "https", "X-Forwarded-Host": "maps.example.org"]
      let behind = try await service.request("GET", "/v1/venues/museum/tiles.json", headers: forwarded).json
      #expect(behind["tiles"][0].string?.hasPrefix("https://maps.example.org/v1/") == true)
      for query in ["level=7", "level=x", "glyphs=x", "font=x"] {
        let answer = try await service.request("GET", "/v1/venues/museum/style.json?\(query)")
        #expect(answer.status == 400, "\(query)")
      }
    }
  }

  @Test(
    "a style leads to glyphs for its names, in ranges of 256 characters, packed for a client that takes that"
  )
  func glyphs() async throws {
    try await TestService.run(venues: [try Self.hall()]) { service in
      let style = try await service.request("GET", "/v1/venues/hall/style.json").json
      let template = try #require(style["glyphs"].string)
      let font = try #require(style["layers"].elements.last?["layout"]["text-font"][0].string)
      let path = String(template.dropFirst("http://\(service.address)".count))
        .replacing("{fontstack}", with: font.replacing(" ", with: "%20"))
      let latin = try await service.request("GET", path.replacing("{range}", with: "0-255"))
      #expect(latin.status == 200 && latin.headers["content-type"] == "application/x-protobuf")
      // The name of the font, the range and more than a hundred characters.
      let bytes = Array(latin.body)
      #expect(bytes.count > 20_000 && bytes.count < 400_000)
      #expect(String(decoding: bytes.prefix(40), as: UTF8.self).contains("Pharos Sans"))
      #expect(String(decoding: bytes.prefix(40), as: UTF8.self).contains("0-255"))
      let packed = try await service.request(
        "GET",
        path.replacing("{range}", with: "0-255"),
        headers: ["Accept-Encoding": "gzip"]
      )
      #expect(packed.headers["content-encoding"] == "gzip" && packed.body.count < latin.body.count / 2)
      for good in ["256-511", "65280-65535", "1113856-1114111"] {
        let answer = try await service.request("GET", path.replacing("{range}", with: good))
        #expect(answer.status == 200, "\(good)")
      }
      for bad in ["0-256", "1-256", "255-0", "x", "0", "0-255-", "-255", "4294967040-4294967295"] {
        let answer = try await service.request("GET", path.replacing("{range}", with: bad))
        #expect(answer.status == 404, "\(bad)")
      }
    }
  }

  @Test("tiles follow a venue that changes")
  func changes() async throws {
    let served = try Self.hall()
    let floor = try #require(MappedFloor(Self.id, of: served.venue))
    let tile = try #require(MapTile.covering(floor.rect, zoom: 18).first)
    try await TestService.run(venues: [served]) { service in
      let before = try await service.request("GET", Self.path(tile, "png"))
      let changed = try Self.hall(width: 30)
      service.backend.shelf.venues.withLock { $0 = [changed] }
      let after = try await service.request("GET", Self.path(tile, "png"))
      #expect(before.status == 200 && after.status == 200)
      #expect(before.body != after.body)
    }
  }

  @Test("venues near a coordinate come nearest first, with their distance")
  func near() async throws {
    let venues = [
      try Self.hall("far", east: 0.02), try Self.hall("near"), try Self.hall("antipode", east: -150),
    ]
    try await TestService.run(venues: venues) { service in
      func found(_ query: String) async throws -> [String] {
        let answer = try await service.request("GET", "/v1/venues?" + query)
        #expect(answer.status == 200, "\(answer.text)")
        return try answer.json["venues"].elements.compactMap { $0["id"].string }
      }
      #expect(try await found("near=59.3301,18.0702") == ["near", "far", "antipode"])
      #expect(try await found("near=59.3301,18.0702&within=500") == ["near"])
      #expect(try await found("near=59.3301,18.0702&within=2000") == ["near", "far"])
      #expect(try await found("near=0,0&within=1") == [])
      let list = try await service.request("GET", "/v1/venues?near=59.3301,18.0702").json["venues"]
      #expect(list[0]["distance"].number == 0)
      #expect(abs((list[1]["distance"].number ?? 0) - 1_126) < 20)
      for query in ["near=1", "near=91,0", "near=a,b", "near=1,2,3", "within=5", "near=1,2&within=-1"] {
        #expect(try await service.request("GET", "/v1/venues?" + query).status == 400, "\(query)")
      }
    }
  }
}
