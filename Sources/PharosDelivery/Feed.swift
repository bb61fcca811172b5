import PharosAccess
import PharosPublishing

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
