package import PharosReports

extension Track {
  /// One advert as a track sees it.
  package struct Sample {
    /// The event time.
    var time: Timestamp
    /// The level with the observer's offset, or nil.
    var level: Double?
    /// The address and advertising set that reports of one transmission share.
    var key: UInt64
    /// The second since the observer's first report.
    var second: Int64
    /// Since when silence counts: a gap that began before says nothing about losses.
    var silenceFrom: Timestamp

    package init(time: Timestamp, level: Double? = nil, key: UInt64, second: Int64, silenceFrom: Timestamp) {
      self.time = time
      self.level = level
      self.key = key
      self.second = second
      self.silenceFrom = silenceFrom
    }
  }

  /// What a sample meant.
  package struct Outcome {
    /// Bits of the places whose presence was entered.
    var entered: UInt64 = 0
    /// Bits of the places whose presence was confirmed.
    var confirmed: UInt64 = 0
    /// Whether it joined the sample before it.
    package var hasJoined = false
    /// Whether the allowed gaps should be computed anew.
    package var needsAllowance = false
    /// Whether it was far below its usual level, and is no more.
    var hasRecovered = false
    /// The silence before it in seconds, if that was long for a body in the way to be the reason.
    var pause: Float = 0
    /// Over which time the samples fell that made the first presence be entered.
    var spread = TimeSpan.zero
  }

  /// Takes a sample that is on time.
  package mutating func heard(
    _ sample: Sample,
    power: Double?,
    catalog: borrowing RegionCatalog,
    filter kind: LevelFilterKind,
    canTell: Bool
  ) -> Outcome {
    var outcome = Outcome()
    let time = max(sample.time, lastHeard)
    let start = sampleStart
    if sampleKey == sample.key, samples > 0, time - start <= Track.joinSpan {
      outcome.hasJoined = true
      join(sample)
      lastHeard = time
      sampleStart = start
    } else {
      begin(sample, at: time, from: start, kind, &outcome)
      lastHeard = time
      sampleStart = time
    }
    if let power, !isPowerDeclared, self.power != Float(power) {
      self.power = Float(power)
      outcome.needsAllowance = true
    }
    if needsSeconds, !outcome.hasJoined {
      change { $0.seconds.add(second: sample.second, at: time, level: sample.level) }
    }
    guard canTell else { return outcome }
    // Nearly every advert: here already, nothing waits, and no level could change that.
    if isCalm, !hasLevels { return outcome }
    decide(sample, catalog: catalog, filter: kind, &outcome)
    return outcome
  }

  private mutating func decide(
    _ sample: Sample,
    catalog: borrowing RegionCatalog,
    filter kind: LevelFilterKind,
    _ outcome: inout Outcome
  ) {
    let level = sample.level.map { Presence.Level(sample: $0, filtered: self.level(kind) ?? $0) }
    let silence = AdaptiveSilence(learner: intervals, history: history, declared: declaredInterval)
    for place in 0..<catalog.sets[Int(matchSet)].policies.count {
      // What waited for proof has no timer: it needs one again.
      if self[presence: place].isWaiting { outcome.needsAllowance = true }
      let (action, spread) = heard(
        at: place,
        level: level,
        rules: catalog.policies[policy(at: place)],
        silence: silence
      )
      switch action {
      case .entered:
        outcome.entered |= 1 << UInt64(place)
        if place == 0 { outcome.spread = spread }
      case .confirmed: outcome.confirmed |= 1 << UInt64(place)
      case nil: break
      }
    }
  }

  /// A report that came late: it only shows that the beacon was still here then, and that the gap before the next sample
  /// is shorter than it seems.
  mutating func heardLate(at time: Timestamp, places: Int) {
    if samples > 0, time > sampleStart {
      // What was overtaken by others tells no gap: when it was sent is known to the delay of its way only.
      sample.number = Track.noSample
      sampleLevel = .nan
    }
    lastHeard = max(lastHeard, time)
    for place in 0..<places { self[presence: place].heardLate() }
  }

  /// A report of the same transmission: the strongest one counts.
  private mutating func join(_ sample: Sample) {
    guard let level = sample.level, Float(level) > sampleLevel else { return }
    let difference = level - Double(sampleLevel)
    kalman.raiseLast(by: difference)
    if let box, box.extras.window != nil || !box.extras.seconds.open.isEmpty {
      let old = Double(sampleLevel)
      change { extras in
        extras.window?.raiseLast(by: difference)
        extras.seconds.raise(second: sample.second, from: old, to: level)
      }
    }
    sampleLevel = Float(level)
  }

  private mutating func begin(
    _ sample: Sample,
    at time: Timestamp,
    from start: Timestamp,
    _ kind: LevelFilterKind,
    _ outcome: inout Outcome
  ) {
    var start = start
    if sampleKey != sample.key { outcome.needsAllowance = turn(to: sample.key, at: time, from: &start) }
    let gap = Track.seconds(time - start)
    if start >= sample.silenceFrom, start != .distantPast, learn(gap: gap) {
      outcome.needsAllowance = true
      outcome.pause = gap
    }
    samples &+= 1
    if Track.isMilestone(samples) { outcome.needsAllowance = true }
    sampleKey = sample.key
    let pause = Track.seconds(time - lastHeard)
    guard let level = sample.level.map({ Float($0) }) else {
      sampleLevel = .nan
      kalman.age(by: pause)
      return
    }
    let recent = sampleLevel.isNaN ? level : (sampleLevel + level) / 2
    sampleLevel = level
    smooth(level, after: pause, kind)
    usual.add(recent, after: pause, samples: samples)
    guard !isCrowd else { return }
    let surroundings = usual.surroundings(recent, before: self.surroundings)
    if surroundings != self.surroundings, !hasOthers {
      // Before the usual level is known well, fading looks like a shadow.
      outcome.hasRecovered =
        self.surroundings == 2 && isHere && Float(samples) * intervals.interval > UsualLevel.settled
      self.surroundings = surroundings
      outcome.needsAllowance = true
    }
  }

  /// A span in seconds, as gaps are learned.
  @inline(__always)
  static func seconds(_ span: TimeSpan) -> Float { Float(Double(span.nanoseconds) * 1e-9) }

  private mutating func smooth(_ level: Float, after pause: Float, _ kind: LevelFilterKind) {
    if kalman.isEmpty {
      kalman = KalmanLevel(first: Double(level))
    } else {
      kalman.take(level, after: pause)
    }
    guard kind != .kalman else { return }
    change { extras in
      if extras.window == nil { extras.window = LevelWindow() }
      extras.window?.add(Double(level))
    }
  }

  /// Learns from a gap between two samples of one address; true if the allowed gaps should be computed anew.
  ///
  /// A gap that ended a visit says nothing about losses, unless it was hardly longer than was allowed: then the exit was
  /// probably false. It may still be the first sight of a tag at rest.
  private mutating func learn(gap: Float) -> Bool {
    // Of a beacon that was never here, single samples far apart are reflections and tell no interval.
    if !isHere, intervals.received == 0, gap > AdaptiveSilence.strangerWindow { return false }
    let allowed = allowed
    // One interval at the usual level: nothing was lost, so the history need not be put together.
    if gap > 0, surroundings == 0, intervals.isOneInterval(gap) {
      intervals.learnOne(gap: gap)
      return false
    }
    let wasShort = gap < intervals.interval * 1.5
    var losses = history
    defer { history = losses }
    if !wasShort, !isHere, intervals.interval > 0 {
      guard gap <= (allowed == .forever ? 60 : Float(allowed.seconds)) * 1.5 else {
        return intervals.learnSlow(gap: gap, &losses)
      }
    }
    let isNotable = intervals.learn(gap: gap, at: surroundings, &losses)
    guard !wasShort, !isNotable, allowed != .forever else { return isNotable }
    if gap > Float(allowed.seconds) / 2 { return true }
    return isWithinBodyReach && gap > max(AdaptiveSilence.bodyLeast, intervals.interval * 16)
  }
}
