import PharosReports

/// The instants at which beacons want to be looked at again, the earliest first.
///
/// A binary heap without removal: a beacon that wants to be looked at earlier leaves the old entry behind, one that wants it
/// later is put back when it comes up; the beacon's own `wake` tells whether a popped entry still counts.
struct DeadlineQueue: Sendable {
  /// One beacon's wish.
  struct Entry: Sendable {
    /// When.
    var due: Timestamp
    /// The beacon's place in the table.
    var slot: Int
    /// Which of the beacons that had that place.
    var generation: UInt32
  }

  private var heap: [Entry] = []

  /// Adds a wish.
  mutating func insert(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard isBefore(heap[child], heap[parent]) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  /// The earliest wish due at or before an instant, taken out.
  mutating func pop(through instant: Timestamp) -> Entry? {
    guard let first = heap.first, first.due <= instant else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in (parent * 2 + 1)..<(parent * 2 + 3) where child < heap.count {
        if isBefore(heap[child], heap[least]) { least = child }
      }
      guard least != parent else { break }
      heap.swapAt(parent, least)
      parent = least
    }
    return first
  }

  private func isBefore(_ left: Entry, _ right: Entry) -> Bool {
    (left.due, left.slot, left.generation) < (right.due, right.slot, right.generation)
  }
}
