package import PharosReports

/// When each datagram of a replay is due.
package enum ReplayPace: Hashable, Sendable {
  /// As in the capture, faster or slower by a factor.
  case captured(speed: Double)
  /// So many datagrams a second, whatever the capture's times.
  case rate(Double)
  /// As fast as the system takes them.
  case unlimited

  /// When a datagram is due, counted from the start; nil if at once.
  ///
  /// - Parameters:
  ///   - number: how many datagrams were sent before it.
  ///   - offset: how long after the first packet of the capture it is, loops included.
  /// - Returns: the time.
  func due(number: Int, offset: TimeSpan) -> TimeSpan? {
    switch self {
    case .captured(let speed): offset * (1 / speed)
    case .rate(let rate): .seconds(Double(number) / rate)
    case .unlimited: nil
    }
  }
}

/// How a replay went.
package struct ReplaySummary: Sendable {
  /// Datagrams that the system took.
  package var sent = 0
  /// Their bytes.
  package var bytes = 0
  /// Datagrams that it refused.
  package var errors = 0
  /// What it said last about one.
  package var lastError: String?
  /// Datagrams of which no copy for another observer could be made.
  package var notCloned = 0
  /// How long sending took.
  package var elapsed = TimeSpan.zero
  /// How many loops were played to their end.
  package var loops = 0
  /// Whether somebody stopped it.
  package var isInterrupted = false
  /// How late datagrams were handed to the system.
  package var lateness = LatenessHistogram()

  /// Starts with nothing sent.
  package init() {}
}
