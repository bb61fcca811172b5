import PharosReports

/// A few values by key, forgotten when they grow old or when too many others came.
///
/// Holds what joins packets to each other: who an extended advert came from, and what its chain brought so
/// far. A store so small is searched from its newest end, which is nearly always where the answer lies.
struct RecentStore<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    var key: Key
    var value: Value
    var time: Timestamp
  }

  private let limit: Int
  private let patience: TimeSpan
  private var entries: [Entry] = []
  /// How many were forgotten before anyone took them.
  private(set) var forgotten = 0

  init(limit: Int, patience: TimeSpan) {
    self.limit = limit
    self.patience = patience
  }

  /// The value of a key, if it is young enough.
  func value(of key: Key, at time: Timestamp) -> Value? {
    guard let index = entries.lastIndex(where: { $0.key == key }) else { return nil }
    return time - entries[index].time <= patience ? entries[index].value : nil
  }

  /// Removes and gives the value of a key, if it is young enough.
  mutating func take(_ key: Key, at time: Timestamp) -> Value? {
    guard let index = entries.lastIndex(where: { $0.key == key }) else { return nil }
    let entry = entries.remove(at: index)
    guard time - entry.time <= patience else {
      forgotten += 1
      return nil
    }
    return entry.value
  }

  /// Stores a value; an earlier one of the same key is forgotten.
  mutating func put(_ value: Value, for key: Key, at time: Timestamp) {
    if let index = entries.lastIndex(where: { $0.key == key }) {
      entries.remove(at: index)
      forgotten += 1
    } else if entries.count == limit {
      entries.removeFirst()
      forgotten += 1
    }
    entries.append(Entry(key: key, value: value, time: time))
  }
}
