import PharosModel

/// The level that an emitter has by distance alone: power − slope × log₁₀(distance).
package struct PathLoss: Hashable, Sendable {
  /// The position in metres east and north.
  package var x: Float
  package var y: Float
  /// The level at one metre, in dBm.
  package var power: Float
  /// The loss over a tenfold distance, in dB.
  package var slope: Float

  package init(x: Float, y: Float, power: Float, slope: Float) {
    self.x = x
    self.y = y
    self.power = power
    self.slope = slope
  }

  /// The height of emitters above a handset, which is the minimum distance.
  ///
  /// - Units: metres.
  static let height: Float = 2.5
  /// The least level that is expected at any place.
  ///
  /// Differences below it do not matter.
  ///
  /// - Units: dBm.
  package static let floor: Float = -105

  /// Returns the decadic logarithm of the distance through the air.
  package func logDistance(_ x: Float, _ y: Float) -> Float {
    let (dx, dy) = (x - self.x, y - self.y)
    return LogTable.halfLog(dx * dx + dy * dy + PathLoss.height * PathLoss.height)
  }

  /// The level expected at a place.
  package func level(_ x: Float, _ y: Float) -> Float {
    max(PathLoss.floor, power - slope * logDistance(x, y))
  }
}

/// Half the decadic logarithm of squares of distances, from a table: fits ask a hundred million times.
enum LogTable {
  /// log₁₀(significand) ÷ 2 for 1,025 significands from 1 to 2.
  private static let values: [Float] = (0...1_024).map {
    Float(RadioMath.decadicLog(1 + (Double($0) + 0.5) / 1_024) / 2)
  }
  private static let halfLogOfTwo: Float = 0.150_515

  /// log₁₀ of the root of a number from 1 upwards, to four digits.
  static func halfLog(_ square: Float) -> Float {
    let bits = square.bitPattern
    let exponent = Float(Int32(bits >> 23) - 127)
    return exponent * halfLogOfTwo + values[Int(bits & 0x7F_FFFF) >> 13]
  }
}
