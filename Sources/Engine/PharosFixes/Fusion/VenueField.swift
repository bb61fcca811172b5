package import PharosModel
import PharosSpace

/// The evidence of some readings for every place of a venue.
package struct VenueField {
  /// The logarithms of likelihood and prior, cell by cell, floor by floor of the radio map.
  ///
  /// A floor that was not evaluated has no values.
  package var values: [[Float]] = []
  /// The largest of them.
  package var best: Float = -.infinity

  package init(values: [[Float]] = [], best: Float = -.infinity) {
    self.values = values
    self.best = best
  }

  /// The floors on which some place may still have weight, even if everything is a little louder or fainter.
  package var likelyFloors: [Bool] {
    values.map { floor in floor.max().map { $0 > best - VenueField.farBehind } ?? false }
  }

  /// The distance from the best place of all, in nats, at which the best place of a floor rules out the whole floor.
  ///
  /// 40 nats: the 25 at which a place has no weight, and more than a few decibels account for.
  private static let farBehind: Float = 40

  /// Computes the best value.
  package mutating func findBest() { best = values.lazy.compactMap { $0.max() }.max() ?? -.infinity }
}

/// The probability of each place of a venue relative to the best one.
package struct VenueShares {
  /// The shares cell by cell, floor by floor of the radio map; 0 for cells that are too improbable to count.
  package let values: [[Float]]
  /// Their sum.
  package let total: Float
  /// The logarithm of the sum of all likelihoods.
  package let evidence: Float

  /// The distance from the best cell at which a cell does not count.
  ///
  /// It excludes most of a venue, whose exponentials would take longer than all the rest.
  ///
  /// - Units: nats. A quarter of a million such cells, the most that a floor has, are 4 in a million of all.
  private static let minimumCounted: Float = 25

  /// Computes the shares from the logarithms of a field.
  package init(_ field: VenueField) {
    let best = field.best
    var total: Float = 0
    values = field.values.map { floor in
      floor.map { value in
        let behind = value - best
        guard behind > -VenueShares.minimumCounted else { return 0 }
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
  /// The walked distance within which readings are evaluated together: most of a cell of the map.
  ///
  /// - Units: metres.
  static let wideBunch: Float = 2.5

  /// Returns the evidence for every place, floor by floor of the radio map, before any level counts: the initial
  /// probability, and the evidence of what scans do not list.
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

  /// Returns the evidence of readings for every place where the subject may be now, taking into account the way that
  /// it walked since they were heard, added to the evidence from before: ``priors(_:)``.
  ///
  /// Floors that are not evaluated have no values. Where the level of the subject is open, it is averaged over.
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
    func add<Cell: CellEvidence>(_ radio: Int, to sums: inout [Cell]) {
      let grid = content.radio.grids[radio]
      var field = RadioField<Cell>()
      for (bunch, terms) in zip(bunches, bunchTerms) {
        field.sum(
          terms[...],
          floor: radio,
          columns: 0...grid.columns - 1,
          rows: 0...grid.rows - 1,
          content
        )
        let (east, north) = (bunch.way.east / grid.cell, bunch.way.north / grid.cell)
        field.add(to: &sums, east: east, north: north)
      }
    }
    let variance = offsetVariance
    for radio in content.radio.grids.indices where content.floorOfRadio[radio] != nil {
      guard floors?[radio] ?? true else {
        found.values[radio] = []
        continue
      }
      guard let variance else {
        add(radio, to: &found.values[radio])
        continue
      }
      var looks = [LookEvidence](repeating: .none, count: content.radio.grids[radio].count)
      add(radio, to: &looks)
      for index in looks.indices {
        found.values[radio][index] += looks[index].marginal(variance, about: -offset)
      }
    }
    found.findBest()
    return found
  }

  /// The variance of the common level of all readings, if that is open; nil if it was learned.
  private var offsetVariance: Float? {
    offset.isOpen ? offset.variance(ofLook: rules.lookDeviation) : nil
  }

  /// Returns whether some place of a field is better than a value even when the evidence of what scans do not list is
  /// included.
  ///
  /// That evidence only ever reduces the value of a place, so it is only computed for the places that are better
  /// without it, and their surroundings.
  package func isBeaten(_ value: Float, by field: VenueField, _ listed: [Int32]?) -> Bool {
    guard field.best > value else { return false }
    guard let listed else { return true }
    for (radio, values) in field.values.enumerated() {
      let grid = content.radio.grids[radio]
      guard let window = grid.window(of: values, above: value) else { continue }
      var reported = window.rows.flatMap { row in
        window.columns.map { values[row * grid.columns + $0] }
      }
      content.unlisted.add(listed: listed, to: &reported, window, floor: radio, content.radio)
      if reported.contains(where: { $0 > value }) { return true }
    }
    return false
  }

  /// Draws places with a frequency proportional to their probability.
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

  /// Returns a place in a cell of the map that can be walked on, or the nearest such place beside it.
  private mutating func place(in index: Int, of grid: RadioGrid, floor: Int) -> (east: Float, north: Float) {
    let raster = content.floors[floor].raster
    let west = Float(grid.corner.x) + Float(index % grid.columns) * grid.cell
    let south = Float(grid.corner.y) + Float(index / grid.columns) * grid.cell
    var place: (east: Float, north: Float) = (west, south)
    for _ in 0..<4 {
      place = (west + noise.share() * grid.cell, south + noise.share() * grid.cell)
      if raster.cell(east: place.east, north: place.north).contains(.walkable) { return place }
    }
    let nearest = content.floors[floor].nearest(to: Point(x: Double(place.east), y: Double(place.north)))
    return (Float(nearest.x), Float(nearest.y))
  }
}

extension RadioField {
  /// Adds the field of a whole floor, shifted by a way that is counted in cells.
  func add(to sums: inout [Cell], east: Float, north: Float) {
    guard east.magnitude > 0.1 || north.magnitude > 0.1 else {
      for index in sums.indices { sums[index] = sums[index] + values[index] }
      return
    }
    // All places of a row lie between the same two rows, and those of a column between the same two columns.
    let across = (0..<columns).map { RadioPatch.cells(at: Float($0) - east, of: columns) }
    for row in 0..<rows {
      let up = RadioPatch.cells(at: Float(row) - north, of: rows)
      for column in 0..<columns {
        sums[row * columns + column] = sums[row * columns + column] + value(between: across[column], up)
      }
    }
  }
}

extension RadioGrid {
  /// Returns the smallest window that holds all cells whose value is above another; nil if there are none.
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

extension Locator {
  /// Returns whether the belief is so young that each look draws it from scratch.
  func isYoung(at time: Timestamp) -> Bool {
    guard let born else { return true }
    return cloud.isEmpty || time - born < rules.youth
  }

  /// Draws the belief from scratch, over every place of the venue, by its probability given all readings so far.
  ///
  /// The offset of the subject's receiver is not known yet, so every place is tried with a few offsets.
  mutating func grow(_ listed: [Int32]?, at time: Timestamp) {
    if born == nil || cloud.isEmpty { born = time }
    let readings = recent
    let worths = worths(of: readings, at: time)
    let surprises = surprises(of: readings)
    let trials = offset.trials
    let priors = priors(listed)
    // The most probable trial looks at all floors, the others at those that are still in question: few are.
    var likelyFloors: [Bool]?
    var shares = [VenueShares](repeating: VenueShares(VenueField()), count: trials.count)
    for place in trials.indices.sorted(by: { trials[$0].prior > trials[$1].prior }) {
      let field = everywhere(
        readings,
        worths,
        surprises: surprises,
        from: priors,
        on: likelyFloors,
        louder: trials[place].decibels,
        at: time
      )
      likelyFloors = likelyFloors ?? field.likelyFloors
      shares[place] = VenueShares(field)
    }
    var scores = zip(shares, trials).map { $0.evidence + $1.prior }
    // A map of other floors than the venue has leaves no place to be at.
    guard let best = scores.max(), best > -.infinity else { return cloud.removeAll() }
    scores = scores.map { FusionMath.exponential($0 - best) }
    let sum = scores.reduce(0, +)
    cloud.removeAll()
    cloud.reserve(rules.particles)
    var mean: Float = 0
    for (place, score) in scores.enumerated() {
      mean += trials[place].decibels * score / sum
      let isLast = place == scores.count - 1
      let wanted = Int(Float(rules.particles) * score / sum)
      plant(isLast ? rules.particles - cloud.count : wanted, from: shares[place])
    }
    offset.guess(mean)
    evidence.audited = time
  }

  private mutating func plant(_ count: Int, from shares: VenueShares) {
    for place in draw(count, from: shares) {
      cloud.append(
        east: place.east,
        north: place.north,
        bias: drawBias(on: place.floor),
        scale: ParticleCloud.held(1 + rules.scaleDeviation * noise.normal()),
        floor: UInt8(truncatingIfNeeded: place.floor)
      )
    }
  }

  /// Compares the belief with all other places from time to time, and moves part of it where that explains the
  /// readings of the last seconds much better.
  mutating func audit(_ listed: [Int32]?, at time: Timestamp) {
    guard time - evidence.audited >= rules.auditInterval, recent.count >= Locator.minimumAudited else {
      return
    }
    evidence.audited = time
    // The loudest say most about where one is.
    let chosen = recent.indices.sorted { (recent[$0].level, $1) > (recent[$1].level, $0) }
      .prefix(Locator.maximumAudited).sorted().map { recent[$0] }
    let worths = worths(of: chosen, at: time)
    let own = likelihood(of: chosen, worths, listed, at: time)
    // Nearly always the belief is as good as any other place, which is found out at a fraction of what the whole field costs.
    let levels = everywhere(chosen, worths, from: priors(nil), louder: offset.decibels, at: time)
    guard isBeaten(own + rules.lostMargin, by: levels, listed) else { return }
    let field = everywhere(chosen, worths, from: priors(listed), louder: offset.decibels, at: time)
    let margin = field.best - own
    guard margin > rules.lostMargin else { return }
    counters.recoveries += 1
    let moved = min(Locator.maximumMoved, rules.recoveryShare * margin / rules.lostMargin)
    let count = Int(Float(cloud.count) * moved)
    let shares = cloud.shares()
    let weakest = shares.indices.sorted { (shares[$0], $0) < (shares[$1], $1) }.prefix(count)
    let weight = cloud.weight.max() ?? 0
    for (index, place) in zip(weakest, draw(count, from: VenueShares(field))) {
      cloud.east[index] = place.east
      cloud.north[index] = place.north
      cloud.floor[index] = UInt8(truncatingIfNeeded: place.floor)
      cloud.bias[index] = drawBias(on: place.floor)
      if !cloud.turn.isEmpty { cloud.turn[index] = drawTurn() }
      cloud.weight[index] = weight
    }
  }

  /// The minimum number of readings for a comparison.
  static let minimumAudited = 6
  /// The maximum number of readings that are compared.
  static let maximumAudited = 60
  /// The maximum share of the particles that moves.
  ///
  /// 0.95: a belief that is 30 nats behind should not keep half of its particles until the next comparison. Held-back
  /// walks are placed as well as with a half.
  private static let maximumMoved: Float = 0.95

  /// Returns the likelihood of readings given the belief: the logarithm of the mean over all particles.
  private func likelihood(
    of readings: [RadioReading],
    _ worths: [Float],
    _ listed: [Int32]?,
    at time: Timestamp
  ) -> Float {
    let shares = cloud.shares()
    let turned = carried.turns.map { Bearing.eastAndNorth($0) }
    func sum<Cell: CellEvidence>() -> [Cell] {
      var sums = [Cell](repeating: .none, count: cloud.count)
      var field = RadioField<Cell>()
      for bunch in bunches(of: readings, apart: Locator.wideBunch, at: time) {
        let terms = terms(readings, bunch.readings, worths, louder: offset.decibels, at: time)
        add(terms, way: bunch.way, turned: turned, to: &sums, &field)
      }
      return sums
    }
    var values: [Float] =
      offsetVariance.map { variance in
        let looks: [LookEvidence] = sum()
        return looks.map { $0.marginal(variance, about: offset.mean) }
      } ?? sum()
    if let listed { addUnlisted(but: listed, to: &values) }
    let best = values.max() ?? 0
    var sum: Float = 0
    for index in values.indices { sum += shares[index] * FusionMath.exponential(values[index] - best) }
    return best + Float(RadioMath.naturalLog(Double(sum)))
  }
}
