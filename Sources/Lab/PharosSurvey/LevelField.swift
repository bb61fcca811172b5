package import PharosFixes

/// One emitter's levels all over a floor: path loss, and the shadows that the survey found about it.
///
/// A Gaussian process. Where the surveyor walked, it follows the heard levels, as far as they do not scatter. Away
/// from there it returns to path loss, and its deviation grows with the distance from the walks.
package struct LevelField {
  private let loss: PathLoss
  private let kernel: ShadowKernel
  private let factor: CholeskyFactor
  private let xs: [SIMD8<Float>]
  private let ys: [SIMD8<Float>]
  private let alpha: [SIMD8<Float>]

  /// Far away, where padding lies: its covariance with any place is nothing.
  private static let nowhere: Float = 1e6

  /// Fits shadows about a path loss; nil where the numbers do not allow it.
  ///
  /// - Parameters:
  ///   - levels: levels at places; the weight of each is one divided by its variance.
  ///   - loss: the path loss.
  ///   - kernel: the covariance of shadows.
  package init?(_ levels: [PathLossFit.Level], about loss: PathLoss, kernel: ShadowKernel) {
    guard !levels.isEmpty else { return nil }
    let width = (levels.count + 7) / 8
    var xs = [SIMD8<Float>](repeating: SIMD8(repeating: LevelField.nowhere), count: width)
    var ys = xs
    var rests = [SIMD8<Float>](repeating: .zero, count: width)
    for (index, level) in levels.enumerated() {
      xs[index / 8][index % 8] = level.x
      ys[index / 8][index % 8] = level.y
      rests[index / 8][index % 8] = level.level - loss.level(level.x, level.y)
    }
    var matrix = [SIMD8<Float>](repeating: .zero, count: levels.count * width)
    for (index, level) in levels.enumerated() {
      let start = index * width
      for group in 0...(index / 8) {
        matrix[start + group] = kernel.covariances(xs[group] - level.x, ys[group] - level.y)
      }
      matrix[start + index / 8][index % 8] += 1 / level.weight
    }
    guard let factor = CholeskyFactor(matrix, count: levels.count) else { return nil }
    self.loss = loss
    self.kernel = kernel
    self.factor = factor
    self.xs = xs
    self.ys = ys
    alpha = factor.solved(rests)
  }

  /// Returns the level expected at a place, in dBm.
  package func level(_ x: Float, _ y: Float) -> Float {
    var sum = SIMD8<Float>.zero
    for group in xs.indices {
      sum += alpha[group] * kernel.covariances(xs[group] - x, ys[group] - y)
    }
    return loss.level(x, y) + sum.sum()
  }

  /// Returns the uncertainty of that level, in dB.
  package func deviation(_ x: Float, _ y: Float) -> Float {
    let near = xs.indices.map { kernel.covariances(xs[$0] - x, ys[$0] - y) }
    let reduced = factor.solvedForward(near)
    var sum = SIMD8<Float>.zero
    for group in reduced { sum += group * group }
    return max(0, kernel.variance - sum.sum()).squareRoot()
  }
}

/// The covariance of levels about path loss, caused by shadows, between two places.
package struct ShadowKernel {
  /// The variance in dB².
  let variance: Float
  /// The distance over which shadows change, in metres.
  let length: Float

  package init(variance: Float, length: Float) {
    self.variance = variance
    self.length = length
  }

  /// e to the minus x for eight x at a time, x from 0 upwards, to five digits.
  ///
  /// - Source: Taylor's series of e^(x ÷ 32) to the fourth power, squared five times.
  private static func decay(_ x: SIMD8<Float>) -> SIMD8<Float> {
    let z = x.clamped(lowerBound: .zero, upperBound: SIMD8(repeating: 40)) / 32
    var sum = z / 24 + 1.0 / 6
    sum = sum * z + 0.5
    sum = sum * z + 1
    sum = sum * z + 1
    sum *= sum
    sum *= sum
    sum *= sum
    sum *= sum
    sum *= sum
    return 1 / sum
  }

  /// The covariances of a place with eight others.
  ///
  /// - Source: Matérn's function of order 3/2: once differentiable, as shadows at corners are.
  func covariances(_ dx: SIMD8<Float>, _ dy: SIMD8<Float>) -> SIMD8<Float> {
    let distance = (dx * dx + dy * dy).squareRoot() * (1.732_050_8 / length)
    return variance * (1 + distance) * ShadowKernel.decay(distance)
  }
}

/// The lower triangular factor L of a symmetric, positive matrix: matrix = L·Lᵀ.
///
/// Rows are lists of eight numbers at a time, so that a sum over a row is one multiplication for eight of its products.
///
/// - Shape: count × count; what lies right of the diagonal is zero.
package struct CholeskyFactor {
  /// The number of rows and columns.
  let count: Int
  /// The number of groups of eight in a row.
  let width: Int
  /// The rows one after the other.
  private(set) var rows: [SIMD8<Float>]
  /// One divided by each number on the diagonal.
  private(set) var inverses: [Float]

  /// Factors a matrix; nil where it is not positive definite in single precision.
  ///
  /// - Parameters:
  ///   - matrix: the matrix row by row, each row padded to whole groups of eight; of it the lower triangle is read.
  ///   - count: the number of its rows.
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
