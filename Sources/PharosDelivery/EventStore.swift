package import PharosEvents
package import PharosJournal
package import PharosReports

/// The published events by their sequence numbers, as the journal keeps them.
package protocol EventHistory: Sendable {
  /// The sequence number of the newest event, or 0 if there never was one.
  var head: Int64 { get }
  /// The sequence number of the oldest event that is still kept, or one past the head if none is.
  var oldest: Int64 { get }
  /// Events of higher sequence numbers that fulfil a filter, ascending, at most so many.
  func events(after: Int64, matching: EventFilter, limit: Int) throws -> [JournaledEvent]
}

/// Where a teller commits events before it tells them, as the journal does.
package protocol EventStore: EventHistory {
  /// Commits entries and the rows they change; returns the sequence number of each published event, nil for others.
  func append(_ entries: [Journal.Entry]) throws -> [Int64?]
  /// Saves a checkpoint that covers the events published up to a sequence number.
  func save(checkpoint: [UInt8], instant: Timestamp, through: Int64) throws
}

extension Journal: EventStore {}
