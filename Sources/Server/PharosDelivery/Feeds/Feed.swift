package import PharosModel
package import PharosPublishing

/// A live stream of one client: batches of items, for one consumer.
///
/// A client that reconnects with the last sequence number it has seen, any number of times, sees every event that its
/// filter wants exactly once and in order, unless an item reports missing events. A stream ends when the server stops,
/// when the journal cannot be read, or when its task is cancelled. It is open, and makes its application count as in
/// use, until the last copy of it and of its iterator is released, or it is closed.
package struct Feed: AsyncSequence, Sendable {
  /// The element of the sequence: items in order, at least one.
  package typealias Element = [FeedItem]
  /// The sequence never fails.
  package typealias Failure = Never

  private let lease: Lease

  init(feedService: FeedService, core: FeedCore) {
    lease = Lease(feedService: feedService, core: core)
  }

  /// Ends the stream once the client has taken the waiting events.
  package func close() { lease.core.finish() }

  /// Returns the items that are due now and waits only for the journal, for consumers with threads of their own.
  ///
  /// - Returns: the items, none if nothing is due; nil at the end.
  package func poll() -> [FeedItem]? { lease.poll() }

  /// Begins to take items.
  package func makeAsyncIterator() -> Iterator { Iterator(lease: lease) }

  /// An iterator over the items.
  package struct Iterator: AsyncIteratorProtocol {
    private let lease: Lease

    fileprivate init(lease: Lease) { self.lease = lease }

    /// The next items, or nil at the end or when the task is cancelled.
    package mutating func next() async -> [FeedItem]? {
      await lease.next()
    }

    /// The next items, or nil at the end or when the task is cancelled.
    package mutating func next(isolation actor: isolated (any Actor)?) async -> [FeedItem]? {
      await lease.next()
    }
  }

  /// A shared reference to the stream that closes it when its last copy is released.
  fileprivate final class Lease: Sendable {
    let core: FeedCore
    private let feedService: FeedService

    init(feedService: FeedService, core: FeedCore) {
      self.feedService = feedService
      self.core = core
    }

    deinit { feedService.close(core) }

    func next() async -> [FeedItem]? {
      while !Task.isCancelled {
        let items: [FeedItem]
        switch core.next(at: feedService.now) {
        case .deliver(let given): items = feedService.allowed(given, for: core)
        case .read(let span):
          guard let found = await feedService.read(span, for: core) else { return nil }
          items = found
        case .join:
          feedService.join(core)
          continue
        case .wait:
          await core.wait { [feedService] in feedService.now }
          continue
        case .end: return nil
        }
        if !items.isEmpty { return items }
      }
      return nil
    }

    func poll() -> [FeedItem]? {
      while true {
        switch core.next(at: feedService.now) {
        case .deliver(let given): return feedService.allowed(given, for: core)
        case .read(let span):
          return feedService.found(feedService.page(of: span, for: core), for: core)
        case .join: feedService.join(core)
        case .wait: return []
        case .end: return nil
        }
      }
    }
  }
}

extension FeedService {
  /// Returns the items that the authorisations allow now, regardless of the time of publication.
  fileprivate func allowed(_ items: [FeedItem], for core: FeedCore) -> [FeedItem] {
    let (view, application) = (authorisations.view, core.request.application)
    let gate =
      core.request.viewer.map { Gate(view, for: .viewer($0, through: application)) }
      ?? view.gate(to: application, isLive: true)
    let given =
      gate.isOpen
      ? items
      : items.compactMap { item in
        guard case .event(let published) = item else { return item }
        guard let passed = gate.passed(published), passed == published || core.request.wants(passed.event)
        else {
          return nil
        }
        return .event(passed)
      }
    tally.count(delivered: given.count)
    return given
  }

  /// Reads the next page of the journal.
  fileprivate func read(_ span: FeedState.Span, for core: FeedCore) async -> [FeedItem]? {
    found(
      await reader.read(span, core.request.filter, limit: settings.page),
      for: core
    )
  }

  /// Reads the next page of the journal on the caller's thread.
  fileprivate func page(of span: FeedState.Span, for core: FeedCore) -> HistoryReader.Page? {
    reader.page(span, core.request.filter, limit: settings.page)
  }

  /// Returns the items that a page of the journal contains for a client.
  fileprivate func found(_ page: HistoryReader.Page?, for core: FeedCore) -> [FeedItem]? {
    if page != nil || !Task.isCancelled { tally.countPage(failed: page == nil) }
    guard let page else { return nil }
    let items = core.found(page.events, isLast: page.isLast, oldest: page.oldest, at: now)
    return allowed(items, for: core)
  }
}

/// The request of a client for a stream.
package struct FeedRequest: Sendable {
  /// The filter of the events.
  package var filter: EventFilter
  /// The sequence number after which to begin, as a client that comes back knows it; nil begins with the present.
  package var after: Int64?
  /// The shortest time between two readings (ranging, fixes) about the same thing; nil passes each on.
  package var interval: Duration?
  /// The maximum number of waiting events, and of waiting readings.
  package var limit: Int
  /// The application whose stream it is, which makes it count as in use; nil for the operator's streams.
  package var application: String?
  /// A filter of additional events; nil for none.
  ///
  /// It applies only to readings (ranging, fixes), which the journal does not keep. Fixes belong to all applications,
  /// so a stream that is restricted to the events of one application gets them by this filter.
  package var shared: EventFilter?
  /// The subject that looks for its friends with the stream; nil for a stream of an application or the operator.
  package var viewer: SubjectID?
  /// The client, whose number of streams is limited; nil for one without this limit.
  package var client: String?

  /// The default limit: the largest group that is committed at once, so that a client which keeps up is served from memory.
  package static let defaultLimit = 4_096
  /// The allowed limits.
  package static let limits = 16...4_096

  /// Creates a request and clamps its limit to the allowed ones.
  package init(
    filter: EventFilter = .all,
    after: Int64? = nil,
    interval: Duration? = nil,
    limit: Int = FeedRequest.defaultLimit,
    application: String? = nil,
    shared: EventFilter? = nil,
    client: String? = nil
  ) {
    self.filter = filter
    self.shared = shared
    self.client = client
    self.after = after
    self.interval = interval
    self.limit = min(max(limit, FeedRequest.limits.lowerBound), FeedRequest.limits.upperBound)
    self.application = application
  }

  /// Returns whether the stream wants an event.
  func wants(_ event: Event) -> Bool {
    if filter.matches(event) { return true }
    guard let shared, !event.kind.isJournalled else { return false }
    return shared.matches(event)
  }
}

/// An item of a feed.
package enum FeedItem: Equatable, Sendable {
  /// An event.
  case event(PublishedEvent)
  /// The number of events without a place in the journal that were not taken in time or could not be published.
  case dropped(Int)
  /// A range of sequence numbers, both included, that the journal no longer keeps; it may have contained events that
  /// the filter wants.
  case gap(from: Int64, to: Int64)
  /// The numbers of another journal, both included, that the client knows and this journal never had: its numbers begin
  /// again, and all events that it keeps follow.
  case restart(from: Int64, to: Int64)
  /// A sign that the connection is alive.
  case heartbeat
}

/// The reason for which a feed is not opened.
package enum FeedRefusal: Error, Hashable, Sendable {
  /// The maximum number of streams is open.
  case tooMany(limit: Int)
  /// The client has the maximum number of streams open.
  case tooManyOfOne(limit: Int)
  /// The server is stopping.
  case stopping
}

extension FeedRefusal: CustomStringConvertible {
  /// The reason and the remedy.
  package var description: String {
    switch self {
    case .tooMany(let limit):
      "\(limit) live streams are open, as many as there may be; close some, or share one among your clients"
    case .tooManyOfOne(let limit):
      "this token has \(limit) live streams open, as many as one may have; close some, or share one among your clients"
    case .stopping:
      "the server is stopping; connect again when it is up, with the last event id you have"
    }
  }
}
