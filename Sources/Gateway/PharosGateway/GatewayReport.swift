package import PharosCaptures
package import PharosModel

/// The result of a gateway's run.
package struct GatewayReport: Sendable {
  /// The counts of its work.
  package let counters: GatewayCounters
  /// The counts of packets found in the input.
  package let capture: CaptureCounters
  /// The bytes between the records of the input that belong to none.
  package let foreign: ForeignBytes
  /// Indicates whether a stop was requested, as by SIGTERM.
  package let wasStopped: Bool
  /// The damage in the input, if any.
  package let damage: String?
  /// The reason for which the server could not be reached at the end, if it could not.
  package let trouble: LinkTrouble?

  /// Indicates success: a stop was requested, or the input was intact, could hold adverts, and all its adverts were
  /// sent or dropped.
  package var isSuccess: Bool { wasStopped || damage == nil && counters.unsent == 0 && !holdsNothing }

  /// Indicates whether the input had packets, and none that can hold an advert.
  var holdsNothing: Bool { capture.packets > 0 && capture.packets == capture.unsupportedLinkType }

  /// Returns a line about what was sent, then a line for each problem.
  package func lines(input: String, destination: HostPort) -> [String] {
    var lines = [
      "sent \(counters.sent) adverts and \(counters.heartbeats) heartbeats in \(counters.datagrams - counters.repeats) "
        + "datagrams to \(destination); dropped \(counters.dropped)."
    ]
    if counters.shortened > 0 {
      lines.append(
        "\(counters.shortened) adverts were longer than a datagram: their last AD structures were left out."
      )
    }
    if counters.unsent > 0 {
      let reason = trouble.map { ": \($0)" } ?? " in time"
      lines.append("\(counters.unsent) adverts could not be sent\(reason).")
    }
    if !foreign.isEmpty { lines.append("\(name(of: input)): \(foreign).") }
    if holdsNothing {
      lines.append(
        "\(name(of: input)) holds no Bluetooth packets. pharos replay sends captures of datagrams; pharos inspect shows "
          + "what is in it."
      )
    }
    if let damage { lines.append("\(name(of: input)): \(damage)") }
    return lines
  }

  private func name(of input: String) -> String { input == "-" ? "standard input" : input }
}

/// The counts of a gateway's work since it started.
///
/// At the end, heard = sent + dropped + unsent.
package struct GatewayCounters: Hashable, Sendable {
  /// Adverts that were read.
  package var heard: UInt64 = 0
  /// Adverts in datagrams that the system accepted and for which it reported no failure.
  package var sent: UInt64 = 0
  /// Adverts for which the ring had no room.
  ///
  /// Some of them may have arrived: those whose datagram was taken back when the server failed just after it was sent.
  package var dropped: UInt64 = 0
  /// Adverts whose data were longer than a datagram holds: only the first AD structures were sent.
  package var shortened: UInt64 = 0
  /// Datagrams that the system took.
  package var datagrams: UInt64 = 0
  /// Datagrams that were sent again, under their own numbers, after the system reported a failure.
  package var repeats: UInt64 = 0
  /// Heartbeats sent.
  package var heartbeats: UInt64 = 0
  /// The number of outages of the server.
  package var outages: UInt64 = 0

  /// Counts nothing.
  package init() {}

  /// Adverts that wait, or were still waiting when the gateway ended.
  package var unsent: UInt64 { heard - sent - dropped }
}

/// A change in a gateway's state that its operator should know of.
package enum GatewayNotice: Hashable, Sendable {
  /// The server cannot be reached; reported once, not at every try.
  case lost(LinkTrouble)
  /// It cannot be reached for another reason than the one reported before.
  case stillLost(LinkTrouble)
  /// The server is reached again after a time; so many adverts were kept meanwhile, so many dropped.
  case reached(after: TimeSpan, kept: UInt64, dropped: UInt64)
  /// The ring is full: the oldest adverts are dropped from now on.
  case dropping
  /// The host has the radio report the same advert of a device only once: silence of a device means nothing then.
  case filtersDuplicates
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
    case .filtersDuplicates:
      "the host filters duplicates: each device is reported once, and its silence means nothing. In bluetoothctl, type "
        + "`menu scan`, `duplicate-data on`, `back` before `scan le`."
    }
  }
}
