package import PharosModel

/// The instants at which beacons must be evaluated, the earliest first.
///
/// A binary heap without removal. If a beacon gets an earlier deadline, the old entry remains. If it gets a later one,
/// it is queued again when the old entry comes up. The beacon's own `wake` shows whether a popped entry is still
/// valid.
package struct DeadlineQueue: Sendable {
  /// The deadline of one beacon.
  package struct Entry: Sendable {
    /// The deadline.
    package var due: Timestamp
    /// The beacon's place in the table.
    package var slot: Int
    /// The generation of the place, which tells apart the beacons that have occupied it.
    package var generation: UInt32

    package init(due: Timestamp, slot: Int, generation: UInt32) {
      self.due = due
      self.slot = slot
      self.generation = generation
    }
  }

  private var heap: [Entry] = []

  package init() {}

  /// Adds a deadline.
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

  /// Removes and returns the earliest deadline at or before an instant.
  package mutating func pop(through instant: Timestamp) -> Entry? {
    guard let first = heap.first, first.due <= instant, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return first }
    var entries = heap.mutableSpan
    DeadlineQueue.sink(last, in: &entries)
    return first
  }

  /// Moves an entry down from the free top to where no entry below it is earlier.
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
