package import PharosReports

/// The presences of a track, one for each policy.
///
/// The first one lies in the track as long as it looks at silence alone: its phase, whether it waits, one point in time and
/// the silence that is allowed. Otherwise all of them lie in the extras, and what lies in the track repeats the first.
extension Track {
  /// What stands for a silence that is never too long, and for one that is no whole number of milliseconds.
  static let allowedForEver = UInt32.max
  private static let allowedElsewhere = UInt32.max - 1

  /// The presence under the first policy.
  var first: Presence {
    get {
      if standing.contains(.detailed), let presence = box?.extras.presences.first { return presence }
      var presence = Presence(policy: policy)
      presence.phase = phase
      presence.isWaiting = standing.contains(.waiting)
      presence.allowed = allowed
      presence.mark = moment
      if phase != .outside { presence.began = moment }
      return presence
    }
    set {
      allowedMilliseconds = Track.milliseconds(newValue.allowed)
      phase = newValue.phase
      set(.waiting, newValue.isWaiting)
      moment = newValue.phase == .outside ? newValue.mark : newValue.began
      keep(newValue)
      noteCalm()
    }
  }

  /// Keeps in the extras what has no room in the track.
  private mutating func keep(_ first: Presence) {
    let isPlain = first.looksAtSilenceAlone && allowedMilliseconds != Track.allowedElsewhere
    if standing.contains(.several) || !isPlain {
      change { extras in
        if extras.presences.isEmpty { extras.presences.append(first) } else { extras.presences[0] = first }
      }
      set(.detailed, true)
    } else if standing.contains(.detailed) {
      presences = []
    }
  }

  /// The silence that the first policy allows now.
  var allowed: TimeSpan {
    switch allowedMilliseconds {
    case Track.allowedForEver: .forever
    case Track.allowedElsewhere: box?.extras.presences.first?.allowed ?? .forever
    default: .milliseconds(Int64(allowedMilliseconds))
    }
  }

  private static func milliseconds(_ span: TimeSpan) -> UInt32 {
    if span == .forever { return allowedForEver }
    let (whole, rest) = span.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return rest == 0 && whole >= 0 && whole < Int64(allowedElsewhere) ? UInt32(whole) : allowedElsewhere
  }

  /// Whether the beacon is here under the first policy, as far as is known.
  package var isHere: Bool { phase != .outside }

  /// Whether there is one policy, by which the beacon is here for sure, and nothing waits.
  @inline(__always)
  var isSurelyHere: Bool { phase == .inside && standing.isDisjoint(with: .unsure) }

  /// Whether the beacon is here under the policy at a place, as far as is known.
  @inline(__always)
  package func isHere(at place: Int) -> Bool { place == 0 ? phase != .outside : further(at: place).isHere }

  /// Whether any of its rules says that the beacon is here.
  package var isHereByAnyRule: Bool {
    for place in 0..<presenceCount where isHere(at: place) { return true }
    return false
  }

  /// Whether a deadline of the policy at a place has passed and only proof of life is missing.
  @inline(__always)
  package func isWaiting(at place: Int) -> Bool {
    place == 0 ? standing.contains(.waiting) : further(at: place).isWaiting
  }

  /// The deadline of a beacon of one transmitter that is here under one policy, which looks at silence alone.
  ///
  /// - Parameters:
  ///   - since: since when its silence counts.
  ///   - stretch: by how much silence is stretched.
  /// - Returns: the deadline, the distant future if there is none, or nil if more must be looked at.
  @inline(__always)
  func plainDeadline(since: Timestamp, stretch: Double) -> Timestamp? {
    guard standing.isDisjoint(with: .beyond), phase != .outside, stretch == 1 else { return nil }
    return allowedMilliseconds == Track.allowedForEver
      ? .distantFuture : since + TimeSpan(nanoseconds: Int64(allowedMilliseconds) &* 1_000_000)
  }

  /// How many presences there are; the first is there even if nobody asks.
  @inline(__always)
  package var presenceCount: Int { standing.contains(.several) ? countPresences() : 1 }

  // What looks into the box is never inlined: where it is, a whole track is copied for it.
  @inline(never)
  private func countPresences() -> Int { presences.count }

  @inline(never)
  private func further(at place: Int) -> Presence { presences[place] }

  /// The presence at a place of the match set's policies.
  ///
  /// For what is rare: reading copies it, and changing it allocates the accessor's frame.
  package subscript(presence place: Int) -> Presence {
    get { place == 0 ? first : presences[place] }
    _modify {
      var presence = self[presence: place]
      defer { set(presence, at: place) }
      yield &presence
    }
  }

  private mutating func set(_ presence: Presence, at place: Int) {
    if place == 0 {
      first = presence
    } else {
      change { $0.presences[place] = presence }
    }
  }

  /// The policy of a presence.
  @inline(never)
  package func policy(at place: Int) -> Int { Int(place == 0 ? policy : presences[place].policy) }

  /// The deadline of a presence: see ``Presence/deadline(lastHeard:other:silenceFrom:stretch:dwell:)``.
  ///
  /// Mutating, as otherwise it would be given a copy of the track.
  @inline(never)
  mutating func deadline(
    _ place: Int,
    silenceFrom: Timestamp,
    stretch: Double,
    rules: borrowing PresencePolicy
  ) -> (time: Timestamp, isLevel: Bool)? {
    self[presence: place].deadline(
      lastHeard: lastHeard,
      other: rules.silence == .adaptive ? othersUntil : .distantPast,
      silenceFrom: silenceFrom,
      stretch: stretch,
      dwell: rules.exitDwell
    )
  }

  /// Sets what a presence's policy allows now.
  package mutating func allow(_ gap: TimeSpan, enter: Float, exit: Float, at place: Int) {
    let milliseconds = Track.milliseconds(gap)
    if place == 0, enter.isNaN, exit.isNaN, milliseconds != Track.allowedElsewhere,
      !standing.contains(.detailed)
    {
      allowedMilliseconds = milliseconds
      return
    }
    var presence = self[presence: place]
    presence.allowed = gap
    presence.setLevels(enter: enter, exit: exit)
    set(presence, at: place)
  }

  /// Hears a sample under one policy.
  mutating func heard(
    at place: Int,
    level: Presence.Level?,
    rules: PresencePolicy,
    silence: AdaptiveSilence
  ) -> (action: Presence.HeardAction?, spread: TimeSpan) {
    var presence = self[presence: place]
    let action = presence.heard(
      at: sampleStart,
      level: level,
      rules: rules,
      window: silence.enterWindow(rules)
    )
    set(presence, at: place)
    return (action, presence.spread)
  }
}

extension Presence {
  /// Whether nothing but its phase, a point in time and the silence that is allowed says all.
  fileprivate var looksAtSilenceAlone: Bool {
    enterLevel.isNaN && exitLevel.isNaN && !isBelow && earlier.isEmpty
  }
}
