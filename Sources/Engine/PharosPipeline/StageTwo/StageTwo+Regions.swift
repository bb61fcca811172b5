import PharosFixes
package import PharosModel
import PharosRooms
import PharosStays

extension StageTwo {
  /// The time for which a live observer must have heard nothing of a beacon before the beacon counts as outside.
  ///
  /// 30 s, as for regions about observers.
  static let neverHeardAfter = TimeSpan.seconds(30)

  /// Records that a beacon came, went or became unmonitored at one observer.
  mutating func record(_ change: PresenceChange, into events: inout [Event]) {
    let key = BeaconRegions.Key(application: change.application, identifier: change.region)
    guard let region = regions.place(of: key), let entry = regions.entries[region],
      entry.counts(change.observer)
    else { return countStray() }
    let place = place(of: change.beacon, into: &events)
    let row = tags[place].row(of: region, assuming: entry.assuming, since: entry.since)
    guard tags[place].rows[row].accepts(change) else { return }
    switch change.state {
    case .inside:
      if !tags[place].rows[row].receive(change, limit: limits.observersPerRow) { countCrowdedOut() }
    case .outside: tags[place].rows[row].lose(change)
    case .unmonitored:
      tags[place].rows[row].markOffline(
        change.observer,
        time: change.time,
        lastHeard: change.evidence.lastHeard,
        evidence: change.evidence
      )
    case .unknown: tags[place].rows[row].restoreUnknown(change.observer, at: change.decidedAt, entry.region)
    }
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
    if let place = regions.set(entry) { reset(place, of: key, .replaced, at: now, into: &events) }
    if let place = regions.place(of: key) { geofences.update(place, regions) }
    guard isKept != true, state != .unknown, case .beacon = region.subject else { return }
    guard let beacon = region.constraint?.onlyBeacon, !region.keyedByAddress else { return }
    guard let slot = regions.place(of: key) else { return }
    let place = place(of: beacon, into: &events)
    let row = tags[place].row(of: slot, assuming: state, since: now)
    if state == .inside {
      tags[place].rows[row].assumptionDeadline = now + StageTwo.neverHeardAfter
    }
    touch(place)
  }

  /// Removes the row of a region from all beacons and located subjects, because the region has been removed or its
  /// definition has changed.
  ///
  /// One event says so for all subjects, of stage one too. It comes before what stage one decides at this instant, which is
  /// about the new definition already.
  mutating func reset(
    _ region: Int,
    of key: BeaconRegions.Key,
    _ reason: RegionReset,
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    for place in tags.occupied { tags[place].removeRow(of: region) }
    geofences.forgetRows(of: region)
    geofences.update(region, regions)
    publishReset(of: key, reason, at: instant, into: &events)
  }

  /// Publishes that what was known about the subjects of a region no longer holds.
  func publishReset(
    of key: BeaconRegions.Key,
    _ reason: RegionReset,
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    // A region changes once at an instant, so that the instant makes the id.
    let counter = UInt64(bitPattern: instant.nanoseconds)
    events.append(
      Event(
        stream: stream,
        kind: .regionReset,
        time: instant,
        decidedAt: instant,
        stage: 0,
        subject: .none,
        application: key.application,
        region: key.identifier,
        counter: counter,
        ordinal: counter,
        detail: .regionReset(reason)
      )
    )
  }

  /// Returns the present state of a subject towards a region, and the start of its visit; nil where this stage decides no such
  /// states.
  package func state(
    of subject: SubjectID,
    in region: RegionKey
  ) -> (state: RegionState, enteredAt: Timestamp?)? {
    guard let place = regions.place(of: BeaconRegions.Key(region)), let entry = regions.entries[place] else {
      return nil
    }
    if entry.region.geofence != nil { return geofences.state(place, entry, subject) }
    guard case .beacon(let beacon) = subject, case .beacon = entry.region.subject else { return nil }
    let row = tags.place(of: beacon).flatMap { tag in tags[tag].rows.first { $0.region == place } }
    let known = row?.state ?? .unknown
    return (known == .unknown && isUnheard(entry) ? .outside : known, row?.machine.enteredAt)
  }

  /// Publishes the present state of a subject towards a region once, as the answer to a request.
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
      let entry = regions.entries[region],
      let state = state(of: subject, in: RegionKey(application: application, region: identifier))?.state
    else { return }
    let place = place(of: beacon, into: &events)
    let row = tags[place].row(of: region, assuming: entry.assuming, since: entry.since)
    tags[place].rows[row].counter += 1
    let counter = tags[place].rows[row].counter
    var transition = RegionTransition(
      answering: state,
      refinement: beacon,
      enteredAt: tags[place].rows[row].machine.enteredAt,
      rule: .requested
    )
    transition.evidence.zone = zone(of: place)
    events.append(entry.event(.regionState, subject, at: now, now, counter, transition, in: stream))
  }

  /// Decides the state of a beacon towards each region, and raises the alarms that are due.
  mutating func evaluateRegions(_ place: Int, into events: inout [Event]) {
    guard tags.isOccupied(place), tags[place].hasRowDue(at: now) else { return }
    for index in 0..<tags[place].rows.count where tags[place].rows[index].isDue(at: now) {
      reconsiderAssumption(place, index)
      if let change = tags[place].rows[index].evaluate() {
        publish(change, place, index, into: &events)
      }
      raiseAlarm(place, index, into: &events)
    }
  }

  /// Publishes the changes of the rows of a beacon that is being evicted.
  mutating func evictRows(_ place: Int, into events: inout [Event]) {
    for index in tags[place].rows.indices {
      if let change = tags[place].rows[index].evict(at: now) {
        publish(change, place, index, into: &events)
      }
    }
  }

  /// The zone that a beacon is in, or nil.
  private func zone(of place: Int) -> String? {
    tags[place].zone.zone.map { around.plan.zones[$0].identifier }
  }

  private mutating func reconsiderAssumption(_ place: Int, _ index: Int) {
    let row = tags[place].rows[index]
    guard row.assumptionDeadline <= now, let entry = regions.entries[row.region] else { return }
    var next = now + row.patience
    if let observer = row.assumedHearer {
      // Its own silence counts, from when it was up to its latest sign of life.
      if let since = live[observer] {
        next = since + row.patience
        if next <= now, let proof = lived[observer], proof < next, now - next < StageTwo.maximumOutage {
          next = now + BeaconRegionRow.minimumPatience
        }
      } else if now >= resumedAt, now - resumedAt >= StageTwo.maximumOutage {
        // One that has said nothing since the resumption is down, and the beacon may still be with it.
        let evidence = Evidence(rule: .observerOutage)
        tags[place].rows[index].markOffline(observer, time: now, lastHeard: nil, evidence: evidence)
        next = .distantFuture
      }
    } else if isUnheard(entry, for: row.patience) {
      next = now
    }
    if next <= now {
      tags[place].rows[index].giveUpAssumption(at: now)
    } else {
      tags[place].rows[index].assumptionDeadline = next
    }
  }

  /// Returns whether an observer that counts for the region has been up long enough for its silence to be evidence.
  private func isUnheard(
    _ entry: BeaconRegions.Entry,
    for patience: TimeSpan = StageTwo.neverHeardAfter
  ) -> Bool {
    let bound = now - patience
    return entry.since <= bound && live.contains { entry.counts($0.key) && $0.value <= bound }
  }

  private mutating func raiseAlarm(_ place: Int, _ index: Int, into events: inout [Event]) {
    let row = tags[place].rows[index]
    guard row.holdDeadline <= now, let entry = regions.entries[row.region] else { return }
    tags[place].rows[index].holdDeadline = .distantFuture
    tags[place].rows[index].counter += 1
    let beacon = tags[place].beacon
    var transition = RegionTransition(
      holdOf: row.machine,
      exceeds: entry.region.maximumHold,
      by: .observerOutage,
      refinement: beacon
    )
    transition.evidence.zone = zone(of: place)
    let counter = tags[place].rows[index].counter
    events.append(
      entry.event(
        .regionHoldExceeded,
        .beacon(beacon),
        at: now,
        now,
        counter,
        transition,
        in: stream
      )
    )
  }

  package mutating func publish(
    _ decided: BeaconRegionRow.DecidedChange,
    _ place: Int,
    _ index: Int,
    into events: inout [Event]
  ) {
    let beacon = tags[place].beacon
    guard let entry = regions.entries[tags[place].rows[index].region] else { return }
    let change = decided.change
    tags[place].rows[index].counter += 1
    if change.to == .unmonitored {
      tags[place].rows[index].holdDeadline = now + entry.region.maximumHold
    }
    let counter = tags[place].rows[index].counter
    var evidence = decided.evidence
    evidence.zone = zone(of: place)
    let transition = RegionTransition(
      change,
      refinement: beacon,
      observer: decided.observer,
      evidence: evidence
    )
    for kind in [.regionState, change.announcement(for: entry.region)].compactMap(\.self) {
      events.append(
        entry.event(kind, .beacon(beacon), at: change.time, now, counter, transition, in: stream)
      )
    }
  }
}

extension StageTwo {
  /// Forgets a subject: its location, and its reports of others.
  ///
  /// A beacon that was inside becomes unmonitored, which is no exit. If a forgotten observer alone reported a beacon,
  /// the report stays valid as long as that of an observer that went down, but no longer names the observer.
  mutating func forget(_ traces: SubjectTraces, into events: inout [Event]) {
    locators?.forget(traces)
    reported.forget(traces)
    for decider in FixDecider.all { decider.forget(&self, traces, &events) }
    for place in tags.occupied {
      if traces.contains(tags[place].beacon) {
        evict(place, into: &events)
      } else if let observer = traces.observer {
        forget(observer, by: place)
      }
    }
    if let observer = traces.observer { (live[observer], lived[observer]) = (nil, nil) }
  }

  private mutating func forget(_ observer: ObserverID, by place: Int) {
    var isConcerned = false
    for index in tags[place].rows.indices where tags[place].rows[index].names(observer) {
      isConcerned = tags[place].rows[index].forget(observer, at: now) || isConcerned
    }
    if isConcerned { touch(place) }
  }
}

extension BeaconRegionRow {
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
    hearings.removeAll { $0.observer == BeaconRegionRow.erasedObserver }
    let place = hearings.firstIndex { BeaconRegionRow.erasedObserver < $0.observer } ?? hearings.count
    hearings.insert(
      Hearing(
        observer: BeaconRegionRow.erasedObserver,
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
