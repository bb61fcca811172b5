import PharosModel
import PharosTestSupport
import Testing

@Suite("Segment")
struct SegmentTests {
  static func segment(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> Segment {
    Segment(from: Point(x: x1, y: y1), to: Point(x: x2, y: y2))
  }

  @Test(
    "two segments cross or do not",
    arguments: [
      (segment(0, 0, 4, 4), segment(0, 4, 4, 0), true, "a cross"),
      (segment(0, 0, 1, 1), segment(0, 4, 4, 0), false, "ends before"),
      (segment(0, 0, 4, 0), segment(0, 1, 4, 1), false, "parallel"),
      (segment(0, 0, 4, 0), segment(1, 0, 3, 0), false, "on one line"),
      (segment(0, 0, 4, 0), segment(2, 2, 2, 2), false, "no length"),
      (segment(0, 0, 4, 0), segment(2, -1, 2, 1), true, "upright through flat"),
    ]
  )
  func crossing(one: Segment, other: Segment, cross: Bool, name: String) {
    #expect(one.crosses(other) == cross, "\(name)")
    #expect(other.crosses(one) == cross, "\(name), the other way around")
  }

  @Test("two segments cross each other or neither does")
  func symmetry() {
    var random = SeededGenerator(seed: 11)
    var crossings = 0
    for _ in 0..<2_000 {
      func number() -> Double { Double.random(in: -10...10, using: &random) }
      let one = Self.segment(number(), number(), number(), number())
      let other = Self.segment(number(), number(), number(), number())
      #expect(one.crosses(other) == other.crosses(one))
      crossings += one.crosses(other) ? 1 : 0
    }
    #expect(crossings > 200)
  }

  @Test("a chain is crossed once where two of its segments meet")
  func chain() {
    let line = Self.segment(0, -1, 0, 1)
    let left = Self.segment(-2, 0, 0, 0)
    let right = Self.segment(0, 0, 2, 0)
    #expect([left, right].count { $0.crosses(line) } == 1)
  }

  @Test("the nearest place may be an end")
  func distance() {
    let segment = Self.segment(0, 0, 10, 0)
    #expect(segment.distance(to: Point(x: 5, y: 3)) == 3)
    #expect(segment.distance(to: Point(x: 13, y: 4)) == 5)
    #expect(Self.segment(1, 1, 1, 1).distance(to: Point(x: 4, y: 5)) == 5)
    #expect(segment.length == 10)
    #expect(segment.nearest(to: Point(x: 13, y: 4)) == segment.end)
    #expect(segment.nearest(to: Point(x: 2.5, y: -1)) == segment.place(at: 0.25))
  }

  @Test("two lines meet at a share of each, its ends included")
  func meeting() throws {
    let flat = Self.segment(0, 0, 8, 0)
    let upright = try #require(flat.meeting(Self.segment(2, -1, 2, 3)))
    #expect(upright.share == 0.25 && upright.otherShare == 0.25)
    let atEnd = try #require(flat.meeting(Self.segment(8, 0, 8, 4)))
    #expect(atEnd.share == 1 && atEnd.otherShare == 0)
    #expect(flat.meeting(Self.segment(9, -1, 9, 1)) == nil)
    #expect(flat.meeting(Self.segment(2, 1, 2, 3)) == nil)
    #expect(flat.meeting(Self.segment(0, 1, 8, 1)) == nil, "parallel")
    #expect(flat.meeting(flat) == nil, "on one line")
  }
}
