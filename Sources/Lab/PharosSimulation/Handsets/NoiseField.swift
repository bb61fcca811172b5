package import PharosSpace

/// A number that differs from place to place by chance, always the same at the same place.
///
/// Normally distributed with deviation one, and alike within its length: drawn at the corners of a lattice and blended
/// between them, with the blend's loss of spread made up for. Nothing is stored.
package struct NoiseField: Hashable, Sendable {
  /// The distance over which the field varies.
  ///
  /// - Units: those of the given places.
  let length: Double
  private let key: UInt64

  package init(seed: UInt64, _ name: UInt64, length: Double) {
    var random = RandomStream(seed: seed, 21, name)
    key = random.next()
    self.length = length
  }

  /// The value at a place.
  ///
  /// - Complexity: O(1), four draws, without allocation.
  package func value(at point: Point, layer: Int = 0) -> Double {
    let (x, y) = (point.x / length, point.y / length)
    guard x.magnitude < 1e9, y.magnitude < 1e9 else { return 0 }
    let (west, south) = (x.rounded(.down), y.rounded(.down))
    let (column, row) = (Int(west), Int(south))
    let (east, north) = (NoiseField.eased(x - west), NoiseField.eased(y - south))
    var sum = 0.0
    var squares = 0.0
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
      let weight = (dx == 1 ? east : 1 - east) * (dy == 1 ? north : 1 - north)
      sum += weight * draw(column + dx, row + dy, layer)
      squares += weight * weight
    }
    return sum / squares.squareRoot()
  }

  /// The value at a place on a line, for what differs with time.
  package func value(at position: Double) -> Double { value(at: Point(x: position, y: 0)) }

  private static func eased(_ share: Double) -> Double { share * share * (3 - 2 * share) }

  /// The draw at a corner of the lattice: four uniform numbers added up, near enough to a normal one.
  private func draw(_ column: Int, _ row: Int, _ layer: Int) -> Double {
    var bits = key
    for number in [column, row, layer] {
      bits ^= UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9_7F4A_7C15
      bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
      bits ^= bits >> 31
    }
    let parts = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + bits >> 48
    // Four uniform numbers from 0 to 1 have the mean 2 and the variance 4/12.
    return (Double(parts) / 65_535 - 2) * 3.0.squareRoot()
  }
}
