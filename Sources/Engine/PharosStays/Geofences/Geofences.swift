// How a subject enters and leaves geofences. For each fix of a subject:
//
// 1. The track of the subject averages its fixes to a point with a variance. A new floor counts once fixes have shown it for
//    some time; while they disagree, the floor is not known.
// 2. The index finds the geofences near that point, near the fix and along the way from the last one. Those for which the
//    subject has a row, and those that hold one of these, are added. They are judged from the smallest to the largest.
// 3. The belief is the probability that the point lies in the area, given the variance; 0 on another floor. Above the enter
//    probability the geofence wants `inside`, below the exit probability `outside`, between them nothing.
// 4. What is wanted must last for the dwell, and be seen by a fix as fine as the area or by several coarse ones. Then the
//    region machine of the row changes and the events follow. A subject inside a geofence is inside all that hold it.
// 5. A small area between two fixes is entered and left at once if the straight way leads through it.
//
// Without fixes the subject becomes stale: what it is in becomes unmonitored, which is no exit.

package import PharosDocuments
import PharosFixes
package import PharosModel
import PharosSpace

/// The geofences of all applications, and the subjects that are located.
///
/// Each fix of a subject is judged against the geofences around it alone. A subject has a row for a geofence while it is in it
/// or may be; without a row it is outside. So memory is linear in the subjects and the geofences, not in their product.
///
/// What is decided depends on the fixes of the subject, in their order, and on the changes of the regions.
package struct Geofences: Sendable {
  /// One geofence, prepared.
  private struct Fence: Sendable {
    let application: String
    let area: GeofenceArea
    let isAboutBeacons: Bool
    /// The places of the geofences of the same application that it lies within.
    var parents: [Int] = []
  }

  private let stream: String
  private let limit: Int
  /// The geofences, by the places of their regions; nil for other regions.
  private var fences: [Fence?] = []
  private var count = 0
  private var index = GeofenceIndex()
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
  /// The factor to a geofence's radius above which a fix is too coarse to say that a subject may be within.
  private static let coarsest = 4.0
  /// The number of fixes, and the factor to the dwell, by which fixes that are all coarser than the geofence decide.
  private static let coarse = (fixes: 3, dwells: 3.0)

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
          Fence(
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
        area.building == nil || area.building == geofence.building, other.area.contains(own.area)
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
    let isEstablished = tracks[place].decidedAt
    let isKnown = before != nil
    tracks[place].add(fix)
    var rows: [GeofenceRow] = []
    swap(&rows, &tracks[place].rows)
    found.removeAll(keepingCapacity: true)
    let deviation = tracks[place].variance.squareRoot()
    var box = MapBox(around: tracks[place].point, reach: Geofences.reach * deviation / fix.scale)
    box.add(MapBox(around: fix.point, reach: 0))
    if let before, fix.time - before.time <= Passage.maximumTime {
      box.add(MapBox(around: before.point, reach: 0))
    }
    index.search(box, into: &found)
    for row in rows where !found.contains(Int32(row.fence)) { found.append(Int32(row.fence)) }
    // Those that a rotation puts above these may lie elsewhere.
    var next = 0
    while next < found.count {
      for parent in fences[Int(found[next])]?.parents ?? [] where !found.contains(Int32(parent)) {
        found.append(Int32(parent))
      }
      next += 1
    }
    let candidates = found.map(Int.init).sorted { isLarger($1, than: $0) }
    var held: Set<Int> = []
    for candidate in candidates {
      guard let fence = fences[candidate], fence.isAboutBeacons == fix.subject.isBeacon,
        let entry = regions.entries[candidate], let geofence = entry.region.geofence
      else { continue }
      let start = isKnown && isEstablished >= entry.since ? RegionState.outside : entry.assuming
      judge(
        fix,
        before,
        tracks[place],
        candidate,
        fence,
        entry,
        geofence,
        startingFrom: start,
        &rows,
        &held,
        into: &events
      )
    }
    swap(&rows, &tracks[place].rows)
    arm(place)
  }

  private func judge(
    _ fix: LocatedPosition,
    _ before: TrackedPosition?,
    _ track: borrowing GeofenceTrack,
    _ place: Int,
    _ fence: Fence,
    _ entry: BeaconRegions.Entry,
    _ geofence: Geofence,
    startingFrom start: RegionState,
    _ rows: inout [GeofenceRow],
    _ held: inout Set<Int>,
    into events: inout [Event]
  ) {
    let deviation = track.variance.squareRoot()
    let point = fence.area.plane.point(of: track.point)
    let isOnFloor = track.isOnFloor(of: geofence)
    let belief = isOnFloor == false ? 0 : fence.area.belief(around: point, deviation: deviation)
    let isHeld = held.contains(place)
    let policy = geofence.policy
    let decision = Decision(entry: entry, subject: fix.subject, decidedAt: fix.decidedAt)
    func basis(dwell: TimeSpan = .zero, fixes: Int = 1) -> GeofenceBasis {
      GeofenceBasis(
        probability: belief,
        edgeDistance: fence.area.edgeDistance(of: point),
        accuracy: deviation * GeofenceArea.deviationsWithin68,
        dwell: dwell,
        fixes: fixes
      )
    }
    var number = rows.firstIndex { $0.fence == place }
    if number == nil {
      guard let isOnFloor, isOnFloor || isHeld else { return }
      if belief < policy.exitProbability, !isHeld {
        let passage = before.flatMap { Passage(from: $0, to: fix, through: fence.area) }
        guard start != .inside, let passage else { return }
        var row = GeofenceRow(
          fence: place,
          machine: RegionMachine(assuming: .outside, since: fix.time),
          counter: UInt64(bitPattern: fix.decidedAt.nanoseconds)
        )
        pass(passage, &row, decision, basis(), into: &events)
        return held.formUnion(fence.parents)
      }
      let coarsest = Geofences.coarsest * fence.area.radius
      guard isHeld || deviation * GeofenceArea.deviationsWithin68 <= coarsest else { return }
      let index = rows.firstIndex { $0.fence > place } ?? rows.count
      var row = GeofenceRow(
        fence: place,
        machine: RegionMachine(assuming: start, since: fix.time),
        counter: UInt64(bitPattern: fix.decidedAt.nanoseconds)
      )
      row.approach = before
      rows.insert(row, at: index)
      number = index
    }
    guard let number else { return }
    defer {
      if number < rows.count, rows[number].fence == place, rows[number].state == .inside {
        held.formUnion(fence.parents)
      }
    }
    if isHeld, rows[number].state != .inside {
      rows[number].run = nil
      var evidence = Evidence(rule: .nested)
      evidence.geofence = basis()
      return change(&rows[number], to: .inside, at: fix.time, evidence, decision, into: &events)
    }
    guard isOnFloor != nil else {
      rows[number].run = nil
      return
    }
    let wanted: RegionState? =
      belief > policy.enterProbability ? .inside : belief < policy.exitProbability ? .outside : nil
    guard let wanted, wanted != rows[number].state else {
      rows[number].run = nil
      guard belief < policy.exitProbability, rows[number].isNeedless(at: fix.time) else { return }
      var row = rows.remove(at: number)
      if let passage = row.approach.flatMap({ Passage(from: $0, to: fix, through: fence.area) }) {
        pass(passage, &row, decision, basis(), into: &events)
        held.formUnion(fence.parents)
      }
      return
    }
    let isFine = isOnFloor == false || fix.deviation * GeofenceArea.deviationsWithin68 <= fence.area.radius
    let former = rows[number].run.flatMap { $0.state == wanted ? $0 : nil }
    var run = former ?? GeofenceRow.Run(state: wanted, since: fix.time, fixes: 0, isFine: false)
    run.fixes += 1
    run.isFine = run.isFine || isFine
    rows[number].run = run
    guard !isHeld else { return }
    let dwell = wanted == .inside ? policy.enterDwell : policy.exitDwell
    let lasted = fix.time - run.since
    guard lasted >= dwell,
      run.isFine || run.fixes >= Geofences.coarse.fixes && lasted >= dwell * Geofences.coarse.dwells
    else { return }
    rows[number].run = nil
    var evidence = Evidence(rule: .position)
    evidence.window = dwell
    evidence.threshold = wanted == .inside ? policy.enterProbability : policy.exitProbability
    evidence.geofence = basis(dwell: lasted, fixes: run.fixes)
    change(&rows[number], to: wanted, at: fix.time, evidence, decision, into: &events)
    if rows[number].isNeedless(at: fix.time) { rows.remove(at: number) }
  }

  /// Publishes an enter and an exit of a subject that passed through between two fixes.
  private func pass(
    _ passage: Passage,
    _ row: inout GeofenceRow,
    _ decision: Decision,
    _ basis: GeofenceBasis,
    into events: inout [Event]
  ) {
    var evidence = Evidence(rule: .crossing)
    evidence.geofence = basis
    evidence.geofence?.probability = passage.probability
    evidence.geofence?.dwell = passage.left - passage.entered
    evidence.geofence?.fixes = 2
    change(&row, to: .inside, at: passage.entered, evidence, decision, into: &events)
    change(&row, to: .outside, at: passage.left, evidence, decision, into: &events)
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
    _ decision: Decision,
    into events: inout [Event]
  ) {
    guard let change = row.machine.change(to: state, at: time) else { return }
    row.holdDeadline =
      state == .unmonitored && decision.subject.isBeacon
      ? decision.decidedAt + decision.entry.region.maximumHold : .distantFuture
    row.counter += 1
    let transition = RegionTransition(change, evidence: evidence)
    for kind in [.regionState, change.announcement(for: decision.entry.region)].compactMap(\.self) {
      events.append(event(kind, decision, at: change.time, row.counter, transition))
    }
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
    rows.removeAll { $0.state != .inside && $0.state != .unmonitored }
    for index in rows.indices {
      guard let entry = regions.entries[rows[index].fence] else { continue }
      let decision = Decision(entry: entry, subject: tracks[place].subject, decidedAt: instant)
      change(&rows[index], to: .unmonitored, at: instant, evidence, decision, into: &events)
    }
    swap(&rows, &tracks[place].rows)
    if tracks[place].rows.isEmpty { tracks.remove(place) } else { arm(place) }
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
    guard let fence = fences[region], fence.isAboutBeacons == subject.isBeacon else { return }
    var (state, enteredAt) = (entry.assuming, Timestamp?.none)
    var counter = UInt64(bitPattern: instant.nanoseconds)
    if let place = tracks.place(of: subject) {
      if let row = tracks[place].rows.firstIndex(where: { $0.fence == region }) {
        tracks[place].rows[row].counter += 1
        counter = tracks[place].rows[row].counter
        (state, enteredAt) = (tracks[place].rows[row].state, tracks[place].rows[row].machine.enteredAt)
      } else if tracks[place].decidedAt >= entry.since {
        state = tracks[place].isStale ? .unmonitored : .outside
      }
    }
    let transition = RegionTransition(answering: state, enteredAt: enteredAt, rule: .requested)
    events.append(entry.event(.regionState, subject, at: instant, instant, counter, transition, in: stream))
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

  /// Restores a state from an event that is newer than everything else known of the row.
  package mutating func restore(
    _ word: PublishedState.RegionRecord,
    _ region: Int,
    _ entry: BeaconRegions.Entry,
    at instant: Timestamp
  ) {
    guard let fence = fences[region], fence.isAboutBeacons == word.subject.isBeacon else { return }
    if tracks.place(of: word.subject) == nil {
      guard word.state == .inside || word.state == .unmonitored, tracks.count < limit else {
        return
      }
      _ = tracks.insert(GeofenceTrack(word.subject, at: instant))
    }
    guard let place = tracks.place(of: word.subject) else { return }
    tracks[place].rows.removeAll { $0.fence == region }
    guard word.state == .inside || word.state == .unmonitored else { return }
    var row = GeofenceRow(
      fence: region,
      machine: RegionMachine(assuming: .unknown, since: .distantPast),
      counter: UInt64(clamping: instant.nanoseconds)
    )
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

/// The passage of a subject through a geofence between two fixes that both lie outside.
private struct Passage {
  /// The time at which it entered.
  let entered: Timestamp
  /// The time at which it left.
  let left: Timestamp
  /// The probability that its way led through the geofence rather than past it.
  let probability: Double

  /// The longest time between two fixes that a straight way is drawn between.
  static let maximumTime = TimeSpan.seconds(10)
  /// The greatest speed of a subject on its feet or wheels.
  ///
  /// - Units: m/s.
  private static let fastest = 5.0
  /// The probability of being within below which a fix lies outside.
  private static let outside = 0.1
  /// Deviations to the side up to which the way may be moved, with the share of ways between them.
  private static let sides = [(1.645, 0.9), (1.96, 0.95), (2.576, 0.99)]

  /// Draws the way between two fixes; nil if it may have led past the geofence, or the fixes are no two points of one way.
  init?(from start: TrackedPosition, to fix: LocatedPosition, through area: GeofenceArea) {
    let end = TrackedPosition(fix)
    let span = end.time - start.time
    guard span > .zero, span <= Passage.maximumTime, start.source == end.source else { return nil }
    let way = Segment(from: area.plane.point(of: start.point), to: area.plane.point(of: end.point))
    let deviation = max(start.deviation, end.deviation)
    guard way.length >= 2 * deviation * GeofenceArea.deviationsWithin68,
      way.length <= Passage.fastest * span.seconds, let shares = area.passage(of: way),
      let along = (way.end - way.start).direction
    else { return nil }
    let aside = Point(x: -along.y, y: along.x)
    var share: Double?
    for (deviations, probability) in Passage.sides {
      let isThrough = [-1.0, 1].allSatisfy { side in
        let move = aside * (side * deviations * deviation)
        return area.passage(of: Segment(from: way.start + move, to: way.end + move)) != nil
      }
      guard isThrough else { break }
      share = probability
    }
    guard let share, area.probability(around: way.start, deviation: start.deviation) < Passage.outside,
      area.probability(around: way.end, deviation: end.deviation) < Passage.outside
    else { return nil }
    entered = start.time + span * shares.lowerBound
    left = start.time + span * shares.upperBound
    probability = share
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
