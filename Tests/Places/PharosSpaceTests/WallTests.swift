import PharosSpace
import Testing

@Suite("Wall")
struct WallTests {
  let walls: Walls = [
    Wall(from: Point(x: 5, y: 0), to: Point(x: 5, y: 10), attenuation: 8),
    Wall(from: Point(x: 7, y: 0), to: Point(x: 7, y: 4), attenuation: 3),
  ]

  @Test(
    "a line loses in each wall that it passes through",
    arguments: [
      (Point(x: 0, y: 2), Point(x: 4, y: 2), 0, 0.0),
      (Point(x: 0, y: 2), Point(x: 6, y: 2), 1, 8.0),
      (Point(x: 0, y: 2), Point(x: 9, y: 2), 2, 11.0),
      (Point(x: 0, y: 6), Point(x: 9, y: 6), 1, 8.0),
      (Point(x: 0, y: 12), Point(x: 9, y: 12), 0, 0.0),
    ]
  )
  func attenuation(from: Point, to: Point, count: Int, decibels: Double) {
    #expect(walls.count(between: from, and: to) == count)
    #expect(walls.attenuation(between: from, and: to) == decibels)
    #expect(walls.attenuation(between: to, and: from) == decibels)
  }

  @Test("an enclosure is passed once on the way in, twice on the way through, also through its corners")
  func enclosure() {
    var walls = Walls()
    walls.enclose(southWest: Point(x: 0, y: 0), northEast: Point(x: 4, y: 4), attenuation: 10)
    let inside = Point(x: 2, y: 2)
    #expect(walls.count(between: inside, and: Point(x: 2, y: 9)) == 1)
    #expect(walls.count(between: Point(x: -3, y: 1), and: Point(x: 9, y: 1)) == 2)
    #expect(walls.count(between: inside, and: Point(x: 6, y: 6)) == 1)
    #expect(walls.count(between: inside, and: Point(x: 3, y: 3)) == 0)
  }
}
