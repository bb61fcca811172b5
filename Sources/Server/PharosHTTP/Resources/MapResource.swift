import HTTPTypes
import PharosDocuments
import PharosMaps
import PharosModel
import PharosSpace

/// The maps of venues: tiles, and the bundle that works without a network.
struct MapResource: Resource {
  let catalog: VenueCatalog
  let bundles: VenueBundles
  /// The scheme of this server's own address.
  let scheme: String
  private let maps = VenueMaps()
  private let glyphs = MapGlyphs()
  /// The types of a bundle, and of what changed in it.
  private static let bundleTypes = ["application/vnd.sqlite3", "application/vnd.pharos.bundle-delta"]

  var routes: [Route] {
    let tile = "/v1/venues/{id}/tiles/{building}/{level}/{z}/{x}/{y}"
    return [
      Route(
        .get,
        tile + ".png",
        Operation(
          "getTile",
          .venues,
          "A map tile of a floor as a picture",
          "A tile of the web map (spherical Mercator, rows from the north), transparent beside the floor."
        )
        .with(
          .venue,
          .building,
          .level,
          .z,
          .x,
          .y,
          .query(
            "size",
            .integers(FloorRenderer.sizes).usually(.integer(256)),
            "The pixels on a side; 512 shows the same at twice the density."
          )
        )
        .answering(.bytes("image/png"), .nothing("Nothing of the floor is on this tile."))
        .failing(.unavailable),
        access: .anyToken,
        conditional: true,
        long: true
      ) {
        request in
        var query = request.query
        let size = query.integer("size", in: 256...512) ?? 256
        if !FloorRenderer.sizes.contains(Int(size)) {
          query.wrong("size", "is \(size)", expected: "256 or 512")
        }
        try query.finish()
        return try await self.tile(
          request,
          catalog.floor(request),
          .picture(size: Int(size)),
          type: "image/png"
        )
      },
      Route(
        .get,
        tile + ".mvt",
        Operation(
          "getVectorTile",
          .venues,
          "A map tile of a floor as a vector tile",
          """
          Mapbox Vector Tile 2.1 with the layers areas, obstacles, walls, doors, connectors and places. \
          Packed with gzip for a client that accepts it.
          """
        )
        .with(.venue, .building, .level, .z, .x, .y)
        .answering(
          .bytes("application/vnd.mapbox-vector-tile"),
          .nothing("Nothing of the floor is on this tile.")
        )
        .failing(.unavailable),
        access: .anyToken,
        conditional: true,
        long: true
      ) { request in
        try await self.vectorTile(request, catalog.floor(request))
      },
      Route(
        .get,
        "/v1/venues/{id}/vector/{z}/{x}/{y}.mvt",
        Operation(
          "getVenueVectorTile",
          .venues,
          "A map tile of all floors of a venue as a vector tile",
          """
          Mapbox Vector Tile 2.1. Features have the properties `building` and `level`, so that a client \
          shows one level by a filter. Packed with gzip for a client that accepts it.
          """
        )
        .with(.venue, .z, .x, .y)
        .answering(
          .bytes("application/vnd.mapbox-vector-tile"),
          .nothing("Nothing of the venue is on this tile.")
        )
        .failing(.unavailable),
        access: .anyToken,
        conditional: true,
        long: true
      ) { request in
        try await self.vectorTile(request, (catalog.venue(request), nil))
      },
      Route(
        .get,
        "/v1/venues/{id}/tiles.json",
        Operation(
          "getTileJSON",
          .venues,
          "The vector tiles of a venue as TileJSON",
          """
          TileJSON 3.0.0: the address of the tiles, their zooms, layers and the rectangle of the venue. \
          Addresses are those by which the request came; a proxy names its own in `X-Forwarded-Proto` and \
          `X-Forwarded-Host`.
          """
        )
        .with(.venue)
        .answering(.tileJSON),
        access: .anyToken,
        conditional: true
      ) { request in
        .json(MapStyle.tileMembers, of: try style(request))
      },
      Route(
        .get,
        "/v1/venues/{id}/style.json",
        Operation(
          "getMapStyle",
          .venues,
          "A style for one level of a venue",
          """
          A style of version 8 for MapLibre, QGIS and other clients. The filter of each layer is `["all", \
          ["==", ["get", "level"], LEVEL], …]`; a client that changes LEVEL shows another level. Without \
          `glyphs` the names of places are written in the font of this server.
          """
        )
        .with(
          .venue,
          .query("level", .integer, "The level that is shown; by default that nearest to the ground floor."),
          .query(
            "glyphs",
            .name,
            "The address of other glyphs, with `{fontstack}` and `{range}` in it, for the names of places."
          ),
          .query("font", .name, "The font of names, where `glyphs` is given; `Noto Sans Regular` by default.")
        )
        .answering(.mapStyle),
        access: .anyToken,
        conditional: true,
        handler: drawnStyle
      ),
      Route(
        .get,
        "/v1/fonts/{font}/{range}.pbf",
        Operation(
          "getGlyphs",
          .venues,
          "The glyphs of 256 characters for names on maps",
          """
          Signed distance fields as MapLibre takes them, of the font of the picture tiles. A style names this \
          address by itself. Packed with gzip for a client that accepts it.
          """
        )
        .with(
          .path("font", "The name of the font; every name stands for the one that the server has."),
          .path("range", "The first and the last character, as in `0-255`.", .pattern("^[0-9]+-[0-9]+$"))
        )
        .answering(.bytes(MapResource.glyphType))
        .failing(.unavailable),
        access: .anyToken,
        conditional: true,
        long: true,
        handler: glyphRange
      ),
      Route(
        .get,
        "/v1/venues/{id}/bundle",
        Operation(
          "getVenueBundle",
          .venues,
          "The venue in one file for devices without a network",
          """
          MBTiles with all floors, places, stored routes and the walkable graph. The entity tag is the \
          version of its content. With `since`, the answer is a delta for `pharos venue patch` if the server \
          still has that version, and the whole bundle otherwise: the type of the content says which.
          """
        )
        .with(
          .venue,
          .query(
            "since",
            .pattern("^[0-9a-fA-F]{32}$"),
            "The version that the client has: 32 hexadecimal digits."
          ),
          .header("Range", "A range of bytes, to continue a download."),
          .header("If-Range", "The entity tag of the file that the range continues.")
        )
        .answering(
          .file(.ok, "The bundle, or with `since` what changed.", Self.bundleTypes),
          .nothing("Nothing changed since the version in `since`."),
          .file(.partialContent, "The part that `Range` asks for.", Self.bundleTypes)
            .naming("Content-Range", "The part and the size of the whole."),
          .refused(.rangeNotSatisfiable, "The range lies behind the end of the file.", .problem)
        )
        .failing(.unavailable),
        access: .anyToken,
        conditional: true,
        long: true,
        handler: bundle
      ),
    ]
  }

  /// The type of glyphs.
  private static let glyphType = "application/x-protobuf"

  private func glyphRange(_ request: APIRequest) async throws -> APIAnswer {
    let numbers = request.parameter("range").split(separator: "-", omittingEmptySubsequences: false)
      .map { UInt32($0) }
    guard numbers.count == 2, let first = numbers[0], let last = numbers[1], first <= 0x10FF00,
      first.isMultiple(of: GlyphRange.count), last == first + GlyphRange.count - 1
    else {
      throw Problem.notFound(
        "There are no such glyphs: a range has 256 characters and begins with a multiple of that, as in 0-255."
      )
    }
    do {
      let isPacked = request.acceptsGzip
      let bytes = try await glyphs.range(from: first, isPacked: isPacked)
      return APIAnswer.bytes(bytes, type: MapResource.glyphType).lasting(isPacked: isPacked)
    } catch let failure as MapFailure {
      throw Problem.unavailable("Glyphs cannot be drawn: \(failure).")
    }
  }

  /// A tile of one floor or, without one, of all floors.
  private typealias TileSubject = (served: ServedVenue, floor: (id: FloorID, floor: Floor)?)

  /// Returns a vector tile, packed for a client that takes that.
  private func vectorTile(_ request: APIRequest, _ subject: TileSubject) async throws -> APIAnswer {
    let isPacked = request.acceptsGzip
    return try await tile(
      request,
      subject,
      .vector(isPacked: isPacked),
      type: "application/vnd.mapbox-vector-tile"
    ).lasting(isPacked: isPacked)
  }

  private func tile(
    _ request: APIRequest,
    _ subject: TileSubject,
    _ form: VenueMaps.Form,
    type: String
  ) async throws -> APIAnswer {
    let (served, floor) = subject
    let numbers = ["z", "x", "y"].map { Int(request.parameter($0)) }
    guard let zoom = numbers[0], let x = numbers[1], let y = numbers[2],
      let tile = MapTile(zoom: zoom, x: x, y: y)
    else {
      throw Problem.notFound(
        """
        There is no such tile: zooms go from 0 to \(MapTile.zooms.upperBound), columns and rows from 0 to \
        2^zoom − 1.
        """
      )
    }
    do {
      let bytes = try await maps.tile(tile, of: floor?.id, form, in: served)
      return (bytes.isEmpty ? APIAnswer.noContent : .bytes(bytes, type: type)).lasting()
    } catch {
      let what = floor.map { "Floor \($0.id)" } ?? "Venue \"\(served.venue.identifier)\""
      throw Problem.unavailable(
        """
        \(what) cannot be drawn: \(Wording.clause(error)). `pharos check` says what is wrong with the \
        venue's folder.
        """
      )
    }
  }

  private func style(_ request: APIRequest) throws(Problem) -> MapStyle {
    MapStyle(venue: try catalog.venue(request).venue, server: request.server(scheme: scheme))
  }

  private func drawnStyle(_ request: APIRequest) throws -> APIAnswer {
    let style = try style(request)
    var query = request.query
    let known = style.levels.map(String.init).joined(separator: ", ")
    let level = query.integer("level", in: -1_000...1_000).map(Int.init) ?? style.groundLevel
    if !style.levels.isEmpty, !style.levels.contains(level) {
      query.wrong("level", "is \(level)", expected: "one of \(known)")
    }
    let glyphs = query.text("glyphs")
    let font = query.text("font")
    if let glyphs, !glyphs.contains("{fontstack}") || !glyphs.contains("{range}") {
      query.wrong(
        "glyphs",
        "\"\(glyphs.shortened)\"",
        expected: "an address with {fontstack} and {range} in it"
      )
    }
    if font != nil, glyphs == nil { query.wrong("font", "is set without glyphs", expected: "both") }
    try query.finish()
    return .json { json in
      style.write(
        level: level,
        labels: glyphs.map { (glyphs: $0, font: font ?? MapStyle.usualFont) },
        to: &json
      )
    }
  }

  private func bundle(_ request: APIRequest) async throws -> APIAnswer {
    let served = try catalog.venue(request)
    var query = request.query
    let since = query.text("since")
    if let since, since.count != 32 || !since.allSatisfy(\.isHexDigit) {
      query.wrong(
        "since",
        "\"\(since.shortened)\" is no version of a bundle",
        expected: "32 hexadecimal digits"
      )
    }
    try query.finish()
    let found: VenueBundles.Download?
    do {
      found = try await bundles.download(served, since: since?.lowercased())
    } catch {
      throw Problem.unavailable(
        """
        The bundle of venue "\(served.venue.identifier)" cannot be made: \(Wording.clause(error)). `pharos \
        check` says what is wrong 
        """
          + "with the venue's folder."
      )
    }
    guard let found else { return .noContent }
    return try download(found, for: request)
  }

  /// The answer with a file, or the part of it that the request asks for.
  private func download(
    _ file: VenueBundles.Download,
    for request: APIRequest
  ) throws(Problem) -> APIAnswer {
    let tag = file.isDelta ? "\"delta-\(file.version)\"" : "\"\(file.version)\""
    var answer = APIAnswer()
    answer.headers[.eTag] = tag
    answer.headers[.acceptRanges] = "bytes"
    answer.headers[.contentType] =
      MapResource.bundleTypes[file.isDelta ? 1 : 0]
    // A client that continues an older file needs the new one from its beginning.
    let isCurrent = request[.ifRange].map { $0 == tag } ?? true
    var part = 0..<file.size
    switch isCurrent ? ByteRange(field: request[.range], size: file.size) : .whole {
    case .whole: break
    case .part(let range):
      part = range
      answer.status = .partialContent
      answer.headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
    case .beyond:
      var problem = Problem(
        "rangeNotSatisfiable",
        "The range lies behind the end",
        status: 416,
        detail: "The file has \(file.size) bytes."
      )
      problem.headers[.contentRange] = "bytes */\(file.size)"
      throw problem
    }
    answer.headers[.contentLength] = "\(part.count)"
    answer.body = .file(path: file.path, part: part)
    return answer
  }
}

extension APIAnswer {
  /// The lifetime of a piece of a map in the memory of its client.
  ///
  /// - Units: seconds. A venue changes at a start of the server; five minutes hold while one looks at a map.
  private static let pieceLifetime = 300

  /// A piece of a map that its client keeps for a while, as it was packed for it.
  fileprivate func lasting(isPacked: Bool? = nil) -> APIAnswer {
    var answer = self
    answer.headers[.cacheControl] = "max-age=\(APIAnswer.pieceLifetime)"
    if isPacked != nil { answer.headers[.vary] = "Accept-Encoding" }
    if isPacked == true, status == .ok { answer.headers[.contentEncoding] = "gzip" }
    return answer
  }
}

extension Operation.Parameter {
  fileprivate static let building = path("building", "The building.")
  fileprivate static let level = path("level", "The floor's number; 0 is the ground floor.", .integer)
  fileprivate static let z = path("z", "The zoom, 0 to 24.", .count)
  fileprivate static let x = path("x", "The column from 180° W.", .count)
  fileprivate static let y = path("y", "The row from the north.", .count)
}
