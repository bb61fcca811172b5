import PharosDelivery
import PharosJournal
import PharosModel
import Synchronization

/// A journal as simple as can be: an array, from which the oldest may vanish, and which may refuse everything.
final class ModelStore: EventStore {
  struct Checkpoint: Equatable {
    let bytes: [UInt8]
    let instant: Timestamp
    let through: Int64
  }

  struct Contents {
    var events: [Event] = []
    var entries: [Journal.Entry] = []
    var pruned: Int64 = 0
    var checkpoints: [Checkpoint] = []
    var refusing = false
    var appends = 0
    /// Called before and after events are read, so that a test can prune under a reader's hands.
    var beforeRead: (@Sendable () -> Void)?
    var afterRead: (@Sendable () -> Void)?
  }

  let contents = Mutex(Contents())

  var head: Int64 { contents.withLock { Int64($0.events.count) } }
  var oldest: Int64 { contents.withLock { $0.pruned + 1 } }
  var removals: UInt64 { contents.withLock { UInt64($0.pruned) } }

  func events(after: Int64, matching filter: EventFilter, limit: Int) throws -> [JournaledEvent] {
    contents.withLock { $0.beforeRead }?()
    let found = try contents.withLock { contents in
      guard !contents.refusing else { throw JournalError(.locked, at: "model") }
      let kept = contents.events.enumerated().dropFirst(Int(max(after, contents.pruned)))
      return kept.lazy.filter { filter.matches($0.element) }.prefix(limit)
        .map { JournaledEvent(sequence: Int64($0.offset) + 1, event: $0.element) }
    }
    contents.withLock { $0.afterRead }?()
    return Array(found)
  }

  func append(_ entries: [Journal.Entry]) throws -> [Int64?] {
    try contents.withLock { contents in
      contents.appends += 1
      guard !contents.refusing else { throw JournalError(.full, at: "model") }
      contents.entries += entries
      return entries.map { entry in
        guard entry.isPublished else { return nil }
        contents.events.append(entry.event)
        return Int64(contents.events.count)
      }
    }
  }

  func save(checkpoint: [UInt8], instant: Timestamp, through: Int64) throws {
    try contents.withLock { contents in
      guard !contents.refusing else { throw JournalError(.full, at: "model") }
      contents.checkpoints.append(Checkpoint(bytes: checkpoint, instant: instant, through: through))
    }
  }

  func refuse(_ isRefusing: Bool) { contents.withLock { $0.refusing = isRefusing } }

  /// Removes the oldest events up to a sequence number.
  func prune(through sequence: Int64) {
    contents.withLock { $0.pruned = min(max($0.pruned, sequence), Int64($0.events.count)) }
  }
}
