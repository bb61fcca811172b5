import PharosModel
import PharosSpace
import PharosStays
import PharosTestSupport
import Testing

@Suite("The area of a geofence")
struct GeofenceAreaTests {
  @Test("the probability of a polygon is that of a grid of points", arguments: [0.5, 2.0, 6.0, 20.0])
  func probability(deviation: Double) throws {
    let outline: [(Double, Double)] = [(-10, -8), (12, -6), (15, 9), (2, 3), (-9, 12)]
    let hole: [(Double, Double)] = [(-4, -4), (4, -4), (4, 0), (-4, 0)]
    let shape = Geofence.Shape.polygon(
      rings: [outline, hole].map { $0.map { GeofenceScript.position($0.0, $0.1) } }
    )
    let area = try #require(GeofenceArea(shape))
    for (east, north) in [(0.0, 0.0), (10, 5), (-12, 0), (0, -2), (30, 30)] {
      let point = Point(x: east, y: north)
      var sum = 0.0
      var all = 0.0
      let step = deviation / 12
      for row in -60...60 {
        for column in -60...60 {
          let (x, y) = (Double(column) * step, Double(row) * step)
          let weight = RadioMath.exponential(-(x * x + y * y) / (2 * deviation * deviation))
          all += weight
          if area.contains(point + Point(x: x, y: y)) { sum += weight }
        }
      }
      #expect((area.probability(around: point, deviation: deviation) - sum / all).magnitude < 0.02)
    }
  }

  @Test("the probability of a circle around its middle is that of Rayleigh")
  func circle() throws {
    let area = try #require(GeofenceArea(GeofenceScript.circle(10).shape))
    for deviation in [1.0, 4.79, 12] {
      let expected = 1 - RadioMath.exponential(-100 / (2 * deviation * deviation))
      #expect((area.probability(around: .origin, deviation: deviation) - expected).magnitude < 0.003)
    }
    #expect((area.size - 100 * .pi).magnitude < 0.01)
    #expect(area.edgeDistance(of: Point(x: 25, y: 0)) < -14.9)
  }

  @Test("the wall between rooms that adjoin is no edge of their area, and counts for no probability")
  func seams() throws {
    let rooms: [[(Double, Double)]] = [
      [(-20, -10), (0, -10), (0, 10), (-20, 10)], [(0, -10), (20, -10), (20, 0), (0, 0)],
      [(0, 0), (20, 0), (20, 10), (0, 10)],
    ]
    let whole: [(Double, Double)] = [(-20, -10), (20, -10), (20, 10), (-20, 10)]
    let parts = try #require(
      GeofenceArea(.polygon(rings: rooms.map { $0.map { GeofenceScript.position($0.0, $0.1) } }))
    )
    let single = try #require(
      GeofenceArea(.polygon(rings: [whole.map { GeofenceScript.position($0.0, $0.1) }]))
    )
    for (east, north) in [
      (0.01, 0.01), (0.01, 5), (7, 0.01), (-12, 3), (19, 9), (25, 0), (0, 14), (-30, -20),
    ] {
      let point = Point(x: east, y: north)
      #expect((parts.edgeDistance(of: point) - single.edgeDistance(of: point)).magnitude < 0.02)
      for deviation in [0.5, 3, 12] {
        let difference =
          parts.probability(around: point, deviation: deviation)
          - single.probability(around: point, deviation: deviation)
        #expect(difference.magnitude < 0.001)
      }
    }
  }

  @Test("the index finds what a search through all finds")
  func index() {
    var generator = SeededGenerator(seed: 11)
    for count in [0, 1, 15, 16, 17, 300, 3_000] {
      let entries = (0..<count).map { number in
        let point = MapPoint(
          x: Double.random(in: 0...20_000, using: &generator),
          y: Double.random(in: 0...20_000, using: &generator)
        )
        return (
          box: MapBox(around: point, reach: .random(in: 1...200, using: &generator)), item: Int32(number)
        )
      }
      let index = GeofenceIndex(entries)
      for _ in 0..<50 {
        let point = MapPoint(
          x: Double.random(in: 0...20_000, using: &generator),
          y: Double.random(in: 0...20_000, using: &generator)
        )
        let box = MapBox(around: point, reach: .random(in: 1...500, using: &generator))
        var found: [Int32] = []
        index.search(box, into: &found)
        #expect(found.sorted() == entries.filter { $0.box.meets(box) }.map(\.item))
      }
    }
  }

  @Test("an area holds another one only if no part of it sticks out")
  func containment() throws {
    func area(_ geofence: Geofence) throws -> GeofenceArea { try #require(GeofenceArea(geofence.shape)) }
    let hall = try area(GeofenceScript.rectangle(-20...20, -20...20))
    #expect(hall.contains(try area(GeofenceScript.circle(10))))
    #expect(!hall.contains(try area(GeofenceScript.circle(10, east: 15))))
    let hollow = try area(
      Geofence(
        shape: .polygon(rings: [
          [(-20.0, -20.0), (20, -20), (20, 20), (-20, 20)].map { GeofenceScript.position($0.0, $0.1) },
          [(-2.0, -2.0), (2, -2), (2, 2), (-2, 2)].map { GeofenceScript.position($0.0, $0.1) },
        ])
      )
    )
    #expect(!hollow.contains(try area(GeofenceScript.circle(10))))
    #expect(hollow.contains(try area(GeofenceScript.circle(5, east: 10, north: 10))))
  }

  @Test("an area of two parts, one with a hole, is inside each of them and outside between them")
  func parts() throws {
    func ring(_ east: ClosedRange<Double>, _ north: ClosedRange<Double>) -> [Geofence.Position] {
      [
        (east.lowerBound, north.lowerBound), (east.upperBound, north.lowerBound),
        (east.upperBound, north.upperBound), (east.lowerBound, north.upperBound),
      ]
      .map { GeofenceScript.position($0.0, $0.1) }
    }
    let shape = Geofence.Shape.polygon(rings: [
      ring(-40 ... -20, -10...10), ring(20...40, -10...10), ring(28...32, -2...2),
    ])
    let area = try #require(GeofenceArea(shape))
    #expect(abs(area.size - (400 + 400 - 16)) < 2)
    func point(_ east: Double, _ area: GeofenceArea) throws -> Point {
      let position = GeofenceScript.position(east, 0)
      let coordinate = try #require(Coordinate(latitude: position.latitude, longitude: position.longitude))
      return area.plane.point(of: try #require(MapPoint(coordinate)))
    }
    for (east, isInside) in [(-30.0, true), (0, false), (24, true), (30, false), (50, false)] {
      let place = try point(east, area)
      #expect(area.contains(place) == isInside, "\(east) m east")
      let probability = area.probability(around: place, deviation: 0.3)
      #expect(isInside ? probability > 0.99 : probability < 0.01, "\(east) m east: \(probability)")
    }
    // Both parts count for a coarse estimate between them.
    let one = try #require(GeofenceArea(.polygon(rings: [ring(-40 ... -20, -10...10)])))
    let both = area.probability(around: try point(0, area), deviation: 25)
    let coarse = try point(-30, area)
    #expect(
      area.belief(around: coarse, deviation: 20) >= one.belief(around: try point(-30, one), deviation: 20)
    )
    #expect(both > 1.8 * one.probability(around: try point(0, one), deviation: 25))
  }
}
