import PharosEvents
import PharosReports

extension StageOne {
  /// Performs a change that was accepted.
  mutating func perform(_ change: RegionChange, into output: inout StageOutput) {
    switch change {
    case .startMonitoring(let application, let region, let assumed):
      start(region, of: application, assuming: assumed, into: &output)
    case .stopMonitoring(let application, let identifier):
      guard let slot = catalog.slot(application: application, identifier: identifier) else { return }
      guard !catalog.slots[Int(slot)].isRotated else { return }
      var change = begin()
      retire(slot, in: &change)
      carryOut(change, of: application, into: &output)
    case .setRotation(let application, let nodes):
      setRotation(nodes, of: application, into: &output)
    case .startRanging(let application, let request):
      startRanging(request, of: application, into: &output)
    case .stopRanging(let application, let constraint):
      guard let place = catalog.ranging(application: application, constraint: constraint) else { return }
      var change = begin()
      catalog.retireRanging(place)
      change.constraints.append(constraint)
      enqueue(change, into: &output)
    case .requestState(let application, let identifier, let subject):
      guard case .observer(let id) = subject else { return }
      tellState(of: identifier, application: application, observer: id, into: &output)
    case .acceptObserver(let id): accept(id)
    case .forget(let traces): forget(traces, into: &output)
    }
  }

  private mutating func start(
    _ region: Region,
    of application: String,
    assuming assumed: RegionState,
    into output: inout StageOutput
  ) {
    let old = catalog.slot(application: application, identifier: region.identifier)
    if let old {
      let before = catalog.slots[Int(old)]
      if !before.isRotated, before.region.isSame(as: region) {
        // What observers that are behind have to tell is told as it was asked for then.
        if before.region != region { catchUpAll(into: &output) }
        catalog.update(old, to: region, parent: nil)
        return
      }
    }
    var change = begin()
    if let old { retire(old, in: &change) }
    let slot = catalog.add(region, application: application, since: current, assumed: assumed)
    change.note(slot, of: catalog)
    carryOut(change, of: application, into: &output)
  }

  private mutating func startRanging(
    _ request: RangingRequest,
    of application: String,
    into output: inout StageOutput
  ) {
    if catalog.ranging(application: application, constraint: request.constraint) != nil {
      // It is replaced in its place: who is behind must not see that before its time.
      catchUpAll(into: &output)
    }
    var change = begin()
    catalog.add(request, application: application)
    change.constraints.append(request.constraint)
    enqueue(change, into: &output)
  }

  /// Begins the next version of the catalog, of what is being performed now.
  private mutating func begin() -> PendingChange {
    // Who was a stranger may be none any more.
    epoch &+= 1
    return PendingChange(version: catalog.turn(), instant: current)
  }

  /// Lets observers catch up with a change; all of them at once where a rotation depends on it.
  private mutating func carryOut(
    _ change: PendingChange,
    of application: String,
    into output: inout StageOutput
  ) {
    enqueue(change, into: &output)
    guard catalog.rotatedApplications.contains(application) else { return }
    catchUpAll(into: &output)
    rotateAll([application], into: &output)
  }

  /// Replaces a tree; a node whose region stays the same keeps its state.
  private mutating func setRotation(
    _ nodes: [RegionNode],
    of application: String,
    into output: inout StageOutput
  ) {
    catchUpAll(into: &output)
    var change = begin()
    var old: [String: Int32] = [:]
    for place in catalog.slots.indices {
      let slot = catalog.slots[place]
      guard slot.isLive, slot.isRotated, slot.application == application else { continue }
      old[slot.region.identifier] = Int32(place)
    }
    var kept: Set<Int32> = []
    graft(nodes, of: application, under: nil, old, &kept, &change)
    for slot in old.values.sorted() where !kept.contains(slot) { retire(slot, in: &change) }
    enqueue(change, into: &output)
    catchUpAll(into: &output)
    rotateAll([application], into: &output)
  }

  private mutating func graft(
    _ nodes: [RegionNode],
    of application: String,
    under parent: Int32?,
    _ old: [String: Int32],
    _ kept: inout Set<Int32>,
    _ change: inout PendingChange
  ) {
    for node in nodes {
      let slot: Int32
      if let place = old[node.region.identifier], catalog.slots[Int(place)].region.isSame(as: node.region) {
        slot = place
        kept.insert(place)
        catalog.update(place, to: node.region, parent: parent)
      } else {
        slot = catalog.add(
          node.region,
          application: application,
          since: current,
          isRotated: true,
          parent: parent
        )
        change.note(slot, of: catalog)
      }
      graft(node.children, of: application, under: slot, old, &kept, &change)
    }
  }

  /// Takes a region out; observers drop their rows of it when they catch up.
  private mutating func retire(_ slot: Int32, in change: inout PendingChange) {
    catalog.retire(slot)
    change.retired.append(slot)
    change.constraints.append(catalog.slots[Int(slot)].region.constraint)
  }

  /// Chooses anew what of the applications' rotations is monitored.
  mutating func rotateAll(_ applications: [String], into output: inout StageOutput) {
    for application in applications where catalog.rotatedApplications.contains(application) {
      for index in states.indices where states[index].isLive {
        rotate(application, of: index, at: current, into: &output)
      }
    }
  }

  /// Every track looks again for who asks about it before it is used next.
  mutating func turnEpoch() {
    epoch &+= 1
    for index in states.indices { states[index].epoch = epoch }
  }

  /// A track looks for who asks about it now; what it knows already decides for those who are new.
  mutating func rematch(track: Int, of index: Int, into output: inout StageOutput) {
    let beacon = states[index].tracks[track].beacon
    let old = catalog.sets[Int(states[index].tracks[track].matchSet)]
    let number = catalog.match(
      beacon,
      observer: states[index].id,
      isKeyable: beacon.kind != .address && beacon.address != nil,
      version: states[index].version
    )
    let new = catalog.sets[Int(number)]
    guard !new.isEmpty else {
      unlist(track: track, of: index)
      forget(track: track, of: index)
      return
    }
    states[index].tracks[track].rematch(
      number,
      epoch: states[index].epoch,
      from: old,
      to: new
    )
    allow(track: track, of: index)
    for asker in new.regions where !old.regions.contains(where: { $0.slot == asker.slot }) {
      meet(asker, track: track, of: index, into: &output)
    }
    for asker in new.beaconRegions where !old.beaconRegions.contains(where: { $0.slot == asker.slot }) {
      meetBeacon(asker, track: track, of: index, into: &output)
    }
    rearm(track: track, of: index)
  }

  /// A region about beacons that is new to a track whose presence under the same policy is decided already.
  mutating func meetBeacon(
    _ asker: MatchSet.Asker,
    track: Int,
    of index: Int,
    into output: inout StageOutput
  ) {
    let presence = states[index].tracks[track][presence: Int(asker.place)]
    guard presence.isHere else { return }
    let state: RegionState = presence.isConfirmed ? .inside : .unmonitored
    let evidence = evidence(.alreadyInside, Int(asker.place), track: track, of: index)
    tell(state, slot: asker.slot, track: track, of: index, at: current, evidence, into: &output)
  }

  /// A region that is new to a track whose presence under the same policy is decided already.
  mutating func meet(
    _ asker: MatchSet.Asker,
    track: Int,
    of index: Int,
    into output: inout StageOutput
  ) {
    let row = row(of: asker.slot, observer: index, at: current)
    let presence = states[index].tracks[track][presence: Int(asker.place)]
    guard presence.isHere else { return }
    states[index].rows[row].tracksInside += 1
    states[index].rows[row].decideAt = .distantFuture
    guard presence.isConfirmed else { return }
    let change = RowChange(
      to: .inside,
      time: current,
      refinement: states[index].tracks[track].beacon,
      evidence: evidence(.alreadyInside, Int(asker.place), track: track, of: index)
    )
    set(row, of: index, change, into: &output)
  }

  /// Answers once where an observer stands.
  private mutating func tellState(
    of identifier: String,
    application: String,
    observer id: ObserverID,
    into output: inout StageOutput
  ) {
    guard let slot = catalog.slot(application: application, identifier: identifier) else { return }
    guard catalog.slots[Int(slot)].region.subject == .observer else { return }
    if let index = place(of: id) {
      let now = current
      if isBehind(index) { catchUp(index, before: now, into: &output) }
      let row = row(of: slot, observer: index, at: current)
      answer(row: row, of: index, rule: .requested, at: current, into: &output)
      return
    }
    // Never heard: nothing is kept for it, so that questions cost no memory.
    let transition = RegionTransition(
      from: .unknown,
      to: .unknown,
      isAnswer: true,
      evidence: Evidence(rule: .requested)
    )
    output.events.append(
      Event(
        stream: stream,
        kind: .regionState,
        time: current,
        decidedAt: current,
        stage: 1,
        subject: .observer(id),
        application: application,
        region: identifier,
        counter: UInt64(bitPattern: current.nanoseconds),
        detail: .region(transition)
      )
    )
  }
}

extension PendingChange {
  /// Takes note of a new region.
  mutating func note(_ slot: Int32, of catalog: RegionCatalog) {
    let entry = catalog.slots[Int(slot)]
    constraints.append(entry.region.constraint)
    if case .beacon(observers: .some) = entry.region.subject { listsObservers = true }
    if entry.assumed == .inside, entry.region.subject == .observer { assumedInside.append(slot) }
  }
}

extension Region {
  /// Whether another region decides alike, so that replacing one by the other restarts nothing.
  func isSame(as other: Region) -> Bool {
    constraint == other.constraint && subject == other.subject && keyedByAddress == other.keyedByAddress
      && presence == other.presence
  }
}
