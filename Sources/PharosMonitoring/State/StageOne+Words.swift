import PharosEvents
import PharosReports

/// What was told after the state was written: it stands, and nothing is told of it again.
extension StageOne {
  /// An observer came or went.
  mutating func heed(_ word: LastTold.ObserverWord, _ floor: Timestamp) {
    guard let index = place(of: word.observer) else {
      guard let index = makeObserver(word.observer, isUp: word.isUp, floor) else { return }
      states[index].isUp = word.isUp
      return
    }
    guard states[index].isUp != word.isUp else { return }
    states[index].isUp = word.isUp
    states[index].isAwaited = word.isUp
    guard !word.isUp else { return resume(index, at: current) }
    states[index].heardBeforeOutage = states[index].life.provenAt
    states[index].life.end()
    for track in states[index].tracks.indices where states[index].tracks[track].isLive {
      let number = Int(states[index].tracks[track].matchSet)
      for place in catalog.sets[number].policies.indices {
        _ = states[index].tracks[track][presence: place].suspended()
      }
    }
    for row in states[index].rows.indices where states[index].rows[row].isLive {
      guard states[index].rows[row].isActive, states[index].rows[row].state != .unmonitored else { continue }
      states[index].rows[row].known = states[index].rows[row].state
      states[index].rows[row].state = .unmonitored
      states[index].rows[row].decideAt = .distantFuture
    }
  }

  /// A region's state changed.
  mutating func heed(
    _ word: LastTold.RegionWord,
    slot: Int32,
    _ floor: Timestamp,
    into output: inout StageOutput
  ) {
    let region = catalog.slots[Int(slot)].region
    switch word.subject {
    case .none: return
    case .beacon(let beacon):
      guard region.subject != .observer else { return }
      for index in states.indices where states[index].isLive {
        guard let track = states[index].track(of: beacon, hash: hash(beacon)) else { continue }
        switch word.state {
        case .outside: endPresences(askedBy: slot, track: track, of: index, into: &output)
        case .unmonitored: holdPresences(askedBy: slot, track: track, of: index)
        case .inside, .unknown: break
        }
      }
    case .observer(let id):
      guard region.subject == .observer, word.state != .unknown else { return }
      guard let index = place(of: id) ?? makeObserver(id, isUp: true, floor) else { return }
      let row = row(of: slot, observer: index, at: current)
      states[index].rows[row].take(word)
      // Who was published was monitored.
      if catalog.slots[Int(slot)].isRotated { states[index].activeNodes.insert(slot) }
      stand(by: word.state, slot: slot, row: row, of: index, into: &output)
    }
  }

  /// Brings the tracks of a region to what was told of it.
  private mutating func stand(
    by state: RegionState,
    slot: Int32,
    row: Int,
    of index: Int,
    into output: inout StageOutput
  ) {
    for track in states[index].tracks.indices where states[index].tracks[track].isLive {
      switch state {
      case .outside: endPresences(askedBy: slot, track: track, of: index, into: &output)
      case .unmonitored: holdPresences(askedBy: slot, track: track, of: index)
      case .inside, .unknown: break
      }
    }
    states[index].rows[row].decideAt = .distantFuture
    guard state == .unmonitored, states[index].canTell, states[index].rows[row].tracksInside == 0 else {
      return
    }
    if states[index].rows[row].known == .inside {
      states[index].rows[row].patience = catalog.slots[Int(slot)].region.presence.patience
    }
    states[index].rows[row].decideAt = current + states[index].rows[row].patience
  }

  /// Ends a track's presences that a region asks about, for all who ask by the same policy.
  ///
  /// Of those the word does not speak of: stage two, which may have them by this observer, is told that it no longer has any word
  /// of the beacon.
  private mutating func endPresences(
    askedBy slot: Int32,
    track: Int,
    of index: Int,
    into output: inout StageOutput
  ) {
    let set = catalog.sets[Int(states[index].tracks[track].matchSet)]
    for asker in set.regions + set.beaconRegions where asker.slot == slot {
      let place = Int(asker.place)
      guard states[index].tracks[track][presence: place].deadlinePassed() != nil else { continue }
      for other in set.beaconRegions where other.place == asker.place && other.slot != slot {
        let evidence = Evidence(rule: .assumed)
        tell(.unknown, slot: other.slot, track: track, of: index, at: current, evidence, into: &output)
      }
      for other in set.regions where other.place == asker.place {
        guard let row = states[index].rowOfSlot[other.slot] else { continue }
        let count = states[index].rows[Int(row)].tracksInside
        states[index].rows[Int(row)].tracksInside = max(0, count - 1)
      }
    }
  }

  /// Holds a track's presences that a region asks about: the next advert confirms them, so that whoever was told that nobody
  /// can tell is told again.
  private mutating func holdPresences(askedBy slot: Int32, track: Int, of index: Int) {
    let set = catalog.sets[Int(states[index].tracks[track].matchSet)]
    for asker in set.regions + set.beaconRegions where asker.slot == slot {
      _ = states[index].tracks[track][presence: Int(asker.place)].suspended()
    }
  }

  /// Makes an observer that is known by hearsay; nil if there is no room, or if its reports do not count.
  private mutating func makeObserver(_ id: ObserverID, isUp: Bool, _ floor: Timestamp) -> Int? {
    guard isAdmitted(id), cells[id.cell % limits.cells].count < limits.observersPerCell else { return nil }
    var state = ObserverState(id: id, entry: entries[id], received: current, time: current)
    state.life = LifeSigns(mode: entries[id]?.liveness ?? .auto)
    state.life.interrupted(until: current)
    state.life.isUnproven = true
    state.silenceFrom = current
    state.isAwaited = isUp
    let counter = UInt64(bitPattern: max(floor.nanoseconds, 0))
    state.countsFrom = floor
    state.ordinal = counter
    state.lifeCounter = counter
    state.rangingCounter = counter
    return add(state)
  }
}

extension RegionRow {
  /// Takes over what was told.
  mutating func take(_ word: LastTold.RegionWord) {
    state = word.state
    known = word.state == .unmonitored ? word.lastKnown : word.state
    enteredAt = known == .inside ? word.enteredAt ?? enteredAt ?? word.time : nil
    isActive = true
  }
}
