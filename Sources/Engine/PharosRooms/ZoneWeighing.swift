import PharosModel

/// The score of each zone from one look at a beacon's levels: the emission of the hidden Markov model.
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
    /// The log-likelihood of one second.
    package var score = 0.0
    /// The probability while it moves.
    var next = 0.0
    /// The relative rate of moves to this zone from the zone whose share is being moved.
    var access = 0.0

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
  private var floors: [FloorLevels] = []
  /// The part of a lead that chance explains, in standard deviations of the lead.
  var chance = 0.0

  package init() {}

  /// Empties it for the next look.
  package mutating func removeAll() {
    heard.removeAll(keepingCapacity: true)
    candidates.removeAll(keepingCapacity: true)
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

  /// Removes the least likely zones if there are too many.
  mutating func trim(keeping zone: Int?) {
    while candidates.count > ZoneWeighing.maximumCandidates {
      let minimum = candidates.indices.filter { candidates[$0].zone != zone }.min { left, right in
        let (left, right) = (candidates[left], candidates[right])
        return (left.probability, left.first, -left.zone) < (right.probability, right.first, -right.zone)
      }
      guard let minimum else { return }
      candidates.remove(at: minimum)
    }
  }

  /// Sets the score of each zone, and of `elsewhere`, from the levels.
  mutating func score(_ plan: ZonePlan) {
    if plan.floorRanks.count > 1 { scoreFloors(plan) }
    for index in candidates.indices where candidates[index].zone != ZoneWeighing.elsewhere {
      candidates[index].score = roomScore(of: index)
      if plan.floorRanks.count > 1 {
        candidates[index].score += floors[candidates[index].floor].score
      }
    }
    let best = candidates.lazy.filter { $0.zone != ZoneWeighing.elsewhere }.map(\.score).max() ?? 0
    let loudest = heard.lazy.map(\.corrected).max() ?? ZoneRules.sensitivity
    let slope = ZoneRules.separation / (ZoneRules.placeDeviation * ZoneRules.placeDeviation)
    for index in candidates.indices where candidates[index].zone == ZoneWeighing.elsewhere {
      candidates[index].score =
        best - slope * min(ZoneRules.cap, max(0, loudest - ZoneRules.sensitivity))
    }
  }

  private func roomScore(of index: Int) -> Double {
    let own = candidates[index]
    var deficit = 0.0
    for other in candidates where other.zone != own.zone && other.floor == own.floor && other.observer >= 0 {
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
