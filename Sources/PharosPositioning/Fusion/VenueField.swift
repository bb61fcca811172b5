import PharosPlaces
package import PharosReports

/// What some readings say about every place of a venue.
package struct VenueField {
  /// The logarithms of likelihood and prior, cell by cell, floor by floor of the radio map.
  package var values: [[Float]] = []
  /// The largest of them.
  package var best: Float = -.infinity

  package init(values: [[Float]] = [], best: Float = -.infinity) {
    self.values = values
    self.best = best
  }

  /// The floors on which some place may count for something, if everything is a little louder or fainter too.
  package var likelyFloors: [Bool] {
    values.map { floor in floor.max().map { $0 > best - VenueField.farBehind } ?? false }
  }

  /// How far behind the best place of all the best one of a floor has to be for the whole floor to be out of the question.
  ///
  /// 40 nats: the 25 at which a place counts for nothing, and more than a few decibels make up for.
  private static let farBehind: Float = 40

  /// Works out the best.
  package mutating func findBest() { best = values.lazy.compactMap { $0.max() }.max() ?? -.infinity }
}

/// How probable each place of a venue is beside the best one.
package struct VenueShares {
  /// Cell by cell, floor by floor of the radio map; 0 for what counts for nothing.
  package let values: [[Float]]
  /// Their sum.
  package let total: Float
  /// The logarithm of the sum of all likelihoods.
  package let evidence: Float

  /// How far behind the best a cell counts for nothing: most of a venue, whose exponentials would take longer than all the rest.
  ///
  /// - Units: nats. A quarter of a million such cells, the most that a floor has, are 4 in a million of all.
  private static let leastCounted: Float = 25

  /// Works out what the logarithms of a field come to.
  package init(_ field: VenueField) {
    let best = field.best
    var total: Float = 0
    values = field.values.map { floor in
      floor.map { value in
        let behind = value - best
        guard behind > -VenueShares.leastCounted else { return 0 }
        let share = FusionMath.exponential(behind)
        total += share
        return share
      }
    }
    self.total = total
    evidence = total > 0 ? best + Float(RadioMath.naturalLog(Double(total))) : -.infinity
  }
}

extension Locator {
  /// Readings of a while are taken together here while the subject walked less than this: most of a cell of the map.
  ///
  /// - Units: metres.
  static let wideBunch: Float = 2.5

  /// What is known of every place, floor by floor of the radio map, before any level counts: how probable it is at first, and what
  /// scans say by what they do not list.
  package func priors(_ listed: [Int32]?) -> [[Float]] {
    content.floorOfRadio.enumerated().map { radio, number in
      guard let number else { return [] }
      var values = content.priors[number]
      guard let listed else { return values }
      let grid = content.radio.grids[radio]
      let all = (columns: 0..<grid.columns, rows: 0..<grid.rows)
      content.unlisted.add(listed: listed, to: &values, all, floor: radio, content.radio)
      return values
    }
  }

  /// What readings say of every place where the subject may be now, the way that it walked since they were heard counted in, on top
  /// of what was known before: ``priors(_:)``.
  ///
  /// Floors that are left out, where not all are asked about, have no values.
  package func everywhere(
    _ readings: [RadioReading],
    _ worths: [Float],
    surprises: [Float]? = nil,
    from priors: [[Float]],
    on floors: [Bool]? = nil,
    louder offset: Float,
    at time: Timestamp
  ) -> VenueField {
    var found = VenueField(values: priors)
    let bunches = bunches(of: readings, apart: Locator.wideBunch, at: time)
    let bunchTerms = bunches.map {
      terms(readings, $0.readings, worths, surprises: surprises, louder: offset, at: time)
    }
    var field = RadioField<Float>()
    for (radio, grid) in content.radio.grids.enumerated() where content.floorOfRadio[radio] != nil {
      guard floors?[radio] ?? true else {
        found.values[radio] = []
        continue
      }
      for (bunch, terms) in zip(bunches, bunchTerms) {
        field.sum(
          terms[...],
          floor: radio,
          columns: 0...grid.columns - 1,
          rows: 0...grid.rows - 1,
          content
        )
        let (east, north) = (bunch.way.east / grid.cell, bunch.way.north / grid.cell)
        field.add(to: &found.values[radio], east: east, north: north)
      }
    }
    found.findBest()
    return found
  }

  /// Whether some place of a field is better than a value even when what scans do not list is counted in.
  ///
  /// That only ever speaks against a place, so it is asked of those alone that are better without it, and their surroundings.
  package func isBeaten(_ value: Float, by field: VenueField, _ listed: [Int32]?) -> Bool {
    guard field.best > value else { return false }
    guard let listed else { return true }
    for (radio, values) in field.values.enumerated() {
      let grid = content.radio.grids[radio]
      guard let window = grid.window(of: values, above: value) else { continue }
      var told = window.rows.flatMap { row in
        window.columns.map { values[row * grid.columns + $0] }
      }
      content.unlisted.add(listed: listed, to: &told, window, floor: radio, content.radio)
      if told.contains(where: { $0 > value }) { return true }
    }
    return false
  }

  /// Draws places as often as they are probable.
  package mutating func draw(
    _ count: Int,
    from shares: VenueShares
  ) -> [(floor: Int, east: Float, north: Float)] {
    var places: [(floor: Int, east: Float, north: Float)] = []
    guard shares.total > 0, count > 0 else { return places }
    places.reserveCapacity(count)
    let step = shares.total / Float(count)
    var pointer = noise.share() * step
    var sum: Float = 0
    for (radio, values) in shares.values.enumerated() {
      guard let number = content.floorOfRadio[radio] else { continue }
      let grid = content.radio.grids[radio]
      for (index, share) in values.enumerated() where share > 0 {
        sum += share
        while sum > pointer, places.count < count {
          let place = place(in: index, of: grid, floor: number)
          places.append((number, place.east, place.north))
          pointer += step
        }
      }
    }
    // Rounding may leave a last one out.
    while let last = places.last, places.count < count { places.append(last) }
    return places
  }

  /// A place in a cell of the map, one that can be walked on if a few tries find one.
  private mutating func place(in index: Int, of grid: RadioGrid, floor: Int) -> (east: Float, north: Float) {
    let raster = content.floors[floor].raster
    let west = Float(grid.corner.x) + Float(index % grid.columns) * grid.cell
    let south = Float(grid.corner.y) + Float(index / grid.columns) * grid.cell
    var place: (east: Float, north: Float) = (west, south)
    for _ in 0..<4 {
      place = (west + noise.share() * grid.cell, south + noise.share() * grid.cell)
      if raster.cell(east: place.east, north: place.north).contains(.walkable) { break }
    }
    return place
  }
}

extension RadioField<Float> {
  /// Adds the field of a whole floor, moved by a way that is counted in cells.
  func add(to sums: inout [Float], east: Float, north: Float) {
    guard east.magnitude > 0.1 || north.magnitude > 0.1 else {
      for index in sums.indices { sums[index] += values[index] }
      return
    }
    // All places of a row lie between the same two rows, and those of a column between the same two columns.
    let across = (0..<columns).map { RadioField.cells(at: Float($0) - east, of: columns) }
    for row in 0..<rows {
      let up = RadioField.cells(at: Float(row) - north, of: rows)
      for column in 0..<columns { sums[row * columns + column] += value(between: across[column], up) }
    }
  }
}

extension RadioGrid {
  /// The smallest window that holds all cells whose value is above another; nil if none is.
  fileprivate func window(
    of values: [Float],
    above value: Float
  ) -> (columns: Range<Int>, rows: Range<Int>)? {
    var (west, east, south, north) = (columns, 0, rows, 0)
    for (index, other) in values.enumerated() where other > value {
      let (row, column) = index.quotientAndRemainder(dividingBy: columns)
      (west, east) = (min(west, column), max(east, column + 1))
      (south, north) = (min(south, row), max(north, row + 1))
    }
    return west < east ? (west..<east, south..<north) : nil
  }
}
