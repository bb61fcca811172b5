import PharosAccess
package import PharosEvents
package import PharosPublishing

/// A live stream of one client: runs of items, for one consumer.
///
/// A client that comes back with the last sequence number it has seen, any number of times, has in the end seen every
/// event that its filter wants exactly once and in order, unless an item said that some are missing. A stream ends
/// when the server stops, when the journal cannot be read, or when its task is cancelled; it is open, and makes its
/// application count as in use, until the last copy of it and of its iterator are let go, or it is closed.
package struct Feed: AsyncSequence, Sendable {
  /// What the sequence gives: items in order, at least one.
  package typealias Element = [FeedItem]
  /// The sequence never fails.
  package typealias Failure = Never

  private let lease: Lease

  init(desk: FeedDesk, core: FeedCore) {
    lease = Lease(desk: desk, core: core)
  }

  /// Ends the stream once what waits is taken.
  package func close() { lease.core.finish() }

  /// Takes what is due now, without waiting for anything but the journal: the sequence for who has threads of its own.
  ///
  /// - Returns: the items, none if nothing is due; nil at the end.
  package func poll() -> [FeedItem]? { lease.poll() }

  /// Begins to take items.
  package func makeAsyncIterator() -> Iterator { Iterator(lease: lease) }

  /// Takes items.
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

  /// Takes the stream off the desk when the last copy of it is gone.
  fileprivate final class Lease: Sendable {
    let core: FeedCore
    private let desk: FeedDesk

    init(desk: FeedDesk, core: FeedCore) {
      self.desk = desk
      self.core = core
    }

    deinit { desk.close(core) }

    func next() async -> [FeedItem]? {
      while !Task.isCancelled {
        let items: [FeedItem]
        switch core.next(at: desk.now) {
        case .deliver(let given): items = desk.allowed(given, for: core)
        case .read(let span):
          guard let found = await desk.read(span, for: core) else { return nil }
          items = found
        case .join:
          desk.join(core)
          continue
        case .wait:
          await core.wait { [desk] in desk.now }
          continue
        case .end: return nil
        }
        if !items.isEmpty { return items }
      }
      return nil
    }

    func poll() -> [FeedItem]? {
      while true {
        switch core.next(at: desk.now) {
        case .deliver(let given): return desk.allowed(given, for: core)
        case .read(let span):
          return desk.found(desk.page(of: span, for: core), for: core)
        case .join: desk.join(core)
        case .wait: return []
        case .end: return nil
        }
      }
    }
  }
}

extension FeedDesk {
  /// Returns the items that the authorisations allow now, whatever they allowed when the events were published.
  fileprivate func allowed(_ items: [FeedItem], for core: FeedCore) -> [FeedItem] {
    let view = authorisations.view
    let given =
      view.isOpen
      ? items
      : items.filter { item in
        guard case .event(let told) = item else { return true }
        return view.allows(told.event, to: core.request.application, isLive: true)
      }
    tally.count(delivered: given.count)
    return given
  }

  /// Reads on in the journal.
  fileprivate func read(_ span: FeedState.Span, for core: FeedCore) async -> [FeedItem]? {
    found(
      await reader.read(span, core.request.filter, limit: settings.page, lane: core.id),
      for: core
    )
  }

  /// Reads on in the journal, on the caller's thread.
  fileprivate func page(of span: FeedState.Span, for core: FeedCore) -> HistoryReader.Page? {
    reader.page(span, core.request.filter, limit: settings.page)
  }

  /// What a page of the journal gives a client.
  fileprivate func found(_ page: HistoryReader.Page?, for core: FeedCore) -> [FeedItem]? {
    tally.countPage(failed: page == nil)
    guard let page else { return nil }
    let items = core.found(page.events, isLast: page.isLast, oldest: page.oldest, at: now)
    return allowed(items, for: core)
  }
}

/// What a client wants to be streamed.
package struct FeedRequest: Sendable {
  /// Which events.
  package var filter: EventFilter
  /// The sequence number after which to begin, as a client that comes back knows it; nil begins with the present.
  package var after: Int64?
  /// The shortest time between two readings (ranging, fixes) about the same thing; nil passes each on.
  package var interval: Duration?
  /// How many events, and how many readings, wait for the client at most.
  package var limit: Int
  /// The application whose stream it is, which makes it count as in use; nil for the operator's streams.
  package var application: String?
  /// Which events it wants besides those of the filter; nil for none.
  ///
  /// Only readings (ranging, fixes), which the journal does not keep: fixes are for all applications, so that a stream that
  /// is held to the events of one gets them by this.
  package var shared: EventFilter?
  /// Whose stream it is, so that no one client takes them all; nil for somebody who may.
  package var client: String?

  /// The usual limit: some seconds of a busy site.
  package static let defaultLimit = 256
  /// The limits that are granted.
  package static let limits = 16...4_096

  /// Makes a request; a limit beyond what is granted is held at its ends.
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

  /// Whether the stream wants an event.
  func wants(_ event: Event) -> Bool {
    if filter.matches(event) { return true }
    guard let shared, !event.kind.isJournalled else { return false }
    return shared.matches(event)
  }
}

/// What a feed gives.
package enum FeedItem: Equatable, Sendable {
  /// An event.
  case event(ToldEvent)
  /// So many events that are not in the journal were not taken in time, or could not be told.
  case dropped(Int)
  /// What lay between these sequence numbers, both included, is no longer kept; there may have been events that the
  /// filter wants.
  case gap(from: Int64, to: Int64)
  /// Nothing, to show that the connection lives.
  case heartbeat
}

/// Why a feed is not opened.
package enum FeedRefusal: Error, Hashable, Sendable {
  /// As many are open as may be.
  case tooMany(limit: Int)
  /// One client has as many open as one may have.
  case tooManyOfOne(limit: Int)
  /// The server is stopping.
  case stopping
}

extension FeedRefusal: CustomStringConvertible {
  /// Why, and what to do.
  package var description: String {
    switch self {
    case .tooMany(let limit):
      "\(limit) live streams are open, as many as there may be; close some, or share one among your clients"
    case .tooManyOfOne(let limit):
      "this token has \(limit) live streams open, as many as one may have; close some, or share one among your clients"
    case .stopping:
      "the server is stopping; come back when it is up again, with the last id you have"
    }
  }
}
