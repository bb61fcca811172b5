/// What several rounds gave of one figure.
public struct Figure: Codable, Sendable {
  /// The middle one.
  public var median: Double
  /// The least.
  public var least: Double
  /// The greatest.
  public var greatest: Double
  /// How many there were.
  public var rounds: Int

  /// Sums up some values; zeroes of none.
  public init(_ values: [Double]) {
    let ordered = values.sorted()
    rounds = ordered.count
    least = ordered.first ?? 0
    greatest = ordered.last ?? 0
    median = ordered.isEmpty ? 0 : (ordered[(ordered.count - 1) / 2] + ordered[ordered.count / 2]) / 2
  }
}
