package import Logging
package import NIOCore
import Synchronization

/// What the HTTP interface has done so far, and which of its limits were reached: each is named in the log once.
package final class HTTPTally: Sendable {
  private struct State {
    var statistics = HTTPStatistics()
    /// When each limit was last reached.
    var reached: [HTTPLimit: NIODeadline] = [:]
  }

  /// The time for which a limit must not be reached before it is logged again: an attack of a day makes one line in the
  /// log, and the next attack another.
  static let quiet = TimeAmount.hours(1)

  private let state = Mutex(State())
  private let logger: Logger

  /// Starts with nothing done.
  ///
  /// - Parameter logger: where limits are named when they are reached.
  package init(logger: Logger) { self.logger = logger }

  /// What was counted so far.
  package var statistics: HTTPStatistics { state.withLock { $0.statistics } }

  /// A limit was reached: counts it, and names it if it was not of late.
  package func reached(_ limit: HTTPLimit, _ value: String, at now: NIODeadline = .now()) {
    let isNews = state.withLock { state in
      state.statistics.reached[limit, default: 0] += 1
      defer { state.reached[limit] = now }
      return state.reached[limit].map { now - $0 >= HTTPTally.quiet } ?? true
    }
    guard isNews else { return }
    logger.warning(
      "a limit of the HTTP interface was reached; it is counted from now on and not told again",
      metadata: [
        LogKey.limit: "\(limit.rawValue)", LogKey.value: "\(value)", LogKey.reason: "\(limit.explanation)",
      ]
    )
  }

  /// A request was answered.
  func answered(_ status: Int) {
    state.withLock { $0.statistics.answers[status, default: 0] += 1 }
  }

  /// Something came that is no HTTP.
  func noteMalformed() {
    state.withLock { $0.statistics.malformed += 1 }
  }

  /// A connection was opened, or closed.
  func connected(_ change: Int) {
    state.withLock { state in
      state.statistics.connections += change
      if change > 0 { state.statistics.connected += UInt64(change) }
    }
  }
}

/// What the HTTP interface has counted.
package struct HTTPStatistics: Hashable, Sendable {
  /// Connections open now.
  package var connections = 0
  /// Connections opened since the start.
  package var connected: UInt64 = 0
  /// Requests answered, by status code.
  package var answers: [Int: UInt64] = [:]
  /// Connections on which something came that is no HTTP.
  package var malformed: UInt64 = 0
  /// How often each limit was reached.
  package var reached: [HTTPLimit: UInt64] = [:]

  /// Nothing done yet.
  package init() {}
}
