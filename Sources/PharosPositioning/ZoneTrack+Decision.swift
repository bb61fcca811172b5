import PharosEvents
import PharosReports

extension ZoneTrack {
  /// A change of zone, ready to be told.
  struct Move: Sendable {
    var from: Int?
    var to: Int?
    var time: Timestamp
    var margin: Double?
    var dwell: TimeSpan?
    var reason: ZoneTransition.Reason
    var probability: Double?
    var runnerUp: ZoneWeighing.Candidate?
  }

  /// Decides what a look has made of the zones.
  mutating func decide(at instant: Timestamp, _ around: Surroundings, _ weighing: ZoneWeighing) -> Move? {
    let ground = around.ground
    nextLook = isIdle ? .distantFuture : instant + pause(at: instant, ground.rules)
    if heldUntil > instant {
      guard weighing.candidates.contains(where: \.isLive) else { return nil }
      heldUntil = .distantPast
    }
    if let zone {
      let own = weighing.candidates.first { $0.zone == zone }
      if own?.isLive != true, own?.isDark == true { return leave(at: instant, .observerDown, weighing) }
      if !weighing.candidates.contains(where: \.isLive) { return leave(at: instant, .silence, weighing) }
    }
    let best = weighing.candidates.max { left, right in
      (left.probability, -left.zone) < (right.probability, -right.zone)
    }
    if let best, best.isLive, best.zone != zone, best.probability >= ground.rules.certainty {
      let lead = weighing.lead(of: best.zone)
      if lead.within >= margin(for: best, at: instant, ground, weighing), isWitnessed(ground) {
        return challenge(best, lead: lead.overall, at: instant, around, weighing)
      }
    }
    candidate = nil
    return doubt(at: instant, ground, weighing)
  }

  /// Returns the time until the next look, which grows with the time since an observer last heard the beacon.
  private func pause(at instant: Timestamp, _ rules: ZoneRules) -> TimeSpan {
    guard let toldAt = levels.lazy.map(\.toldAt).max() else { return rules.period }
    return max(rules.period, .seconds((instant - toldAt).seconds * rules.silentPause))
  }

  /// Whether what speaks for a change is more than an advert or two.
  private func isWitnessed(_ ground: ZoneGround) -> Bool {
    zone == nil || !isMoving || heardOnTheMove >= ground.rules.witnesses * Double(levels.count)
  }

  /// Takes a lesson from a beacon that is surely where it is and lies still; false if it is not the time.
  mutating func teach(
    _ gaps: inout LevelGaps,
    at instant: Timestamp,
    _ around: Surroundings,
    _ weighing: ZoneWeighing
  ) -> Bool {
    guard let zone, instant >= nextLesson, !isMoving, !levels.contains(where: \.isDark) else { return false }
    guard belief.probability(of: zone) >= around.ground.rules.certainty else { return false }
    nextLesson = instant + lessonGap
    lessonGap = lessonGap + lessonGap
    // Whose lesson it is, the offsets as far as they are known tell, whether they are used for zones or not: a loud observer
    // would otherwise claim its neighbours' beacons and teach that they are its own.
    let louder = { (left: ZoneWeighing.Heard, right: ZoneWeighing.Heard) in
      left.level + around.offsets.entries[left.observer].offset
        < right.level + around.offsets.entries[right.observer].offset
    }
    guard let loudest = weighing.heard.max(by: louder) else { return false }
    let zones = around.ground.plan.zones(of: loudest.observer)
    for other in weighing.heard where around.ground.plan.zones(of: other.observer) != zones {
      gaps.learn(loudest.observer, other.observer, loudest.level - other.level)
    }
    return true
  }

  /// The lead that a zone needs over the one that comes next: more where the levels are not known well.
  private func margin(
    for best: ZoneWeighing.Candidate,
    at instant: Timestamp,
    _ ground: ZoneGround,
    _ weighing: ZoneWeighing
  ) -> Double {
    guard let next = weighing.runnerUp(behind: best.zone), next.observer >= 0 else {
      return ground.rules.margin
    }
    let variance = doubt(about: best.observer) + doubt(about: next.observer)
    let lead = max(ground.rules.margin, ground.rules.leadDeviations * variance.squareRoot())
    guard zone != nil, !isMoving, instant - enteredAt >= ground.rules.settlingTime else { return lead }
    return lead + max(0, ground.rules.clearWay - way) * ground.rules.reluctance
  }

  /// How far the levels lie from their means of the last minute, over all of its observers.
  ///
  /// - Units: dB, root mean square.
  private var way: Double {
    var (sum, count) = (0.0, 0.0)
    for level in levels where !level.isDark && level.samples > 1 {
      let change = (isMoving ? level.quick : level.slow) - level.home
      sum += change * change
      count += 1
    }
    return count > 0 ? (sum / count).squareRoot() : 0
  }

  /// How uncertain a level is, and how far it wanders.
  private func doubt(about observer: Int) -> Double {
    guard let level = levels.first(where: { $0.observer == observer }) else { return 0 }
    return level.unrest + (isMoving ? level.variance : level.slowVariance)
  }

  private mutating func challenge(
    _ best: ZoneWeighing.Candidate,
    lead: Double,
    at instant: Timestamp,
    _ around: Surroundings,
    _ weighing: ZoneWeighing
  ) -> Move? {
    let ground = around.ground
    if candidate != best.zone {
      candidate = best.zone
      candidateSince = instant
    }
    let dwell = instant - candidateSince
    guard dwell >= needed(for: best.zone, around) else { return doubt(at: instant, ground, weighing) }
    let move = Move(
      from: zone,
      to: best.zone,
      time: stamp(instant),
      margin: lead.isFinite ? lead : nil,
      dwell: dwell,
      reason: .margin,
      probability: best.probability,
      runnerUp: weighing.runnerUp(behind: best.zone)
    )
    zone = best.zone
    enteredAt = instant
    candidate = nil
    doubtedSince = nil
    for index in levels.indices { levels[index].settleIn() }
    lessonGap = ground.rules.firstLesson
    nextLesson = instant + lessonGap
    return move
  }

  /// How long a zone must have won: longer where no door leads to it from the one that the beacon is in.
  private func needed(for target: Int, _ around: Surroundings) -> TimeSpan {
    switch zone.map({ around.ground.plan.step(from: $0, to: target) }) {
    case nil, .stay, .walk: around.ground.rules.dwell
    case .stray: max(around.ground.rules.dwell, around.ground.rules.strayDwell)
    case .climb: max(around.ground.rules.dwell, around.ground.rules.climbDwell)
    }
  }

  /// Gives a zone up that has been improbable for long, though no other is certain.
  private mutating func doubt(at instant: Timestamp, _ ground: ZoneGround, _ weighing: ZoneWeighing) -> Move?
  {
    guard let zone, belief.probability(of: zone) < ground.rules.doubt else {
      doubtedSince = nil
      return nil
    }
    let since = doubtedSince ?? instant
    doubtedSince = since
    guard candidate == nil, instant - since >= ground.rules.notSureDwell else { return nil }
    return leave(at: instant, .notSure, weighing)
  }

  private mutating func leave(
    at instant: Timestamp,
    _ reason: ZoneTransition.Reason,
    _ weighing: ZoneWeighing
  ) -> Move {
    let time = reason == .observerDown ? max(changedAt, outageTime) : stamp(instant)
    changedAt = time
    var move = Move(from: zone, to: nil, time: time, reason: reason)
    if reason == .notSure, let zone {
      move.probability = belief.probability(of: zone)
      move.runnerUp = weighing.runnerUp(behind: zone)
    }
    zone = nil
    candidate = nil
    doubtedSince = nil
    nextLesson = .distantFuture
    if reason == .silence { belief.removeAll() }
    return move
  }
}

extension ZoneWeighing {
  /// By how much a zone's loudest observer leads those of the other zones of its floor, and of all floors.
  fileprivate func lead(of zone: Int) -> (within: Double, overall: Double) {
    guard let own = candidates.first(where: { $0.zone == zone }) else { return (0, 0) }
    var (within, overall) = (Double.infinity, Double.infinity)
    for other in candidates
    where other.zone != zone && other.zone != ZoneWeighing.elsewhere && other.observer >= 0 {
      overall = min(overall, own.first - other.first)
      if other.floor == own.floor { within = min(within, own.first - other.first) }
    }
    return (within, overall)
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
