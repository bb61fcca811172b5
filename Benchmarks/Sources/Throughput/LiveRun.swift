import CSocketMeter
import SocketTraffic

/// A receiver while a sender sends as fast as it can, from another core where there is one.
struct LiveRun {
  /// What came of one round.
  struct Outcome {
    var sent = 0
    var received = 0
    var dropped = 0
    var spent = Spent()
    /// How long was sent.
    ///
    /// - Units: nanoseconds.
    var sending: Int64 = 0
  }

  let receiver: any Receiver
  let sending: Lane
  let segments: Bool

  /// Sends for a while and says what came of it.
  ///
  /// - Parameters:
  ///   - traffic: what is sent.
  ///   - duration: how long, in nanoseconds.
  ///   - leap: called as each second of the site's traffic begins.
  /// - Returns: what was sent, received and spent.
  /// - Throws: that it does not add up.
  func play(
    _ traffic: inout TrafficLoop,
    duration: Int64,
    leap: @escaping @Sendable () -> Void
  ) async throws -> Outcome {
    let sender = try MeterSender(to: receiver.socket.port, segments: segments)
    let drops = receiver.socket.kernelDrops
    var outcome = Outcome()
    try await receiver.begin()
    let given = traffic
    let (sent, accepted, used) = try await sending.run {
      var traffic = given
      let length = traffic.length
      let start = meter_now()
      var sent = 0
      while meter_now() - start < duration {
        leap()
        try traffic.withNextSecond { bytes in
          try sender.send(bytes, length: length)
          sent += bytes.count / length
        }
      }
      return (sent, meter_now() - start, traffic)
    }
    outcome.spent = try await receiver.end()
    traffic = used
    outcome.sent = sent
    outcome.sending = accepted
    outcome.received = outcome.spent.datagrams
    outcome.dropped = receiver.socket.kernelDrops - drops
    guard outcome.sent == outcome.received + outcome.dropped else {
      throw MeterError(
        "\(receiver.name): sent \(outcome.sent), received \(outcome.received), dropped \(outcome.dropped): these do not add up"
      )
    }
    return outcome
  }
}
