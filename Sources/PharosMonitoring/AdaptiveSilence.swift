import PharosReports

/// How long a beacon may be silent before it counts as gone, from what is known of it.
///
/// The chance of a run of misses falls geometrically with its length (``LossRuns``). The allowed gap is the interval times
/// the smallest run whose chance, over all opportunities of a day, stays within the budget of false exits.
struct AdaptiveSilence: Sendable {
  /// What the track has learned.
  var learner: IntervalLearner
  /// What a track of the same family at the same observer has learned, where there is one.
  var family: IntervalLearner?
  /// The interval that the directory declares, in seconds.
  var declared: Float?

  /// The silence allowed to a stranger of whom not even one gap is known: twice Core Location's usual 30 s.
  static let stranger = TimeSpan.seconds(60)

  /// The allowed gap under a policy.
  func allowedGap(_ policy: PresencePolicy) -> TimeSpan {
    switch policy.silence {
    case .fixed(let span): span
    case .never: .forever
    case .adaptive: adaptiveGap(policy)
    }
  }

  private func adaptiveGap(_ policy: PresencePolicy) -> TimeSpan {
    let still = Float(policy.stillInterval?.seconds ?? 0)
    // Declared knowledge wins over a ceiling that would contradict it.
    let ceiling = max(policy.silenceCeiling, TimeSpan.seconds(Double(still) * 3))
    let borrowed = learner.isMature ? nil : family
    let interval = Double(
      max(learner.interval, learner.slowest, declared ?? 0, still, borrowed?.interval ?? 0)
    )
    guard interval > 0 else { return min(max(AdaptiveSilence.stranger, policy.silenceFloor), ceiling) }
    let losses = (borrowed ?? learner).losses
    let chance = max(policy.falseExitsPerDay, 1e-9) * interval / 86_400
    let runs = max(2, losses.misses(ofChance: chance))
    // Little history: the interval itself may be a multiple of the true one or a chance pair of reports.
    let known = declared != nil || borrowed != nil ? 2.0 : 8.0
    let padding = 1 + known / Double(learner.losses.received + 1)
    let worstSeen = 1.5 * Double(losses.longest + 1) * interval
    let gap = TimeSpan.seconds(max(interval * runs * padding, worstSeen))
    return min(max(gap, policy.silenceFloor), ceiling)
  }

  /// The window in which the samples of an entry must fall.
  ///
  /// Three intervals, at least 3 s; a stranger may be a beacon that advertises every 10 s, so 30 s.
  func enterWindow(_ policy: PresencePolicy) -> TimeSpan {
    if let within = policy.enterWithin { return within }
    let interval = max(learner.interval, learner.slowest, declared ?? 0)
    guard declared != nil || learner.losses.received >= 3 else { return .seconds(30) }
    return max(.seconds(3), .seconds(Double(interval) * 3))
  }
}
