import PharosModel

/// The arrival of an observer, its outages and its returns.
extension ObserverEngine {
  /// The observer is heard for the first time.
  mutating func begin(at time: Timestamp, _ context: inout EngineContext) {
    emit(.observerOnline, ObserverTransition(), at: time, &context)
    report(isUp: true, at: time, &context)
    for application in context.catalog.rotatedApplications { rotate(application, at: time, &context) }
    for slot in context.catalog.assumedInside { _ = row(of: slot, at: time, &context) }
    watch(&context)
  }

  /// Something proved that the observer lives: one that was down is back, unless the report was held up since before.
  mutating func recover(at time: ReportTime, _ context: inout EngineContext) {
    guard !isUp, !time.isLate else { return }
    isUp = true
    let transition = ObserverTransition(lastHeard: provenBeforeOutage, bootID: sequence.bootID)
    emit(.observerOnline, transition, at: time.event, &context)
    report(isUp: true, at: time.event, &context)
    life.returned(at: time.event, afterProofAt: provenBeforeOutage)
    lagLearnsFrom = context.current
    if scanState != .off { resume(at: time.event, &context) }
    watch(&context)
  }

  /// An advert came from an observer whose silence says nothing now.
  mutating func wake(at time: ReportTime, isProof: Bool, _ context: inout EngineContext) {
    if isProof { recover(at: time, &context) }
    // The radio scans although it had said that it stopped: the message that it started was lost.
    guard scanState == .off, !time.isLate, time.event > scanChanged + reach else { return }
    (scanState, scanChanged) = (.foreground, time.event)
    if isUp { resume(at: time.event, &context) }
  }

  /// The radio's scanning changed.
  mutating func scan(_ state: ScanState, at time: ReportTime, _ context: inout EngineContext) {
    guard !time.isLate, time.event >= scanChanged, scanState != state else { return }
    let before = scanState
    (scanState, scanChanged) = (state, time.event)
    guard isUp else { return }
    switch (before, state) {
    case (_, .off): suspend(at: time.event, rule: .scanOff, &context)
    case (.off, _): resume(at: time.event, &context)
    case (_, .foreground): silenceFrom = max(silenceFrom, time.event)
    case (_, .windowed): break
    }
    // Deadlines may have come nearer.
    if before == .windowed { rearmAll(&context) }
  }

  /// Suspends the observer: its silence proves nothing, so its state is held, its regions are unmonitored, and
  /// nothing is an exit.
  mutating func suspend(at time: Timestamp, rule: Evidence.Rule, _ context: inout EngineContext) {
    tracks.makeUnique()
    pendingTracks.removeAll()
    pendingRows.removeAll()
    // In the order of the beacons: the order of places depends on those that were free.
    let live = (0..<tracks.count).filter { tracks[$0].isLive }
    let ordered = live.map { (tracks[$0].beacon(context.catalog.scopes), $0) }.sorted { $0.0 < $1.0 }
    for (_, place) in ordered {
      let track = tracks[place]
      for policy in context.catalog.sets[Int(track.cold.matchSet)].policies.indices {
        guard track.change(presence: policy, { $0.suspended() }) else { continue }
        let evidence = evidence(rule, policy, track, context)
        report(.unmonitored, policy, track, at: time, evidence, &context)
      }
      track.flush()
      track.updateFastPath()
    }
    var evidence = Evidence(rule: rule)
    evidence.lastHeard = life.provenAt
    if rule == .observerOutage { evidence.allowedGap = life.allowedGap }
    for row in rows.indices where rows[row].isLive {
      rows[row].isWaiting = false
      rows[row].decideAt = .distantFuture
      set(row, RowChange(to: .unmonitored, time: time, evidence: evidence), &context)
    }
  }

  /// The observer's silence says something again: it counts from now on, and what was known is compared with what is heard.
  mutating func resume(at time: Timestamp, _ context: inout EngineContext) {
    silenceFrom = max(silenceFrom, time)
    monitoringSince = max(monitoringSince, time)
    for row in rows.indices where rows[row].isLive && rows[row].tracksInside == 0 {
      guard rows[row].state == .unmonitored || rows[row].state == .unknown else { continue }
      rows[row].decideAt = time + rows[row].patience
      arm(row: row, for: rows[row].decideAt, &context)
    }
    rearmAll(&context)
  }

  /// Sets the timers of all tracks and rows and of the second, as some may be due earlier.
  mutating func rearmAll(_ context: inout EngineContext) {
    tracks.makeUnique()
    for place in 0..<tracks.count where tracks[place].isLive { rearm(place, &context) }
    for row in rows.indices where rows[row].isLive { arm(row: row, for: rows[row].decideAt, &context) }
    armSecond(&context)
  }

  /// Returns true if a person carries the observer.
  ///
  /// The kind of observer decides what it means that all beacons fall silent together while heartbeats go on. On a wall, a radio
  /// has failed. In a pocket, its owner has left: heartbeats prove that the handset lives, not that it is near any beacon. So
  /// what it hears is no evidence about its radio.
  ///
  /// An observer at a known place or in a zone is not carried, nor is one that a region about beacons lists. Any other one is
  /// if it has sent what only handsets send, or is the subject of a region and has no hardware address for an identity: handsets
  /// do not know theirs.
  func isCarried(_ context: borrowing EngineContext) -> Bool {
    mayBeCarried && (isHandset || !rowOfSlot.isEmpty) && !context.catalog.listens(id)
  }

  /// Indicates whether a person carries the observer under some regions.
  var mayBeCarried: Bool { !standsInZone && (isHandset || !id.isHardware) }

  /// Updates the judgement of the radio after what decides the kind of observer has changed.
  mutating func updateKind(_ context: borrowing EngineContext) { life.isCarried = isCarried(context) }

  /// Watches over the observer's silence as soon as there is something that its life can be seen by.
  mutating func watch(_ context: inout EngineContext) {
    guard isUp, outageTimer == .distantFuture, !life.isAssumed else { return }
    armOutage(for: context.current + LifeSigns.minimumSilence, &context)
  }

  /// The observer may have been silent for too long.
  mutating func checkOutage(_ context: inout EngineContext) {
    guard isUp else { return }
    let isExcused = scanState == .off && !life.hasHeartbeats
    // There is nothing to go by: the next report looks again.
    guard !life.isAssumed, !isExcused else { return }
    // An upload is overdue by the time at which the one before came, whatever it reached back to.
    let waited = life.uploads.isWhole && !lag.isGiven ? .zero : lag.lag
    let (deadline, isOut) = life.outage(through: context.current - waited)
    guard isOut else { return armOutage(for: deadline, &context) }
    isUp = false
    isAwaited = false
    provenBeforeOutage = life.provenAt
    life.end()
    context.counters.outages += 1
    let transition = ObserverTransition(
      lastHeard: life.provenAt,
      allowedGap: deadline - life.silentSince,
      bootID: sequence.bootID
    )
    emit(.observerOffline, transition, at: deadline, &context)
    report(isUp: false, at: deadline, &context)
    if scanState != .off { suspend(at: deadline, rule: .observerOutage, &context) }
  }

  /// Returns true if the observer is known to have lived after a track's deadline, and the silence is the beacon's own.
  ///
  /// The judgement looks at all transmitters that the observer hears, so a silence that was doubted is judged again four times a
  /// second at most.
  mutating func isBelievable(
    _ deadline: (time: Timestamp, isLevel: Bool),
    _ track: TrackHandle,
    _ context: inout EngineContext
  ) -> Bool {
    guard life.proves(after: deadline.time) else { return false }
    guard !deadline.isLevel else { return true }
    let start = max(track.hot.lastHeard, silenceFrom)
    let now = max(life.reception.latest, context.current - reach)
    if life.trusts(silenceSince: start, deadline: deadline.time, at: now) { return true }
    reassessAt = context.current + .milliseconds(250)
    return false
  }

  /// Indicates whether anything waits for proof of life.
  @inline(__always)
  var hasPending: Bool { !pendingTracks.isEmpty || !pendingRows.isEmpty }

  /// Ends what was waiting for a proof of life that may have come, and watches over the silence from now on.
  @inline(__always)
  mutating func endPending(_ context: inout EngineContext) {
    if hasPending, context.current >= reassessAt { endAllPending(&context) }
    if outageTimer == .distantFuture { watch(&context) }
  }

  @inline(never)
  private mutating func endAllPending(_ context: inout EngineContext) {
    let places = Set(pendingTracks).sorted()
    let waiting = Set(pendingRows).sorted()
    pendingTracks.removeAll(keepingCapacity: true)
    pendingRows.removeAll(keepingCapacity: true)
    tracks.makeUnique()
    for pending in places where tracks[Int(pending)].isLive {
      let place = Int(pending)
      let track = tracks[place]
      for policy in context.catalog.sets[Int(track.cold.matchSet)].policies.indices {
        track.change(presence: policy) { $0.isWaiting = false }
      }
      track.flush()
      track.updateFastPath()
      let due = endOverdue(place, hasWaited: true, &context)
      if due != .distantFuture { rearm(place, &context) }
    }
    for row in waiting {
      rows[Int(row)].isWaiting = false
      decide(row: Int(row), &context)
    }
  }

  /// Its life as stage two has to know it.
  private var lifeNow: ListeningTime {
    let proof = life.isAssumed ? .distantFuture : life.provenHearing
    let upload = life.isAssumed ? life.uploads.wait : max(life.uploads.knownPeriod, life.uploads.reach)
    return ListeningTime(
      provenThrough: min(proof, life.reception.deafSince ?? .distantFuture),
      deafTime: life.reception.spans.total,
      // Whole seconds, so that it seldom changes.
      delay: .seconds(max(delivery, upload).seconds.rounded(.down))
    )
  }

  /// Reports its life to stage two, once a second at most.
  mutating func reportLife(_ context: inout EngineContext) {
    let now = lifeNow
    guard lifeReported.isOutdated(by: now) else { return }
    lifeReported = now
    let life = ObserverLife(
      observer: id,
      listening: now,
      decidedAt: context.current,
      ordinal: ordinals.next(at: context.current)
    )
    context.output.links.append(.life(life))
  }

  /// Reports to stage two that the observer lives, at its first proof since the start.
  mutating func reportReturn(_ context: inout EngineContext) {
    guard isUp else {
      // Its return from an outage will be reported anyway.
      isAwaited = false
      return
    }
    guard let proof = life.provenAt, proof > life.silentFrom else { return }
    isAwaited = false
    report(isUp: true, at: proof, &context)
  }
}
