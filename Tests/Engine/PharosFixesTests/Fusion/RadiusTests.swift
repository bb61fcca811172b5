import PharosFixes
import PharosModel
import PharosSpace
import PharosSurvey
import PharosTestSupport
import Testing

@Suite("The radius of a fix")
struct RadiusTests {
  @Test("readings that fit nowhere make it wider", arguments: 1...3 as ClosedRange<UInt64>)
  func misfit(seed: UInt64) throws {
    func radius(isSensible: Bool) throws -> Double {
      var hall = try FusionHall(seed: seed)
      var random = SeededGenerator(seed: seed)
      for second in 0..<20 {
        hall.scan(at: Point(x: 30, y: 12), Double(second))
        guard !isSensible, case .accessPoints(var points) = hall.sensings[second].body else { continue }
        for index in points.indices {
          points[index].rssi = RSSI(dBm: .random(in: -95 ... -35, using: &random))
        }
        hall.sensings[second].body = .accessPoints(points)
      }
      return try #require(hall.fixes().last).horizontalAccuracy
    }
    let (usual, odd) = (try radius(isSensible: true), try radius(isSensible: false))
    #expect(odd > 1.5 * usual, "\(odd) m, usually \(usual) m")
  }

  @Test("the factor of the survey applies to its kind of subject alone", arguments: [true, false])
  func factor(hasSteps: Bool) throws {
    func radii(_ scales: [RadiusScale]) throws -> [Double] {
      var hall = try FusionHall(seed: 3, survey: { $0.radiusScales = scales })
      _ = hall.walk(from: Point(x: 8, y: 12), to: Point(x: 40, y: 12), beginning: 0, hasSteps: hasSteps)
      return hall.fixes().filter { ($0.speed != nil) == hasSteps }.map(\.horizontalAccuracy)
    }
    let usual = try radii([])
    #expect(usual.count > 10)
    for kind in RadiusScale.Kind.allCases {
      let factor: Float = (kind == .moving) == hasSteps ? 1.5 : 1
      let scaled = try radii([RadiusScale(kind: kind, factor: 1.5, walks: 9)])
      #expect(scaled.count == usual.count)
      for (one, other) in zip(usual, scaled) { #expect(abs(other / one - Double(factor)) < 1e-5) }
    }
  }

  @Test("the factor is the quantile that the radius is meant to hold, once there are enough walks")
  func evidence() throws {
    func scale(_ walks: Int, _ ratio: (Int) -> Double) -> RadiusScale? {
      var evidence = RadiusEvidence()
      for _ in 0..<walks { evidence.add((0..<100).map(ratio)) }
      return evidence.scale(.blind)
    }
    let even = try #require(scale(6) { Double($0) / 50 })
    #expect(abs(even.factor - 1.36) < 0.021)
    #expect(even.walks == 6)
    #expect(scale(5) { Double($0) / 50 } == nil)
    #expect(scale(9) { _ in 30 }?.factor == 2)
    #expect(scale(9) { _ in 0.01 }?.factor == 1)
    var empty = RadiusEvidence()
    for _ in 0..<9 { empty.add([]) }
    #expect(empty.scale(.moving) == nil)
  }

  @Test("a plan that the survey found turned costs a walker nothing", arguments: 1...3 as ClosedRange<UInt64>)
  func turnedPlan(seed: UInt64) throws {
    func error(turn: Float) throws -> Double {
      var hall = try FusionHall(
        seed: seed,
        survey: { map in
          map.turns = [PlanTurn(floor: map.floors[0], radians: turn, walks: 9)]
        }
      )
      // Scans to begin with, then 30 m by compass alone, which errs by 50°.
      for second in 0..<6 { hall.scan(at: Point(x: 8, y: 12), Double(second)) }
      for step in 0..<43 {
        let sample = MotionSample(kind: .step, age: .zero, x: 0.7, y: .pi / 2 - 0.87, z: 0)
        hall.add(.motion([sample]), at: 6 + Double(step) * 0.5)
      }
      let last = try #require(hall.fixes().last)
      return last.point.distance(to: Point(x: 38, y: 12))
    }
    let (corrected, uncorrected) = (try error(turn: 0.87), try error(turn: 0))
    #expect(corrected < 5 && corrected < uncorrected / 2, "\(corrected) m, without the turn \(uncorrected) m")
  }

  @Test(
    "distances to the nearest marked cell are at most 8 % too long",
    arguments: Seeds.fixed(1..<7 as Range<UInt64>)
  )
  func distances(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let grid = try #require(RadioGrid(corner: .origin, cell: 3, columns: 23, rows: 17))
    var marks = [UInt8](repeating: 0, count: grid.count)
    for _ in 0..<Int.random(in: 1...12, using: &random) {
      marks[Int.random(in: 0..<grid.count, using: &random)] = 1
    }
    func middle(_ index: Int) -> Point {
      grid.middle(column: index % grid.columns, row: index / grid.columns)
    }
    let found = grid.distances(from: marks)
    for index in marks.indices {
      let exact =
        marks.indices.filter { marks[$0] > 0 }.map { middle($0).distance(to: middle(index)) }.min() ?? 0
      #expect(Double(found[index]) >= exact - 1e-3 && Double(found[index]) <= 1.083 * exact + 1e-3)
    }
    #expect(grid.distances(from: marks.map { _ in 0 }).allSatisfy { $0 == .infinity })
  }
}
