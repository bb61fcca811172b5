/// How usual a magnetic field is where it is measured: iron in walls, escalators and cars bends it.
struct FieldWatch: Hashable, Sendable {
  /// The mean strength, and the mean part that points down, of the fields of the last half minute.
  ///
  /// - Units: µT.
  private var strength: Float = 0
  private var down: Float = 0

  /// Over how long the means are taken.
  ///
  /// - Units: seconds.
  private static let memory: Float = 30
  /// The weakest and the strongest field of the Earth, with a margin for a case of steel.
  ///
  /// - Units: µT.
  /// - Source: World Magnetic Model 2020: 22 to 67 µT at the surface.
  private static let natural: ClosedRange<Float> = 18...80
  /// By how much, as a share of its strength, a field may differ until its heading is as wrong again as it is anyway.
  private static let usual: Float = 0.1

  /// How odd a field is: 0 for a usual one, 1 where its heading is twice as uncertain, and so on.
  mutating func oddity(of field: SIMD3<Float>, up: SIMD3<Float>, after passed: Float) -> Float {
    let size = field.square.squareRoot()
    let depth = -field.dot(up)
    guard strength > 0 else {
      (strength, down) = (size, depth)
      return FieldWatch.natural.contains(size) ? 0 : 10
    }
    let difference = (size - strength).magnitude + (depth - down).magnitude
    let oddity = difference / max(1, strength) / FieldWatch.usual
    let share = passed / (FieldWatch.memory + passed)
    strength += share * (size - strength)
    down += share * (depth - down)
    return FieldWatch.natural.contains(size) ? min(10, oddity) : 10
  }
}
