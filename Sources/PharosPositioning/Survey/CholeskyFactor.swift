/// The lower triangular factor L of a symmetric, positive matrix: matrix = L·Lᵀ.
///
/// Rows are lists of eight numbers at a time, so that a sum over a row is one multiplication for eight of its products.
///
/// - Shape: count × count; what lies right of the diagonal is zero.
package struct CholeskyFactor {
  /// How many rows and columns there are.
  let count: Int
  /// How many groups of eight a row takes.
  let width: Int
  /// The rows one after the other.
  private(set) var rows: [SIMD8<Float>]
  /// One divided by each number on the diagonal.
  private(set) var inverses: [Float]

  /// Factors a matrix; nil where it is not positive as far as single precision tells.
  ///
  /// - Parameters:
  ///   - matrix: the matrix row by row, each row padded to whole groups of eight; of it the lower triangle is read.
  ///   - count: how many rows it has.
  /// - Complexity: O(count³ ÷ 48).
  package init?(_ matrix: [SIMD8<Float>], count: Int) {
    let width = (count + 7) / 8
    self.count = count
    self.width = width
    rows = [SIMD8<Float>](repeating: .zero, count: count * width)
    inverses = [Float](repeating: 0, count: count)
    for row in 0..<count {
      let start = row * width
      for column in 0...row {
        var sum = SIMD8<Float>.zero
        let other = column * width
        for group in 0..<((column + 7) / 8) { sum += rows[start + group] * rows[other + group] }
        let rest = matrix[start + column / 8][column % 8] - sum.sum()
        if column == row {
          guard rest > 1e-6 else { return nil }
          let root = rest.squareRoot()
          rows[start + column / 8][column % 8] = root
          inverses[row] = 1 / root
        } else {
          rows[start + column / 8][column % 8] = rest * inverses[column]
        }
      }
    }
  }

  /// The vector x with L·x = `values`, padded as rows are.
  ///
  /// - Complexity: O(count² ÷ 16).
  package func solvedForward(_ values: [SIMD8<Float>]) -> [SIMD8<Float>] {
    var solution = [SIMD8<Float>](repeating: .zero, count: width)
    for row in 0..<count {
      var sum = SIMD8<Float>.zero
      let start = row * width
      for group in 0..<((row + 7) / 8) { sum += rows[start + group] * solution[group] }
      solution[row / 8][row % 8] = (values[row / 8][row % 8] - sum.sum()) * inverses[row]
    }
    return solution
  }

  /// The vector x with Lᵀ·x = `values`, padded as rows are.
  func solvedBackward(_ values: [SIMD8<Float>]) -> [SIMD8<Float>] {
    var rest = values
    var solution = [SIMD8<Float>](repeating: .zero, count: width)
    for row in stride(from: count - 1, through: 0, by: -1) {
      let value = rest[row / 8][row % 8] * inverses[row]
      solution[row / 8][row % 8] = value
      let start = row * width
      for group in 0...(row / 8) { rest[group] -= rows[start + group] * value }
    }
    return solution
  }

  /// The vector x with matrix·x = `values`, padded as rows are.
  package func solved(_ values: [SIMD8<Float>]) -> [SIMD8<Float>] { solvedBackward(solvedForward(values)) }
}
