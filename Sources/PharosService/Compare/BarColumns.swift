import PharosReports

/// What a rule said over time, in columns of half a pixel, so that thousands of changes make one bar.
///
/// Where several things share a column, the one that matters more is seen: a mistake before all else, and never
/// narrower than an eye can find.
struct BarColumns {
  /// What a column shows; the larger value is seen where two meet, and what is outside has no mark.
  enum Mark: UInt8 {
    /// Inside.
    case inside = 1
    /// Nothing is kept of this time.
    case unknown
    /// Unmonitored: no observer can tell whether the subject is inside.
    case unmonitored
    /// Outside, and back within ten minutes.
    case absence
    /// Outside, and back within a minute.
    case mistake

    fileprivate var isReturn: Bool { self == .mistake || self == .absence }
  }

  /// Columns in a row with the same mark.
  struct Run: Equatable {
    /// The left end, in pixels.
    var left: Double
    /// The right end, in pixels.
    var right: Double
    /// What they show.
    var mark: Mark
  }

  /// The runs, from left to right.
  private(set) var runs: [Run] = []

  /// How narrow a mistake may become, in columns.
  private static let narrowest = 4

  /// Lays out what a rule said up to an end.
  init(_ standing: ComparedRow.Standing, axis: TimeAxis, end: Timestamp) {
    let count = max(1, Int((axis.right - axis.left) / Decimation.resolution))
    var columns = [UInt8](repeating: 0, count: count)
    for (index, change) in standing.changes.enumerated() {
      let isLast = index + 1 == standing.changes.count
      let until = isLast ? end : standing.changes[index + 1].time
      guard let mark = BarColumns.mark(of: change, isCut: isLast && standing.isCut) else { continue }
      let first = min(count - 1, Int((axis.x(of: change.time) - axis.left) / Decimation.resolution))
      var last = min(count - 1, Int((axis.x(of: until) - axis.left) / Decimation.resolution))
      if mark.isReturn { last = min(count - 1, max(last, first + BarColumns.narrowest - 1)) }
      for column in first...max(first, last) { columns[column] = max(columns[column], mark.rawValue) }
    }
    var start = 0
    while start < count {
      var stop = start
      while stop < count, columns[stop] == columns[start] { stop += 1 }
      if let mark = Mark(rawValue: columns[start]) {
        runs.append(
          Run(
            left: axis.left + Double(start) * Decimation.resolution,
            right: axis.left + Double(stop) * Decimation.resolution,
            mark: mark
          )
        )
      }
      start = stop
    }
  }

  private static func mark(of change: ComparedRow.Change, isCut: Bool) -> Mark? {
    guard !isCut else { return .unknown }
    switch change.state {
    case .inside: return .inside
    case .outside:
      guard let after = change.cameBackAfter else { return nil }
      return after <= PresenceTally.minute ? .mistake : .absence
    case .unmonitored: return .unmonitored
    }
  }
}
