import PharosModel

/// The score of each zone from one look at a beacon's levels: the emission of the hidden Markov model.
///
/// Two zones that both have fingerprints are compared by these, see ``FingerprintTable``; all others by their observers.
///
/// Rooms and floors are compared separately. Within a floor, a zone loses by the greatest lead of another zone over it:
/// of the loudest observer, and of the second loudest alike where both have several. It is capped. Floors are compared in the same way by
/// their three loudest observers, so that no observer can outweigh the two others. The storage is reused from look to
/// look.
package struct ZoneWeighing: Sendable {
  /// The level at which one observer hears the beacon at this look.
  package struct Heard: Sendable {
    package let observer: Int
    /// The level without the offset.
    package let level: Double
    /// The learned offset of the observer.
    package let offset: Double
    /// The uncertainty of the level in dB².
    let variance: Double
    let isDark: Bool

    package var corrected: Double { level + offset }
  }

  /// One zone that the beacon may be in.
  package struct Candidate: Sendable {
    /// The zone, or `elsewhere`.
    package let zone: Int
    /// The floor it is on; -1 for `elsewhere`.
    let floor: Int
    /// The probability before this look, and after it.
    package var probability: Double
    /// The level of its loudest observer, whose it is, and its uncertainty.
    var first: Double
    var observer = -1
    var variance = 0.0
    /// The level of its second loudest observer.
    var second: Double
    /// Indicates whether several observers stand in it.
    var isPaired = false
    /// Indicates whether an observer that is up hears the beacon.
    var isLive = false
    /// Indicates whether an observer that is down heard the beacon last.
    var isDark = false
    /// The log-likelihood of the look by the zone's fingerprint, if the zone has one that counts.
    var likelihood: Double?
    /// The number of looks that the fingerprint counts for.
    var looks = 0.0
    /// The log-odds of the look against the zone, by its fingerprint and that of the zone that it fits best; 0 where there are none.
    var deficit = 0.0
    /// The log-likelihood of one second.
    package var score = 0.0
    /// The probability while it moves.
    var next = 0.0
    /// The relative rate of moves to this zone from the zone whose share is being moved.
    var access = 0.0

    /// Returns whether both zones have fingerprints, which tell more than which of their observers is the loudest.
    func isComparedByFingerprint(with other: Candidate) -> Bool {
      likelihood != nil && other.likelihood != nil
    }

    /// Returns the log-odds of the look for this zone against another one, if both have fingerprints.
    ///
    /// To what was learned comes what the lead says of two rooms that nothing was learned of, by the share of it that few looks
    /// leave open.
    func evidence(over other: Candidate) -> Double? {
      guard let likelihood, let otherLikelihood = other.likelihood else { return nil }
      let share = ZoneRules.fingerprintPrior / (ZoneRules.fingerprintPrior + min(looks, other.looks))
      let bounded = max(-ZoneRules.cap, min(ZoneRules.cap, lead(over: other)))
      return likelihood - otherLikelihood + share * ZoneWeighing.leadSlope * bounded
    }

    /// Returns the lead in level over another zone: of the loudest observer, and of the second loudest alike where both
    /// zones have several.
    func lead(over other: Candidate) -> Double {
      let lead = first - other.first
      guard isPaired, other.isPaired else { return lead }
      return (lead + ZoneRules.secondWeight * (second - other.second)) / (1 + ZoneRules.secondWeight)
    }
  }

  /// The loudest three of a floor.
  fileprivate struct FloorLevels {
    var first: Double
    var second: Double
    var third: Double
    var isWeighed = false
    var score = 0.0
  }

  /// The log-odds of one look for each decibel of a lead, where nothing was learned.
  ///
  /// - Units: nats in a decibel.
  static let leadSlope = ZoneRules.separation / (ZoneRules.placeDeviation * ZoneRules.placeDeviation)
  /// The place of no zone at all, which a beacon may be in too.
  static let elsewhere = -1
  /// The maximum number of zones that are compared.
  ///
  /// 12: the rooms around a beacon and those above and below; farther ones are louder only by mistake.
  static let maximumCandidates = 12

  /// The observers that hear the beacon.
  package var heard: [Heard] = []
  /// The zones in question; `elsewhere` last.
  package var candidates: [Candidate] = []
  /// What each observer contributes to the comparison of fingerprints, by its place in the plan; empty if there are none.
  package var look: [FingerprintTable.Observation] = []
  private var floors: [FloorLevels] = []
  /// The part of a lead that chance explains, in standard deviations of the lead.
  var chance = 0.0
  /// The number of independent looks in a second.
  ///
  /// - Units: 1/s.
  var lookRate = 0.0

  package init() {}

  /// Empties it for the next look.
  package mutating func removeAll() {
    heard.removeAll(keepingCapacity: true)
    candidates.removeAll(keepingCapacity: true)
    look.removeAll(keepingCapacity: true)
  }

  /// Adds a zone with its probability so far.
  package mutating func add(_ zone: Int, probability: Double, _ plan: ZonePlan) {
    candidates.append(
      Candidate(
        zone: zone,
        floor: zone == ZoneWeighing.elsewhere ? -1 : plan.zones[zone].floor,
        probability: probability,
        first: ZoneRules.sensitivity,
        second: ZoneRules.sensitivity
      )
    )
  }

  /// Ranks the observers that hear the beacon under the zones where they stand.
  mutating func rank(_ plan: ZonePlan, placing: [Bool]) {
    for heard in heard {
      for zone in plan.zones(of: heard.observer) where placing.indices.contains(zone) && placing[zone] {
        var index = candidates.firstIndex { $0.zone == zone } ?? candidates.count
        if index == candidates.count {
          add(zone, probability: 0, plan)
          index = candidates.count - 1
        }
        candidates[index].isPaired = plan.zones[zone].ranks > 1
        candidates[index].rank(heard)
      }
    }
  }

  /// Compares the look with the fingerprints, and adds zones that only these speak for.
  ///
  /// Of the zones whose own observers are silent, it is enough to weigh those in which the loudest observer usually hears
  /// beacons.
  mutating func compareFingerprints(_ plan: ZonePlan, placing: [Bool], at instant: Timestamp) {
    guard let table = plan.fingerprints, let loudest = heard.max(by: { $0.level < $1.level }) else { return }
    for zone in plan.zones.indices where table.hears(loudest.observer, in: zone) {
      guard placing.indices.contains(zone), placing[zone], !candidates.contains(where: { $0.zone == zone })
      else {
        continue
      }
      add(zone, probability: 0, plan)
    }
    for index in candidates.indices where candidates[index].zone != ZoneWeighing.elsewhere {
      let zone = candidates[index].zone
      guard let looks = table.looks(of: zone, at: instant) else { continue }
      candidates[index].likelihood = table.likelihood(of: look, in: zone, looks: looks)
      candidates[index].looks = looks
      if heard.contains(where: { !$0.isDark && table.hears($0.observer, in: zone) }) {
        candidates[index].isLive = true
      }
    }
    candidates.removeAll { $0.likelihood == nil && $0.observer < 0 && $0.probability == 0 }
  }

  /// Counts the present look by the fingerprints in full, beside what the belief has of it and of earlier ones.
  ///
  /// Levels that last for a while are as many witnesses as there are independent looks in that time, and one more.
  mutating func countLook() {
    guard candidates.contains(where: { $0.deficit > 0 }) else { return }
    var sum = 0.0
    for index in candidates.indices {
      candidates[index].probability *= RadioMath.exponential(-candidates[index].deficit)
      sum += candidates[index].probability
    }
    guard sum > 0 else { return }
    for index in candidates.indices { candidates[index].probability /= sum }
  }

  /// Sets the log-odds against each zone with a fingerprint.
  mutating func compareCandidates() {
    for index in candidates.indices where candidates[index].likelihood != nil {
      let own = candidates[index]
      let evidence = candidates.lazy.filter { $0.zone != own.zone }.compactMap { $0.evidence(over: own) }
      candidates[index].deficit = max(0, evidence.max() ?? 0)
    }
  }

  /// Removes the least likely zones if there are too many.
  mutating func trim(keeping zone: Int?) {
    while candidates.count > ZoneWeighing.maximumCandidates {
      let minimum = candidates.indices.filter { candidates[$0].zone != zone }.min { left, right in
        let (left, right) = (candidates[left], candidates[right])
        let (fit, other) = (left.likelihood ?? -.infinity, right.likelihood ?? -.infinity)
        return (left.probability, fit, left.first, -left.zone) < (
          right.probability, other, right.first, -right.zone
        )
      }
      guard let minimum else { return }
      candidates.remove(at: minimum)
    }
  }

  /// Sets the score of each zone, and of `elsewhere`, from the levels.
  mutating func score(_ plan: ZonePlan) {
    // Fingerprints tell floors apart, too.
    let hasFloors =
      plan.floorRanks.count > 1
      && candidates.contains { $0.zone != ZoneWeighing.elsewhere && $0.likelihood == nil }
    if hasFloors { scoreFloors(plan) }
    for index in candidates.indices where candidates[index].zone != ZoneWeighing.elsewhere {
      candidates[index].score = roomScore(of: index)
      if hasFloors { candidates[index].score += floors[candidates[index].floor].score }
      candidates[index].score -= lookRate * candidates[index].deficit
    }
    let best = candidates.lazy.filter { $0.zone != ZoneWeighing.elsewhere }.map(\.score).max() ?? 0
    let loudest = heard.lazy.map(\.corrected).max() ?? ZoneRules.sensitivity
    let slope = ZoneWeighing.leadSlope
    for index in candidates.indices where candidates[index].zone == ZoneWeighing.elsewhere {
      candidates[index].score =
        best - slope * min(ZoneRules.cap, max(0, loudest - ZoneRules.sensitivity))
    }
  }

  private func roomScore(of index: Int) -> Double {
    let own = candidates[index]
    var deficit = 0.0
    for other in candidates where other.zone != own.zone && other.floor == own.floor && other.observer >= 0 {
      guard !own.isComparedByFingerprint(with: other) else { continue }
      let byChance = chance * (own.variance + other.variance).squareRoot()
      deficit = max(deficit, other.lead(over: own) - byChance)
    }
    return -ZoneRules.leadEvidence * min(ZoneRules.cap, deficit)
  }

  private mutating func scoreFloors(_ plan: ZonePlan) {
    let none = FloorLevels(
      first: ZoneRules.sensitivity,
      second: ZoneRules.sensitivity,
      third: ZoneRules.sensitivity
    )
    floors.removeAll(keepingCapacity: true)
    for _ in plan.floorRanks { floors.append(none) }
    for candidate in candidates where candidate.zone != ZoneWeighing.elsewhere {
      floors[candidate.floor].isWeighed = true
    }
    for heard in heard { floors[plan.floor(of: heard.observer)].rank(heard.corrected) }
    var best = none
    for (floor, ranks) in zip(floors, plan.floorRanks) where floor.isWeighed {
      best.first = max(best.first, floor.first)
      if ranks > 1 { best.second = max(best.second, floor.second) }
      if ranks > 2 { best.third = max(best.third, floor.third) }
    }
    for index in floors.indices {
      let floor = floors[index]
      var (sum, weight) = (min(ZoneRules.floorCap, best.first - floor.first), 1.0)
      if plan.floorRanks[index] > 1 {
        sum += ZoneRules.secondFloorWeight * min(ZoneRules.floorCap, best.second - floor.second)
        weight += ZoneRules.secondFloorWeight
      }
      if plan.floorRanks[index] > 2 {
        sum += min(ZoneRules.floorCap, best.third - floor.third)
        weight += 1
      }
      floors[index].score = -ZoneRules.leadEvidence * sum / weight
    }
  }
}

extension ZoneWeighing.FloorLevels {
  fileprivate mutating func rank(_ level: Double) {
    if level > first {
      (first, second, third) = (level, first, second)
    } else if level > second {
      (second, third) = (level, second)
    } else {
      third = max(third, level)
    }
  }
}

extension ZoneWeighing.Candidate {
  fileprivate mutating func rank(_ heard: ZoneWeighing.Heard) {
    if heard.isDark { isDark = true } else { isLive = true }
    if observer < 0 || heard.corrected > first {
      second = max(second, first)
      first = heard.corrected
      observer = heard.observer
      variance = heard.variance
    } else {
      second = max(second, heard.corrected)
    }
  }
}
