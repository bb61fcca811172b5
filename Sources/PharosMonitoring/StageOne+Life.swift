import PharosEvents
import PharosReports

extension StageOne {
  /// An observer is heard for the first time.
  mutating func begin(_ index: Int, at time: Timestamp, into output: inout StageOutput) {
    emit(.observerOnline, ObserverTransition(), at: time, of: index, into: &output)
    link(isUp: true, at: time, of: index, into: &output)
    for application in catalog.rotatedApplications {
      rotate(application, of: index, at: time, into: &output)
    }
    for slot in catalog.assumedInside { _ = row(of: slot, observer: index, at: time) }
    watch(index)
  }

  /// Something proved that the observer lives.
  mutating func prove(_ time: ReportTime, of index: Int, into output: inout StageOutput) {
    recover(time, of: index, into: &output)
  }

  /// An observer that was down is back, unless the report is one that was held up since before.
  mutating func recover(_ time: ReportTime, of index: Int, into output: inout StageOutput) {
    guard !states[index].isUp, !time.isLate else { return }
    states[index].isUp = true
    let transition = ObserverTransition(
      lastHeard: states[index].heardBeforeOutage,
      bootID: states[index].sequence.bootID
    )
    emit(.observerOnline, transition, at: time.event, of: index, into: &output)
    link(isUp: true, at: time.event, of: index, into: &output)
    states[index].life.begin(at: time.event)
    states[index].lagTeachesFrom = current
    if states[index].scanState != .off { resume(index, at: time.event) }
    watch(index)
  }

  /// An advert came from an observer that could not tell.
  mutating func wake(
    _ time: ReportTime,
    isProof: Bool,
    of index: Int,
    into output: inout StageOutput
  ) {
    if isProof { recover(time, of: index, into: &output) }
    resumeScanning(time, of: index, into: &output)
  }

  /// An advert shows that the radio scans although it had said that it stopped: the message that it started was lost.
  private mutating func resumeScanning(
    _ time: ReportTime,
    of index: Int,
    into output: inout StageOutput
  ) {
    guard states[index].scanState == .off, !time.isLate else { return }
    guard time.event > states[index].scanChanged + states[index].lag.lag else { return }
    states[index].scanState = .foreground
    states[index].scanChanged = time.event
    if states[index].isUp { resume(index, at: time.event) }
  }

  /// The radio's scanning changed.
  mutating func scan(
    _ state: ScanState,
    at time: ReportTime,
    of index: Int,
    into output: inout StageOutput
  ) {
    guard !time.isLate, time.event >= states[index].scanChanged else { return }
    let before = states[index].scanState
    guard before != state else { return }
    states[index].scanState = state
    states[index].scanChanged = time.event
    guard states[index].isUp else { return }
    switch (before, state) {
    case (_, .off):
      suspend(index, at: time.event, rule: .scanOff, into: &output)
    case (.off, _):
      resume(index, at: time.event)
    case (_, .foreground):
      states[index].silenceFrom = max(states[index].silenceFrom, time.event)
    case (_, .windowed):
      break
    }
    // Deadlines may have come nearer.
    guard before == .windowed else { return }
    for track in states[index].tracks.indices where states[index].tracks[track].isLive {
      rearm(track: track, of: index)
    }
  }

  /// The observer cannot tell any more: all it knows is held, its regions are unmonitored, and nothing is an exit.
  mutating func suspend(
    _ index: Int,
    at time: Timestamp,
    rule: Evidence.Rule,
    into output: inout StageOutput
  ) {
    states[index].pendingTracks.removeAll()
    states[index].pendingRows.removeAll()
    for track in states[index].tracks.indices where states[index].tracks[track].isLive {
      let number = Int(states[index].tracks[track].matchSet)
      for place in catalog.sets[number].policies.indices {
        guard states[index].tracks[track][presence: place].suspended() else { continue }
        let evidence = evidence(rule, place, track: track, of: index)
        tell(.unmonitored, place, track: track, of: index, at: time, evidence, into: &output)
      }
    }
    var evidence = Evidence(rule: rule)
    evidence.lastHeard = states[index].life.provenAt
    if rule == .observerOutage { evidence.allowedGap = states[index].life.allowedGap }
    for row in states[index].rows.indices where states[index].rows[row].isLive {
      states[index].rows[row].isWaiting = false
      states[index].rows[row].decideAt = .distantFuture
      set(row, of: index, RowChange(to: .unmonitored, time: time, evidence: evidence), into: &output)
    }
  }

  /// The observer can tell again: silence counts from now on, and what was known is compared with what is heard.
  mutating func resume(_ index: Int, at time: Timestamp) {
    states[index].silenceFrom = max(states[index].silenceFrom, time)
    states[index].monitoringSince = max(states[index].monitoringSince, time)
    for row in states[index].rows.indices where states[index].rows[row].isLive {
      guard states[index].rows[row].tracksInside == 0 else { continue }
      guard states[index].rows[row].state == .unmonitored || states[index].rows[row].state == .unknown else {
        continue
      }
      states[index].rows[row].decideAt = time + states[index].rows[row].patience
      arm(row: row, of: index)
    }
    for track in states[index].tracks.indices where states[index].tracks[track].isLive {
      rearm(track: track, of: index)
    }
  }

  /// Starts to watch over an observer's silence as soon as there is something that its life can be seen by.
  mutating func watch(_ index: Int) {
    guard states[index].isUp, states[index].outageArmedAt == .distantFuture else { return }
    guard !states[index].life.isAssumed else { return }
    armOutage(of: index, for: current + states[index].life.allowedGap)
  }

  /// The time that an observer's learned gaps allow may be over.
  mutating func checkOutage(of index: Int, into output: inout StageOutput) {
    guard states[index].isUp else { return }
    let allowed = states[index].life.allowedGap
    let isExcused = states[index].scanState == .off && !states[index].life.hasHeartbeats
    // Nothing to go by: the next report looks again.
    guard !states[index].life.isAssumed, !isExcused else { return }
    let deadline = states[index].life.outageDeadline
    guard firing(deadline, of: index) <= current else {
      armOutage(of: index, for: deadline)
      return
    }
    states[index].isUp = false
    states[index].isAwaited = false
    states[index].heardBeforeOutage = states[index].life.provenAt
    states[index].life.end()
    count { $0.outages += 1 }
    let transition = ObserverTransition(
      lastHeard: states[index].life.provenAt,
      allowedGap: allowed,
      bootID: states[index].sequence.bootID
    )
    emit(.observerOffline, transition, at: deadline, of: index, into: &output)
    link(isUp: false, at: deadline, of: index, into: &output)
    if states[index].scanState != .off {
      suspend(index, at: deadline, rule: .observerOutage, into: &output)
    }
  }

  /// Whether the observer is known to have lived after a track's deadline, and the silence is the beacon's own.
  ///
  /// The judgement of a silence looks at everybody that the observer hears, so one that was doubted is judged again
  /// four times a second at most.
  mutating func isBelievable(
    _ deadline: (time: Timestamp, isLevel: Bool),
    track: Int,
    of index: Int
  ) -> Bool {
    guard states[index].life.proves(after: deadline.time) else { return false }
    guard !deadline.isLevel else { return true }
    let start = max(states[index].tracks[track].lastHeard, states[index].silenceFrom)
    let now = max(states[index].life.reception.latest, current - states[index].lag.lag)
    if states[index].life.trusts(silenceSince: start, deadline: deadline.time, at: now) { return true }
    states[index].judgedAgainAt = current + .milliseconds(250)
    return false
  }

  /// Ends what was waiting for a proof of life that may have come.
  mutating func settlePending(of index: Int, into output: inout StageOutput) {
    guard !states[index].pendingTracks.isEmpty || !states[index].pendingRows.isEmpty else { return }
    guard current >= states[index].judgedAgainAt else { return }
    let tracks = Set(states[index].pendingTracks).sorted()
    let rows = Set(states[index].pendingRows).sorted()
    states[index].pendingTracks.removeAll(keepingCapacity: true)
    states[index].pendingRows.removeAll(keepingCapacity: true)
    for pending in tracks where states[index].tracks[Int(pending)].isLive {
      let track = Int(pending)
      let number = Int(states[index].tracks[track].matchSet)
      for place in catalog.sets[number].policies.indices {
        states[index].tracks[track][presence: place].isWaiting = false
      }
      settle(track: track, of: index, hasWaited: true, into: &output)
    }
    for pending in rows {
      states[index].rows[Int(pending)].isWaiting = false
      decide(row: Int(pending), of: index, into: &output)
    }
  }

  /// Tells stage two up to when an observer is known to live, once a second at most: the silence of one that may be
  /// down is no evidence against its room.
  mutating func tellLife(of index: Int, into output: inout StageOutput) {
    guard let proof = states[index].lifeToTell else { return }
    states[index].lifeTold = proof
    output.links.append(
      .life(
        ObserverLife(
          observer: states[index].id,
          provenThrough: proof,
          decidedAt: current,
          ordinal: nextOrdinal(of: index)
        )
      )
    )
  }
}
