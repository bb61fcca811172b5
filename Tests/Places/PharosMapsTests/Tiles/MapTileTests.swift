import PharosMaps
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Map tiles")
struct MapTileTests {
  @Test("Aberystwyth Castle lies at zoom 16 in the tile whose numbers the issue gives")
  func castle() throws {
    let castle = try #require(Coordinate(latitude: 52.413244, longitude: -4.089675))
    let point = try #require(MapPoint(castle))
    let tile = try #require(MapTile(containing: point, zoom: 16))
    #expect(tile.origin == MapPoint(x: 131_166_208, y: 88_162_304))
    #expect(tile.side == 4_096)
    #expect(tile.description == "16/32023/21524")
  }

  @Test("rows from the south are those from the north turned round")
  func rows() throws {
    let tile = try #require(MapTile(zoom: 16, x: 32_023, y: 21_524))
    #expect(tile.rowFromSouth == 65_535 - 21_524)
    #expect(MapTile(zoom: 16, x: 32_023, rowFromSouth: tile.rowFromSouth) == tile)
    #expect(MapTile(zoom: 0, x: 0, y: 0)?.rowFromSouth == 0)
    #expect(MapTile(zoom: 2, x: 1, rowFromSouth: 4) == nil)
    #expect(MapTile(zoom: 99, x: 1, rowFromSouth: 4) == nil)
  }

  @Test("numbers that no tile has are refused")
  func refused() {
    #expect(MapTile(zoom: -1, x: 0, y: 0) == nil)
    #expect(MapTile(zoom: 25, x: 0, y: 0) == nil)
    #expect(MapTile(zoom: 3, x: 8, y: 0) == nil)
    #expect(MapTile(zoom: 3, x: 0, y: -1) == nil)
    #expect(MapTile(containing: MapPoint(x: .nan, y: 0), zoom: 3) == nil)
    #expect(MapTile(containing: MapPoint(x: 0, y: MapPoint.worldSize), zoom: 3) == nil)
  }

  @Test("a rectangle is covered by the tiles that it touches, at every zoom")
  func covering() throws {
    var generator = SeededGenerator(seed: 28)
    for _ in 0..<200 {
      let origin = MapPoint(
        x: Double.random(in: 0..<MapPoint.worldSize, using: &generator),
        y: Double.random(in: 1e6..<2.6e8, using: &generator)
      )
      let rect = MapRect(
        origin: origin,
        width: Double.random(in: 0..<9_000, using: &generator),
        height: Double.random(in: 0..<9_000, using: &generator)
      )
      let zoom = Int.random(in: 0...18, using: &generator)
      let tiles = MapTile.covering(rect, zoom: zoom)
      #expect(tiles.count == MapTile.count(covering: rect, zoom: zoom))
      #expect(Set(tiles).count == tiles.count)
      for share in [0.0, 0.3, 0.7, 1.0] {
        var point = MapPoint(x: origin.x + rect.width * share, y: origin.y + rect.height * (1 - share))
        if point.x >= MapPoint.worldSize { point.x -= MapPoint.worldSize }
        let tile = try #require(MapTile(containing: point, zoom: zoom))
        #expect(tiles.contains(tile))
      }
    }
  }

  @Test("a rectangle over 180° is covered on both edges of the map")
  func dateLine() throws {
    let west = MapPoint(x: MapPoint.worldSize - 100, y: 1e8)
    let east = MapPoint(x: 100, y: 1e8 + 50)
    for points in [[west, east], [east, west]] {
      let rect = try #require(MapRect(around: points))
      #expect(rect.origin == west)
      #expect(rect.width == 200 && rect.height == 50)
      let columns = MapTile.covering(rect, zoom: 10).map(\.x)
      #expect(columns == [1_023, 0])
    }
    #expect(MapRect(around: []) == nil)
  }
}
