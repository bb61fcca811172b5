/// What several rounds gave of one figure.
package struct Figure: Codable, Sendable {
  /// The middle one.
  package var median: Double
  /// The least.
  package var minimum: Double
  /// The greatest.
  package var maximum: Double
  /// How many there were.
  package var rounds: Int

  /// Sums up some values; zeroes of none.
  package init(_ values: [Double]) {
    let ordered = values.sorted()
    rounds = ordered.count
    minimum = ordered.first ?? 0
    maximum = ordered.last ?? 0
    median = ordered.isEmpty ? 0 : (ordered[(ordered.count - 1) / 2] + ordered[ordered.count / 2]) / 2
  }
}
