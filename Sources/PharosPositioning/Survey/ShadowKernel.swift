/// How alike the shadows at two places are: the covariance of levels about path loss.
package struct ShadowKernel {
  /// The variance in dB².
  let variance: Float
  /// Over which distance shadows change, in metres.
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
