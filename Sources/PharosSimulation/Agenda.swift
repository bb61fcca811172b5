package import PharosReports

/// Things to come in order of time; of two at the same time, the one that was put in first.
///
/// A binary heap.
package struct Agenda<Entry: Sendable>: Sendable {
  private struct Item: Sendable {
    let time: TimeSpan
    let order: UInt64
    let entry: Entry

    func isBefore(_ other: Item) -> Bool { (time, order) < (other.time, other.order) }
  }

  private var heap: [Item] = []
  private var order: UInt64 = 0

  package init() {}

  /// When the next thing is due, or nil if there is none.
  package var nextTime: TimeSpan? { heap.first?.time }

  /// How many things are to come.
  var count: Int { heap.count }

  /// Puts a thing in.
  ///
  /// - Complexity: O(log count).
  package mutating func add(_ entry: Entry, at time: TimeSpan) {
    heap.append(Item(time: time, order: order, entry: entry))
    order += 1
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes out the next thing, or nil if there is none.
  ///
  /// - Complexity: O(log count).
  package mutating func removeNext() -> (time: TimeSpan, entry: Entry)? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return (first.time, first.entry) }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in 2 * parent + 1...2 * parent + 2
      where child < heap.count && heap[child].isBefore(heap[least]) {
        least = child
      }
      guard least != parent else { return (first.time, first.entry) }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
