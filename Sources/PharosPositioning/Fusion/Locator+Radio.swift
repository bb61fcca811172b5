import PharosEvents
import PharosPlaces
import PharosReports

extension Locator {
  /// Weighs the readings whose time has come.
  mutating func weigh(at time: Timestamp) {
    drift(to: time)
    guard !pool.isEmpty else { return }
    defer { pool = [] }
    pool.sort { ($0.heard, $0.emitter) < ($1.heard, $1.emitter) }
    note(pool)
    sky.hear(pool, at: time)
    // Where satellites lead, what is heard of the house says only how near it is.
    guard !sky.leads(at: time) else { return }
    let isScan = isScan(pool, at: time)
    if isScan { evidence.scanned = time }
    // Beacons alone ask for it only where all places are compared.
    let needsListed = isScan || isYoung(at: time) || time - evidence.audited >= rules.auditInterval
    let listed = needsListed ? listed(at: time) : nil
    thin(at: time)
    remember(at: time)
    if isYoung(at: time) { return grow(listed, at: time) }
    let worths = worths(of: pool, at: time)
    let turned = cloud.bias.map { Bearing.eastAndNorth($0) }
    var field = RadioField<LookEvidence>()
    var look = [LookEvidence](repeating: .none, count: cloud.count)
    for bunch in bunches(of: pool, apart: Locator.bunchWay, at: time) {
      let terms = terms(pool, bunch.readings, worths, louder: offset.decibels, at: time)
      add(terms, way: bunch.way, turned: turned, to: &look, &field)
    }
    let variance = rules.lookDeviation * rules.lookDeviation
    var weights = cloud.weight
    for index in weights.indices { weights[index] += look[index].marginal(variance) }
    if isScan, let listed { addUnlisted(but: listed, to: &weights) }
    cloud.weight = weights
    learn(at: time)
    audit(listed, at: time)
    cloud.resample(rules, &noise)
  }

  /// Whether some readings are a scan: enough access points that were just heard.
  private func isScan(_ readings: [RadioReading], at time: Timestamp) -> Bool {
    readings.count { $0.kind == .accessPoint && time - $0.heard < Locator.scanTime } >= rules.fewestListed
  }

  /// How long before the end of a scan its first access points were heard.
  private static let scanTime = TimeSpan.seconds(6)

  /// What scans have listed lately; nil where there was none.
  private func listed(at time: Timestamp) -> [Int32]? {
    let since = time - rules.listedMemory
    return evidence.scanned > since ? heard.emitters(since: since) : nil
  }

  /// Leaves the loudest readings of a crowded look: faint and old ones say little, and cost as much.
  private mutating func thin(at time: Timestamp) {
    guard pool.count > rules.mostReadings else { return }
    pool = pool.map { (clear: $0.level - staleness(of: $0, at: time), reading: $0) }
      .sorted { ($0.clear, $1.reading.emitter) > ($1.clear, $0.reading.emitter) }
      .prefix(rules.mostReadings).map(\.reading)
    pool.sort { ($0.heard, $0.emitter) < ($1.heard, $1.emitter) }
  }

  /// Keeps the readings of the last seconds for looks at all places.
  private mutating func remember(at time: Timestamp) {
    if !isYoung(at: time) { recent.removeAll { time - $0.heard > rules.memory } }
    recent.append(contentsOf: pool)
    recent.sort { ($0.heard, $0.emitter) < ($1.heard, $1.emitter) }
    if recent.count > Locator.mostRecent { recent.removeFirst(recent.count - Locator.mostRecent) }
  }

  /// How many readings are kept for looks at all places: four scans as far as they are weighed.
  static let mostRecent = 160

  private mutating func note(_ readings: [RadioReading]) {
    for reading in readings {
      evidence.newest = max(evidence.newest, reading.heard)
      switch reading.kind {
      case .accessPoint: evidence.sources.insert(.wifi)
      case .beacon: evidence.sources.insert(.beacons)
      case .observer: evidence.sources.insert(.observers)
      }
    }
  }

  /// Adds for every particle what readings say of where it was when they were heard.
  func add<Cell: CellEvidence>(
    _ terms: [RadioTerm],
    way: (east: Float, north: Float),
    turned: [(east: Float, north: Float)],
    to sums: inout [Cell],
    _ field: inout RadioField<Cell>
  ) {
    for number in cloud.floors() {
      guard let radio = content.floors[number].radio else { continue }
      let grid = content.radio.grids[radio]
      let places = places(on: number, grid) { index in
        let (sine, cosine) = turned[index]
        let scale = cloud.scale[index]
        return (
          cloud.east[index] - (way.east * cosine + way.north * sine) * scale,
          cloud.north[index] - (way.north * cosine - way.east * sine) * scale
        )
      }
      field.sum(terms[...], floor: radio, columns: places.columns, rows: places.rows, content)
      for place in places.all {
        sums[place.index] = sums[place.index] + field.value(column: place.column, row: place.row)
      }
    }
  }

  /// Adds for every particle what a scan says of where it is by what it does not list.
  func addUnlisted(but listed: [Int32], to sums: inout [Float]) {
    var field = RadioField<Float>()
    for number in cloud.floors() {
      guard let radio = content.floors[number].radio else { continue }
      let grid = content.radio.grids[radio]
      let places = places(on: number, grid) { (cloud.east[$0], cloud.north[$0]) }
      field.open(columns: places.columns, rows: places.rows, of: grid)
      field.addUnlisted(but: listed, floor: radio, content)
      for place in places.all { sums[place.index] += field.value(column: place.column, row: place.row) }
    }
  }

  /// The particles of a floor as cells of its grid, and the window that holds them.
  private struct Places {
    var all: [(index: Int, column: Float, row: Float)]
    var columns: ClosedRange<Int>
    var rows: ClosedRange<Int>
  }

  /// Where the particles of a floor lie in its grid.
  ///
  /// - Parameters:
  ///   - number: the floor.
  ///   - grid: its grid.
  ///   - place: the place that is asked for, of the particle of an index.
  /// - Returns: the places, counted in cells from the middle of the grid's first one, and a window around them.
  @inline(__always)
  private func places(
    on number: Int,
    _ grid: RadioGrid,
    _ place: (_ index: Int) -> (east: Float, north: Float)
  ) -> Places {
    let (west, south, perMeter) = (Float(grid.corner.x), Float(grid.corner.y), 1 / grid.cell)
    var all: [(index: Int, column: Float, row: Float)] = []
    all.reserveCapacity(cloud.count)
    var low: (column: Float, row: Float) = (.infinity, .infinity)
    var high: (column: Float, row: Float) = (-.infinity, -.infinity)
    for index in 0..<cloud.count where Int(cloud.floor[index]) == number {
      let (east, north) = place(index)
      let column = (east - west) * perMeter - 0.5
      let row = (north - south) * perMeter - 0.5
      all.append((index, column, row))
      low = (min(low.column, column), min(low.row, row))
      high = (max(high.column, column), max(high.row, row))
    }
    return Places(
      all: all,
      columns: Locator.cells(low.column, high.column, of: grid.columns),
      rows: Locator.cells(low.row, high.row, of: grid.rows)
    )
  }

  /// The cells around an interval, held within a grid.
  private static func cells(_ low: Float, _ high: Float, of count: Int) -> ClosedRange<Int> {
    let first = Int(min(max(low.rounded(.down), 0), Float(count - 1)))
    let last = Int(min(max(high.rounded(.up), 0), Float(count - 1)))
    return first...max(first, last)
  }

  /// Learns from how the readings compare with what is expected at the middle of the belief.
  private mutating func learn(at time: Timestamp) {
    guard let middle = middle(), let radio = content.floors[middle.floor].radio else { return }
    learnMisfit(at: middle.point, radio, time)
    if middle.spread < Locator.offsetSpread { learnOffset(at: middle.point, radio) }
  }

  /// How wide the belief may be for its middle to tell an offset.
  ///
  /// - Units: metres. Levels change by 0.7 dB a metre.
  private static let offsetSpread: Float = 4
  /// The fewest readings of a look that tell anything of it as a whole.
  private static let fewestTelling = 3
  /// The most that one reading adds to a misfit: three standard deviations.
  private static let mostMisfit: Float = 9

  private mutating func learnMisfit(at point: Point, _ floor: Int, _ time: Timestamp) {
    guard pool.count >= Locator.fewestTelling else { return }
    var sum: Float = 0
    for reading in pool {
      let expected =
        content.radio.prediction(of: reading.emitter, floor: floor, at: point)
        ?? (rules.unexpectedLevel, rules.unexpectedDeviation)
      let noise = content.radio.noises[Int(reading.emitter)]
      let stale = staleness(of: reading, at: time)
      let variance = expected.deviation * expected.deviation + noise * noise + stale * stale
      let rest = reading.level - offset.decibels - expected.level
      sum += min(Locator.mostMisfit, rest * rest / variance)
    }
    evidence.learn(misfit: sum / Float(pool.count))
  }

  /// Learns how much louder everything is than expected.
  private mutating func learnOffset(at point: Point, _ floor: Int) {
    var residuals: [Float] = []
    for reading in pool {
      guard
        let expected = content.radio.prediction(of: reading.emitter, floor: floor, at: point),
        expected.level > -88, expected.deviation < 8
      else { continue }
      residuals.append(reading.level - expected.level)
    }
    guard residuals.count >= Locator.fewestTelling else { return }
    residuals.sort()
    offset.learn(residuals[residuals.count / 2])
  }
}
