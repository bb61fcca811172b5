import PharosModel

/// The probability of each zone: the forward filter of a hidden Markov model.
///
/// A beacon is in one of the zones, or elsewhere, and moves between them along the plan's doors at a walking rate.
/// Each look multiplies the probabilities by the likelihood of the levels. Time moves the probabilities back towards
/// each other.
///
/// - Source: the forward algorithm, L. R. Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 77 (1989), eq. 19 to
///   21, with transitions for the time passed since the last look.
package struct ZoneBelief: Equatable, Sendable {
  /// One zone's probability.
  package struct Share: Equatable, Sendable {
    var zone: Int
    package internal(set) var probability: Double
  }

  /// The probability that a zone must exceed to be kept while none of its observers hears the beacon.
  private static let negligible = 1e-6
  /// The probability of being elsewhere before anything is known.
  ///
  /// One in twenty: beacons are placed by zones because that is where they are.
  private static let elsewhereAtFirst = 0.05
  /// The longest time that is moved at once, so that shares stay positive.
  private static let maximumStep = 5.0

  /// The zones in question; empty before the first look.
  package var shares: [Share] = []

  package init() {}

  /// Forgets everything.
  mutating func removeAll() { shares.removeAll(keepingCapacity: true) }

  /// Returns the probability of a zone.
  package func probability(of zone: Int) -> Double { shares.first { $0.zone == zone }?.probability ?? 0 }

  /// Adds the zones in question to a weighing, with their probabilities so far.
  func recall(into weighing: inout ZoneWeighing, _ plan: ZonePlan) {
    for share in shares where share.zone != ZoneWeighing.elsewhere {
      if share.probability > ZoneBelief.negligible {
        weighing.add(share.zone, probability: share.probability, plan)
      }
    }
  }

  /// Adds `ZoneWeighing.elsewhere` to a weighing, after the zones.
  package func recallElsewhere(into weighing: inout ZoneWeighing, _ plan: ZonePlan) {
    weighing.add(ZoneWeighing.elsewhere, probability: probability(of: ZoneWeighing.elsewhere), plan)
  }

  /// Advances by a time and applies the scores of a look.
  ///
  /// - Parameters:
  ///   - elapsed: The time since the last step, in seconds.
  ///   - rate: The rate at which the beacon passes through a door, in 1/s.
  ///   - evidence: The time in seconds whose evidence the look represents; 0 if nothing was heard since the last one.
  ///   - weighing: The zones with the scores of the levels. The step writes the probabilities into it.
  ///   - plan: The zones and their doors.
  package mutating func step(
    elapsed: Double,
    rate: Double,
    evidence: Double,
    _ weighing: inout ZoneWeighing,
    _ plan: ZonePlan
  ) {
    if shares.isEmpty {
      ZoneBelief.begin(&weighing)
    } else {
      ZoneBelief.move(&weighing, by: min(elapsed, ZoneBelief.maximumStep) * rate, plan)
    }
    ZoneBelief.weigh(&weighing, by: evidence)
    shares.removeAll(keepingCapacity: true)
    for candidate in weighing.candidates {
      shares.append(Share(zone: candidate.zone, probability: candidate.probability))
    }
  }

  private static func begin(_ weighing: inout ZoneWeighing) {
    let zones = Double(weighing.candidates.count - 1)
    for index in weighing.candidates.indices {
      let isElsewhere = weighing.candidates[index].zone == ZoneWeighing.elsewhere
      weighing.candidates[index].probability =
        isElsewhere ? elsewhereAtFirst : (1 - elsewhereAtFirst) / zones
    }
  }

  private static func move(_ weighing: inout ZoneWeighing, by doors: Double, _ plan: ZonePlan) {
    let count = weighing.candidates.count
    for index in 0..<count { weighing.candidates[index].next = weighing.candidates[index].probability }
    for from in 0..<count {
      let share = weighing.candidates[from].probability
      guard share > 0 else { continue }
      let zone = weighing.candidates[from].zone
      var rates = 0.0
      for to in 0..<count where to != from {
        weighing.candidates[to].access = access(from: zone, to: weighing.candidates[to].zone, plan)
        rates += weighing.candidates[to].access
      }
      // At most half leaves in a step, however many doors there are.
      let scale = min(doors, 0.5 / max(rates, .leastNormalMagnitude)) * share
      var stays = weighing.candidates[from].next
      for to in 0..<count where to != from {
        let moved = scale * weighing.candidates[to].access
        weighing.candidates[to].next += moved
        stays -= moved
      }
      weighing.candidates[from].next = stays
    }
    for index in 0..<count { weighing.candidates[index].probability = weighing.candidates[index].next }
  }

  private static func access(from: Int, to: Int, _ plan: ZonePlan) -> Double {
    guard from != ZoneWeighing.elsewhere, to != ZoneWeighing.elsewhere else {
      return ZoneRules.leavingShare
    }
    switch plan.step(from: from, to: to) {
    case .stay: return 0
    case .walk: return 1
    case .stray: return ZoneRules.strayShare
    case .climb: return ZoneRules.climbShare
    }
  }

  private static func weigh(_ weighing: inout ZoneWeighing, by evidence: Double) {
    let best = weighing.candidates.lazy.map(\.score).max() ?? 0
    var sum = 0.0
    for index in weighing.candidates.indices {
      if evidence > 0 {
        let logarithm = (weighing.candidates[index].score - best) * evidence
        // The best one's factor is one.
        if logarithm != 0 {
          weighing.candidates[index].probability *= RadioMath.powerOfTwo(
            logarithm / RadioMath.naturalLogOfTwo
          )
        }
      }
      sum += weighing.candidates[index].probability
    }
    guard sum > 0 else { return }
    for index in weighing.candidates.indices { weighing.candidates[index].probability /= sum }
  }
}
