import PharosEvents
import PharosPlaces
import PharosReports

/// Whether the subject is outdoors, from what satellites say and what is heard of the building.
///
/// A log-likelihood ratio that every look moves a little, with a band in which nothing changes: neither fixes nor the advice
/// to the handset flicker at a door.
struct OutsideBelief: Sendable {
  /// A location far from every building of the venue.
  struct Far: Sendable, Hashable {
    var coordinate: Coordinate
    var radius: Double
    var time: Timestamp
  }

  /// The logarithm of how much more probable indoors is than outdoors.
  private(set) var odds: Float = 0
  /// Whether the subject counts as outdoors.
  private(set) var isOutside = false
  /// Whether the handset should keep its satellite receiver on.
  private(set) var advice = SatelliteAdvice.needed
  private var farFix: Far?
  private var gate = DrivingGate()
  private var speed: (value: Float, time: Timestamp)?
  private var heard = Timestamp.distantPast
  private var seen = Timestamp.distantPast

  /// The odds are held within this, so that a few seconds of the contrary turn them.
  private static let most: Float = 3
  /// Odds beyond which the belief changes.
  private static let turn: Float = 1
  /// Odds at which the receiver may rest, and those at which it is needed again.
  private static let rest: Float = 2
  private static let wake: Float = 0.5
  /// A level that only the inside of a building has.
  ///
  /// - Units: dBm. Walls of malls take 10 to 20 dB of what indoors is −50 to −70.
  private static let indoorLevel: Float = -75
  /// How fast hearing the building moves the odds, per second.
  private static let hearing: Float = 0.8
  /// How much faster where satellites fell silent.
  private static let alone: Float = 2
  /// How long a location from outside speaks.
  private static let life = TimeSpan.seconds(30)

  /// A location far from the venue, while it speaks.
  func far(at time: Timestamp) -> Far? { farFix.flatMap { time - $0.time <= OutsideBelief.life ? $0 : nil } }

  /// Whether satellites say where the subject is, and radio does not.
  func leads(at time: Timestamp) -> Bool {
    far(at: time) != nil || isOutside && time - seen <= .seconds(3)
  }

  /// The speed that satellites tell, while it speaks.
  func speed(at time: Timestamp) -> Double? {
    speed.flatMap { time - $0.time <= .seconds(5) ? Double($0.value) : nil }
  }

  /// How probable it is to be outdoors: 0 to 1.
  var share: Float { 1 / (1 + FusionMath.exponential(odds)) }

  /// Takes readings of the venue's emitters.
  mutating func hear(_ readings: [RadioReading], at time: Timestamp) {
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
  ///   - distance: How far it lies from the nearest floor in metres; 0 on one.
  ///   - rules: The constants.
  ///   - time: When it was.
  mutating func look(at fix: OutsideFix, distance: Double, _ rules: FusionRules, at time: Timestamp) {
    gate.take(fix, at: time)
    seen = time
    if let value = fix.speed, value.isFinite, value >= 0 { speed = (value, time) }
    if distance > Double(rules.vicinity),
      let coordinate = Coordinate(latitude: fix.latitude, longitude: fix.longitude)
    {
      farFix = Far(coordinate: coordinate, radius: fix.horizontalAccuracy.value, time: time)
    } else {
      farFix = nil
    }
    if gate.isDriving(at: time) {
      odds = -OutsideBelief.most
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
    odds = min(OutsideBelief.most, max(-OutsideBelief.most, odds + step))
    if odds < -OutsideBelief.turn { isOutside = true }
    if odds > OutsideBelief.turn { isOutside = false }
    if odds > OutsideBelief.rest { advice = .notNeeded }
    if odds < OutsideBelief.wake { advice = .needed }
  }
}
