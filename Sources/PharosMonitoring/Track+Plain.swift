package import PharosReports

/// The straight line: nearly every advert is the next one, or one of the next few, of a beacon that is here for sure, from
/// the same address, at a level that is nothing unusual.
extension Track {
  /// What became of an advert.
  package enum Plain {
    /// All is done: it was a sample of its own.
    case settled
    /// All is done: it joined the sample before it.
    case joined
    /// Nothing was changed; there is more to do than the straight line does.
    case rest
  }

  /// Hears an advert that is on time, while the observer can tell and levels are filtered by Kalman's filter alone, if
  /// nothing follows from it beyond the track itself.
  ///
  /// The same as ``heard(_:power:catalog:filter:canTell:)`` where that comes to nothing that must be published, computed or
  /// waited for.
  ///
  /// - Parameters:
  ///   - reported: the event time.
  ///   - level: the level with the observer's offset in dBm, or not a number if there is none.
  ///   - key: the address and advertising set.
  ///   - power: the level at one metre that the frame states, in dBm.
  ///   - silenceFrom: since when silence counts.
  /// - Returns: what became of it.
  @inline(__always)
  package mutating func heardPlainly(
    at reported: Timestamp,
    level: Float,
    key: UInt64,
    power: Float,
    silenceFrom: Timestamp
  ) -> Plain {
    guard marks.isPlain else { return .rest }
    return heardAsUsual(
      at: reported,
      level: level,
      key: key,
      power: power,
      silenceFrom: silenceFrom
    )
  }

  /// The same for a beacon whose seconds are kept, for ranging or for a zone; the level must be a number, and `second` is the
  /// one of the observer's count that the advert belongs to.
  package mutating func heardAndKept(
    at reported: Timestamp,
    level: Double,
    key: UInt64,
    power: Float,
    silenceFrom: Timestamp,
    second: Int64
  ) -> Plain {
    guard marks.isPlainButKept, standing.isPlainButKept else { return .rest }
    let before = sampleLevel
    let plain = heardAsUsual(
      at: reported,
      level: Float(level),
      key: key,
      power: power,
      silenceFrom: silenceFrom
    )
    switch plain {
    case .settled:
      let time = lastHeard
      change { $0.seconds.add(second: second, at: time, level: level) }
    case .joined where sampleLevel > before:
      change { $0.seconds.raise(second: second, from: Double(before), to: level) }
    case .joined, .rest: break
    }
    return plain
  }

  @inline(__always)
  private mutating func heardAsUsual(
    at reported: Timestamp,
    level: Float,
    key: UInt64,
    power: Float,
    silenceFrom: Timestamp
  ) -> Plain {
    let since = sample.number
    guard key == sampleKey, since != Track.noSample,
      !(level - sampleLevel - kalman.estimate).isNaN,
      isPowerDeclared || Float(wholePower) == power
    else { return .rest }
    let (advance, isOver) = reported.nanoseconds.subtractingReportingOverflow(lastHeard.nanoseconds)
    guard !isOver else { return .rest }
    let pause = max(advance, 0)
    let gap = pause &+ Int64(since)
    if gap <= Track.joinSpan.nanoseconds {
      joinPlainly(level)
      lastHeard.nanoseconds &+= pause
      sample.number = UInt32(truncatingIfNeeded: gap)
      return .joined
    }
    guard lastHeard.nanoseconds &- Int64(since) >= silenceFrom.nanoseconds, !Track.isMilestone(samples &+ 1)
    else { return .rest }
    let seconds = Track.seconds(TimeSpan(nanoseconds: gap))
    let pauseSeconds = since == 0 ? seconds : Track.seconds(TimeSpan(nanoseconds: pause))
    let recent = (sampleLevel + level) / 2
    var usual = usual
    usual.add(recent, after: pauseSeconds, samples: samples &+ 1)
    guard usual.isUsual(recent), learnPlainly(gap: seconds) else { return .rest }
    self.usual = usual
    kalman.take(level, after: pauseSeconds)
    samples &+= 1
    sampleLevel = level
    lastHeard.nanoseconds &+= pause
    sample.number = 0
    return .settled
  }

  /// A report of the same transmission: the strongest one counts.
  @inline(__always)
  private mutating func joinPlainly(_ level: Float) {
    guard level > sampleLevel else { return }
    kalman.raiseLast(by: Double(level) - Double(sampleLevel))
    sampleLevel = level
  }

  /// Learns from a gap of one interval or of a few; false if more follows from it, and nothing was changed.
  @inline(__always)
  private mutating func learnPlainly(gap: Float) -> Bool {
    if intervals.isOneInterval(gap) {
      intervals.learnOne(gap: gap)
      return true
    }
    return learnFew(gap: gap)
  }

  /// Learns from a gap of a few intervals; false if more follows from it, and nothing was changed.
  private mutating func learnFew(gap: Float) -> Bool {
    // Half of what is allowed is notable; seven losses at most never are a body in the way.
    guard box == nil, gap >= intervals.interval * 1.5, !LossHistory.isNotable(runs: runs + 1),
      Double(gap) * 2_000 < Double(allowedMilliseconds) * 0.999
    else { return false }
    let missed = intervals.learnFew(gap: gap)
    guard missed > 0 else { return false }
    runs += 1
    lost += missed
    recentRuns += recentRuns < .max ? 1 : 0
    recentLost = LossHistory.sum(recentLost, UInt16(missed))
    return true
  }
}

extension Track.Marks {
  /// Whether the track is in the usual state, the level is at the usual, and all addresses are told apart.
  @inline(__always)
  fileprivate var isPlain: Bool { intersection(.decisive) == .usual }

  /// The same, but for its seconds, which are kept.
  @inline(__always)
  fileprivate var isPlainButKept: Bool { intersection(.decisive) == .live }
}

extension Track.Standing {
  /// Whether one policy is sure that it is here, no level matters, and the second's end looks at it in any case.
  @inline(__always)
  fileprivate var isPlainButKept: Bool { intersection(.kept) == .plainButKept }
}
