package import PharosModel

/// Bermuda for Home Assistant: looked at every 1.05 s, the nearest area wins if it passes one of two tests.
///
/// A challenger must be nearer than the incumbent. It wins if its five last distances are all below all of the
/// incumbent's and it is more than 15 % nearer, or else if it is 30 % nearer now. The two tests are a margin without a
/// dwell: noise that swings by a third still moves a tag.
///
/// - Source: `const.py` (loop 1.05 s, distance time-out 30 s, an advert counts towards the area for 10 s, radius 20 m),
///   `coordinator._refresh_area_by_min_distance` (the two tests; percentages of the mean of both distances; in the same
///   area an advert that is more than 1 s newer wins); home until 30 s after the last advert.
/// - Simplified: every scanner stamps its adverts; areas have one floor, as upstream has; looks are counted from the
///   first advert.
package struct Bermuda: Comparator {
  /// The name that tables show.
  package let name: String

  /// The period of the rule's looks.
  package static let loop = TimeSpan.milliseconds(1_050)
  /// The silence after which a distance, and being home, ends.
  package static let timeout = TimeSpan.seconds(30)
  /// The maximum age of a challenger's advert.
  package static let oldestChallenge = TimeSpan.seconds(10)
  /// The maximum distance of a scanner that counts.
  ///
  /// - Units: metres.
  package static let radius = 20.0

  private let observers: [ComparatorObserver]?
  private var presence = SilenceTimeout(
    span: Bermuda.timeout,
    scope: .site,
    period: Bermuda.loop,
    enterDelay: .nextLook
  )
  private var grid = ScanGrid(period: Bermuda.loop)
  private var nextLook = Timestamp.distantFuture
  private var beacons: [Beacon] = []
  private var active: [Int32] = []

  /// Makes the rule; with observers it decides rooms as well.
  package init(observers: [ComparatorObserver]? = nil) {
    self.observers = observers
    name = observers == nil ? "Bermuda 30 s" : "Bermuda areas"
  }

  /// Takes an advert; of those between two looks the last one counts.
  package mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    advance(to: sighting.time - .oneNanosecond, into: &verdicts)
    presence.heard(sighting, into: &verdicts)
    guard let observers, observers.indices.contains(Int(sighting.observer)) else { return }
    grid.begin(at: sighting.time)
    let beacon = Int(sighting.beacon)
    while beacons.count <= beacon { beacons.append(Beacon(observers: observers.count)) }
    if !beacons[beacon].isActive {
      beacons[beacon].isActive = true
      active.append(sighting.beacon)
    }
    if nextLook == .distantFuture { nextLook = grid.first(from: sighting.time) }
    beacons[beacon].adverts[Int(sighting.observer)].receive(level: sighting.level, at: sighting.time)
  }

  /// Lets time pass.
  package mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    let start = verdicts.count
    presence.advance(to: time, into: &verdicts)
    while nextLook <= time {
      look(at: nextLook, into: &verdicts)
      nextLook = active.isEmpty ? .distantFuture : nextLook + Bermuda.loop
    }
    verdicts.sortByTime(from: start)
  }

  private mutating func look(at now: Timestamp, into verdicts: inout [Verdict]) {
    guard let observers else { return }
    for number in active {
      let beacon = Int(number)
      var isHeard = false
      for observer in beacons[beacon].adverts.indices where beacons[beacon].adverts[observer].isKnown {
        beacons[beacon].adverts[observer].look(at: now)
        if beacons[beacon].adverts[observer].distance != nil { isHeard = true }
      }
      beacons[beacon].isActive = isHeard
      beacons[beacon].compareScanners(among: observers, at: now)
      let room = beacons[beacon].incumbent.flatMap { observers[$0].room }
      guard room != beacons[beacon].room else { continue }
      beacons[beacon].room = room
      verdicts.append(Verdict(beacon: number, time: now, change: .room(room)))
    }
    active.removeAll { !beacons[Int($0)].isActive }
  }

  private struct Beacon: Sendable {
    var adverts: [BermudaAdvert]
    var incumbent: Int?
    var room: Int32?
    var isActive = false

    init(observers: Int) { adverts = Array(repeating: BermudaAdvert(), count: observers) }

    /// Lets every scanner challenge the one whose area the tag is in.
    mutating func compareScanners(among observers: [ComparatorObserver], at now: Timestamp) {
      if let current = incumbent, !isInReach(current) { incumbent = nil }
      for challenger in adverts.indices where challenger != incumbent {
        guard observers[challenger].room != nil, isInReach(challenger) else { continue }
        guard let heard = adverts[challenger].lastHeard, now - heard <= Bermuda.oldestChallenge else {
          continue
        }
        guard let current = incumbent else {
          incumbent = challenger
          continue
        }
        let isSameRoom = observers[challenger].room == observers[current].room
        if adverts[challenger].beats(adverts[current], inSameRoom: isSameRoom) { incumbent = challenger }
      }
    }

    private func isInReach(_ observer: Int) -> Bool {
      (adverts[observer].distance ?? .infinity) <= Bermuda.radius
    }
  }
}

/// The state of one (tag, scanner) pair: the distances on arrival, and the distances at each look.
///
/// - Source: `bermuda_advert.calculate_data` and `const.py`: reference power −55 dBm, attenuation 3, at most 10 readings
///   and 20 looks, 3 m/s. On arrival the reading counts as it is. Later one that retreats faster than 3 m/s from any
///   of the readings kept is replaced by the look before; one that approaches is always believed. The distance is the
///   mean over the looks, newest first, of the smallest so far, or the reading if that is smaller.
/// - Simplified: no offsets of scanners, and the reference power of the settings for every tag.
struct BermudaAdvert: Sendable {
  /// The level at one metre, in dBm.
  static let referencePower = -55.0
  /// The path-loss exponent.
  static let attenuation = 3.0

  private static let maximumReadings = 10
  private static let maximumLooks = 20
  /// Metres a second.
  private static let fastest = 3.0

  /// The smoothed distance in metres, or nil if there is none.
  private(set) var distance: Double?
  /// The time of the last advert, as of the latest look.
  private(set) var lastHeard: Timestamp?

  private var waiting: (level: Double, time: Timestamp)?
  private var raw = 0.0
  /// Newest first.
  private var readings: [(distance: Double, time: Timestamp)] = []
  /// The distance at each look, newest first.
  private var looks: [Double] = []

  /// Indicates whether the scanner has ever heard the tag.
  var isKnown: Bool { lastHeard != nil || waiting != nil }

  /// Notes an advert for the next look.
  mutating func receive(level: Double, at time: Timestamp) { waiting = (level, time) }

  /// Takes the last advert since the look before, if there was one, and recomputes the distance.
  mutating func look(at now: Timestamp) {
    let isNew = waiting != nil
    if let heard = waiting {
      waiting = nil
      lastHeard = heard.time
      raw = BermudaAdvert.distance(level: heard.level)
      readings.insert((raw, heard.time), at: 0)
      if readings.count > BermudaAdvert.maximumReadings { readings.removeLast() }
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
    if looks.count > BermudaAdvert.maximumLooks { looks.removeLast() }
    var smallest = raw
    var sum = 0.0
    for look in looks {
      smallest = min(smallest, look)
      sum += smallest
    }
    distance = min(raw, sum / Double(looks.count))
  }

  /// The speed at which the newest reading retreats from the earlier ones, in m/s; at most 0 if it approaches.
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

  /// Returns whether this scanner takes the tag from another.
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
