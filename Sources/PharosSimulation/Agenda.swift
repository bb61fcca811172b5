package import PharosModel

/// A queue of entries in order of time; of two entries at the same time, the one added first comes first.
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

  /// The time of the next entry, or nil if there is none.
  package var nextTime: TimeSpan? { heap.first?.time }

  /// The number of entries.
  var count: Int { heap.count }

  /// Adds an entry.
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

  /// Removes and returns the next entry, or nil if there is none.
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

/// A binary heap of times, each with the number of the subject that it belongs to.
///
/// An entry takes one word, so that a drill of dozens of subjects spends a few nanoseconds on keeping their order.
struct DrillQueue: Sendable {
  /// The number of low bits of an entry that hold the subject's number: as many as ``Drill/mostSubjects`` needs.
  private static let numberBits: UInt64 = 12
  private var entries: [UInt64] = []

  /// The earliest time and its subject's number, or nil if there is none.
  var first: (time: Int64, number: Int)? {
    guard let entry = entries.first else { return nil }
    return (
      Int64(entry >> DrillQueue.numberBits), Int(entry & (1 << DrillQueue.numberBits - 1))
    )
  }

  /// Adds a time, in nanoseconds since the drill began.
  mutating func insert(time: Int64, number: Int) {
    var place = entries.count
    let entry = DrillQueue.entry(time, number)
    entries.append(entry)
    while place > 0, entries[(place - 1) / 2] > entry {
      entries[place] = entries[(place - 1) / 2]
      place = (place - 1) / 2
    }
    entries[place] = entry
  }

  /// Puts a time in the place of the earliest one.
  mutating func replaceFirst(time: Int64, number: Int) {
    let entry = DrillQueue.entry(time, number)
    entries.withUnsafeMutableBufferPointer { heap in
      var place = 0
      while true {
        var child = 2 * place + 1
        guard child < heap.count else { break }
        if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
        guard heap[child] < entry else { break }
        heap[place] = heap[child]
        place = child
      }
      heap[place] = entry
    }
  }

  private static func entry(_ time: Int64, _ number: Int) -> UInt64 {
    UInt64(max(0, time)) << numberBits | UInt64(number)
  }
}
