import PharosEvents
import PharosReports

/// How observers catch up with a change of the regions.
///
/// A change is entered into the catalog at once. What follows from it for one observer depends on that observer alone, so
/// each does that in its own time: at the latest when it is heard or one of its timers fires, otherwise a slice of a quarter
/// of a millisecond at a time. What is decided then carries the instant of the change, and whoever publishes waits until
/// all have caught up, so that nobody sees how the work was cut.
extension StageOne {
  /// How much catching up is done at a time: about a quarter of a millisecond.
  ///
  /// - Units: steps of about 30 ns, the cost of a look at a track.
  static let sliceCost = 8_192
  /// Up to so many tracks and observers a change is finished when it comes, since that takes less than a slice.
  static let fewTracks: UInt64 = 128
  /// What it costs, in the same steps, to look at an observer, to give a track another match set, and to give it other
  /// policies.
  private static let observerCost = 4
  private static let rematchCost = 12
  private static let policyCost = 60
  /// More changes than this do not wait: the 1,025th is finished at once, and all before it.
  private static let mostPending = 1_024

  /// Whether an observer has not caught up with the latest change.
  func isBehind(_ index: Int) -> Bool { states[index].version != catalog.version }

  /// Lets all observers catch up with a change that is in the catalog; at once where that takes no time.
  mutating func enqueue(_ change: PendingChange, into output: inout StageOutput) {
    pendingChanges.append(change)
    behind = Int(counters.observers)
    let isSoonDone = counters.tracks + counters.observers <= StageOne.fewTracks
    if isSoonDone || pendingChanges.count > StageOne.mostPending {
      catchUpAll(into: &output)
    }
  }

  /// Lets all observers catch up now.
  mutating func catchUpAll(into output: inout StageOutput) {
    guard !pendingChanges.isEmpty else { return }
    _ = catchUpSlice(.max, into: &output)
  }

  /// Lets observers catch up one after the other until so much has been done; true if none is behind any more.
  mutating func catchUpSlice(_ cost: Int, into output: inout StageOutput) -> Bool {
    guard !pendingChanges.isEmpty else { return true }
    var left = cost
    while behind > 0, left > 0 {
      if nextBehind >= states.count { nextBehind = 0 }
      if states[nextBehind].isLive, isBehind(nextBehind) {
        left -= catchUp(one: nextBehind, into: &output)
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
  mutating func catchUp(_ index: Int, into output: inout StageOutput) {
    _ = catchUp(one: index, into: &output)
    if behind == 0 { finish() }
  }

  /// Lets an observer catch up that is being heard, and fires what was due for it in between.
  mutating func catchUp(_ index: Int, before received: Timestamp, into output: inout StageOutput) {
    catchUp(index, into: &output)
    run(upTo: received, into: &output)
  }

  private mutating func finish() {
    pendingChanges.removeAll(keepingCapacity: true)
    catalog.forgetRetired()
  }

  /// Performs all changes that an observer has not seen; gives what that cost.
  private mutating func catchUp(one index: Int, into output: inout StageOutput) -> Int {
    let now = current
    let first = pendingChanges.firstIndex { $0.version > states[index].version } ?? pendingChanges.count
    var cost = StageOne.observerCost + findConcerned(of: index, from: first)
    for number in first..<pendingChanges.count {
      states[index].version = pendingChanges[number].version
      current = pendingChanges[number].instant
      cost += perform(number, of: index, into: &output)
    }
    states[index].version = catalog.version
    behind -= 1
    current = now
    return cost
  }

  /// Finds the tracks that the changes from one on may concern.
  private mutating func findConcerned(of index: Int, from first: Int) -> Int {
    concerned.removeAll(keepingCapacity: true)
    let known = states[index].scopes
    var scopes: [IdentityScope] = []
    for change in pendingChanges[first...] where change.scopes & known != 0 {
      for constraint in change.constraints {
        let scope = IdentityScope(constraint)
        if !scopes.contains(scope) { scopes.append(scope) }
      }
    }
    guard !scopes.isEmpty else { return 0 }
    let tracks = states[index].tracks.borrowed()
    // To pass over a page costs a fraction of a look at a track.
    return tracks.find(scopes, &concerned) + tracks.count / 64
  }

  /// Performs one change for an observer whose concerned tracks have been found; gives what that cost.
  private mutating func perform(_ number: Int, of index: Int, into output: inout StageOutput) -> Int {
    for slot in pendingChanges[number].retired { dropRow(of: slot, observer: index) }
    let cost = concerned.count + shiftConcerned(by: number, of: index, into: &output)
    return cost + meetAssumed(by: number, of: index)
  }

  /// Gives the tracks that fulfil one of a change's constraints the match sets that they have now; gives what that cost.
  private mutating func shiftConcerned(by number: Int, of index: Int, into output: inout StageOutput) -> Int {
    // All are looked at before the first is changed: in place, since an observer that is asked is copied.
    let tracks = states[index].tracks.borrowed()
    // Once for all, since every track is held against every change.
    let constraints = pendingChanges[number].constraints
    var hits: [(place: Int32, fulfilled: UInt64)] = []
    var hasListed = false
    for place in concerned {
      guard let track = tracks[place], track.pointee.isLive else { continue }
      let fulfilled = constraints.fulfilled(by: track.pointee.beacon)
      guard fulfilled != 0 else { continue }
      hasListed = track.pointee.isListed || hasListed
      hits.append((place, fulfilled))
    }
    var cost = 0
    for hit in hits {
      cost += shift(track: Int(hit.place), of: index, hit.fulfilled, by: number, into: &output)
    }
    if hasListed { unlistForgotten(of: index) }
    return cost
  }

  /// Gives an observer the rows of the regions that it is taken to be inside; gives what that cost.
  private mutating func meetAssumed(by number: Int, of index: Int) -> Int {
    var cost = 0
    for slot in pendingChanges[number].assumedInside {
      cost += StageOne.rematchCost
      _ = row(of: slot, observer: index, at: current)
    }
    return cost
  }

  /// Takes out the row of a region that is monitored no more; nothing is published about it.
  private mutating func dropRow(of slot: Int32, observer index: Int) {
    guard let row = states[index].rowOfSlot.removeValue(forKey: slot) else { return }
    states[index].rows[Int(row)].isLive = false
    states[index].deadRows += 1
    states[index].activeNodes.remove(slot)
  }

  /// A track that a change concerns gets the match set that it has now; gives what that cost.
  private mutating func shift(
    track: Int,
    of index: Int,
    _ fulfilled: UInt64,
    by number: Int,
    into output: inout StageOutput
  ) -> Int {
    let epoch = states[index].epoch
    guard let entry = states[index].tracks.borrowed()[Int32(track)] else { return 0 }
    let old = entry.pointee.matchSet
    guard entry.pointee.epoch == epoch else {
      rematch(track: track, of: index, into: &output)
      return StageOne.policyCost
    }
    let transition = transition(from: old, track: track, of: index, fulfilled, by: number)
    guard transition.set != old else { return StageOne.rematchCost }
    guard !transition.isEmpty else {
      states[index].tracks[track].isListed = false
      forget(track: track, of: index)
      return StageOne.rematchCost
    }
    states[index].tracks[track].rematch(
      transition.set,
      epoch: states[index].epoch,
      from: catalog.sets[Int(old)],
      to: catalog.sets[Int(transition.set)]
    )
    if transition.hasOtherPolicies { allow(track: track, of: index) }
    for asker in transition.regions { meet(asker, track: track, of: index, into: &output) }
    for asker in transition.beaconRegions { meetBeacon(asker, track: track, of: index, into: &output) }
    if transition.hasOtherPolicies || !states[index].tracks[track].isArmed { rearm(track: track, of: index) }
    return transition.hasOtherPolicies ? StageOne.policyCost : StageOne.rematchCost
  }

  private mutating func transition(
    from old: Int32,
    track: Int,
    of index: Int,
    _ fulfilled: UInt64,
    by number: Int
  ) -> PendingChange.Transition {
    guard let beacon = states[index].tracks.borrowed()[Int32(track)]?.pointee.beacon else {
      preconditionFailure("no track at \(track)")
    }
    let isKeyed = beacon.kind != .address && beacon.address != nil
    let standsInZone = states[index].standsInZone
    let isCommon =
      !isKeyed && !pendingChanges[number].listsObservers && (!standsInZone || catalog.isZonedByAskers)
      && pendingChanges[number].constraints.count <= 64
    let key = PendingChange.Case(set: old, fulfilled: fulfilled, standsInZone: standsInZone)
    if isCommon, let known = pendingChanges[number].transitions[key] { return known }
    let set = catalog.match(
      beacon,
      observer: states[index].id,
      isKeyable: isKeyed,
      version: states[index].version
    )
    let transition = PendingChange.Transition(from: catalog.sets[Int(old)], to: catalog.sets[Int(set)], set)
    if isCommon { pendingChanges[number].transitions[key] = transition }
    return transition
  }
}

extension [BeaconConstraint] {
  /// Bits of the constraints that a beacon fulfils; what comes behind the 64th shares its bit.
  func fulfilled(by beacon: BeaconID) -> UInt64 {
    var bits: UInt64 = 0
    for place in indices where self[place].matches(beacon) {
      bits |= 1 << UInt64(Swift.min(place, 63))
    }
    return bits
  }
}

extension PendingChange.Transition {
  init(from old: MatchSet, to new: MatchSet, _ number: Int32) {
    set = number
    isEmpty = new.isEmpty
    hasOtherPolicies = old.policies != new.policies || old.hasLevels != new.hasLevels
    regions = new.regions.filter { asker in !old.regions.contains { $0.slot == asker.slot } }
    beaconRegions = new.beaconRegions.filter { asker in
      !old.beaconRegions.contains { $0.slot == asker.slot }
    }
  }
}
