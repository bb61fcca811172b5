/// What is to be done when, on virtual time: one piece of work after the other, the earliest first.
///
/// Work of one instant is done in the order in which it was asked for, so that a seed always plays alike.
package final class Clockwork {
  private struct Entry {
    var time: TrueTime
    var serial: UInt64
    var owner: Int
    var work: () -> Void

    func isBefore(_ other: Entry) -> Bool {
      time != other.time ? time < other.time : serial < other.serial
    }
  }

  /// The time.
  package private(set) var now: TrueTime = 0
  /// How many pieces of work were done.
  private(set) var steps = 0
  private var heap: [Entry] = []
  private var serial: UInt64 = 0
  /// The owners whose calls are cancelled.
  private var gone: Set<Int> = []

  package init() {}

  /// Asks for a piece of work after a time.
  ///
  /// - Parameters:
  ///   - delay: after how long; not before now.
  ///   - owner: whose work it is, by which it can be called off; 0 for the world's.
  ///   - work: what is to be done.
  func after(_ delay: TrueTime, owner: Int = 0, _ work: @escaping () -> Void) {
    at(now + max(0, delay), owner: owner, work)
  }

  /// Asks for a piece of work at a time.
  package func at(_ time: TrueTime, owner: Int = 0, _ work: @escaping () -> Void) {
    guard !gone.contains(owner) else { return }
    serial += 1
    heap.append(Entry(time: max(now, time), serial: serial, owner: owner, work: work))
    var child = heap.count - 1
    while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Cancels all calls of an owner, also later ones.
  package func callOff(_ owner: Int) {
    gone.insert(owner)
    let kept = heap.filter { $0.owner != owner }.sorted { $0.isBefore($1) }
    heap = kept
  }

  /// Does everything up to a time, and lets it be that time then.
  ///
  /// May be called from within a piece of work: whatever takes time lets the rest of the world go on meanwhile.
  package func run(through end: TrueTime) {
    while let first = heap.first, first.time <= end {
      let entry = pop() ?? first
      now = max(now, entry.time)
      steps += 1
      entry.work()
    }
    now = max(now, end)
  }

  private func pop() -> Entry? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return first }
    heap[0] = last
    var parent = 0
    while true {
      var minimum = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].isBefore(heap[minimum]) {
        minimum = child
      }
      guard minimum != parent else { return first }
      heap.swapAt(minimum, parent)
      parent = minimum
    }
  }
}
