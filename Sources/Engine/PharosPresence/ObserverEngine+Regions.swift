import PharosModel

/// The states of an observer in the regions: rows, transitions and the evidence that they are published with.
extension ObserverEngine {
  // MARK: Rows

  /// The row of a region, made now if it is the first match.
  mutating func row(of slot: Int32, at time: Timestamp, _ context: inout EngineContext) -> Int {
    if let row = rowOfSlot[slot] { return Int(row) }
    let entry = context.catalog.slots[Int(slot)]
    let began = max(entry.since, monitoringSince)
    let state = initialState(of: entry, began: began, at: time)
    let count = UInt64(bitPattern: max(entry.since, firstHeard, countersFrom).nanoseconds)
    var row = RegionRow(
      slot: slot,
      RegionMachine(assuming: state, lastKnown: entry.assumed, since: began),
      counter: count &+ UInt64(slot) &* 1_000,
      isActive: !entry.isRotated || activeNodes.contains(slot)
    )
    if state == .inside || state == .unknown { row.decideAt = began + row.patience }
    let place = add(row)
    rowOfSlot[slot] = Int32(place)
    if rowOfSlot.count == 1 { updateKind(context) }
    arm(row: place, for: row.decideAt, &context)
    return place
  }

  private func initialState(of slot: RegionCatalog.Slot, began: Timestamp, at time: Timestamp) -> RegionState
  {
    guard silenceIsEvidence else { return .unmonitored }
    switch slot.assumed {
    case .inside: return .inside
    case .outside: return .outside
    case .unknown, .unmonitored: return time >= began + RegionRow.usualPatience ? .outside : .unknown
    }
  }

  private mutating func add(_ row: RegionRow) -> Int {
    if deadRows > 0, let place = rows.firstIndex(where: { !$0.isLive }) {
      deadRows -= 1
      rows[place] = row
      return place
    }
    if rows.count == rows.capacity { rows.reserveCapacity(rows.count + max(4, rows.count / 4)) }
    rows.append(row)
    return rows.count - 1
  }

  /// Removes the row of a region that is no longer monitored; nothing is published.
  mutating func removeRow(of slot: Int32) {
    guard let row = rowOfSlot.removeValue(forKey: slot) else { return }
    rows[Int(row)].isLive = false
    deadRows += 1
    activeNodes.remove(slot)
  }

  /// Decides a row whose time is up: a live observer that has heard nothing of the region is outside.
  ///
  /// Time in which the observer was deaf does not count.
  mutating func decide(row: Int, _ context: inout EngineContext) {
    guard row < rows.count, rows[row].isLive else { return }
    let entry = rows[row]
    guard entry.decideAt != .distantFuture, silenceIsEvidence else { return }
    let deafFor = life.reception.spans.credit(since: entry.decideAt - entry.patience)
    let deadline = entry.decideAt + deafFor
    guard firing(deadline, context.current) <= context.current else {
      return arm(row: row, for: deadline, &context)
    }
    guard entry.tracksInside == 0 else {
      rows[row].decideAt = .distantFuture
      return
    }
    guard life.proves(after: deadline) else {
      if !entry.isWaiting { pendingRows.append(Int32(row)) }
      rows[row].isWaiting = true
      return
    }
    rows[row].decideAt = .distantFuture
    rows[row].isWaiting = false
    rows[row].patience = RegionRow.usualPatience
    var evidence = Evidence(rule: .neverHeard)
    evidence.window = entry.patience
    evidence.gap = entry.patience
    if deafFor > .zero { evidence.deafFor = deafFor }
    set(row, RowChange(to: .outside, time: deadline, evidence: evidence), &context)
  }

  // MARK: Transitions

  /// Publishes what a sample meant to the regions of each policy.
  mutating func publish(
    _ outcome: TrackHandle.Outcome,
    _ place: Int,
    _ context: inout EngineContext
  ) {
    let track = tracks[place]
    let number = Int(track.cold.matchSet)
    for policy in context.catalog.sets[number].policies.indices {
      let bit: UInt64 = 1 << UInt64(policy)
      let hasEntered = outcome.entered & bit != 0
      let spread = outcome.spread(of: policy)
      let isCounted = spread != nil
      guard isCounted || outcome.confirmed & bit != 0 else { continue }
      if hasEntered { allow(track, &context) }
      // What comes behind a restart or an outage with honest ages is dated by them: a beacon may have left since.
      let time = isCounted ? track.hot.lastHeard : max(track.hot.lastHeard, monitoringSince)
      var evidence = evidence(isCounted ? .samples : .recovery, policy, track, context)
      if let spread {
        evidence.spread = spread
        let rules = context.catalog.policies[Int(track.presence(policy).policy)]
        let window = AdaptiveSilence.enterWindow(learned: outcome.window, under: rules)
        evidence.window = rules.enterWithin ?? window
        if let run = outcome.run, rules.enterWithin == nil, spread > window {
          (evidence.samples, evidence.counted) = (run.samples, run.samples)
          (evidence.window, evidence.spread) = (run.span, run.span)
        }
      }
      report(.inside, policy, track, at: time, evidence, &context)
      let change = RowChange(
        to: .inside,
        time: time,
        refinement: track.beacon(context.catalog.scopes),
        evidence: evidence
      )
      move(policy, in: number, by: hasEntered ? 1 : 0, change, &context)
    }
  }

  /// Ends a presence whose deadline has passed while the observer lives.
  mutating func leave(
    _ policy: Int,
    _ place: Int,
    deadline: (time: Timestamp, isLevel: Bool),
    hasWaited: Bool,
    _ context: inout EngineContext
  ) {
    let track = tracks[place]
    let rules = context.catalog.policies[Int(track.presence(policy).policy)]
    let silence: Evidence.Rule = rules.silence.declared == nil ? .adaptiveSilence : .fixedSilence
    let rule = deadline.isLevel ? .level : silence
    var evidence = evidence(rule, policy, track, context)
    // Silence counts from the observer's return, and not while it was deaf.
    let silentSince = max(track.hot.lastHeard, silenceFrom)
    let deaf = deadline.isLevel ? .zero : life.reception.spans.credit(since: silentSince)
    evidence.gap = max(.zero, deadline.time - deaf - silentSince)
    if deaf > .zero { evidence.deafFor = deaf }
    if deadline.isLevel {
      explainLevel(&evidence, track.presence(policy), rules, at: deadline.time)
    } else {
      explainSilence(&evidence, track, rules)
    }
    if hasWaited, life.lastProof > deadline.time { evidence.waitedForProof = life.lastProof - deadline.time }
    guard track.change(presence: policy, { $0.deadlinePassed() }) != nil else { return }
    track.updateFastPath()
    report(.outside, policy, track, at: deadline.time, evidence, &context)
    let change = RowChange(
      to: .outside,
      time: deadline.time,
      refinement: track.beacon(context.catalog.scopes),
      evidence: evidence
    )
    move(policy, in: Int(track.cold.matchSet), by: -1, change, &context)
  }

  /// Ends the presences of a track that is removed although its beacon may be here.
  mutating func abandon(_ place: Int, rule: Evidence.Rule, _ context: inout EngineContext) {
    tracks.makeUnique()
    let track = tracks[place]
    track.flush()
    let number = Int(track.cold.matchSet)
    for policy in context.catalog.sets[number].policies.indices where track.isHere(policy) {
      let evidence = evidence(rule, policy, track, context)
      _ = track.change(presence: policy) { $0.deadlinePassed() }
      report(.unmonitored, policy, track, at: context.current, evidence, &context)
      let change = RowChange(
        to: .unmonitored,
        time: context.current,
        refinement: track.beacon(context.catalog.scopes),
        evidence: evidence
      )
      move(policy, in: number, by: -1, change, &context)
      expectSilence(policy, in: number, for: evidence.allowedGap ?? .zero, &context)
    }
    track.updateFastPath()
  }

  /// Lets the silence that follows the removal of a track decide the rows that no other track holds.
  ///
  /// The beacon may still be here, and is heard again within the silence that it was allowed.
  private mutating func expectSilence(
    _ policy: Int,
    in number: Int,
    for allowed: TimeSpan,
    _ context: inout EngineContext
  ) {
    guard silenceIsEvidence else { return }
    for client in context.catalog.sets[number].regions where client.place == Int32(policy) {
      guard let row = rowOfSlot[client.slot].map(Int.init), rows[row].tracksInside == 0,
        rows[row].state == .unmonitored
      else { continue }
      rows[row].patience = max(RegionRow.usualPatience, allowed)
      rows[row].decideAt = context.current + rows[row].patience
      arm(row: row, for: rows[row].decideAt, &context)
    }
  }

  /// Counts a track in or out of the rows of a policy's regions, and publishes what changes by that.
  private mutating func move(
    _ policy: Int,
    in number: Int,
    by step: Int32,
    _ change: RowChange,
    _ context: inout EngineContext
  ) {
    var turned: [String] = []
    for client in context.catalog.sets[number].regions where client.place == Int32(policy) {
      let slot = context.catalog.slots[Int(client.slot)]
      guard slot.isLive(in: version) else { continue }
      let row = row(of: client.slot, at: change.time, &context)
      let before = rows[row].tracksInside
      let after = max(0, before + step)
      rows[row].tracksInside = after
      if change.to == .inside {
        rows[row].decideAt = .distantFuture
        rows[row].patience = RegionRow.usualPatience
      }
      if change.to == .inside || after == 0 { set(row, change, &context) }
      if slot.isRotated, (before == 0) != (after == 0), !turned.contains(slot.application) {
        turned.append(slot.application)
      }
    }
    for application in turned { rotate(application, at: change.time, &context) }
  }

  /// Gives a row a state and publishes the change, if it is one and the row is published at all.
  mutating func set(_ row: Int, _ wanted: RowChange, _ context: inout EngineContext) {
    guard rows[row].isActive, let change = rows[row].machine.change(to: wanted.to, at: wanted.time) else {
      return
    }
    if change.to == .unmonitored { rows[row].decideAt = .distantFuture }
    let transition = RegionTransition(change, refinement: wanted.refinement, evidence: wanted.evidence)
    emit(.regionState, transition, row: row, at: change.time, &context)
    let region = context.catalog.slots[Int(rows[row].slot)].region
    if let kind = change.announcement(for: region) {
      emit(kind, transition, row: row, at: change.time, &context)
    }
    rows[row].counter += 1
  }

  /// A region that is new to a track whose presence under the same policy is decided already.
  mutating func meet(_ client: MatchSet.RegionClient, _ track: TrackHandle, _ context: inout EngineContext) {
    let row = row(of: client.slot, at: context.current, &context)
    let presence = track.presence(Int(client.place))
    guard presence.isHere else { return }
    rows[row].tracksInside += 1
    rows[row].decideAt = .distantFuture
    guard presence.isConfirmed else { return }
    let change = RowChange(
      to: .inside,
      time: context.current,
      refinement: track.beacon(context.catalog.scopes),
      evidence: evidence(.alreadyInside, Int(client.place), track, context)
    )
    set(row, change, &context)
  }

  /// The same for a region about beacons.
  mutating func meetBeacon(
    _ client: MatchSet.RegionClient,
    _ track: TrackHandle,
    _ context: inout EngineContext
  ) {
    let presence = track.presence(Int(client.place))
    guard presence.isHere else { return }
    let evidence = evidence(.alreadyInside, Int(client.place), track, context)
    let state: RegionState = presence.isConfirmed ? .inside : .unmonitored
    report(state, slot: client.slot, track, at: context.current, evidence, &context)
  }

  // MARK: Answers

  /// Publishes the state of all regions that want it when the display is turned on.
  mutating func displayOn(at time: Timestamp, _ context: inout EngineContext) {
    for row in rows.indices {
      let entry = rows[row]
      guard entry.isLive, entry.isActive, entry.state == .inside,
        context.catalog.slots[Int(entry.slot)].region.notifyEntryStateOnDisplay
      else { continue }
      answer(row: row, rule: .displayOn, at: time, &context)
    }
  }

  /// Publishes a row's state without a change of it.
  mutating func answer(row: Int, rule: Evidence.Rule, at time: Timestamp, _ context: inout EngineContext) {
    let machine = rows[row].machine
    let transition = RegionTransition(answering: machine.state, enteredAt: machine.enteredAt, rule: rule)
    emit(.regionState, transition, row: row, at: time, &context)
    rows[row].counter += 1
  }

  // MARK: Evidence

  /// Returns the evidence for a decision about a track.
  mutating func evidence(
    _ rule: Evidence.Rule,
    _ policy: Int,
    _ track: TrackHandle,
    _ context: borrowing EngineContext
  ) -> Evidence {
    let presence = track.presence(policy)
    let rules = context.catalog.policies[Int(presence.policy)]
    let learner = track.learner
    var evidence = Evidence(rule: rule)
    evidence.lastHeard = track.hot.lastHeard
    evidence.fixedRuleAt = track.hot.lastHeard + Evidence.fixedRule
    if presence.allowed != .forever { evidence.allowedGap = presence.allowed }
    if learner.interval > 0 { evidence.interval = .seconds(Double(learner.interval)) }
    if learner.received > 0 {
      evidence.receptionShare = track.losses.share
      evidence.lossRun = track.losses.meanRun
    }
    if let level = track.level {
      evidence.level = level
      evidence.levelDeviation = track.variance.squareRoot()
    }
    guard rule == .samples else { return evidence }
    evidence.samples = max(1, rules.enterSamples)
    evidence.counted = max(1, rules.enterSamples)
    let threshold = presence.enterLevel.isNaN ? presence.exitLevel : presence.enterLevel
    evidence.threshold = ObserverEngine.rounded(threshold)
    evidence.distance = rules.enterDistance?.value
    let sample = track.sampleLevel(rssiOffset)
    evidence.sampleLevel = sample.isNaN ? nil : Double(sample)
    if let level = evidence.level, let threshold = evidence.threshold { evidence.margin = level - threshold }
    return evidence
  }

  private func explainLevel(
    _ evidence: inout Evidence,
    _ presence: Presence,
    _ rules: PresencePolicy,
    at time: Timestamp
  ) {
    evidence.threshold = ObserverEngine.rounded(presence.exitLevel)
    evidence.distance = rules.exitDistance?.value
    evidence.window = rules.exitDwell
    evidence.belowFor = presence.belowSince.map { time - $0 }
    if let level = evidence.level, let exit = evidence.threshold { evidence.margin = exit - level }
  }

  private mutating func explainSilence(
    _ evidence: inout Evidence,
    _ track: TrackHandle,
    _ rules: PresencePolicy
  ) {
    if stretch != 1 { evidence.stretch = stretch }
    if let gap = evidence.gap, let interval = evidence.interval { evidence.margin = (gap - interval).seconds }
    guard rules.silence == .adaptive else { return }
    evidence.silence = silence(of: track).allowance(rules, at: track.levelClass).basis
  }

  private static func rounded(_ level: Float) -> Double? {
    level.isFinite ? (Double(level) * 100).rounded() / 100 : nil
  }

  // MARK: What is given out

  /// Publishes a region's transition.
  mutating func emit(
    _ kind: EventKind,
    _ transition: RegionTransition,
    row: Int,
    at time: Timestamp,
    _ context: inout EngineContext
  ) {
    let slot = context.catalog.slots[Int(rows[row].slot)]
    context.output.events.append(
      Event(
        stream: context.stream,
        kind: kind,
        time: time,
        decidedAt: context.current,
        stage: 1,
        subject: .observer(id),
        application: slot.application,
        region: slot.region.identifier,
        counter: rows[row].counter,
        ordinal: ordinals.next(at: context.current),
        detail: .region(transition)
      )
    )
  }

  /// Publishes a change in the observer's life.
  mutating func emit(
    _ kind: EventKind,
    _ transition: ObserverTransition,
    at time: Timestamp,
    _ context: inout EngineContext
  ) {
    lifeCounter += 1
    context.output.events.append(
      Event(
        stream: context.stream,
        kind: kind,
        time: time,
        decidedAt: context.current,
        stage: 1,
        subject: .observer(id),
        counter: lifeCounter,
        ordinal: ordinals.next(at: context.current),
        detail: .observer(transition)
      )
    )
  }

  /// Reports to stage two that the observer went down or came back.
  mutating func report(isUp: Bool, at time: Timestamp, _ context: inout EngineContext) {
    let change = ObserverChange(
      observer: id,
      isUp: isUp,
      time: time,
      decidedAt: context.current,
      ordinal: ordinals.next(at: context.current)
    )
    context.output.links.append(.observer(change))
  }

  /// Reports to stage two where a beacon stands here, for the regions about beacons under one policy.
  mutating func report(
    _ state: RegionState,
    _ policy: Int,
    _ track: TrackHandle,
    at time: Timestamp,
    _ evidence: Evidence,
    _ context: inout EngineContext
  ) {
    let number = Int(track.cold.matchSet)
    for client in context.catalog.sets[number].beaconRegions where client.place == Int32(policy) {
      report(state, slot: client.slot, track, at: time, evidence, &context)
    }
  }

  /// Reports to stage two where a beacon stands here, for one region about beacons.
  mutating func report(
    _ state: RegionState,
    slot: Int32,
    _ track: TrackHandle,
    at time: Timestamp,
    _ evidence: Evidence,
    _ context: inout EngineContext
  ) {
    let entry = context.catalog.slots[Int(slot)]
    guard entry.isLive(in: version) else { return }
    let change = PresenceChange(
      observer: id,
      beacon: track.beacon(context.catalog.scopes),
      application: entry.application,
      region: entry.region.identifier,
      state: state,
      time: time,
      decidedAt: context.current,
      ordinal: ordinals.next(at: context.current),
      evidence: evidence
    )
    context.output.links.append(.presence(change))
  }

  /// Publishes a beacon's battery, at most once an hour.
  mutating func reportBattery(
    _ millivolts: UInt16,
    of address: DeviceAddress,
    at time: Timestamp,
    _ context: inout EngineContext
  ) {
    var place = track(ofAddress: address.bits, context.catalog.scopes)
    if place == nil, context.catalog.hasAddresses { place = track(of: .address(address), context) }
    guard let place else { return }
    let beacon = tracks[place].beacon(context.catalog.scopes)
    if let reported = batteryReported[beacon], time - reported < .minutes(60) { return }
    batteryReported[beacon] = time
    lifeCounter += 1
    context.output.events.append(
      Event(
        stream: context.stream,
        kind: .beaconBattery,
        time: time,
        decidedAt: context.current,
        stage: 1,
        subject: .beacon(beacon),
        // Several observers may hear one beacon: the counter keeps their events apart.
        counter: id.stableHash &+ lifeCounter,
        ordinal: ordinals.next(at: context.current),
        detail: .battery(millivolts: millivolts, observer: id)
      )
    )
  }
}

// MARK: Rotation

extension ObserverEngine {
  /// The time for which a level counts for nearness.
  private static let nearness = TimeSpan.seconds(30)

  /// Chooses which nodes of a rotation are monitored.
  ///
  /// The rows of all nodes are kept up to date; only those of chosen ones are published. A node that is chosen again is
  /// compared with what was last published of it, so that a swap gives no enter or exit that is none.
  mutating func rotate(_ application: String, at time: Timestamp, _ context: inout EngineContext) {
    let views = nodes(of: application, at: time, context).sorted(by: NodeView.isMoreRelevant)
    let chosen = Set(views.prefix(context.catalog.rotationBudget(of: application)).map(\.slot))
    for view in views.sorted(by: { $0.slot < $1.slot }) {
      let isChosen = chosen.contains(view.slot) || view.isKept
      if isChosen { activeNodes.insert(view.slot) } else { activeNodes.remove(view.slot) }
      guard let place = rowOfSlot[view.slot] else { continue }
      let row = Int(place)
      let wasActive = rows[row].isActive
      rows[row].isActive = isChosen
      if isChosen, !wasActive { reconcile(row, at: time, &context) }
    }
  }

  /// Publishes what a row has become while it was rotated out.
  private mutating func reconcile(_ row: Int, at time: Timestamp, _ context: inout EngineContext) {
    var evidence = Evidence(rule: .alreadyInside)
    guard silenceIsEvidence else {
      evidence.rule = .observerOutage
      return set(row, RowChange(to: .unmonitored, time: time, evidence: evidence), &context)
    }
    if let beacon = confirmedBeacon(of: rows[row].slot, context) {
      set(row, RowChange(to: .inside, time: time, refinement: beacon, evidence: evidence), &context)
    } else if rows[row].tracksInside == 0, rows[row].state != .outside {
      rows[row].decideAt = max(time, monitoringSince + RegionRow.usualPatience)
      arm(row: row, for: rows[row].decideAt, &context)
    }
  }

  /// A beacon of a region that is here and was heard since the observer is able to tell.
  private mutating func confirmedBeacon(of slot: Int32, _ context: borrowing EngineContext) -> BeaconID? {
    for place in 0..<tracks.count where tracks[place].isLive {
      let track = tracks[place]
      for client in context.catalog.sets[Int(track.cold.matchSet)].regions
      where client.slot == slot && track.presence(Int(client.place)).isConfirmed {
        return track.beacon(context.catalog.scopes)
      }
    }
    return nil
  }

  private mutating func nodes(
    of application: String,
    at time: Timestamp,
    _ context: borrowing EngineContext
  ) -> [NodeView] {
    var views: [NodeView] = []
    var places: [Int32: Int] = [:]
    for place in context.catalog.slots.indices {
      let slot = context.catalog.slots[place]
      guard slot.isLive, slot.isRotated, slot.application == application else { continue }
      let row = rowOfSlot[Int32(place)].map { rows[Int($0)] }
      let isInside =
        row.map { $0.machine.lastKnown == .inside } ?? false
      places[Int32(place)] = views.count
      views.append(
        NodeView(
          slot: Int32(place),
          depth: slot.parent.flatMap { places[$0] }.map { views[$0].depth + 1 } ?? 0,
          parent: slot.parent,
          isKept: isInside && (row?.isActive ?? false),
          isHere: (row?.tracksInside ?? 0) > 0
        )
      )
    }
    for place in views.indices where views[place].isHere || views[place].isKept {
      var above = views[place].parent
      while let slot = above, let parent = places[slot] {
        views[parent].isAncestor = true
        above = views[parent].parent
      }
    }
    for place in views.indices {
      guard let slot = views[place].parent, let parent = places[slot] else { continue }
      views[place].isChild = views[parent].isHere || views[parent].isKept
    }
    for place in 0..<tracks.count where tracks[place].isLive {
      let track = tracks[place]
      guard time - track.hot.lastHeard <= ObserverEngine.nearness, let level = track.level
      else {
        continue
      }
      for client in context.catalog.sets[Int(track.cold.matchSet)].regions {
        guard let place = places[client.slot] else { continue }
        views[place].level = max(views[place].level, level)
      }
    }
    return views
  }
}
