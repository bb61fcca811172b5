import PharosReports

/// What Bermuda keeps about one tag at one scanner: distances as they came, and as they were at each look.
///
/// - Source: `bermuda_advert.calculate_data` and `const.py`: reference power −55 dBm, attenuation 3, at most 10 readings
///   and 20 looks, 3 m/s. On arrival the reading counts as it is. Later one that retreats faster than 3 m/s from any
///   of the readings kept is replaced by the look before; one that approaches is always believed. The distance is the
///   mean over the looks, newest first, of the smallest so far, or the reading if that is smaller.
/// - Simplified: no offsets of scanners, and the reference power of the settings for every tag.
struct BermudaAdvert: Sendable {
  /// The level at one metre, in dBm.
  static let referencePower = -55.0
  /// How levels fall with distance.
  static let attenuation = 3.0

  private static let mostReadings = 10
  private static let mostLooks = 20
  /// Metres a second.
  private static let fastest = 3.0

  /// The smoothed distance in metres, or nil if there is none.
  private(set) var distance: Double?
  /// When the scanner heard the tag last.
  private(set) var lastHeard: Timestamp?

  private var waiting: (level: Double, time: Timestamp)?
  private var raw = 0.0
  /// Newest first.
  private var readings: [(distance: Double, time: Timestamp)] = []
  /// The distance at each look, newest first.
  private var looks: [Double] = []

  /// Whether the scanner ever heard the tag.
  var isKnown: Bool { lastHeard != nil || waiting != nil }

  /// Notes an advert for the next look.
  mutating func hear(level: Double, at time: Timestamp) { waiting = (level, time) }

  /// Takes the last advert since the look before, if there was one, and recomputes the distance.
  mutating func look(at now: Timestamp) {
    let isNew = waiting != nil
    if let heard = waiting {
      waiting = nil
      lastHeard = heard.time
      raw = BermudaAdvert.distance(level: heard.level)
      readings.insert((raw, heard.time), at: 0)
      if readings.count > BermudaAdvert.mostReadings { readings.removeLast() }
    }
    if distance == nil {
      guard isNew else { return }
      distance = raw
      looks.removeAll(keepingCapacity: true)
      looks.append(raw)
    } else if !isNew, let lastHeard, now - lastHeard > Bermuda.timeout {
      distance = nil
      looks.removeAll(keepingCapacity: true)
    } else {
      smooth()
    }
  }

  private mutating func smooth() {
    looks.insert(speed > BermudaAdvert.fastest ? looks.first ?? raw : raw, at: 0)
    if looks.count > BermudaAdvert.mostLooks { looks.removeLast() }
    var smallest = raw
    var sum = 0.0
    for look in looks {
      smallest = min(smallest, look)
      sum += smallest
    }
    distance = min(raw, sum / Double(looks.count))
  }

  /// How fast the newest reading retreats from the readings before, in metres a second; at most 0 if it approaches.
  private var speed: Double {
    guard let newest = readings.first, readings.count > 1 else { return 0 }
    var fastest = 0.0
    for (index, reading) in readings.enumerated().dropFirst() {
      let elapsed = (newest.time - reading.time).seconds
      guard elapsed > 0 else { continue }
      let speed = (newest.distance - reading.distance) / elapsed
      if index == 1, speed < 0 { return speed }
      fastest = max(fastest, speed)
    }
    return fastest
  }

  /// Whether this scanner takes the tag from another.
  func beats(_ incumbent: BermudaAdvert, inSameRoom: Bool) -> Bool {
    guard let mine = distance, let theirs = incumbent.distance else { return distance != nil }
    guard mine < theirs else { return false }
    let nearerBy = (theirs - mine) / ((theirs + mine) / 2)
    if inSameRoom, let myTime = lastHeard, let theirTime = incumbent.lastHeard,
      myTime > theirTime + .seconds(1)
    {
      return true
    }
    if looks.count > 3, let myWorst = looks.prefix(5).max(), let theirBest = incumbent.looks.prefix(5).min(),
      myWorst < theirBest, nearerBy > 0.15
    {
      return true
    }
    return nearerBy >= 0.30
  }

  /// The distance of a level by log-distance path loss, in metres.
  static func distance(
    level: Double,
    referencePower: Double = BermudaAdvert.referencePower,
    attenuation: Double = BermudaAdvert.attenuation
  ) -> Double {
    RadioMath.powerOfTen((referencePower - level) / (10 * attenuation))
  }
}
