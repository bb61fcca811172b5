import PharosDocuments
import PharosModel

/// The state of one beacon at one observer.
///
/// A change of the fields that decide an advert's path ends with ``updateFastPath()``, which prepares the hot half for the fast path.
extension TrackHandle {
  /// Reports within so long of a sample's first one join it: three channels, scan responses, auxiliary PDUs.
  static let joinSpan = TimeSpan.milliseconds(15)
  /// Stands for a silence that is never too long, and for one that is no whole number of milliseconds.
  static let allowedForever = UInt32.max
  private static let allowedElsewhere = UInt32.max - 1
  /// The maximum number of addresses of one identity that are learned separately; more are learned as one.
  static let addresses = 4
  /// The bits of a sample key that are the address.
  private static let addressMask: UInt64 = 1 << 48 - 1

  // MARK: Identity

  /// The identity.
  func beacon(_ scopes: borrowing ScopeTable) -> BeaconID {
    scopes.beacon(hot.scope, key: hot.key, address: hot.flags.contains(.keyed) ? cold.sampleKey : nil)
  }

  /// Returns true if it is the track of an identity.
  @inline(__always)
  func isTrack(scope: UInt32, key: UInt64, address: UInt64?) -> Bool {
    guard hot.scope == scope, hot.key == key else { return false }
    guard hot.flags.contains(.keyed) else { return address == nil }
    return address == cold.sampleKey & TrackHandle.addressMask
  }

  /// Indicates whether the place is in use.
  var isLive: Bool { cold.marks.contains(.live) }

  /// The address and advertising set of the latest sample.
  var sampleKey: UInt64 {
    get { cold.sampleKey }
    nonmutating set {
      // The address of a keyed identity stays.
      let address = (hot.flags.contains(.keyed) ? cold.sampleKey : newValue) & TrackHandle.addressMask
      cold.sampleKey = newValue & ~TrackHandle.addressMask | address
      hot.sampleTag = HotTrack.tag(of: cold.sampleKey)
    }
  }

  /// The start of the latest sample, or the distant past if no gap can be counted from it.
  var sampleStart: Timestamp {
    get {
      let since = hot.sinceSample
      return since == HotTrack.noSample ? .distantPast : hot.lastHeard - TimeSpan(nanoseconds: Int64(since))
    }
    nonmutating set {
      let since = hot.lastHeard - newValue
      let isNear = since >= .zero && since <= TrackHandle.joinSpan
      hot.sinceSample = isNear ? UInt32(since.nanoseconds) : HotTrack.noSample
    }
  }

  // MARK: Counts

  /// The number of samples.
  var samples: UInt32 { cold.samples &+ UInt32(hot.samples &- cold.flushed) }

  /// Adverts received after one that was received before.
  var received: Float { cold.received + Float(hot.samples &- cold.flushed) }

  /// Brings the cold half up to date with what the fast path has counted.
  func flush() {
    let history = countedLosses
    (cold.samples, cold.received) = (samples, received)
    cold.flushed = hot.samples
    (cold.runs, cold.lost) = (history.runs, history.lost)
    cold.recentRuns = UInt8(min(history.recentRuns, 255))
    cold.recentLost = history.recentLost
    hot.lost = 0
    cold.runsLeft = hot.runsLeft
  }

  /// The losses, without the counts that few tracks have.
  private var countedLosses: LossHistory {
    let runs = cold.runsLeft &- hot.runsLeft
    return LossHistory(
      runs: cold.runs + Float(runs),
      lost: cold.lost + Float(hot.lost),
      recentRuns: UInt16(cold.recentRuns) + UInt16(runs),
      recentLost: LossHistory.sum(cold.recentLost, UInt16(hot.lost)),
      rare: RareLosses()
    )
  }

  /// Prepares the hot half for the fast path, or closes that.
  func updateFastPath() {
    let marks = cold.marks
    let isCalm = phase == .inside && marks.isDisjoint(with: [.waiting, .several])
    var flags = hot.flags.subtracting([.fast, .fastWithSeconds, .simpleDeadline])
    if isCalm, marks.isDisjoint(with: [.detailed, .shared]) { flags.insert(.simpleDeadline) }
    let unusual: ColdTrack.Marks = [.crowd, .low, .far, .weak, .levels, .unallowed]
    let isUsual = marks.isDisjoint(with: unusual) && marks.contains(.live)
    if isCalm, isUsual, cold.received >= IntervalLearner.young, cold.samples >= 64 {
      if !marks.contains(.seconds) {
        flags.insert(.fast)
      } else if marks.contains(.listed) {
        flags.insert(.fastWithSeconds)
      }
    }
    hot.flags = flags
    hot.power = Int8(exactly: cold.power) ?? HotTrack.noLevel
    if flags.isDisjoint(with: [.fast, .fastWithSeconds]) {
      (hot.runsLeft, cold.runsLeft) = (0, 0)
    } else {
      prepareLosses()
    }
  }

  /// Finds how many losses the fast path may count: those that change nothing but their number.
  private func prepareLosses() {
    let runs = UInt32(cold.runs)
    var left = 30
    // A run is looked at when there are twice as many as before, while they are few.
    if runs < 32 { left = Int((1 << UInt32(32 - runs.leadingZeroBitCount)) - runs) - 1 }
    hot.runsLeft = UInt8(left)
    cold.runsLeft = hot.runsLeft
    var limit = Float(Double(allowedMilliseconds) * 0.999 / 2_000)
    // A gap of nearly the slowest interval is a tag that came to rest.
    let slowest = slowestInterval
    if slowest > 0 { limit = min(limit, slowest * 0.79) }
    hot.lossLimit = LossLimit.code(limit)
  }

  /// The learned interval; it may be set after a ``flush()``.
  var learner: IntervalLearner {
    get { IntervalLearner(interval: hot.interval, received: received, counts: hot.counts) }
    nonmutating set {
      hot.interval = newValue.interval
      hot.counts = newValue.counts
      cold.received = newValue.received
    }
  }

  /// The history of losses; it may be set after a ``flush()``.
  var history: LossHistory {
    get {
      var history = countedLosses
      history.recentRuns = min(history.recentRuns, 255)
      if let box = cold.box { history.rare = box.extras.losses }
      return history
    }
    nonmutating set {
      cold.runs = newValue.runs
      cold.lost = newValue.lost
      cold.recentRuns = UInt8(min(newValue.recentRuns, 255))
      cold.recentLost = newValue.recentLost
      guard cold.box != nil || newValue.rare != RareLosses() else { return }
      changeExtras { $0.losses = newValue.rare }
    }
  }

  /// The counts of adverts received and lost, all levels together.
  var losses: LossRuns { history.all(received: received) }

  /// The number of samples since the recent window began: at 8, 16, 32 and 64 samples, and with every further 128.
  var recentSamples: UInt32 {
    let samples = samples
    if samples >= LossHistory.window { return samples & (LossHistory.window - 1) }
    return samples < 8 ? samples : samples - 1 << UInt32(31 - samples.leadingZeroBitCount)
  }

  /// Begins another window of recent memory.
  ///
  /// - Returns: the counts of the one that ends.
  func turnWindow() -> LossRuns {
    let samples = cold.samples
    let length = samples > LossHistory.window ? LossHistory.window : samples > 8 ? samples / 2 : samples
    var losses = history
    var learner = learner
    let stretch = losses.turn(&learner, samples: length)
    self.learner = learner
    history = losses
    recordExtras()
    return stretch
  }

  // MARK: Levels

  /// The class of its level.
  var levelClass: LevelClass {
    get { cold.marks.contains(.far) ? .far : cold.marks.contains(.low) ? .low : .usual }
    nonmutating set {
      set(.low, newValue == .low)
      set(.far, newValue == .far)
    }
  }

  /// The level of the latest sample at an observer with an offset, in dBm, or not a number.
  @inline(__always)
  func sampleLevel(_ offset: Double) -> Float {
    hot.level == HotTrack.noLevel ? .nan : Float(Double(hot.level) + offset)
  }

  /// The filtered level in dBm, or nil before the first sample with one.
  var level: Double? { hot.estimate.isNaN ? nil : Double(hot.estimate) }

  /// The variance of the filtered level in dB².
  var variance: Double { Double(hot.spread) }

  /// Moves all levels by so many dB, as the observer's offset was changed.
  func shiftLevels(by difference: Float) {
    hot.estimate = HotTrack.held(hot.estimate + difference)
    hot.usual.level = HotTrack.held(hot.usual.level + difference)
  }

  /// Indicates whether one body in the way could hide the beacon, at its usual level or at the one to which it has fallen.
  var isWithinBodyReach: Bool {
    (levelClass == .usual ? hot.usual.level : min(hot.usual.level, hot.estimate)) < AdaptiveSilence.bodyReach
  }

  /// The level at one metre in dBm: the directory's or the frame's.
  var measuredPower: Double? { cold.power.isNaN ? nil : Double(cold.power) }

  // MARK: Extras

  /// Changes the extras, which are made if there are none.
  func changeExtras<Result>(_ body: (inout Extras) -> Result) -> Result {
    let isOwn = isKnownUniquelyReferenced(&cold.box)
    let own = isOwn ? cold.box ?? ExtrasBox() : ExtrasBox(cold.box?.extras ?? Extras())
    if !isOwn { cold.box = own }
    return body(&own.extras)
  }

  /// Notes what of the extras decides how the beacon is heard, and removes them if nothing is left in them.
  func recordExtras() {
    guard let extras = cold.box?.extras else { return cold.marks.subtract([.detailed, .several, .shared]) }
    if extras.isEmpty { cold.box = nil }
    set(.detailed, !extras.presences.isEmpty)
    set(.several, extras.presences.count > 1)
    set(.shared, !extras.others.isEmpty)
  }

  /// The interval that the directory declares, in seconds.
  var declaredInterval: Float? {
    get { cold.box.flatMap { $0.extras.declared.isNaN ? nil : $0.extras.declared } }
    nonmutating set { if newValue != declaredInterval { changeExtras { $0.declared = newValue ?? .nan } } }
  }

  /// The modes of the tag.
  var modes: TagModes { cold.box?.extras.losses.modes ?? TagModes() }

  /// The slowest interval of its modes in seconds, or 0.
  var slowestInterval: Float { modes.slowest }

  /// Takes over modes that are known of the tag.
  func adopt(_ known: TagModes) {
    var new = modes
    new.formUnion(known)
    if new != modes { changeExtras { $0.losses.modes = new } }
  }

  /// The time until which another address of the identity may be silent.
  var othersUntil: Timestamp {
    guard cold.marks.contains(.shared), let box = cold.box else { return .distantPast }
    return box.extras.others.reduce(.distantPast) { max($0, $1.until) }
  }

  func set(_ mark: ColdTrack.Marks, _ isSet: Bool) {
    if isSet { cold.marks.insert(mark) } else { cold.marks.remove(mark) }
  }

  // MARK: Presences

  /// The phase of the first presence.
  var phase: Presence.Phase {
    get { Presence.Phase(rawValue: UInt8(cold.marks.rawValue >> ColdTrack.Marks.phaseShift)) ?? .outside }
    nonmutating set {
      let others = cold.marks.rawValue & (1 << ColdTrack.Marks.phaseShift - 1)
      cold.marks = ColdTrack.Marks(rawValue: others | UInt16(newValue.rawValue) << ColdTrack.Marks.phaseShift)
    }
  }

  /// The number of presences: one for each policy, and one if there is none.
  var presenceCount: Int { cold.marks.contains(.several) ? cold.box?.extras.presences.count ?? 1 : 1 }

  /// The presence under the policy at a place of the match set.
  ///
  /// The first one is in the track as long as it looks at silence alone; otherwise all are in the extras, and the track repeats
  /// the first.
  func presence(_ place: Int) -> Presence {
    if cold.marks.contains(.detailed), let extras = cold.box?.extras { return extras.presences[place] }
    return Presence(
      phase,
      moment: cold.moment,
      isWaiting: cold.marks.contains(.waiting),
      allowed: allowed,
      policy: cold.policy
    )
  }

  /// Changes the presence at a place.
  func change<Result>(presence place: Int, _ body: (inout Presence) -> Result) -> Result {
    var presence = presence(place)
    defer { keep(presence, at: place) }
    return body(&presence)
  }

  /// Puts a presence in its place.
  func keep(_ presence: Presence, at place: Int) {
    guard place == 0 else { return changeExtras { $0.presences[place] = presence } }
    allowedMilliseconds = TrackHandle.milliseconds(presence.allowed)
    phase = presence.phase
    set(.waiting, presence.isWaiting)
    cold.moment = presence.moment
    if cold.marks.contains(.several) || !presence.isSilenceOnly
      || allowedMilliseconds == TrackHandle.allowedElsewhere
    {
      changeExtras { extras in
        if extras.presences.isEmpty {
          extras.presences.append(presence)
        } else {
          extras.presences[0] = presence
        }
      }
      set(.detailed, true)
    } else if cold.marks.contains(.detailed) {
      changeExtras { $0.presences = [] }
      recordExtras()
    }
  }

  /// The silence that the first policy allows now.
  var allowed: TimeSpan {
    switch allowedMilliseconds {
    case TrackHandle.allowedForever: .forever
    case TrackHandle.allowedElsewhere: cold.box?.extras.presences.first?.allowed ?? .forever
    default: .milliseconds(Int64(allowedMilliseconds))
    }
  }

  private static func milliseconds(_ span: TimeSpan) -> UInt32 {
    if span == .forever { return allowedForever }
    let (whole, rest) = span.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return rest == 0 && whole >= 0 && whole < Int64(allowedElsewhere) ? UInt32(whole) : allowedElsewhere
  }

  /// Returns true if the beacon is here under the policy at a place, as far as is known.
  func isHere(_ place: Int) -> Bool { place == 0 ? phase != .outside : presence(place).isHere }

  /// Indicates whether the beacon is here under any policy.
  var isHereByAnyPolicy: Bool { (0..<presenceCount).contains { isHere($0) } }

  /// Sets what the policy at a place allows now.
  func allow(_ gap: TimeSpan, enter: Float, exit: Float, at place: Int) {
    let milliseconds = TrackHandle.milliseconds(gap)
    if place == 0, enter.isNaN, exit.isNaN, milliseconds != TrackHandle.allowedElsewhere,
      !cold.marks.contains(.detailed)
    {
      allowedMilliseconds = milliseconds
      return
    }
    change(presence: place) {
      $0.allowed = gap
      $0.setLevels(enter: enter, exit: exit)
    }
  }

  /// Takes over a new match set; a policy that stays keeps its presence.
  func rematch(_ number: Int32, epoch: UInt32, from old: MatchSet, to new: MatchSet) {
    hot.epoch = UInt16(truncatingIfNeeded: epoch)
    cold.matchSet = number
    set(.levels, new.hasLevels)
    set(.seconds, new.needsSeconds)
    // How long it may be silent is computed when it is heard next: at that time whenever it has caught up.
    if old.policies != new.policies || old.hasLevels != new.hasLevels { cold.marks.insert(.unallowed) }
    guard old.policies != new.policies else { return updateFastPath() }
    let kept = old.policies.indices.map { presence($0) }
    let presences = new.policies.map { policy in
      kept.first { $0.policy == policy } ?? Presence(policy: policy)
    }
    if cold.box != nil { changeExtras { $0.presences = [] } }
    recordExtras()
    cold.policy = new.policies.first ?? 0
    keep(presences.first ?? Presence(policy: 0), at: 0)
    if presences.count > 1 {
      changeExtras { $0.presences = presences }
      recordExtras()
    }
    updateFastPath()
  }
}

/// The fields that few tracks need.
struct Extras: Sendable {
  /// Long runs of losses, and gaps that may be another interval.
  var losses = RareLosses()
  /// The proximity class at the last ranging.
  var proximity = ProximityClassifier()
  /// The interval that the directory declares, in seconds.
  var declared = Float.nan
  /// A level at one metre that is no whole number, in dBm.
  var power = Float.nan
  /// The halves of seconds that are open.
  var halves = SecondBuckets()
  /// The seconds of which zones have got a half already and ranging has not.
  var seconds = SecondBuckets()
  /// Indicates whether samples wait for the end of their half or their second.
  var hasOpenSeconds: Bool { !halves.open.isEmpty || !seconds.open.isEmpty }
  /// The presences of all policies, where there are several, or where the first one looks at more than silence.
  var presences: [Presence] = []
  /// Further addresses of the identity.
  var others: [OtherAddress] = []
  /// The latest gaps while the beacon is outside.
  var sparse = SparseGaps()

  /// Indicates whether there is nothing in them.
  var isEmpty: Bool {
    losses == RareLosses() && proximity.proximity == .unknown && declared.isNaN && power.isNaN
      && !hasOpenSeconds && presences.isEmpty && others.isEmpty && sparse.isEmpty
  }
}

/// The box that holds the extras of a track.
///
/// `@unchecked`: a track copies it before a change if another track, which is a copy, shares it.
package final class ExtrasBox: @unchecked Sendable {
  // A track is changed through its engine alone, which is exclusive. To check each access at run time costs about 40
  // instructions an advert where one application in ten ranges.
  @exclusivity(unchecked) var extras: Extras

  init(_ extras: Extras = Extras()) { self.extras = extras }
}

/// The state of an address that shares a track's identity with the address heard last.
struct OtherAddress: Sendable {
  var key: UInt64 = 0
  var sampleStart = Timestamp.distantPast
  /// The time until which it may be silent: by the longest limited silence that any policy allowed it.
  var until = Timestamp.distantPast
  /// The silence that the first policy allowed it.
  var allowed = TimeSpan.zero
  var intervals = IntervalLearner()
  var history = LossHistory()
}

extension Extras: FieldParts {
  /// Hands the gaps while outside and the further addresses to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(parts: &sparse)
    try coder.code(list: &others, ofAtLeast: 32, into: OtherAddress()) {
      (other, coder) throws(Coder.Failure) in
      try coder.code(&other.key)
      try coder.code(&other.sampleStart)
      try coder.code(&other.until)
      try coder.code(&other.allowed)
      try coder.code(parts: &other.intervals)
      try coder.code(parts: &other.history)
    }
    try coder.check(others.count <= TrackHandle.addresses, "addresses")
  }
}

extension TrackHandle {
  /// Lets a young track believe one gap of the length that all others of its family have.
  func lookForInterval(of family: LossPool) {
    guard cold.received < IntervalLearner.young else { return }
    let interval = family.commonInterval
    guard interval > 0, hot.interval == 0 || hot.interval > interval * 1.5 else { return }
    changeExtras { $0.losses.shorter = interval }
  }
}

extension TrackHandle {
  /// Takes over what the directory says.
  ///
  /// - Returns: true if that differs from what it was before.
  func apply(_ facts: (measuredPower: Double?, interval: TimeSpan?)) -> Bool {
    let interval = facts.interval.map { Float($0.seconds) }
    let power = facts.measuredPower.map { Float($0) }
    let isDeclared = hot.flags.contains(.declaredPower)
    guard interval != declaredInterval || (power != nil) != isDeclared || power != nil && power != cold.power
    else {
      return false
    }
    declaredInterval = interval
    if power == nil { hot.flags.remove(.declaredPower) } else { hot.flags.insert(.declaredPower) }
    // A power that is no longer declared holds until the next frame states its own.
    if let power { cold.power = power }
    return true
  }

  /// Nothing was received for a while.
  func interrupt() {
    flush()
    for place in 0..<presenceCount { change(presence: place) { $0.interrupt() } }
    if cold.box?.extras.hasOpenSeconds == true {
      changeExtras { ($0.halves, $0.seconds) = (SecondBuckets(), SecondBuckets()) }
    }
    updateFastPath()
  }
}

extension TrackHandle {
  /// Takes the samples up to and including a half of a second out; those of a beacon that is ranged too are kept for the
  /// end of their second.
  func closeHalves(through half: Int64, isRanged: Bool) -> SecondBucket? {
    // Without holding the box: held twice it would be copied before each change.
    guard cold.box?.extras.halves.open.isEmpty == false else { return nil }
    return changeExtras { extras in
      let closed = extras.halves.close(through: half)
      if isRanged, var kept = closed {
        kept.number >>= 1
        extras.seconds.merge(kept)
      }
      return closed
    }
  }

  /// Takes the samples up to and including a second out, those of its halves that are still open among them.
  func closeSecond(_ second: Int64) -> SecondBucket? {
    guard cold.box?.extras.hasOpenSeconds == true else { return nil }
    return changeExtras { extras in
      if var late = extras.halves.close(through: SecondBucket.lastHalf(of: second)) {
        late.number >>= 1
        extras.seconds.merge(late)
      }
      return extras.seconds.close(through: second)
    }
  }

  /// The class of a distance, which is nil if undetermined.
  func classify(_ meters: Double?) -> RangedReading.Proximity {
    let before = cold.box?.extras.proximity ?? ProximityClassifier()
    var classifier = before
    let found = classifier.classify(meters)
    if classifier != before { changeExtras { $0.proximity = classifier } }
    return found
  }
}
