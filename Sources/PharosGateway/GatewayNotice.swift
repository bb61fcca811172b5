package import PharosReports

/// A change in a gateway's state that its operator should know of.
package enum GatewayNotice: Hashable, Sendable {
  /// The server cannot be reached; told once, not at every try.
  case lost(LinkTrouble)
  /// It cannot be reached for another reason than the one told before.
  case stillLost(LinkTrouble)
  /// The server is reached again after a time; so many adverts were kept meanwhile, so many dropped.
  case reached(after: TimeSpan, kept: UInt64, dropped: UInt64)
  /// The ring is full: the oldest adverts are dropped from now on.
  case dropping
}

extension GatewayNotice {
  /// A line for the log.
  package func text(destination: String) -> String {
    switch self {
    case .lost(let trouble):
      "cannot reach \(destination): \(trouble). What is heard is kept as long as there is room; trying again."
    case .stillLost(let trouble):
      "still cannot reach \(destination): \(trouble)."
    case .reached(let time, let kept, let dropped):
      "\(destination) is reached again after \(TimeSpan.seconds(time.seconds.rounded()).written): "
        + "\(kept) adverts were kept and are sent now, \(dropped) were dropped."
    case .dropping:
      "the ring is full: from now on the oldest adverts are dropped, and the next heartbeat says how many."
    }
  }
}
