import PharosEvents
import PharosReports

/// The state kept for one (observer, beacon) pair.
///
/// Flat and in an order without holes: 256 bytes. The first half holds what nearly every advert touches, the second what
/// only a missed advert, a change or a decision does. The first presence lies inline, since nearly every track is under
/// one policy; seconds, further presences and further addresses are allocated once, when first needed. What may be missing
/// among the numbers is not a number.
struct Track: Sendable {
  /// Reports within so long of a sample's first one join it: three channels, scan responses, auxiliary PDUs.
  static let joinSpan = TimeSpan.milliseconds(15)

  // What nearly every advert touches.
  let beacon: BeaconID
  var isLive = true
  /// Whether it stands in the observer's list of tracks that are due for a second.
  var isListed = false
  var isPowerDeclared = false
  /// Whether one of its policies looks at levels to leave.
  var hasLevels: Bool
  /// Whether its seconds are kept.
  var needsSeconds: Bool
  /// Where its level lies: 0 usual, 1 low, 2 far below.
  var surroundings: UInt8 = 0
  /// Whether so many addresses share the identity that they are not told apart.
  var isCrowd = false
  var matchSet: Int32
  var epoch: UInt32
  var samples: UInt32 = 0
  var sampleLevel = Float.nan
  var power = Float.nan
  /// Its own time: never goes back.
  var lastHeard: Timestamp
  var sampleStart = Timestamp.distantPast
  var sampleKey: UInt64 = 0
  var intervals = IntervalLearner()
  var usual = UsualLevel()
  var kalman = KalmanLevel(first: .nan)
  /// Whether there is but one policy, by which the beacon is here for sure, nothing waits, and the timer is set: the usual
  /// state, known without a look at the rest.
  var isCalm = false

  // The rest.
  var declared = Float.nan
  /// When its wheel entry is due; what fires at another time is stale.
  var armedAt = Timestamp.distantFuture {
    didSet { noteCalm() }
  }
  var history = LossHistory()
  var proximity = ProximityClassifier()
  var buckets = SecondBuckets()
  /// None or one: what few tracks need.
  var extras: [Extras] = []
  var more: [Presence] = []
  var first: Presence

  /// The level at one metre: the directory's or the frame's.
  var measuredPower: Double? {
    get { power.isNaN ? nil : Double(power) }
    set { power = newValue.map { Float($0) } ?? .nan }
  }

  /// The interval that the directory declares, in seconds.
  var declaredInterval: Float? {
    get { declared.isNaN ? nil : declared }
    set { declared = newValue ?? .nan }
  }

  init(beacon: BeaconID, at time: Timestamp, number: Int32, set: borrowing MatchSet, epoch: UInt32) {
    self.beacon = beacon
    lastHeard = time
    matchSet = number
    self.epoch = epoch
    hasLevels = set.hasLevels
    needsSeconds = set.needsSeconds
    first = Presence(policy: set.policies.first ?? 0)
    more = set.policies.dropFirst().map(Presence.init)
  }

  /// The presence at a place of the match set's policies.
  ///
  /// For what is rare: reading copies it, and changing it allocates the accessor's frame.
  subscript(presence place: Int) -> Presence {
    get { place == 0 ? first : more[place - 1] }
    _modify {
      defer { noteCalm() }
      if place == 0 { yield &first } else { yield &more[place - 1] }
    }
  }

  /// The policy of a presence.
  func policy(at place: Int) -> Int { Int(place == 0 ? first.policy : more[place - 1].policy) }

  /// The deadline of a presence: see ``Presence/deadline(lastHeard:other:silenceFrom:stretch:dwell:)``.
  func deadline(
    _ place: Int,
    silenceFrom: Timestamp,
    stretch: Double,
    rules: borrowing PresencePolicy
  ) -> (time: Timestamp, isLevel: Bool)? {
    let other = rules.silence == .adaptive ? othersUntil : .distantPast
    let dwell = rules.exitDwell
    guard place > 0 else {
      return first.deadline(
        lastHeard: lastHeard,
        other: other,
        silenceFrom: silenceFrom,
        stretch: stretch,
        dwell: dwell
      )
    }
    return more[place - 1].deadline(
      lastHeard: lastHeard,
      other: other,
      silenceFrom: silenceFrom,
      stretch: stretch,
      dwell: dwell
    )
  }

  /// Sets what a presence's policy allows now.
  mutating func allow(_ gap: TimeSpan, enter: Float, exit: Float, at place: Int) {
    if place == 0 {
      first.allowed = gap
      first.setLevels(enter: enter, exit: exit)
    } else {
      more[place - 1].allowed = gap
      more[place - 1].setLevels(enter: enter, exit: exit)
    }
  }

  /// Finds out anew whether it is in the usual state.
  mutating func noteCalm() {
    isCalm = first.isConfirmed && !first.isWaiting && more.isEmpty && armedAt != .distantFuture
  }

  /// Takes over a new match set; a policy that stays keeps its presence.
  mutating func rematch(_ number: Int32, epoch: UInt32, from old: MatchSet, to new: MatchSet) {
    self.epoch = epoch
    matchSet = number
    hasLevels = new.hasLevels
    needsSeconds = new.needsSeconds
    guard old.policies != new.policies else { return }
    let kept = old.policies.indices.map { self[presence: $0] }
    let presences = new.policies.map { policy in
      kept.first { $0.policy == policy } ?? Presence(policy: policy)
    }
    first = presences.first ?? Presence(policy: 0)
    more = Array(presences.dropFirst())
    noteCalm()
  }

  /// What was received and lost, all levels together.
  var losses: LossRuns { history.all(received: intervals.received) }

  /// Samples since the recent window began: at 8, 16, 32 and 64 samples, and with every further 128.
  var recentSamples: UInt32 {
    if samples >= LossHistory.window { return samples & (LossHistory.window - 1) }
    return samples < 8
      ? samples
      : samples < 16
        ? samples - 8
        : samples < 32
          ? samples - 16
          : samples < 64 ? samples - 32 : samples - 64
  }

  /// Whether another window of recent memory begins with the sample taken last.
  var isAtTurn: Bool { samples >= 8 && recentSamples == 0 }

  /// Begins another window of recent memory; gives what was counted in the one that ends, for the observer's pool.
  mutating func turnWindow() -> LossRuns {
    let length = samples > LossHistory.window ? LossHistory.window : samples > 8 ? samples / 2 : samples
    return history.turn(&intervals, samples: length)
  }

  /// Where its level lies.
  var levelClass: LevelClass { surroundings == 0 ? .usual : surroundings == 1 ? .low : .far }

  /// The level of the sample taken last in dBm, if it had one.
  var lastLevel: Double? { sampleLevel.isNaN ? nil : Double(sampleLevel) }

  /// Whether one body in the way could hide it.
  var isWithinBodyReach: Bool { usual.level < AdaptiveSilence.bodyReach }

  /// Until when another address of the identity may be silent.
  var othersUntil: Timestamp {
    extras.first?.others.reduce(.distantPast) { max($0, $1.until) } ?? .distantPast
  }

  /// The Kalman filter's level in dBm, or not a number before the first sample with one.
  var kalmanLevel: Float { kalman.estimate }

  /// The filtered level in dBm, or nil before the first sample with one.
  func level(_ kind: LevelFilterKind) -> Double? {
    guard !kalman.isEmpty else { return nil }
    guard kind != .kalman, let window = extras.first?.window else { return kalman.level }
    return window.level(kind)
  }

  /// The variance of the filtered level in dB².
  func variance(_ kind: LevelFilterKind) -> Double {
    guard kind != .kalman, let window = extras.first?.window else { return kalman.variance }
    return window.variance(kind)
  }
}
