import PharosReports

extension Track {
  /// One advert as a track sees it.
  struct Sample {
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
  }

  /// What a sample meant.
  struct Outcome {
    /// Bits of the places whose presence was entered.
    var entered: UInt64 = 0
    /// Bits of the places whose presence was confirmed.
    var confirmed: UInt64 = 0
    /// Whether it joined the sample before it.
    var hasJoined = false
    /// Whether the allowed gaps should be computed anew.
    var needsAllowance = false
    /// Whether it was far below its usual level, and is no more.
    var hasRecovered = false
    /// The silence before it in seconds, if that was long for a body in the way to be the reason.
    var pause: Float = 0
  }

  /// Takes a sample that is on time.
  mutating func heard(
    _ sample: Sample,
    power: Double?,
    catalog: borrowing RegionCatalog,
    filter kind: LevelFilterKind,
    canTell: Bool
  ) -> Outcome {
    var outcome = Outcome()
    let time = max(sample.time, lastHeard)
    if sampleKey == sample.key, samples > 0, time - sampleStart <= Track.joinSpan {
      outcome.hasJoined = true
      join(sample)
    } else {
      begin(sample, at: time, kind, &outcome)
    }
    lastHeard = time
    if let power, !isPowerDeclared, self.power != Float(power) {
      self.power = Float(power)
      outcome.needsAllowance = true
    }
    if needsSeconds, !outcome.hasJoined {
      buckets.add(second: sample.second, at: time, level: sample.level)
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
      let rules = catalog.policies[Int(self[presence: place].policy)]
      // What waited for proof has no timer: it needs one again.
      if self[presence: place].isWaiting { outcome.needsAllowance = true }
      switch self[presence: place].heard(
        at: sampleStart,
        level: level,
        rules: rules,
        window: silence.enterWindow(rules)
      ) {
      case .entered: outcome.entered |= 1 << UInt64(place)
      case .confirmed: outcome.confirmed |= 1 << UInt64(place)
      case nil: break
      }
    }
  }

  /// A report that came late: it only shows that the beacon was still here then, and that the gap before the next sample
  /// is shorter than it seems.
  mutating func heardLate(at time: Timestamp, places: Int) {
    lastHeard = max(lastHeard, time)
    if samples > 0, time > sampleStart {
      // What was overtaken by others tells no gap: when it was sent is known to the delay of its way only.
      sampleStart = .distantPast
      sampleLevel = .nan
    }
    for place in 0..<places { self[presence: place].heardLate() }
  }

  /// A report of the same transmission: the strongest one counts.
  private mutating func join(_ sample: Sample) {
    guard let level = sample.level, Float(level) > sampleLevel else { return }
    kalman.raiseLast(by: level - Double(sampleLevel))
    if !extras.isEmpty { extras[0].window?.raiseLast(by: level - Double(sampleLevel)) }
    buckets.raise(second: sample.second, from: Double(sampleLevel), to: level)
    sampleLevel = Float(level)
  }

  private mutating func begin(
    _ sample: Sample,
    at time: Timestamp,
    _ kind: LevelFilterKind,
    _ outcome: inout Outcome
  ) {
    if sampleKey != sample.key { outcome.needsAllowance = turn(to: sample.key, at: time) }
    if sampleStart >= sample.silenceFrom, sampleStart != .distantPast,
      learn(gap: Float((time - sampleStart).seconds))
    {
      outcome.needsAllowance = true
      outcome.pause = Float((time - sampleStart).seconds)
    }
    samples &+= 1
    if samples & (LossHistory.window - 1) == 0 || samples & (samples - 1) == 0 {
      outcome.needsAllowance = true
    }
    sampleStart = time
    sampleKey = sample.key
    let pause = Float((time - lastHeard).seconds)
    guard let level = sample.level else {
      sampleLevel = .nan
      kalman.age(by: pause)
      return
    }
    let recent = sampleLevel.isNaN ? Float(level) : (sampleLevel + Float(level)) / 2
    sampleLevel = Float(level)
    smooth(sampleLevel, after: pause, kind)
    usual.add(recent, after: pause, samples: samples)
    guard !isCrowd else { return }
    let surroundings = usual.surroundings(recent, before: surroundings)
    if surroundings != self.surroundings, extras.first?.others.isEmpty ?? true {
      // Before the usual level is known well, fading looks like a shadow.
      outcome.hasRecovered =
        self.surroundings == 2 && first.isHere
        && Float(samples) * intervals.interval > UsualLevel.settled
      self.surroundings = surroundings
      outcome.needsAllowance = true
    }
  }

  private mutating func smooth(_ level: Float, after pause: Float, _ kind: LevelFilterKind) {
    if kalman.isEmpty {
      kalman = KalmanLevel(first: Double(level))
    } else {
      kalman.take(level, after: pause)
    }
    guard kind != .kalman else { return }
    if extras.isEmpty { extras.append(Extras()) }
    if extras[0].window == nil { extras[0].window = LevelWindow() }
    extras[0].window?.add(Double(level))
  }

  /// Learns from a gap between two samples of one address; true if the allowed gaps should be computed anew.
  ///
  /// A gap that ended a visit says nothing about losses, unless it was hardly longer than was allowed: then the exit was
  /// probably false. It may still be the first sight of a tag at rest.
  private mutating func learn(gap: Float) -> Bool {
    // Of a beacon that was never here, single samples far apart are reflections and tell no interval.
    if !first.isHere, intervals.received == 0, gap > AdaptiveSilence.strangerWindow { return false }
    let wasShort = gap < intervals.interval * 1.5
    if !wasShort, !first.isHere, intervals.interval > 0 {
      let allowed = first.allowed == .forever ? 60 : Float(first.allowed.seconds)
      guard gap <= allowed * 1.5 else { return intervals.learnSlow(gap: gap, &history) }
    }
    let isNotable = intervals.learn(gap: gap, at: surroundings, &history)
    guard !wasShort, !isNotable, first.allowed != .forever else { return isNotable }
    if gap > Float(first.allowed.seconds) / 2 { return true }
    return isWithinBodyReach && gap > max(AdaptiveSilence.bodyLeast, intervals.interval * 16)
  }
}
