import PharosEvents
import PharosReports

/// Which zone one beacon is in: a state machine over the levels of the observers that hear it.
struct ZoneTrack: Sendable {
  /// A change of zone, ready to be told.
  struct Move: Sendable {
    var from: Int?
    var to: Int?
    var time: Timestamp
    var margin: Double?
    var dwell: TimeSpan?
    var reason: ZoneTransition.Reason
  }

  /// How loud a zone is; nil where nobody hears the beacon.
  struct Score: Sendable {
    let zone: Int
    /// What its live observers hear.
    var live: Double?
    /// What its observers that are down heard last.
    var dark: Double?

    var loudest: Double { max(live ?? -.infinity, dark ?? -.infinity) }
  }

  /// The zone that the beacon is in.
  private(set) var zone: Int?
  /// Which zones place the beacon, as of an epoch of the regions.
  var placing: [Bool] = []
  var placingEpoch: UInt32?
  /// Counts the transitions: a part of every event's id.
  var counter: UInt64 = 0

  private var levels: [ObserverLevel] = []
  private var candidate: Int?
  private var candidateSince = Timestamp.distantPast
  private var beatenSince: Timestamp?
  private var changedAt = Timestamp.distantPast
  private var lag = TimeSpan.zero
  private var outageTime = Timestamp.distantPast

  /// Whether nothing is known and nothing is awaited.
  var isIdle: Bool { zone == nil && levels.allSatisfy(\.isDark) }

  /// Takes how an observer heard the beacon in one second.
  mutating func add(_ summary: TrackSummary, at instant: Timestamp, _ rules: ZoneRules) {
    lag = max(.zero, instant - summary.until)
    if let index = levels.firstIndex(where: { $0.observer == summary.observer }) {
      levels[index].add(summary, at: instant)
      return
    }
    var level = ObserverLevel(summary, at: instant)
    if levels.contains(where: \.isDark) { level.levelAtOutage = rules.sensitivity }
    let place = levels.firstIndex { summary.observer < $0.observer } ?? levels.count
    levels.insert(level, at: place)
  }

  /// An observer went down; false if it did not hear the beacon.
  mutating func goDark(
    _ change: ObserverChange,
    at instant: Timestamp,
    _ rules: ZoneRules,
    proofs: [ObserverID: Timestamp]
  ) -> Bool {
    guard let index = levels.firstIndex(where: { $0.observer == change.observer }) else { return false }
    outageTime = change.time
    levels[index].isDark = true
    for other in levels.indices where other != index && !levels[other].isDark {
      levels[other].levelAtOutage = levels[other].compared(
        at: proofs.through(instant, of: levels[other]),
        rules
      )
    }
    return true
  }

  /// An observer is back; false if it did not hear the beacon.
  mutating func recover(_ observer: ObserverID, at instant: Timestamp) -> Bool {
    guard let index = levels.firstIndex(where: { $0.observer == observer }) else { return false }
    levels[index].recover(at: instant)
    return true
  }

  /// Compares the zones and says what has changed.
  mutating func settle(
    at instant: Timestamp,
    plan: ZonePlan,
    rules: ZoneRules,
    proofs: [ObserverID: Timestamp],
    scores: inout [Score]
  ) -> Move? {
    forget(at: instant, rules, proofs)
    score(at: instant, plan, rules, proofs, into: &scores)
    if let zone {
      let own = scores.first { $0.zone == zone }
      if own?.live == nil, own?.dark != nil { return leave(at: instant, .observerDown) }
      if !scores.contains(where: { $0.live != nil }) { return leave(at: instant, .silence) }
    }
    let ranked = ZoneTrack.rank(scores)
    guard let winner = ranked.winner, winner.zone != zone else {
      candidate = nil
      beatenSince = nil
      return nil
    }
    return challenge(winner, lead: ranked.lead, at: instant, plan: plan, rules: rules, scores: scores)
  }

  /// When the zones must be compared again although nobody says anything.
  func wake(after instant: Timestamp, plan: ZonePlan, rules: ZoneRules) -> Timestamp {
    guard !isIdle else { return .distantFuture }
    var due = instant + .seconds(1)
    if let candidate { due = min(due, candidateSince + dwell(of: candidate, plan, rules)) }
    if let beatenSince, candidate == nil { due = min(due, beatenSince + rules.notSureDwell) }
    return due > instant ? due : instant + .seconds(1)
  }

  private mutating func challenge(
    _ winner: Score,
    lead: Double,
    at instant: Timestamp,
    plan: ZonePlan,
    rules: ZoneRules,
    scores: [Score]
  ) -> Move? {
    if lead >= rules.margin {
      if candidate != winner.zone {
        candidate = winner.zone
        candidateSince = instant
      }
      if instant - candidateSince >= dwell(of: winner.zone, plan, rules) {
        return move(to: winner.zone, lead: lead, at: instant)
      }
    } else {
      candidate = nil
    }
    guard let zone else { return nil }
    let own = scores.first { $0.zone == zone }?.loudest ?? -.infinity
    guard (winner.live ?? -.infinity) - own >= rules.margin else {
      beatenSince = nil
      return nil
    }
    let since = beatenSince ?? instant
    beatenSince = since
    guard candidate == nil, instant - since >= rules.notSureDwell else { return nil }
    return leave(at: instant, .notSure)
  }

  private mutating func move(to target: Int, lead: Double, at instant: Timestamp) -> Move {
    defer {
      zone = target
      candidate = nil
      beatenSince = nil
    }
    return Move(
      from: zone,
      to: target,
      time: stamp(instant),
      margin: lead.isFinite ? lead : nil,
      dwell: instant - candidateSince,
      reason: .margin
    )
  }

  private mutating func leave(at instant: Timestamp, _ reason: ZoneTransition.Reason) -> Move {
    defer {
      zone = nil
      candidate = nil
      beatenSince = nil
    }
    let time = reason == .observerDown ? max(changedAt, outageTime) : stamp(instant)
    changedAt = time
    return Move(from: zone, to: nil, time: time, margin: nil, dwell: nil, reason: reason)
  }

  /// Event time: the decision's instant less the lag of the summary before it, never going back.
  private mutating func stamp(_ instant: Timestamp) -> Timestamp {
    changedAt = max(changedAt, instant - lag)
    return changedAt
  }

  /// Drops what is silent, and what was frozen by an outage once the beacon has clearly moved.
  private mutating func forget(
    at instant: Timestamp,
    _ rules: ZoneRules,
    _ proofs: [ObserverID: Timestamp]
  ) {
    levels.removeAll { $0.isGone(at: proofs.through(instant, of: $0), rules) }
    guard levels.contains(where: \.isDark) else {
      for index in levels.indices { levels[index].levelAtOutage = nil }
      return
    }
    let compared = { (level: ObserverLevel) in level.compared(at: proofs.through(instant, of: level), rules) }
    let loudest = levels.filter { !$0.isDark && $0.samples > 1 }.max { compared($0) < compared($1) }
    guard let loudest, let before = loudest.levelAtOutage else { return }
    let hasMoved = compared(loudest) - before >= rules.releaseRise
    if hasMoved { levels.removeAll(where: \.isDark) }
  }

  private func score(
    at instant: Timestamp,
    _ plan: ZonePlan,
    _ rules: ZoneRules,
    _ proofs: [ObserverID: Timestamp],
    into scores: inout [Score]
  ) {
    scores.removeAll(keepingCapacity: true)
    // One sample alone says nothing: a reflection gives it, and so does a neighbour's open door.
    for level in levels where level.samples > 1 {
      let compared = level.compared(at: proofs.through(instant, of: level), rules)
      for zone in plan.zones(of: level.observer) where placing.indices.contains(zone) && placing[zone] {
        var index = scores.firstIndex { $0.zone == zone } ?? scores.count
        if index == scores.count {
          scores.append(Score(zone: zone, live: nil, dark: nil))
          index = scores.count - 1
        }
        if level.isDark {
          scores[index].dark = max(scores[index].dark ?? compared, compared)
        } else {
          scores[index].live = max(scores[index].live ?? compared, compared)
        }
      }
    }
  }

  private func dwell(of target: Int, _ plan: ZonePlan, _ rules: ZoneRules) -> TimeSpan {
    guard let zone, !plan.isAdjacent(zone, target) else { return rules.dwell }
    return max(rules.dwell, rules.nonAdjacentDwell)
  }

  /// The loudest live zone, and by how much it beats all others, those included whose observers are down.
  private static func rank(_ scores: [Score]) -> (winner: Score?, lead: Double) {
    let winner = scores.filter { $0.live != nil }.min { left, right in
      (-(left.live ?? 0), left.zone) < (-(right.live ?? 0), right.zone)
    }
    guard let winner, let live = winner.live else { return (nil, 0) }
    let rival = scores.filter { $0.zone != winner.zone }.map(\.loudest).max()
    return (winner, rival.map { live - $0 } ?? .infinity)
  }
}

extension [ObserverID: Timestamp] {
  /// Up to when an observer's silence counts: the instant, or its last proof of life where that is earlier.
  ///
  /// A gateway that died says nothing about its room; nobody knows yet that it did, so its silence must not count
  /// before somebody heard something else from it.
  fileprivate func through(_ instant: Timestamp, of level: ObserverLevel) -> Timestamp {
    Swift.min(instant, self[level.observer] ?? instant)
  }
}
