import HeapModule
package import PharosModel

/// The instants at which beacons must be evaluated, the earliest first.
///
/// A heap without removal. If a beacon gets an earlier deadline, the old entry remains. If it gets a later one, it is
/// queued again when the old entry comes up. The beacon's own `wake` shows whether a popped entry is still valid.
package struct DeadlineQueue: Sendable {
  /// The deadline of one beacon.
  ///
  /// Of equal deadlines the one with the lower slot and generation comes first, whatever the order of insertion.
  package struct Entry: Comparable, Sendable {
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

    package static func < (left: Entry, right: Entry) -> Bool {
      (left.due, left.slot, left.generation) < (right.due, right.slot, right.generation)
    }
  }

  private var heap = Heap<Entry>()

  package init() {}

  /// Adds a deadline.
  package mutating func insert(_ entry: Entry) { heap.insert(entry) }

  /// Removes and returns the earliest deadline at or before an instant.
  package mutating func pop(through instant: Timestamp) -> Entry? {
    guard let first = heap.min, first.due <= instant else { return nil }
    return heap.popMin()
  }
}
