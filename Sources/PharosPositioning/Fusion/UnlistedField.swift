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
  /// For each patch of the map whether its access point is so loud anywhere in it that its silence tells anything.
  private let isTelling: [Bool]
  /// For each floor of the map and each cell what a scan says that lists nothing.
  private let sums: [[Float]]

  /// The least silence that tells anything, as its logarithm.
  private static let leastTelling: Float = 0.03

  /// Sums over all access points of a map.
  init(_ radio: RadioMap, _ rules: FusionRules) {
    let silences = (0...255).map { byte in
      let distance = (RadioMap.level(UInt8(byte)) - rules.listedLevel) / rules.listedSlope
      let listed = rules.listedMost / (1 + FusionMath.exponential(-distance))
      return Float(RadioMath.naturalLog(Double(1 - listed)))
    }
    var members: [Int32: Float] = [:]
    for group in radio.groups { members[group, default: 0] += 1 }
    let shares = radio.emitters.indices.map { emitter -> Float in
      guard case .accessPoint = radio.emitters[emitter] else { return 0 }
      let count = Double(members[radio.groups[emitter]] ?? 1)
      return rules.unlistedShare * Float(RadioMath.power(count, -Double(rules.groupShare)))
    }
    var sums = radio.grids.map { [Float](repeating: 0, count: $0.count) }
    isTelling = radio.patches.map { patch in
      let share = shares[Int(patch.emitter)]
      guard share > 0 else { return false }
      let floor = Int(patch.floor)
      var loudest: Float = 0
      for row in 0..<Int(patch.rows) {
        let source = Int(patch.offset) + row * Int(patch.columns)
        let target = (Int(patch.row) + row) * radio.grids[floor].columns + Int(patch.column)
        for column in 0..<Int(patch.columns) {
          let byte = UnlistedField.byte(radio.levels[source + column], radio.deviations[source + column])
          sums[floor][target + column] += share * silences[byte]
          loudest = min(loudest, silences[byte])
        }
      }
      return -loudest > UnlistedField.leastTelling
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
      for place in radio.patchRange(of: emitter) where isTelling[place] {
        let patch = radio.patches[place]
        guard Int(patch.floor) == floor else { continue }
        let share = shares[Int(emitter)]
        let west = Int(patch.column)
        let across = window.columns.clamped(to: west..<west + Int(patch.columns))
        let south = Int(patch.row)
        for row in window.rows.clamped(to: south..<south + Int(patch.rows)) {
          var source = Int(patch.offset) + (row - south) * Int(patch.columns) - west + across.lowerBound
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
