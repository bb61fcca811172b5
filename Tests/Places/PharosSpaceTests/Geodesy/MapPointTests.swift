import Foundation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Map point")
struct MapPointTests {
  @Test("the map's middle, corners and edges")
  func landmarks() throws {
    let middle = try #require(Coordinate(latitude: 0, longitude: 0).flatMap { MapPoint($0) })
    #expect(middle == MapPoint(x: 134_217_728, y: 134_217_728))
    let edge = try #require(Coordinate(latitude: MapPoint.largestLatitude, longitude: -180))
    let corner = try #require(MapPoint(edge))
    #expect(abs(corner.x) < 1e-6 && abs(corner.y) < 1e-3)
    #expect(Coordinate(latitude: 86, longitude: 0).flatMap { MapPoint($0) } == nil)
  }

  @Test("points are those of the textbook's formula, and lead back within a micrometre")
  func textbook() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<1_000 {
      let place = try #require(
        Coordinate(
          latitude: .random(in: -85...85, using: &random),
          longitude: .random(in: -180...180, using: &random)
        )
      )
      let point = try #require(MapPoint(place))
      let expected = Reference.mapPoint(place)
      #expect(abs(point.x - expected.x) < 1e-6)
      #expect(abs(point.y - expected.y) < 1e-6)
      let back = point.coordinate
      #expect(abs(back.latitude - place.latitude) < 1e-12)
      #expect(abs(back.longitude - place.longitude) < 1e-12)
    }
  }

  @Test(
    "a point shrinks with the cosine of the latitude",
    arguments: [(0.0, 0.14929107086948487), (60, 0.07464553543474245), (-60, 0.07464553543474245)]
  )
  func scale(latitude: Double, meters: Double) {
    #expect(abs(MapPoint.metersPerPoint(atLatitude: latitude) - meters) < 1e-12)
  }

  @Test("the way over the date line is the short one")
  func dateLine() throws {
    let west = try #require(Coordinate(latitude: -17, longitude: 179.999).flatMap { MapPoint($0) })
    let east = try #require(Coordinate(latitude: -17, longitude: -179.999).flatMap { MapPoint($0) })
    #expect(abs(east.offset(from: west).east - MapPoint.worldSize * 0.002 / 360) < 1e-6)
    #expect(abs(west.offset(from: east).east + MapPoint.worldSize * 0.002 / 360) < 1e-6)
  }
}
