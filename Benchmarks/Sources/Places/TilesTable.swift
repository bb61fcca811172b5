import Foundation
import Glibc
import PharosMaps
import PharosSite
import PharosSpace

/// Measures the tiles of a mall: the real one if its floor plans are there, and always one that is generated.
func measureTiles(_ input: PlacesInput) throws -> [PlacesRow] {
  var rows = try tileRows(TilesMall.generated)
  if let mall = try TilesMall.real(input) { rows += try tileRows(mall) }
  return rows
}

/// Measures the bundle of a mall, and the delta of one changed room.
func measureBundle(_ input: PlacesInput) throws -> [PlacesRow] {
  var rows = try bundleRows(TilesMall.generated)
  if let mall = try TilesMall.real(input) { rows += try bundleRows(mall) }
  return rows
}

private func tileRows(_ mall: TilesMall) throws -> [PlacesRow] {
  var rows: [PlacesRow] = []
  let floors = try mall.floors()
  for size in FloorRenderer.sizes {
    let times = try floors.flatMap { floor, renderer in
      try TilesMall.zooms.flatMap { zoom in
        // The first tile of a zoom places its names.
        try MapTile.covering(floor.rect, zoom: zoom).map { tile in
          try processorMilliseconds { _ = try renderer.png(tile, size: size) }
        }
      }
    }
    rows.append(row("\(mall.name), picture of \(size) px", times, limit: size == 256 ? 5 : nil))
  }
  let times = floors.flatMap { floor, _ in
    (16...18).flatMap { zoom in
      MapTile.covering(floor.rect, zoom: zoom).map { tile in
        processorMilliseconds { _ = VectorTile(tile, of: floor) }
      }
    }
  }
  rows.append(row("\(mall.name), vector tile", times, limit: 5))
  return rows
}

private func row(_ quantity: String, _ times: [Double], limit: Double?) -> PlacesRow {
  let sorted = times.sorted()
  let (median, tail) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
  return PlacesRow(
    quantity: "\(quantity), ms of a core a tile",
    target: limit.map { "p99 ≤ \(Int($0))" } ?? "-",
    seen: "p50 \(text(median)), p99 \(text(tail)), \(sorted.count) tiles",
    isMet: limit.map { tail <= $0 }
  )
}

private func bundleRows(_ mall: TilesMall) throws -> [PlacesRow] {
  let folder = FileManager.default.temporaryDirectory.appending(path: "places-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  func path(_ name: String) -> String { folder.appending(path: name).path }
  func size(_ name: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path(name))[.size] as? Int ?? 0
  }
  let seconds =
    try milliseconds { try BundleWriter(mall.venue, image: mall.image).write(to: path("old")) } / 1_000
  try BundleWriter(mall.withAChangedRoom(), image: mall.image).write(to: path("new"))
  let difference = try milliseconds {
    try BundleDelta.write(from: path("old"), to: path("new"), at: path("delta"))
  }
  let patched = try BundleDelta.apply(path("delta"), to: path("old"), at: path("patched"))
  let isEqual = try VenueBundle(path: path("new")).contentVersion == patched
  let share = try Double(size("delta")) / Double(size("new"))
  return [
    PlacesRow(
      quantity: "\(mall.name), bundle with all levels of \(mall.venue.floors.count) floors",
      target: "≤ 60 s",
      seen: "\(text(seconds)) s, \(try size("old") / 1_000) kB",
      isMet: seconds <= 60
    ),
    PlacesRow(
      quantity: "\(mall.name), delta of one changed room",
      target: "≤ 5 % of the bundle, patched to the same content",
      seen: "\(text(share * 100)) % (\(try size("delta") / 1_000) kB), in \(text(difference)) ms, "
        + (isEqual ? "the same content" : "OTHER content"),
      isMet: share <= 0.05 && isEqual
    ),
  ]
}

/// A mall whose tiles are measured.
private struct TilesMall {
  let name: String
  let venue: Venue
  let image: (String) throws -> [UInt8]

  /// The zooms whose tiles are measured.
  static let zooms = 16...20

  struct NoImage: Error {}

  /// The mall of the public indoor data; nil without them.
  static func real(_ input: PlacesInput) throws -> TilesMall? {
    guard let data = input.data else { return nil }
    let levels = [(-1, "B1"), (0, "F1"), (1, "F2"), (2, "F3"), (3, "F4")]
    let floors = levels.map { "      - { level: \($0.0), surveyFolder: \($0.1) }" }.joined(separator: "\n")
    let main = "id: mall\nbuildings:\n  - id: site1\n    floors:\n\(floors)\n"
    let files = VenueFiles { name, limit throws(VenueFiles.Failure) in
      if name == VenueFolder.mainFile { return Array(main.utf8) }
      guard let bytes = FileManager.default.contents(atPath: "\(data)/indoor/floors/site1/\(name)") else {
        throw .missing
      }
      return Array(bytes.prefix(limit))
    }
    let venue = try VenueFolder.read(data, files: files).venue
    return TilesMall(name: "mall of the public data (plan images)", venue: venue) { try files.whole($0) }
  }

  /// Five floors of 240 by 180 metres with 60 shops each, drawn from their areas.
  static var generated: TilesMall {
    guard let corner = Coordinate(latitude: 52.52, longitude: 13.405) else {
      preconditionFailure("a place on the Earth")
    }
    let floors = (0..<5).map { level in
      var floor = Floor(level: level, plane: .ground(GroundPlane(origin: corner)))
      floor.walkable = [
        Area(name: "mall", outline: Polygon(rectangleFrom: .origin, to: Point(x: 240, y: 180)))
      ]
      for column in 0..<10 {
        for row in 0..<6 {
          let low = Point(x: 4 + 24 * Double(column), y: 4 + 30 * Double(row))
          let high = low + Point(x: 18, y: 22)
          let name = "shop \(level)-\(column)-\(row)"
          floor.obstacles.append(Area(name: name, outline: Polygon(rectangleFrom: low, to: high)))
          floor.walls.enclose(southWest: low, northEast: high, attenuation: 6)
          floor.pointsOfInterest.append(
            PointOfInterest(
              identifier: name,
              name: name,
              category: "retail",
              point: Point(x: low.x + 9, y: high.y + 1)
            )
          )
        }
      }
      return floor
    }
    return TilesMall(
      name: "generated mall (drawn)",
      venue: Venue(identifier: "mall", buildings: [Building(identifier: "main", floors: floors)])
    ) { _ in throw NoImage() }
  }

  func floors() throws -> [(MappedFloor, FloorRenderer)] {
    try venue.floors.compactMap { id, _ in
      guard let floor = MappedFloor(id, of: venue) else { return nil }
      let image = try floor.picture.map { try self.image($0.plan.image) }
      return (floor, try FloorRenderer(floor, image: image))
    }
  }

  /// The venue with the edges of one shop of a middle floor a metre further inside.
  func withAChangedRoom() -> Venue {
    var venue = venue
    let number = venue.buildings[0].floors.count / 2
    var floor = venue.buildings[0].floors[number]
    let shops = floor.obstacles.indices.filter { (50...500).contains(floor.obstacles[$0].size) }
    guard let shop = shops.first(where: { $0 >= floor.obstacles.count / 2 }),
      let extent = floor.obstacles[shop].outline.extent
    else { return venue }
    let corners = floor.obstacles[shop].outline.corners.map { corner in
      corner + ((extent.middle - corner).direction ?? .origin)
    }
    let before = floor.obstacles[shop].outline.sides
    floor.obstacles[shop].outline = Polygon(corners)
    let after = floor.obstacles[shop].outline.sides
    for (side, moved) in zip(before, after) {
      for wall in floor.walls.all.indices {
        let segment = floor.walls.all[wall].segment
        if segment == side || segment == Segment(from: side.end, to: side.start) {
          floor.walls.all[wall].segment = moved
        }
      }
    }
    venue.buildings[0].floors[number] = floor
    return venue
  }
}

/// The time of this thread's processor that an operation takes: other programs of the machine do not add to it.
private func processorMilliseconds(_ operation: () throws -> Void) rethrows -> Double {
  func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
  }
  let start = now()
  try operation()
  return now() - start
}

private func milliseconds(_ operation: () throws -> Void) rethrows -> Double {
  let duration = try ContinuousClock().measure { try operation() }
  return Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) / 1e15
}

private func text(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }
