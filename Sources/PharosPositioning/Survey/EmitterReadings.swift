import PharosPlaces
import PharosReports

/// What the survey heard of one emitter.
package struct EmitterReadings {
  /// One level at one place.
  package struct Reading {
    var x: Float
    var y: Float
    var level: Float
    var floor: Int32
    /// Which walk.
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
  static let most = 200_000

  /// Takes one reading.
  package mutating func add(_ reading: Reading, frequency: UInt16 = 0) {
    guard readings.count < EmitterReadings.most else { return }
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
      guard pools.count > rules.mostPools else { return pools }
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
  /// How many readings.
  var count: Int
  /// How many walks they come from.
  var walks: Int
  /// The sum of the squares of the levels about their mean, in dB².
  var scatter: Float

  /// What a pool's mean may be off, as a variance in dB².
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

/// Which square of a floor a place lies in.
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
