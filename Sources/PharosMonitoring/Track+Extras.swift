import PharosEvents
import PharosReports

/// What lies in a track's extras, as if it lay in the track.
extension Track {
  /// What stands for no power, and for one that is no whole number of dBm.
  static let noPower = Int16.min
  private static let otherPower = Int16.max

  /// Changes the extras, which are made if there are none.
  mutating func change<Result>(_ body: (inout Extras) -> Result) -> Result {
    // Asked before anything else holds the box, as otherwise it would never be the only one.
    let isOwn = isKnownUniquelyReferenced(&box)
    let own = isOwn ? box ?? ExtrasBox() : ExtrasBox(box?.extras ?? Extras())
    if !isOwn { box = own }
    return body(&own.extras)
  }

  /// Notes in the track what of the extras decides how it is heard, and lets them go if nothing is left in them.
  package mutating func noteExtras() {
    guard let extras = box?.extras else {
      return set([.detailed, .several, .shared], false)
    }
    if extras.isEmpty { box = nil }
    set(.detailed, !extras.presences.isEmpty)
    set(.several, extras.presences.count > 1)
    set(.shared, !extras.others.isEmpty)
  }

  /// The level at one metre in dBm, the directory's or the frame's, or not a number.
  package var power: Float {
    get {
      if wholePower == Track.noPower { return .nan }
      return wholePower == Track.otherPower ? box?.extras.power ?? .nan : Float(wholePower)
    }
    set {
      if let whole = Int16(exactly: newValue), whole.magnitude < 1_000 {
        wholePower = whole
      } else if newValue.isNaN {
        wholePower = Track.noPower
      } else {
        wholePower = Track.otherPower
        change { $0.power = newValue }
      }
    }
  }

  /// The level at one metre: the directory's or the frame's.
  package var measuredPower: Double? {
    get { wholePower == Track.noPower ? nil : Double(power) }
    set { power = newValue.map { Float($0) } ?? .nan }
  }

  /// The interval that the directory declares, in seconds.
  package var declaredInterval: Float? {
    get { box.flatMap { $0.extras.declared.isNaN ? nil : $0.extras.declared } }
    set { if newValue != declaredInterval { change { $0.declared = newValue ?? .nan } } }
  }

  /// What was lost.
  package var history: LossHistory {
    get {
      LossHistory(
        runs: runs,
        lost: lost,
        recentRuns: UInt16(recentRuns),
        recentLost: recentLost,
        rare: box?.extras.losses ?? RareLosses()
      )
    }
    set {
      runs = newValue.runs
      lost = newValue.lost
      // A window of 128 samples has no more runs than that.
      recentRuns = UInt8(min(newValue.recentRuns, 255))
      recentLost = newValue.recentLost
      guard box != nil || newValue.rare != RareLosses() else { return }
      change { $0.losses = newValue.rare }
    }
  }

  /// The presences of all policies, where there are several, or where the first one looks at more than silence.
  var presences: [Presence] {
    get { box?.extras.presences ?? [] }
    set {
      guard box != nil || !newValue.isEmpty else { return }
      change { $0.presences = newValue }
      noteExtras()
    }
  }

  /// Further addresses of the identity.
  var others: [OtherAddress] {
    get { box?.extras.others ?? [] }
    set {
      guard box != nil || !newValue.isEmpty else { return }
      change { $0.others = newValue }
      noteExtras()
    }
  }

  /// The seconds that are open.
  var seconds: SecondBuckets {
    get { box?.extras.seconds ?? SecondBuckets() }
    set {
      guard box != nil || !newValue.open.isEmpty else { return }
      change { $0.seconds = newValue }
    }
  }

  /// Takes the samples up to and including a second out.
  package mutating func closeSecond(through second: Int64) -> SecondBucket? {
    // Without holding the box: held twice it would be copied before each change.
    guard box?.extras.seconds.open.isEmpty == false else { return nil }
    return change { $0.seconds.close(through: second) }
  }

  /// How near it was ranged last.
  var proximity: ProximityClassifier {
    get { box?.extras.proximity ?? ProximityClassifier() }
    set { if newValue != proximity { change { $0.proximity = newValue } } }
  }

  /// The class of a distance, which is nil if undetermined.
  mutating func classify(_ meters: Double?) -> RangedReading.Proximity {
    var classifier = proximity
    let found = classifier.classify(meters)
    proximity = classifier
    return found
  }
}
