import PharosEvents
import PharosReports

extension StageOne {
  /// Hears one identity of an advert; true if somebody asks about it.
  mutating func hear(
    _ beacon: BeaconID,
    power: Double?,
    _ hearing: Hearing,
    of index: Int,
    into output: inout StageOutput
  ) -> Bool {
    var isMatched = false
    if catalog.hasKeys, beacon.kind != .address, let address = hearing.keyAddress {
      let keyed = beacon.address == nil ? beacon.keyed(by: address) : beacon
      if let set = hearOne(keyed, power: power, hearing, of: index, into: &output) {
        isMatched = true
        if catalog.sets[Int(set)].replacesPlain { return true }
      }
    }
    if hearOne(beacon, power: power, hearing, of: index, into: &output) != nil { isMatched = true }
    return isMatched
  }

  /// Hears one key; gives the match set of its track, or nil if nobody asks about it.
  private mutating func hearOne(
    _ beacon: BeaconID,
    power: Double?,
    _ hearing: Hearing,
    of index: Int,
    into output: inout StageOutput
  ) -> Int32? {
    let hash = hash(beacon)
    var found = states[index].hear(
      beacon,
      hash: hash,
      power: power,
      hearing,
      catalog: catalog,
      filter: filter
    )
    if case .stranger = found {
      guard let track = track(of: beacon, hash: hash, power: power, hearing, of: index, into: &output) else {
        return nil
      }
      found = states[index].hear(track: track, power: power, hearing, catalog: catalog, filter: filter)
    }
    switch found {
    case .stranger: return nil
    case .settled(let set, let hasJoined):
      if hasJoined { count { $0.joined += 1 } }
      if let track = states[index].track(of: beacon, hash: hash) {
        if let address = hearing.keyAddress {
          states[index].note(address, of: track, atMost: limits.tracksPerObserver)
        }
        rearm(track: track, of: index)
      }
      return set
    case .attention(let track, let outcome):
      if outcome.hasJoined { count { $0.joined += 1 } }
      attend(to: outcome, track: track, hearing, of: index, into: &output)
      return states[index].tracks[track].matchSet
    }
  }

  /// The track of an identity, made now if somebody asks about it and the report is on time.
  private mutating func track(
    of beacon: BeaconID,
    hash: UInt64,
    power: Double?,
    _ hearing: Hearing,
    of index: Int,
    into output: inout StageOutput
  ) -> Int? {
    if let track = states[index].track(of: beacon, hash: hash) {
      // It is known, but who asks about it may have changed.
      rematch(track: track, of: index, into: &output)
      return states[index].tracks[track].isLive ? track : nil
    }
    guard catalog.mayAsk(about: beacon) else { return nil }
    let isKeyable = hearing.keyAddress != nil
    let mark = Stranger(hash, observer: index, epoch: epoch, isKeyable: isKeyable)
    if strangers[mark.place] == mark.word { return nil }
    let set = catalog.match(
      beacon,
      observer: states[index].id,
      isKeyable: isKeyable,
      version: states[index].version
    )
    guard !catalog.sets[Int(set)].isEmpty else {
      strangers[mark.place] = mark.word
      return nil
    }
    guard !hearing.time.isLate else { return nil }
    return makeTrack(
      beacon,
      hash: hash,
      power: power,
      set: set,
      at: hearing.time.event,
      of: index,
      into: &output
    )
  }

  private mutating func makeTrack(
    _ beacon: BeaconID,
    hash: UInt64,
    power: Double?,
    set: Int32,
    at time: Timestamp,
    of index: Int,
    into output: inout StageOutput
  ) -> Int {
    makeRoom(for: index, into: &output)
    var track = Track(
      beacon: beacon,
      at: time,
      number: set,
      set: catalog.sets[Int(set)],
      epoch: states[index].epoch
    )
    let facts = catalog.facts(of: beacon)
    track.measuredPower = facts.measuredPower ?? power
    track.isPowerDeclared = facts.measuredPower != nil
    track.declaredInterval = facts.interval.map { Float($0.seconds) }
    let place: Int
    if let free = states[index].freeTracks.popLast() {
      place = Int(free)
      states[index].tracks[place] = track
    } else {
      place = states[index].tracks.count
      states[index].tracks.append(track)
    }
    states[index].table.insert(hash, place: place)
    let scope = IdentityScope(beacon)
    states[index].scopes |= scope.bit
    states[index].tracks.note(scope, of: place)
    count { $0.tracks += 1 }
    tracksOfCell[states[index].id.cell % limits.cells] += 1
    allow(track: place, of: index)
    meetRegions(of: place, observer: index, at: time, into: &output)
    return place
  }

  /// Does what a sample of a track asks for beyond the track itself.
  mutating func attend(
    to outcome: Track.Outcome,
    track: Int,
    _ hearing: Hearing,
    of index: Int,
    into output: inout StageOutput
  ) {
    if hearing.time.isLate {
      rearm(track: track, of: index)
      return
    }
    if outcome.needsAllowance {
      if !outcome.hasJoined, states[index].tracks[track].isAtTurn { share(track: track, of: index) }
      allow(track: track, of: index)
      if outcome.hasRecovered { states[index].pool.noteShadow() }
      if outcome.pause > AdaptiveSilence.bodyLeast { doubt(outcome.pause, track: track, of: index) }
    }
    if outcome.entered | outcome.confirmed != 0 {
      // What comes behind a restart with honest ages is dated by them: a beacon may have left since.
      let heard = states[index].tracks[track].lastHeard
      let isDatedByAge = outcome.entered != 0 && states[index].isInterruptedLast
      let ownTime = isDatedByAge ? heard : max(heard, states[index].monitoringSince)
      publish(outcome, track: track, of: index, at: ownTime, into: &output)
    }
    rearm(track: track, of: index)
    let set = Int(states[index].tracks[track].matchSet)
    if catalog.sets[set].needsSeconds, !states[index].tracks[track].isListed { list(track: track, of: index) }
    if let address = hearing.keyAddress {
      states[index].note(address, of: track, atMost: limits.tracksPerObserver)
    }
  }

  /// Sets a track's timer for its first deadline.
  mutating func rearm(track: Int, of index: Int) {
    let deadline = states[index].deadline(track: track, catalog: catalog, retention: limits.trackRetention)
    arm(track: track, of: index, for: deadline)
  }

  /// A track's timer fired, or its observer proved that it lives: ends what is over.
  mutating func settle(
    track: Int,
    of index: Int,
    hasWaited: Bool = false,
    into output: inout StageOutput
  ) {
    guard states[index].tracks[track].isLive else { return }
    if states[index].tracks[track].epoch != states[index].epoch {
      rematch(track: track, of: index, into: &output)
      guard states[index].tracks[track].isLive else { return }
    }
    let policies = catalog.sets[Int(states[index].tracks[track].matchSet)].policies
    var isHere = false
    var isFresh = false
    for place in policies.indices where states[index].tracks[track][presence: place].isHere {
      isHere = true
      guard var deadline = states[index].deadline(place, track: track, catalog: catalog) else { continue }
      guard firing(deadline.time, of: index) <= current else { continue }
      if !isFresh {
        // The decision stands on all that is known now; what the others have taught since may still move it.
        isFresh = true
        allow(track: track, of: index)
        guard let moved = states[index].deadline(place, track: track, catalog: catalog) else { continue }
        deadline = moved
        guard firing(deadline.time, of: index) <= current else { continue }
      }
      if isBelievable(deadline, track: track, of: index) {
        leave(place, track: track, of: index, deadline: deadline, hasWaited: hasWaited, into: &output)
      } else if !states[index].tracks[track][presence: place].isWaiting {
        states[index].tracks[track][presence: place].isWaiting = true
        states[index].pendingTracks.append(Int32(track))
      }
    }
    let forgotten = states[index].tracks[track].lastHeard + limits.trackRetention
    if !isHere, firing(forgotten, of: index) <= current {
      if states[index].tracks[track].isListed {
        arm(track: track, of: index, for: current + .minutes(1))
      } else {
        forget(track: track, of: index)
      }
      return
    }
    rearm(track: track, of: index)
  }

  /// Takes a track off the list of those that are due for a second.
  mutating func unlist(track: Int, of index: Int) {
    guard states[index].tracks[track].isListed else { return }
    states[index].tracks[track].isListed = false
    states[index].listed.removeAll { $0 == Int32(track) }
  }

  /// Takes a track that is outside everywhere out.
  mutating func forget(track: Int, of index: Int) {
    let beacon = states[index].tracks[track].beacon
    states[index].table.remove(hash(beacon), place: track)
    states[index].tracks[track].isLive = false
    disarm(track: track, of: index)
    states[index].freeTracks.append(Int32(track))
    if !states[index].batteryTold.isEmpty { states[index].batteryTold[beacon] = nil }
    count { $0.tracks -= 1 }
    tracksOfCell[states[index].id.cell % limits.cells] -= 1
  }
}
