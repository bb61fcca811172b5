import Logging
package import PharosJournal
package import PharosModel
import PharosPublishing
import Synchronization

/// The published events by their sequence numbers, as the journal keeps them.
package protocol EventHistory: Sendable {
  /// The sequence number of the newest event, or 0 if there never was one.
  var head: Int64 { get }
  /// The sequence number of the oldest event that is still kept, or one past the head if none is.
  var oldest: Int64 { get }
  /// A number that changes whenever events have been removed or replaced.
  var removals: UInt64 { get }
  /// Returns the events after a sequence number that match a filter, ascending, up to a limit.
  func events(after: Int64, matching: EventFilter, limit: Int) throws -> [JournaledEvent]
}

/// One page of the published events after a sequence number.
package struct JournalPage: Sendable {
  /// The events, ascending.
  package var events: [JournaledEvent]
  /// The sequence number up to which there are no other events that match.
  package var through: Int64
  /// Indicates whether no event that matches follows.
  package var isLast: Bool
  /// The oldest sequence number that was kept after the page was read.
  package var oldest: Int64
  /// The number of events after the sequence number that retention has removed, whether they match or not.
  package var missed: Int64
}

extension EventHistory {
  /// Returns the first events after a sequence number that match a filter, and the events that are gone.
  package func page(after: Int64, matching filter: EventFilter, limit: Int) throws -> JournalPage {
    let head = head
    let found = try events(after: after, matching: filter, limit: limit)
    // Read afterwards: an event that was removed during the read is one of the missed, so that numbers never go back.
    let oldest = oldest
    // Events may have been committed since the head was read.
    let last = found.last?.sequence ?? head
    return JournalPage(
      events: found.filter { $0.sequence >= oldest },
      through: max(found.count < limit ? max(head, last) : last, oldest - 1, after),
      isLast: found.count < limit,
      oldest: oldest,
      missed: max(oldest - 1 - after, 0)
    )
  }
}

/// The store in which a commit publisher commits events before it publishes them; the journal is one.
package protocol EventStore: EventHistory {
  /// Commits entries and the rows they change; returns the sequence number of each published event, nil for others.
  func append(_ entries: [Journal.Entry]) throws -> [Int64?]
  /// Saves a checkpoint that covers the events published up to a sequence number.
  func save(checkpoint: [UInt8], instant: Timestamp, through: Int64) throws
}

extension Journal: EventStore {}

/// A reader of pages of the journal for streams, which runs apart from the few threads that all tasks share.
struct HistoryReader: Sendable {
  /// One page of the journal, with the JSON of its events.
  struct Page: Sendable {
    /// The events, ascending.
    var events: [PublishedEvent]
    /// Indicates whether there are no further ones.
    var isLast: Bool
    /// The oldest sequence number that was kept after they were read.
    var oldest: Int64
  }

  /// The threads that read pages and write their events as text, two at a time: a thousand clients that reconnect at once
  /// must not starve the commits.
  private static let threads = BackgroundExecutor(threads: 2)

  private let history: any EventHistory
  private let stream: String
  private let names: @Sendable () -> SiteNames?
  private let logger: Logger
  /// The newest full pages, for clients that read the same at the same time.
  private let recent = RecentPages<Page>()

  init(
    history: any EventHistory,
    stream: String,
    names: @escaping @Sendable () -> SiteNames? = { nil },
    logger: Logger
  ) {
    self.history = history
    self.stream = stream
    self.names = names
    self.logger = logger
  }

  /// Reads the first events of a span, or nil if the journal cannot be read.
  func read(_ span: FeedState.Span, _ filter: EventFilter, limit: Int) async -> Page? {
    try? await HistoryReader.threads.run {
      let page = page(span, filter, limit: limit)
      for event in page?.events ?? [] where !Task.isCancelled {
        _ = ServerSentEvents.frame(of: event)
      }
      return page
    }
  }

  /// Reads the first events of a span on the caller's thread, or returns nil if the journal cannot be read.
  func page(_ span: FeedState.Span, _ filter: EventFilter, limit: Int) -> Page? {
    let names = names()
    let key = PageKey(
      after: span.after,
      filter: filter,
      limit: limit,
      removals: history.removals,
      names: names.map(ObjectIdentifier.init)
    )
    if let page = recent[key] { return page }
    do {
      let found = try history.page(after: span.after, matching: filter, limit: limit)
      let page = Page(
        events: found.events.map {
          PublishedEvent(sequence: $0.sequence, event: $0.event, stream: stream, names: names)
        },
        isLast: found.isLast,
        oldest: found.oldest
      )
      if !page.isLast { recent.keep(page, key) }
      return page
    } catch {
      logger.error(
        "Cannot read the journal. The stream ends; its client can resume with its last event id.",
        metadata: [LogKey.sequence: "\(span.after)", LogKey.error: "\(error)"]
      )
      return nil
    }
  }
}

/// What a page of the journal depends on, beside the journal itself.
struct PageKey: Hashable {
  var after: Int64
  var filter: EventFilter
  var limit: Int
  var removals: UInt64
  /// The names that the events of the page were written with.
  var names: ObjectIdentifier?
  /// The head of the journal, for a page that may be the last one.
  var head: Int64 = 0
}

/// The newest pages that were read of the journal; removed events take theirs with them.
final class RecentPages<Page: Sendable>: Sendable {
  /// The number of pages that are kept: some megabytes.
  private static var limit: Int { 8 }

  private let pages = Mutex<[(key: PageKey, page: Page)]>([])

  subscript(key: PageKey) -> Page? {
    pages.withLock { pages in pages.first { $0.key == key }?.page }
  }

  func keep(_ page: Page, _ key: PageKey) {
    pages.withLock { pages in
      pages.removeAll { $0.key == key || $0.key.removals != key.removals }
      if pages.count == Self.limit { pages.removeFirst() }
      pages.append((key, page))
    }
  }
}
