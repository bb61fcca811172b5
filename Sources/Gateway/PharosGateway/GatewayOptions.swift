package import PharosModel
package import PharosSecurity

/// The options of a gateway's run.
package struct GatewayOptions: Sendable {
  /// The capture, or `-` for standard input.
  package var input: String
  /// The destination of the datagrams.
  package var destination: HostPort
  /// The observer that heard the adverts.
  package var observer: ObserverID
  /// The key that signs the datagrams, or nil for none.
  package var key: ObserverKey?
  /// The rule for when packets count as heard.
  package var pace: GatewayPace
  /// The number of this start; see ``BootID``.
  package var bootID: UInt32
  /// The times and sizes that apply to it.
  package var limits = GatewayLimits()

  /// Makes options.
  package init(
    input: String,
    destination: HostPort,
    observer: ObserverID,
    key: ObserverKey? = nil,
    pace: GatewayPace,
    bootID: UInt32
  ) {
    self.input = input
    self.destination = destination
    self.observer = observer
    self.key = key
    self.pace = pace
    self.bootID = bootID
  }
}

extension ObserverID {
  /// Returns the default observer of an input that names none: the file's name without folder and extensions, or the
  /// host's name for standard input.
  package static func ofInput(_ path: String, hostName: String?) -> ObserverID? {
    guard path != "-" else { return hostName.flatMap { ObserverID($0) } }
    let file = path.split(separator: "/").last.map(String.init) ?? path
    return file.split(separator: ".", maxSplits: 1).first.flatMap { ObserverID($0) }
  }
}

/// The identity of a gateway in the heads of its datagrams.
package struct GatewayIdentity: Hashable, Sendable {
  /// The observer that heard the adverts.
  package var observer: ObserverID
  /// A number that increases with each start of the gateway; see ``BootID``.
  package var bootID: UInt32
  /// The key that signs, or nil for datagrams without a tag.
  package var signingKeyID: UInt32?

  /// Makes an identity.
  package init(observer: ObserverID, bootID: UInt32, signingKeyID: UInt32? = nil) {
    self.observer = observer
    self.bootID = bootID
    self.signingKeyID = signingKeyID
  }
}

/// The times and sizes that a gateway goes by.
package struct GatewayLimits: Hashable, Sendable {
  /// The time for which an advert waits for others before it is sent.
  ///
  /// 200 adverts a second fill most of a datagram in this time, so that waiting longer would save little; and a tenth of
  /// a second is a fifth of the lag that a server grants every observer from the start (0.5 s), so that nothing sent in
  /// ordinary times is ever late.
  package var batchDelay = TimeSpan.milliseconds(100)
  /// The time from one heartbeat to the next.
  ///
  /// A server publishes no exit before the observer has shown that it is alive. If a lone tag is all that an observer
  /// hears, the heartbeat is its only sign of life, so this period is how long an exit may be delayed. One datagram a
  /// second is nothing beside the adverts.
  package var heartbeatPeriod = TimeSpan.seconds(1)
  /// The most memory for adverts that wait to be sent, counted as it lies in memory.
  ///
  /// Some two minutes at 200 adverts a second. More would be of little use: what is older than a server's lag (10 s at
  /// most) is history to it and decides nothing.
  ///
  /// - Units: bytes.
  package var ring = 4 << 20
  /// The pause between two datagrams.
  ///
  /// Some 450 datagrams a second, 5 Mbit/s: what has waited is sent within two seconds or so, and a radio link of a few
  /// Mbit/s has room for it.
  package var pause = TimeSpan.milliseconds(2)
  /// The number of datagrams that may wait while more input remains that can wait in its source: a file, or a replayed
  /// one.
  ///
  /// Live input is never kept waiting.
  package var backlog = 64
  /// The time after a datagram within which a refusal of it may still arrive: the way to the receiver and back.
  ///
  /// An ICMP answer takes a round trip, which is 0.1 s over mobile networks and seldom twice that.
  package var refusalDelay = TimeSpan.milliseconds(250)
  /// The time after a datagram within which the system may still report its destination as unreachable.
  ///
  /// Linux asks three times, a second apart, for the address of a neighbour (`mcast_solicit`, `retrans_time_ms`) and then
  /// discards the datagrams that it kept for it, with EHOSTUNREACH.
  package var unreachableDelay = TimeSpan.milliseconds(3_500)
  /// The wait after the first failure before the next try; it doubles after each further failure.
  package var firstRetry = TimeSpan.milliseconds(500)
  /// The longest time between two tries; what is heard meanwhile stays in the ring.
  package var maximumRetry = TimeSpan.seconds(5)
  /// The time for which the gateway tries to send what is left after the input has ended or a stop was requested.
  package var endPatience = TimeSpan.seconds(5)

  /// Makes limits with the defaults.
  package init() {}
}
