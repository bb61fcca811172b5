// How a subject enters and leaves geofences. For each fix of a subject:
//
// 1. The track of the subject averages its fixes to a point with a variance. A new floor counts once fixes have shown it for
//    some time; while they disagree, the floor is not known.
// 2. The index finds the geofences near that point, near the fix and along the way from the last one. Those for which the
//    subject has a row, and those that hold one of these, are added. They are judged from the smallest to the largest.
// 3. The belief is the probability that the point lies in the area, given the variance; 0 on another floor. For an area with a
//    range of heights it is multiplied by the probability of the height. Above the enter probability the geofence wants
//    `inside`, below the exit probability `outside`, between them nothing, and without a known height no `inside`.
// 4. What is wanted must last for the dwell, and be seen by a fix as fine as the area or by several coarse ones. Then the
//    region machine of the row changes and the events follow. A subject inside a geofence is inside all that hold it.
// 5. A small area between two fixes is entered and left at once if the straight way leads through it.
// 6. Once all geofences near the subject are decided, one event for each application says that it is outside of all others: from
//    then on a geofence without a row is outside. If some take longer than that is worth waiting for, an event names each.
//
// Without fixes the subject becomes stale: what it is in becomes unmonitored, which is no exit.

package import PharosDocuments
import PharosFixes
package import PharosModel
import PharosSpace

/// The geofences of all applications, and the subjects that are located.
///
/// Each fix of a subject is judged against the geofences around it alone. A subject has a row for a geofence while it is in it
/// or may be; without a row it is outside, as one event for all of an application's geofences says. So memory, events and
/// records are linear in the subjects and the geofences, not in their product.
///
/// What is decided depends on the fixes of the subject, in their order, and on the changes of the regions.
package struct Geofences: Sendable {
  /// An application, and the kind of subjects of some of its geofences.
  private struct Audience: Hashable {
    let application: String
    let isAboutBeacons: Bool
  }

  private let stream: String
  private let limit: Int
  /// The geofences, by the places of their regions; nil for other regions.
  private var fences: [PreparedGeofence?] = []
  private var count = 0
  private var index = GeofenceIndex()
  /// The time since which all geofences of an application about a kind of subject are monitored.
  private var monitoredSince: [Audience: Timestamp] = [:]
  /// The last of these times, of the geofences about beacons and of the others.
  private var lastMonitored: [Bool: Timestamp] = [:]
  /// The places of the geofences that subjects are assumed to be in.
  private var assumed: [Int] = []
  /// Indicates whether ``index`` must be made again.
  private var isDirty = false
  /// The applications whose nesting must be determined again.
  private var dirtyApplications: Set<String> = []
  /// The identifiers of the regions above each node of a rotation, by application and identifier, the nearest first.
  private var ancestors: [String: [String: [String]]] = [:]
  private var tracks = SubjectTable<GeofenceTrack>()
  /// Storage for the candidates of a fix.
  private var found: [Int32] = []

  /// The number of standard deviations around the estimate within which geofences are judged.
  private static let reach = 3.5
  /// The number of fixes, and the factor to the dwell, by which fixes that are all coarser than the geofence decide.
  private static let coarse = (fixes: 3, dwells: 3.0)
  /// The time for which the geofences near a subject may take to be decided before an event names those that are not.
  ///
  /// 10 s: three coarse fixes, or a door.
  private static let hesitation = TimeSpan.seconds(10)
  /// The largest number of geofences that are named so; with more of them the fixes say too little about any.
  private static let maximumOpen = 20

  /// Starts without subjects.
  package init(site: Site, regions: BeaconRegions, limit: Int) {
    stream = site.stream
    self.limit = limit
    for application in site.applications { setRotation(application.rotation, of: application.identifier) }
    for place in regions.entries.indices { update(place, regions) }
  }

  /// Indicates whether there is no geofence.
  package var isEmpty: Bool { count == 0 }

  // MARK: Regions

  /// Takes over the region at a place, which was added, replaced or removed.
  package mutating func update(_ place: Int, _ regions: BeaconRegions) {
    while fences.count <= place { fences.append(nil) }
    let entry = place < regions.entries.count ? regions.entries[place] : nil
    let next = entry.flatMap { entry in
      entry.region.geofence.flatMap { GeofenceArea($0.shape) }
        .map {
          PreparedGeofence(
            application: entry.key.application,
            area: $0,
            isAboutBeacons: entry.region.subject != .observer
          )
        }
    }
    guard fences[place] != nil || next != nil else { return }
    count += (next == nil ? 0 : 1) - (fences[place] == nil ? 0 : 1)
    // The places of those that nested in the one before are no longer theirs.
    for application in [fences[place]?.application, next?.application].compactMap(\.self) {
      dirtyApplications.insert(application)
    }
    fences[place] = next
    isDirty = true
  }

  /// Takes over the tree of an application's rotation.
  package mutating func setRotation(_ tree: [RegionNode], of application: String) {
    var above: [String: [String]] = [:]
    func visit(_ nodes: [RegionNode], under parents: [String]) {
      for node in nodes {
        if !parents.isEmpty { above[node.region.identifier] = parents }
        visit(node.children, under: [node.region.identifier] + parents)
      }
    }
    visit(tree, under: [])
    ancestors[application] = above.isEmpty ? nil : above
    dirtyApplications.insert(application)
  }

  /// Drops all states towards a region that was removed or replaced by another one.
  package mutating func forgetRows(of place: Int) {
    for track in tracks.occupied { tracks[track].rows.removeAll { $0.fence == place } }
  }

  private mutating func prepare(_ regions: BeaconRegions) {
    if isDirty {
      index = GeofenceIndex(
        fences.indices.compactMap { place in fences[place].map { ($0.area.box, Int32(place)) } }
      )
      assumed = fences.indices.filter { fences[$0] != nil && regions.entries[$0]?.assuming == .inside }
      (monitoredSince, lastMonitored) = ([:], [:])
      for (place, fence) in fences.enumerated() {
        guard let fence, let since = regions.entries[place]?.since else { continue }
        let audience = Audience(application: fence.application, isAboutBeacons: fence.isAboutBeacons)
        monitoredSince[audience] = max(monitoredSince[audience] ?? .distantPast, since)
        let last = lastMonitored[fence.isAboutBeacons] ?? .distantPast
        lastMonitored[fence.isAboutBeacons] = max(last, since)
      }
      isDirty = false
    }
    guard !dirtyApplications.isEmpty else { return }
    for place in fences.indices {
      guard fences[place] != nil, let key = regions.entries[place]?.key,
        dirtyApplications.contains(key.application)
      else { continue }
      let parents = parents(of: place, key, regions)
      fences[place]?.parents = parents
    }
    dirtyApplications = []
  }

  /// Returns the geofences of the same application that hold another one: those above it in the rotation, and those in
  /// whose area its own lies.
  ///
  /// A geofence holds only smaller ones, so that none holds itself.
  private func parents(of place: Int, _ key: BeaconRegions.Key, _ regions: BeaconRegions) -> [Int] {
    guard let own = fences[place], let geofence = regions.entries[place]?.region.geofence else { return [] }
    var near: [Int32] = []
    index.search(own.area.box, into: &near)
    var parents: Set<Int> = []
    for candidate in near.map(Int.init) {
      guard let other = fences[candidate], isLarger(candidate, than: place),
        other.isAboutBeacons == own.isAboutBeacons, let entry = regions.entries[candidate],
        entry.key.application == key.application, let area = entry.region.geofence,
        area.level == nil || area.level == geofence.level,
        area.building == nil || area.building == geofence.building,
        area.altitude.map({ range in geofence.altitude.map(range.contains) ?? false }) ?? true,
        other.area.contains(own.area)
      else { continue }
      parents.insert(candidate)
    }
    for name in ancestors[key.application]?[key.identifier] ?? [] {
      let above = BeaconRegions.Key(application: key.application, identifier: name)
      guard let candidate = regions.place(of: above), let other = fences[candidate],
        other.isAboutBeacons == own.isAboutBeacons, isLarger(candidate, than: place)
      else { continue }
      parents.insert(candidate)
    }
    return parents.sorted { isLarger($1, than: $0) }
  }

  private func isLarger(_ place: Int, than other: Int) -> Bool {
    (fences[place]?.area.size ?? 0, place) > (fences[other]?.area.size ?? 0, other)
  }

  // MARK: Fixes

  /// Takes a fix, and decides what follows from it.
  package mutating func follow(_ fix: LocatedPosition, _ regions: BeaconRegions, into events: inout [Event]) {
    prepare(regions)
    var place = place(of: fix, regions, into: &events)
    if let last = tracks[place].last, last.time >= fix.time { return }
    if !tracks[place].isStale, tracks[place].staleAt < fix.decidedAt {
      expire(place, at: tracks[place].staleAt, regions, into: &events)
      place = self.place(of: fix, regions, into: &events)
    }
    let before = tracks[place].last
    tracks[place].add(fix)
    var rows: [GeofenceRow] = []
    swap(&rows, &tracks[place].rows)
    findCandidates(of: fix, place, before, rows, regions)
    let known = events.count
    let candidates = found.map(Int.init).sorted { isLarger($1, than: $0) }
    var judgement = Judgement(rows: rows)
    for candidate in candidates {
      guard let fence = fences[candidate], fence.isAboutBeacons == fix.subject.isBeacon,
        let entry = regions.entries[candidate], let geofence = entry.region.geofence
      else { continue }
      let trial = GeofenceTrial(
        fix: fix,
        before: before,
        place: candidate,
        fence: fence,
        entry: entry,
        policy: geofence.policy,
        sight: GeofenceSight(tracks[place], fix, geofence, fence.area),
        start: tracks[place].stateWithoutRow(of: entry)
      )
      judge(trial, &judgement, into: &events)
    }
    if events.count > known { tracks[place].publishedAt = fix.decidedAt }
    stateOthers(of: fix, place, &judgement, regions, into: &events)
    swap(&judgement.rows, &tracks[place].rows)
    arm(place)
  }

  /// Finds the geofences that a fix may decide about.
  private mutating func findCandidates(
    of fix: LocatedPosition,
    _ place: Int,
    _ before: TrackedPosition?,
    _ rows: [GeofenceRow],
    _ regions: BeaconRegions
  ) {
    found.removeAll(keepingCapacity: true)
    let deviation = tracks[place].variance.squareRoot()
    var box = MapBox(around: tracks[place].point, reach: Geofences.reach * deviation / fix.scale)
    box.add(MapBox(around: fix.point, reach: 0))
    if let before, fix.time - before.time <= GeofencePassage.maximumTime {
      box.add(MapBox(around: before.point, reach: 0))
    }
    index.search(box, into: &found)
    for row in rows where !found.contains(Int32(row.fence)) { found.append(Int32(row.fence)) }
    for candidate in assumed where !found.contains(Int32(candidate)) {
      guard let entry = regions.entries[candidate],
        tracks[place].stateWithoutRow(of: entry) == .inside
      else { continue }
      found.append(Int32(candidate))
    }
    // Those that a rotation puts above these may lie elsewhere.
    var next = 0
    while next < found.count {
      for parent in fences[Int(found[next])]?.parents ?? [] where !found.contains(Int32(parent)) {
        found.append(Int32(parent))
      }
      next += 1
    }
  }

  /// What has been decided by one fix so far.
  private struct Judgement {
    /// The rows of the subject.
    var rows: [GeofenceRow]
    /// The geofences that hold one that the subject is in.
    var held: Set<Int> = []
    /// The geofences that the fix does not decide about, and for which there is neither a row nor an event.
    var open: [GeofenceTrial] = []
    /// What the fix says of the geofences that it would decide about if it had a height.
    var withoutHeight: [Int: GeofenceBasis] = [:]

    /// Adds a row in its order, and returns its place.
    mutating func insert(_ row: GeofenceRow) -> Int {
      let number = rows.firstIndex { $0.fence > row.fence } ?? rows.count
      rows.insert(row, at: number)
      return number
    }
  }

  private func judge(_ trial: GeofenceTrial, _ judgement: inout Judgement, into events: inout [Event]) {
    if !trial.sight.isHeightKnown, !trial.sight.isOutside(by: trial.policy) {
      judgement.withoutHeight[trial.place] = trial.basis()
    }
    let known = judgement.rows.firstIndex { $0.fence == trial.place }
    guard let number = known ?? begin(trial, &judgement, into: &events) else { return }
    decide(trial, number, &judgement, into: &events)
    guard number < judgement.rows.count, judgement.rows[number].fence == trial.place,
      judgement.rows[number].state == .inside
    else { return }
    judgement.held.formUnion(trial.fence.parents)
  }

  /// Makes a row for a geofence that the subject may be in; returns its place, or nil if there is no need.
  private func begin(
    _ trial: GeofenceTrial,
    _ judgement: inout Judgement,
    into events: inout [Event]
  ) -> Int? {
    let sight = trial.sight
    let isHeld = judgement.held.contains(trial.place) && sight.isOnFloor != nil
    if !isHeld, sight.isOutside(by: trial.policy), trial.start != .inside {
      guard let passage = trial.passage(from: trial.before) else { return nil }
      var row = trial.row(assuming: .outside)
      pass(passage, &row, trial, into: &events)
      if trial.start != .outside { _ = judgement.insert(row) }
      judgement.held.formUnion(trial.fence.parents)
      return nil
    }
    if !isHeld, sight.isOnFloor == nil || sight.isTooCoarse && !sight.isOutside(by: trial.policy) {
      if trial.start != .outside { judgement.open.append(trial) }
      return nil
    }
    var row = trial.row(assuming: trial.start)
    row.approach = trial.before
    return judgement.insert(row)
  }

  /// Decides about a geofence for which there is a row.
  private func decide(
    _ trial: GeofenceTrial,
    _ number: Int,
    _ judgement: inout Judgement,
    into events: inout [Event]
  ) {
    let (fix, sight, policy) = (trial.fix, trial.sight, trial.policy)
    let isHeld = judgement.held.contains(trial.place)
    if isHeld, judgement.rows[number].state != .inside {
      judgement.rows[number].run = nil
      var evidence = Evidence(rule: .nested)
      evidence.geofence = trial.basis()
      return change(&judgement.rows[number], to: .inside, at: fix.time, evidence, trial, into: &events)
    }
    guard sight.isOnFloor != nil else {
      judgement.rows[number].run = nil
      return
    }
    let wanted = sight.wanted(from: judgement.rows[number].state, by: policy)
    guard let wanted, wanted != judgement.rows[number].state else {
      judgement.rows[number].run = nil
      return leave(trial, number, &judgement, into: &events)
    }
    let former = judgement.rows[number].run.flatMap { $0.state == wanted ? $0 : nil }
    var run = former ?? GeofenceRow.Run(state: wanted, since: fix.time, fixes: 0, isFine: false)
    run.fixes += 1
    run.isFine = run.isFine || sight.isFine
    judgement.rows[number].run = run
    guard !isHeld else { return }
    let dwell = wanted == .inside ? policy.enterDwell : policy.exitDwell
    let lasted = fix.time - run.since
    guard lasted >= dwell,
      run.isFine || run.fixes >= Geofences.coarse.fixes && lasted >= dwell * Geofences.coarse.dwells
    else { return }
    judgement.rows[number].run = nil
    var evidence = Evidence(rule: wanted == .unknown ? .noAltitude : .position)
    evidence.window = dwell
    evidence.threshold = wanted == .outside ? policy.exitProbability : policy.enterProbability
    evidence.geofence = trial.basis(dwell: lasted, fixes: run.fixes)
    change(&judgement.rows[number], to: wanted, at: fix.time, evidence, trial, into: &events)
    if trial.start == .outside, judgement.rows[number].isNeedless(at: fix.time) {
      judgement.rows.remove(at: number)
    }
  }

  /// Ends the approach of a subject that stays outside, and removes the row if its absence says the same.
  private func leave(
    _ trial: GeofenceTrial,
    _ number: Int,
    _ judgement: inout Judgement,
    into events: inout [Event]
  ) {
    let row = judgement.rows[number]
    guard trial.sight.isOutside(by: trial.policy), row.isNeedless(at: trial.fix.time) else { return }
    judgement.rows[number].approach = nil
    if let passage = trial.passage(from: row.approach) {
      pass(passage, &judgement.rows[number], trial, into: &events)
      judgement.held.formUnion(trial.fence.parents)
    }
    if trial.start == .outside { judgement.rows.remove(at: number) }
  }

  /// Publishes for each application that the subject is outside of all geofences about which nothing else is published.
  private mutating func stateOthers(
    of fix: LocatedPosition,
    _ place: Int,
    _ judgement: inout Judgement,
    _ regions: BeaconRegions,
    into events: inout [Event]
  ) {
    let stated = tracks[place].statedAt
    // At one instant an event without a region comes before those of regions, which it must not contradict.
    guard let last = lastMonitored[fix.subject.isBeacon], stated.map({ last > $0 }) ?? true,
      fix.decidedAt > tracks[place].publishedAt
    else { return }
    let due = monitoredSince.filter { audience, since in
      audience.isAboutBeacons == fix.subject.isBeacon && stated.map { since > $0 } ?? true
    }
    let open = judgement.rows.count { $0.isOpen } + judgement.open.count
    if open > 0 {
      let start = max(tracks[place].since, last)
      guard open <= Geofences.maximumOpen, fix.decidedAt - start >= Geofences.hesitation else { return }
      for trial in judgement.open { _ = judgement.insert(trial.row(assuming: trial.start)) }
      for number in judgement.rows.indices where judgement.rows[number].isOpen {
        let place = judgement.rows[number].fence
        guard let entry = regions.entries[place] else { continue }
        var evidence = Evidence(rule: judgement.withoutHeight[place] == nil ? .assumed : .noAltitude)
        evidence.geofence = judgement.withoutHeight[place]
        publishState(of: &judgement.rows[number], entry, fix, evidence, into: &events)
      }
      tracks[place].publishedAt = fix.decidedAt
      return
    }
    tracks[place].statedAt = fix.decidedAt
    for application in due.keys.map(\.application).sorted() {
      events.append(othersEvent(fix, application))
    }
  }

  /// Publishes an enter and an exit of a subject that passed through between two fixes.
  private func pass(
    _ passage: GeofencePassage,
    _ row: inout GeofenceRow,
    _ trial: GeofenceTrial,
    into events: inout [Event]
  ) {
    var evidence = Evidence(rule: .crossing)
    evidence.geofence = trial.basis()
    evidence.geofence?.probability = passage.probability
    evidence.geofence?.dwell = passage.left - passage.entered
    evidence.geofence?.fixes = 2
    change(&row, to: .inside, at: passage.entered, evidence, trial, into: &events)
    change(&row, to: .outside, at: passage.left, evidence, trial, into: &events)
  }

  // MARK: Events

  /// The region, the subject and the time of a decision.
  private struct Decision {
    let entry: BeaconRegions.Entry
    let subject: SubjectID
    let decidedAt: Timestamp
  }

  private func change(
    _ row: inout GeofenceRow,
    to state: RegionState,
    at time: Timestamp,
    _ evidence: Evidence,
    _ trial: GeofenceTrial,
    into events: inout [Event]
  ) {
    let decision = Decision(
      entry: trial.entry,
      subject: trial.fix.subject,
      decidedAt: trial.fix.decidedAt
    )
    change(&row, to: state, at: time, evidence, decision, into: &events)
  }

  private func change(
    _ row: inout GeofenceRow,
    to state: RegionState,
    at time: Timestamp,
    _ evidence: Evidence,
    _ decision: Decision,
    into events: inout [Event]
  ) {
    guard let change = row.machine.change(to: state, at: time) else { return }
    row.holdDeadline =
      state == .unmonitored && decision.subject.isBeacon
      ? decision.decidedAt + decision.entry.region.maximumHold : .distantFuture
    row.counter += 1
    row.isPublished = true
    let transition = RegionTransition(change, evidence: evidence)
    for kind in [.regionState, change.announcement(for: decision.entry.region)].compactMap(\.self) {
      events.append(event(kind, decision, at: change.time, row.counter, transition))
    }
  }

  /// Publishes the state of a row that nothing has decided yet.
  private func publishState(
    of row: inout GeofenceRow,
    _ entry: BeaconRegions.Entry,
    _ fix: LocatedPosition,
    _ evidence: Evidence,
    into events: inout [Event]
  ) {
    row.counter += 1
    row.isPublished = true
    let transition = RegionTransition(
      from: row.state,
      to: row.state,
      enteredAt: row.machine.enteredAt,
      evidence: evidence
    )
    let decision = Decision(entry: entry, subject: fix.subject, decidedAt: fix.decidedAt)
    events.append(event(.regionState, decision, at: fix.time, row.counter, transition))
  }

  /// The event that says that a subject is outside of all other geofences of an application.
  ///
  /// It is published once at an instant, so that the instant makes the id.
  private func othersEvent(_ fix: LocatedPosition, _ application: String) -> Event {
    let counter = UInt64(bitPattern: fix.decidedAt.nanoseconds)
    return Event(
      stream: stream,
      kind: .regionsOutside,
      time: fix.time,
      decidedAt: fix.decidedAt,
      stage: 2,
      subject: fix.subject,
      application: application,
      region: "",
      counter: counter,
      ordinal: counter,
      detail: .region(
        RegionTransition(from: .unknown, to: .outside, evidence: Evidence(rule: .elsewhere))
      )
    )
  }

  private func event(
    _ kind: EventKind,
    _ decision: Decision,
    at time: Timestamp,
    _ counter: UInt64,
    _ transition: RegionTransition
  ) -> Event {
    decision.entry.event(
      kind,
      decision.subject,
      at: time,
      decision.decidedAt,
      counter,
      transition,
      in: stream
    )
  }

  // MARK: Time

  /// Makes all decisions that are due up to an instant, given that every fix up to it has been taken.
  package mutating func advance(to instant: Timestamp, _ regions: BeaconRegions, into events: inout [Event]) {
    while let (place, due) = tracks.popDue(through: instant) {
      if tracks[place].isStale {
        raiseAlarms(place, at: due, regions, into: &events)
      } else if tracks[place].staleAt <= due {
        expire(place, at: due, regions, into: &events)
      }
      if tracks.isOccupied(place) { arm(place) }
    }
  }

  private mutating func arm(_ place: Int) {
    let due =
      tracks[place].isStale
      ? tracks[place].rows.map(\.holdDeadline).min() ?? .distantFuture : tracks[place].staleAt
    tracks.schedule(place, at: due)
  }

  /// Ends the location of a subject of which no fix comes: what it is in becomes unmonitored, which is no exit.
  private mutating func expire(
    _ place: Int,
    at instant: Timestamp,
    _ regions: BeaconRegions,
    rule: Evidence.Rule = .positionLost,
    into events: inout [Event]
  ) {
    tracks[place].isStale = true
    var evidence = Evidence(rule: rule)
    if rule == .positionLost {
      evidence.gap = instant - tracks[place].decidedAt
      evidence.lastHeard = tracks[place].last?.time
    }
    tracks[place].forgetPosition()
    var rows: [GeofenceRow] = []
    swap(&rows, &tracks[place].rows)
    // What has no row stands where it stood, as far as is known.
    rows.removeAll { row in
      guard row.state == .unknown || row.state == .outside else { return false }
      return regions.entries[row.fence].map { tracks[place].stateWithoutRow(of: $0) == row.state } ?? true
    }
    for index in rows.indices where rows[index].state == .inside {
      guard let entry = regions.entries[rows[index].fence] else { continue }
      let decision = Decision(entry: entry, subject: tracks[place].subject, decidedAt: instant)
      change(&rows[index], to: .unmonitored, at: instant, evidence, decision, into: &events)
    }
    swap(&rows, &tracks[place].rows)
    if tracks[place].rows.isEmpty, tracks[place].statedAt == nil { tracks.remove(place) } else { arm(place) }
  }

  private mutating func raiseAlarms(
    _ place: Int,
    at instant: Timestamp,
    _ regions: BeaconRegions,
    into events: inout [Event]
  ) {
    for index in tracks[place].rows.indices where tracks[place].rows[index].holdDeadline <= instant {
      tracks[place].rows[index].holdDeadline = .distantFuture
      tracks[place].rows[index].counter += 1
      let row = tracks[place].rows[index]
      guard let entry = regions.entries[row.fence] else { continue }
      let decision = Decision(entry: entry, subject: tracks[place].subject, decidedAt: instant)
      let transition = RegionTransition(
        holdOf: row.machine,
        exceeds: entry.region.maximumHold,
        by: .positionLost
      )
      events.append(event(.regionHoldExceeded, decision, at: instant, row.counter, transition))
    }
  }

  // MARK: Subjects

  private mutating func place(
    of fix: LocatedPosition,
    _ regions: BeaconRegions,
    into events: inout [Event]
  ) -> Int {
    if let place = tracks.place(of: fix.subject) { return place }
    for place in tracks.evictions(limit: limit) {
      evict(place, at: fix.decidedAt, regions, into: &events)
    }
    return tracks.insert(GeofenceTrack(fix))
  }

  /// Removes a subject; what it is in becomes unmonitored.
  private mutating func evict(
    _ place: Int,
    at instant: Timestamp,
    _ regions: BeaconRegions,
    into events: inout [Event]
  ) {
    expire(place, at: instant, regions, rule: .eviction, into: &events)
    if tracks.isOccupied(place) { tracks.remove(place) }
  }

  /// Forgets a subject; what it is in becomes unmonitored.
  package mutating func forget(
    _ traces: SubjectTraces,
    at instant: Timestamp,
    _ regions: BeaconRegions,
    into events: inout [Event]
  ) {
    for place in tracks.places(of: traces) { evict(place, at: instant, regions, into: &events) }
  }

  /// Publishes the present state of a subject once, as the answer to a request.
  package mutating func answer(
    _ region: Int,
    _ entry: BeaconRegions.Entry,
    _ subject: SubjectID,
    at instant: Timestamp,
    into events: inout [Event]
  ) {
    guard let (state, enteredAt) = state(region, entry, subject) else { return }
    var counter = UInt64(bitPattern: instant.nanoseconds)
    if let place = tracks.place(of: subject),
      let row = tracks[place].rows.firstIndex(where: { $0.fence == region })
    {
      tracks[place].rows[row].counter += 1
      counter = tracks[place].rows[row].counter
    }
    let transition = RegionTransition(answering: state, enteredAt: enteredAt, rule: .requested)
    events.append(entry.event(.regionState, subject, at: instant, instant, counter, transition, in: stream))
  }

  /// Returns the present state of a subject, and the start of its visit; nil where the region is none about such subjects.
  package func state(
    _ region: Int,
    _ entry: BeaconRegions.Entry,
    _ subject: SubjectID
  ) -> (state: RegionState, enteredAt: Timestamp?)? {
    guard fences.indices.contains(region), let fence = fences[region],
      fence.isAboutBeacons == subject.isBeacon
    else { return nil }
    guard let place = tracks.place(of: subject) else { return (entry.assuming, nil) }
    guard let row = tracks[place].rows.first(where: { $0.fence == region }) else {
      return (tracks[place].stateWithoutRow(of: entry), nil)
    }
    return (row.state, row.machine.enteredAt)
  }

  /// The states of all subjects, in no particular order.
  package func standings(_ regions: BeaconRegions) -> [GeofenceStanding] {
    tracks.rows.flatMap { track in
      track.rows.compactMap { row in
        regions.entries[row.fence].map {
          GeofenceStanding(
            application: $0.key.application,
            region: $0.key.identifier,
            subject: track.subject,
            state: row.state,
            enteredAt: row.machine.enteredAt
          )
        }
      }
    }
  }

  // MARK: Restarts

  /// Hands the subjects that are near geofences to a coder.
  ///
  /// - Parameters:
  ///   - coder: the writer or the reader.
  ///   - translation: for a reader, the place of each region of the state in the present list, nil for one that is gone.
  /// - Throws: the error of a reader.
  package mutating func visitState<Coder: FieldCoder>(
    _ coder: inout Coder,
    places translation: [Int?]
  ) throws(Coder.Failure) {
    let known = try coder.field(Array(tracks.rows))
    guard Coder.isReader else { return }
    // The regions were restored too, and with them since when each is monitored.
    isDirty = true
    for var track in known {
      let isKnown = tracks.place(of: track.subject) != nil || track.subject == .none
      let fits = track.rows.allSatisfy { translation.indices.contains($0.fence) }
      try coder.check(!isKnown && fits, "a subject near geofences")
      track.rows = track.rows.compactMap { row in
        guard let place = translation[row.fence], fences.indices.contains(place), fences[place] != nil else {
          return nil
        }
        var row = row
        row.fence = place
        return row
      }
      .sorted { $0.fence < $1.fence }
      arm(tracks.insert(track))
    }
  }

  /// Resumes after a downtime: it counts for nothing, and each subject is located from scratch.
  package mutating func resume(at instant: Timestamp, after downtime: TimeSpan) {
    tracks.cancelDeadlines()
    let floor = UInt64(clamping: instant.nanoseconds)
    for place in tracks.occupied {
      tracks[place].forgetPosition()
      if !tracks[place].isStale { tracks[place].decidedAt = instant }
      for row in tracks[place].rows.indices {
        tracks[place].rows[row].counter = max(tracks[place].rows[row].counter, floor)
        if tracks[place].rows[row].holdDeadline != .distantFuture {
          tracks[place].rows[row].holdDeadline = tracks[place].rows[row].holdDeadline + downtime
        }
      }
      arm(place)
    }
  }

  /// Restores from an event that a subject is outside of all other geofences.
  package mutating func restore(_ word: PublishedState.RegionRecord, at instant: Timestamp) {
    guard count > 0, word.state == .outside else { return }
    if tracks.place(of: word.subject) == nil {
      guard tracks.count < limit else { return }
      var track = GeofenceTrack(word.subject, at: instant)
      track.isStale = true
      arm(tracks.insert(track))
    }
    guard let place = tracks.place(of: word.subject) else { return }
    tracks[place].statedAt = max(tracks[place].statedAt ?? .distantPast, word.decidedAt)
  }

  /// Restores a state from an event that is newer than everything else known of the row.
  package mutating func restore(
    _ word: PublishedState.RegionRecord,
    _ region: Int,
    _ entry: BeaconRegions.Entry,
    at instant: Timestamp
  ) {
    guard let fence = fences[region], fence.isAboutBeacons == word.subject.isBeacon else { return }
    if tracks.place(of: word.subject) == nil {
      guard word.state != .outside, tracks.count < limit else { return }
      _ = tracks.insert(GeofenceTrack(word.subject, at: instant))
    }
    guard let place = tracks.place(of: word.subject) else { return }
    tracks[place].rows.removeAll { $0.fence == region }
    guard word.state != .outside else { return }
    var row = GeofenceRow(
      fence: region,
      machine: RegionMachine(assuming: .unknown, since: .distantPast),
      counter: UInt64(clamping: instant.nanoseconds)
    )
    row.isPublished = true
    word.restore(&row.machine)
    if word.state == .unmonitored, word.subject.isBeacon {
      row.holdDeadline = instant + entry.region.maximumHold
    }
    tracks[place].isStale =
      word.state == .unmonitored && tracks[place].rows.allSatisfy { $0.state == .unmonitored }
    let index = tracks[place].rows.firstIndex { $0.fence > region } ?? tracks[place].rows.count
    tracks[place].rows.insert(row, at: index)
    arm(place)
  }
}

/// The state of a subject towards a geofence.
package struct GeofenceStanding: Sendable {
  /// The application.
  package let application: String
  /// The region's identifier.
  package let region: String
  /// The subject.
  package let subject: SubjectID
  /// The state.
  package let state: RegionState
  /// The start of the visit.
  package let enteredAt: Timestamp?
}
