import PharosDocuments
package import PharosModel
import PharosSpace

/// The belief about whether the subject is outdoors, from satellite fixes and readings of the building's emitters.
///
/// A log-likelihood ratio that every look moves a little, with a band in which the decision does not change, so that
/// neither fixes nor the advice to the handset flicker at a door.
struct OutsideBelief: Sendable {
  /// A location far from every building of the venue.
  struct Far: Sendable, Hashable {
    var coordinate: Coordinate
    var radius: Double
    var time: Timestamp
  }

  /// The log-likelihood ratio of indoors to outdoors.
  private(set) var odds: Float = 0
  /// Indicates whether the subject counts as outdoors.
  private(set) var isOutside = false
  /// The advice on whether the handset should keep its satellite receiver on.
  private(set) var advice = SatelliteAdvice.needed
  private var farFix: Far?
  private var gate = DrivingGate()
  /// The last location from outside, and its time.
  private var last: (fix: OutsideFix, time: Timestamp)?
  private var speed: (value: Float, time: Timestamp)?
  private var heard = Timestamp.distantPast
  private var seen = Timestamp.distantPast

  /// The bound on the odds, so that a few seconds of contrary evidence reverse them.
  private static let maximumOdds: Float = 3
  /// Odds beyond which the belief changes.
  private static let turn: Float = 1
  /// Odds at which the receiver may rest, and those at which it is needed again.
  private static let rest: Float = 2
  private static let wake: Float = 0.5
  /// A level that only the inside of a building has.
  ///
  /// - Units: dBm. Walls of malls take 10 to 20 dB of what indoors is −50 to −70.
  private static let indoorLevel: Float = -75
  /// The change of the odds per second while the building is heard.
  private static let hearing: Float = 0.8
  /// The factor on that change if satellites fell silent.
  private static let alone: Float = 2
  /// The time for which a location from outside is valid.
  private static let life = TimeSpan.seconds(30)
  /// The time for which the speed, the course and the height of one are valid.
  private static let movingLife = TimeSpan.seconds(5)

  /// Returns the last location far from the venue, while it is valid.
  func far(at time: Timestamp) -> Far? { farFix.flatMap { time - $0.time <= OutsideBelief.life ? $0 : nil } }

  /// Returns whether satellites, not radio readings, determine the location of the subject.
  func leads(at time: Timestamp) -> Bool {
    far(at: time) != nil || isOutside && time - seen <= .seconds(3)
  }

  /// Returns the last location from outside, while its speed, course and height are valid.
  func recent(at time: Timestamp) -> OutsideFix? {
    last.flatMap { time - $0.time <= OutsideBelief.movingLife ? $0.fix : nil }
  }

  /// Returns what the handset says of the making of its locations, while they are valid.
  func information(at time: Timestamp) -> SourceInformation {
    last.flatMap { time - $0.time <= OutsideBelief.life ? $0.fix.information : nil } ?? []
  }

  /// Returns the speed from satellites, while it is valid.
  func speed(at time: Timestamp) -> Double? {
    speed.flatMap { time - $0.time <= OutsideBelief.movingLife ? Double($0.value) : nil }
  }

  /// The probability of being outdoors, 0 to 1.
  var share: Float { 1 / (1 + FusionMath.exponential(odds)) }

  /// Takes readings of the venue's emitters.
  mutating func receive(_ readings: [RadioReading], at time: Timestamp) {
    let seconds = heard == .distantPast ? 1 : Float(min(2, max(0, (time - heard).seconds)))
    heard = time
    let isLoud = readings.contains { $0.level >= OutsideBelief.indoorLevel || $0.kind == .observer }
    guard isLoud else { return }
    let isAlone = time - seen > .seconds(3)
    move(by: OutsideBelief.hearing * seconds * (isAlone ? OutsideBelief.alone : 1), at: time)
  }

  /// Takes a location from outside.
  ///
  /// - Parameters:
  ///   - fix: The location.
  ///   - distance: The distance from the nearest floor in metres; 0 on one.
  ///   - rules: The constants.
  ///   - time: The time of the location.
  mutating func look(at fix: OutsideFix, distance: Double, _ rules: FusionRules, at time: Timestamp) {
    gate.update(fix, at: time)
    seen = time
    last = (fix, time)
    if let value = fix.speed, value.isFinite, value >= 0 { speed = (value, time) }
    if distance > Double(rules.vicinity),
      let coordinate = Coordinate(latitude: fix.latitude, longitude: fix.longitude)
    {
      farFix = Far(coordinate: coordinate, radius: fix.horizontalAccuracy.value, time: time)
    } else {
      farFix = nil
    }
    if gate.isDriving(at: time) {
      odds = -OutsideBelief.maximumOdds
      return move(by: 0, at: time)
    }
    let ratio = Float(distance / fix.horizontalAccuracy.value) / rules.outsideMargin
    switch fix.source {
    case .vps: move(by: distance > 0 ? -min(2, ratio) : 2, at: time)
    // Within a building receivers wander about: what they say is worth something only beside it.
    case .gnss: move(by: distance > 0 ? -min(1.5, ratio) : 0.1, at: time)
    }
  }

  private mutating func move(by step: Float, at time: Timestamp) {
    odds = min(OutsideBelief.maximumOdds, max(-OutsideBelief.maximumOdds, odds + step))
    if odds < -OutsideBelief.turn { isOutside = true }
    if odds > OutsideBelief.turn { isOutside = false }
    if odds > OutsideBelief.rest { advice = .notNeeded }
    if odds < OutsideBelief.wake { advice = .needed }
  }
}

/// A detector of driving from the speeds of outside fixes.
///
/// A subject that drives is not in a building.
package struct DrivingGate: Hashable, Sendable {
  /// The speed from which on a subject drives: faster than a sprint through a hall, slower than any traffic that
  /// flows.
  ///
  /// - Units: m/s.
  package static let drivingSpeed: Float = 7
  /// The speed below which a subject no longer drives: a brisk walk.
  ///
  /// - Units: m/s.
  package static let walkingSpeed: Float = 2.5
  /// The time for which a speed is valid when no fix follows: a car stands at a light or is in a tunnel.
  package static let memory = TimeSpan.seconds(30)
  /// The greatest speed that is accepted: that of a fast train.
  ///
  /// - Units: m/s.
  package static let fastest: Float = 120

  private var fastAt: Timestamp?

  /// Creates a gate for a subject that does not drive.
  package init() {}

  /// Takes an outside fix.
  ///
  /// A fix without a speed, or with an impossible one, changes nothing.
  package mutating func update(_ fix: OutsideFix, at time: Timestamp) {
    guard let speed = fix.speed, speed >= 0, speed <= DrivingGate.fastest else { return }
    if speed >= DrivingGate.drivingSpeed {
      fastAt = max(fastAt ?? time, time)
    } else if speed < DrivingGate.walkingSpeed {
      fastAt = nil
    } else if isDriving(at: time) {
      // Between the two what was so remains so.
      fastAt = max(fastAt ?? time, time)
    }
  }

  /// Returns whether the subject drives.
  package func isDriving(at time: Timestamp) -> Bool {
    guard let fastAt else { return false }
    return time - fastAt <= DrivingGate.memory
  }
}

extension Locator {
  /// Takes a location from outside, whose weight is high outdoors and fades indoors.
  mutating func look(at fix: OutsideFix, _ time: Timestamp) {
    guard let scan = satellites.receive(fix, at: time) ?? visual.receive(fix, at: time) else { return }
    let coordinate = scan.coordinate
    weigh(at: time)
    evidence.newest = max(evidence.newest, time)
    evidence.sources.insert(.outside)
    let places = content.floors.map { floor in
      floor.plane.point(of: coordinate)
    }
    let nearest = nearestEntrance(places)
    sky.look(at: fix, distance: nearest?.distance ?? .infinity, rules, at: time)
    guard let nearest, sky.far(at: time) == nil else { return cloud.removeAll() }
    let deviation = scan.deviation
    let isLost = sky.isOutside && isFar(from: places, deviation)
    if fix.source == .vps {
      guard cloud.isEmpty || isLost else { return fuse(scan, places, at: time) }
      if !beginAtScan(scan, places, at: time) { begin(at: nearest, deviation) }
      return
    }
    if cloud.isEmpty || isLost { return begin(at: nearest, deviation) }
    let trust = sky.share
    guard trust > 0.02 else { return }
    let factor = -0.5 * trust / (deviation * deviation)
    for index in 0..<cloud.count {
      guard let place = places[Int(cloud.floor[index])] else { continue }
      let east = cloud.east[index] - Float(place.x)
      let north = cloud.north[index] - Float(place.y)
      cloud.weight[index] += max(-6, factor * (east * east + north * north))
    }
    cloud.resample(rules, on: content.floors, &noise)
  }

  /// A floor that can be entered from outside, and the place there.
  private struct NearestEntrance {
    var floor: Int
    var point: Point
    var distance: Double
  }

  /// Returns the floor nearest to a place among those at ground level or with doors, or among all floors if there are
  /// none.
  private func nearestEntrance(_ places: [Point?]) -> NearestEntrance? {
    let open = content.floors.indices.filter {
      content.floors[$0].id.level == 0 || !content.floors[$0].entrances.isEmpty
    }
    let candidates = open.isEmpty ? Array(content.floors.indices) : open
    return candidates.compactMap { number in
      places[number].map { point in
        NearestEntrance(floor: number, point: point, distance: content.floors[number].distance(to: point))
      }
    }
    .min { ($0.distance, $0.floor) < ($1.distance, $1.floor) }
  }

  private func isFar(from places: [Point?], _ deviation: Float) -> Bool {
    guard let middle = middle(), let place = places[middle.floor] else { return true }
    return middle.point.distance(to: place) > Double(3 * (deviation + middle.spread)) + 10
  }

  private mutating func begin(at entrance: NearestEntrance, _ deviation: Float) {
    cloud.removeAll()
    cloud.reserve(rules.particles)
    // What satellites say is no guess among all places: particles carry it on at once.
    born = .distantPast
    for _ in 0..<rules.particles {
      cloud.append(
        east: Float(entrance.point.x) + deviation * noise.normal(),
        north: Float(entrance.point.y) + deviation * noise.normal(),
        bias: drawBias(on: entrance.floor),
        scale: ParticleCloud.held(1 + rules.scaleDeviation * noise.normal()),
        floor: UInt8(truncatingIfNeeded: entrance.floor)
      )
    }
  }
}

extension GroundFloor {
  /// Returns the distance of a place from the floor in metres; 0 on it.
  func distance(to point: Point) -> Double {
    if let extent {
      let (low, high) = (extent.southWest, extent.northEast)
      let outside = Point(
        x: max(0, low.x - point.x, point.x - high.x),
        y: max(0, low.y - point.y, point.y - high.y)
      )
      // Far away the rectangle says enough, and testing the floor's lines would be expensive.
      if outside.length > 100 { return outside.length }
      if space.isWalkable(point) { return 0 }
    }
    return space.nearestWalkable(to: point)?.distance(to: point) ?? .infinity
  }
}

extension OutsideBelief {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&odds)
    try coder.code(&isOutside)
    try coder.code(&advice)
    try coder.code(&farFix)
    try gate.visitFields(&coder)
    try coder.code(optional: &last, (OutsideFix(), .distantPast)) { (last, coder) throws(C.Failure) in
      try coder.code(&last.fix)
      try coder.code(&last.time)
    }
    try coder.code(optional: &speed, (0, .distantPast)) { (speed, coder) throws(C.Failure) in
      try coder.code(&speed.value)
      try coder.code(&speed.time)
    }
    try coder.code(&heard)
    try coder.code(&seen)
  }
}

extension DrivingGate {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&fastAt)
  }
}

extension OutsideBelief.Far: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let latitude = try coder.field(value().coordinate.latitude)
    let coordinate = Coordinate(latitude: latitude, longitude: try coder.field(value().coordinate.longitude))
    try coder.check(coordinate != nil, "a coordinate")
    return OutsideBelief.Far(
      coordinate: coordinate ?? value().coordinate,
      radius: try coder.field(value().radius),
      time: try coder.field(value().time)
    )
  }
}
