/// One emitter's levels all over a floor: path loss, and the shadows that the survey found about it.
///
/// A Gaussian process. Where the surveyor walked it follows the levels heard, as far as they do not scatter; away from
/// there it returns to path loss, and its own deviation says how far from the walks a place is.
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
  ///   - kernel: how shadows hang together.
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

  /// The level expected at a place, in dBm.
  package func level(_ x: Float, _ y: Float) -> Float {
    var sum = SIMD8<Float>.zero
    for group in xs.indices {
      sum += alpha[group] * kernel.covariances(xs[group] - x, ys[group] - y)
    }
    return loss.level(x, y) + sum.sum()
  }

  /// How far that level may be off, in dB.
  package func deviation(_ x: Float, _ y: Float) -> Float {
    let near = xs.indices.map { kernel.covariances(xs[$0] - x, ys[$0] - y) }
    let reduced = factor.solvedForward(near)
    var sum = SIMD8<Float>.zero
    for group in reduced { sum += group * group }
    return max(0, kernel.variance - sum.sum()).squareRoot()
  }
}
