package import PharosDocuments
package import PharosModel
import PharosSpace

extension Locator {
  /// Weighs the readings whose time has come.
  mutating func weigh(at time: Timestamp) {
    drift(to: time)
    guard !pool.isEmpty else { return }
    defer { pool = [] }
    pool.sort { ($0.heard, $0.emitter) < ($1.heard, $1.emitter) }
    record(pool)
    sky.receive(pool, at: time)
    // Where satellites lead, what is heard of the house says only how near it is.
    guard !sky.leads(at: time) else { return }
    let isScan = isScan(pool, at: time)
    if isScan { evidence.recordScan(at: time) }
    // Beacons alone ask for it only where all places are compared.
    let needsListed = isScan || isYoung(at: time) || time - evidence.audited >= rules.auditInterval
    let listed = needsListed ? listed(at: time) : nil
    thin(at: time)
    remember(at: time)
    if isYoung(at: time) { return grow(listed, at: time) }
    let worths = worths(of: pool, at: time)
    if carriage.leads { align() }
    let turned = carried.turns.map { Bearing.eastAndNorth($0) }
    var field = RadioField<LookEvidence>()
    var look = [LookEvidence](repeating: .none, count: cloud.count)
    for bunch in bunches(of: pool, apart: Locator.bunchWay, at: time) {
      let terms = terms(pool, bunch.readings, worths, louder: offset.decibels, at: time)
      add(terms, way: bunch.way, turned: turned, to: &look, &field)
    }
    let variance = offset.variance(ofLook: rules.lookDeviation)
    var weights = cloud.weight
    for index in weights.indices { weights[index] += look[index].marginal(variance, about: offset.mean) }
    if isScan, let listed { addUnlisted(but: listed, to: &weights) }
    cloud.weight = weights
    learn(at: time)
    audit(listed, at: time)
    cloud.resample(rules, on: content.floors, &noise)
  }

  /// Returns whether some readings are a scan: enough access points that were just heard.
  private func isScan(_ readings: [RadioReading], at time: Timestamp) -> Bool {
    readings.count { $0.kind == .accessPoint && time - $0.heard < Locator.scanTime } >= rules.minimumListed
  }

  /// The time before the end of a scan within which its first access points were heard.
  private static let scanTime = TimeSpan.seconds(6)

  /// Returns the emitters that were heard lately; nil if there was no scan.
  private func listed(at time: Timestamp) -> [Int32]? {
    let since = time - rules.listedMemory
    return evidence.scanned > since ? heard.emitters(since: since) : nil
  }

  /// Keeps the loudest readings of a crowded look: faint and old ones contain little evidence, and cost as much.
  private mutating func thin(at time: Timestamp) {
    let maximum = Int(Float(rules.maximumReadings) * evidence.scanWeight)
    guard pool.count > maximum else { return }
    pool = pool.map { (clear: $0.level - staleness(of: $0, at: time), reading: $0) }
      .sorted { ($0.clear, $1.reading.emitter) > ($1.clear, $0.reading.emitter) }
      .prefix(maximum).map(\.reading)
    pool.sort { ($0.heard, $0.emitter) < ($1.heard, $1.emitter) }
  }

  /// Keeps the readings of the last seconds for looks at all places.
  private mutating func remember(at time: Timestamp) {
    if !isYoung(at: time) { recent.removeAll { time - $0.heard > rules.memory } }
    recent.append(contentsOf: pool)
    recent.sort { ($0.heard, $0.emitter) < ($1.heard, $1.emitter) }
    if recent.count > Locator.maximumRecent { recent.removeFirst(recent.count - Locator.maximumRecent) }
  }

  /// The maximum number of readings that are kept for looks at all places: the weighed readings of four scans.
  static let maximumRecent = 160

  private mutating func record(_ readings: [RadioReading]) {
    for reading in readings {
      evidence.newest = max(evidence.newest, reading.heard)
      switch reading.kind {
      case .accessPoint: evidence.sources.insert(.wifi)
      case .beacon: evidence.sources.insert(.beacons)
      case .observer: evidence.sources.insert(.observers)
      }
    }
  }

  /// Adds for every particle the evidence of readings for its place at the time when they were heard.
  func add<Cell: CellEvidence>(
    _ terms: [RadioTerm],
    way: (east: Float, north: Float),
    turned: [(east: Float, north: Float)],
    to sums: inout [Cell],
    _ field: inout RadioField<Cell>
  ) {
    let scales = carried.scales
    for number in cloud.floors() {
      guard let radio = content.floors[number].radio else { continue }
      let grid = content.radio.grids[radio]
      let places = places(on: number, grid) { index in
        let (sine, cosine) = turned[index]
        let scale = scales[index]
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

  /// Adds for every particle the evidence of what a scan does not list.
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

  /// Returns the positions of the particles of a floor in its grid.
  ///
  /// - Parameters:
  ///   - number: the floor.
  ///   - grid: its grid.
  ///   - place: a function that returns the place to use for the particle of an index.
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

  /// Learns from the differences between the readings and the levels expected at the middle of the belief.
  private mutating func learn(at time: Timestamp) {
    guard let middle = middle(), let radio = content.floors[middle.floor].radio else { return }
    learnMisfit(at: middle.point, radio, time)
    if offset.isOpen || middle.spread < Locator.offsetSpread { learnOffset(at: middle.point, radio) }
  }

  /// The spread of the belief below which its middle is used to learn an offset.
  ///
  /// - Units: metres. Levels change by 0.7 dB a metre.
  private static let offsetSpread: Float = 4
  /// The minimum number of readings of a look from which its misfit or offset is learned.
  private static let minimumLearnedReadings = 3
  /// The maximum contribution of one reading to a misfit: three standard deviations, squared.
  private static let maximumMisfit: Float = 9

  private mutating func learnMisfit(at point: Point, _ floor: Int, _ time: Timestamp) {
    guard pool.count >= Locator.minimumLearnedReadings else { return }
    var sum: Float = 0
    for reading in pool {
      let expected =
        content.radio.prediction(of: reading.emitter, floor: floor, at: point)
        ?? (rules.unexpectedLevel, rules.unexpectedDeviation)
      let noise = content.radio.noises[Int(reading.emitter)]
      let stale = staleness(of: reading, at: time)
      let variance = expected.deviation * expected.deviation + noise * noise + stale * stale
      let rest = reading.level - offset.decibels - expected.level
      sum += min(Locator.maximumMisfit, rest * rest / variance)
    }
    evidence.learn(misfit: sum / Float(pool.count))
  }

  /// Learns the offset by which all readings are louder than expected.
  private mutating func learnOffset(at point: Point, _ floor: Int) {
    if let residual = medianResidual(at: point, floor) { offset.learn(residual) }
  }

  /// Returns the median difference between the readings of a look and the levels expected at a place; nil if too few
  /// are expected there.
  private func medianResidual(at point: Point, _ floor: Int) -> Float? {
    var residuals: [Float] = []
    for reading in pool {
      guard
        let expected = content.radio.prediction(of: reading.emitter, floor: floor, at: point),
        expected.level > -88, expected.deviation < 8
      else { continue }
      residuals.append(reading.level - expected.level)
    }
    guard residuals.count >= Locator.minimumLearnedReadings else { return nil }
    residuals.sort()
    return residuals[residuals.count / 2]
  }
}

extension Locator {
  /// Returns the weight of each of some readings.
  ///
  /// Radios of one box err together, and so do all readings of a look, because bodies stand in the way of many at
  /// once. So the more readings there are, the less each one counts.
  func worths(of readings: [RadioReading], at time: Timestamp) -> [Float] {
    var members: [Int32: Float] = [:]
    var repeats: [Int32: Float] = [:]
    for reading in readings {
      switch reading.kind {
      case .accessPoint: members[content.radio.groups[Int(reading.emitter)], default: 0] += 1
      case .observer: repeats[reading.emitter, default: 0] += 1
      case .beacon: break
      }
    }
    var worths: [Float] = []
    worths.reserveCapacity(readings.count)
    var sum: Float = 0
    for reading in readings {
      let group = content.radio.groups[Int(reading.emitter)]
      guard reading.kind == .accessPoint else {
        // What an observer hears of a tag in successive seconds errs together, by the same walls and the same body.
        let isObserver = reading.kind == .observer
        worths.append(isObserver ? 1 / (repeats[reading.emitter] ?? 1) : rules.beaconShare)
        continue
      }
      // Old readings err together by the way since: many of them say as much as few, and take nothing from new ones.
      let (stale, noise) = (staleness(of: reading, at: time), Locator.freshNoise)
      let newness = noise * noise / (noise * noise + stale * stale)
      let worth = Locator.share(of: members[group] ?? 1, rules) * newness
      worths.append(worth)
      sum += worth
    }
    let factor = min(1, rules.maximumWorth * evidence.scanWeight / (rules.halfWorth + sum))
    for index in worths.indices where readings[index].kind == .accessPoint { worths[index] *= factor }
    return worths
  }

  /// Returns the evidence of each reading for a place from the fact that its emitter was heard at all; nil if scans
  /// give better evidence.
  ///
  /// Only the first reading of each beacon has this evidence, because further ones add little.
  package func surprises(of readings: [RadioReading]) -> [Float]? {
    let beacons = Set(readings.lazy.filter { $0.kind == .beacon }.map(\.emitter))
    guard !beacons.isEmpty, !readings.contains(where: { $0.kind == .accessPoint }) else { return nil }
    let surprise = min(rules.beaconSurprise, rules.maximumBeaconSurprise / Float(beacons.count))
    var met: Set<Int32> = []
    return readings.map { reading in
      reading.kind == .beacon && met.insert(reading.emitter).inserted ? surprise : 0
    }
  }

  /// Returns the noise that a reading's age adds to it.
  ///
  /// A walk's first scans list what was heard up to 30 s before it, and no steps show where that was.
  ///
  /// - Units: dB.
  func staleness(of reading: RadioReading, at time: Timestamp) -> Float {
    let seen = seesMotion(at: time) ? min(time, max(reading.heard, gait.seenSince)) : time
    return rules.staleNoise * Float((time - seen).seconds)
      + rules.staleNoiseBlind * Float((seen - reading.heard).seconds)
  }

  /// The scatter of a reading that has just been heard.
  ///
  /// - Units: dB. The combination of `SurveyRules.readingNoise` and the map's deviation.
  private static let freshNoise: Float = 6

  private static func share(of members: Float, _ rules: FusionRules) -> Float {
    Float(RadioMath.power(Double(members), -Double(rules.groupShare)))
  }

  /// Readings that were heard at about the same place, and the way that was walked since.
  struct Bunch {
    var readings: Range<Int>
    var way: (east: Float, north: Float)
  }

  /// The walked distance within which readings are taken together.
  ///
  /// - Units: metres.
  static let bunchWay: Float = 0.8

  /// Returns readings, which are in order of time, grouped by the place where they were heard.
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

  /// Returns the way from the place that a reading belongs to, to the place of the subject now; backwards if the
  /// reading belongs to a place ahead.
  private func way(since reading: RadioReading, at time: Timestamp) -> (east: Float, north: Float) {
    let reported = reading.heard + (reading.kind == .accessPoint ? rules.scanLead : rules.beaconLead)
    guard reported > time else { return trail.way(since: reported) }
    guard time - gait.step < .seconds(1.5) else { return (0, 0) }
    let ahead = -gait.speed * Float((reported - time).seconds)
    return (ahead * gait.east, ahead * gait.north)
  }

  /// Returns readings prepared for summing: their levels corrected, their noise increased with age.
  func terms(
    _ readings: [RadioReading],
    _ range: Range<Int>,
    _ worths: [Float],
    surprises: [Float]? = nil,
    louder offset: Float,
    at time: Timestamp
  ) -> [RadioTerm] {
    range.map { index in
      let reading = readings[index]
      let stale = staleness(of: reading, at: time)
      let noise = content.radio.noises[Int(reading.emitter)]
      return RadioTerm(
        emitter: reading.emitter,
        level: Int32(RadioMap.byte(level: reading.level - offset)),
        noise: Int32(LevelTable.number(ofNoise: (noise * noise + stale * stale).squareRoot())),
        worth: worths[index],
        surprise: surprises?[index] ?? 0
      )
    }
  }
}

/// A level that waits to be weighed.
package struct RadioReading: Sendable, Hashable {
  /// The time at which the emitter was really heard.
  var heard: Timestamp
  /// The level in dBm, before any offset.
  var level: Float
  /// The emitter, and in the two upper bits the kind: hundreds of readings are kept for each subject.
  private var code: UInt32

  /// The kind of evidence of a reading.
  package enum Kind: UInt32, Sendable {
    case accessPoint, beacon, observer
  }

  /// Makes a reading.
  package init(heard: Timestamp, emitter: Int32, level: Float, kind: Kind) {
    self.heard = heard
    self.level = level
    code = UInt32(bitPattern: emitter) & 0x3FFF_FFFF | kind.rawValue << 30
  }

  /// The emitter, as its place in the radio map.
  var emitter: Int32 { Int32(bitPattern: code & 0x3FFF_FFFF) }
  /// The kind of evidence.
  var kind: Kind { Kind(rawValue: code >> 30) ?? .accessPoint }
}

/// The time at which each emitter was last heard, so that a scan's repeated entries are not counted again.
///
/// - Shape: open addressing in 1,024 places of 12 bytes. When it is three quarters full, the older half is removed.
struct LastHeardTable: Sendable, Hashable {
  private static let places = 1_024
  private static let capacity = 768

  private var emitters: [Int32] = []
  private var times: [Int64] = []
  private var count = 0

  /// The number of bytes that it takes.
  var bytes: Int { emitters.count * 12 }

  /// Records that an emitter was heard.
  ///
  /// - Returns: `true` if that is new: later than the last time of the emitter by more than a millisecond, the
  ///   resolution of some platforms' clocks.
  mutating func record(_ emitter: Int32, at time: Timestamp) -> Bool {
    if emitters.isEmpty {
      emitters = [Int32](repeating: -1, count: LastHeardTable.places)
      times = [Int64](repeating: 0, count: LastHeardTable.places)
    }
    var place = Int((UInt32(bitPattern: emitter) &* 2_654_435_769) >> 22)
    while emitters[place] >= 0, emitters[place] != emitter {
      place = (place + 1) & (LastHeardTable.places - 1)
    }
    if emitters[place] == emitter {
      guard time.nanoseconds > times[place] + 1_000_000 else { return false }
      times[place] = time.nanoseconds
      return true
    }
    emitters[place] = emitter
    times[place] = time.nanoseconds
    count += 1
    if count > LastHeardTable.capacity { shrink() }
    return true
  }

  /// Returns the emitters that were heard after a time.
  func emitters(since time: Timestamp) -> [Int32] {
    emitters.indices.compactMap { place in
      emitters[place] >= 0 && times[place] > time.nanoseconds ? emitters[place] : nil
    }
  }

  /// Removes the older half.
  private mutating func shrink() {
    let kept = zip(emitters, times).filter { $0.0 >= 0 }.sorted { ($0.1, $0.0) > ($1.1, $1.0) }
    emitters = []
    count = 0
    for (emitter, time) in kept.prefix(LastHeardTable.capacity / 2) {
      _ = record(emitter, at: Timestamp(nanoseconds: time))
    }
  }
}

/// The offset by which the subject's receiver hears louder than the survey's, or a tag sends louder: one number for
/// all levels.
///
/// That of a receiver is learned slowly. That of a tag stays open in every look, whatever was heard before: tags are
/// worn, turned and covered, and what was learned at a wrong place would keep the belief there.
package struct LevelOffset: Sendable, Hashable {
  /// The value that is subtracted from every level.
  ///
  /// - Units: dB.
  private(set) var decibels: Float = 0
  /// The uncertainty of that in dB².
  private var variance: Float
  /// Indicates whether the offset is open in every look.
  private(set) var isOpen = false

  /// The uncertainty of one look: its readings err together by the subject's body, the crowd, and an error of the place.
  ///
  /// - Units: dB².
  private static let lookVariance: Float = 36
  /// The rate at which the offset may change: a phone goes into a pocket.
  ///
  /// - Units: dB² a look.
  private static let wander: Float = 0.02

  /// The share of the last look in the offset about which the likelihood of a tag's next look is expanded.
  private static let following: Float = 0.3

  /// Returns an offset, clamped to what devices have.
  private func held(_ decibels: Float) -> Float { min(25, max(-25, decibels)) }

  /// Starts with no offset.
  init(deviation: Float) { variance = deviation * deviation }

  /// Leaves the offset open from now on, for the subject is a tag.
  ///
  /// - Parameter deviation: the deviation of tags.
  mutating func leaveOpen(deviation: Float) {
    isOpen = true
    variance = deviation * deviation
  }

  /// The mean of the common level of a look, counted from ``decibels``, about which its likelihood is expanded.
  var mean: Float { isOpen ? -decibels : 0 }

  /// Returns the variance of the common level of a look that is to be averaged over.
  ///
  /// - Parameter deviation: the deviation of a look from the usual level of its subject.
  /// - Returns: the variance in dB².
  func variance(ofLook deviation: Float) -> Float { deviation * deviation + (isOpen ? variance : 0) }

  /// Offsets to try while nothing was learned: zero, and one standard deviation either way, with the logarithms of
  /// their probabilities.
  package var trials: [(decibels: Float, prior: Float)] {
    guard variance > 0.25, !isOpen else { return [(decibels, 0)] }
    let deviation = variance.squareRoot()
    return [(-deviation, -0.5), (0, 0), (deviation, -0.5)]
  }

  /// Sets the result of the trials.
  ///
  /// Later looks determine its certainty.
  mutating func guess(_ decibels: Float) { self.decibels = decibels }

  /// Learns from the median difference between readings and the levels expected at the subject's estimated place.
  mutating func learn(_ residual: Float) {
    guard residual.isFinite else { return }
    guard !isOpen else { return decibels += LevelOffset.following * (held(residual) - decibels) }
    let variance = self.variance + LevelOffset.wander
    let gain = variance / (variance + LevelOffset.lookVariance)
    decibels = held(decibels + gain * (residual - decibels))
    self.variance = variance * (1 - gain)
  }
}

extension LevelOffset {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&decibels)
    try coder.code(&variance)
    try coder.code(&isOpen)
  }
}

extension RadioReading: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(
    _ value: () -> Self,
    by coder: inout C
  ) throws(C.Failure) -> Self {
    let heard = try coder.field(value().heard)
    let level = try coder.field(value().level)
    var reading = RadioReading(heard: heard, emitter: 0, level: level, kind: .beacon)
    reading.code = try coder.field(value().code)
    return reading
  }
}

extension LastHeardTable {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&emitters)
    try coder.code(&times)
    count = emitters.count { $0 >= 0 }
    try coder.check(emitters.isEmpty || emitters.count == LastHeardTable.places, "emitters")
    try coder.check(times.count == emitters.count && count <= LastHeardTable.capacity, "emitters")
  }
}
