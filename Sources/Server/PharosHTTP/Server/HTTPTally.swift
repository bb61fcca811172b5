package import Logging
package import NIOCore
import PharosModel
import Synchronization

/// The counters of the HTTP interface, and the limits that were reached: each is logged, and again once it was not
/// reached for an hour.
package final class HTTPTally: Sendable {
  private struct State {
    var statistics = HTTPStatistics()
    /// The time at which each limit was last reached.
    var reached: [HTTPLimit: NIODeadline] = [:]
  }

  /// The time for which a limit must not be reached before it is logged again: an attack of a day makes one line in the
  /// log, and the next attack another.
  static let quiet = TimeAmount.hours(1)

  private let state = Mutex(State())
  private let logger: Logger

  /// Starts with all counters at zero.
  ///
  /// - Parameter logger: the logger in which limits are named when they are reached.
  package init(logger: Logger) { self.logger = logger }

  /// The counters so far.
  package var statistics: HTTPStatistics { state.withLock { $0.statistics } }

  /// Counts a reached limit, and logs it unless it was reached recently.
  package func reached(_ limit: HTTPLimit, _ value: String, at now: NIODeadline = .now()) {
    let isNews = state.withLock { state in
      state.statistics.reached[limit, default: 0] += 1
      defer { state.reached[limit] = now }
      return state.reached[limit].map { now - $0 >= HTTPTally.quiet } ?? true
    }
    guard isNews else { return }
    logger.warning(
      "A limit of the HTTP interface was reached. Further occurrences are counted and not logged.",
      metadata: [
        LogKey.limit: "\(limit.rawValue)", LogKey.value: "\(value)", LogKey.reason: "\(limit.explanation)",
      ]
    )
  }

  /// Counts an answered request.
  func answered(_ status: Int) {
    state.withLock { $0.statistics.answers[status, default: 0] += 1 }
  }

  /// Counts a connection on which something other than HTTP came.
  func recordMalformed() {
    state.withLock { $0.statistics.malformed += 1 }
  }

  /// Counts a connection that was opened, or closed.
  func connected(_ change: Int) {
    state.withLock { state in
      state.statistics.connections += change
      if change > 0 { state.statistics.connected += UInt64(change) }
    }
  }
}

/// The counters of the HTTP interface.
package struct HTTPStatistics: Hashable, Sendable {
  /// Connections open now.
  package var connections = 0
  /// Connections opened since the start.
  package var connected: UInt64 = 0
  /// Requests answered, by status code.
  package var answers: [Int: UInt64] = [:]
  /// Connections on which something came that is no HTTP.
  package var malformed: UInt64 = 0
  /// The number of times that each limit was reached.
  package var reached: [HTTPLimit: UInt64] = [:]

  /// Starts with all counters at zero.
  package init() {}
}

/// A bound of the HTTP interface that a client may run into; what lies beyond it is refused, and others are served on.
package enum HTTPLimit: String, Hashable, Sendable, CaseIterable {
  /// As many connections are open as may be: one that waits for its client has made room, or the new one was refused.
  case connections
  /// A head did not come in time.
  case headTime = "head_time"
  /// A head, or a field of it, was too long.
  case headSize = "head_size"
  /// A body did not come in time.
  case bodyTime = "body_time"
  /// A body was too long.
  case bodySize = "body_size"
  /// A body went on after the answer had been given.
  case unreadBody = "unread_body"
  /// A client took nothing of what it had asked for.
  case readTime = "read_time"
  /// As many requests of one client, or of all, wait for their turn as may.
  case requests
  /// As many live streams are open as may be.
  case streams
  /// One client has as many live streams open as one may have.
  case streamsOfOneClient = "streams_of_one_client"

  /// The limit and the remedy, for the log.
  var explanation: String {
    switch self {
    case .connections:
      "the maximum number of connections is open; those that wait for their clients are closed for new ones. PHAROS_HTTP_CONNECTIONS raises it"
    case .headTime: "the head of a request did not arrive in time; the connection was closed"
    case .headSize: "the head of a request exceeds the maximum length; it was answered with 431"
    case .bodyTime: "the body of a request did not arrive in time; the connection was closed"
    case .bodySize: "the body of a request exceeds the maximum length; it was answered with 413"
    case .unreadBody: "a client kept sending a body after the answer; the connection was closed"
    case .readTime: "a client read nothing of its answer for too long; the connection was closed"
    case .requests:
      "one client has the maximum number of requests waiting, or all clients together; further ones are answered with 503"
    case .streams:
      "the maximum number of live streams is open; further ones are answered with 503. PHAROS_HTTP_STREAMS raises it"
    case .streamsOfOneClient:
      "one token has the maximum number of live streams open; further ones are answered with 503"
    }
  }
}
