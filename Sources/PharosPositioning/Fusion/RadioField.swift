/// A reading ready to be summed.
struct RadioTerm: Sendable {
  /// The emitter, as its place in the map.
  var emitter: Int32
  /// The level as the map's bytes have it: half decibels above −127 dBm.
  var level: Int32
  /// Its noise, as ``LevelTable`` numbers it.
  var noise: Int32
  /// How much it counts.
  var worth: Float
  /// How much less probable it is to be heard at all where the map does not expect it: a logarithm.
  var surprise: Float = 0
}

/// What some readings say about every cell of a window of a floor: logarithms of likelihoods, row by row.
///
/// Summed cell by cell from the map's bytes, so that a particle then asks once for all readings instead of once for each.
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
    _ content: Ground.Content
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
    _ content: Ground.Content
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
      between: RadioField.cells(at: wantedColumn - Float(column), of: columns),
      RadioField.cells(at: wantedRow - Float(row), of: rows)
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

  /// Between which cells of a row or column a place lies, as the first one and the share of the second; held within them.
  @inline(__always)
  static func cells(at place: Float, of count: Int) -> (first: Int, share: Float) {
    let held = min(max(place, 0), Float(count - 1))
    let first = min(Int(held), max(0, count - 2))
    return (first, held - Float(first))
  }
}

extension RadioField<Float> {
  /// Adds what a scan says of the window by what it does not list.
  mutating func addUnlisted(but listed: [Int32], floor: Int, _ content: Ground.Content) {
    content.unlisted.add(
      listed: listed,
      to: &values,
      (column..<column + columns, row..<row + rows),
      floor: floor,
      content.radio
    )
  }
}

extension Ground.Content {
  /// Where ``levels`` has the likelihood of a reading where the map does not expect its emitter.
  func unexpected(level: Int, noise: Int) -> Int {
    levels.place(
      level: level,
      expected: RadioMap.byte(level: rules.unexpectedLevel),
      deviation: rules.unexpectedDeviation,
      noise: noise
    )
  }
}
