import PharosModel

/// The evidence in what scans do not list.
///
/// A handset beside an access point hears it. A place at which ten access points should be loud, none of which a scan
/// lists, is wrong, however well the levels of the listed access points fit. For each place, the logarithm of the
/// probability of hearing nothing at all is summed once. The terms of the access points that a scan does list are then
/// subtracted one by one.
///
/// - Shape: A number for each cell of each floor of the radio map.
package struct UnlistedField: Sendable {
  /// The cells, for each patch of the map, in which its access point is so loud that its silence is evidence.
  private let windows: [Window]
  /// The evidence of silence in the cells of the windows, window after window and row by row: logarithms of its
  /// probability.
  private let silences: [Float]
  /// The evidence of a scan that lists nothing, for each floor of the map and each cell.
  private let sums: [[Float]]

  /// The minimum probability of hearing an access point for its absence to be evidence.
  ///
  /// 2 %: with fainter access points, by far the most of a map's cells, held-back walks are placed no better, within
  /// chance.
  package static let minimumListed: Float = 0.02

  /// The cells of a patch that give evidence; none where either range is empty.
  private struct Window: Sendable {
    /// The floor, as its place in the map.
    ///
    /// It is copied here because it is read for each access point of a scan, and the patch lies elsewhere in memory.
    let floor: Int32
    var columns: Range<Int32> = 0..<0
    var rows: Range<Int32> = 0..<0
    /// The index of its first cell among all.
    let start: Int32

    /// Makes room for a cell.
    mutating func include(column: Int32, row: Int32) {
      guard !columns.isEmpty else { return (columns, rows) = (column..<column + 1, row..<row + 1) }
      columns = min(columns.lowerBound, column)..<max(columns.upperBound, column + 1)
      rows = min(rows.lowerBound, row)..<max(rows.upperBound, row + 1)
    }
  }

  /// Sums over all access points of a map.
  package init(_ radio: RadioMap, _ rules: FusionRules) {
    let silenceOfByte = (0...255).map { byte -> Float in
      let distance = (RadioMap.level(UInt8(byte)) - rules.listedLevel) / rules.listedSlope
      let listed = rules.maximumListedShare / (1 + FusionMath.exponential(-distance))
      return listed < UnlistedField.minimumListed ? 0 : Float(RadioMath.naturalLog(Double(1 - listed)))
    }
    let shares = UnlistedField.shares(radio, rules)
    var sums = radio.grids.map { [Float](repeating: 0, count: $0.count) }
    var silences: [Float] = []
    windows = radio.patches.map { patch in
      let share = shares[Int(patch.emitter)]
      guard share > 0 else { return Window(floor: patch.floor, start: 0) }
      // One standard deviation below what is expected is what can be counted on.
      let silence = { (column: Int32, row: Int32) -> Float in
        let place = Int(patch.offset + (row - patch.row) * patch.columns + column - patch.column)
        return share * silenceOfByte[max(0, Int(radio.levels[place]) - Int(radio.deviations[place]) / 5)]
      }
      var window = Window(floor: patch.floor, start: Int32(silences.count))
      for row in patch.row..<patch.row + patch.rows {
        for column in patch.column..<patch.column + patch.columns where silence(column, row) < 0 {
          window.include(column: column, row: row)
        }
      }
      let width = radio.grids[Int(patch.floor)].columns
      for row in window.rows {
        for column in window.columns {
          let reported = silence(column, row)
          silences.append(reported)
          sums[Int(patch.floor)][Int(row) * width + Int(column)] += reported
        }
      }
      return window
    }
    self.silences = silences
    self.sums = sums
  }

  /// Returns the weight of each emitter's silence: radios of one box are silent together.
  private static func shares(_ radio: RadioMap, _ rules: FusionRules) -> [Float] {
    var members: [Int32: Float] = [:]
    for group in radio.groups { members[group, default: 0] += 1 }
    return radio.emitters.indices.map { emitter -> Float in
      guard case .accessPoint = radio.emitters[emitter] else { return 0 }
      let count = Double(members[radio.groups[emitter]] ?? 1)
      return rules.unlistedShare * Float(RadioMath.power(count, -Double(rules.groupShare)))
    }
  }

  /// Adds to a window of a floor the evidence of a scan that lists some emitters and no others.
  ///
  /// - Parameters:
  ///   - listed: the listed emitters, in any order; only access points matter.
  ///   - values: the window's cells, row by row.
  ///   - window: the position of the cells in the floor's grid.
  ///   - floor: the floor, as its place in the map.
  ///   - radio: the map that the field was made of.
  package func add(
    listed: [Int32],
    to values: inout [Float],
    _ window: (columns: Range<Int>, rows: Range<Int>),
    floor: Int,
    _ radio: RadioMap
  ) {
    let width = window.columns.count
    let columns = radio.grids[floor].columns
    let (sumList, silenceList) = (sums[floor], silences)
    let all = sumList.span
    let silences = silenceList.span
    var cells = values.mutableSpan
    for row in window.rows {
      let source = row * columns + window.columns.lowerBound
      let target = (row - window.rows.lowerBound) * width
      // Without checks, as below: a window's cells are the grid's.
      for column in 0..<width { unsafe cells[unchecked: target + column] += all[unchecked: source + column] }
    }
    for emitter in listed {
      for place in radio.patchRange(of: emitter) where Int(windows[place].floor) == floor {
        let published = windows[place]
        let across = window.columns.clamped(to: published.columns.cells)
        guard !across.isEmpty else { continue }
        for row in window.rows.clamped(to: published.rows.cells) {
          var source = Int(published.start) + (row - Int(published.rows.lowerBound)) * published.columns.count
          source += across.lowerBound - Int(published.columns.lowerBound)
          let target = (row - window.rows.lowerBound) * width - window.columns.lowerBound + across.lowerBound
          // Without checks, which cost more than the sum: cells are those of both windows.
          for step in 0..<across.count {
            unsafe cells[unchecked: target + step] -= silences[unchecked: source + step]
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
