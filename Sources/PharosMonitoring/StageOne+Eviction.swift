import PharosEvents
import PharosReports

/// Who goes when there is no room.
///
/// Tracks go before they hurt anybody else: an observer with too many lets its own go, and where all observers of a cell
/// together have too many, the one with most of them does. Of an observer's tracks those go first that are here by nobody's
/// rule, which is what made-up identities are, and of those the stalest.
extension StageOne {
  /// How long an observer must have been heard to count as established.
  ///
  /// A minute: names that are made up one after the other never get there.
  private static let establishment = TimeSpan.minutes(1)
  /// How long an established observer may be silent before it goes like any other.
  ///
  /// Ten minutes: whoever is really there reports far more often.
  private static let staleness = TimeSpan.minutes(10)

  /// Lets tracks go if an observer, or all of its cell together, has no room for another one.
  mutating func makeRoom(for index: Int, into output: inout StageOutput) {
    if states[index].table.count >= limits.tracksPerObserver {
      evictTracks(limits.trackEviction, of: index, into: &output)
    }
    let cell = states[index].id.cell % limits.cells
    guard tracksOfCell[cell] >= limits.tracksPerCell else { return }
    let greatest = cells[cell].max {
      let (left, right) = (Int($0), Int($1))
      let counts = (states[left].table.count, states[right].table.count)
      return counts.0 == counts.1 ? states[left].id < states[right].id : counts.0 < counts.1
    }
    guard let greatest else { return }
    if isBehind(Int(greatest)) { catchUp(Int(greatest), into: &output) }
    evictTracks(limits.trackEviction, of: Int(greatest), into: &output)
  }

  /// Lets the stalest of an observer's tracks go; those inside become unmonitored, which is no exit.
  private mutating func evictTracks(_ number: Int, of index: Int, into output: inout StageOutput) {
    var hasListed = false
    for place in states[index].stalest(number) {
      let track = Int(place)
      counters.trackEvictions += 1
      abandon(track: track, of: index, rule: .eviction, into: &output)
      hasListed = states[index].tracks[track].isListed || hasListed
      states[index].tracks[track].isListed = false
      forget(track: track, of: index)
    }
    if hasListed { unlistForgotten(of: index) }
  }

  /// Takes tracks that were forgotten off the list of those that are due for a second.
  mutating func unlistForgotten(of index: Int) {
    var listed: [Int32] = []
    swap(&listed, &states[index].listed)
    listed.removeAll { !states[index].tracks[Int($0)].isListed }
    swap(&listed, &states[index].listed)
  }

  /// Lets a sixteenth of a cell's observers go, so that a flood of names costs little each; what other cells hold has no
  /// say, since they may be in another engine.
  ///
  /// The stalest go, and before all that are established those that are not: a flood of made-up names comes and goes by
  /// itself, and the gateways of the house stay.
  mutating func evictObservers(of cell: Int, into output: inout StageOutput) {
    let all = cells[cell].map { place in
      let index = Int(place)
      return (
        isKept: isEstablished(index), time: states[index].lastReceived, id: states[index].id, index: index
      )
    }
    let ordered = all.sorted { left, right in
      if left.isKept != right.isKept { return right.isKept }
      return (left.time, left.id) < (right.time, right.id)
    }
    for observer in ordered.prefix(max(1, limits.observersPerCell / 16)) {
      counters.observerEvictions += 1
      letGo(observer.index, into: &output)
    }
    cells[cell].removeAll { !states[Int($0)].isLive }
  }

  /// Whether an observer was heard for some time, and lately.
  private func isEstablished(_ index: Int) -> Bool {
    let last = states[index].lastReceived
    return last - states[index].firstHeard >= StageOne.establishment && current - last <= StageOne.staleness
  }
}

extension ObserverState {
  /// The places of so many of its tracks that may go first, in that order.
  fileprivate mutating func stalest(_ number: Int) -> [Int32] {
    let tracks = tracks.borrowed()
    var found = StalestTracks(room: number)
    for place in 0..<Int32(tracks.count) {
      guard let track = tracks[place], track.pointee.isLive else { continue }
      found.offer(
        isHere: track.pointee.isHereByAnyRule,
        lastHeard: track.pointee.lastHeard,
        beacon: track.pointee.beacon,
        at: place
      )
    }
    return found.places
  }
}
