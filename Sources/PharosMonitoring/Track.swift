import PharosEvents
import PharosReports

/// The state kept for one (observer, beacon) pair.
///
/// Flat and in an order without holes, so that one advert touches a few neighbouring cache lines: 256 bytes. The first
/// presence lies inline, since nearly every track is under one policy; seconds and further presences are allocated
/// once, when first needed. What may be missing among the numbers is not a number.
struct Track: Sendable {
  /// Reports within so long of a sample's first one join it: three channels, scan responses, auxiliary PDUs.
  static let joinSpan = TimeSpan.milliseconds(15)

  let beacon: BeaconID
  var isLive = true
  /// Whether it stands in the observer's list of tracks that are due for a second.
  var isListed = false
  var isPowerDeclared = false
  /// Its own time: never goes back.
  var lastHeard: Timestamp
  /// When its wheel entry is due; what fires at another time is stale.
  var armedAt = Timestamp.distantFuture
  var matchSet: Int32
  var epoch: UInt32
  private var sampleStart = Timestamp.distantPast
  private var sampleKey: UInt64 = 0
  private var levelTime = Timestamp.distantPast
  var buckets = SecondBuckets()
  private var more: [Presence] = []
  private(set) var samples: UInt32 = 0
  private var declared = Float.nan
  private var power = Double.nan
  private var sampleLevel = Double.nan
  var intervals = IntervalLearner()
  var proximity = ProximityClassifier()
  var filter = LevelFilter()
  private var first: Presence

  /// The level at one metre: the directory's or the frame's.
  var measuredPower: Double? {
    get { power.isNaN ? nil : power }
    set { power = newValue ?? .nan }
  }

  /// The interval that the directory declares, in seconds.
  var declaredInterval: Float? {
    get { declared.isNaN ? nil : declared }
    set { declared = newValue ?? .nan }
  }

  init(beacon: BeaconID, at time: Timestamp, matchSet: Int32, epoch: UInt32, policies: [UInt16]) {
    self.beacon = beacon
    lastHeard = time
    self.matchSet = matchSet
    self.epoch = epoch
    first = Presence(policy: policies.first ?? 0)
    more = policies.dropFirst().map(Presence.init)
  }

  /// The presence at a place of the match set's policies.
  subscript(presence place: Int) -> Presence {
    get { place == 0 ? first : more[place - 1] }
    _modify {
      if place == 0 { yield &first } else { yield &more[place - 1] }
    }
  }

  /// Takes over a new match set; a policy that stays keeps its presence.
  mutating func rematch(_ number: Int32, epoch: UInt32, from old: [UInt16], to new: [UInt16]) {
    self.epoch = epoch
    matchSet = number
    guard old != new else { return }
    let kept = old.indices.map { self[presence: $0] }
    let presences = new.map { policy in kept.first { $0.policy == policy } ?? Presence(policy: policy) }
    first = presences.first ?? Presence(policy: 0)
    more = Array(presences.dropFirst())
  }

  /// One advert as a track sees it.
  struct Sample {
    /// The event time.
    var time: Timestamp
    /// The level with the observer's offset, or nil.
    var level: Double?
    /// The address and advertising set that reports of one transmission share.
    var key: UInt64
    /// The second since the observer's first report.
    var second: Int64
    /// Since when silence counts: a gap that began before says nothing about losses.
    var silenceFrom: Timestamp
  }

  /// What a sample meant.
  struct Outcome {
    /// Bits of the places whose presence was entered.
    var entered: UInt64 = 0
    /// Bits of the places whose presence was confirmed.
    var confirmed: UInt64 = 0
    /// Whether it joined the sample before it.
    var hasJoined = false
    /// Whether the allowed gaps should be computed anew.
    var needsAllowance = false
  }

  /// Takes a sample that is on time.
  mutating func heard(
    _ sample: Sample,
    power: Double?,
    catalog: borrowing RegionCatalog,
    filter kind: LevelFilterKind,
    canTell: Bool
  ) -> Outcome {
    var outcome = Outcome()
    let time = max(sample.time, lastHeard)
    if sampleKey == sample.key, samples > 0, time - sampleStart <= Track.joinSpan {
      outcome.hasJoined = true
      join(sample)
    } else {
      begin(sample, at: time, kind, &outcome)
    }
    lastHeard = time
    if let power, !isPowerDeclared { self.power = power }
    let set = Int(matchSet)
    if !outcome.hasJoined, catalog.sets[set].needsSeconds {
      buckets.add(second: sample.second, at: time, level: sample.level)
    }
    guard canTell else { return outcome }
    // Nearly every advert: here already, nothing waits, and no level could change that.
    if more.isEmpty, !catalog.sets[set].hasLevels, first.isConfirmed, !first.isWaiting { return outcome }
    let level = sample.level.map { Presence.Level(sample: $0, filtered: filter.level(kind) ?? $0) }
    for place in 0..<catalog.sets[set].policies.count {
      let rules = catalog.policies[Int(self[presence: place].policy)]
      // What waited for proof has no timer: it needs one again.
      if self[presence: place].isWaiting { outcome.needsAllowance = true }
      let (learner, declared) = (intervals, declaredInterval)
      switch self[presence: place].heard(
        at: sampleStart,
        level: level,
        rules: rules,
        window: AdaptiveSilence(learner: learner, family: nil, declared: declared).enterWindow(rules)
      ) {
      case .entered: outcome.entered |= 1 << UInt64(place)
      case .confirmed: outcome.confirmed |= 1 << UInt64(place)
      case nil: break
      }
    }
    return outcome
  }

  /// A report that came late: it only shows that the beacon was still here then, and that the gap before the next sample
  /// is shorter than it seems.
  mutating func heardLate(at time: Timestamp, places: Int) {
    lastHeard = max(lastHeard, time)
    if samples > 0, time > sampleStart {
      sampleStart = time
      sampleLevel = .nan
    }
    for place in 0..<places { self[presence: place].heardLate() }
  }

  /// A report of the same transmission: the strongest one counts.
  private mutating func join(_ sample: Sample) {
    guard let level = sample.level, level > sampleLevel else { return }
    filter.raiseLast(by: level - sampleLevel)
    buckets.raise(second: sample.second, from: sampleLevel, to: level)
    sampleLevel = level
  }

  private mutating func begin(
    _ sample: Sample,
    at time: Timestamp,
    _ kind: LevelFilterKind,
    _ outcome: inout Outcome
  ) {
    if samples > 0, sampleStart >= sample.silenceFrom {
      let gap = Float((time - sampleStart).seconds)
      if isGapOfPresence(gap) { outcome.needsAllowance = intervals.learn(gap: gap) }
    }
    samples &+= 1
    if samples & (samples - 1) == 0 || samples & 31 == 0 { outcome.needsAllowance = true }
    sampleStart = time
    sampleKey = sample.key
    sampleLevel = sample.level ?? .nan
    guard let level = sample.level else { return }
    filter.add(level, after: levelTime == .distantPast ? 0 : (time - levelTime).seconds, kind: kind)
    levelTime = time
  }

  /// A gap that ended a visit says nothing about losses, unless it was hardly longer than was allowed: then the exit
  /// was probably false.
  private func isGapOfPresence(_ gap: Float) -> Bool {
    if first.isHere || intervals.interval == 0 { return true }
    let allowed = first.allowed == .forever ? 60 : Float(first.allowed.seconds)
    return gap <= allowed * 1.5
  }
}
