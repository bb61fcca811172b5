import PharosFixes
import PharosModel
import PharosSpace

/// The readings of one emitter in the survey.
package struct EmitterReadings {
  /// One level at one place.
  package struct Reading {
    var x: Float
    var y: Float
    var level: Float
    var floor: Int32
    /// The number of the walk.
    var walk: Int32

    package init(x: Float, y: Float, level: Float, floor: Int32, walk: Int32) {
      self.x = x
      self.y = y
      self.level = level
      self.floor = floor
      self.walk = walk
    }
  }

  /// All readings, walk by walk.
  private(set) var readings: [Reading] = []
  /// The centre frequency in MHz that it was heard at last, or 0.
  private(set) var frequency: UInt16 = 0

  package init() {}

  /// The most readings kept: a mall's survey has 5,000 of its loudest.
  static let capacity = 200_000

  /// Takes one reading.
  package mutating func add(_ reading: Reading, frequency: UInt16 = 0) {
    guard readings.count < EmitterReadings.capacity else { return }
    readings.append(reading)
    if frequency != 0 { self.frequency = frequency }
  }

  /// Takes the readings of another name of the same emitter.
  mutating func add(_ other: EmitterReadings) {
    for reading in other.readings { add(reading, frequency: other.frequency) }
  }

  /// The readings of a floor pooled over squares, the side doubled until there are few enough.
  ///
  /// - Parameters:
  ///   - floor: the floor's place.
  ///   - rules: the side, the noises and the limit.
  /// - Returns: the pools, row by row.
  func pools(on floor: Int, rules: SurveyRules) -> [LevelPool] {
    let here = readings.filter { $0.floor == Int32(floor) }
    var side = rules.pool
    while true {
      let pools = LevelPool.pools(of: here, side: side, rules: rules)
      guard pools.count > rules.maximumPools else { return pools }
      side *= 1.4
    }
  }
}

/// The readings of one emitter within one square of a floor.
struct LevelPool {
  /// The middle of the readings' places.
  var x: Float
  var y: Float
  /// The mean level in dBm.
  var level: Float
  /// The number of readings.
  var count: Int
  /// The number of walks that they come from.
  var walks: Int
  /// The sum of the squares of the levels about their mean, in dB².
  var scatter: Float

  /// Returns the variance of a pool's mean in dB².
  func variance(_ rules: SurveyRules) -> Float {
    rules.poolNoise * rules.poolNoise / Float(walks)
      + rules.readingNoise * rules.readingNoise / Float(count)
  }

  /// Pools readings over squares of a side in metres.
  static func pools(
    of readings: [EmitterReadings.Reading],
    side: Float,
    rules: SurveyRules
  ) -> [LevelPool] {
    let keyed = readings.map { reading in
      (key: SquareKey(reading.x, reading.y, side: side), reading: reading)
    }
    .sorted { ($0.key, $0.reading.walk) < ($1.key, $1.reading.walk) }
    var pools: [LevelPool] = []
    var start = 0
    while start < keyed.count {
      var end = start
      while end < keyed.count, keyed[end].key == keyed[start].key { end += 1 }
      pools.append(LevelPool(keyed[start..<end].map(\.reading)))
      start = end
    }
    return pools
  }

  private init(_ readings: [EmitterReadings.Reading]) {
    let number = Float(readings.count)
    x = readings.reduce(0) { $0 + $1.x } / number
    y = readings.reduce(0) { $0 + $1.y } / number
    let mean = readings.reduce(0) { $0 + $1.level } / number
    level = mean
    count = readings.count
    walks = 1 + zip(readings, readings.dropFirst()).count { $0.0.walk != $0.1.walk }
    scatter = readings.reduce(0) { $0 + ($1.level - mean) * ($1.level - mean) }
  }
}

/// The square of a floor in which a place lies.
struct SquareKey: Hashable, Comparable {
  let row: Int32
  let column: Int32

  init(_ x: Float, _ y: Float, side: Float) {
    row = SquareKey.number(y / side)
    column = SquareKey.number(x / side)
  }

  private static func number(_ value: Float) -> Int32 {
    Int32(min(1e9, max(-1e9, value.rounded(.down))))
  }

  static func < (left: SquareKey, right: SquareKey) -> Bool {
    (left.row, left.column) < (right.row, right.column)
  }
}

/// A classification of emitters into those that stay at one place and those that move or were met once.
struct EmitterCensus {
  /// The emitters that stay, in ascending order.
  private(set) var kept: [(emitter: Emitter, readings: EmitterReadings)] = []
  /// The numbers of emitters that were left out, by reason.
  private(set) var leftOut: [SurveyReport.Reason: Int] = [:]

  /// The range of levels below its strongest within which an emitter's readings indicate its position.
  ///
  /// - Units: dB.
  static let strongSpan: Float = 10
  /// The maximum distance between such readings of one beacon.
  ///
  /// - Units: metres. Of 67 identities on the surveyed malls 60 stay within 57 m. The others, of several beacons or of
  ///   phones, spread over 63 to 225 m.
  static let strongSpread: Float = 60
  /// The maximum distance from such a reading at which another walk is a witness.
  ///
  /// - Units: metres.
  static let witnessReach: Float = 3
  /// The share of the witnesses that must have heard it too.
  ///
  /// Fixed access points were heard by nine of ten, phones by hardly any but the first.
  static let witnessShare = 0.3
  /// The fewest witnesses that settle the matter.
  static let minimumWitnesses = 3
  /// The maximum distance between the loud readings of a stationary emitter.
  ///
  /// - Units: metres. At −70 dBm a radio of 20 dBm is within 40 m even along a corridor.
  static let loudSpread: Float = 90
  /// The level from which on a reading is loud.
  ///
  /// - Units: dBm.
  static let loudLevel: Float = -68

  /// Classifies all emitters, given the identities that several beacons share.
  init(
    _ found: [Emitter: EmitterReadings],
    shared: Set<BeaconID>,
    floors: [FloorSurvey],
    rules: SurveyRules
  ) {
    let witnesses = floors.map { WitnessGrid($0) }
    let merged = EmitterCensus.merged(found, shared, witnesses, rules)
    for (emitter, readings) in merged.sorted(by: { $0.key < $1.key }) {
      if let reason = EmitterCensus.reason(emitter, readings, witnesses, rules) {
        leftOut[reason, default: 0] += 1
      } else if kept.count >= rules.maximumEmitters {
        leftOut[.tooMany, default: 0] += 1
      } else {
        kept.append((emitter, readings))
      }
    }
  }

  /// Returns the same emitters, where a beacon that appears under several addresses is merged under its identity
  /// alone.
  ///
  /// An address distinguishes several beacons of one identity. If there is only one, the address has no use. If that
  /// beacon changes its address, each address would be another beacon, and unknown when the next walk meets it: on the
  /// surveyed malls 29 of 67 identities were heard in one place under two to seven addresses.
  private static func merged(
    _ found: [Emitter: EmitterReadings],
    _ shared: Set<BeaconID>,
    _ witnesses: [WitnessGrid],
    _ rules: SurveyRules
  ) -> [Emitter: EmitterReadings] {
    var names: [BeaconID: [Emitter]] = [:]
    for emitter in found.keys.sorted() {
      guard case .beacon(let beacon) = emitter, beacon.kind != .address,
        !shared.contains(beacon.unkeyed)
      else { continue }
      names[beacon.unkeyed, default: []].append(emitter)
    }
    var merged = found
    for (identity, names) in names {
      var all = EmitterReadings()
      for name in names { all.add(found[name] ?? EmitterReadings()) }
      let emitter = Emitter.beacon(identity)
      guard isInOnePlace(all), reason(emitter, all, witnesses, rules) == nil else { continue }
      for name in names { merged[name] = nil }
      merged[emitter] = all
    }
    return merged
  }

  /// Returns whether there is no evidence that readings come from more than one place.
  private static func isInOnePlace(_ readings: EmitterReadings) -> Bool {
    let strongest = readings.readings.map(\.level).max() ?? 0
    let strong = readings.readings.filter { $0.level >= strongest - strongSpan }
    return spread(of: strong) <= strongSpread
  }

  /// Returns the extent of readings, from west to east or from south to north, whichever is larger.
  private static func spread(of readings: [EmitterReadings.Reading]) -> Float {
    guard let west = readings.map(\.x).min(), let east = readings.map(\.x).max(),
      let south = readings.map(\.y).min(), let north = readings.map(\.y).max()
    else { return 0 }
    return max(east - west, north - south)
  }

  /// Returns the reason to leave out an emitter; nil if it is kept.
  private static func reason(
    _ emitter: Emitter,
    _ readings: EmitterReadings,
    _ witnesses: [WitnessGrid],
    _ rules: SurveyRules
  ) -> SurveyReport.Reason? {
    let all = readings.readings
    guard all.count >= rules.minimumReadings, let strongest = all.map(\.level).max() else { return .tooFew }
    let loud = all.filter { $0.level >= loudLevel }
    for floor in Set(loud.map(\.floor)).sorted() {
      if spread(of: loud.filter { $0.floor == floor }) > loudSpread { return .moving }
    }
    let strong = all.filter { $0.level >= strongest - strongSpan }
    var near: Set<Int32> = []
    for reading in strong { witnesses[Int(reading.floor)].record(reading.x, reading.y, into: &near) }
    let hearers = Set(all.map(\.walk))
    near.formUnion(strong.map(\.walk))
    let agreeing = near.count { hearers.contains($0) }
    if near.count >= minimumWitnesses, Double(agreeing) < witnessShare * Double(near.count) {
      return hearers.count == 1 ? .fleeting : .moving
    }
    return nil
  }
}

/// An index of the walks that came through each square of a floor, for a fast search of witnesses.
struct WitnessGrid {
  private var walks: [SquareKey: [Int32]] = [:]

  /// Sorts a floor's scans and listenings into squares.
  init(_ floor: FloorSurvey) {
    for place in floor.scans + floor.listenings {
      let key = SquareKey(place.x, place.y, side: EmitterCensus.witnessReach)
      if walks[key]?.last != place.walk { walks[key, default: []].append(place.walk) }
    }
  }

  /// Adds the walks that came through the square of a place.
  func record(_ x: Float, _ y: Float, into found: inout Set<Int32>) {
    found.formUnion(walks[SquareKey(x, y, side: EmitterCensus.witnessReach)] ?? [])
  }
}
