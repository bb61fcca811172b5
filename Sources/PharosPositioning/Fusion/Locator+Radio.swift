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
    thin()
    remember(at: time)
    if isYoung(at: time) { return grow(at: time) }
    let worths = Locator.worths(of: pool, content, rules)
    let turned = cloud.bias.map { Bearing.eastAndNorth($0) }
    var field = RadioField()
    var weights = cloud.weight
    for bunch in bunches(of: pool, apart: Locator.bunchWay, at: time) {
      let terms = terms(pool, bunch.readings, worths, louder: offset.decibels, at: time)
      add(terms, way: bunch.way, turned: turned, to: &weights, &field)
    }
    cloud.weight = weights
    learnOffset(at: time)
    audit(at: time)
    cloud.resample(&noise)
  }

  /// Leaves the loudest readings of a crowded look: faint ones say little, and cost as much.
  private mutating func thin() {
    guard pool.count > rules.mostReadings else { return }
    pool.sort { ($0.level, $1.emitter) > ($1.level, $0.emitter) }
    pool.removeLast(pool.count - rules.mostReadings)
    pool.sort { ($0.heard, $0.emitter) < ($1.heard, $1.emitter) }
  }

  /// Keeps the readings of the last seconds for looks at all places.
  private mutating func remember(at time: Timestamp) {
    if !isYoung(at: time) { recent.removeAll { time - $0.heard > rules.memory } }
    recent.append(contentsOf: pool)
    recent.sort { ($0.heard, $0.emitter) < ($1.heard, $1.emitter) }
    if recent.count > Locator.mostRecent { recent.removeFirst(recent.count - Locator.mostRecent) }
  }

  /// How many readings are kept for looks at all places.
  static let mostRecent = 320

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

  /// How much each of some readings counts.
  ///
  /// Radios of one box err together, and so do all readings of a look: bodies stand in the way of many at once. The more there
  /// are, the less each one says.
  static func worths(
    of readings: [RadioReading],
    _ content: Ground.Content,
    _ rules: FusionRules
  ) -> [Float] {
    var members: [Int32: Float] = [:]
    for reading in readings where reading.kind == .accessPoint {
      members[content.radio.groups[Int(reading.emitter)], default: 0] += 1
    }
    var worths: [Float] = []
    worths.reserveCapacity(readings.count)
    var sum: Float = 0
    for reading in readings {
      let group = content.radio.groups[Int(reading.emitter)]
      let worth =
        reading.kind == .accessPoint ? share(of: members[group] ?? 1, rules) : rules.beaconShare
      worths.append(worth)
      if reading.kind == .accessPoint { sum += worth }
    }
    let factor = min(1, rules.mostWorth / (rules.halfWorth + sum))
    for index in worths.indices where readings[index].kind == .accessPoint { worths[index] *= factor }
    return worths
  }

  private static func share(of members: Float, _ rules: FusionRules) -> Float {
    Float(RadioMath.power(Double(members), -Double(rules.groupShare)))
  }

  /// Readings that were heard at about the same place, and the way that was walked since.
  struct Bunch {
    var readings: Range<Int>
    var way: (east: Float, north: Float)
  }

  /// Readings are taken together while the subject walked less than this.
  ///
  /// - Units: metres.
  private static let bunchWay: Float = 0.8

  /// Readings, in order of time, by where they were heard.
  func bunches(of readings: [RadioReading], apart limit: Float, at time: Timestamp) -> [Bunch] {
    var bunches: [Bunch] = []
    for index in readings.indices {
      let way = way(since: readings[index], at: time)
      if let last = bunches.last, (way.east - last.way.east).magnitude < limit,
        (way.north - last.way.north).magnitude < limit
      {
        bunches[bunches.count - 1].readings = last.readings.lowerBound..<index + 1
      } else {
        bunches.append(Bunch(readings: index..<index + 1, way: way))
      }
    }
    return bunches
  }

  /// The way from where a reading tells of to where the subject is now: backwards where it tells of what lies ahead.
  private func way(since reading: RadioReading, at time: Timestamp) -> (east: Float, north: Float) {
    let told = reading.heard + (reading.kind == .accessPoint ? rules.scanLead : rules.beaconLead)
    guard told > time else { return trail.way(since: told) }
    guard time - gait.step < .seconds(1.5) else { return (0, 0) }
    let ahead = -gait.speed * Float((told - time).seconds)
    return (ahead * gait.east, ahead * gait.north)
  }

  /// Readings made ready to be summed: their levels corrected, their noise grown with age.
  func terms(
    _ readings: [RadioReading],
    _ range: Range<Int>,
    _ worths: [Float],
    louder offset: Float,
    at time: Timestamp
  ) -> [RadioField.Term] {
    let rate = seesMotion(at: time) ? rules.staleNoise : rules.staleNoiseBlind
    return range.map { index in
      let reading = readings[index]
      let stale = rate * Float((time - reading.heard).seconds)
      let noise = content.radio.noises[Int(reading.emitter)] * rules.noiseFactor
      return RadioField.Term(
        emitter: reading.emitter,
        level: Int32(RadioMap.byte(level: reading.level - offset)),
        noise: Int32(LevelTable.number(ofNoise: (noise * noise + stale * stale).squareRoot())),
        worth: worths[index]
      )
    }
  }

  /// Adds for every particle what readings say of where it was when they were heard.
  func add(
    _ terms: [RadioField.Term],
    way: (east: Float, north: Float),
    turned: [(east: Float, north: Float)],
    to sums: inout [Float],
    _ field: inout RadioField
  ) {
    for (number, floor) in content.floors.enumerated() {
      guard let radio = floor.radio else { continue }
      let grid = content.radio.grids[radio]
      let (west, south, perMeter) = (Float(grid.corner.x), Float(grid.corner.y), 1 / grid.cell)
      var places: [(index: Int, column: Float, row: Float)] = []
      var low: (column: Float, row: Float) = (.infinity, .infinity)
      var high: (column: Float, row: Float) = (-.infinity, -.infinity)
      for index in 0..<cloud.count where Int(cloud.floor[index]) == number {
        let (sine, cosine) = turned[index]
        let scale = cloud.scale[index]
        let east = cloud.east[index] - (way.east * cosine + way.north * sine) * scale
        let north = cloud.north[index] - (way.north * cosine - way.east * sine) * scale
        let column = (east - west) * perMeter - 0.5
        let row = (north - south) * perMeter - 0.5
        places.append((index, column, row))
        low = (min(low.column, column), min(low.row, row))
        high = (max(high.column, column), max(high.row, row))
      }
      guard !places.isEmpty else { continue }
      field.sum(
        terms[...],
        floor: radio,
        columns: Locator.cells(low.column, high.column, of: grid.columns),
        rows: Locator.cells(low.row, high.row, of: grid.rows),
        content
      )
      for place in places { sums[place.index] += field.value(column: place.column, row: place.row) }
    }
  }

  /// The cells around an interval, held within a grid.
  private static func cells(_ low: Float, _ high: Float, of count: Int) -> ClosedRange<Int> {
    let first = Int(min(max(low.rounded(.down), 0), Float(count - 1)))
    let last = Int(min(max(high.rounded(.up), 0), Float(count - 1)))
    return first...max(first, last)
  }

  /// Learns how much louder everything is than expected at the middle of the belief.
  private mutating func learnOffset(at time: Timestamp) {
    guard let middle = middle(), let radio = content.floors[middle.floor].radio, middle.spread < 4
    else { return }
    var residuals: [Float] = []
    for reading in pool {
      guard
        let expected = content.radio.prediction(of: reading.emitter, floor: radio, at: middle.point),
        expected.level > -88, expected.deviation < 8
      else { continue }
      residuals.append(reading.level - expected.level)
    }
    guard residuals.count >= 3 else { return }
    residuals.sort()
    offset.learn(residuals[residuals.count / 2])
  }
}
