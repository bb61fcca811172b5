import PharosModel
import PharosPositioning
import PharosTestSupport
import PharosVenues
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

  @Test(
    "ways to the nearest marked cell are told with at most 8 % too much",
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
