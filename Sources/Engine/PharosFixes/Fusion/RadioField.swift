import PharosModel

/// A reading that is ready to be summed.
struct RadioTerm: Sendable {
  /// The emitter, as its place in the map.
  var emitter: Int32
  /// The level as the map's bytes have it: half decibels above −127 dBm.
  var level: Int32
  /// Its noise, as ``LevelTable`` numbers it.
  var noise: Int32
  /// The weight of the reading.
  var worth: Float
  /// The reduction of the log-likelihood where the map does not expect the emitter to be heard at all.
  var surprise: Float = 0
}

/// The evidence of some readings for every cell of a window of a floor: logarithms of likelihoods, row by row.
///
/// The field is summed cell by cell from the map's bytes, so that a particle needs one query for all readings instead
/// of one for each.
struct RadioField<Cell: CellEvidence>: Sendable {
  /// The window's cells within the floor's grid.
  private(set) var column = 0
  private(set) var row = 0
  private(set) var columns = 0
  private(set) var rows = 0
  private(set) var values: [Cell] = []

  /// Sums readings over a window.
  ///
  /// - Parameters:
  ///   - terms: the readings.
  ///   - floor: the floor, as its place in the map.
  ///   - wantedColumns: the window's columns of the floor's grid; held within it.
  ///   - wantedRows: its rows; held within it.
  ///   - content: the map and the table of likelihoods.
  mutating func sum(
    _ terms: ArraySlice<RadioTerm>,
    floor: Int,
    columns wantedColumns: ClosedRange<Int>,
    rows wantedRows: ClosedRange<Int>,
    _ content: LocatableVenue.Content
  ) {
    open(columns: wantedColumns, rows: wantedRows, of: content.radio.grids[floor])
    let table = Cell.rows(of: content.levels)
    var everywhere = Cell.none
    for term in terms {
      let place = content.unexpected(level: Int(term.level), noise: Int(term.noise))
      let nowhere = (table[place] * term.worth).less(term.surprise)
      everywhere = everywhere + nowhere
      guard let patch = content.radio.patch(of: term.emitter, floor: floor) else { continue }
      add(term, patch, less: nowhere, table, content)
    }
    for index in values.indices { values[index] = values[index] + everywhere }
  }

  /// Opens a window of a floor's grid without any evidence in it yet.
  mutating func open(
    columns wantedColumns: ClosedRange<Int>,
    rows wantedRows: ClosedRange<Int>,
    of grid: RadioGrid
  ) {
    column = min(max(0, wantedColumns.lowerBound), grid.columns - 1)
    row = min(max(0, wantedRows.lowerBound), grid.rows - 1)
    columns = min(max(column, wantedColumns.upperBound), grid.columns - 1) - column + 1
    rows = min(max(row, wantedRows.upperBound), grid.rows - 1) - row + 1
    values.removeAll(keepingCapacity: true)
    values.append(contentsOf: repeatElement(.none, count: columns * rows))
  }

  private mutating func add(
    _ term: RadioTerm,
    _ patch: RadioPatch,
    less nowhere: Cell,
    _ valueList: [Cell],
    _ content: LocatableVenue.Content
  ) {
    let firstColumn = max(column, Int(patch.column))
    let lastColumn = min(column + columns, Int(patch.column + patch.columns))
    let firstRow = max(row, Int(patch.row))
    let lastRow = min(row + rows, Int(patch.row + patch.rows))
    guard firstColumn < lastColumn, firstRow < lastRow else { return }
    let rowStartList = content.levels.rowStarts
    let (levelList, deviationList) = (content.radio.levels, content.radio.deviations)
    let rowStarts = rowStartList.span
    let table = valueList.span
    let levels = levelList.span
    let deviations = deviationList.span
    let (west, south, width) = (column, row, columns)
    var sums = values.mutableSpan
    let starts = Int(term.noise) << 8
    let zero = Int(term.level) + LevelTable.columns / 2
    for y in firstRow..<lastRow {
      var source =
        Int(patch.offset) + (y - Int(patch.row)) * Int(patch.columns) + firstColumn - Int(patch.column)
      var target = (y - south) * width + firstColumn - west
      for _ in firstColumn..<lastColumn {
        // Without checks, which cost as much as the sum: cells are those of both patch and window, a noise is below 32, and a
        // row of the table has room for every difference of two bytes.
        let start = unsafe Int(rowStarts[unchecked: starts | Int(deviations[unchecked: source])])
        let likelihood = unsafe table[unchecked: start + zero - Int(levels[unchecked: source])]
        let before = unsafe sums[unchecked: target]
        unsafe sums[unchecked: target] = before + (likelihood * term.worth - nowhere)
        source += 1
        target += 1
      }
    }
  }

  /// The value between the middles of cells, for a place counted in cells from the middle of the grid's first one; beyond
  /// the window that of its edge.
  @inline(__always)
  func value(column wantedColumn: Float, row wantedRow: Float) -> Cell {
    value(
      between: RadioPatch.cells(at: wantedColumn - Float(column), of: columns),
      RadioPatch.cells(at: wantedRow - Float(row), of: rows)
    )
  }

  /// The value between two columns and two rows of the window.
  @inline(__always)
  func value(between across: (first: Int, share: Float), _ up: (first: Int, share: Float)) -> Cell {
    let corner = up.first * columns + across.first
    let east = columns > 1 ? 1 : 0
    let north = rows > 1 ? columns : 0
    let low = values[corner] + (values[corner + east] - values[corner]) * across.share
    let high =
      values[corner + north] + (values[corner + north + east] - values[corner + north]) * across.share
    return low + (high - low) * up.share
  }
}

extension RadioField<Float> {
  /// Adds the evidence for the window of what a scan does not list.
  mutating func addUnlisted(but listed: [Int32], floor: Int, _ content: LocatableVenue.Content) {
    content.unlisted.add(
      listed: listed,
      to: &values,
      (column..<column + columns, row..<row + rows),
      floor: floor,
      content.radio
    )
  }
}

extension LocatableVenue.Content {
  /// Returns the index in ``levels`` of the likelihood of a reading where the map does not expect its emitter.
  func unexpected(level: Int, noise: Int) -> Int {
    levels.place(
      level: level,
      expected: RadioMap.byte(level: rules.unexpectedLevel),
      deviation: rules.unexpectedDeviation,
      noise: noise
    )
  }
}

/// The evidence of the readings of one look for a place, with an unknown common offset of their levels.
///
/// A hand, a body or a crowd attenuates many access points at once. At one and the same place the mean of a look moves
/// by 3 dB from one look to the next, while independent errors of readings would move it by less than 1. So the
/// differences among the levels of a look count more than their common level.
///
/// The logarithm of the likelihood for an offset *o* of the look is modelled as ``likelihood`` + `pull` · *o* −
/// `stiffness` · *o*² / 2. Sums of readings are sums of the three.
///
/// - Source: for a reading that scatters as Student's distribution does, that parabola touches the true curve at *o* = 0 and lies nowhere
///   above it: Lange, Little and Taylor, "Robust statistical modeling using the t distribution", J. Am. Stat. Assoc. 84 (1989).
package struct LookEvidence: Hashable, Sendable {
  /// Likelihood, pull, stiffness, and zero: a group of four is read and added at once.
  private var sums: SIMD4<Float>

  /// Creates the evidence of one reading.
  ///
  /// - Parameters:
  ///   - difference: the measured minus the expected level, in dB.
  ///   - deviation: the uncertainty of the expected level, in dB.
  ///   - freedom: the degrees of freedom of Student's distribution.
  package init(difference: Double, deviation: Double, freedom: Double) {
    let (square, variance) = (difference * difference, deviation * deviation)
    let tail = RadioMath.naturalLog(1 + square / variance / freedom)
    let stiffness = (freedom + 1) / (freedom * variance + square)
    let likelihood = -RadioMath.naturalLog(deviation) - (freedom + 1) / 2 * tail
    sums = SIMD4(Float(likelihood), Float(stiffness * difference), Float(stiffness), 0)
  }

  private init(_ sums: SIMD4<Float>) { self.sums = sums }

  /// The logarithm of the likelihood if the look is as loud as expected.
  package var likelihood: Float { sums.x }
  /// The increase of the log-likelihood for each decibel by which the whole look is louder than expected.
  ///
  /// - Units: 1/dB.
  var pull: Float { sums.y }
  /// The certainty of the readings about an offset of their own.
  ///
  /// - Units: 1/dB².
  var stiffness: Float { sums.z }

  /// Returns the logarithm of the likelihood, averaged over the offset.
  ///
  /// - Parameters:
  ///   - variance: the variance of offsets, in dB².
  ///   - mean: their mean, in dB, counted from the offset that was subtracted from the readings.
  /// - Returns: the logarithm of the mean likelihood over all offsets.
  package func marginal(_ variance: Float, about mean: Float = 0) -> Float {
    let sureness = 1 + stiffness * variance
    let width = Float(RadioMath.naturalLog(Double(sureness))) / 2
    let shift = pull * pull * variance + (2 * pull - stiffness * mean) * mean
    return likelihood + shift / (2 * sureness) - width
  }
}

/// The content of a cell of a ``RadioField``: logarithms of likelihoods, alone or with further terms to sum.
protocol CellEvidence: Sendable {
  /// The evidence of no reading.
  static var none: Self { get }
  /// Returns the rows of a table for cells of this kind.
  static func rows(of levels: LevelTable) -> [Self]
  /// Returns the evidence with the log-likelihood reduced by an amount.
  func less(_ surprise: Float) -> Self
  static func + (one: Self, other: Self) -> Self
  static func - (one: Self, other: Self) -> Self
  static func * (one: Self, share: Float) -> Self
}

extension Float: CellEvidence {
  static var none: Float { 0 }

  static func rows(of levels: LevelTable) -> [Float] { levels.values }

  @inline(__always)
  func less(_ surprise: Float) -> Float { self - surprise }
}

extension LookEvidence: CellEvidence {
  package static var none: LookEvidence { LookEvidence(.zero) }

  static func rows(of levels: LevelTable) -> [LookEvidence] { levels.looks }

  @inline(__always)
  func less(_ surprise: Float) -> LookEvidence { LookEvidence(sums - SIMD4(surprise, 0, 0, 0)) }

  @inline(__always)
  package static func + (one: LookEvidence, other: LookEvidence) -> LookEvidence {
    LookEvidence(one.sums + other.sums)
  }

  @inline(__always)
  static func - (one: LookEvidence, other: LookEvidence) -> LookEvidence {
    LookEvidence(one.sums - other.sums)
  }

  @inline(__always)
  package static func * (one: LookEvidence, share: Float) -> LookEvidence { LookEvidence(one.sums * share) }
}

/// The logarithm of the likelihood of a reading, for every difference from the expected level and every uncertainty.
///
/// The table is created once: the field of a scan is some ten thousand of these values, and a logarithm for each would
/// cost more than all the rest of the filter.
struct LevelTable: Hashable, Sendable {
  /// The number of uncertainties for which the table has a row.
  static let rows = 40
  /// The number of differences, in half decibels; the middle one is zero.
  static let columns = 512
  /// The number of noises that ``rowStarts`` distinguishes.
  static let noises = 32
  /// The least uncertainty, and the step from one row to the next.
  ///
  /// - Units: dB.
  private static let minimumUncertainty: Float = 2
  private static let step: Float = 0.5

  /// Rows of differences.
  let values: [Float]
  /// The same rows with the terms that are needed to leave the common level of the look open.
  let looks: [LookEvidence]
  /// The start of the row for each noise and for each byte of the map's own deviation.
  let rowStarts: [UInt16]

  /// Makes the table for Student's distribution with some degrees of freedom.
  init(freedom: Float) {
    var looks: [LookEvidence] = []
    looks.reserveCapacity(LevelTable.rows * LevelTable.columns)
    for row in 0..<LevelTable.rows {
      let deviation = Double(LevelTable.minimumUncertainty + LevelTable.step * Float(row))
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
    let row = min(rows - 1, max(0, Int(((total - minimumUncertainty) / step).rounded())))
    return UInt16(row * columns)
  }

  /// Returns the index of the value where the map does not expect an emitter.
  ///
  /// - Parameters:
  ///   - level: the reading as a byte of the map.
  ///   - expected: the assumed level, as a byte of the map.
  ///   - deviation: the uncertainty of the assumed level, in dB.
  ///   - noise: the number of the reading's noise.
  /// - Returns: its place in ``values`` and ``looks``.
  func place(level: Int, expected: UInt8, deviation: Float, noise: Int) -> Int {
    let byte = min(255, max(0, Int((deviation * 10).rounded())))
    return Int(rowStarts[noise << 8 | byte]) + level - Int(expected) + LevelTable.columns / 2
  }
}
