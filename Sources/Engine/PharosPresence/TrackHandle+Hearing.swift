import PharosModel

/// The handling of adverts by a track.
///
/// Nearly every advert is the next one, or one of the next few, of a beacon that is here for sure, from the same address, at a
/// level that is nothing unusual: ``receiveFast(_:observer:)`` takes it with the hot half alone. All others go through
/// ``receive(_:catalog:)``, which gives the same result where both may be used.
extension TrackHandle {
  /// One advert as a track sees it.
  struct Sample {
    /// The event time.
    var time: Timestamp
    /// The level as it was received, in dBm, or ``HotTrack/noLevel``.
    var level: Int8
    /// The offset that is added to it.
    var offset: Double
    /// The address and advertising set that reports of one transmission share.
    var key: UInt64
    /// The level at one metre in dBm, or nil.
    var power: Double?
    /// The half of a second since the observer's first report.
    var half: Int64
    /// A gap that began before this says nothing about losses.
    var silenceFrom: Timestamp
    /// Indicates whether the observer's silence is evidence.
    var silenceIsEvidence: Bool

    /// The level with the observer's offset, in dBm, or nil.
    var offsetLevel: Double? { level == HotTrack.noLevel ? nil : Double(level) + offset }
  }

  /// The effect of a sample.
  struct Outcome {
    /// Bits of the places whose presence was entered.
    var entered: UInt64 = 0
    /// Bits of the places whose presence was confirmed.
    var confirmed: UInt64 = 0
    /// Bits of the places whose presence was proven.
    var proven: UInt64 = 0
    /// Indicates whether it joined the sample before it.
    var hasJoined = false
    /// Indicates whether it is another advert all the same: of a batch without ages.
    var isOfBatch = false
    /// Indicates whether the allowed silence must be recomputed.
    var needsAllowance = false
    /// Indicates whether the beacon came to rest in a slower interval for the first time.
    var hasComeToRest = false
    /// Indicates whether it showed a mode that was not known of it.
    var hasNewMode = false
    /// Indicates whether it ended a silence that only a body in the way explains.
    var wasHidden = false
    /// The time spans of the samples that made presences be entered or proven, in the order of their places.
    private var spreads: [TimeSpan] = []
    /// The window in which they had to fall, unless a policy states one.
    var window = TimeSpan.zero
    /// The run of samples in regular distance that count however far apart they are.
    var run: SparseGaps.Run?

    /// The time span of the samples that made the presence at a place be entered or proven, if they did.
    func spread(of place: Int) -> TimeSpan? {
      let (counted, bit): (UInt64, UInt64) = (entered | proven, 1 << UInt64(place))
      return counted & bit == 0 ? nil : spreads[(counted & (bit - 1)).nonzeroBitCount]
    }

    /// Records the effect of the sample on the presence at a place; places come in their order.
    fileprivate mutating func record(_ action: Presence.HeardAction, at place: Int) {
      let bit: UInt64 = 1 << UInt64(place)
      switch action {
      case .entered(let spread):
        entered |= bit
        spreads.append(spread)
      case .confirmed: confirmed |= bit
      case .proven(let spread):
        proven |= bit
        spreads.append(spread)
      }
    }
  }

  /// The result of an advert on the fast path.
  enum FastOutcome {
    /// It was a sample of its own.
    case heard
    /// It joined the sample before it.
    case joined
    /// Nothing was changed: it takes the slow path.
    case notFast
  }

  // MARK: The fast path

  /// Hears an advert that is on time, if nothing follows from it beyond the hot half.
  ///
  /// - Parameters:
  ///   - time: the event time.
  ///   - raw: the level as it was received, in dBm.
  ///   - offset: the offset that is added to levels.
  ///   - tag: the digest of the address and advertising set.
  ///   - power: the level at one metre that the frame states, in dBm.
  ///   - silenceFrom: a gap that began before this says nothing about losses.
  /// - Returns: the result of the advert.
  @inline(__always)
  func receiveFast(
    at time: Timestamp,
    level raw: Int8,
    offset: Double,
    tag: UInt32,
    power: Int8,
    silenceFrom: Timestamp
  ) -> FastOutcome {
    let since = hot.sinceSample
    // A report without a level is below any edge.
    guard hot.sampleTag == tag, since != HotTrack.noSample, raw > AdaptiveSilence.edge.from,
      hot.level != HotTrack.noLevel,
      hot.power == power && power != HotTrack.noLevel || hot.flags.contains(.declaredPower)
    else { return .notFast }
    let pause = max(time.nanoseconds &- hot.lastHeard.nanoseconds, 0)
    let gap = pause &+ Int64(since)
    let before = Float(Double(hot.level) + offset)
    let level = Float(Double(raw) + offset)
    if gap <= TrackHandle.joinSpan.nanoseconds {
      if raw > hot.level { raise(to: raw, from: before, level) }
      hot.lastHeard.nanoseconds &+= pause
      hot.sinceSample = UInt32(truncatingIfNeeded: gap)
      return .joined
    }
    guard hot.lastHeard.nanoseconds &- Int64(since) >= silenceFrom.nanoseconds, (hot.samples &+ 1) & 127 != 0
    else { return .notFast }
    let seconds = Float(Double(gap) * 1e-9)
    let pauseSeconds = since == 0 ? seconds : Float(Double(pause) * 1e-9)
    let recent = (before + level) / 2
    var usual = hot.usual
    usual.addToMany(recent, after: pauseSeconds)
    guard usual.isUsual(recent), learnFast(seconds) else { return .notFast }
    hot.usual = usual
    hot.kalman.update(level, after: pauseSeconds)
    hot.samples &+= 1
    hot.level = raw
    hot.lastHeard.nanoseconds &+= pause
    hot.sinceSample = 0
    return .heard
  }

  /// A stronger report of the latest sample.
  @inline(__always)
  private func raise(to raw: Int8, from before: Float, _ level: Float) {
    hot.kalman.raiseLast(by: Double(level) - Double(before))
    hot.level = raw
  }

  /// Learns from a gap of one interval or of a few.
  ///
  /// - Returns: false if more follows from it; nothing was changed then.
  @inline(__always)
  private func learnFast(_ gap: Float) -> Bool {
    let interval = hot.interval
    if gap < interval * 1.5 {
      guard gap >= interval * 0.7 || interval - gap <= IntervalLearner.jitter else { return false }
      let difference = gap - interval
      if difference.magnitude < interval * 0.1 + IntervalLearner.jitter {
        hot.interval = interval + difference * (1.0 / 16)
      }
      hot.counts.recordOne()
      return true
    }
    return learnLosses(gap)
  }

  private func learnLosses(_ gap: Float) -> Bool {
    let interval = hot.interval
    let ratio = gap / interval
    guard hot.runsLeft > 0, gap < LossLimit.seconds(hot.lossLimit), ratio < LossRuns.longFrom.0 else {
      return false
    }
    let multiple = Int32(ratio + 0.5)
    var counts = hot.counts
    guard !counts.record(multiple: UInt8(truncatingIfNeeded: multiple)) else { return false }
    hot.counts = counts
    let single = gap / Float(multiple)
    if (single - interval).magnitude < interval * 0.1 + IntervalLearner.jitter {
      hot.interval = interval + (single - interval) * (1.0 / 16) / Float(multiple)
    }
    hot.runsLeft &-= 1
    hot.lost &+= UInt8(truncatingIfNeeded: multiple &- 1)
    return true
  }

  // MARK: The slow path

  /// Hears an advert that is on time, whatever the state of the track.
  func receive(
    _ sample: Sample,
    catalog: borrowing RegionCatalog,
    silence: () -> AdaptiveSilence
  ) -> Outcome {
    flush()
    defer { updateFastPath() }
    var outcome = Outcome()
    let time = max(sample.time, hot.lastHeard)
    let start = sampleStart
    if cold.sampleKey == sample.key, cold.samples > 0, time - start <= TrackHandle.joinSpan {
      outcome.hasJoined = true
      join(sample)
      if sample.time == start, isOutsideSomewhere { recordRepeat(&outcome) }
      hot.lastHeard = time
      sampleStart = start
    } else {
      begin(sample, at: time, from: start, catalog, silence, &outcome)
      hot.lastHeard = time
      sampleStart = time
    }
    if let power = sample.power, !hot.flags.contains(.declaredPower), cold.power != Float(power) {
      cold.power = Float(power)
      outcome.needsAllowance = true
    }
    if cold.marks.contains(.seconds), !outcome.hasJoined {
      changeExtras { $0.halves.add(number: sample.half, at: time, level: sample.offsetLevel) }
    }
    guard sample.silenceIsEvidence else { return outcome }
    // Nearly every advert: here already, nothing waits, and no level could change that.
    let isCalm = phase == .inside && cold.marks.isDisjoint(with: [.waiting, .several])
    if isCalm, !cold.marks.contains(.levels) { return outcome }
    decide(sample, catalog: catalog, silence, &outcome)
    return outcome
  }

  /// Takes a report that came late: the beacon was here then, and the gap before the next sample is shorter than it
  /// seems.
  func receiveLate(at time: Timestamp, level: Double?, catalog: borrowing RegionCatalog) {
    flush()
    if cold.samples > 0, time > sampleStart {
      // When it was sent is known to the delay of its way only, so no gap is counted from it.
      hot.sinceSample = HotTrack.noSample
      hot.level = HotTrack.noLevel
    }
    hot.lastHeard = max(hot.lastHeard, time)
    let level = level.map { Presence.Level(sample: $0, filtered: $0) }
    for place in 0..<catalog.sets[Int(cold.matchSet)].policies.count {
      let needed = catalog.policies[Int(presence(place).policy)].enterSamples
      change(presence: place) { $0.heardLate(at: time, level: level, needed: needed) }
    }
    updateFastPath()
  }

  private func decide(
    _ sample: Sample,
    catalog: borrowing RegionCatalog,
    _ silence: () -> AdaptiveSilence,
    _ outcome: inout Outcome
  ) {
    let level = sample.offsetLevel.map { Presence.Level(sample: $0, filtered: self.level ?? $0) }
    // A report that is earlier than the latest sample is of another transmission, although it joins that sample: after a
    // pause of the server all that was sent meanwhile is read at once, and only the ages tell adverts apart.
    let isEarlier = sample.time + TrackHandle.joinSpan < sampleStart
    let start = isEarlier ? sample.time : sampleStart
    for place in 0..<catalog.sets[Int(cold.matchSet)].policies.count {
      var presence = presence(place)
      // What waited for proof has no timer: it needs one again.
      if presence.isWaiting { outcome.needsAllowance = true }
      let rules = catalog.policies[Int(presence.policy)]
      var window = rules.enterWithin
      if window == nil, presence.phase != .inside {
        if outcome.window == .zero { (outcome.window, outcome.run) = enterWindow(silence()) }
        let usual = AdaptiveSilence.enterWindow(learned: outcome.window, under: rules)
        window = max(usual, outcome.run?.span ?? .zero)
      }
      let action = presence.heard(
        at: start,
        level: level,
        rules: rules,
        window: window ?? .zero,
        isOfBatch: outcome.isOfBatch
      )
      keep(presence, at: place)
      if let action { outcome.record(action, at: place) }
    }
    if outcome.entered != 0, !isOutsideSomewhere { dropSparseGaps() }
  }

  private func enterWindow(_ silence: AdaptiveSilence) -> (TimeSpan, SparseGaps.Run?) {
    (silence.enterWindow, silence.mayBeSlow ? cold.box?.extras.sparse.run : nil)
  }

  /// A report of the same transmission: the strongest one counts.
  private func join(_ sample: Sample) {
    let before = sampleLevel(sample.offset)
    guard let level = sample.offsetLevel, Float(level) > before else { return }
    hot.kalman.raiseLast(by: level - Double(before))
    if cold.box?.extras.halves.open.isEmpty == false {
      changeExtras { $0.halves.raise(number: sample.half, from: Double(before), to: level) }
    }
    hot.level = sample.level
  }

  private func begin(
    _ sample: Sample,
    at time: Timestamp,
    from start: Timestamp,
    _ catalog: borrowing RegionCatalog,
    _ silence: () -> AdaptiveSilence,
    _ outcome: inout Outcome
  ) {
    var start = start
    if cold.sampleKey != sample.key { outcome.needsAllowance = turn(to: sample.key, at: time, from: &start) }
    let gap = TrackHandle.seconds(time - start)
    let level = sample.offsetLevel.map { Float($0) }
    let before = sampleLevel(sample.offset)
    let recent = level.map { before.isNaN ? $0 : (before + $0) / 2 }
    var place = GapContext(levelClass: levelClass)
    place.isWeak =
      cold.marks.contains(.weak)
      || sample.level != HotTrack.noLevel && sample.level <= AdaptiveSilence.edge.from
    if start >= sample.silenceFrom, start != .distantPast {
      outcome.wasHidden = wasHidden(for: gap, at: place, silence)
      if gap >= hot.interval * 1.5 {
        place.declared = declaredInterval(catalog)
        place.enterSamples = enterSamples(catalog)
      }
      learn(gap: gap, at: place, &outcome)
    } else {
      dropSparseGaps()
      if phase == .outside { dropPending() }
    }
    cold.samples &+= 1
    hot.samples &+= 1
    cold.flushed = hot.samples
    if TrackHandle.isMilestone(cold.samples) { outcome.needsAllowance = true }
    sampleKey = sample.key
    let pause = TrackHandle.seconds(time - hot.lastHeard)
    guard let level, let recent else {
      hot.level = HotTrack.noLevel
      hot.kalman.age(by: pause)
      return
    }
    hot.level = sample.level
    smooth(level, after: pause)
    hot.usual.add(recent, after: pause, samples: cold.samples)
    guard !cold.marks.contains(.crowd) else { return }
    let wasWeak = cold.marks.contains(.weak)
    let edge = wasWeak ? AdaptiveSilence.edge.until : AdaptiveSilence.edge.from
    let isWeak = recent - Float(sample.offset) <= Float(edge)
    if isWeak != wasWeak {
      set(.weak, isWeak)
      outcome.needsAllowance = true
    }
    let new = hot.usual.levelClass(of: recent, before: levelClass)
    if new != levelClass, !cold.marks.contains(.shared) {
      levelClass = new
      outcome.needsAllowance = true
    }
    let isLoud = sample.level >= AdaptiveSilence.edge.until
    countPending(at: time, isBack: isLoud && !isWeak && new == .usual, &outcome)
  }

  /// The slowest interval that the directory or a policy declares, in seconds, or 0.
  private func declaredInterval(_ catalog: borrowing RegionCatalog) -> Float {
    var slowest = declaredInterval ?? 0
    for policy in catalog.sets[Int(cold.matchSet)].policies {
      slowest = max(slowest, catalog.policies[Int(policy)].stillInterval.map { Float($0.seconds) } ?? 0)
    }
    return slowest
  }

  /// The greatest number of samples that a policy asks for.
  private func enterSamples(_ catalog: borrowing RegionCatalog) -> Int {
    var maximum = 1
    for policy in catalog.sets[Int(cold.matchSet)].policies {
      maximum = max(maximum, catalog.policies[Int(policy)].enterSamples)
    }
    return maximum
  }

  /// Counts what is pending for good if the beacon has stayed.
  private func countPending(at time: Timestamp, isBack: Bool, _ outcome: inout Outcome) {
    guard let losses = cold.box?.extras.losses, !losses.hasNothingPending else { return }
    guard isBack || losses.waiting.isEmpty || time - losses.waitingSince >= PendingLosses.wait else { return }
    var history = history
    if history.creditPending(at: time, isBack: isBack) { outcome.needsAllowance = true }
    self.history = history
    recordExtras()
  }

  /// Forgets what is pending, as the beacon was gone.
  private func dropPending() {
    guard cold.box != nil else { return }
    changeExtras { $0.losses.dropPending() }
    recordExtras()
  }

  private func smooth(_ level: Float, after pause: Float) {
    if hot.estimate.isNaN {
      hot.kalman = KalmanLevel(first: Double(level))
    } else {
      hot.kalman.update(level, after: pause)
    }
  }

  /// Learns from a gap, and states what follows from it.
  private func learn(gap: Float, at place: GapContext, _ outcome: inout Outcome) {
    let known = modes
    guard learn(gap: gap, at: place) else { return }
    outcome.needsAllowance = true
    outcome.hasComeToRest = known.isEmpty && !modes.isEmpty
    outcome.hasNewMode = known != modes
  }

  /// Learns from a gap between two samples of one address.
  ///
  /// A gap that ended a visit says nothing about losses, unless it was hardly longer than was allowed: then the exit was
  /// probably false. It may still be the first sight of a tag at rest.
  ///
  /// - Returns: true if the allowed silence must be recomputed.
  private func learn(gap: Float, at place: GapContext) -> Bool {
    let isHere = phase != .outside
    let run = recordSparse(gap)
    // Of a beacon that was never here, single samples far apart are reflections and tell no interval.
    let isLone = cold.received == 0 && gap > Float(AdaptiveSilence.defaultWindow)
    if !isHere, let run = isLone ? run : changedInterval(place.enterSamples) { return adopt(run) }
    if !isHere, isLone { return false }
    let allowed = allowed
    var learner = learner
    if gap > 0, place.levelClass == .usual, learner.isOneInterval(gap) {
      learner.learnOne(gap: gap)
      self.learner = learner
      return false
    }
    let wasShort = gap < learner.interval * 1.5
    var losses = history
    defer {
      self.learner = learner
      history = losses
    }
    if !wasShort, !isHere, learner.interval > 0 {
      let isFirstSinceExit = cold.moment == .distantPast
      guard isFirstSinceExit, gap <= (allowed == .forever ? 60 : Float(allowed.seconds)) * 1.5 else {
        // It had left: what was pending came from its way out, and this gap from its way back.
        losses.rare.dropPending()
        // A tag at rest is heard again within two minutes; reflections of one that is away lie minutes apart.
        guard gap <= SparseGaps.maximumInterval else { return false }
        return learner.learnSlow(gap: gap, &losses)
      }
    }
    let isNotable = learner.learn(gap: gap, at: place, &losses)
    guard !wasShort, !isNotable, allowed != .forever else { return isNotable }
    return gap > Float(allowed.seconds) / 2
  }

  /// Returns the interval in which a beacon comes back that left in a faster one, if no window would ever hold as many adverts as an
  /// enter takes.
  ///
  /// One that is slower by far is a mode: ``IntervalLearner/learnSlow(gap:_:)`` finds it.
  private func changedInterval(_ samples: Int) -> SparseGaps.Run? {
    guard samples > 1, hasSparseGaps, let run = cold.box?.extras.sparse.equal,
      run.interval <= hot.interval * IntervalLearner.modes
    else { return nil }
    let window = AdaptiveSilence.minimumWindow(of: max(hot.interval, slowestInterval), samples: samples)
    return Double(run.interval) * Double(samples - 1) > window ? run : nil
  }

  /// Indicates whether the beacon is outside under any policy.
  private var isOutsideSomewhere: Bool {
    phase == .outside || cold.marks.contains(.several) && (1..<presenceCount).contains { !isHere($0) }
  }

  /// Records a gap, if the beacon is outside.
  ///
  /// - Returns: the run of regular gaps that ends with it, if there is one.
  private func recordSparse(_ gap: Float) -> SparseGaps.Run? {
    guard isOutsideSomewhere,
      hasSparseGaps || SparseGaps.isSparse(gap, known: max(hot.interval, slowestInterval))
    else { return nil }
    return changeExtras {
      $0.sparse.add(gap)
      return $0.sparse.run
    }
  }

  private var hasSparseGaps: Bool { cold.box.map { !$0.extras.sparse.isEmpty } ?? false }

  /// Forgets the gaps of the time outside.
  private func dropSparseGaps() {
    guard hasSparseGaps else { return }
    changeExtras { $0.sparse = SparseGaps() }
    recordExtras()
  }

  /// Records a further advert with the time of the sample, of a beacon that is outside.
  private func recordRepeat(_ outcome: inout Outcome) {
    let (isBatch, gap) = changeExtras { ($0.sparse.recordRepeat(), $0.sparse.gaps[0]) }
    guard isBatch else { return }
    outcome.isOfBatch = true
    guard cold.received == 0, gap > Float(AdaptiveSilence.defaultWindow) else { return }
    let run = SparseGaps.Run(interval: gap, multiples: SIMD4(1, 0, 0, 0), samples: 2, span: .zero)
    outcome.needsAllowance = adopt(run)
  }

  /// Adopts the interval of a beacon that is outside.
  ///
  /// - Returns: true: the allowed silence must be recomputed.
  private func adopt(_ run: SparseGaps.Run) -> Bool {
    var (learner, history) = (learner, history)
    learner.adopt(run, &history)
    (self.learner, self.history) = (learner, history)
    return true
  }

  /// Returns true if a body in the way explains a gap and ordinary losses do not.
  ///
  /// The level is the usual one before and after it: what fades is leaving. It may have caused an exit, which was false.
  private func wasHidden(for gap: Float, at place: GapContext, _ silence: () -> AdaptiveSilence) -> Bool {
    guard gap > hot.interval * IntervalLearner.modes, place.isAtUsualPlace, isWithinBodyReach
    else { return false }
    guard let minimum = silence().unexplainedPause else { return false }
    return Double(gap) > minimum && Double(gap) <= minimum + AdaptiveSilence.bodyTime
  }

  /// Returns true if the sample of a number requires that the allowed silence is recomputed: at first each that doubles
  /// the count, later the last one of each window.
  private static func isMilestone(_ samples: UInt32) -> Bool {
    samples & (LossHistory.window - 1) == 0 || samples & (samples &- 1) == 0
  }

  /// Indicates whether a window of recent memory ends with the latest sample.
  var isAtTurn: Bool { cold.samples >= 8 && recentSamples == 0 }

  /// A span in seconds, as gaps are learned.
  private static func seconds(_ span: TimeSpan) -> Float { Float(Double(span.nanoseconds) * 1e-9) }
}

/// Several addresses of one identity.
extension TrackHandle {
  /// Returns the key of a sample's transmitter: its address, unless that changes by itself.
  private static func transmitter(_ key: UInt64) -> UInt64 {
    key & Hearing.privateMark != 0 ? Hearing.privateMark : key & ~(0xFF << 48)
  }

  /// Turns to another transmitter of the same identity: each is learned apart.
  ///
  /// Resolvable addresses change by themselves and are one transmitter's; the identity is gone when all its transmitters are.
  ///
  /// - Parameters:
  ///   - key: the address of the sample that begins.
  ///   - time: the time at which it begins.
  ///   - start: the start of the transmitter's sample before it; changed if it is another transmitter.
  /// - Returns: true if the allowed silence must be recomputed.
  private func turn(to key: UInt64, at time: Timestamp, from start: inout Timestamp) -> Bool {
    let transmitter = TrackHandle.transmitter(key)
    guard !cold.marks.contains(.crowd), cold.samples > 0,
      TrackHandle.transmitter(cold.sampleKey) != transmitter
    else { return false }
    var patience = TimeSpan.zero
    for place in 0..<presenceCount {
      let allowed = presence(place).allowed
      if allowed != .forever { patience = max(patience, allowed) }
    }
    let left = OtherAddress(
      key: cold.sampleKey,
      sampleStart: start,
      until: start + patience,
      allowed: allowed,
      intervals: learner,
      history: history
    )
    levelClass = .usual
    if let found = swap(left, with: transmitter, at: time) {
      (start, learner, history) = (found.sampleStart, found.intervals, found.history)
      adopt(left.history.modes)
      // It was gone meanwhile, though not the identity: that time is no gap between its adverts.
      if found.until < time { start = .distantPast }
      change(presence: 0) { $0.allowed = found.allowed }
      return presenceCount > 1
    }
    guard (cold.box?.extras.others.count ?? 0) < TrackHandle.addresses - 1 else {
      set(.crowd, true)
      changeExtras { $0.others = [] }
      recordExtras()
      return true
    }
    changeExtras { $0.others.append(left) }
    recordExtras()
    (start, learner, history) = (.distantPast, IntervalLearner(), LossHistory())
    // They belong to the identity, whatever address it has.
    adopt(left.history.modes)
    return true
  }

  /// Removes addresses that are gone, and puts one in the place of the one that a transmitter had.
  ///
  /// - Returns: the entry of the transmitter, or nil.
  private func swap(_ left: OtherAddress, with transmitter: UInt64, at time: Timestamp) -> OtherAddress? {
    guard cold.marks.contains(.shared) else { return nil }
    defer { recordExtras() }
    return changeExtras { extras in
      extras.others.removeAll { $0.until < time && TrackHandle.transmitter($0.key) != transmitter }
      guard let place = extras.others.firstIndex(where: { TrackHandle.transmitter($0.key) == transmitter })
      else { return nil }
      let found = extras.others[place]
      extras.others[place] = left
      return found
    }
  }
}
