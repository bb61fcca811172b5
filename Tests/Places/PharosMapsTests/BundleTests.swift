import Foundation
import GRDB
import PharosMaps
import PharosSpace
import PharosWays
import Testing

@Suite("Venue bundles")
struct BundleTests {
  /// A folder of its own, which goes with the test.
  private final class Folder {
    let path: String

    init() throws {
      path = FileManager.default.temporaryDirectory.appending(path: "bundle-\(UUID().uuidString)").path
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }
    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: file(name)))) }
    func put(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(filePath: file(name))) }
  }

  private struct NoImage: Error {}

  private static func writer(_ venue: Venue) -> BundleWriter {
    var writer = BundleWriter(venue) { _ in throw NoImage() }
    writer.zooms = 17...20
    return writer
  }

  /// The venue with 30 rooms on two floors, of which one may be of another width.
  private static func rooms(changed: Bool) throws -> Venue {
    var venue = try FloorRendererTests.venue()
    var walls: [Wall] = []
    for column in 0..<6 {
      for row in 0..<5 {
        let (x, y) = (Double(column) * 40, Double(row) * 30)
        let width = changed && column == 2 && row == 3 ? 31.0 : 34
        var room = Walls()
        room.enclose(southWest: Point(x: x, y: y), northEast: Point(x: x + width, y: y + 26), attenuation: 6)
        walls += room.all
      }
    }
    venue.buildings[0].floors[0].walls = Walls(walls)
    var upper = venue.buildings[0].floors[0]
    upper.level = 1
    upper.pointsOfInterest = []
    venue.buildings[0].floors.append(upper)
    return venue
  }

  @Test("a bundle holds the floors, the places, the routes and the graph")
  func content() throws {
    let folder = try Folder()
    var writer = Self.writer(try FloorRendererTests.venue())
    writer.askedRoutes = [("cafe", "street")]
    let version = try writer.write(to: folder.file("hall.mbtiles"))
    let bundle = try VenueBundle(path: folder.file("hall.mbtiles"))
    #expect(bundle.venue == "hall")
    #expect(bundle.contentVersion == version && version.count == 32)
    try bundle.verify()
    #expect(bundle.floors.map(\.id) == [FloorRendererTests.id])
    #expect(bundle.floors.map(\.isDefault) == [true])
    let place = try #require(try bundle.places().first)
    #expect((place.identifier, place.name) == ("cafe", "Café Größe"))
    #expect(place.caption == FloorRendererTests.caption)
    #expect(place.floor == FloorRendererTests.id)
    let routes = try bundle.router().routes(from: .place("street"), to: .place("Café Größe"))
    let stored = try #require(try bundle.route(from: "street", to: "cafe"))
    let document = try JSONSerialization.jsonObject(with: Data(stored.utf8)) as? [String: Any]
    let distance = try #require(document?["distance"] as? Double)
    #expect(try abs(distance - #require(routes.first).distance) <= 0.051)
    #expect(stored.contains("\"instructions\":{\"en\":"))
    #expect(try bundle.route(from: "cafe", to: "street") != nil, "asked for")
    #expect(try bundle.route(from: "cafe", to: "cafe") == nil)
    let floor = try FloorRendererTests.mapped()
    let renderer = try FloorRenderer(floor, image: nil)
    let tile = try #require(MapTile.covering(floor.rect, zoom: 20).first)
    #expect(try bundle.picture(tile, of: floor.id) == renderer.png(tile))
    let coarse = try #require(MapTile.covering(floor.rect, zoom: 18).first)
    #expect(try bundle.vectorTile(coarse, of: floor.id) == VectorTile(coarse, of: floor).bytes)
  }

  @Test("readers of MBTiles find what the specification demands")
  func mbtiles() throws {
    let folder = try Folder()
    var writer = Self.writer(try Self.rooms(changed: false))
    writer.zooms = 17...19
    try writer.write(to: folder.file("rooms.mbtiles"))
    let queue = try DatabaseQueue(path: folder.file("rooms.mbtiles"))
    try queue.read { database in
      #expect(try Int.fetchOne(database, sql: "PRAGMA application_id") == 0x4D50_4258)
      let metadata = try Row.fetchAll(database, sql: "SELECT name, value FROM metadata")
        .reduce(into: [String: String]()) { $0[$1["name"]] = $1["value"] }
      #expect(metadata["format"] == "png" && metadata["type"] == "overlay")
      #expect(metadata["minzoom"] == "17" && metadata["maxzoom"] == "19")
      #expect(metadata["bounds"]?.split(separator: ",").compactMap { Double($0) }.count == 4)
      let tiles = try Row.fetchAll(
        database,
        sql: "SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles"
      )
      let floor = try #require(MappedFloor(FloorRendererTests.id, of: Self.rooms(changed: false)))
      #expect(Set(tiles.map { $0["zoom_level"] as Int }) == [17, 18, 19])
      for row in tiles {
        let tile = try #require(
          MapTile(zoom: row["zoom_level"], x: row["tile_column"], rowFromSouth: row["tile_row"])
        )
        #expect(MapTile.covering(floor.rect, zoom: tile.zoom).contains(tile))
        #expect(Array((row["tile_data"] as Data).prefix(4)) == [0x89, 0x50, 0x4E, 0x47])
      }
      // Both floors, of which readers of MBTiles see one.
      let all = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM floor_tiles")
      #expect(all == 2 * tiles.count)
      let images = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM images")
      #expect(try #require(images) < 2 * tiles.count, "equal tiles are stored once")
    }
  }

  @Test("the same venue gives the same bytes")
  func deterministic() throws {
    let folder = try Folder()
    let first = try Self.writer(Self.rooms(changed: false)).write(to: folder.file("a"))
    let second = try Self.writer(Self.rooms(changed: false)).write(to: folder.file("b"))
    #expect(first == second)
    #expect(try folder.bytes("a") == folder.bytes("b"))
    let changed = try Self.writer(Self.rooms(changed: true)).write(to: folder.file("b"))
    #expect(changed != first)
  }

  @Test("the delta of one changed room is small and leads to the new bundle")
  func delta() throws {
    let folder = try Folder()
    let (old, new) = (folder.file("old"), folder.file("new"))
    try Self.writer(Self.rooms(changed: false)).write(to: old)
    let version = try Self.writer(Self.rooms(changed: true)).write(to: new)
    try BundleDelta.write(from: old, to: new, at: folder.file("delta"))
    try BundleDelta.apply(folder.file("delta"), to: old, at: folder.file("patched"))
    let patched = try VenueBundle(path: folder.file("patched"))
    try patched.verify()
    #expect(patched.contentVersion == version)
    // And back again, and nothing from one to itself.
    try BundleDelta.write(from: new, to: old, at: folder.file("back"))
    let before = try BundleDelta.apply(
      folder.file("back"),
      to: folder.file("patched"),
      at: folder.file("patched")
    )
    #expect(try before == VenueBundle(path: old).contentVersion)
    try BundleDelta.write(from: old, to: old, at: folder.file("none"))
    #expect(try BundleDelta.apply(folder.file("none"), to: old, at: folder.file("same")) == before)
    #expect(try folder.bytes("delta").count * 4 < folder.bytes("new").count)
  }

  @Test("a file that is no bundle, is cut short or of another version is refused, and nothing is written")
  func refused() throws {
    let folder = try Folder()
    let venue = try Self.rooms(changed: false)
    var writer = Self.writer(venue)
    writer.zooms = 17...18
    try writer.write(to: folder.file("good"))
    let good = try folder.bytes("good")
    func message(_ bytes: [UInt8]) throws -> String {
      try folder.put(bytes, "bad")
      let failure = #expect(throws: MapFailure.self) {
        try VenueBundle(path: folder.file("bad")).verify()
      }
      return failure?.description ?? ""
    }
    #expect(try message([]).contains("no SQLite file"))
    #expect(try message(Array("hello, this is no bundle".utf8)).contains("no SQLite file"))
    #expect(try message(Array(good.prefix(good.count - 5_000))).contains("cut short"))
    #expect(try message(Array(good.prefix(100))).contains("cut short"))
    var other = good
    other[63] = 9
    #expect(try message(other).contains("version 9 of the format, expected 2"))
    other = good
    other[68] = 0
    #expect(try message(other).contains("not a venue bundle"))
    var refused = 0
    for place in stride(from: 4_096 + 512, to: good.count, by: 2_311) {
      other = good
      other[place] ^= 0xFF
      try folder.put(other, "bad")
      do {
        try VenueBundle(path: folder.file("bad")).verify()
      } catch {
        refused += 1
      }
    }
    #expect(refused > 0)
    let missing = #expect(throws: MapFailure.self) { try VenueBundle(path: folder.file("none")) }
    #expect(missing?.description.contains("is there such a file") == true)

    // A delta for another bundle.
    writer.zooms = 17...17
    try writer.write(to: folder.file("next"))
    try BundleDelta.write(from: folder.file("good"), to: folder.file("next"), at: folder.file("delta"))
    let foreign = #expect(throws: MapFailure.self) {
      try BundleDelta.apply(folder.file("delta"), to: folder.file("next"), at: folder.file("out"))
    }
    #expect(foreign?.description.contains("leads from version") == true)
    let cut = try folder.bytes("delta")
    try folder.put(Array(cut.prefix(cut.count / 2)), "delta")
    #expect(throws: MapFailure.self) {
      try BundleDelta.apply(folder.file("delta"), to: folder.file("good"), at: folder.file("out"))
    }
    #expect(throws: MapFailure.self) {
      try BundleDelta.apply(folder.file("good"), to: folder.file("good"), at: folder.file("out"))
    }
    let shop = try FloorRendererTests.venue()
    try Self.writer(Venue(identifier: "shop", buildings: shop.buildings)).write(to: folder.file("shop"))
    #expect(throws: MapFailure.self) {
      try BundleDelta.write(from: folder.file("good"), to: folder.file("shop"), at: folder.file("out"))
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
    #expect(!FileManager.default.fileExists(atPath: folder.file("out.part")))
  }

  @Test("a route to a place that there is not is refused with the name that may be meant")
  func unknownRoute() throws {
    let folder = try Folder()
    var writer = Self.writer(try FloorRendererTests.venue())
    writer.askedRoutes = [("street", "cafeteria")]
    let failure = #expect(throws: MapFailure.self) { try writer.write(to: folder.file("out")) }
    #expect(failure?.description.hasPrefix("route street:cafeteria: the venue has no place") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
  }

  @Test("zooms that do not exist or take too many tiles are refused")
  func zooms() throws {
    let folder = try Folder()
    var writer = Self.writer(try Self.rooms(changed: false))
    for zooms in [0...30, 20...24] {
      writer.zooms = zooms
      if zooms == 20...24 { writer.venue.buildings[0].floors[0].walls.all.append(Self.farWall) }
      #expect(throws: MapFailure.self) { try writer.write(to: folder.file("out")) }
    }
    #expect(throws: MapFailure.self) {
      try BundleWriter(Venue(identifier: "empty")) { _ in [] }.write(to: folder.file("out"))
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
  }

  private static let farWall = Wall(from: Point(x: 0, y: 0), to: Point(x: 9_000, y: 9_000), attenuation: 3)
}
