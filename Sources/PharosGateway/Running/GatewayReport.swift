package import PharosCaptures
package import PharosReports

/// How a gateway's run went.
package struct GatewayReport: Sendable {
  /// What it has done.
  package let counters: GatewayCounters
  /// What was found in the input.
  package let capture: CaptureCounters
  /// Indicates whether a stop was requested, as by SIGTERM.
  package let wasStopped: Bool
  /// What was wrong with the input, if anything was.
  package let damage: String?
  /// Why the server could not be reached at the end, if it could not.
  package let trouble: LinkTrouble?

  /// Whether all went well: all that was read was sent, or somebody wanted it to end.
  package var isSuccess: Bool { wasStopped || damage == nil && counters.unsent == 0 && !holdsNothing }

  /// Whether the input had packets, and none that can hold an advert.
  var holdsNothing: Bool { capture.packets > 0 && capture.packets == capture.unsupportedLinkType }

  /// What was sent in one line, then a line for each thing that went wrong.
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
