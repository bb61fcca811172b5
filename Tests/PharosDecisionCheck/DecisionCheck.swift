package import PharosModel
import PharosPresence

/// The result of recomputing a decision from its evidence.
package enum DecisionCheck: Hashable, Sendable {
  /// It does.
  case follows
  /// It does not, for this reason.
  case contradicts(String)
  /// The rule carries nothing to compute: a client asked, or an observer fell silent.
  case noDecision
}

extension Evidence {
  /// Recomputes the decision from the evidence alone, which is all that the event's JSON carries.
  package func recomputed() -> DecisionCheck {
    switch rule {
    case .samples: recomputedSamples()
    case .level: recomputedLevel()
    case .adaptiveSilence: recomputedSilence(isAdaptive: true)
    case .fixedSilence: recomputedSilence(isAdaptive: false)
    case .neverHeard:
      check(gap, isAtLeast: window, "the time without a sample", "the patience")
    case .observerOutage, .scanOff, .recovery, .alreadyInside, .assumed, .displayOn, .requested,
      .regionChange, .eviction, .nested, .crossing, .positionLost, .elsewhere:
      .noDecision
    case .position, .noAltitude: recomputedPosition()
    }
  }

  private func recomputedPosition() -> DecisionCheck {
    guard let geofence, let threshold else { return .contradicts("the probability is missing") }
    // A threshold of a half or more is one to enter by.
    let isBeyond =
      threshold >= 0.5
      ? geofence.probability >= threshold - Evidence.lastDigit
      : geofence.probability <= threshold + Evidence.lastDigit
    guard isBeyond else {
      return .contradicts("a probability of \(geofence.probability) is not beyond \(threshold)")
    }
    return check(geofence.dwell, isAtLeast: window, "the time beyond the probability", "the dwell")
  }

  private func recomputedSamples() -> DecisionCheck {
    guard let samples, let counted else { return .contradicts("the number of samples is missing") }
    guard counted >= samples else { return .contradicts("\(counted) of \(samples) samples counted") }
    if samples > 1 {
      let inTime = check(window, isAtLeast: spread, "the window", "the time over which the samples fell")
      guard inTime == .follows else { return inTime }
    }
    guard let threshold else { return .follows }
    guard let level, let sampleLevel else { return .contradicts("a level is missing") }
    guard min(level, sampleLevel) >= threshold - Evidence.lastDigit else {
      return .contradicts("a level of \(min(level, sampleLevel)) dBm does not reach \(threshold) dBm")
    }
    return .follows
  }

  private func recomputedLevel() -> DecisionCheck {
    guard let level, let threshold else { return .contradicts("a level is missing") }
    guard level < threshold + Evidence.lastDigit else {
      return .contradicts("a level of \(level) dBm is not below \(threshold) dBm")
    }
    return check(belowFor, isAtLeast: window, "the time below the level", "the dwell")
  }

  private func recomputedSilence(isAdaptive: Bool) -> DecisionCheck {
    guard let allowedGap else { return .contradicts("the allowed gap is missing") }
    if isAdaptive {
      // Nothing is known yet of an untracked beacon that could be computed with.
      guard let silence else {
        guard interval == nil else {
          return .contradicts("what the allowed gap was computed from is missing")
        }
        return check(gap, isAtLeast: allowedGap * (stretch ?? 1), "the silence", "the allowed gap")
      }
      guard silence.misses == silence.recomputedMisses else {
        return .contradicts("\(silence.misses) misses, and \(silence.recomputedMisses) when computed again")
      }
      guard abs((silence.allowedGap - allowedGap).seconds) <= Evidence.lastDigit else {
        return .contradicts(
          "a gap of \(allowedGap.seconds) s, and \(silence.allowedGap.seconds) s computed again"
        )
      }
    }
    return check(gap, isAtLeast: allowedGap * (stretch ?? 1), "the silence", "the allowed gap")
  }

  /// The last digit that JSON carries of a level, in dB, or of a gap, in tenths of seconds.
  private static let lastDigit = 0.006

  private func check(
    _ value: TimeSpan?,
    isAtLeast minimum: TimeSpan?,
    _ name: String,
    _ bound: String
  ) -> DecisionCheck {
    guard let value else { return .contradicts("\(name) is missing") }
    guard let minimum else { return .contradicts("\(bound) is missing") }
    guard value.seconds >= minimum.seconds - 0.001 else {
      return .contradicts("\(name) is \(value.seconds) s, and \(bound) \(minimum.seconds) s")
    }
    return .follows
  }
}
