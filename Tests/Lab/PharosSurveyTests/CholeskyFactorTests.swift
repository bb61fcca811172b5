import PharosRooms
import PharosSurvey
import PharosTestSupport
import Testing

@Suite("Cholesky's factor")
struct CholeskyFactorTests {
  /// A positive matrix: numbers drawn, multiplied with their own transpose, and something on the diagonal.
  private static func matrix(_ count: Int, seed: UInt64) -> [[Double]] {
    var generator = SeededGenerator(seed: seed)
    let drawn = (0..<count).map { _ in (0..<count).map { _ in Double.random(in: -1...1, using: &generator) } }
    return (0..<count).map { row in
      (0..<count).map { column in
        (0..<count).reduce(row == column ? 0.5 : 0) { $0 + drawn[row][$1] * drawn[column][$1] }
      }
    }
  }

  private static func padded(_ matrix: [[Double]]) -> [SIMD8<Float>] { matrix.flatMap { padded($0) } }

  private static func padded(_ values: [Double]) -> [SIMD8<Float>] {
    stride(from: 0, to: values.count, by: 8).map { start in
      var group = SIMD8<Float>.zero
      for lane in 0..<8 where start + lane < values.count { group[lane] = Float(values[start + lane]) }
      return group
    }
  }

  @Test(
    "a solution multiplied with the matrix gives the right side",
    arguments: [1, 2, 7, 8, 9, 16, 23, 40]
  )
  func solves(count: Int) throws {
    let matrix = Self.matrix(count, seed: UInt64(count))
    let wanted = (0..<count).map { Double($0 % 5) - 1.5 }
    let factor = try #require(CholeskyFactor(Self.padded(matrix), count: count))
    let solution = factor.solved(Self.padded(wanted))
    for row in 0..<count {
      let product = (0..<count).reduce(0.0) { $0 + matrix[row][$1] * Double(solution[$1 / 8][$1 % 8]) }
      #expect(abs(product - wanted[row]) < 0.01, "row \(row) of \(count)")
    }
  }

  @Test("the square of the forward solution is that of the inverse matrix", arguments: [3, 8, 21])
  func quadratic(count: Int) throws {
    let matrix = Self.matrix(count, seed: 100 + UInt64(count))
    let values = Self.padded((0..<count).map { 1 / Double($0 + 1) })
    let factor = try #require(CholeskyFactor(Self.padded(matrix), count: count))
    let forward = factor.solvedForward(values).reduce(0) { $0 + ($1 * $1).sum() }
    let whole = zip(factor.solved(values), values).reduce(0) { $0 + ($1.0 * $1.1).sum() }
    #expect(abs(forward - whole) < 0.001 * max(1, whole))
  }

  @Test("a matrix that is not positive has no factor")
  func refuses() {
    #expect(CholeskyFactor(Self.padded([[1, 2], [2, 1]]), count: 2) == nil)
    #expect(CholeskyFactor(Self.padded([[0]]), count: 1) == nil)
    #expect(CholeskyFactor(Self.padded([[.nan]]), count: 1) == nil)
  }
}
