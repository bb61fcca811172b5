import PharosModel

extension StageTwo {
  /// The time for which a live observer must have heard nothing of a beacon before the beacon counts as outside.
  ///
  /// 30 s, as for regions about observers.
  static let neverHeardAfter = TimeSpan.seconds(30)

  /// Records that a beacon came, went or became unmonitored at one observer.
  mutating func note(_ change: PresenceChange, into events: inout [Event]) {
    let key = BeaconRegions.Key(application: change.application, identifier: change.region)
    guard let region = regions.place(of: key), let entry = regions.entries[region],
      entry.counts(change.observer)
    else { return countStray() }
    let place = place(of: change.beacon, into: &events)
    let limit = limits.observersPerRow
    let hasRoom = tags.update(place) { tag in
      let row = tag.row(of: region, assuming: entry.assuming, since: entry.since)
      switch change.state {
      case .inside: return tag.rows[row].hear(change, limit: limit)
      case .outside: tag.rows[row].lose(change)
      case .unmonitored:
        tag.rows[row].goDark(
          change.observer,
          time: change.time,
          lastHeard: change.evidence.lastHeard,
          evidence: change.evidence
        )
      case .unknown: tag.rows[row].unsay(change.observer, at: change.decidedAt, entry.region)
      }
      return true
    }
    if hasRoom == false { countCrowdedOut() }
    touch(place)
  }

  /// Monitors a region from now on.
  mutating func start(
    _ region: Region,
    of application: String,
    assuming state: RegionState,
    into events: inout [Event]
  ) {
    let key = BeaconRegions.Key(application: application, identifier: region.identifier)
    let isKept = regions.place(of: key).flatMap { regions.entries[$0] }?.region.asksTheSame(as: region)
    let entry = BeaconRegions.Entry(
      key: key,
      region: region,
      assuming: state,
      since: now,
      isRotated: false
    )
    if let place = regions.set(entry) { forgetRows(of: place) }
    if let place = regions.place(of: key) { geofences.update(place, regions) }
    guard isKept != true, state != .unknown, case .beacon = region.subject else { return }
    guard let beacon = region.constraint?.onlyBeacon, !region.keyedByAddress else { return }
    guard let slot = regions.place(of: key) else { return }
    let place = place(of: beacon, into: &events)
    let now = now
    _ = tags.update(place) { tag in
      let row = tag.row(of: slot, assuming: state, since: now)
      if state == .inside { tag.rows[row].assumptionDeadline = now + StageTwo.neverHeardAfter }
    }
    touch(place)
  }

  /// Removes the row of a region from all beacons and located subjects.
  ///
  /// It publishes no event, because the region has been removed or its definition has changed.
  mutating func forgetRows(of region: Int) {
    for place in tags.slots { _ = tags.update(place) { $0.removeRow(of: region) } }
    geofences.forgetRows(of: region)
    geofences.update(region, regions)
  }

  /// Publishes the present state of a beacon towards a region once, as the answer to a request.
  mutating func answer(
    _ application: String,
    _ identifier: String,
    _ subject: SubjectID,
    into events: inout [Event]
  ) {
    let key = BeaconRegions.Key(application: application, identifier: identifier)
    if let region = regions.place(of: key), let entry = regions.entries[region], entry.region.geofence != nil
    {
      return geofences.answer(region, entry, subject, at: now, into: &events)
    }
    guard case .beacon(let beacon) = subject, let region = regions.place(of: key),
      let entry = regions.entries[region], case .beacon = entry.region.subject
    else { return }
    let evidence = Evidence(rule: .requested)
    let place = place(of: beacon, into: &events)
    let known = tags[place]?.rows.first { $0.region == region }?.state ?? .unknown
    let state = known == .unknown && isHeardByNobody(entry) ? .outside : known
    let counter = tags.update(place) { tag -> (UInt64, Timestamp?) in
      let row = tag.row(of: region, assuming: entry.assuming, since: entry.since)
      tag.rows[row].counter += 1
      return (tag.rows[row].counter, tag.rows[row].enteredAt)
    }
    guard let (counter, enteredAt) = counter else { return }
    let transition = RegionTransition(
      from: state,
      to: state,
      refinement: beacon,
      enteredAt: enteredAt,
      isAnswer: true,
      evidence: evidence
    )
    events.append(event(.regionState, key, beacon, time: now, counter: counter, transition))
  }

  /// Decides the state of a beacon towards each region, and raises the alarms that are due.
  mutating func settleRows(_ place: Int, into events: inout [Event]) {
    guard tags.isTaken(place), tags.store[place].hasRowDue(at: now) else { return }
    for index in 0..<tags.store[place].rows.count where tags.store[place].rows[index].isDue(at: now) {
      reconsiderAssumption(place, index)
      let change = tags.update(place) { $0.rows[index].settle() }
      if let change, let change { tell(change, place, index, into: &events) }
      raiseAlarm(place, index, into: &events)
    }
  }

  /// Publishes the changes of the rows of a beacon that is being evicted.
  mutating func evictRows(_ place: Int, into events: inout [Event]) {
    let count = tags[place]?.rows.count ?? 0
    let now = now
    for index in 0..<count {
      let change = tags.update(place) { $0.rows[index].evict(at: now) }
      if let change, let change { tell(change, place, index, into: &events) }
    }
  }

  private mutating func reconsiderAssumption(_ place: Int, _ index: Int) {
    guard let row = tags[place]?.rows[index], row.assumptionDeadline <= now,
      let entry = regions.entries[row.region]
    else { return }
    let now = now
    var next = now + row.patience
    if let observer = row.assumedHearer {
      // Its own silence counts, from when it was up to its latest sign of life.
      if let since = live[observer] {
        next = since + row.patience
        if next <= now, let proof = lived[observer], proof < next, now - next < StageTwo.longestOutage {
          next = now + RegionRow.leastPatience
        }
      }
    } else if isHeardByNobody(entry, for: row.patience) {
      next = now
    }
    _ = tags.update(place) { tag in
      if next <= now {
        tag.rows[index].giveUpAssumption(at: now)
      } else {
        tag.rows[index].assumptionDeadline = next
      }
    }
  }

  /// Returns whether an observer that counts for the region has been up long enough for its silence to be evidence.
  private func isHeardByNobody(
    _ entry: BeaconRegions.Entry,
    for patience: TimeSpan = StageTwo.neverHeardAfter
  ) -> Bool {
    let bound = now - patience
    return entry.since <= bound && live.contains { entry.counts($0.key) && $0.value <= bound }
  }

  private mutating func raiseAlarm(_ place: Int, _ index: Int, into events: inout [Event]) {
    guard let tag = tags[place], tag.rows[index].holdDeadline <= now else { return }
    let row = tag.rows[index]
    guard let entry = regions.entries[row.region] else { return }
    let counter = tags.update(place) { tag in
      tag.rows[index].holdDeadline = .distantFuture
      tag.rows[index].counter += 1
      return tag.rows[index].counter
    }
    var evidence = Evidence(rule: .observerOutage)
    evidence.window = entry.region.maximumHold
    let transition = RegionTransition(
      from: row.lastKnown,
      to: .unmonitored,
      refinement: tag.beacon,
      enteredAt: row.enteredAt,
      evidence: evidence
    )
    let alarm = event(
      .regionHoldExceeded,
      entry.key,
      tag.beacon,
      time: now,
      counter: counter ?? 0,
      transition
    )
    events.append(alarm)
  }

  private mutating func tell(
    _ change: RegionRow.Change,
    _ place: Int,
    _ index: Int,
    into events: inout [Event]
  ) {
    guard let tag = tags[place], let entry = regions.entries[tag.rows[index].region] else { return }
    let isUnmonitored = change.to == .unmonitored
    let deadline = now + entry.region.maximumHold
    let counter = tags.update(place) { tag in
      tag.rows[index].counter += 1
      if isUnmonitored { tag.rows[index].holdDeadline = deadline }
      return tag.rows[index].counter
    }
    let transition = RegionTransition(
      from: change.from,
      to: change.to,
      refinement: tag.beacon,
      observer: change.observer,
      enteredAt: change.enteredAt,
      evidence: change.evidence
    )
    var kinds = [EventKind.regionState]
    if change.isEnter, entry.region.notifyOnEntry { kinds.append(.regionEnter) }
    if change.isExit, entry.region.notifyOnExit { kinds.append(.regionExit) }
    if isUnmonitored { kinds.append(.regionUnmonitored) }
    for kind in kinds {
      events.append(event(kind, entry.key, tag.beacon, time: change.time, counter: counter ?? 0, transition))
    }
  }

  private func event(
    _ kind: EventKind,
    _ key: BeaconRegions.Key,
    _ beacon: BeaconID,
    time: Timestamp,
    counter: UInt64,
    _ transition: RegionTransition
  ) -> Event {
    Event(
      stream: stream,
      kind: kind,
      time: time,
      decidedAt: now,
      stage: 2,
      subject: .beacon(beacon),
      application: key.application,
      region: key.identifier,
      counter: counter,
      ordinal: counter,
      detail: .region(transition)
    )
  }
}

extension StageTwo {
  /// Forgets a subject: its location, and its reports of others.
  ///
  /// A beacon that was inside becomes unmonitored, which is no exit. If a forgotten observer alone reported a beacon,
  /// the report stays valid as long as that of an observer that went down, but no longer names the observer.
  mutating func forget(_ traces: SubjectTraces, into events: inout [Event]) {
    locators?.forget(traces)
    geofences.forget(traces, at: now, regions, into: &events)
    visits.forget(traces)
    guides.forget(traces)
    for place in tags.slots where tags.isTaken(place) {
      if traces.contains(tags.store[place].beacon) {
        evict(place, into: &events)
      } else if let observer = traces.observer {
        forget(observer, by: place)
      }
    }
    if let observer = traces.observer { (live[observer], lived[observer]) = (nil, nil) }
  }

  private mutating func forget(_ observer: ObserverID, by place: Int) {
    var isConcerned = false
    for index in tags.store[place].rows.indices where tags.store[place].rows[index].names(observer) {
      let now = now
      isConcerned = tags.update(place) { $0.rows[index].forget(observer, at: now) } ?? false || isConcerned
    }
    if isConcerned { touch(place) }
  }
}

extension RegionRow {
  /// The identifier that replaces that of a forgotten observer.
  private static let erasedObserver = ObserverID.name("erased")

  /// Returns whether the row refers to an observer.
  func names(_ observer: ObserverID) -> Bool {
    pendingExit?.observer == observer || hearings.contains { $0.observer == observer }
  }

  /// Removes an observer.
  ///
  /// Its reports count like those of an observer that went down.
  ///
  /// - Returns: `true` if the row may need a new decision.
  mutating func forget(_ observer: ObserverID, at now: Timestamp) -> Bool {
    if pendingExit?.observer == observer { pendingExit?.observer = nil }
    guard let index = hearings.firstIndex(where: { $0.observer == observer }) else { return false }
    let gone = hearings.remove(at: index)
    isDirty = true
    hearings.removeAll { $0.observer == RegionRow.erasedObserver }
    let place = hearings.firstIndex { RegionRow.erasedObserver < $0.observer } ?? hearings.count
    hearings.insert(
      Hearing(
        observer: RegionRow.erasedObserver,
        isDark: true,
        time: gone.isDark ? gone.time : now,
        lastHeard: gone.lastHeard,
        heardUntil: gone.isDark ? gone.heardUntil : now,
        evidence: Evidence(rule: .observerOutage)
      ),
      at: place
    )
    return true
  }
}
