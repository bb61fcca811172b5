import PharosEvents
import PharosReports

/// Which zone one beacon is in: its levels, what they make probable, and the state machine that tells of it.
struct ZoneTrack: Sendable {
  /// What a look needs that is the same for all beacons.
  struct Surroundings: Sendable {
    /// What never changes while the site does not.
    let ground: ZoneGround
    /// Up to when each observer is known to have lived, by its place in the plan.
    var proofs: [Timestamp]
    /// What is added to each observer's levels.
    var offsets: OffsetTable

    /// The zones.
    var plan: ZonePlan { ground.plan }
    /// The constants.
    var rules: ZoneRules { ground.rules }

    /// Puts a look's needs together.
    init(plan: ZonePlan, rules: ZoneRules, proofs: [Timestamp], offsets: OffsetTable) {
      ground = ZoneGround(plan: plan, rules: rules)
      self.proofs = proofs
      self.offsets = offsets
    }

    /// Returns the time up to which an observer's silence counts: the instant or, if earlier, its last proof of life.
    ///
    /// The silence of a failed gateway is no evidence about its room, and the failure is noticed late. So silence does
    /// not count until a later sign of life shows that the gateway was up.
    func through(_ instant: Timestamp, of observer: Int) -> Timestamp { min(instant, proofs[observer]) }
  }

  /// The zone that the beacon is in.
  var zone: Int?
  /// Which zones place the beacon, as of an epoch of the regions.
  var placing: [Bool] = []
  var placingEpoch: UInt32?
  /// Counts the transitions: a part of every event's id.
  var counter: UInt64 = 0
  /// The time until which the zone is kept although no observer has heard the beacon yet.
  ///
  /// It is set when the zone is known only from an event that was published before a restart.
  var heldUntil = Timestamp.distantPast
  /// When the levels are to be looked at again; in the far future while there is nothing to look at.
  var nextLook = Timestamp.distantFuture

  /// Who hears it, in the plan's order.
  var levels: [ObserverLevel] = []
  /// How probable each zone is.
  var belief = ZoneBelief()
  /// The zone that is certain but not told yet, and since when.
  var candidate: Int?
  var candidateSince = Timestamp.distantPast
  /// Since when the zone that it is in has been doubted.
  var doubtedSince: Timestamp?
  /// The time of the last change.
  var changedAt = Timestamp.distantPast
  /// The time at which the beacon was assigned to its present zone.
  var enteredAt = Timestamp.distantPast
  /// When the next lesson is due, and how long after it the one behind.
  var nextLesson = Timestamp.distantFuture
  var lessonGap = TimeSpan.zero
  /// Whether its levels change at more than one observer.
  var isMoving = false

  /// Since when one observer alone has heard it weaker, and which.
  var shadowed: (observer: Int, since: Timestamp)?
  var lookedAt = Timestamp.distantPast
  var weighedAt = Timestamp.distantPast
  var isFresh = false
  var lag = TimeSpan.zero
  /// How many adverts were heard since its levels began to change.
  var heardOnTheMove = 0.0
  /// What all of its observers have taught about its gaps.
  var gaps = GapModel()
  var outageTime = Timestamp.distantPast

  /// Whether nothing is known and nothing is awaited.
  var isIdle: Bool { zone == nil && levels.allSatisfy(\.isDark) }

  /// Takes how an observer heard the beacon in one second.
  mutating func add(
    _ summary: BeaconSummary,
    of observer: Int,
    until end: Timestamp,
    at instant: Timestamp,
    _ ground: ZoneGround
  ) {
    lag = max(.zero, instant - end)
    heardOnTheMove += Double(summary.count)
    isFresh = true
    // Soon, unless a look is due anyway: a beacon that was silent for long is looked at seldom.
    if nextLook > instant + ground.rules.period { nextLook = instant }
    if let index = levels.firstIndex(where: { $0.observer == observer }) {
      // A gap that an outage or a restart has torn says nothing about losses.
      if !levels[index].isBack, !levels[index].isTorn {
        gaps.learn(max(0, (instant - levels[index].toldAt).seconds), longest: ground.rules.longestInterval)
      }
      levels[index].add(summary, at: instant, circumstance(of: observer, at: instant, ground), ground)
      return
    }
    var level = ObserverLevel(summary, of: observer, at: instant, gaps: gaps.lesson, ground)
    if levels.contains(where: \.isDark) { level.levelAtOutage = ground.rules.sensitivity }
    let place = levels.firstIndex { observer < $0.observer } ?? levels.count
    levels.insert(level, at: place)
  }

  /// An observer went down; false if it did not hear the beacon.
  mutating func goDark(
    _ observer: Int,
    since time: Timestamp,
    at instant: Timestamp,
    _ around: Surroundings
  ) -> Bool {
    guard let index = levels.firstIndex(where: { $0.observer == observer }) else { return false }
    outageTime = time
    levels[index].isDark = true
    nextLook = min(nextLook, instant + around.rules.period)
    for other in levels.indices where other != index && !levels[other].isDark {
      levels[other].levelAtOutage = current(other, at: instant, around)
    }
    return true
  }

  /// An observer is back; false if it did not hear the beacon before it went down, or has told of it since.
  mutating func recover(_ observer: Int, at instant: Timestamp) -> Bool {
    guard let index = levels.firstIndex(where: { $0.observer == observer && $0.isDark }) else { return false }
    levels[index].recover(at: instant)
    nextLook = min(nextLook, instant)
    return true
  }

  /// An observer's silence counts that did not for long: the next look is soon; false if it does not hear the beacon.
  mutating func comeUp(for observer: Int, at instant: Timestamp, _ rules: ZoneRules) -> Bool {
    guard levels.contains(where: { $0.observer == observer }) else { return false }
    nextLook = min(nextLook, instant + rules.period)
    return true
  }

  /// Looks at the levels, moves the probabilities on, and leaves in the weighing what came of it.
  mutating func look(
    at instant: Timestamp,
    _ around: Surroundings,
    _ gaps: LevelGaps,
    _ weighing: inout ZoneWeighing
  ) {
    forget(at: instant, around)
    weighing.removeAll()
    let isFalling = hear(at: instant, around, into: &weighing)
    belief.recall(into: &weighing, around.ground)
    weighing.rank(around.ground, placing: placing)
    weighing.trim(keeping: zone)
    guard !weighing.candidates.isEmpty else { return belief.removeAll() }
    belief.recallElsewhere(into: &weighing, around.ground)
    weighing.score(around.ground, gaps)
    var evidence = 0.0
    if isFresh || isFalling {
      let longest = around.ground.rules.longestEvidence.seconds
      evidence = min((instant - weighedAt).seconds, isFalling ? around.ground.rules.period.seconds : longest)
      if weighedAt == .distantPast { evidence = around.ground.rules.period.seconds }
      weighedAt = instant
      isFresh = false
    }
    let elapsed = lookedAt == .distantPast ? 0 : (instant - lookedAt).seconds
    lookedAt = instant
    let rate = isMoving ? around.ground.rules.walkingRate : around.ground.rules.restingRate
    belief.step(elapsed: elapsed, rate: rate, evidence: evidence, &weighing, around.ground)
  }

  /// What is known of the beacon while an observer hears it.
  private func circumstance(
    of observer: Int,
    at instant: Timestamp,
    _ ground: ZoneGround
  ) -> ObserverLevel.Circumstance {
    if isMoving { return .moving }
    if shadowed?.observer == observer { return .hidden }
    return zone != nil && instant - enteredAt >= ground.rules.settlingTime ? .settled : .still
  }

  /// Event time: the decision's instant less the lag of the summary before it, never going back.
  mutating func stamp(_ instant: Timestamp) -> Timestamp {
    changedAt = max(changedAt, instant - lag)
    return changedAt
  }

  /// Fills in who hears the beacon how loud; true if somebody has fallen silent.
  ///
  /// While no observer's level of the moment departs from its mean the beacon lies still, and the means count. Where a single
  /// one hears it weaker, somebody stands in the way, and they count for a while.
  private mutating func hear(
    at instant: Timestamp,
    _ around: Surroundings,
    into weighing: inout ZoneWeighing
  ) -> Bool {
    let ground = around.ground
    var (farthest, isFalling) = (0.0, false)
    for index in levels.indices where levels[index].samples > 1 && !levels[index].isDark {
      let through = around.through(instant, of: levels[index].observer)
      if levels[index].fall(at: through, ground) > 0 { isFalling = true }
      farthest = max(farthest, abs(levels[index].quick - levels[index].slow))
    }
    var (departed, alone) = (0, -1)
    for index in levels.indices where levels[index].samples > 1 && !levels[index].isDark {
      let departure = levels[index].quick - levels[index].slow
      let band = max(levels[index].quietBand(ground), ground.rules.companionShare * farthest)
      guard abs(departure) > band else { continue }
      departed += 1
      alone = departure < 0 ? levels[index].observer : -1
    }
    if departed == 1, alone >= 0 {
      if shadowed?.observer != alone { shadowed = (alone, instant) }
    } else if departed == 0 {
      shadowed = nil
    }
    let isShadow =
      departed == 1 && alone >= 0
      && (shadowed.map { instant - $0.since < ground.rules.shadowPatience } ?? false)
    let wasMoving = isMoving
    isMoving = departed > 0 && !isShadow
    if !wasMoving, isMoving { heardOnTheMove = 0 }
    if wasMoving, !isMoving { for index in levels.indices { levels[index].settleIn() } }
    let nearer = approach(at: instant, around)
    for index in levels.indices {
      let level = levels[index]
      let through = around.through(instant, of: level.observer)
      // An observer that is back keeps its beacons from being handed next door until it has had the time to hear them.
      let isHeld = level.isDark || level.isBack && level.fall(at: through, ground) == 0
      // One sample alone says nothing: a reflection gives it, and so does a neighbour's open door.
      guard isHeld || level.samples > 1 else { continue }
      weighing.heard.append(
        ZoneWeighing.Heard(
          observer: level.observer,
          level: isHeld ? level.quick - nearer : heardLevel(index, at: instant, around),
          offset: around.offsets.applied(level.observer),
          variance: isMoving ? level.variance : 0,
          isDark: isHeld
        )
      )
    }
    return isFalling
  }
}
