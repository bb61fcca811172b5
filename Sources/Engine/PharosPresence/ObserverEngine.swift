import PharosModel

/// All that stage one knows and does about one observer; nothing in it depends on another observer.
///
/// It has one method for each input: a report (`handle(_:in:_:)`), a run of adverts
/// (`receive(_:count:_:_:latest:_:_:)`), a timer (`fire(_:at:_:)`), a change of regions. The observers share the
/// `EngineContext` that each method takes.
package struct ObserverEngine: Sendable {
  // What every datagram touches comes first.
  /// The receive time of its latest report.
  var lastReceived: Timestamp
  var adverts: UInt64 = 0
  var rateStart: Timestamp
  var rateCount = 0.0
  var isLive = true
  var isUp = true
  /// Indicates whether stage two must know that it lives: it is in a zone or at a known place.
  var standsInZone = false
  /// Indicates whether it has reported what only handsets report, so that what it hears is passed on to locate it.
  var isHandset = false
  /// Indicates whether stage two waits for its first proof of life since it was restored.
  var isAwaited = false
  /// The time until which stage two must know that it lives, as it may assume since a restart that a beacon is there.
  var watchedUntil = Timestamp.distantPast
  var scanState = ScanState.foreground
  /// The version of the catalog that its tracks and rows have caught up with.
  var version: UInt32 = 0
  /// Its place in the engine.
  var place: Int32 = 0
  var rssiOffset: Double
  /// Silence counts from here on at the earliest: the last recovery, or the last change to scanning all the time.
  var silenceFrom = Timestamp.distantPast
  /// Reports about what happened before it say nothing about the lag, as an outage held them up.
  var lagLearnsFrom = Timestamp.distantPast
  var tracks = TrackPages()
  var table = TrackTable()
  var lag: LagEstimator
  var sequence = SequenceCheck()
  /// The receive time of the latest datagram with a header.
  var datagramAt: Timestamp?
  var outageTimer = Timestamp.distantFuture
  /// The adverts of the present upload, if uploads are read as a whole.
  var upload = HeldUpload()
  var pendingTracks: [Int32] = []
  var pendingRows: [Int32] = []
  var life: LifeSigns

  let id: ObserverID
  /// The receive time of its first report: the phase of its seconds, and the base of its counters.
  let firstHeard: Timestamp
  var clock = ClockOffset()
  /// What was last reported of its life to stage two.
  var lifeReported = ListeningTime.unreported
  var scanChanged = Timestamp.distantPast
  /// The time since which its silence has been evidence without a break.
  var monitoringSince: Timestamp
  /// The time of its latest proof of life before it went down.
  var provenBeforeOutage: Timestamp?
  /// The time from which on pending decisions are judged again after its silence was doubted.
  var reassessAt = Timestamp.distantPast

  /// Bits of the scopes of all tracks that it has or had.
  var scopes: UInt64 = 0
  var freeTracks: [Int32] = []
  /// The losses learned from the tracks of one proximity UUID, and from all tracks together.
  var families: [UInt32: LossPool] = [:]
  var pool = LossPool()
  var trackOfAddress: [UInt64: AddressOwner] = [:]
  var batteryReported: [BeaconID: Timestamp] = [:]

  var rows: [RegionRow] = []
  /// The number of rows of regions that are no longer monitored.
  var deadRows = 0
  var rowOfSlot: [Int32: Int32] = [:]
  var activeNodes: Set<Int32> = []
  /// The ranging requests whose last event named a beacon, in order: one without any must follow.
  var namedRequests: [Int32] = []
  /// The tracks that the end of a second looks at.
  var listed: [Int32] = []
  /// The second of its own count whose end is next; nil while there is nothing to look at.
  var nextSecond: Int64?
  /// The half whose levels stage two gets next; it means nothing while ``nextSecond`` is nil.
  var nextHalf: Int64 = 0
  var secondTimer = Timestamp.distantFuture

  /// The least base of the counters of new rows: the last start of the server.
  var countersFrom = Timestamp.distantPast
  var ordinals = Ordinals()
  var lifeCounter: UInt64
  var rangingCounter: UInt64
  var late: UInt64 = 0
  var rateBefore = 0.0

  /// The factor by which silence is stretched while the radio scans in windows: phones scan about a third of the time
  /// in the background (Android's balanced mode: 1,024 of 4,096 ms).
  static let windowedStretch = 4.0

  /// The offset that an entry asks for.
  static func rssiOffset(of entry: ObserverEntry?) -> Double {
    guard let offset = entry?.rssiOffset, !offset.isNaN else { return 0 }
    return min(ObserverEntry.rssiOffsets.upperBound, max(ObserverEntry.rssiOffsets.lowerBound, offset))
  }

  init(id: ObserverID, entry: ObserverEntry?, received: Timestamp, time: Timestamp) {
    self.id = id
    rssiOffset = ObserverEngine.rssiOffset(of: entry)
    firstHeard = received
    (lastReceived, rateStart, monitoringSince) = (received, received, time)
    lag = LagEstimator(given: entry?.lag)
    life = LifeSigns(mode: entry?.liveness ?? .auto, received: received)
    lifeCounter = UInt64(bitPattern: received.nanoseconds)
    rangingCounter = lifeCounter
    life.begin(at: time)
  }

  /// Indicates whether its silence is evidence now.
  var silenceIsEvidence: Bool { isUp && scanState != .off }
  /// The factor by which silence is stretched now.
  var stretch: Double { scanState == .windowed ? ObserverEngine.windowedStretch : 1 }
  /// The time from which on a gap is evidence about losses.
  var gapsFrom: Timestamp { max(silenceFrom, life.reception.teachesFrom) }
  /// Its cell, by which limits are spread.
  func cell(_ context: borrowing EngineContext) -> Int { id.cell % context.limits.cells }

  /// The half of a second of its own count that a time falls in.
  func half(of time: Timestamp) -> Int64 {
    let (span, length) = ((time - firstHeard).nanoseconds, SecondSummary.length.nanoseconds)
    return span >= 0 ? span / length : (span - length + 1) / length
  }

  /// The end of a half of its own count.
  func end(ofHalf half: Int64) -> Timestamp {
    let (span, isTooLong) = (half + 1).multipliedReportingOverflow(by: SecondSummary.length.nanoseconds)
    // A damaged state may hold a half that no time belongs to.
    guard !isTooLong else { return half > 0 ? .distantFuture : .distantPast }
    return firstHeard + TimeSpan(nanoseconds: span)
  }

  /// Counts an advert.
  @inline(__always)
  mutating func countAdvert() {
    adverts &+= 1
    let span = lastReceived - rateStart
    if span >= .milliseconds(10_000) {
      rateBefore = rateCount / span.seconds
      rateCount = 0
      rateStart = lastReceived
    }
    rateCount += 1
  }

  /// The status that a table of observers shows.
  var status: ObserverStatus {
    let span = (lastReceived - rateStart).seconds
    return ObserverStatus(
      id: id,
      firstHeard: firstHeard,
      lastHeard: lastReceived,
      isUp: isUp,
      scanState: scanState,
      bootID: sequence.bootID,
      adverts: adverts,
      advertsPerSecond: rateBefore > 0 || span < 1 ? rateBefore : rateCount / span,
      lostDatagrams: sequence.lost,
      datagrams: sequence.received,
      late: late,
      lag: lag.isGiven ? lag.lag : max(lag.lag, life.uploads.delivery),
      clockOffset: clock.offset,
      allowedGap: life.allowedGap,
      tracks: table.count
    )
  }
}

// MARK: Tracks

extension ObserverEngine {
  /// The place of an identity's track, or nil.
  func track(of beacon: BeaconID, _ context: borrowing EngineContext) -> Int? {
    let scope = context.catalog.scopes.number(of: BeaconScope(beacon))
    guard scope != 0 else { return nil }
    let key = ScopeTable.key(of: beacon)
    let address = beacon.kind == .address ? nil : beacon.address?.bits
    let hash = UInt32(truncatingIfNeeded: context.hash(scope: scope, key: key, address: address))
    let place = table.find(hash) { tracks[Int($0)].isTrack(scope: scope, key: key, address: address) }
    return place < 0 ? nil : Int(place)
  }

  /// Makes a track.
  mutating func makeTrack(
    _ identity: TrackIdentity,
    power: Double?,
    set: Int32,
    at time: Timestamp,
    _ context: inout EngineContext
  ) -> Int {
    if table.count >= context.limits.tracksPerObserver { evictTracks(&context) }
    let place = addTrack(identity, set: context.catalog.sets[Int(set)], number: set, at: time, context.epoch)
    let track = tracks[place]
    let facts = context.catalog.facts(of: identity.beacon)
    track.cold.power = (facts.measuredPower ?? power).map { Float($0) } ?? .nan
    if facts.measuredPower != nil { track.hot.flags.insert(.declaredPower) }
    track.declaredInterval = facts.interval.map { Float($0.seconds) }
    context.counters.tracks += 1
    context.tracksOfCell[cell(context)] += 1
    if let modes = context.modes.modes(of: identity.beacon, at: context.current) { track.adopt(modes) }
    allow(track, &context)
    for client in context.catalog.sets[Int(set)].regions { _ = row(of: client.slot, at: time, &context) }
    return place
  }

  /// Puts a new track in a free place.
  mutating func addTrack(
    _ identity: TrackIdentity,
    set: MatchSet,
    number: Int32,
    at time: Timestamp,
    _ epoch: UInt32
  ) -> Int {
    var hot = HotTrack(
      scope: identity.scope,
      sampleTag: HotTrack.tag(of: identity.address ?? 0),
      key: identity.key,
      lastHeard: time,
      epoch: UInt16(truncatingIfNeeded: epoch)
    )
    if identity.address != nil { hot.flags.insert(.keyed) }
    if identity.beacon.kind == .proximity { hot.flags.insert(.ofFamily) }
    var cold = ColdTrack(
      sampleKey: identity.address ?? 0,
      hash: UInt32(truncatingIfNeeded: identity.hash),
      matchSet: number,
      policy: set.policies.first ?? 0,
      marks: .live
    )
    if set.hasLevels { cold.marks.insert(.levels) }
    if set.needsSeconds { cold.marks.insert(.seconds) }
    tracks.makeUnique()
    let place: Int
    if let free = freeTracks.popLast() {
      place = Int(free)
      tracks[place].hot = hot
      tracks[place].cold = cold
    } else {
      place = tracks.count
      tracks.append(hot, cold)
    }
    let track = tracks[place]
    track.allowedMilliseconds = TrackHandle.allowedForever
    if set.policies.count > 1 {
      track.changeExtras { $0.presences = set.policies.map(Presence.init) }
      track.recordExtras()
    }
    insertIntoTable(cold.hash, place)
    scopes |= 1 << UInt64(identity.scope & 63)
    track.record(scope: identity.scope)
    return place
  }

  private mutating func insertIntoTable(_ hash: UInt32, _ place: Int) {
    if table.isFull {
      var grown = table.grown()
      for other in 0..<tracks.count where other != place && tracks[other].isLive {
        grown.insert(tracks[other].cold.hash, place: other)
      }
      table = grown
    }
    table.insert(hash, place: place)
  }

  /// Removes a track that is outside everywhere.
  mutating func removeTrack(_ place: Int, _ context: inout EngineContext) {
    tracks.makeUnique()
    let track = tracks[place]
    table.remove(track.cold.hash, place: place)
    if !batteryReported.isEmpty { batteryReported[track.beacon(context.catalog.scopes)] = nil }
    track.cold.marks = []
    track.cold.box = nil
    track.hot.scope = ScopeTable.none
    track.updateFastPath()
    freeTracks.append(Int32(place))
    context.counters.tracks -= 1
    context.tracksOfCell[cell(context)] -= 1
  }

  /// Takes a track off the list of those that are due for a second.
  mutating func unlist(_ place: Int) {
    guard tracks[place].cold.marks.contains(.listed) else { return }
    tracks[place].set(.listed, false)
    listed.removeAll { $0 == Int32(place) }
  }

  /// Takes tracks that were removed off that list.
  mutating func unlistRemoved() { listed.removeAll { !tracks[Int($0)].cold.marks.contains(.listed) } }

  /// Removes the oldest of its tracks; those inside become unmonitored, which is no exit.
  ///
  /// Those go first that are here by no rule, which is what made-up identities are.
  mutating func evictTracks(_ context: inout EngineContext) {
    tracks.makeUnique()
    var oldest = OldestTracks(room: context.limits.trackEviction)
    for place in 0..<tracks.count where tracks[place].isLive {
      let track = tracks[place]
      oldest.offer(
        isHere: track.isHereByAnyPolicy,
        lastHeard: track.hot.lastHeard,
        beacon: track.beacon(context.catalog.scopes),
        at: Int32(place)
      )
    }
    var hasListed = false
    for place in oldest.places {
      context.counters.trackEvictions += 1
      abandon(Int(place), rule: .eviction, &context)
      hasListed = tracks[Int(place)].cold.marks.contains(.listed) || hasListed
      removeTrack(Int(place), &context)
    }
    if hasListed { unlistRemoved() }
  }

  /// Looks up again who asks about a track; what it knows already decides for regions that are new.
  mutating func rematch(_ place: Int, _ context: inout EngineContext) {
    tracks.makeUnique()
    let track = tracks[place]
    track.flush()
    let beacon = track.beacon(context.catalog.scopes)
    let old = context.catalog.sets[Int(track.cold.matchSet)]
    let number = context.catalog.match(
      beacon,
      observer: id,
      isKeyable: beacon.kind != .address && beacon.address != nil,
      version: version
    )
    let new = context.catalog.sets[Int(number)]
    guard !new.isEmpty else {
      unlist(place)
      removeTrack(place, &context)
      return
    }
    track.rematch(number, epoch: context.epoch, from: old, to: new)
    // The directory and the path loss may have changed too, whatever the policies are.
    track.set(.unallowed, true)
    track.updateFastPath()
    for client in new.regions where !old.regions.contains(where: { $0.slot == client.slot }) {
      meet(client, track, &context)
    }
    for client in new.beaconRegions where !old.beaconRegions.contains(where: { $0.slot == client.slot }) {
      meetBeacon(client, track, &context)
    }
    rearm(place, &context)
  }

  /// Does what a sample asks for beyond its track.
  mutating func attend(
    to outcome: TrackHandle.Outcome,
    _ place: Int,
    _ context: inout EngineContext
  ) {
    let track = tracks[place]
    if outcome.needsAllowance {
      if outcome.hasComeToRest, track.hot.flags.contains(.ofFamily) {
        families[track.hot.scope, default: LossPool()].recordRest(track.slowestInterval)
      }
      if outcome.hasNewMode {
        let beacon = track.beacon(context.catalog.scopes)
        context.modes.insert(track.modes, of: beacon, at: context.current)
      }
      if !outcome.hasJoined, track.isAtTurn { share(track) }
      allow(track, &context)
    }
    if outcome.wasHidden { pool.recordHiding() }
    if outcome.entered | outcome.confirmed | outcome.proven != 0 { publish(outcome, place, &context) }
    rearm(place, &context)
    if track.cold.marks.contains(.seconds), !track.cold.marks.contains(.listed) { list(place, &context) }
  }
}

// MARK: Allowed silence

extension ObserverEngine {
  /// Computes again how long a track may be silent, and the levels that its policies come to.
  mutating func allow(_ track: TrackHandle, _ context: inout EngineContext) {
    let policies = context.catalog.sets[Int(track.cold.matchSet)].policies
    track.set(.unallowed, false)
    guard !policies.isEmpty else { return }
    track.flush()
    if !context.modes.isEmpty,
      let modes = context.modes.modes(of: track.beacon(context.catalog.scopes), at: context.current)
    {
      track.adopt(modes)
    }
    let family = family(of: track)
    if let family { track.lookForInterval(of: family) }
    let silence = silence(of: track, family)
    let levelClass = track.levelClass
    for place in policies.indices {
      let policy = context.catalog.policies[Int(policies[place])]
      let levels = context.distance.levels(of: policy, measuredPower: track.measuredPower)
      track.allow(
        silence.allowedGap(policy, at: levelClass),
        enter: levels.enter,
        exit: levels.exit,
        at: place
      )
    }
    track.updateFastPath()
  }

  /// Gives what a track counted in its last window to the pools.
  mutating func share(_ track: TrackHandle) {
    track.flush()
    let stretch = track.turnWindow()
    track.updateFastPath()
    guard stretch.received >= 4 else { return }
    let level = track.hot.estimate
    let learner = track.learner
    let slowest = track.slowestInterval
    if track.levelClass == .usual, track.isWithinBodyReach {
      let time = (stretch.received + stretch.lost) * learner.interval
      pool.recordWatch(time * Float(silence(of: track).unexplainedShare ?? 0))
    }
    let all = LossPool.WorstTrack(losses: track.losses, interval: learner.interval)
    pool.add(stretch, of: all, level: level)
    pool.record(learner, slowest: slowest)
    guard track.hot.flags.contains(.ofFamily) else { return }
    var family = families[track.hot.scope] ?? LossPool()
    family.add(stretch, of: all, level: level)
    family.record(learner, slowest: slowest)
    families[track.hot.scope] = family
  }

  /// Returns the basis for judging a track's silence: its own history and the losses of the observer's other tracks.
  func silence(of track: TrackHandle) -> AdaptiveSilence {
    silence(of: track, family(of: track))
  }

  private func family(of track: TrackHandle) -> LossPool? {
    track.hot.flags.contains(.ofFamily) ? families[track.hot.scope] : nil
  }

  private func silence(of track: TrackHandle, _ family: LossPool?) -> AdaptiveSilence {
    var silence = AdaptiveSilence(
      learner: track.learner,
      history: track.history,
      declared: track.declaredInterval
    )
    silence.recentReceived = min(Float(track.recentSamples), track.cold.received)
    let level = track.hot.estimate
    if let family {
      silence.belief = family.belief(level: level)
      silence.worst = family.worst(level: level)
      silence.familyInterval = family.interval
      silence.isFamilyIntervalKnown = family.commonInterval > 0
      silence.familySlowest = family.expectedSlowest
    }
    silence.isUsualKnown = Float(track.samples) * track.hot.interval > UsualLevel.known
    silence.isUsuallyWeak = track.hot.usual.level < AdaptiveSilence.fadingFrom
    silence.isWeak = track.cold.marks.contains(.weak)
    if track.isWithinBodyReach { silence.bodies = pool.bodiesPerDay }
    if silence.belief.received < 16 { silence.belief = pool.belief(level: level).limited(to: 32) }
    return silence
  }
}

// MARK: Timers

extension ObserverEngine {
  /// Returns the time at which a deadline fires: after the lag, which may still hold reports back, and never before
  /// `now`.
  @inline(__always)
  func firing(_ deadline: Timestamp, _ now: Timestamp) -> Timestamp {
    max(deadline + reach, now)
  }

  /// The time that what it hears may need to be read: the lag, or an upload.
  @inline(__always)
  var reach: TimeSpan { lag.isGiven || !life.uploads.isWhole ? lag.lag : max(lag.lag, life.uploads.reach) }

  /// The times for which timers wait for what is on its way: all of it, and nearly all of it.
  var waits: (reach: TimeSpan, delivery: TimeSpan) { (reach, delivery) }

  /// Sets the timers again if an input has made a wait shorter: what had to wait for a longer lag or upload is due earlier.
  ///
  /// So a timer is never due later than the state says, and an engine that reads the state sets the same timers.
  mutating func waitsChanged(
    from before: (reach: TimeSpan, delivery: TimeSpan),
    _ context: inout EngineContext
  ) {
    if reach < before.reach || delivery < before.delivery { rearmAll(&context) }
  }

  /// Returns the time at which the reports about the time before an instant have nearly all come in.
  func delivered(_ instant: Timestamp, _ now: Timestamp) -> Timestamp { max(instant + delivery, now) }

  /// The time after which nearly all of its reports have come.
  var delivery: TimeSpan {
    lag.isGiven || !life.uploads.isWhole ? lag.delivery : max(lag.delivery, life.uploads.delivery)
  }

  /// Sets the timer of a track's page for the first deadline of the track, unless it fires early enough already.
  mutating func rearm(_ place: Int, _ context: inout EngineContext) {
    let deadline = deadline(of: tracks[place], &context)
    guard deadline != .distantFuture else { return }
    armPage(place >> TrackPages.shift, firing(deadline, context.current), &context)
  }

  private mutating func armPage(_ page: Int, _ due: Timestamp, _ context: inout EngineContext) {
    let line = tracks.line(page)
    guard due < line.pointee.armedAt else { return }
    line.pointee.armedAt = context.arm(due, observer: place, .page(Int32(page)))
  }

  /// The first deadline of a track, or when it is removed if it is outside everywhere; the distant future if it waits for nothing.
  mutating func deadline(of track: TrackHandle, _ context: inout EngineContext) -> Timestamp {
    if track.hot.flags.contains(.simpleDeadline), scanState != .windowed { return simpleDeadline(of: track) }
    var first = Timestamp.distantFuture
    var isHere = false
    for place in 0..<track.presenceCount {
      let presence = track.presence(place)
      guard presence.isHere else { continue }
      isHere = true
      guard !presence.isWaiting else { continue }
      if let deadline = deadline(of: track, presence, &context) { first = min(first, deadline.time) }
    }
    return isHere ? first : track.hot.lastHeard + context.limits.trackRetention
  }

  @inline(__always)
  private mutating func simpleDeadline(of track: TrackHandle) -> Timestamp {
    let allowed = track.allowedMilliseconds
    guard silenceIsEvidence, allowed != TrackHandle.allowedForever else { return .distantFuture }
    let since = max(track.hot.lastHeard, silenceFrom)
    let silence = since + TimeSpan(nanoseconds: Int64(allowed) &* 1_000_000)
    return life.reception.spans.end > since ? silence + life.reception.spans.credit(since: since) : silence
  }

  /// The deadline of one of a track's presences, if its silence says anything now.
  mutating func deadline(
    of track: TrackHandle,
    _ presence: Presence,
    _ context: inout EngineContext
  ) -> (time: Timestamp, isLevel: Bool)? {
    guard silenceIsEvidence else { return nil }
    let since = max(track.hot.lastHeard, silenceFrom)
    let rules = context.catalog.policies[Int(presence.policy)]
    let deadline = presence.deadline(
      lastHeard: track.hot.lastHeard,
      other: rules.silence == .adaptive ? track.othersUntil : .distantPast,
      silenceFrom: silenceFrom,
      stretch: stretch,
      dwell: rules.exitDwell
    )
    guard let deadline, !deadline.isLevel else { return deadline }
    return (deadline.time + life.reception.spans.credit(since: since), false)
  }

  /// A timer is due.
  mutating func fire(_ target: TimerTarget, at due: Timestamp, _ context: inout EngineContext) {
    switch target {
    case .page(let page):
      guard Int(page) < tracks.pageCount, tracks.line(Int(page)).pointee.armedAt == due else { return }
      firePage(Int(page), &context)
    case .row(let row):
      guard Int(row) < rows.count, rows[Int(row)].armedAt == due else { return }
      rows[Int(row)].armedAt = .distantFuture
      decide(row: Int(row), &context)
    case .outage:
      guard outageTimer == due else { return }
      outageTimer = .distantFuture
      checkOutage(&context)
    case .second:
      guard secondTimer == due else { return }
      secondTimer = .distantFuture
      closeSecond(&context)
    case .upload:
      guard upload.due == due else { return }
      readUpload(&context)
    }
  }

  /// Looks at all tracks of a page, ends what is over, and sets the timer for the first deadline that is left.
  private mutating func firePage(_ page: Int, _ context: inout EngineContext) {
    tracks.makeUnique()
    tracks.line(page).pointee.armedAt = .distantFuture
    var first = Timestamp.distantFuture
    for place in page << TrackPages.shift..<min((page + 1) << TrackPages.shift, tracks.count) {
      let track = tracks[place]
      let isSimple = track.hot.flags.contains(.simpleDeadline) && scanState != .windowed
      guard isSimple || track.isLive else { continue }
      var due = isSimple ? simpleDeadline(of: track) : deadline(of: track, &context)
      if due != .distantFuture { due = firing(due, context.current) }
      if due <= context.current { due = endOverdue(place, &context) }
      first = min(first, due)
    }
    if first != .distantFuture { armPage(page, first, &context) }
  }

  /// A deadline of a track has passed, or the observer proved that it lives: ends what is over.
  ///
  /// - Returns: the time at which the track is due next.
  @discardableResult
  mutating func endOverdue(_ place: Int, hasWaited: Bool = false, _ context: inout EngineContext) -> Timestamp
  {
    let track = tracks[place]
    guard track.isLive else { return .distantFuture }
    if track.hot.epoch != UInt16(truncatingIfNeeded: context.epoch) {
      rematch(place, &context)
      guard track.isLive else { return .distantFuture }
    }
    let policies = context.catalog.sets[Int(track.cold.matchSet)].policies
    var isHere = false
    var isFresh = false
    for policy in policies.indices where track.isHere(policy) {
      isHere = true
      guard var deadline = deadline(of: track, track.presence(policy), &context),
        firing(deadline.time, context.current) <= context.current
      else { continue }
      if !isFresh {
        // The decision is made with all that is known now, and what other tracks have taught since may still move it.
        isFresh = true
        allow(track, &context)
        guard let moved = self.deadline(of: track, track.presence(policy), &context),
          firing(moved.time, context.current) <= context.current
        else { continue }
        deadline = moved
      }
      if isBelievable(deadline, track, &context) {
        leave(policy, place, deadline: deadline, hasWaited: hasWaited, &context)
      } else if !track.presence(policy).isWaiting {
        track.change(presence: policy) { $0.isWaiting = true }
        track.updateFastPath()
        pendingTracks.append(Int32(place))
      }
    }
    let removal = track.hot.lastHeard + context.limits.trackRetention
    if !isHere, firing(removal, context.current) <= context.current {
      guard track.cold.marks.contains(.listed) else {
        removeTrack(place, &context)
        return .distantFuture
      }
      return context.current + .minutes(1)
    }
    let deadline = deadline(of: track, &context)
    return deadline == .distantFuture ? deadline : firing(deadline, context.current)
  }

  /// Sets the timer of a row for a deadline, unless it fires early enough already.
  mutating func arm(row: Int, for deadline: Timestamp, _ context: inout EngineContext) {
    guard deadline != .distantFuture else { return }
    let due = firing(deadline, context.current)
    guard due < rows[row].armedAt else { return }
    rows[row].armedAt = context.arm(due, observer: place, .row(Int32(row)))
  }

  /// Sets the timer that notices the observer's silence.
  ///
  /// Never further ahead than the least silence that counts, since the deadline comes nearer as gaps are learned.
  mutating func armOutage(for deadline: Timestamp, _ context: inout EngineContext) {
    let due = min(firing(deadline, context.current), context.current + LifeSigns.minimumSilence)
    guard due < outageTimer else { return }
    outageTimer = context.arm(due, observer: place, .outage)
  }

  /// Sets the timer for the end of the next second or, where zones ask, of its next half.
  mutating func armSecond(_ context: inout EngineContext) {
    guard let nextSecond else { return }
    var due = firing(end(ofHalf: SecondBucket.lastHalf(of: nextSecond)), context.current)
    if standsInZone { due = min(due, delivered(end(ofHalf: nextHalf), context.current)) }
    secondTimer = context.arm(due, observer: place, .second)
  }
}

/// Telemetry names nothing but an address: which beacon is meant is known from the identities that came from there.
extension ObserverEngine {
  /// Records an Eddystone beacon's address.
  ///
  /// One identity may come from any number of addresses, of which at most as many are kept as tracks.
  mutating func record(_ address: DeviceAddress, of place: Int, limit: Int, _ scopes: borrowing ScopeTable) {
    if trackOfAddress.count >= limit, trackOfAddress[address.bits] == nil {
      trackOfAddress = liveAddresses(scopes)
      guard trackOfAddress.count < limit else { return }
    }
    trackOfAddress[address.bits] = AddressOwner(place: place, beacon: tracks[place].beacon(scopes))
  }

  /// The track of the Eddystone beacon with an address.
  func track(ofAddress bits: UInt64, _ scopes: borrowing ScopeTable) -> Int? {
    guard let owner = trackOfAddress[bits], isOwned(owner, scopes) else { return nil }
    return Int(owner.place)
  }

  /// The addresses of tracks that are still there.
  func liveAddresses(_ scopes: borrowing ScopeTable) -> [UInt64: AddressOwner] {
    var live: [UInt64: AddressOwner] = [:]
    for (address, owner) in trackOfAddress where isOwned(owner, scopes) { live[address] = owner }
    return live
  }

  private func isOwned(_ owner: AddressOwner, _ scopes: borrowing ScopeTable) -> Bool {
    let place = Int(owner.place)
    guard place < tracks.count, tracks[place].isLive else { return false }
    return owner == AddressOwner(place: place, beacon: tracks[place].beacon(scopes))
  }
}
