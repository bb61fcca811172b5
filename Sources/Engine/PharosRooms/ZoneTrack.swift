// How the zone of a beacon is decided. Each look, twice a second while summaries come, has four steps:
//
// 1. Hear. Each observer's `ObserverLevel` gives the level of the beacon and its variance, lower the longer the observer
//    has missed it. An observer that is down keeps its last level, since its silence proves nothing.
// 2. Weigh. `ZoneWeighing` scores each zone by how much other zones' observers lead over its own, beyond what chance explains.
//    Zones with fingerprints are compared by what was learned in them.
// 3. Believe. `ZoneBelief`, a hidden Markov model, first moves the probabilities towards each other for the time that has
//    passed, ten times as fast for a beacon that is carried as for one that lies still, and then multiplies by the scores.
// 4. Decide. If no observer of the present zone can tell, the zone becomes unmonitored; if all can and are silent, the beacon
//    leaves it. Otherwise another zone takes its place when its probability exceeds what is needed, at once through a known
//    door, after a dwell elsewhere. A zone that has been improbable for long, without a successor, is left too.

import PharosDocuments
package import PharosModel

/// The zone decision for one beacon: its levels, the probabilities of the zones, and the state machine that reports
/// changes.
package struct ZoneTrack: Equatable, Sendable {
  /// The life of an observer that stands in zones.
  package enum LifeState: UInt8, FieldChoice {
    /// It has given no sign since the start.
    case unknown
    /// It gives signs of life.
    case up
    /// It went offline.
    case down

    static let fieldName = "the life of an observer"
  }

  /// The input of a look that is the same for all beacons.
  package struct Surroundings: Sendable {
    /// The zones, which change only with the site.
    package let plan: ZonePlan
    /// The time in which each observer is proved to have been able to hear, by its place in the plan.
    package var listening: [ListeningTime]
    /// The offsets that are added to the observers' levels.
    package var offsets: OffsetTable
    /// The slow deviations of the levels.
    package var noise = LevelNoise()
    /// The life of each observer, by its place in the plan.
    package var lives: [LifeState]
    /// Indicates whether each observer has reported a beacon since the start.
    package var hasReported: [Bool]
    /// The time of the first report of a beacon, or the distant future before it.
    package var start = Timestamp.distantFuture

    package init(plan: ZonePlan, noise: LevelNoise = LevelNoise()) {
      let count = plan.observers.count
      self.plan = plan
      self.noise = noise
      listening = Array(repeating: ListeningTime(), count: count)
      offsets = OffsetTable(observers: count)
      lives = Array(repeating: .unknown, count: count)
      hasReported = Array(repeating: false, count: count)
    }

    /// Records that an observer reports beacons.
    package mutating func report(of observer: Int, at instant: Timestamp) {
      hasReported[observer] = true
      start = min(start, instant)
    }

    /// Returns the chance that an observer without a report so far has heard a beacon and will report it with its first upload.
    func lateChance(of observer: Int, at instant: Timestamp) -> Double {
      hasReported[observer] || instant - start > ZoneRules.firstUpload ? 0 : ZoneRules.lateShare
    }

    /// Returns the part of an observer's silence about a beacon that is evidence.
    func silence(of level: ObserverLevel, at instant: Timestamp) -> TimeSpan {
      listening[level.observer].silence(since: level.reportedAt, deafTime: level.deafTime, at: instant)
    }
  }

  /// The stay of the beacon in a zone.
  struct Stay: Equatable, Sendable {
    /// The zone.
    var zone: Int
    /// The time at which the beacon was assigned to the zone.
    var enteredAt: Timestamp
    /// The time at which the sample of the stay is due, or the distant future once it has been taken.
    var nextObservation: Timestamp
    /// The time until which the zone is kept although no observer has heard the beacon yet.
    ///
    /// It is set when the zone is known only from an event that was published before a restart.
    var heldUntil = Timestamp.distantPast
    /// The time from which the zone has been doubted.
    var doubtedSince: Timestamp?
    /// The outage of the observers that heard the beacon in the zone, so that the zone is the last one known; nil while one of
    /// them is up.
    var outage: Outage?
  }

  /// The time in which a stay is not monitored.
  struct Outage: Equatable, Sendable {
    var since: Timestamp
    /// The time at which the alarm about it is due, or the distant future before there is one and once it has been raised.
    var alarm = Timestamp.distantFuture
  }

  /// A zone that is certain but not yet reported.
  struct Candidate: Equatable, Sendable {
    var zone: Int
    /// The time at which it became certain.
    var since: Timestamp
  }

  /// The stay, if the beacon is in a zone.
  var stay: Stay?
  /// The zones that place the beacon, as of an epoch of the regions.
  package var placing: [Bool] = []
  package var placingEpoch: UInt32?
  /// Counts the transitions: a part of every event's id.
  package var counter: UInt64 = 0
  /// The time of the next look at the levels, or the distant future while there is nothing to look at.
  package var nextLook = Timestamp.distantFuture

  /// The levels of the observers that hear the beacon, in the plan's order.
  package var levels: [ObserverLevel] = []
  /// The probability of each zone.
  var belief = ZoneBelief()
  /// The zone that challenges the present one.
  var candidate: Candidate?
  /// The time of the last change.
  var changedAt = Timestamp.distantPast
  /// The probability that the beacon is carried.
  package var carriage = Carriage()
  /// The probability of the present zone at the last look.
  package var probability = 0.0
  /// The time of the last look with new evidence.
  var weighedAt = Timestamp.distantPast
  var isFresh = false
  var lag = TimeSpan.zero
  /// The gap model learned from all of its observers.
  var gaps = GapModel()
  var outageTime = Timestamp.distantPast

  /// Starts in no zone, with no level known.
  package init() {}

  /// The zone that the beacon is in.
  package var zone: Int? { stay?.zone }

  /// The time at which the beacon was assigned to its zone.
  package var enteredAt: Timestamp? { stay?.enteredAt }

  /// The time since which the zone is the last one known, if no observer that heard the beacon there is up.
  package var unmonitoredSince: Timestamp? { stay?.outage?.since }

  /// Sets the time at which the alarm about a beacon that stays unmonitored is due; one that is monitored needs none.
  package mutating func setAlarm(at time: Timestamp) { stay?.outage?.alarm = time }

  /// Indicates whether the beacon is in no zone and no observer that is up hears it.
  var isIdle: Bool { zone == nil && levels.allSatisfy(\.isDark) }

  /// Takes an observer's summary of the beacon, from which the noise of the site learns too.
  package mutating func add(
    _ summary: BeaconSummary,
    of observer: Int,
    until end: Timestamp,
    at instant: Timestamp,
    deafTime: TimeSpan,
    _ noise: inout LevelNoise
  ) {
    lag = max(.zero, instant - end)
    carriage.advance(to: instant)
    isFresh = true
    // Soon, unless a look is due anyway: a beacon that was silent for long is looked at seldom.
    if nextLook > instant + ZoneRules.period { nextLook = instant }
    if let index = levels.firstIndex(where: { $0.observer == observer }) {
      let gap = instant - levels[index].reportedAt
      levels[index].tear(by: deafTime)
      // A gap that an outage or a restart has torn says nothing about losses.
      if !levels[index].isBack, !levels[index].isTorn {
        gaps.learn(max(0, gap.seconds))
      }
      let evidence = levels[index].add(summary, at: instant, carriage: carriage.probability, &noise)
      carriage.update(gap < .seconds(1) ? ZoneRules.halfEvidence * evidence : evidence)
      return
    }
    var level = ObserverLevel(summary, of: observer, at: instant, gaps: gaps.borrowedPrior, noise)
    level.deafTime = deafTime
    if levels.contains(where: \.isDark) { level.levelAtOutage = ZoneRules.sensitivity }
    // An observer that did not hear the beacon while others did says that it has come nearer.
    if let first = levels.lazy.map(\.since).min(), instant - first >= ZoneRules.shortestPresence {
      carriage.update(level.arrival)
    }
    let place = levels.firstIndex { observer < $0.observer } ?? levels.count
    levels.insert(level, at: place)
  }

  /// Marks an observer as down.
  ///
  /// Returns false if the observer did not hear the beacon.
  package mutating func markOffline(
    _ observer: Int,
    since time: Timestamp,
    at instant: Timestamp,
    _ around: Surroundings
  ) -> Bool {
    guard let index = levels.firstIndex(where: { $0.observer == observer }) else { return false }
    outageTime = time
    levels[index].isDark = true
    nextLook = min(nextLook, instant + ZoneRules.period)
    for other in levels.indices where other != index && !levels[other].isDark {
      levels[other].levelAtOutage = current(other, at: instant, around)
    }
    return true
  }

  /// Marks an observer as up again.
  ///
  /// Returns false if it did not hear the beacon before it went down, or has reported it since.
  package mutating func recover(_ observer: Int, at instant: Timestamp, _ around: Surroundings) -> Bool {
    if let index = levels.firstIndex(where: { $0.observer == observer && $0.isDark }) {
      levels[index].recover(at: instant, deafTime: around.listening[observer].deafTime)
    } else if let stay, stay.outage != nil, around.plan.zones(of: observer).contains(stay.zone) {
      // Its level was lost in a restart: it gets the time to hear the beacon again.
      self.stay?.heldUntil = instant + ZoneRules.maximumPresence
    } else {
      return false
    }
    nextLook = min(nextLook, instant)
    return true
  }

  /// Schedules a look soon, because an observer's silence counts again.
  ///
  /// Returns false if the observer does not hear the beacon.
  package mutating func comeUp(for observer: Int, at instant: Timestamp) -> Bool {
    guard levels.contains(where: { $0.observer == observer }) else { return false }
    nextLook = min(nextLook, instant + ZoneRules.period)
    return true
  }

  /// Evaluates the levels, updates the probabilities, and leaves the result in the weighing.
  package mutating func look(
    at instant: Timestamp,
    _ around: Surroundings,
    _ weighing: inout ZoneWeighing
  ) {
    forget(at: instant, around)
    weighing.removeAll()
    weighing.chance = zone == nil ? 0 : ZoneRules.chanceDeviations * (1 - carriage.probability)
    let isFalling = receive(at: instant, around, into: &weighing)
    belief.recall(into: &weighing, around.plan)
    weighing.rank(around.plan, placing: placing)
    if around.plan.fingerprints != nil {
      observe(around, &weighing)
      weighing.lookRate = ZoneRules.lookRate(carriage: carriage.probability, deviationTime: around.noise.time)
      weighing.compareFingerprints(around.plan, placing: placing, at: instant)
    }
    weighing.trim(keeping: zone)
    weighing.compareCandidates()
    guard !weighing.candidates.isEmpty else { return belief.removeAll() }
    belief.recallElsewhere(into: &weighing, around.plan)
    // Without anything new the probabilities wait, so that a zone that was certain stays so until the next second.
    guard isFresh || isFalling else { return weighing.countLook() }
    let maximum = isFalling ? ZoneRules.period.seconds : ZoneRules.maximumRepresentedTime.seconds
    let evidence = weighedAt == .distantPast ? ZoneRules.period.seconds : (instant - weighedAt).seconds
    let elapsed = weighedAt == .distantPast ? 0 : (instant - weighedAt).seconds
    weighedAt = instant
    isFresh = false
    let rate = ZoneRules.restingRate + carriage.probability * (ZoneRules.walkingRate - ZoneRules.restingRate)
    weighing.score(around.plan)
    belief.step(elapsed: elapsed, rate: rate, evidence: min(evidence, maximum), &weighing, around.plan)
    weighing.countLook()
  }

  /// Sets what each observer contributes to the comparison of fingerprints.
  ///
  /// An observer that is up and no longer, or not yet, hears the beacon is silent. One that has heard it once has still to hear
  /// it again.
  package func observe(_ around: Surroundings, _ weighing: inout ZoneWeighing) {
    weighing.look.removeAll(keepingCapacity: true)
    for observer in around.plan.observers.indices {
      let isSilent = around.lives[observer] == .up && around.hasReported[observer]
      weighing.look.append(isSilent ? .silence : .none)
    }
    for level in levels { weighing.look[level.observer] = .none }
    for heard in weighing.heard { weighing.look[heard.observer] = .level(heard.level) }
  }

  /// Returns the event time of a change: the decision's instant minus the lag of the summary before it, never earlier
  /// than the last change.
  mutating func stamp(_ instant: Timestamp) -> Timestamp {
    changedAt = max(changedAt, instant - lag)
    return changedAt
  }

  /// Adds the level at each observer that hears the beacon.
  ///
  /// Returns true if an observer has fallen silent.
  private mutating func receive(
    at instant: Timestamp,
    _ around: Surroundings,
    into weighing: inout ZoneWeighing
  ) -> Bool {
    var isFalling = false
    for index in levels.indices where levels[index].samples > 1 && !levels[index].isDark {
      if levels[index].fall(after: around.silence(of: levels[index], at: instant)) > 0 { isFalling = true }
    }
    carriage.advance(to: instant)
    let nearer = approach(at: instant, around)
    for index in levels.indices {
      let level = levels[index]
      // An observer that is back keeps its beacons from being handed next door until it has had the time to hear them.
      let isHeld = level.isDark || level.isBack
      let fallen = nearer + level.fall(after: around.silence(of: level, at: instant))
      // One sample alone says nothing: a reflection gives it, and so does a neighbour's open door.
      guard isHeld || level.samples > 1 else { continue }
      let now =
        isHeld
        ? (level: expectedLevel(index, around) - fallen, variance: 0) : heardLevel(index, at: instant, around)
      weighing.heard.append(
        ZoneWeighing.Heard(
          observer: level.observer,
          level: now.level,
          offset: around.offsets.applied(level.observer),
          variance: now.variance,
          isDark: isHeld
        )
      )
    }
    return isFalling
  }
}

extension ZoneTrack {
  /// A change of zone that is ready to be published.
  package struct Move: Sendable {
    package var from: Int?
    package var to: Int?
    package var time: Timestamp
    package var margin: Double?
    package var dwell: TimeSpan?
    package var reason: ZoneTransition.Reason
    package var probability: Double?
    package var runnerUp: ZoneWeighing.Candidate?
    /// The kind of event where the beacon stays in its zone; nil for an exit, an enter, or both.
    package var kind: EventKind?
  }

  /// Decides the zone after a look, and returns the change, if any.
  ///
  /// `isInside` tells whether a region has the beacon inside, or unmonitored, by an observer of some zone.
  package mutating func decide(
    at instant: Timestamp,
    isInside: Bool,
    _ around: Surroundings,
    _ weighing: ZoneWeighing
  ) -> Move? {
    nextLook = isIdle ? .distantFuture : instant + pause(at: instant)
    if zone != nil, let move = monitor(at: instant, isInside: isInside, around, weighing) { return move }
    if let own = weighing.candidates.first(where: { $0.zone == zone }) {
      probability = weighing.probability(of: own)
    }
    if let best = challenger(in: weighing), let needed = neededProbability(for: best, at: instant, around) {
      let found = weighing.probability(of: best)
      if found > needed { return challenge(best, probability: found, at: instant, around, weighing) }
    }
    candidate = nil
    return doubt(at: instant, around, weighing)
  }

  /// Decides whether the zone is monitored, and whether the silence of its observers ends it.
  ///
  /// The silence of an observer that is down says nothing: while an observer of the zone is down, or is back but has not
  /// had the time to hear the beacon, and none that is up hears it there, the beacon stays in the zone, unmonitored. Where
  /// all are up, the zone lasts at least as long as a region that has the beacon inside.
  private mutating func monitor(
    at instant: Timestamp,
    isInside: Bool,
    _ around: Surroundings,
    _ weighing: ZoneWeighing
  ) -> Move? {
    guard let stay else { return nil }
    let own = weighing.candidates.first { $0.zone == stay.zone }
    if own?.isLive == true {
      self.stay?.heldUntil = .distantPast
      return stay.outage == nil ? nil : remark(.zoneMonitored, at: stamp(instant), .confirmed)
    }
    guard stay.heldUntil <= instant else { return nil }
    if isHeld(in: stay.zone, around, weighing) {
      guard let outage = stay.outage else {
        // Of an observer that was never heard it is not known when it failed.
        let isOutage = levels.contains(where: \.isDark) || !around.hasObserver(.unknown, in: stay.zone)
        let time = max(changedAt, isOutage ? outageTime : instant)
        return remark(.zoneUnmonitored, at: time, .observerDown)
      }
      guard outage.alarm <= instant else { return nil }
      return remark(.zoneHoldExceeded, at: outage.alarm, .observerDown)
    }
    guard !isInside, !weighing.candidates.contains(where: \.isLive) else { return nil }
    return leave(at: instant, .silence, weighing)
  }

  /// Returns whether a zone is kept although no observer of it that is up hears the beacon.
  private func isHeld(in zone: Int, _ around: Surroundings, _ weighing: ZoneWeighing) -> Bool {
    weighing.candidates.first { $0.zone == zone }?.isDark == true || around.hasObserver(.down, in: zone)
      || !around.hasObserver(.up, in: zone)
  }

  /// Reports what has become of the monitoring of the zone, in which the beacon stays.
  private mutating func remark(_ kind: EventKind, at time: Timestamp, _ reason: ZoneTransition.Reason) -> Move
  {
    let since = unmonitoredSince
    let dwell = since.map { time - $0 }
    stay?.outage = kind == .zoneMonitored ? nil : Outage(since: since ?? time)
    changedAt = time
    return Move(from: zone, to: zone, time: time, dwell: dwell, reason: reason, kind: kind)
  }

  /// Returns the time until the next look, which grows with the time since an observer last heard the beacon.
  private func pause(at instant: Timestamp) -> TimeSpan {
    guard let reportedAt = levels.lazy.map(\.reportedAt).max() else { return ZoneRules.period }
    return max(ZoneRules.period, .seconds((instant - reportedAt).seconds * ZoneRules.silentPause))
  }

  /// Takes the sample of a stay from a beacon that lies still and whose zone is certain.
  ///
  /// Returns false if no sample is due.
  package mutating func teach(
    _ stays: inout StayLevels,
    of family: UInt64,
    at instant: Timestamp,
    _ around: Surroundings,
    _ weighing: ZoneWeighing
  ) -> Bool {
    guard let stay, instant >= stay.nextObservation, carriage.probability < ZoneRules.restProbability,
      !levels.contains(where: \.isDark)
    else { return false }
    guard belief.probability(of: stay.zone) >= ZoneRules.certainty else { return false }
    self.stay?.nextObservation = .distantFuture
    // The known offsets decide whose sample it is, whether they are used for zones or not: a loud observer
    // would otherwise claim its neighbours' beacons and teach that they are its own.
    let louder = { (left: ZoneWeighing.Heard, right: ZoneWeighing.Heard) in
      left.level + around.offsets.entries[left.observer].offset
        < right.level + around.offsets.entries[right.observer].offset
    }
    guard let loudest = weighing.heard.max(by: louder) else { return false }
    let level = loudest.level + around.offsets.entries[loudest.observer].offset
    let power = stays.power(of: family, level: level)
    let zones = around.plan.zones(of: loudest.observer)
    for other in weighing.heard where around.plan.zones(of: other.observer) != zones {
      stays.learn(other.observer, in: loudest.observer, other.level - power)
    }
    return true
  }

  /// Returns the probability that another zone must exceed, or nil while it is too early for a first one.
  private func neededProbability(
    for best: ZoneWeighing.Candidate,
    at instant: Timestamp,
    _ around: Surroundings
  ) -> Double? {
    guard zone == nil else {
      return ZoneRules.certainty - carriage.probability * (ZoneRules.certainty - ZoneRules.openCertainty)
    }
    let heard = levels.lazy.map { instant - $0.since }.max() ?? .zero
    guard heard >= ZoneRules.firstEvidence,
      unspokenChance(against: best, at: instant, around) <= ZoneRules.unspokenChance
    else { return nil }
    return heard >= ZoneRules.firstGuess ? ZoneRules.guessCertainty : ZoneRules.certainty
  }

  /// Returns the chance that a beacon in no zone yet belongs to one whose observers have not spoken, or only once.
  ///
  /// An observer of the beacon's own zone hears it at least as loud as any other does, and misses an advert with
  /// ``ZoneRules/missChance``. So what is heard weakly, and few times, waits for the observers that have not had their chance
  /// to hear it: those that upload later, or whose first adverts were lost.
  private func unspokenChance(
    against best: ZoneWeighing.Candidate,
    at instant: Timestamp,
    _ around: Surroundings
  ) -> Double {
    var (loudest, since) = (ZoneRules.sensitivity, instant)
    for level in levels where level.samples > 1 {
      loudest = max(loudest, level.carried + around.offsets.applied(level.observer))
      since = min(since, level.since)
    }
    let span = max((instant - since).seconds, 1e-9)
    let samples = Double(levels.lazy.map(\.samples).max() ?? 0)
    let louder = 1 / (1 + RadioMath.exponential((loudest - ZoneRules.usualLevel) / ZoneRules.usualLevelScale))
    var chance = 0.0
    for observer in around.lives.indices where around.lives[observer] != .down {
      let zones = around.plan.zones(of: observer)
      guard !zones.contains(best.zone), zones.contains(where: { placing.indices.contains($0) && placing[$0] })
      else { continue }
      guard let level = levels.first(where: { $0.observer == observer }) else {
        // One that is down is left out within seconds of its failure, so it needs no proof of life.
        let listened = (instant - around.listening[observer].delay - since).seconds
        let chances = samples * min(1, max(0, listened / span))
        let missed = RadioMath.power(ZoneRules.missChance, chances)
        chance = max(chance, louder * max(missed, around.lateChance(of: observer, at: instant)))
        continue
      }
      // One sample may be a reflection. Before it is heard again, or should have been, it is neither counted nor left out.
      guard level.samples == 1, level.carried + around.offsets.applied(observer) > loudest else { continue }
      let isDue = level.surprise(after: around.silence(of: level, at: instant)) < ZoneRules.silenceGrace
      if isDue { chance = 1 }
    }
    return chance
  }

  private mutating func challenge(
    _ best: ZoneWeighing.Candidate,
    probability: Double,
    at instant: Timestamp,
    _ around: Surroundings,
    _ weighing: ZoneWeighing
  ) -> Move? {
    let since = candidate?.zone == best.zone ? candidate?.since ?? instant : instant
    candidate = Candidate(zone: best.zone, since: since)
    let dwell = instant - since
    guard dwell >= needed(for: best.zone, around) else { return doubt(at: instant, around, weighing) }
    let lead = weighing.lead(of: best.zone)
    let next = weighing.runnerUp(behind: best.zone)
    let isTaught = next.map(best.isComparedByFingerprint) ?? false
    let move = Move(
      from: zone,
      to: best.zone,
      time: stamp(instant),
      margin: lead.isFinite && !isTaught ? lead : nil,
      dwell: dwell,
      reason: isTaught ? .fingerprint : .margin,
      probability: probability,
      runnerUp: next
    )
    stay = Stay(
      zone: best.zone,
      enteredAt: instant,
      nextObservation: instant + ZoneRules.observationDelay
    )
    self.probability = probability
    candidate = nil
    return move
  }

  /// Returns the most probable of the zones that the beacon is not in, if an observer that is up hears the beacon there.
  private func challenger(in weighing: ZoneWeighing) -> ZoneWeighing.Candidate? {
    weighing.runnerUp(behind: zone ?? ZoneWeighing.elsewhere).flatMap { $0.isLive ? $0 : nil }
  }

  /// Returns the zone that challenges the present one after a look, and what it lacks to be reported.
  package func rival(at instant: Timestamp, _ around: Surroundings, _ weighing: ZoneWeighing) -> ZoneRival? {
    guard let best = challenger(in: weighing) else { return nil }
    let needed = neededProbability(for: best, at: instant, around)
    var rival = ZoneRival(
      zone: around.plan.zones[best.zone].identifier,
      probability: weighing.probability(of: best),
      needed: needed
    )
    if let next = weighing.runnerUp(behind: best.zone), best.isComparedByFingerprint(with: next) {
      rival.next = around.plan.zones[next.zone].identifier
      rival.evidence = best.evidence(over: next)
    } else if let next = weighing.runnerUp(behind: best.zone), next.observer >= 0 {
      rival.next = around.plan.zones[next.zone].identifier
      rival.lead = best.lead(over: next)
      let odds = (needed ?? ZoneRules.certainty) / (1 - (needed ?? ZoneRules.certainty))
      let deviations = RadioMath.naturalLog(odds) / ZoneWeighing.normalSlope
      rival.neededLead = deviations * (best.variance + next.variance).squareRoot()
    }
    let wait = self.needed(for: best.zone, around)
    if wait > .zero {
      rival.waited = candidate.flatMap { $0.zone == best.zone ? instant - $0.since : nil } ?? .zero
      rival.neededWait = wait
    }
    return rival
  }

  /// Returns the time for which a zone must have been certain: none where a door connects it to the present zone.
  private func needed(for target: Int, _ around: Surroundings) -> TimeSpan {
    switch zone.map({ around.plan.step(from: $0, to: target) }) {
    case nil, .stay, .walk: .zero
    case .stray: ZoneRules.strayDwell
    case .climb: ZoneRules.climbDwell
    }
  }

  /// Leaves a zone that has been improbable for long, although no other is certain, unless its observers are down.
  private mutating func doubt(
    at instant: Timestamp,
    _ around: Surroundings,
    _ weighing: ZoneWeighing
  ) -> Move? {
    guard let stay, belief.probability(of: stay.zone) < ZoneRules.doubt, stay.heldUntil <= instant,
      !isHeld(in: stay.zone, around, weighing)
    else {
      self.stay?.doubtedSince = nil
      return nil
    }
    let since = stay.doubtedSince ?? instant
    self.stay?.doubtedSince = since
    guard candidate == nil, instant - since >= ZoneRules.notSureDwell else { return nil }
    return leave(at: instant, .notSure, weighing)
  }

  private mutating func leave(
    at instant: Timestamp,
    _ reason: ZoneTransition.Reason,
    _ weighing: ZoneWeighing
  ) -> Move {
    var move = Move(from: zone, to: nil, time: stamp(instant), reason: reason)
    if reason == .notSure, let zone {
      move.probability = belief.probability(of: zone)
      move.runnerUp = weighing.runnerUp(behind: zone)
    }
    stay = nil
    candidate = nil
    if reason == .silence { belief.removeAll() }
    return move
  }
}

extension ZoneTrack.Surroundings {
  /// Returns whether an observer of a zone is up, or down.
  package func hasObserver(_ life: ZoneTrack.LifeState, in zone: Int) -> Bool {
    lives.indices.contains { lives[$0] == life && plan.zones(of: $0).contains(zone) }
  }
}

extension ZoneWeighing {
  /// Returns the lead of a zone's observers over those of the other zones of all floors.
  fileprivate func lead(of zone: Int) -> Double {
    guard let own = candidates.first(where: { $0.zone == zone }) else { return 0 }
    let others = candidates.lazy.filter {
      $0.zone != zone && $0.zone != ZoneWeighing.elsewhere && $0.observer >= 0
    }
    return others.map { own.lead(over: $0) }.min() ?? .infinity
  }

  /// The slope of the logistic curve that is closest to the normal distribution.
  fileprivate static let normalSlope = 1.702

  /// Returns the probability that decides about a zone: that of all levels so far, or if it is smaller that of its lead
  /// over the next zone being more than chance.
  fileprivate func probability(of own: Candidate) -> Double {
    guard own.observer >= 0, let next = runnerUp(behind: own.zone), next.observer >= 0,
      !own.isComparedByFingerprint(with: next)
    else { return own.probability }
    let deviation = max((own.variance + next.variance).squareRoot(), .leastNormalMagnitude)
    let slope = ZoneWeighing.normalSlope * own.lead(over: next) / deviation
    return min(own.probability, 1 / (1 + RadioMath.exponential(-slope)))
  }

  /// The most probable of the other zones, if one was weighed.
  fileprivate func runnerUp(behind zone: Int) -> Candidate? {
    var next: Candidate?
    for other in candidates where other.zone != zone && other.zone != ZoneWeighing.elsewhere {
      if next.map({ ($0.probability, -$0.zone) < (other.probability, -other.zone) }) ?? true { next = other }
    }
    return next
  }
}

/// The effect of silence on the levels, at observers that are up and at those that are down.
extension ZoneTrack {
  /// Returns the level that counts, reduced by silence, and its variance.
  func heardLevel(
    _ index: Int,
    at instant: Timestamp,
    _ around: Surroundings
  ) -> (level: Double, variance: Double) {
    let level = levels[index]
    var heard = level.level(carriage: carriage.probability, around.noise)
    let fall = level.fall(after: around.silence(of: level, at: instant))
    if fall > 0 { heard.level = max(heard.level - fall, min(ZoneRules.sensitivity, heard.level)) }
    return heard
  }

  /// Returns the correction of the levels of observers that are down: the rise of the level at a live observer since
  /// the outage, beyond ``ZoneRules/approachBand``.
  func approach(at instant: Timestamp, _ around: Surroundings) -> Double {
    var rise = 0.0
    guard levels.contains(where: \.isDark) else { return 0 }
    for index in levels.indices where !levels[index].isDark && levels[index].samples > 1 {
      guard let before = levels[index].levelAtOutage else { continue }
      rise = max(rise, current(index, at: instant, around) - before)
    }
    return max(0, rise - ZoneRules.approachBand)
  }

  /// Returns the current level, reduced by silence.
  func current(_ index: Int, at instant: Timestamp, _ around: Surroundings) -> Double {
    let silence = around.silence(of: levels[index], at: instant)
    let level = expectedLevel(index, around)
    let fallen = level - levels[index].fall(after: silence)
    return levels[index].isDark ? fallen : max(fallen, min(ZoneRules.sensitivity, level))
  }

  /// Returns the level of a beacon that is carried or lies still, as likely as the one and the other are: the noise of one
  /// advert is no movement.
  private func expectedLevel(_ index: Int, _ around: Surroundings) -> Double {
    levels[index].level(carriage: carriage.probability, around.noise).level
  }

  /// Removes the levels of silent observers, and those of observers that are down once the beacon has clearly moved.
  mutating func forget(at instant: Timestamp, _ around: Surroundings) {
    forgetSilent(at: instant, around)
    guard levels.contains(where: \.isDark) else {
      for index in levels.indices where levels[index].levelAtOutage != nil {
        levels[index].levelAtOutage = nil
      }
      return
    }
    var loudest: Int?
    for index in levels.indices where !levels[index].isDark && levels[index].samples > 1 {
      let level = current(index, at: instant, around)
      if loudest.map({ current($0, at: instant, around) < level }) ?? true { loudest = index }
    }
    guard let loudest, let before = levels[loudest].levelAtOutage else { return }
    let hasMoved = current(loudest, at: instant, around) - before >= ZoneRules.releaseRise
    if hasMoved { levels.removeAll(where: \.isDark) }
  }

  /// Removes the observers that no longer hear the beacon.
  ///
  /// If all are silent, the probabilities of their silences multiply.
  private mutating func forgetSilent(at instant: Timestamp, _ around: Surroundings) {
    let shortest = ZoneRules.shortestPresence
    var (silent, live, together) = (0, 0, 0.0)
    for level in levels where !level.isDark {
      live += 1
      let silence = around.silence(of: level, at: instant)
      guard silence >= shortest else { continue }
      silent += 1
      together += level.surprise(after: silence)
    }
    guard silent > 0 else { return }
    let areGone = silent == live && together >= ZoneRules.silentSurprise
    levels.removeAll { level in
      let silence = around.silence(of: level, at: instant)
      return level.isGone(after: silence, surprise: areGone ? .infinity : level.surprise(after: silence))
    }
  }
}

/// The zone that is most probable beside the one that a beacon is in, and what it lacks to be reported.
package struct ZoneRival: Hashable, Sendable {
  /// The zone.
  package var zone: String
  /// The zone that it is compared with, if there is one.
  package var next: String?
  /// Its probability, 0 to 1.
  package var probability: Double
  /// The probability that it must exceed; nil as long as the beacon was heard too short for a first zone.
  package var needed: Double?
  /// Its lead over the next zone.
  ///
  /// - Units: dB.
  package var lead: Double?
  /// The lead that would be no chance; a smaller one is the evidence that is missing.
  ///
  /// - Units: dB.
  package var neededLead: Double?
  /// The log-odds of the look for it against the next zone, where both have fingerprints.
  ///
  /// - Units: nats.
  package var evidence: Double?
  /// The time for which it has been certain, and for which it must be, where no door leads to it.
  package var waited: TimeSpan?
  package var neededWait: TimeSpan?
}
