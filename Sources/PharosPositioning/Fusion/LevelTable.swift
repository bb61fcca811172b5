import PharosReports

/// The logarithm of how likely a reading is, for every difference from what is expected and every uncertainty.
///
/// Made once: the field of a scan is some ten thousand of these values, and a logarithm for each would cost more than all
/// the rest of the filter.
struct LevelTable: Hashable, Sendable {
  /// The number of uncertainties for which the table has a row.
  static let rows = 40
  /// How many differences, in half decibels; the middle one is none.
  static let columns = 512
  /// The number of noises that ``rowStarts`` distinguishes.
  static let noises = 32
  /// The least uncertainty, and the step from one row to the next.
  ///
  /// - Units: dB.
  private static let least: Float = 2
  private static let step: Float = 0.5

  /// Rows of differences.
  let values: [Float]
  /// The same rows with what it takes to leave open how loud the whole look is.
  let looks: [LookEvidence]
  /// For each noise, and for each byte of the map's own deviation, where the row of both begins.
  let rowStarts: [UInt16]

  /// Makes the table for Student's distribution with some degrees of freedom.
  init(freedom: Float) {
    var looks: [LookEvidence] = []
    looks.reserveCapacity(LevelTable.rows * LevelTable.columns)
    for row in 0..<LevelTable.rows {
      let deviation = Double(LevelTable.least + LevelTable.step * Float(row))
      for column in 0..<LevelTable.columns {
        let difference = Double(column - LevelTable.columns / 2) / 2
        looks.append(LookEvidence(difference: difference, deviation: deviation, freedom: Double(freedom)))
      }
    }
    self.looks = looks
    values = looks.map(\.likelihood)
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

  /// Where the value stands where the map expects nothing.
  ///
  /// - Parameters:
  ///   - level: the reading as a byte of the map.
  ///   - expected: what is taken for the level, as a byte of the map.
  ///   - deviation: how far that may be off, in dB.
  ///   - noise: the number of the reading's noise.
  /// - Returns: its place in ``values`` and ``looks``.
  func place(level: Int, expected: UInt8, deviation: Float, noise: Int) -> Int {
    let byte = min(255, max(0, Int((deviation * 10).rounded())))
    return Int(rowStarts[noise << 8 | byte]) + level - Int(expected) + LevelTable.columns / 2
  }
}
