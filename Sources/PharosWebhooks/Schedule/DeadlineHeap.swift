/// What is due first comes out first: a binary heap of keys with what they stand for.
struct DeadlineHeap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  private var items: [(key: Key, value: Value)] = []

  /// Whether nothing is in it.
  var isEmpty: Bool { items.isEmpty }

  /// How many are in it.
  var count: Int { items.count }

  /// What is due first.
  var first: (key: Key, value: Value)? { items.first }

  /// Adds one.
  mutating func insert(_ value: Value, at key: Key) {
    items.append((key, value))
    var child = items.count - 1
    while child > 0, items[child].key < items[(child - 1) / 2].key {
      items.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Takes out what is due first.
  mutating func removeFirst() -> (key: Key, value: Value)? {
    guard let first = items.first, let last = items.popLast() else { return nil }
    guard !items.isEmpty else { return first }
    items[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < items.count {
        if items[child].key < items[least].key { least = child }
      }
      guard least != parent else { return first }
      items.swapAt(least, parent)
      parent = least
    }
  }

  /// Takes out everything.
  mutating func removeAll() { items.removeAll() }
}
