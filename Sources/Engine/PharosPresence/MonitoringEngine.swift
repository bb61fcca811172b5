package import PharosModel

/// Stage one: which observer hears which beacon, what that says about regions, and how near the beacon is.
///
/// One value is one shard's engine. It holds the observers, each of which is an `ObserverEngine`, and routes reports, timers and
/// changes to them. Everything is kept for each observer apart, so that any spread of observers over engines gives the same
/// events. Time is an input: see <doc:TimeAndOrder>.
package struct MonitoringEngine: Sendable {
  /// The times that an engine counts with, from the year 1823 to 2116, so that no deadline overflows.
  static let times = Timestamp(nanoseconds: -(1 << 62))...Timestamp(nanoseconds: 1 << 62)
  /// The number of observers for which room is reserved from the beginning: addresses, not memory.
  private static let reserved = 16_384

  /// The counters since the start.
  package var counters: MonitoringCounters { context.counters }

  var context: EngineContext
  package var observerEngines: [ObserverEngine] = []
  private var observerTable = IdentityTable()
  private var freeObservers: [Int32] = []
  /// The places of the observers of each cell, in the order in which they came.
  var cells: [[Int32]]
  /// Observers that were accepted although the site does not list them.
  var accepted: Set<ObserverID> = []
  var quarantined = QuarantineTable()
  /// The site that the engine was made with, where a state with one of its own was read into it.
  var awaitedSite: Site?
  /// The receive time of the latest input.
  var latest = Timestamp.distantPast
  /// The changes that some observers have not caught up with, in their order.
  var pendingChanges: [PendingRegionChange] = []
  /// The cost of one slice of catching up.
  package var sliceCost = MonitoringEngine.sliceCost
  /// The number of observers that have not caught up, and the place where the next slice begins.
  var behind = 0
  var nextBehind = 0
  /// The places of a batch's observers, as far as they have been looked up.
  var placesOfBatch: [Int32] = []
  private var window: [PreparedAdvert] = []
  private var lastObserver: (id: ObserverID, index: Int)?

  /// Makes an engine for a site whose applications were checked.
  ///
  /// - Parameters:
  ///   - site: the site as declared.
  ///   - limits: the memory limits.
  ///   - sensing: the facts about the venues in which handsets and tags are located; nil if there are none.
  package init(
    site: Site,
    limits: MonitoringLimits = .init(),
    sensing: SensingScope? = nil
  ) {
    context = EngineContext(site: site, limits: limits, sensing: sensing)
    cells = Array(repeating: [], count: limits.cells)
    for application in site.applications {
      context.catalog.regionLimits[application.identifier] = application.regionLimit
      for region in application.regions {
        _ = context.catalog.add(region, application: application.identifier, since: .distantPast)
      }
      context.catalog.add(nodes: application.rotation, of: application.identifier, since: .distantPast)
      for request in application.ranging { context.catalog.add(request, application: application.identifier) }
    }
  }

  // MARK: Inputs

  /// Handles one report, after everything that was due before it was received.
  package mutating func ingest(
    _ report: Report,
    in batch: borrowing ReportBatch,
    into output: inout StageOutput
  ) {
    swap(&context.output, &output)
    defer { swap(&context.output, &output) }
    ingest(report, in: batch)
  }

  /// Handles the reports of a batch in their order, each after everything that was due before it was received.
  ///
  /// The same as ``ingest(_:in:into:)`` for one after the other, and much faster.
  package mutating func ingest(_ batch: borrowing ReportBatch, into output: inout StageOutput) {
    swap(&context.output, &output)
    defer { swap(&context.output, &output) }
    if behind > 0 { _ = catchUpSlice(sliceCost) }
    let reports = batch.entries
    let evictions = context.counters.observerEvictions
    var prepared: [PreparedAdvert] = []
    swap(&prepared, &window)
    if prepared.isEmpty { prepared = Array(repeating: PreparedAdvert(), count: PreparedAdvert.window) }
    placesOfBatch.removeAll(keepingCapacity: true)
    for _ in batch.observers { placesOfBatch.append(-1) }
    var start = 0
    while start < reports.count {
      let span = reports.span.extracting(start..<min(start + PreparedAdvert.window, reports.count))
      prepared.withUnsafeMutableBufferPointer { buffer in
        guard let first = buffer.baseAddress else { return }
        prepare(span, in: batch, first)
        var next = 0
        while next < span.count {
          // After an eviction a place may have gone to another observer.
          if context.counters.observerEvictions == evictions, receive(span, first, &next) { continue }
          let handsets = context.handsets
          ingest(batch.reports[start + next], in: batch)
          next += 1
          // The reports to come were prepared before their observer was known for a handset.
          if context.handsets != handsets { for rest in next..<span.count { first[rest].path = .general } }
        }
      }
      start += span.count
    }
    swap(&prepared, &window)
  }

  /// Hears reports of one observer after the other by the usual path.
  ///
  /// - Returns: true if any was heard.
  private mutating func receive(
    _ reports: Span<ReportEntry>,
    _ prepared: UnsafePointer<PreparedAdvert>,
    _ next: inout Int
  ) -> Bool {
    let first = next
    guard prepared[first].path != .general, prepared[first].received >= latest else { return false }
    if prepared[first].received > context.timers.soonest {
      fire(through: prepared[first].received - .oneNanosecond)
    }
    var counts = RunCounts()
    while next < reports.count, prepared[next].path != .general {
      let before = next
      observerEngines[Int(prepared[next].observer)]
        .receive(prepared, count: reports.count, &next, reports, latest: &latest, &counts, &context)
      if next == before { break }
    }
    context.counters.add(counts)
    return next > first
  }

  private mutating func ingest(_ report: Report, in batch: borrowing ReportBatch) {
    let received = arrive(at: report.received)
    context.counters.reports += 1
    guard let index = observerIndex(of: batch.observers[Int(report.observer)], report) else { return }
    if isBehind(index) { catchUp(index, before: received) }
    observerEngines[index].handle(report, in: batch, &context)
    let cell = observerEngines[index].cell(context)
    if context.tracksOfCell[cell] > context.limits.tracksPerCell { makeRoom(inCell: cell) }
  }

  /// Fires everything that is due at or before the watermark, and finishes what changes of the regions have begun.
  ///
  /// The caller promises that every input received at or before it has been given. Calling more or less often changes when
  /// events appear, never which ones.
  package mutating func advance(to watermark: Timestamp, into output: inout StageOutput) {
    swap(&context.output, &output)
    defer { swap(&context.output, &output) }
    catchUpAll()
    pass(watermark)
  }

  /// Fires everything that is due at or before the watermark, and goes on with what changes of the regions have begun for
  /// about a quarter of a millisecond.
  ///
  /// The events and their order are the same as with ``advance(to:into:)``.
  ///
  /// - Returns: the time up to which the output is final: the watermark, or the instant before a change that is not
  ///   finished.
  package mutating func advance(toward watermark: Timestamp, into output: inout StageOutput) -> Timestamp {
    swap(&context.output, &output)
    defer { swap(&context.output, &output) }
    pass(watermark)
    guard let first = pendingChanges.first else { return watermark }
    let isDone = catchUpSlice(sliceCost)
    // What was due in between for those who have caught up.
    pass(watermark)
    return isDone ? watermark : min(watermark, first.instant - .oneNanosecond)
  }

  /// Finishes what changes of the regions have begun, and fires what is due before the latest input, without letting time run on:
  /// what ``writeState(to:)`` needs.
  ///
  /// A change that was finished late, and a part of a state that was older than another, may leave timers that are due before it.
  package mutating func finishChanges(into output: inout StageOutput) {
    swap(&context.output, &output)
    defer { swap(&context.output, &output) }
    catchUpAll()
    fire(through: latest - .oneNanosecond)
  }

  /// Handles a change that the site has accepted, after everything that was due before it was received.
  ///
  /// Observers that it concerns catch up with it when they are heard, or with ``advance(to:into:)``.
  package mutating func apply(_ change: RegionChange, at received: Timestamp, into output: inout StageOutput)
  {
    swap(&context.output, &output)
    defer { swap(&context.output, &output) }
    _ = arrive(at: received)
    perform(change)
  }

  // MARK: Time

  /// Lets time run on to an input: fires what was due before it.
  ///
  /// - Returns: the time at which it is handled, which is no earlier than that of the input before.
  mutating func arrive(at received: Timestamp) -> Timestamp {
    let received = clamped(received)
    run(upTo: received)
    return received
  }

  /// Fires what was due before an instant, at which everything happens from then on.
  mutating func run(upTo instant: Timestamp) {
    fire(through: instant - .oneNanosecond)
    context.current = instant
  }

  /// Moves an input that goes back to where the engine is, and one out of range to the end of the range.
  private mutating func clamped(_ received: Timestamp) -> Timestamp {
    let received = min(max(received, MonitoringEngine.times.lowerBound), MonitoringEngine.times.upperBound)
    guard received < latest else {
      latest = received
      return received
    }
    context.counters.backwards += 1
    return latest
  }

  /// Fires what is due up to an instant, behind which no input goes back from then on.
  private mutating func pass(_ instant: Timestamp) {
    let instant = min(instant, MonitoringEngine.times.upperBound)
    fire(through: instant)
    latest = max(latest, instant)
  }

  /// Fires what is due at or before a time, in order.
  private mutating func fire(through limit: Timestamp) {
    context.present = limit
    while let entry = context.timers.next(through: limit) {
      if context.timers.drainNews() { prefetchNear() }
      let index = Int(entry.observer)
      guard observerEngines[index].isLive else { continue }
      if isBehind(index), !observerEngines[index].mayFire(entry, context) {
        // What a change sets for it may be due before this.
        catchUp(index)
        context.timers.set(entry)
        continue
      }
      context.current = entry.due
      observerEngines[index].fire(entry.target, at: entry.due, &context)
    }
  }

  /// Asks the processor for what the timers at hand will look at.
  private func prefetchNear() {
    for entry in context.timers.near {
      if case .page(let page) = entry.target {
        observerEngines[Int(entry.observer)].tracks.prefetch(page: Int(page))
      }
    }
  }

  // MARK: Observers

  /// The place of an observer that has been heard, or nil.
  func place(of id: ObserverID) -> Int? {
    observerTable.find(context.hash(id)) { observerEngines[$0].id == id }
  }

  /// The places of all observers in use, in the order of their identities.
  var placesInOrder: [Int] {
    observerEngines.indices.filter { observerEngines[$0].isLive }.sorted {
      observerEngines[$0].id < observerEngines[$1].id
    }
  }

  private mutating func observerIndex(of id: ObserverID, _ report: Report) -> Int? {
    if let last = lastObserver, last.id == id { return last.index }
    let found = place(of: id)
    guard found != nil || isAdmitted(id) else {
      quarantine(id)
      return nil
    }
    let index = found ?? makeObserver(id, for: report)
    lastObserver = (id, index)
    return index
  }

  private mutating func makeObserver(_ id: ObserverID, for report: Report) -> Int {
    let cell = id.cell % context.limits.cells
    if cells[cell].count >= context.limits.observersPerCell { evictObservers(of: cell) }
    var time = context.current
    if case .age(let age) = report.timing { time = context.current - max(.zero, age) }
    let index = add(
      ObserverEngine(id: id, entry: context.entries[id], received: context.current, time: time)
    )
    observerEngines[index].begin(at: time, &context)
    return index
  }

  /// Gives an observer a place.
  mutating func add(_ new: ObserverEngine) -> Int {
    let index = freeObservers.popLast().map { Int($0) } ?? observerEngines.count
    var observer = new
    observer.place = Int32(index)
    observer.version = context.catalog.version
    observer.standsInZone = context.catalog.standsInZone(observer.id)
    observerTable.insert(context.hash(observer.id), place: index)
    let cell = observer.cell(context)
    cells[cell].append(Int32(index))
    context.tracksOfCell[cell] += observer.table.count
    context.counters.observers += 1
    context.counters.tracks += UInt64(observer.table.count)
    if index < observerEngines.count {
      observerEngines[index] = observer
    } else {
      if index == 0 {
        observerEngines.reserveCapacity(min(context.limits.observers, MonitoringEngine.reserved))
      }
      observerEngines.append(observer)
    }
    return index
  }

  /// Removes an observer; its regions become unmonitored, which is no exit.
  ///
  /// The caller takes it out of its cell.
  mutating func remove(_ index: Int) {
    if isBehind(index) { catchUp(index) }
    lastObserver = nil
    // A place may go to an observer about which the answers differ.
    context.untracked.removeAll()
    let count = observerEngines[index].table.count
    context.counters.observers -= 1
    context.counters.tracks -= UInt64(count)
    context.tracksOfCell[observerEngines[index].cell(context)] -= count
    observerEngines[index].suspend(at: context.current, rule: .eviction, &context)
    observerTable.remove(context.hash(observerEngines[index].id), place: index)
    observerEngines[index].removeAll()
    freeObservers.append(Int32(index))
  }

  // MARK: Limits

  /// The time for which an observer must have been heard to count as established: names that are made up one after the
  /// other never are.
  private static let establishment = TimeSpan.minutes(1)
  /// The time for which an established observer may be silent before it is evicted like any other.
  private static let staleness = TimeSpan.minutes(10)

  /// Removes the oldest tracks of the observer with the most tracks in a full cell.
  private mutating func makeRoom(inCell cell: Int) {
    let maximum = cells[cell].max {
      let (left, right) = (observerEngines[Int($0)], observerEngines[Int($1)])
      return left.table.count == right.table.count ? left.id < right.id : left.table.count < right.table.count
    }
    guard let maximum else { return }
    if isBehind(Int(maximum)) { catchUp(Int(maximum)) }
    observerEngines[Int(maximum)].evictTracks(&context)
  }

  /// Removes a sixteenth of a cell's observers, so that a flood of names costs little each.
  ///
  /// The oldest are evicted, first those that are not established. The tracks of other cells do not count, since they
  /// may be in another engine.
  private mutating func evictObservers(of cell: Int) {
    let all = cells[cell].map { place in
      let index = Int(place)
      let (first, last) = (observerEngines[index].firstHeard, observerEngines[index].lastReceived)
      let isEstablished =
        last - first >= MonitoringEngine.establishment && context.current - last <= MonitoringEngine.staleness
      return (isKept: isEstablished, time: last, id: observerEngines[index].id, index: index)
    }
    let ordered = all.sorted { left, right in
      if left.isKept != right.isKept { return right.isKept }
      return (left.time, left.id) < (right.time, right.id)
    }
    for observer in ordered.prefix(max(1, context.limits.observersPerCell / 16)) {
      context.counters.observerEvictions += 1
      remove(observer.index)
    }
    removeFromCell(cell)
  }

  /// Takes observers that were removed out of their cell.
  private mutating func removeFromCell(_ cell: Int) {
    cells[cell].removeAll { !observerEngines[Int($0)].isLive }
  }

  // MARK: Admission

  /// The observers that are heard and do not count, as far as they are kept, in the order of their identities.
  package func quarantine() -> [QuarantinedObserver] { quarantined.observers }

  /// Returns true if an observer's reports count.
  func isAdmitted(_ id: ObserverID) -> Bool {
    context.site.admission == .open || context.entries[id] != nil || accepted.contains(id)
  }

  /// Counts a report of an observer that is not admitted; the first one is published.
  private mutating func quarantine(_ id: ObserverID) {
    context.counters.quarantined += 1
    guard quarantined.record(id, at: context.current) else { return }
    context.output.events.append(
      Event(
        stream: context.stream,
        kind: .observerQuarantined,
        time: context.current,
        decidedAt: context.current,
        stage: 1,
        subject: .observer(id),
        counter: UInt64(bitPattern: context.current.nanoseconds),
        detail: .observer(ObserverTransition())
      )
    )
  }

  /// An observer's reports count from now on.
  mutating func accept(_ id: ObserverID) {
    accepted.insert(id)
    quarantined.remove(id)
  }

  /// Removes observers that are no longer admitted.
  mutating func removeUnadmitted() {
    guard context.site.admission == .listed else {
      quarantined.removeAll { _ in true }
      return
    }
    quarantined.removeAll { context.entries[$0] != nil }
    for index in observerEngines.indices
    where observerEngines[index].isLive && !isAdmitted(observerEngines[index].id) {
      remove(index)
      if observerEngines[index].isUp {
        observerEngines[index].report(isUp: false, at: context.current, &context)
      }
    }
    for cell in cells.indices { removeFromCell(cell) }
  }

  // MARK: Forgetting

  /// Removes all that is known of a subject, as if it had never been heard.
  ///
  /// Regions that it was inside become unmonitored, which is no exit. Stage two removes its own data: of this output it
  /// gets only that an observer is gone, since a link about a forgotten beacon would make it known again.
  mutating func forget(_ traces: SubjectTraces) {
    catchUpAll()
    let links = context.output.links
    context.output.links = []
    if let id = traces.observer {
      accepted.remove(id)
      quarantined.remove(id)
      if let index = place(of: id) {
        remove(index)
        if observerEngines[index].isUp {
          observerEngines[index].report(isUp: false, at: context.current, &context)
        }
        removeFromCell(id.cell % context.limits.cells)
      }
    }
    if traces.beacon != nil {
      context.modes.remove(where: traces.contains)
      for index in observerEngines.indices where observerEngines[index].isLive {
        observerEngines[index].forget(traces, &context)
      }
    }
    let new = context.output.links
    context.output.links = links
    for link in new { if case .observer = link { context.output.links.append(link) } }
  }

  // MARK: Views

  /// Returns the status of every observer, in the order of their identities.
  package func observers() -> [ObserverStatus] { placesInOrder.map { observerEngines[$0].status } }

  /// Returns the state of every observer in every region that it has met, in the order of (observer, application,
  /// region).
  package func standings() -> [RegionStanding] {
    placesInOrder.flatMap { place in
      observerEngines[place].rows.filter {
        $0.isLive && $0.isActive && context.catalog.slots[Int($0.slot)].isLive
      }
      .map { row in
        let slot = context.catalog.slots[Int(row.slot)]
        return RegionStanding(
          application: slot.application,
          region: slot.region.identifier,
          observer: observerEngines[place].id,
          state: row.state,
          enteredAt: row.machine.enteredAt
        )
      }
      .sorted { ($0.application, $0.region) < ($1.application, $1.region) }
    }
  }

  /// Returns the insight into a beacon at an observer; nil if the observer is unknown or has no track of the beacon.
  package func insight(observer: ObserverID, beacon: BeaconID) -> TrackInsight? {
    guard let index = place(of: observer), let track = observerEngines[index].track(of: beacon, context)
    else { return nil }
    var observer = observerEngines[index]
    var context = context
    return observer.insight(into: track, &context)
  }

  /// Returns the insights into tracks, in the order of their keys, a page at a time.
  ///
  /// It takes time in proportion to the tracks of the observers that it passes.
  package func tracks(_ query: TrackQuery) -> [TrackInsight] {
    var found: [TrackInsight] = []
    for index in places(of: query) {
      let after = query.after.flatMap { $0.observer == observerEngines[index].id ? $0.beacon : nil }
      var observer = observerEngines[index]
      var context = context
      for place in observer.places(
        query.beacon,
        after: after,
        limit: query.limit - found.count,
        context
      ) {
        found.append(observer.insight(into: place, &context))
      }
      if found.count >= query.limit { break }
    }
    return found
  }

  /// The places of the observers that a query is about, in order.
  private func places(of query: TrackQuery) -> [Int] {
    if let wanted = query.observer {
      guard query.after.map({ $0.observer <= wanted }) ?? true else { return [] }
      return place(of: wanted).map { [$0] } ?? []
    }
    guard let first = query.after?.observer else { return placesInOrder }
    return placesInOrder.filter { first <= observerEngines[$0].id }
  }
}

extension ObserverEngine {
  /// Removes all that is kept, as the observer itself is removed.
  fileprivate mutating func removeAll() {
    isLive = false
    tracks.removeAll()
    table = TrackTable()
    freeTracks = []
    scopes = 0
    families = [:]
    trackOfAddress = [:]
    rows = []
    deadRows = 0
    rowOfSlot = [:]
    listed = []
  }

  /// Removes a beacon's tracks, and which addresses it had.
  fileprivate mutating func forget(_ traces: SubjectTraces, _ context: inout EngineContext) {
    for place in 0..<tracks.count where tracks[place].isLive {
      guard traces.contains(tracks[place].beacon(context.catalog.scopes)) else { continue }
      abandon(place, rule: .eviction, &context)
      unlist(place)
      removeTrack(place, &context)
    }
    for beacon in batteryReported.keys where traces.contains(beacon) { batteryReported[beacon] = nil }
    guard let beacon = traces.beacon, beacon.kind == .address, let address = beacon.address else { return }
    trackOfAddress[address.bits] = nil
  }

  /// Returns the insight into a track.
  fileprivate mutating func insight(into place: Int, _ context: inout EngineContext) -> TrackInsight {
    let track = tracks[place]
    let losses = track.losses
    let level = track.level
    func span(_ seconds: Float) -> TimeSpan? { seconds > 0 ? .seconds(Double(seconds)) : nil }
    return TrackInsight(
      observer: id,
      beacon: track.beacon(context.catalog.scopes),
      lastHeard: track.hot.lastHeard,
      samples: Int(track.samples),
      level: level,
      levelDeviation: level.map { _ in track.variance.squareRoot() },
      interval: span(track.hot.interval),
      slowestInterval: span(track.slowestInterval),
      declaredInterval: track.declaredInterval.flatMap(span),
      receptionShare: losses.received > 0 ? losses.share : nil,
      lossRun: losses.received > 0 ? losses.meanRun : nil,
      silenceIsEvidence: silenceIsEvidence,
      silenceFrom: silenceFrom,
      regions: regions(of: track, &context)
    )
  }

  /// Returns the insight into each live region that matches a track.
  private mutating func regions(of track: TrackHandle, _ context: inout EngineContext) -> [RegionInsight] {
    let set = context.catalog.sets[Int(track.cold.matchSet)]
    var regions: [RegionInsight] = []
    for client in (set.regions + set.beaconRegions).sorted(by: { $0.slot < $1.slot }) {
      let slot = context.catalog.slots[Int(client.slot)]
      guard slot.isLive else { continue }
      let presence = track.presence(Int(client.place))
      let allowed = presence.allowed == .forever ? nil : presence.allowed * stretch
      let deadline = deadline(of: track, presence, &context)
      let silentSince = max(track.hot.lastHeard, silenceFrom)
      regions.append(
        RegionInsight(
          application: slot.application,
          region: slot.region.identifier,
          isAboutBeacons: slot.region.subject != .observer,
          rules: context.catalog.policies[Int(presence.policy)],
          state: !presence.isHere ? .outside : presence.isConfirmed ? .inside : .unmonitored,
          since: presence.since,
          allowedGap: allowed,
          silenceDeadline: deadline == nil ? nil : allowed.map { silentSince + $0 },
          levelDeadline: deadline.flatMap { $0.isLevel ? $0.time : nil },
          isWaitingForProof: presence.isWaiting,
          enterLevel: presence.enterLevel.isFinite ? Double(presence.enterLevel) : nil,
          exitLevel: presence.exitLevel.isFinite ? Double(presence.exitLevel) : nil,
          entry: presence.isHere ? nil : entry(of: track, context.catalog.policies[Int(presence.policy)])
        )
      )
    }
    return regions
  }

  private func entry(of track: TrackHandle, _ rules: PresencePolicy) -> EntryProgress {
    let heard = track.cold.box?.extras.sparse.heard ?? (samples: 1, span: 0)
    let learned = rules.enterWithin == nil ? silence(of: track).enterWindow : .zero
    return EntryProgress(
      heard: heard.samples,
      span: .seconds(Double(heard.span)),
      needed: max(1, rules.enterSamples),
      window: rules.enterWithin ?? AdaptiveSilence.enterWindow(learned: learned, under: rules),
      isNextEnough: rules.enterWithin == nil && heard.samples >= max(2, rules.enterSamples - 1)
    )
  }

  /// The places of the first so many tracks behind a beacon, in the order of their beacons.
  fileprivate func places(
    _ wanted: BeaconID?,
    after: BeaconID?,
    limit: Int,
    _ context: borrowing EngineContext
  ) -> [Int] {
    if let wanted {
      guard after.map({ $0 < wanted }) ?? true else { return [] }
      return track(of: wanted, context).map { [$0] } ?? []
    }
    var places: [(beacon: BeaconID, place: Int)] = []
    var maximum: BeaconID?
    for place in 0..<tracks.count where tracks[place].isLive {
      let beacon = tracks[place].beacon(context.catalog.scopes)
      guard after.map({ $0 < beacon }) ?? true, maximum.map({ beacon < $0 }) ?? true else { continue }
      places.append((beacon, place))
      guard places.count >= 2 * limit else { continue }
      places.sort { $0.beacon < $1.beacon }
      places.removeSubrange(limit...)
      maximum = places.last?.beacon
    }
    return places.sorted { $0.beacon < $1.beacon }.prefix(limit).map(\.place)
  }
}

extension MonitoringEngine {
  /// Indicates whether other engines have observers of the same tags, which ``drainFoundModes()`` is for.
  package var sharesModes: Bool {
    get { context.modes.isShared }
    set { context.modes.isShared = newValue }
  }

  /// Takes out the modes that were found since the last call, for the other engines.
  package mutating func drainFoundModes() -> [FoundModes] {
    context.modes.unpublished.isEmpty ? [] : context.modes.drainUnpublished()
  }

  /// Records the modes that the observers of another engine have found.
  package mutating func learn(_ found: [FoundModes]) {
    for modes in found { context.modes.insert(modes) }
  }
}
