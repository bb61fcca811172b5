import PharosModel
import PharosTestSupport
import Testing

@Suite("Rings of a geofence that adjoin, contain or cross each other")
struct GeofenceRingTests {
  /// Makes a ring from metres east and north of a place.
  static func ring(_ corners: [(Double, Double)]) -> [Geofence.Position] {
    corners.map { Geofence.Position(latitude: 48.1 + $0.1 / 111_200, longitude: 11.5 + $0.0 / 74_264) }
  }

  static func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> [Geofence.Position] {
    ring([(x, y), (x + width, y), (x + width, y + height), (x, y + height)])
  }

  static let hall = rectangle(0, 0, 40, 20)

  @Test(
    "rooms that adjoin are apart, whatever they share",
    arguments: [
      ("an edge", rectangle(40, 0, 10, 20)), ("a part of an edge", rectangle(40, 5, 10, 5)),
      ("more than an edge", rectangle(40, -5, 10, 40)), ("a corner", rectangle(40, 20, 10, 10)),
      ("a corner on an edge", ring([(40, 10), (50, 0), (50, 20)])),
      ("a wall that is rounded to 5 cm", rectangle(39.95, 5, 10, 5)), ("nothing", rectangle(60, 0, 5, 5)),
      ("two walls of a bay", ring([(40, 0), (50, 0), (50, 30), (20, 30), (20, 20), (40, 20)])),
    ]
  )
  func adjoining(name: String, room: [Geofence.Position]) {
    #expect(Geofence(shape: .polygon(rings: [Self.hall, room])).problem == nil, "\(name)")
    #expect(Geofence(shape: .polygon(rings: [room, Self.hall])).problem == nil, "\(name)")
    let shape = Geofence.Shape.polygon(rings: [Self.hall, room])
    #expect(shape.polygons == [[Self.hall], [room]], "\(name)")
  }

  @Test(
    "a hole may touch its outline",
    arguments: [
      rectangle(10, 5, 5, 5), rectangle(0, 5, 5, 5), rectangle(0, 0, 5, 5),
      ring([(20, 0), (25, 10), (15, 10)]),
    ]
  )
  func holes(hole: [Geofence.Position]) {
    for rings in [[Self.hall, hole], [hole, Self.hall]] {
      let shape = Geofence.Shape.polygon(rings: rings)
      #expect(Geofence(shape: shape).problem == nil)
      #expect(shape.polygons == [[Self.hall, hole]])
    }
  }

  @Test(
    "rings that cross, also through their corners, are refused",
    arguments: [
      rectangle(30, 10, 20, 20), rectangle(-5, 5, 50, 5), rectangle(39, 5, 10, 5),
      ring([(40, 5), (50, 10), (40, 15), (30, 10)]), ring([(40, 20), (50, 30), (45, 35), (20, 10)]),
    ]
  )
  func crossings(other: [Geofence.Position]) throws {
    for rings in [[Self.hall, other], [other, Self.hall]] {
      let problem = try #require(Geofence(shape: .polygon(rings: rings)).problem)
      guard case .crossing(0, _, 1, _) = problem else {
        Issue.record("\(problem)")
        continue
      }
    }
  }

  @Test("the same area twice is refused")
  func repeated() {
    let turned = Array(Self.hall[2...] + Self.hall[..<2])
    for other in [Self.hall, turned, Array(Self.hall.reversed())] {
      let problem = Geofence(shape: .polygon(rings: [Self.hall, other])).problem
      #expect(problem == .repeatedRing(ring: 0, otherRing: 1))
    }
  }

  @Test("the relation of two rectangles follows from their coordinates")
  func rectangles() {
    var random = SeededGenerator(seed: 20_261_126)
    for _ in 0..<5_000 {
      let sides = (0..<2).map { _ in
        let (x, y) = (
          Double(Int.random(in: 0...6, using: &random)), Double(Int.random(in: 0...6, using: &random))
        )
        let width = Double(Int.random(in: 1...6, using: &random))
        return (x, y, width, Double(Int.random(in: 1...6, using: &random)))
      }
      let (a, b) = (sides[0], sides[1])
      let areApart = a.0 + a.2 <= b.0 || b.0 + b.2 <= a.0 || a.1 + a.3 <= b.1 || b.1 + b.3 <= a.1
      func holds(_ outer: (Double, Double, Double, Double), _ inner: (Double, Double, Double, Double)) -> Bool
      {
        outer.0 <= inner.0 && outer.1 <= inner.1 && outer.0 + outer.2 >= inner.0 + inner.2
          && outer.1 + outer.3 >= inner.1 + inner.3
      }
      let rings = GeofenceRing.placed(sides.map { Self.rectangle($0.0, $0.1, $0.2, $0.3) })
      switch rings[0].relation(to: rings[1]) {
      case .apart: #expect(areApart)
      case .same: #expect(a == b)
      case .within: #expect(holds(b, a) && a != b)
      case .around: #expect(holds(a, b) && a != b)
      case .crossing: #expect(!areApart && !holds(a, b) && !holds(b, a))
      }
    }
  }
}
