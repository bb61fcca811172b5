import PharosModel
import Testing

@Suite("Point")
struct PointTests {
  @Test("distance is Pythagoras's")
  func distance() {
    #expect(Point(x: 1, y: 1).distance(to: Point(x: 4, y: 5)) == 5)
    #expect(Point.origin.distance(to: .origin) == 0)
  }

  @Test(
    "a share of the way leads from one end to the other",
    arguments: [(0.0, 2.0), (0.25, 3.0), (1.0, 6.0)]
  )
  func interpolation(share: Double, x: Double) {
    let here = Point(x: 2, y: -1)
    #expect(here.interpolated(to: Point(x: 6, y: -1), share: share) == Point(x: x, y: -1))
  }

  @Test("a direction has length one, and no length has no direction")
  func direction() throws {
    let direction = try #require(Point(x: 0, y: -3).direction)
    #expect(direction == Point(x: 0, y: -1))
    #expect(Point.origin.direction == nil)
    #expect(Point(x: .infinity, y: 0).direction == nil)
  }

  @Test("the vector product is positive to the left")
  func cross() {
    let east = Point(x: 1, y: 0)
    let north = Point(x: 0, y: 1)
    #expect(east.cross(north) == 1)
    #expect(north.cross(east) == -1)
    #expect(east.dot(north) == 0)
  }
}
