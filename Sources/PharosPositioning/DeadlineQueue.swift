package import PharosReports

/// The instants at which beacons want to be looked at again, the earliest first.
///
/// A binary heap without removal: a beacon that wants to be looked at earlier leaves the old entry behind, one that wants it
/// later is put back when it comes up; the beacon's own `wake` tells whether a popped entry still counts.
package struct DeadlineQueue: Sendable {
  /// One beacon's wish.
  package struct Entry: Sendable {
    /// When.
    package var due: Timestamp
    /// The beacon's place in the table.
    package var slot: Int
    /// Which of the beacons that had that place.
    package var generation: UInt32

    package init(due: Timestamp, slot: Int, generation: UInt32) {
      self.due = due
      self.slot = slot
      self.generation = generation
    }
  }

  private var heap: [Entry] = []

  package init() {}

  /// Adds a wish.
  package mutating func insert(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard DeadlineQueue.isBefore(entry, heap[parent]) else { break }
      heap[child] = heap[parent]
      child = parent
    }
    heap[child] = entry
  }

  /// The earliest wish due at or before an instant, taken out.
  package mutating func pop(through instant: Timestamp) -> Entry? {
    guard let first = heap.first, first.due <= instant, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return first }
    var entries = heap.mutableSpan
    DeadlineQueue.sink(last, in: &entries)
    return first
  }

  /// Has an entry sink from the top, which is free, to where nothing below it is earlier.
  private static func sink(_ entry: Entry, in heap: inout MutableSpan<Entry>) {
    let count = heap.count
    var parent = 0
    while true {
      var least = parent * 2 + 1
      guard least < count else { break }
      if least + 1 < count, isBefore(heap[least + 1], heap[least]) { least += 1 }
      guard isBefore(heap[least], entry) else { break }
      heap[parent] = heap[least]
      parent = least
    }
    heap[parent] = entry
  }

  private static func isBefore(_ left: Entry, _ right: Entry) -> Bool {
    if left.due != right.due { return left.due < right.due }
    return (left.slot, left.generation) < (right.slot, right.generation)
  }
}
