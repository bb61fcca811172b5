/// What a gateway has done since it started.
///
/// At the end, heard = sent + dropped + unsent.
package struct GatewayCounters: Hashable, Sendable {
  /// Adverts that were read.
  package var heard: UInt64 = 0
  /// Adverts in datagrams that the system accepted and for which it reported no failure.
  package var sent: UInt64 = 0
  /// Adverts that the ring had no room for any more.
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
  /// How often the server could not be reached any more.
  package var outages: UInt64 = 0

  /// Counts nothing.
  package init() {}

  /// Adverts that wait, or were still waiting when the gateway ended.
  package var unsent: UInt64 { heard - sent - dropped }
}
