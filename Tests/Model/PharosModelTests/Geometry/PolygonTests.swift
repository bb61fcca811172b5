import PharosModel
import PharosTestSupport
import Testing

@Suite("Polygon")
struct PolygonTests {
  /// The letter L: a square of 4 with its north-eastern quarter missing.
  let letter = Polygon(
    [(0, 0), (4, 0), (4, 2), (2, 2), (2, 4), (0, 4)].map { Point(x: Double($0.0), y: Double($0.1)) }
  )

  @Test(
    "a place lies in it or not",
    arguments: [(1.0, 1.0, true), (3.0, 1.0, true), (1.0, 3.0, true), (3.0, 3.0, false), (-1.0, 1.0, false)]
  )
  func contains(x: Double, y: Double, isInside: Bool) {
    #expect(letter.contains(Point(x: x, y: y)) == isInside)
    #expect(Polygon(letter.corners.reversed()).contains(Point(x: x, y: y)) == isInside)
  }

  @Test("area is known whichever way around the corners go")
  func area() {
    #expect(letter.area == 12)
    #expect(Polygon(letter.corners.reversed()).area == 12)
    #expect(letter.signedArea == 12)
    #expect(Polygon(letter.corners.reversed()).signedArea == -12)
    // Far from the origin, where the products of coordinates have no digits left for the difference.
    let far = Polygon(letter.corners.map { $0 + Point(x: 1e9, y: -1e9) })
    #expect(far.signedArea == 12)
    #expect(Polygon(rectangleFrom: Point(x: 1, y: 1), to: Point(x: 4, y: 3)).area == 6)
  }

  @Test("tiles that share sides hold every place exactly once, corners included")
  func tiles() {
    var tiles: [Polygon] = []
    for x in 0..<3 {
      for y in 0..<3 {
        let corner = Point(x: Double(x), y: Double(y))
        tiles.append(Polygon(rectangleFrom: corner, to: corner + Point(x: 1, y: 1)))
      }
    }
    for step in 0..<30 {
      for other in 0..<30 {
        let point = Point(x: Double(step) / 10, y: Double(other) / 10)
        #expect(tiles.count { $0.contains(point) } == 1, "\(point)")
      }
    }
  }

  @Test("a polygon with fewer than three corners contains no point")
  func degenerate() {
    #expect(!Polygon([]).contains(.origin))
    #expect(!Polygon([.origin, Point(x: 1, y: 1)]).contains(.origin))
    #expect(Polygon([.origin]).area == 0)
  }
}
