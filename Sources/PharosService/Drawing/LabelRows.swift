/// Places labels above a time axis in rows, so that none covers another.
///
/// Each label goes to the lowest row where it fits; one that fits nowhere is left out and counted, since a picture
/// that says "and 4 more" is better than one that cannot be read.
package struct LabelRows: Sendable {
  /// The free space between two labels of a row.
  ///
  /// - Units: pixels.
  package static let gap = 8.0

  /// Where a label stands.
  package struct Place: Hashable, Sendable {
    /// Its left end.
    package var left: Double
    /// Its row, from 0.
    package var row: Int
  }

  private let left: Double
  private let right: Double
  private var taken: [[ClosedRange<Double>]]
  /// How many labels found no place.
  package private(set) var omitted = 0

  /// Makes so many empty rows between two ends.
  package init(rows: Int, left: Double, right: Double) {
    taken = Array(repeating: [], count: rows)
    self.left = left
    self.right = right
  }

  /// Takes a place for a label as near to its point as the ends allow; nil if every row is taken there.
  package mutating func place(at x: Double, width: Double) -> Place? {
    let start = max(left, min(x - width / 2, right - width))
    let range = start...(start + width + LabelRows.gap)
    for row in taken.indices where !taken[row].contains(where: { $0.overlaps(range) }) {
      taken[row].append(range)
      return Place(left: start, row: row)
    }
    omitted += 1
    return nil
  }
}
