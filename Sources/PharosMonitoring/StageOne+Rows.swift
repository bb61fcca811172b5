import PharosEvents
import PharosReports

/// A change of a row that is being published.
struct RowChange {
  var to: RegionState
  var time: Timestamp
  var refinement: BeaconID?
  var evidence: Evidence
}

extension StageOne {
  /// How long a live observer must have heard nothing of a region before it is outside.
  ///
  /// Thirty seconds: Core Location's and AltBeacon's usual patience.
  static let patience = TimeSpan.seconds(30)

  /// The row of a region at an observer, made now if it is the first match.
  mutating func row(of slot: Int32, observer index: Int, at time: Timestamp) -> Int {
    if let row = states[index].rowOfSlot[slot] { return Int(row) }
    let entry = catalog.slots[Int(slot)]
    let began = max(entry.since, states[index].monitoringSince)
    let state = initialState(of: entry, began: began, observer: index, at: time)
    var row = RegionRow(
      slot: slot,
      state: state,
      known: state == .unmonitored ? entry.assumed : state,
      counter: UInt64(
        bitPattern: max(entry.since, states[index].firstHeard, states[index].countsFrom).nanoseconds
      ) &+ UInt64(slot) &* 1_000,
      isActive: !entry.isRotated || states[index].activeNodes.contains(slot)
    )
    if state == .inside { row.enteredAt = began }
    if state == .inside || state == .unknown { row.decideAt = began + row.patience }
    let place = states[index].keep(row)
    states[index].rowOfSlot[slot] = Int32(place)
    arm(row: place, of: index)
    return place
  }

  private func initialState(
    of slot: RegionCatalog.Slot,
    began: Timestamp,
    observer index: Int,
    at time: Timestamp
  ) -> RegionState {
    guard states[index].canTell else { return .unmonitored }
    switch slot.assumed {
    case .inside: return .inside
    case .outside: return .outside
    case .unknown, .unmonitored:
      return time >= began + StageOne.patience ? .outside : .unknown
    }
  }

  /// Makes the rows of a new track, so that what was asked for is decided from now on.
  mutating func meetRegions(
    of track: Int,
    observer index: Int,
    at time: Timestamp,
    into output: inout StageOutput
  ) {
    for asker in catalog.sets[Int(states[index].tracks[track].matchSet)].regions {
      _ = row(of: asker.slot, observer: index, at: time)
    }
  }

  /// Publishes what a sample meant to each policy's regions.
  mutating func publish(
    _ outcome: Track.Outcome,
    track: Int,
    of index: Int,
    at time: Timestamp,
    into output: inout StageOutput
  ) {
    let number = Int(states[index].tracks[track].matchSet)
    for place in catalog.sets[number].policies.indices {
      let bit: UInt64 = 1 << UInt64(place)
      let hasEntered = outcome.entered & bit != 0
      guard hasEntered || outcome.confirmed & bit != 0 else { continue }
      if hasEntered { allow(track: track, of: index) }
      var evidence = evidence(hasEntered ? .samples : .recovery, place, track: track, of: index)
      if hasEntered, place == 0 { evidence.spread = outcome.spread }
      tell(.inside, place, track: track, of: index, at: time, evidence, into: &output)
      let change = RowChange(
        to: .inside,
        time: time,
        refinement: states[index].tracks[track].beacon,
        evidence: evidence
      )
      move(place, in: number, by: hasEntered ? 1 : 0, change, of: index, into: &output)
    }
  }

  /// A deadline has passed and the observer lives: the beacon is gone.
  mutating func leave(
    _ place: Int,
    track: Int,
    of index: Int,
    deadline: (time: Timestamp, isLevel: Bool),
    hasWaited: Bool,
    into output: inout StageOutput
  ) {
    let policy = catalog.policies[Int(states[index].tracks[track][presence: place].policy)]
    let silence: Evidence.Rule =
      switch policy.silence {
      case .fixed: .fixedSilence
      case .adaptive, .never: .adaptiveSilence
      }
    var evidence = evidence(deadline.isLevel ? .level : silence, place, track: track, of: index)
    // Silence of an observer that could not tell is none: it counts from its return.
    let silentSince = max(states[index].tracks[track].lastHeard, states[index].silenceFrom)
    // Nor is that of one that was deaf for a while.
    let deaf = deadline.isLevel ? .zero : states[index].deafCredit(track: track)
    evidence.gap = max(.zero, deadline.time - deaf - silentSince)
    if deaf > .zero { evidence.deafFor = deaf }
    if deadline.isLevel {
      explainLevel(&evidence, place, track: track, of: index, at: deadline.time)
    } else {
      explainSilence(&evidence, place, track: track, of: index)
    }
    if hasWaited, states[index].life.lastProof > deadline.time {
      evidence.waitedForProof = states[index].life.lastProof - deadline.time
    }
    guard states[index].tracks[track][presence: place].deadlinePassed() != nil else { return }
    tell(.outside, place, track: track, of: index, at: deadline.time, evidence, into: &output)
    let change = RowChange(
      to: .outside,
      time: deadline.time,
      refinement: states[index].tracks[track].beacon,
      evidence: evidence
    )
    let number = Int(states[index].tracks[track].matchSet)
    move(place, in: number, by: -1, change, of: index, into: &output)
  }

  /// A track goes although its beacon may be here: nobody can tell any more.
  mutating func abandon(
    track: Int,
    of index: Int,
    rule: Evidence.Rule,
    into output: inout StageOutput
  ) {
    let number = Int(states[index].tracks[track].matchSet)
    for place in catalog.sets[number].policies.indices {
      guard states[index].tracks[track][presence: place].isHere else { continue }
      let evidence = evidence(rule, place, track: track, of: index)
      _ = states[index].tracks[track][presence: place].deadlinePassed()
      tell(.unmonitored, place, track: track, of: index, at: current, evidence, into: &output)
      let change = RowChange(
        to: .unmonitored,
        time: current,
        refinement: states[index].tracks[track].beacon,
        evidence: evidence
      )
      move(place, in: number, by: -1, change, of: index, into: &output)
    }
  }

  /// Counts a track in or out of the rows of a policy's regions, and publishes what changes by that.
  private mutating func move(
    _ place: Int,
    in number: Int,
    by step: Int32,
    _ change: RowChange,
    of index: Int,
    into output: inout StageOutput
  ) {
    var turned: [String] = []
    for asker in catalog.sets[number].regions where asker.place == Int32(place) {
      let slot = catalog.slots[Int(asker.slot)]
      guard slot.isLive(in: states[index].version) else { continue }
      let row = row(of: asker.slot, observer: index, at: change.time)
      let before = states[index].rows[row].tracksInside
      states[index].rows[row].tracksInside = max(0, before + step)
      let after = states[index].rows[row].tracksInside
      if change.to == .inside {
        states[index].rows[row].decideAt = .distantFuture
        states[index].rows[row].patience = StageOne.patience
      }
      if change.to == .inside || after == 0 { set(row, of: index, change, into: &output) }
      if slot.isRotated, (before == 0) != (after == 0), !turned.contains(slot.application) {
        turned.append(slot.application)
      }
    }
    for application in turned { rotate(application, of: index, at: change.time, into: &output) }
  }

  /// Gives a row a state and publishes the change, if it is one and the row is published at all.
  mutating func set(_ row: Int, of index: Int, _ told: RowChange, into output: inout StageOutput) {
    let before = states[index].rows[row]
    guard before.isActive, before.state != told.to else { return }
    let region = catalog.slots[Int(before.slot)].region
    let basis = before.state == .unmonitored ? before.known : before.state
    var change = told
    if change.to == .outside, basis == .inside, let entered = before.enteredAt {
      // A region that came while its beacon's exit waited for late reports is not left before it was entered.
      change.time = max(change.time, entered)
    }
    states[index].rows[row].state = change.to
    if change.to != .unmonitored {
      states[index].rows[row].known = change.to
    } else {
      states[index].rows[row].known = before.state
      states[index].rows[row].decideAt = .distantFuture
    }
    if change.to == .inside, basis != .inside { states[index].rows[row].enteredAt = change.time }
    var transition = RegionTransition(
      from: before.state,
      to: change.to,
      refinement: change.refinement,
      evidence: change.evidence
    )
    if change.to == .outside, basis == .inside { transition.enteredAt = before.enteredAt }
    emit(.regionState, transition, row: row, of: index, at: change.time, into: &output)
    switch change.to {
    case .inside where basis != .inside && region.notifyOnEntry:
      emit(.regionEnter, transition, row: row, of: index, at: change.time, into: &output)
    case .outside where basis == .inside && region.notifyOnExit:
      emit(.regionExit, transition, row: row, of: index, at: change.time, into: &output)
    case .unmonitored:
      emit(.regionUnmonitored, transition, row: row, of: index, at: change.time, into: &output)
    case .inside, .outside, .unknown: break
    }
    if change.to == .outside { states[index].rows[row].enteredAt = nil }
    states[index].rows[row].counter += 1
  }

  /// A row's time is up: a live observer that has heard nothing of the region is outside.
  ///
  /// Time in which the observer was deaf does not count.
  mutating func decide(row: Int, of index: Int, into output: inout StageOutput) {
    guard row < states[index].rows.count, states[index].rows[row].isLive else { return }
    let entry = states[index].rows[row]
    guard entry.decideAt != .distantFuture, states[index].canTell else { return }
    let deafFor = states[index].life.reception.spans.credit(since: entry.decideAt - entry.patience)
    let deadline = entry.decideAt + deafFor
    guard firing(deadline, of: index) <= current else {
      arm(row: row, of: index, for: deadline)
      return
    }
    guard states[index].rows[row].tracksInside == 0 else {
      states[index].rows[row].decideAt = .distantFuture
      return
    }
    guard states[index].life.proves(after: deadline) else {
      if !states[index].rows[row].isWaiting { states[index].pendingRows.append(Int32(row)) }
      states[index].rows[row].isWaiting = true
      return
    }
    states[index].rows[row].decideAt = .distantFuture
    states[index].rows[row].isWaiting = false
    var evidence = Evidence(rule: .neverHeard)
    evidence.window = entry.patience
    evidence.gap = entry.patience
    if deafFor > .zero { evidence.deafFor = deafFor }
    states[index].rows[row].patience = StageOne.patience
    set(row, of: index, RowChange(to: .outside, time: deadline, evidence: evidence), into: &output)
  }
}
