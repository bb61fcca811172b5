package import PharosDocuments
package import PharosModel

/// The evidence that an observer lives, and the silence after which it counts as down.
package struct LifeSigns: Sendable {
  /// The least and the greatest silence that learned gaps may allow.
  static let minimumSilence = TimeSpan.seconds(10)
  static let maximumSilence = TimeSpan.minutes(15)
  /// The silence allowed while fewer than sixteen gaps are known.
  static let unlearned = TimeSpan.seconds(30)
  /// The number of gaps from which on they show what is usual.
  private static let minimumSamples = 16
  /// The number of gaps up to which those of the most frequent transmitter count as well.
  private static let fewGaps = 4
  /// A silence that is longer is judged at the observer's next sign: a beacon that is heard twice a second loses as much by
  /// chance.
  private static let noticeable = TimeSpan.seconds(1)
  /// The factor from one check of a silent observer to the next.
  private static let checkGrowth = 1.25
  /// A radio that should have heard so many adverts and heard none is deaf: by chance alone that happens once in three
  /// thousand.
  static let busy = 8.0
  /// The minimum time that an exit waits for a better witness when there is reason to doubt the radio.
  static let patience = TimeSpan.seconds(2)

  /// The mode by which the observer's silence is judged.
  package var mode: ObserverEntry.Liveness { didSet { updateJudgement() } }
  /// Indicates whether a person carries the observer: see `ObserverEngine.isCarried`.
  package var isCarried = false { didSet { updateJudgement() } }
  /// Indicates whether the radio is judged by the transmitters that it hears.
  ///
  /// It is not under `assumed`, where silence means absence, nor if the observer is carried: what falls silent together, or is
  /// thinned out together, is left behind.
  private(set) var judgesReception: Bool
  /// The latest event time of something that proves life.
  package var lastProof = Timestamp.distantPast
  /// The earliest time from which silence counts towards an outage: the end of the server's last downtime.
  var silentFrom = Timestamp.distantPast
  /// Indicates whether it is known from published records alone and has not been heard yet: it does not count as alive
  /// for nothing.
  var isUnproven = false
  /// The judgement of its radio.
  package var reception = Reception()
  var heartbeats = HeartbeatClock()
  package var others = GapMemory()
  package var traffic = GapMemory()
  /// The latest event time of anything.
  package var lastSign = Timestamp.distantPast
  /// The silence after which the engine checks, at the observer's next sign, if the silence was a deaf time.
  ///
  /// Zero from a downtime of the server until the observer's first sign.
  package var maximumPause = LifeSigns.noticeable
  /// The uploads in which its adverts come.
  var uploads: UploadRhythm
  /// The greatest gap before the first hole that was excused, in seconds, until there is a second one; zero otherwise.
  ///
  /// The hole is a gap as well, and what is four times as long would be no hole.
  var gapBeforeHole = 0.0
  /// The average number of adverts that a heartbeat counts beyond those that are reported to us.
  var ambient = 0.0
  /// The number of these that the recent heartbeats that counted none should have counted.
  var missed = 0.0
  /// Adverts reported since the latest heartbeat.
  var reported: UInt32 = 0
  /// The share of its adverts that the gateway usually drops.
  var usualDrop = 0.0
  /// The time since which there has been doubt about the radio, and the time of the latest doubt.
  var doubt: (since: Timestamp, last: Timestamp)?
  /// The transmitter that was the first to be heard at the latest time.
  private var latestKey: UInt64 = 0
  package var leader: UInt64 = 0
  package var votes: UInt8 = 0
  /// The time of the return from the latest outage; the distant past before the first.
  var returnedAt = Timestamp.distantPast
  /// The length of the latest outage before which the observer spoke for a moment only, in seconds; zero if there was none.
  var lull = 0.0

  package init(mode: ObserverEntry.Liveness, received: Timestamp = .distantPast) {
    self.mode = mode
    uploads = UploadRhythm(at: received)
    judgesReception = mode != .assumed
  }

  private mutating func updateJudgement() {
    let judges = mode != .assumed && !isCarried
    if judgesReception, !judges { reception.restart(at: reception.latest) }
    judgesReception = judges
  }

  /// Indicates whether it counts as alive because there is nothing by which its life could be seen.
  var isAssumed: Bool {
    switch mode {
    case .assumed: true
    case .auto: heartbeats.last == nil && others.last == nil && !isUnproven
    case .heartbeat, .traffic: false
    }
  }

  /// The time of the latest proof of life, if any.
  var provenAt: Timestamp? { lastProof == .distantPast ? nil : lastProof }

  /// Indicates whether there are heartbeats to go by even when the radio does not scan.
  var hasHeartbeats: Bool { heartbeats.last != nil }

  /// Returns true if something heard after a time proves that it was able to hear then.
  func proves(after time: Timestamp) -> Bool { isAssumed || provenHearing > time }

  /// The time through which what it heard has come: the latest sign of life or, of an observer that sends what it hears now
  /// and then, the latest upload, unless the next one is overdue.
  var provenHearing: Timestamp {
    let wait = uploads.wait
    return wait == .zero ? lastProof : max(min(lastProof, traffic.latest), lastProof - wait)
  }

  /// The silence after which it counts as down: three times the greatest gap of late between heartbeats, or where there
  /// are none, four times that of traffic; never less than one upload and a half.
  var allowedGap: TimeSpan { max(uploads.wait, ownGap) }

  private var ownGap: TimeSpan {
    switch mode {
    case .heartbeat: return LifeSigns.allowed(heartbeats.gaps, times: 3, unlearned: .seconds(60))
    case .traffic: return LifeSigns.allowed(others.last == nil ? traffic : others, times: 4)
    case .auto, .assumed:
      if heartbeats.last != nil { return LifeSigns.allowed(heartbeats.gaps, times: 3) }
      return LifeSigns.allowed(others.last == nil ? traffic : others, times: 4)
    }
  }

  /// A heartbeat came; true if it proves life.
  ///
  /// One that says that a radio heard nothing where it should have proves only that the gateway's processor runs.
  package mutating func heartbeat(_ heartbeat: Heartbeat, at time: Timestamp) -> Bool {
    let before = heartbeats.last
    record(time)
    heartbeats.record(time)
    defer { reported = 0 }
    if let before, !listened(heartbeat) { reception.addSpan(from: before, to: time) }
    guard hears(heartbeat, at: time), mode != .traffic else { return false }
    lastProof = max(lastProof, time)
    return true
  }

  /// An advert came, from the transmitter that the key stands for; true if it proves life.
  ///
  /// Gaps are learned from all transmitters but the most frequent one (Boyer and Moore's majority vote): its own
  /// departure must not look like the observer's.
  ///
  /// One that came with a time may share it with another, as a scan response does; without times, several at once were
  /// collected.
  package mutating func advert(from key: UInt64, at time: Timestamp, isTimed: Bool = false) -> Bool {
    reception.places.makeUnique()
    return advertUnshared(from: key, tag: Reception.tag(of: key), at: time, isTimed: isTimed)
  }

  /// The same with the reception's tag of the key, after its places have been made the observer's own.
  @inline(__always)
  mutating func advertUnshared(from key: UInt64, tag: UInt32, at time: Timestamp, isTimed: Bool) -> Bool {
    // An advert that is no later than the latest one proves nothing new.
    if time > reception.latest {
      advance(to: time)
      latestKey = key
    } else if !isTimed, time == traffic.latest, key == latestKey {
      uploads.recordBurst()
    }
    isUnproven = false
    reported &+= 1
    if judgesReception { reception.receiveUnshared(tag, at: time) }
    if leader == key, votes != 0 {
      votes &+= votes < 64 ? 1 : 0
    } else {
      if votes != 0 || leader != 0 && leader != key { others.record(time) }
      leader = votes == 0 ? key : leader
      votes = votes == 0 ? 1 : votes &- 1
    }
    return mode != .heartbeat
  }

  /// An advert came that is later than all before it.
  @inline(__always)
  private mutating func advance(to time: Timestamp) {
    record(time)
    traffic.record(time)
    if mode != .heartbeat { lastProof = max(lastProof, time) }
  }

  /// Something came that is neither an advert nor a heartbeat: a scan, a motion, a display; true if it proves life.
  mutating func other(at time: Timestamp) -> Bool {
    record(time)
    guard mode == .auto || mode == .assumed else { return false }
    others.record(time)
    lastProof = max(lastProof, time)
    return true
  }

  /// Handles a restart of the sender: the time since its last sign is no evidence, and nothing is learned from it.
  mutating func restarted(at time: Timestamp) {
    if lastSign != .distantPast { reception.addSpan(from: lastSign, to: time) }
    heartbeats.interrupt()
    begin(at: time, isProof: false)
  }

  /// Datagrams were lost in a span: what was heard in it never came.
  mutating func lost(from start: Timestamp, to end: Timestamp) { reception.addSpan(from: start, to: end) }

  /// The observer counts as down: its heartbeats, which come by a clock, learn no gap from that.
  mutating func end() { heartbeats.interrupt() }

  /// The observer is back from an outage, in which it could hear nothing; learns the rhythm of a gateway that uploads now
  /// and then.
  ///
  /// A gateway that is heard for a moment, is silent, and is heard for a moment again after about the same time was never
  /// down: what looked like an outage is the time between its uploads. An outage proper ends at any time, and is preceded by a
  /// longer time in which the observer was heard.
  ///
  /// - Parameters:
  ///   - time: The time of the return.
  ///   - proof: The time of the last proof of life before the outage.
  mutating func returned(at time: Timestamp, afterProofAt proof: Timestamp?) {
    defer {
      returnedAt = time
      begin(at: time)
    }
    guard let proof else { return }
    reception.addSpan(from: proof, to: time)
    let gap = (time - proof).seconds
    let before = lull
    lull = 0
    let wasHeardBriefly = returnedAt == .distantPast || (proof - returnedAt).seconds < gap / 2
    guard wasHeardBriefly, gap > 0, gap < LifeSigns.maximumSilence.seconds else { return }
    lull = gap
    guard before > 0, (gap - before).magnitude <= before / 4 else { return }
    if heartbeats.last != nil { heartbeats.gaps.learn(gap) }
    if others.last != nil { others.learn(gap) }
    traffic.learn(gap)
  }

  /// The observer is known from now on, or again: gaps do not span the time before.
  mutating func begin(at time: Timestamp, isProof: Bool = true) {
    if isProof { lastProof = max(lastProof, time) }
    heartbeats.skip(to: time)
    others.skip(to: time)
    traffic.skip(to: time)
    reception.restart(at: time)
    lastSign = max(lastSign, time)
  }

  /// Handles a downtime of the server up to a time: silence up to then is no evidence, and nothing is learned from it.
  ///
  /// The same holds for the silence up to the observer's first sign: its sequence numbers do not show what was lost in
  /// the meantime, and its network may be down.
  mutating func interrupted(until time: Timestamp) {
    silentFrom = max(silentFrom, time)
    heartbeats.interrupt()
    uploads.interrupt(until: time)
    begin(at: time, isProof: false)
    maximumPause = .zero
    doubt = nil
  }

  /// The time from which on its silence counts towards an outage.
  ///
  /// An upload counts from when it came, whatever times it states.
  var silentSince: Timestamp { max(lastProof, silentFrom, uploads.isWhole ? uploads.latest : .distantPast) }

  /// Returns true if it counts as down, not having been heard up to a time: all that it hears fell silent together, or its
  /// silence is longer than any that it is known for.
  ///
  /// The first of the two needs no memory of gaps, so the tenth outage is noticed as soon as the first. A radio that hears
  /// more than is reported to us is judged by its heartbeats.
  func isOut(at time: Timestamp) -> Bool {
    let silence = time - silentSince
    return silence >= allowedGap || silence >= uploads.wait && fellSilent(by: time)
  }

  /// The first time at which it counts as down, of those at which that is checked up to a time; otherwise the next check.
  ///
  /// - Returns: the time, and whether it is one at which the observer counts as down.
  func outage(through time: Timestamp) -> (time: Timestamp, isOut: Bool) {
    var allowed = min(LifeSigns.minimumSilence, allowedGap)
    while silentSince + allowed <= time, !isOut(at: silentSince + allowed) {
      allowed = min(allowed * LifeSigns.checkGrowth, allowedGap)
    }
    return (silentSince + allowed, silentSince + allowed <= time)
  }

  /// Returns true if all that the observer hears fell silent together, and its heartbeats do not tell of more that it hears.
  private func fellSilent(by time: Timestamp) -> Bool {
    judgesReception && mode != .heartbeat && ambient < LifeSigns.busy
      // All that comes in one upload falls silent together after it.
      && time - traffic.latest > (uploads.isSlow ? uploads.wait : .seconds(uploads.usualGap * 2))
        + LifeSigns.noticeable
      && reception.isSilentTogether(at: time)
  }

  private static func allowed(
    _ gaps: GapMemory,
    times factor: Double,
    unlearned: TimeSpan = LifeSigns.unlearned
  ) -> TimeSpan {
    let learned = TimeSpan.seconds(gaps.maximumGap * factor + 1)
    let floor = gaps.count < minimumSamples ? unlearned : minimumSilence
    return min(max(learned, floor), maximumSilence)
  }
}

/// The judgement of whether the radio is to be believed.
extension LifeSigns {
  /// Returns true if a silence that has outlasted its deadline is the beacon's own, and not its observer's.
  ///
  /// It is not while the radio is deaf. If the adverts received are thinned out, or other transmitters fell silent with
  /// the beacon and none is heard as usual, the exit waits for better evidence, for as long as the silence lasted and
  /// at most one liveness gap; then the silence counts as the beacon's own. The exit does not wait if the radio is not
  /// judged.
  mutating func trusts(silenceSince start: Timestamp, deadline: Timestamp, at time: Timestamp) -> Bool {
    guard judgesReception else { return true }
    guard reception.deafSince == nil else {
      // If it hears again just now, the deadline may have moved: the next look is at another one.
      reception.reassess(at: time)
      return false
    }
    // What was deaf is known to have been, and is made good: the time since then is in question.
    let open = max(start, reception.spans.end)
    let verdict = reception.verdict(from: open, through: time)
    guard !verdict.isDeaf else {
      reception.becomeDeaf(since: open, at: time)
      return false
    }
    // In the first seconds after a downtime or a pause, the histories of transmitters are too short for doubt: until one is
    // heard as usual, the exit waits as well, unless its silence is longer than that of any untracked beacon.
    let isEarly =
      start < silentFrom + LifeSigns.minimumSilence && deadline - start <= AdaptiveSilence.defaultSilence
      && !verdict.isFine
    guard verdict.isDoubtful || isEarly else {
      doubt = nil
      return true
    }
    // The observer is alive, or the caller would not ask. Wait as long again as the silence lasted, at most one
    // liveness gap. Only while the observer is heard can a witness come back, so behind a hole in what it sends the
    // wait begins again; an observer that is heard now and then waits one liveness gap more in all.
    let patience = min(max(LifeSigns.patience, deadline - start), allowedGap)
    var since = time
    if let doubt, time - doubt.last <= witnessPause { since = doubt.since }
    doubt = (since, time)
    return time - max(since, deadline) >= patience || time - deadline >= patience + allowedGap
  }

  /// The longest time between two looks at a doubt that is no hole: between heartbeats, if their period is known.
  private var witnessPause: TimeSpan {
    heartbeats.maximumPause != .forever ? heartbeats.maximumPause : LifeSigns.noticeable
  }

  /// Anything came: if nothing did for longer than heartbeats let it be, nothing could.
  @inline(__always)
  private mutating func record(_ time: Timestamp) {
    isUnproven = false
    guard time > lastSign else { return }
    // Before the first sign the difference wraps around to less than nothing.
    if time.nanoseconds &- lastSign.nanoseconds > maximumPause.nanoseconds { excuse(until: time) }
    lastSign = time
  }

  /// A silence that all it hears have in common was the observer's own: it is no evidence, and no gap is learned from it.
  ///
  /// Nor is one evidence that its heartbeats or its few gaps so far do not let be.
  @inline(never)
  private mutating func excuse(until time: Timestamp) {
    let isInterrupted = maximumPause == .zero
    maximumPause = LifeSigns.noticeable
    guard lastSign != .distantPast else { return }
    if fellSilent(by: time) {
      heartbeats.interrupt()
      others.isBroken = others.last != nil
      traffic.isBroken = traffic.last != nil
    } else if isInterrupted || time - lastSign > usualPause {
      gapBeforeHole = gapBeforeHole == 0 ? usualGap : 0
    } else {
      return
    }
    reception.addSpan(from: lastSign, to: time)
  }

  /// The longest silence of a living observer: by the clock of its heartbeats; if there is none to go by yet, by the
  /// gaps of its traffic as long as they are too few to take a longer one for an outage; otherwise unlimited.
  private var usualPause: TimeSpan {
    if heartbeats.maximumPause != .forever { return heartbeats.maximumPause }
    guard mode == .auto || mode == .traffic, others.last != nil, others.count < LifeSigns.minimumSamples
    else {
      return .forever
    }
    return .seconds((gapBeforeHole > 0 ? gapBeforeHole : usualGap) * 4 + 1)
  }

  /// The greatest gap so far, in seconds: of all but the most frequent transmitter as soon as there are some.
  private var usualGap: Double {
    others.count < LifeSigns.fewGaps ? max(others.maximumGap, traffic.maximumGap) : others.maximumGap
  }

  /// Returns true if the radio heard something, as far as the heartbeat and the silence since then tell.
  private mutating func hears(_ heartbeat: Heartbeat, at time: Timestamp) -> Bool {
    guard judgesReception else { return true }
    guard let count = heartbeat.advertsHeard else { return !reception.isSilentTogether(at: time) }
    guard count == 0 else {
      // What is uploaded now and then cannot be compared with what was heard since the last heartbeat.
      ambient +=
        uploads.isSlow ? -ambient : (Double(count) - min(Double(count), Double(reported)) - ambient) / 8
      missed = 0
      return true
    }
    missed += ambient
    return missed < LifeSigns.busy && !reception.isSilentTogether(at: time)
  }

  /// Returns true if the radio listened since the last heartbeat, and most of what it heard was not dropped.
  private mutating func listened(_ heartbeat: Heartbeat) -> Bool {
    if let duty = heartbeat.scanDuty, duty < 0.01 { return false }
    let dropped = Double(heartbeat.dropped)
    guard dropped > 0 || usualDrop > 0 else { return true }
    let share = dropped / max(1, dropped + Double(reported))
    let isUnusual = share >= 0.8 && usualDrop < 0.4
    usualDrop += (share - usualDrop) / 32
    return !isUnusual
  }
}

/// The greatest gap of late between things of one sort.
package struct GapMemory: Sendable {
  /// The time constant with which the greatest gap is forgotten.
  ///
  /// - Units: seconds; two hours, so that a quiet spell is remembered through the next busy one.
  package static let memory = 7_200.0
  /// The share of the greatest gap that is forgotten in a nanosecond.
  private static let forgotten = 1 / (memory * 1e9)
  /// The difference up to which there is no gap: a busy radio pays for no arithmetic.
  ///
  /// - Units: nanoseconds.
  private static let minimumGap: Int64 = 10_000_000
  /// The maximum value of ``count``.
  private static let maximumCount: UInt16 = 1_000

  /// The time of the latest one; the distant past before the first.
  var latest = Timestamp.distantPast
  /// The greatest gap, in nanoseconds.
  var widest = 0.0
  /// The number of gaps that are known, up to a thousand.
  var count: UInt16 = 0
  /// Indicates whether the time up to the next one is no gap.
  package var isBroken = false

  package init() {}

  /// The time of the latest one, if any.
  package var last: Timestamp? { latest == .distantPast ? nil : latest }

  /// The greatest gap, in seconds.
  package var maximumGap: Double { widest / 1e9 }

  /// One came.
  @inline(__always)
  package mutating func record(_ time: Timestamp) {
    guard time > latest else { return }
    // Not before the first one; times that lie so far apart wrap around and make no gap.
    let gap = time.nanoseconds &- latest.nanoseconds
    guard !isBroken, latest != .distantPast else { return begin(at: time) }
    latest = time
    count &+= count < GapMemory.maximumCount ? 1 : 0
    guard gap > GapMemory.minimumGap else { return }
    let length = Double(gap)
    widest = max(length, widest * max(0, 1 - length * GapMemory.forgotten))
  }

  /// Takes a gap that was seen otherwise, in seconds.
  mutating func learn(_ gap: Double) {
    widest = max(widest, gap * 1e9)
    count &+= count < GapMemory.maximumCount ? 1 : 0
  }

  /// Time up to then makes no gap.
  mutating func skip(to time: Timestamp) {
    if latest != .distantPast { latest = max(latest, time) }
  }

  @inline(never)
  private mutating func begin(at time: Timestamp) {
    if latest != .distantPast { isBroken = false }
    latest = time
  }
}

/// The heartbeats of an observer, which come by a clock.
package struct HeartbeatClock: Sendable {
  /// The heartbeats after which their period is known.
  private static let minimumSamples: UInt16 = 8
  /// A gap of so many periods is none of the clock's: heartbeats were lost, or the observer was out.
  private static let outlierFactor = 4.0
  /// The number of strange gaps in a row after which the clock counts as slower.
  private static let patience = 3

  /// Their gaps.
  package var gaps = GapMemory()
  var period = 0.0
  var outliers = 0

  package init() {}

  /// The time of the latest one.
  var last: Timestamp? { gaps.last }

  /// The longest silence of an observer while all is well: two heartbeats and a half, and half a second for the
  /// network; unlimited while the period is not known.
  package var maximumPause: TimeSpan {
    gaps.count < HeartbeatClock.minimumSamples ? .forever : .seconds(period * 2.5 + 0.5)
  }

  /// One came.
  package mutating func record(_ time: Timestamp) {
    guard let last = gaps.last, time > last, !gaps.isBroken else { return gaps.record(time) }
    let gap = (time - last).seconds
    let isOutlier = gaps.count >= HeartbeatClock.minimumSamples && gap > period * HeartbeatClock.outlierFactor
    if isOutlier, outliers < HeartbeatClock.patience {
      outliers += 1
      gaps.isBroken = true
    } else {
      period = period == 0 || isOutlier ? gap : period + (gap - period) / 8
      outliers = 0
    }
    gaps.record(time)
  }

  /// The gap up to the next one is none.
  mutating func interrupt() { gaps.isBroken = true }

  /// Time up to then makes no gap.
  mutating func skip(to time: Timestamp) { gaps.skip(to: time) }
}

extension LifeSigns: FieldParts {
  /// Hands what proves the observer's life to a coder; how it is judged, the site says.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&isCarried)
    try coder.code(&lastProof)
    try coder.code(&silentFrom)
    try coder.code(&isUnproven)
    try coder.code(parts: &reception)
    try coder.code(parts: &heartbeats)
    try coder.code(parts: &others)
    try coder.code(parts: &traffic)
    try coder.code(&lastSign)
    try coder.code(&maximumPause)
    try coder.code(parts: &uploads)
    try coder.code(finite: &gapBeforeHole, "a gap before a hole")
    try coder.code(finite: &ambient, "adverts of others")
    try coder.code(finite: &missed, "adverts missed")
    try coder.code(&reported)
    try coder.code(finite: &usualDrop, "a share dropped")
    var since = doubt?.since
    try coder.code(&since)
    if let since {
      var last = doubt?.last ?? since
      try coder.code(&last)
      doubt = (since, last)
    }
    try coder.code(&latestKey)
    try coder.code(&leader)
    try coder.code(small: &votes, through: 64, "votes")
    try coder.code(&returnedAt)
    try coder.code(finite: &lull, "a silence between uploads")
  }
}

extension ListeningTime {
  /// The value before the first report to stage two.
  static let unreported = ListeningTime(provenThrough: .distantPast)

  /// Returns true if stage two, which knows this value, has to know another: once a second, or at once if the proof went back
  /// or what could not be heard has changed, which has to be known before the proof behind it.
  func isOutdated(by other: ListeningTime) -> Bool {
    guard deafTime == other.deafTime, delay == other.delay, other.provenThrough >= provenThrough else {
      return true
    }
    return other.provenThrough - provenThrough >= .milliseconds(1_000)
  }
}

extension GapMemory: FieldParts {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&latest)
    try coder.code(finite: &widest, "the greatest gap")
    try coder.code(&count)
    try coder.code(&isBroken)
  }
}

extension HeartbeatClock: FieldParts {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(parts: &gaps)
    try coder.code(finite: &period, "a heartbeat's period")
    try coder.code(&outliers, as: UInt8.self)
  }
}
