package import PharosModel
import PharosWire

/// The declarations of an edited site, and the start after a downtime.
extension MonitoringEngine {
  // MARK: An edited site

  /// Takes over what an edited site declares apart from its applications.
  ///
  /// Of observers the offset, the lag and how their silence is judged take effect at once: smoothed levels are moved by what
  /// the offset changed, so that nothing enters or leaves by an edit. Where only listed observers count from now on, the others
  /// are removed: their regions become unmonitored. The name of the stream stays, since it is part of every id.
  mutating func declare(_ settings: Site) {
    let (old, next) = (context.site, settings.with(context.site.applications))
    guard old != next else { return }
    catchUpAll()
    let before = context.entries
    context.declare(next)
    if old.observers != next.observers { updateObservers(from: before) }
    let hasOtherClients =
      old.describedBeacons != next.describedBeacons || old.zones != next.zones
      || old.positioning.tags != next.positioning.tags
    if hasOtherClients {
      context.catalog.declare(next)
      updateFacts()
    }
    if hasOtherClients || old.pathLossExponent != next.pathLossExponent {
      // Every track looks again for what asks about it before it is used next.
      context.epoch &+= 1
      context.untracked.removeAll()
    }
    if old.admission != next.admission || old.observers != next.observers { removeUnadmitted() }
  }

  /// The site that would declare the regions, rotations and ranging requests that there are now.
  var declaration: Site {
    var declaration = context.site
    declaration.applications = context.catalog.applications(context.site.applications)
    return declaration
  }

  /// Goes by what is declared of observers now.
  private mutating func updateObservers(from before: [ObserverID: ObserverEntry]) {
    for index in observerEngines.indices where observerEngines[index].isLive {
      let id = observerEngines[index].id
      let new = context.entries[id]
      if before[id] != new { observerEngines[index].declare(new, before: before[id], &context) }
    }
  }

  /// Looks up again what the directory and the zones say of tracks and observers.
  private mutating func updateFacts() {
    for index in observerEngines.indices where observerEngines[index].isLive {
      observerEngines[index].updateFacts(&context)
    }
  }

  // MARK: The start after a downtime

  /// Resumes after a time in which nothing was received, from a restored state or without one.
  ///
  /// The downtime since the state was written is no evidence: no exit, enter or outage follows from it. The silence of
  /// beacons and of observers is counted from the start, open deadlines get their full time again, half-filled seconds
  /// of ranging are dropped, and gaps across the downtime are not learned from. The records in `publishedState` were
  /// published after the state was written, and take precedence over it:
  ///
  /// - If a record states that a row is inside and no track confirms it, the row stays inside until live silence has
  ///   lasted for the policy's ceiling, or for its fixed time.
  /// - If a record states that a row is outside, its tracks' presences end without an event, so that they may enter
  ///   again. If other regions about beacons share these presences, the engine reports their state to stage two as
  ///   unknown.
  /// - A region that was reset begins again, whatever the state knows of it.
  /// - The engine adds observers that appear only in the records. It does not assume such an observer to be alive: if
  ///   the observer stays silent, its regions become unmonitored.
  ///
  /// Counters continue from the instant in nanoseconds, as those of new rows do, so that no id is used twice. Finally,
  /// the site that the engine was made with replaces the site of the state, as an edited one does. The engine
  /// reports each observer that was up to stage two at that observer's first proof of life.
  ///
  /// - Parameters:
  ///   - instant: the time at which the server started; a time before the state's own is raised to it.
  ///   - publishedState: the records published after the state was written, or all records if there is no state: those about
  ///     beacons, and those about this engine's own observers.
  ///   - output: receives the resulting events and links.
  package mutating func resume(
    at instant: Timestamp,
    publishedState: PublishedState,
    into output: inout StageOutput
  ) {
    swap(&context.output, &output)
    defer { swap(&context.output, &output) }
    latest = max(latest, min(instant, MonitoringEngine.times.upperBound))
    context.current = latest
    context.timers = TimerQueue()
    let floor = publishedState.latest.map { max($0, latest) } ?? latest
    for index in observerEngines.indices where observerEngines[index].isLive {
      observerEngines[index].interrupt(until: latest)
      observerEngines[index].forgetClock()
      observerEngines[index].raiseCounters(to: floor)
    }
    for record in publishedState.observers { restore(record, floor) }
    let slots = context.catalog.slotsByName
    for record in publishedState.regions {
      guard let slot = slots[record.application]?[record.region] else { continue }
      restore(record, slot: slot, floor)
    }
    for index in observerEngines.indices where observerEngines[index].isLive {
      observerEngines[index].armAll(&context)
    }
    guard let site = awaitedSite.take() else { return }
    let kept = publishedState.withoutResets(declaration)
    for change in declaration.changes(to: kept) + kept.changes(to: site) { perform(change) }
  }

  /// Records that nothing was received from an instant to a later one, because the process or the machine was paused.
  ///
  /// Datagrams sent meanwhile are in the sockets: until they are read, silence is no evidence. So all silence begins
  /// again, as it does after a restart, and nothing else changes.
  ///
  /// - Parameters:
  ///   - end: the time up to which nothing was received.
  ///   - received: the instant of the pause, behind everything that was received before it, and before everything that
  ///     was received since.
  ///   - output: receives the events and links that were due before it.
  package mutating func pause(through end: Timestamp, at received: Timestamp, into output: inout StageOutput)
  {
    swap(&context.output, &output)
    defer { swap(&context.output, &output) }
    let received = arrive(at: received)
    let end = min(end, MonitoringEngine.times.upperBound)
    catchUpAll()
    context.timers = TimerQueue()
    // Timers are set by the end; what comes next may have been received a moment before it.
    context.current = max(end, received)
    for index in observerEngines.indices where observerEngines[index].isLive {
      observerEngines[index].interrupt(until: context.current)
      observerEngines[index].armAll(&context)
    }
    context.current = received
  }

  /// An observer came or went.
  private mutating func restore(_ record: PublishedState.ObserverRecord, _ floor: Timestamp) {
    if let index = place(of: record.observer) {
      observerEngines[index].restore(isUp: record.isUp, &context)
    } else if let index = makeObserver(record.observer, isUp: record.isUp, floor) {
      observerEngines[index].isUp = record.isUp
    }
  }

  /// A region's state changed.
  private mutating func restore(_ record: PublishedState.RegionRecord, slot: Int32, _ floor: Timestamp) {
    let region = context.catalog.slots[Int(slot)].region
    guard region.constraint != nil else { return }
    switch record.subject {
    case .none: return
    case .beacon(let beacon):
      guard region.subject != .observer else { return }
      for index in observerEngines.indices where observerEngines[index].isLive {
        observerEngines[index].restore(record.state, of: beacon, slot: slot, &context)
      }
    case .observer(let id):
      guard region.subject == .observer, record.state != .unknown else { return }
      guard let index = place(of: id) ?? makeObserver(id, isUp: true, floor) else { return }
      observerEngines[index].restore(record, slot: slot, &context)
    }
  }

  /// Makes an observer that is known from a record alone; nil if there is no room, or if it is not admitted.
  private mutating func makeObserver(_ id: ObserverID, isUp: Bool, _ floor: Timestamp) -> Int? {
    guard isAdmitted(id), cells[id.cell % context.limits.cells].count < context.limits.observersPerCell else {
      return nil
    }
    let entry = context.entries[id]
    var observer = ObserverEngine(id: id, entry: entry, received: context.current, time: context.current)
    observer.life = LifeSigns(mode: entry?.liveness ?? .auto)
    observer.life.interrupted(until: context.current)
    observer.life.isUnproven = true
    observer.silenceFrom = context.current
    observer.isAwaited = isUp
    let counter = UInt64(bitPattern: max(floor.nanoseconds, 0))
    observer.countersFrom = floor
    observer.ordinals.floor = counter
    observer.lifeCounter = counter
    observer.rangingCounter = counter
    return add(observer)
  }
}

extension ObserverEngine {
  /// Goes by what is declared of the observer now.
  fileprivate mutating func declare(
    _ new: ObserverEntry?,
    before old: ObserverEntry?,
    _ context: inout EngineContext
  ) {
    tracks.makeUnique()
    let offset = ObserverEngine.rssiOffset(of: new)
    if offset != rssiOffset {
      for place in 0..<tracks.count where tracks[place].isLive {
        tracks[place].shiftLevels(by: Float(offset - rssiOffset))
      }
      rssiOffset = offset
    }
    if old?.lag != new?.lag {
      lag = LagEstimator(given: new?.lag)
      rearmAll(&context)
      for row in rows.indices where rows[row].isLive { arm(row: row, for: rows[row].decideAt, &context) }
    }
    life.mode = new?.liveness ?? .auto
    watch(&context)
  }

  /// Looks up again what the directory and the zones say.
  fileprivate mutating func updateFacts(_ context: inout EngineContext) {
    tracks.makeUnique()
    let stands = context.catalog.standsInZone(id)
    if stands, !standsInZone { lifeReported = .unreported }
    standsInZone = stands
    updateKind(context)
    for place in 0..<tracks.count where tracks[place].isLive {
      let track = tracks[place]
      let facts = context.catalog.facts(of: track.beacon(context.catalog.scopes))
      guard track.apply(facts) else { continue }
      allow(track, &context)
      rearm(place, &context)
    }
  }

  /// Nothing was received up to a time.
  fileprivate mutating func interrupt(until time: Timestamp) {
    tracks.makeUnique()
    silenceFrom = max(silenceFrom, time)
    monitoringSince = max(monitoringSince, time)
    lagLearnsFrom = max(lagLearnsFrom, time)
    reassessAt = .distantPast
    datagramAt = nil
    isAwaited = isUp
    lifeReported = .unreported
    life.interrupted(until: time)
    sequence.interrupt()
    outageTimer = .distantFuture
    secondTimer = .distantFuture
    pendingTracks.removeAll()
    pendingRows.removeAll()
    for place in 0..<tracks.count where tracks[place].isLive { tracks[place].interrupt() }
    for page in 0..<tracks.pageCount { tracks.line(page).pointee.armedAt = .distantFuture }
    for row in rows.indices {
      rows[row].armedAt = .distantFuture
      rows[row].isWaiting = false
    }
  }

  /// Learns the difference of the observer's clock again, since a start maps R to the wall clock again: a step of the
  /// wall clock that the state does not know of moves all differences.
  fileprivate mutating func forgetClock() { clock = ClockOffset() }

  /// Lets all that ids are counted with go on behind an instant.
  fileprivate mutating func raiseCounters(to instant: Timestamp) {
    let floor = UInt64(bitPattern: max(instant.nanoseconds, 0))
    countersFrom = max(countersFrom, instant)
    ordinals.floor = max(ordinals.floor, floor)
    lifeCounter = max(lifeCounter, floor)
    rangingCounter = max(rangingCounter, floor)
    for row in rows.indices where rows[row].isLive {
      rows[row].counter = max(rows[row].counter, floor &+ UInt64(rows[row].slot) &* 1_000)
    }
  }

  /// Sets all timers for what is due from now on.
  fileprivate mutating func armAll(_ context: inout EngineContext) {
    rearmAll(&context)
    for row in rows.indices where rows[row].isLive {
      let entry = rows[row]
      if entry.state == .inside, entry.tracksInside == 0, entry.isActive {
        rows[row].patience = context.catalog.slots[Int(entry.slot)].region.presence.maximumSilence
        rows[row].decideAt = context.current + rows[row].patience
      } else if entry.decideAt != .distantFuture {
        rows[row].decideAt = context.current + entry.patience
      }
      arm(row: row, for: rows[row].decideAt, &context)
    }
    watch(&context)
    let maximum = context.catalog.policies.lazy.map(\.maximumSilence).filter { $0 != .forever }.max() ?? .zero
    watchedUntil = context.current + maximum + LifeSigns.maximumSilence
    guard nextSecond != nil else { return }
    nextHalf = half(of: context.current)
    nextSecond = nextHalf >> 1
    armSecond(&context)
  }

  /// Takes over whether it was published as up.
  fileprivate mutating func restore(isUp published: Bool, _ context: inout EngineContext) {
    guard isUp != published else { return }
    isUp = published
    isAwaited = published
    guard !published else { return resume(at: context.current, &context) }
    provenBeforeOutage = life.provenAt
    life.end()
    for place in 0..<tracks.count where tracks[place].isLive {
      let track = tracks[place]
      for policy in context.catalog.sets[Int(track.cold.matchSet)].policies.indices {
        _ = track.change(presence: policy) { $0.suspended() }
      }
      track.flush()
      track.updateFastPath()
    }
    for row in rows.indices where rows[row].isLive && rows[row].isActive && rows[row].state != .unmonitored {
      _ = rows[row].machine.change(to: .unmonitored, at: .distantPast)
      rows[row].decideAt = .distantFuture
    }
  }

  /// Takes over what was published of a beacon.
  fileprivate mutating func restore(
    _ state: RegionState,
    of beacon: BeaconID,
    slot: Int32,
    _ context: inout EngineContext
  ) {
    guard let place = track(of: beacon, context) else { return }
    restore(state, slot: slot, tracks[place], &context)
  }

  /// Takes over what was published of the observer itself.
  fileprivate mutating func restore(
    _ record: PublishedState.RegionRecord,
    slot: Int32,
    _ context: inout EngineContext
  ) {
    let row = row(of: slot, at: context.current, &context)
    record.restore(&rows[row].machine)
    rows[row].isActive = true
    // What was published was monitored.
    if context.catalog.slots[Int(slot)].isRotated { activeNodes.insert(slot) }
    for place in 0..<tracks.count where tracks[place].isLive {
      restore(record.state, slot: slot, tracks[place], &context)
    }
    rows[row].decideAt = .distantFuture
    guard record.state == .unmonitored, silenceIsEvidence, rows[row].tracksInside == 0 else { return }
    if rows[row].machine.lastKnown == .inside {
      rows[row].patience = context.catalog.slots[Int(slot)].region.presence.maximumSilence
    }
    rows[row].decideAt = context.current + rows[row].patience
  }

  /// Brings the presences of a track that a region asks about to what was published.
  private mutating func restore(
    _ state: RegionState,
    slot: Int32,
    _ track: TrackHandle,
    _ context: inout EngineContext
  ) {
    let set = context.catalog.sets[Int(track.cold.matchSet)]
    for client in set.regions + set.beaconRegions where client.slot == slot {
      let policy = Int(client.place)
      if state == .unmonitored { _ = track.change(presence: policy) { $0.suspended() } }
      guard state == .outside, track.change(presence: policy, { $0.deadlinePassed() }) != nil else {
        continue
      }
      // The record does not speak of other regions that ask by the same policy.
      for other in set.beaconRegions where other.place == client.place && other.slot != slot {
        report(.unknown, slot: other.slot, track, at: context.current, Evidence(rule: .assumed), &context)
      }
      for other in set.regions where other.place == client.place {
        guard let row = rowOfSlot[other.slot] else { continue }
        rows[Int(row)].tracksInside = max(0, rows[Int(row)].tracksInside - 1)
      }
    }
    track.flush()
    track.updateFastPath()
  }
}

extension PublishedState {
  /// The latest decision time of all records.
  var latest: Timestamp? {
    let times = [
      regions.map(\.decidedAt).max(), zones.map(\.decidedAt).max(), observers.map(\.decidedAt).max(),
    ]
    return times.compactMap { $0 }.max()
  }
}
