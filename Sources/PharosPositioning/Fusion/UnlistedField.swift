import PharosReports

/// What scans say by what they do not list.
///
/// Whoever stands beside an access point hears it. A place where ten should be loud, of which a scan has none, is the wrong one,
/// however well the levels fit of what the scan does list. For every place the logarithm of how probable it is to hear nothing at
/// all is summed once; a scan's own access points are then taken out again, one by one.
///
/// - Shape: a number for each cell of each floor of the radio map.
struct UnlistedField: Sendable {
  /// The logarithm of how probable it is that a scan misses an access point, by the level expected of it as the map's bytes have
  /// it.
  private let silences: [Float]
  /// For each emitter how much its silence counts: radios of one box are silent together.
  private let shares: [Float]
  /// For each patch of the map the cells of its floor's grid in which its access point is so loud that its silence tells anything.
  private let windows: [Window]
  /// For each floor of the map and each cell what a scan says that lists nothing.
  private let sums: [[Float]]

  /// How probable it must be to hear an access point for its absence to tell anything.
  ///
  /// 2 %: with what is fainter, by far the most of a map's cells, walks held back are placed no better than chance makes of it.
  static let leastListed: Float = 0.02

  /// The cells of a patch that tell anything; none where either range is empty.
  private struct Window: Sendable {
    var columns: Range<Int32> = 0..<0
    var rows: Range<Int32> = 0..<0

    /// Makes room for a cell.
    mutating func include(column: Int32, row: Int32) {
      guard !columns.isEmpty else { return (columns, rows) = (column..<column + 1, row..<row + 1) }
      columns = min(columns.lowerBound, column)..<max(columns.upperBound, column + 1)
      rows = min(rows.lowerBound, row)..<max(rows.upperBound, row + 1)
    }
  }

  /// Sums over all access points of a map.
  init(_ radio: RadioMap, _ rules: FusionRules) {
    let silences = (0...255).map { byte -> Float in
      let distance = (RadioMap.level(UInt8(byte)) - rules.listedLevel) / rules.listedSlope
      let listed = rules.listedMost / (1 + FusionMath.exponential(-distance))
      return listed < UnlistedField.leastListed ? 0 : Float(RadioMath.naturalLog(Double(1 - listed)))
    }
    var members: [Int32: Float] = [:]
    for group in radio.groups { members[group, default: 0] += 1 }
    let shares = radio.emitters.indices.map { emitter -> Float in
      guard case .accessPoint = radio.emitters[emitter] else { return 0 }
      let count = Double(members[radio.groups[emitter]] ?? 1)
      return rules.unlistedShare * Float(RadioMath.power(count, -Double(rules.groupShare)))
    }
    var sums = radio.grids.map { [Float](repeating: 0, count: $0.count) }
    windows = radio.patches.map { patch in
      var window = Window()
      let share = shares[Int(patch.emitter)]
      guard share > 0 else { return window }
      let floor = Int(patch.floor)
      for row in patch.row..<patch.row + patch.rows {
        for column in patch.column..<patch.column + patch.columns {
          let source = Int(patch.offset + (row - patch.row) * patch.columns + column - patch.column)
          let silence = silences[UnlistedField.byte(radio.levels[source], radio.deviations[source])]
          guard silence < 0 else { continue }
          sums[floor][Int(row) * radio.grids[floor].columns + Int(column)] += share * silence
          window.include(column: column, row: row)
        }
      }
      return window
    }
    self.silences = silences
    self.shares = shares
    self.sums = sums
  }

  /// The byte of the level that can be counted on: one standard deviation below what is expected.
  @inline(__always)
  private static func byte(_ level: UInt8, _ deviation: UInt8) -> Int {
    max(0, Int(level) - Int(deviation) / 5)
  }

  /// Adds to a window of a floor what a scan says that lists some emitters and no others.
  ///
  /// - Parameters:
  ///   - listed: what it lists, in any order; only access points matter.
  ///   - values: the window's cells, row by row.
  ///   - window: where they lie in the floor's grid.
  ///   - floor: the floor, as its place in the map.
  ///   - radio: the map that the field was made of.
  func add(
    listed: [Int32],
    to values: inout [Float],
    _ window: (columns: Range<Int>, rows: Range<Int>),
    floor: Int,
    _ radio: RadioMap
  ) {
    let width = window.columns.count
    let columns = radio.grids[floor].columns
    let (sumList, silenceList) = (sums[floor], silences)
    let (levelList, deviationList) = (radio.levels, radio.deviations)
    let all = sumList.span
    let silences = silenceList.span
    let levels = levelList.span
    let deviations = deviationList.span
    var cells = values.mutableSpan
    for row in window.rows {
      let source = row * columns + window.columns.lowerBound
      let target = (row - window.rows.lowerBound) * width
      for column in 0..<width { cells[target + column] += all[source + column] }
    }
    for emitter in listed {
      for place in radio.patchRange(of: emitter) where !windows[place].columns.isEmpty {
        let patch = radio.patches[place]
        guard Int(patch.floor) == floor else { continue }
        let share = shares[Int(emitter)]
        let across = window.columns.clamped(to: windows[place].columns.cells)
        for row in window.rows.clamped(to: windows[place].rows.cells) {
          var source = Int(patch.offset) + (row - Int(patch.row)) * Int(patch.columns)
          source += across.lowerBound - Int(patch.column)
          var target = (row - window.rows.lowerBound) * width - window.columns.lowerBound + across.lowerBound
          // Without checks, which cost as much as the sum: cells are those of both patch and window, a byte is below 256.
          for _ in 0..<across.count {
            let byte = unsafe UnlistedField.byte(levels[unchecked: source], deviations[unchecked: source])
            unsafe cells[unchecked: target] -= share * silences[unchecked: byte]
            source += 1
            target += 1
          }
        }
      }
    }
  }
}

extension Range<Int32> {
  /// The same cells as places of arrays.
  fileprivate var cells: Range<Int> { Int(lowerBound)..<Int(upperBound) }
}
