package import PharosEvents
package import PharosPublishing

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
