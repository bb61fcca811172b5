import PharosReports

/// The logarithm of how likely a reading is, for every difference from what is expected and every uncertainty.
///
/// Made once: the field of a scan is some ten thousand of these values, and a logarithm for each would cost more than all
/// the rest of the filter.
struct LevelTable: Hashable, Sendable {
  /// How many uncertainties are told apart.
  static let rows = 40
  /// How many differences, in half decibels; the middle one is none.
  static let columns = 512
  /// How many noises are told apart.
  static let noises = 32
  /// The least uncertainty, and the step from one row to the next.
  ///
  /// - Units: dB.
  private static let least: Float = 2
  private static let step: Float = 0.5

  /// Rows of differences.
  let values: [Float]
  /// For each noise, and for each byte of the map's own deviation, where the row of both begins.
  let rowStarts: [UInt16]

  /// Makes the table for Student's distribution with some degrees of freedom.
  init(freedom: Float) {
    var values: [Float] = []
    values.reserveCapacity(LevelTable.rows * LevelTable.columns)
    for row in 0..<LevelTable.rows {
      let deviation = Double(LevelTable.least + LevelTable.step * Float(row))
      for column in 0..<LevelTable.columns {
        let score = Double(column - LevelTable.columns / 2) / 2 / deviation
        let tail = RadioMath.naturalLog(1 + score * score / Double(freedom))
        values.append(Float(-RadioMath.naturalLog(deviation) - (Double(freedom) + 1) / 2 * tail))
      }
    }
    self.values = values
    rowStarts = (0..<LevelTable.noises).flatMap { noise -> [UInt16] in
      (0..<256).map { byte in
        LevelTable.start(deviation: Float(byte) / 10, noise: LevelTable.noise(of: noise))
      }
    }
  }

  /// The number of a noise in dB, for ``rowStarts``.
  static func number(ofNoise noise: Float) -> Int { min(noises - 1, max(0, Int((noise * 2).rounded()))) }

  private static func noise(of number: Int) -> Float { Float(number) / 2 }

  private static func start(deviation: Float, noise: Float) -> UInt16 {
    let total = (deviation * deviation + noise * noise).squareRoot()
    let row = min(rows - 1, max(0, Int(((total - least) / step).rounded())))
    return UInt16(row * columns)
  }

  /// The value where the map expects nothing.
  ///
  /// - Parameters:
  ///   - level: the reading as a byte of the map.
  ///   - expected: what is taken for the level, as a byte of the map.
  ///   - deviation: how far that may be off, in dB.
  ///   - noise: the number of the reading's noise.
  /// - Returns: the logarithm of the likelihood.
  func value(level: Int, expected: UInt8, deviation: Float, noise: Int) -> Float {
    let byte = min(255, max(0, Int((deviation * 10).rounded())))
    return values[Int(rowStarts[noise << 8 | byte]) + level - Int(expected) + LevelTable.columns / 2]
  }
}
