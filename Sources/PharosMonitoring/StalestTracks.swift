package import PharosReports

/// The few of many tracks that may go first, found in one pass: a heap of those found so far, the freshest on top.
package struct StalestTracks {
  private struct Entry {
    let isHere: Bool
    let lastHeard: Timestamp
    let beacon: BeaconID
    let place: Int32

    /// Whether it goes before another one; nothing in this depends on a hash or on the number of engines.
    func goes(before other: Entry) -> Bool {
      if isHere != other.isHere { return other.isHere }
      return lastHeard == other.lastHeard ? beacon < other.beacon : lastHeard < other.lastHeard
    }
  }

  private let room: Int
  private var heap: [Entry] = []

  /// Room for so many.
  package init(room: Int) {
    self.room = room
    heap.reserveCapacity(room)
  }

  /// Their places, the first that may go first.
  package var places: [Int32] { heap.sorted { $0.goes(before: $1) }.map(\.place) }

  /// Whether a track may be one of them, by the two things that pass over nearly all.
  private func mayTake(isHere: Bool, lastHeard: Timestamp) -> Bool {
    guard heap.count == room, let top = heap.first else { return true }
    return isHere == top.isHere ? lastHeard <= top.lastHeard : top.isHere
  }

  /// Looks at one track.
  ///
  /// By parts of it: to hand each track over copies it, which took a third of the time of a flood's evictions.
  package mutating func offer(
    isHere: Bool,
    lastHeard: Timestamp,
    beacon: @autoclosure () -> BeaconID,
    at place: Int32
  ) {
    guard mayTake(isHere: isHere, lastHeard: lastHeard) else { return }
    let entry = Entry(isHere: isHere, lastHeard: lastHeard, beacon: beacon(), place: place)
    guard heap.count == room else {
      heap.append(entry)
      rise()
      return
    }
    guard room > 0, entry.goes(before: heap[0]) else { return }
    heap[0] = entry
    sink()
  }

  private mutating func rise() {
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[parent].goes(before: heap[child]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func sink() {
    var parent = 0
    while 2 * parent + 1 < heap.count {
      var child = 2 * parent + 1
      if child + 1 < heap.count, heap[child].goes(before: heap[child + 1]) { child += 1 }
      guard heap[parent].goes(before: heap[child]) else { return }
      heap.swapAt(child, parent)
      parent = child
    }
  }
}
