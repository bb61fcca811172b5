import Foundation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Floor plane")
struct FloorPlaneTests {
  /// Planes of both kinds, from the southern hemisphere to 80° north, one beside the date line.
  static let planes: [FloorPlane] = [
    (0.0, 0.0), (30.293, 120.075), (52.5208, 13.2945), (69.6496, 18.956), (80, -20), (-80, 100),
    (-17.7, 179.9999), (-54.8, -68.3),
  ].flatMap { latitude, longitude -> [FloorPlane] in
    guard let origin = Coordinate(latitude: latitude, longitude: longitude) else { return [] }
    return [.ground(GroundPlane(origin: origin))]
      + (MercatorPlane(origin: origin).map { [.mercator($0)] } ?? [])
  }

  @Test("there and back again within a micrometre over a kilometre", arguments: planes)
  func roundTrip(plane: FloorPlane) throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<400 {
      let point = Point(
        x: .random(in: -1_000...1_000, using: &random),
        y: .random(in: -1_000...1_000, using: &random)
      )
      let coordinate = try #require(plane.coordinate(of: point))
      let back = try #require(plane.point(of: coordinate))
      #expect(back.distance(to: point) < 1e-6)
      let again = try #require(plane.coordinate(of: back))
      #expect(again.distance(to: coordinate) < 1e-6)
    }
  }

  @Test(
    "on the ground, distances over a kilometre are those on the ellipsoid within a millimetre",
    arguments: planes
  )
  func lengths(plane: FloorPlane) throws {
    guard case .ground(let plane) = plane else { return }
    var random = SeededGenerator(seed: 4)
    for _ in 0..<200 {
      let one = Point(x: .random(in: -500...500, using: &random), y: .random(in: -500...500, using: &random))
      let other = Point(
        x: .random(in: -500...500, using: &random),
        y: .random(in: -500...500, using: &random)
      )
      let here = try #require(plane.coordinate(of: one))
      let there = try #require(plane.coordinate(of: other))
      #expect(abs(here.distance(to: there) - one.distance(to: other)) < 1e-3)
      #expect(abs(Reference.chord(here, there) - one.distance(to: other)) < 1e-3)
    }
  }

  @Test("x points east and y north", arguments: planes)
  func directions(plane: FloorPlane) throws {
    let origin = plane.origin
    let east = try #require(plane.coordinate(of: Point(x: 100, y: 0)))
    let north = try #require(plane.coordinate(of: Point(x: 0, y: 100)))
    #expect(north.latitude > origin.latitude)
    #expect(abs(north.longitude - origin.longitude) < 1e-9)
    #expect(abs(east.latitude - origin.latitude) < 1e-4)
    let turn = east.longitude - origin.longitude
    #expect(turn > 0 || turn < -300)
  }

  @Test("on Mercator's map a kilometre is what its scale at the origin says: by hand at three places")
  func mercatorByHand() throws {
    for (latitude, longitude) in [(0.0, 0.0), (45.0, 9.0), (64.1, -21.9)] {
      let origin = try #require(Coordinate(latitude: latitude, longitude: longitude))
      let place = try #require(Coordinate(latitude: latitude + 0.004, longitude: longitude + 0.006))
      let plane = try #require(MercatorPlane(origin: origin))
      let point = try #require(plane.point(of: place))
      let (from, to) = (Reference.mapPoint(origin), Reference.mapPoint(place))
      let scale = cos(latitude * .pi / 180) * 2 * .pi * 6_378_137 / 268_435_456
      #expect(abs(point.x - (to.x - from.x) * scale) < 1e-6)
      #expect(abs(point.y - (from.y - to.y) * scale) < 1e-6)
    }
  }

  @Test("a plane ends somewhere")
  func reach() throws {
    let origin = try #require(Coordinate(latitude: 50, longitude: 8))
    let far = try #require(Coordinate(latitude: 51, longitude: 8))
    let plane = FloorPlane.ground(GroundPlane(origin: origin))
    #expect(plane.point(of: far) == nil)
    #expect(plane.coordinate(of: Point(x: 31_000, y: 0)) == nil)
    #expect(plane.coordinate(of: Point(x: .nan, y: 0)) == nil)
    let map = try #require(MercatorPlane(origin: origin))
    #expect(map.point(of: far) == nil)
    #expect(map.coordinate(of: Point(x: 0, y: .infinity)) == nil)
  }

  @Test("a rectangle of the map with a width and a height is a plane, unless it is none")
  func rectangle() throws {
    let low = try #require(Coordinate(latitude: 30.2924, longitude: 120.0741))
    let high = try #require(Coordinate(latitude: 30.2940, longitude: 120.0766))
    let plane = try #require(MercatorPlane(southWest: low, northEast: high, width: 240, height: 178))
    let corner = try #require(plane.point(of: high))
    #expect(corner.distance(to: Point(x: 240, y: 178)) < 1e-6)
    #expect(try #require(plane.point(of: low)).length < 1e-9)
    #expect(MercatorPlane(southWest: high, northEast: low, width: 240, height: 178) == nil)
    #expect(MercatorPlane(southWest: low, northEast: high, width: 0, height: 178) == nil)
    #expect(MercatorPlane(southWest: low, northEast: high, width: 240, height: .nan) == nil)
  }
}
