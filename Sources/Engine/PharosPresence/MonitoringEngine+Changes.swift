import PharosModel

/// Changes of the catalog, and how observers catch up with them.
///
/// A change is entered into the catalog at once. What follows from it for one observer depends on that observer alone, so each
/// does that in its own time: a slice of a quarter of a millisecond at a time, and at the latest when something happens to it that
/// the change may concern. Adverts and timers of tracks whose scopes no pending change names do not wait for that
/// (``ObserverEngine/mayHear(at:_:)``). What is decided then carries the instant of the change, and the merger waits until all have
/// caught up, so that nothing shows how the work was cut.
extension MonitoringEngine {
  /// The cost of one slice of catching up: about a quarter of a millisecond.
  ///
  /// - Units: steps of about 30 ns, the cost of a look at a track.
  static let sliceCost = 8_192
  /// The number of tracks and observers up to which a change is finished when it comes, since that takes less than a
  /// slice.
  private static let fewTracks: UInt64 = 128
  /// More changes than this do not wait: the next is finished at once, and all before it.
  private static let maximumPending = 1_024

  // MARK: Changes

  /// Performs a change that was accepted.
  mutating func perform(_ change: RegionChange) {
    switch change {
    case .startMonitoring(let application, let region, let assumed):
      start(region, of: application, assuming: assumed)
    case .stopMonitoring(let application, let identifier):
      guard let slot = context.catalog.slot(application: application, identifier: identifier),
        !context.catalog.slots[Int(slot)].isRotated
      else { return }
      catchUpListed(by: context.catalog.slots[Int(slot)].region)
      var change = begin()
      retire(slot, in: &change)
      carryOut(change, of: application)
    case .setRotation(let application, let nodes): setRotation(nodes, of: application)
    case .startRanging(let application, let request): startRanging(request, of: application)
    case .stopRanging(let application, let constraint):
      guard let place = context.catalog.ranging(application: application, constraint: constraint) else {
        return
      }
      var change = begin()
      context.catalog.retireRanging(place)
      change.questions.append(KeyQuestion(constraint, context.catalog.scopes))
      enqueue(change)
    case .requestState(let application, let identifier, let subject):
      guard case .observer(let id) = subject else { return }
      answerState(of: identifier, application: application, observer: id)
    case .setRegionLimit(let application, let limit): setRegionLimit(limit, of: application)
    case .acceptObserver(let id): accept(id)
    case .dismissObserver(let id):
      accepted.remove(id)
      var settings = context.site
      settings.observers.removeAll { $0.id == id }
      declare(settings)
      removeUnadmitted()
    case .declare(let settings): declare(settings)
    case .forget(let traces): forget(traces)
    case .setItinerary, .setGuidance: break
    }
  }

  private mutating func start(_ region: Region, of application: String, assuming assumed: RegionState) {
    let old = context.catalog.slot(application: application, identifier: region.identifier)
    if let old {
      let before = context.catalog.slots[Int(old)]
      if !before.isRotated, before.region.asksTheSame(as: region) {
        // What observers that are behind have to publish is published as it was asked for then.
        if before.region != region { catchUpAll() }
        context.catalog.update(old, to: region, parent: nil)
        return
      }
    }
    if let old { catchUpListed(by: context.catalog.slots[Int(old)].region) }
    catchUpListed(by: region)
    var change = begin()
    if let old { retire(old, in: &change) }
    let slot = context.catalog.add(region, application: application, since: context.current, assumed: assumed)
    change.record(slot, of: context.catalog)
    carryOut(change, of: application)
  }

  private mutating func startRanging(_ request: RangingRequest, of application: String) {
    // A request that is replaced is replaced in its place: observers that are behind must not see that before its time.
    if context.catalog.ranging(application: application, constraint: request.constraint) != nil {
      catchUpAll()
    }
    var change = begin()
    context.catalog.add(request, application: application)
    change.questions.append(KeyQuestion(request.constraint, context.catalog.scopes))
    enqueue(change)
  }

  private mutating func setRegionLimit(_ limit: Int, of application: String) {
    let isDefault = limit == Application.defaultRegionLimit
    context.catalog.regionLimits[application] = isDefault ? nil : limit
    context.site.applications.removeAll { $0.identifier == application }
    guard !isDefault else { return rotate(application) }
    context.site.applications.append(Application(identifier: application, regionLimit: limit))
    rotate(application)
  }

  /// Has all observers catch up and chooses again what of an application's rotation is monitored, if it has one.
  private mutating func rotate(_ application: String) {
    guard context.catalog.rotatedApplications.contains(application) else { return }
    catchUpAll()
    for index in observerEngines.indices where observerEngines[index].isLive {
      observerEngines[index].tracksMakeUnique()
      observerEngines[index].rotate(application, at: context.current, &context)
    }
  }

  /// Begins the next version of the catalog, of what is being performed now.
  private mutating func begin() -> PendingRegionChange {
    context.untracked.removeAll()
    return PendingRegionChange(version: context.catalog.turn(), instant: context.current)
  }

  /// Lets observers catch up with a change; all of them at once where a rotation depends on it.
  private mutating func carryOut(_ change: PendingRegionChange, of application: String) {
    enqueue(change)
    rotate(application)
  }

  /// Replaces a tree; a node whose region stays the same keeps its state.
  private mutating func setRotation(_ nodes: [RegionNode], of application: String) {
    catchUpAll()
    var change = begin()
    var old: [String: Int32] = [:]
    for place in context.catalog.slots.indices {
      let slot = context.catalog.slots[place]
      guard slot.isLive, slot.isRotated, slot.application == application else { continue }
      old[slot.region.identifier] = Int32(place)
    }
    var kept: Set<Int32> = []
    graft(nodes, of: application, under: nil, old, &kept, &change)
    for slot in old.values.sorted() where !kept.contains(slot) { retire(slot, in: &change) }
    enqueue(change)
    catchUpAll()
    rotate(application)
  }

  private mutating func graft(
    _ nodes: [RegionNode],
    of application: String,
    under parent: Int32?,
    _ old: [String: Int32],
    _ kept: inout Set<Int32>,
    _ change: inout PendingRegionChange
  ) {
    for node in nodes {
      let slot: Int32
      if let place = old[node.region.identifier],
        context.catalog.slots[Int(place)].region.asksTheSame(as: node.region)
      {
        slot = place
        kept.insert(place)
        context.catalog.update(place, to: node.region, parent: parent)
      } else {
        slot = context.catalog.add(
          node.region,
          application: application,
          since: context.current,
          isRotated: true,
          parent: parent
        )
        change.record(slot, of: context.catalog)
      }
      graft(node.children, of: application, under: slot, old, &kept, &change)
    }
  }

  /// Takes a region out; observers remove their rows of it when they catch up.
  private mutating func retire(_ slot: Int32, in change: inout PendingRegionChange) {
    context.catalog.retire(slot)
    change.retired.append(slot)
    guard let constraint = context.catalog.slots[Int(slot)].region.constraint else { return }
    change.questions.append(KeyQuestion(constraint, context.catalog.scopes))
  }

  /// Answers once where an observer stands.
  private mutating func answerState(of identifier: String, application: String, observer id: ObserverID) {
    guard let slot = context.catalog.slot(application: application, identifier: identifier),
      context.catalog.slots[Int(slot)].region.subject == .observer,
      context.catalog.slots[Int(slot)].region.constraint != nil
    else { return }
    if let index = place(of: id) {
      if isBehind(index) { catchUp(index, before: context.current) }
      let row = observerEngines[index].row(of: slot, at: context.current, &context)
      observerEngines[index].answer(row: row, rule: .requested, at: context.current, &context)
      return
    }
    // Nothing is kept for an observer that was never heard, so that questions cost no memory.
    let transition = RegionTransition(
      from: .unknown,
      to: .unknown,
      isAnswer: true,
      evidence: Evidence(rule: .requested)
    )
    context.output.events.append(
      Event(
        stream: context.stream,
        kind: .regionState,
        time: context.current,
        decidedAt: context.current,
        stage: 1,
        subject: .observer(id),
        application: application,
        region: identifier,
        counter: UInt64(bitPattern: context.current.nanoseconds),
        detail: .region(transition)
      )
    )
  }

  // MARK: Catching up

  /// Returns true if an observer has not caught up with the latest change.
  func isBehind(_ index: Int) -> Bool { observerEngines[index].version != context.catalog.version }

  /// Lets all observers catch up with a change that is in the catalog; at once where that takes no time.
  private mutating func enqueue(_ change: PendingRegionChange) {
    pendingChanges.append(change)
    for question in change.questions { context.changing.insert(question.scope) }
    context.changedAt = change.instant
    behind = Int(context.counters.observers)
    let isSoonDone = context.counters.tracks + context.counters.observers <= MonitoringEngine.fewTracks
    if isSoonDone || pendingChanges.count > MonitoringEngine.maximumPending { catchUpAll() }
  }

  /// Lets all observers catch up now.
  mutating func catchUpAll() {
    guard !pendingChanges.isEmpty else { return }
    _ = catchUpSlice(.max)
  }

  /// Lets observers catch up one after the other until so much has been done.
  ///
  /// - Returns: true if no observer is behind.
  mutating func catchUpSlice(_ cost: Int) -> Bool {
    guard !pendingChanges.isEmpty else { return true }
    var left = cost
    while behind > 0, left > 0 {
      if nextBehind >= observerEngines.count { nextBehind = 0 }
      if observerEngines[nextBehind].isLive, isBehind(nextBehind) {
        left -= catchUp(one: nextBehind, cost: left)
        guard !isBehind(nextBehind) else { break }
      } else {
        left -= 1
      }
      nextBehind += 1
    }
    guard behind == 0 else { return false }
    finish()
    return true
  }

  /// Lets one observer catch up, as it is its turn.
  mutating func catchUp(_ index: Int) {
    _ = catchUp(one: index, cost: .max)
    if behind == 0 { finish() }
  }

  /// Lets an observer catch up that is being heard, and fires what was due for it in between.
  mutating func catchUp(_ index: Int, before received: Timestamp) {
    catchUp(index)
    run(upTo: received)
  }

  /// Lets the observers that a region lists catch up before it comes or goes: whether they are carried depends on it, and they
  /// must not see that before its time.
  private mutating func catchUpListed(by region: Region) {
    guard case .beacon(let observers?) = region.subject else { return }
    for case let index? in observers.map({ place(of: $0) }) where isBehind(index) { catchUp(index) }
  }

  private mutating func finish() {
    pendingChanges.removeAll(keepingCapacity: true)
    context.changing.removeAll()
    context.catalog.forgetRetired()
  }

  /// Performs the changes that an observer has not seen, until so much has been done.
  ///
  /// - Returns: the cost of that.
  private mutating func catchUp(one index: Int, cost maximum: Int) -> Int {
    let now = context.current
    let cost = observerEngines[index].catchUp(&pendingChanges, cost: maximum, &context)
    if !isBehind(index) { behind -= 1 }
    context.current = now
    return cost
  }
}

extension ObserverEngine {
  /// The cost of examining an observer, and that of giving a track another match set.
  private static let observerCost = 4
  private static let rematchCost = 12

  /// Returns true if an input that no pending change concerns may reach the observer before it has caught up.
  ///
  /// Not at the instant of a change, since what follows from that comes first, nor while something waits for proof of life,
  /// nor if a change of the regions may make the observer one that is carried, or no longer one.
  @inline(__always)
  func mayHear(at time: Timestamp, _ context: borrowing EngineContext) -> Bool {
    version == context.catalog.version || time > context.changedAt && !hasPending && !mayBeCarried
  }

  /// Returns true if a page's timer may fire before the observer has caught up.
  func mayFire(_ entry: TimerEntry, _ context: borrowing EngineContext) -> Bool {
    guard case .page(let page) = entry.target, Int(page) < tracks.pageCount else { return false }
    return tracks.line(Int(page)).pointee.scopes & context.changing.bits == 0
      && mayHear(at: entry.due, context)
  }

  /// Makes sure that no copy of the engine shares the tracks.
  mutating func tracksMakeUnique() { tracks.makeUnique() }

  /// Performs the changes that the observer has not seen, one after the other until so much has been done.
  ///
  /// - Returns: the cost of that.
  mutating func catchUp(
    _ changes: inout [PendingRegionChange],
    cost maximum: Int,
    _ context: inout EngineContext
  ) -> Int {
    tracks.makeUnique()
    let first = changes.firstIndex { $0.version > version } ?? changes.count
    var cost = ObserverEngine.observerCost
    let concerned = concernedTracks(by: changes[first...], &cost)
    ordinals.isCatchingUp = true
    defer { ordinals.isCatchingUp = false }
    for number in first..<changes.count {
      version = changes[number].version
      context.current = changes[number].instant
      for slot in changes[number].retired { removeRow(of: slot) }
      cost += concerned.count + shift(concerned, by: &changes[number], &context)
      for slot in changes[number].assumedInside {
        cost += ObserverEngine.rematchCost
        _ = row(of: slot, at: context.current, &context)
      }
      updateKind(context)
      // At least one change is performed, however long it takes to find whom it concerns.
      guard cost < maximum else { break }
    }
    return cost
  }

  /// The tracks that changes may concern.
  private mutating func concernedTracks(
    by changes: ArraySlice<PendingRegionChange>,
    _ cost: inout Int
  ) -> [Int] {
    var concerned = ScopeSet()
    for change in changes {
      for question in change.questions { concerned.insert(question.scope) }
    }
    let bits = concerned.bits
    guard scopes & bits != 0 else { return [] }
    var places: [Int] = []
    cost += tracks.count / 64
    for page in 0..<tracks.pageCount where tracks.line(page).pointee.scopes & bits != 0 {
      for place in page << TrackPages.shift..<min((page + 1) << TrackPages.shift, tracks.count) {
        cost += 1
        let track = tracks[place]
        if track.isLive, concerned.contains(track.hot.scope) { places.append(place) }
      }
    }
    return places
  }

  /// Gives the tracks that answer one of a change's questions the match sets that they have now.
  ///
  /// - Returns: the cost of that.
  private mutating func shift(
    _ concerned: [Int],
    by change: inout PendingRegionChange,
    _ context: inout EngineContext
  ) -> Int {
    // All are looked at before the first is changed.
    var hits: [(place: Int, answered: UInt64)] = []
    var hasListed = false
    for place in concerned where tracks[place].isLive {
      let track = tracks[place]
      let answered = change.questions.answered(by: track.hot.scope, track.hot.key)
      guard answered != 0 else { continue }
      hasListed = track.cold.marks.contains(.listed) || hasListed
      hits.append((place, answered))
    }
    var cost = 0
    for hit in hits { cost += shift(hit.place, hit.answered, by: &change, &context) }
    if hasListed { unlistRemoved() }
    return cost
  }

  /// Gives a track that a change concerns the match set that it has now.
  ///
  /// - Returns: the cost of that.
  private mutating func shift(
    _ place: Int,
    _ answered: UInt64,
    by change: inout PendingRegionChange,
    _ context: inout EngineContext
  ) -> Int {
    let track = tracks[place]
    let old = track.cold.matchSet
    guard track.hot.epoch == UInt16(truncatingIfNeeded: context.epoch) else {
      rematch(place, &context)
      return ObserverEngine.rematchCost
    }
    let transition = transition(from: old, track, answered, by: &change, &context)
    guard transition.set != old else { return ObserverEngine.rematchCost }
    guard !transition.isEmpty else {
      track.set(.listed, false)
      removeTrack(place, &context)
      return ObserverEngine.rematchCost
    }
    track.flush()
    track.rematch(
      transition.set,
      epoch: context.epoch,
      from: context.catalog.sets[Int(old)],
      to: context.catalog.sets[Int(transition.set)]
    )
    for client in transition.regions { meet(client, track, &context) }
    for client in transition.beaconRegions { meetBeacon(client, track, &context) }
    rearm(place, &context)
    return ObserverEngine.rematchCost
  }

  private mutating func transition(
    from old: Int32,
    _ track: TrackHandle,
    _ answered: UInt64,
    by change: inout PendingRegionChange,
    _ context: inout EngineContext
  ) -> PendingRegionChange.Transition {
    let isKeyed = track.hot.flags.contains(.keyed)
    let isCommon =
      !isKeyed && !change.listsObservers && (!standsInZone || context.catalog.isZonedByClients)
      && change.questions.count <= 64
    let key = PendingRegionChange.Case(set: old, answered: answered, standsInZone: standsInZone)
    if isCommon, let known = change.transitions[key] { return known }
    let set = context.catalog.match(
      track.beacon(context.catalog.scopes),
      observer: id,
      isKeyable: isKeyed,
      version: version
    )
    let transition = PendingRegionChange.Transition(
      from: context.catalog.sets[Int(old)],
      to: context.catalog.sets[Int(set)],
      set
    )
    if isCommon { change.transitions[key] = transition }
    return transition
  }
}
