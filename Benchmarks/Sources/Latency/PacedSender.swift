import CSocketMeter
import SocketTraffic

/// Sends a site's traffic at a steady rate, in small trains, with probes among it.
///
/// The server's time passes with the traffic, train by train: many times as fast as ours, but evenly, since a leap would make all
/// due at once that falls due in the course of a second.
struct PacedSender {
  /// What was sent.
  struct Sent: Sendable {
    var datagrams = 0
    var probes = 0
    /// How long it took.
    ///
    /// - Units: nanoseconds.
    var nanoseconds: Int64 = 0

    var perSecond: Double { Double(datagrams) * 1e9 / Double(max(1, nanoseconds)) }
  }

  /// The time between two trains: less than half of the tick of a busy server.
  ///
  /// - Units: nanoseconds.
  private static let slot: Int64 = 100_000
  /// How much a sender that was kept from sending catches up at once.
  ///
  /// - Units: seconds.
  private static let catchUp = 0.005
  /// How many slots there are between two probes on average: a thousand probes a second.
  private static let slotsPerProbe: UInt64 = 10
  /// How many probes are sent at least, if any: on a busy machine that takes longer than was asked for.
  private static let minimumProbes = 10

  let port: UInt16
  let clock: HeldClock
  let times: SendTimes

  /// Sends for a while at a rate, and on until enough probes have been sent.
  ///
  /// - Parameters:
  ///   - traffic: the site's traffic, which goes on where it stood.
  ///   - rate: datagrams a second.
  ///   - duration: how long, in nanoseconds.
  ///   - probes: the numbers that probes may have.
  /// - Returns: what was sent.
  /// - Throws: what the system says.
  func send(
    _ traffic: inout TrafficLoop,
    rate: Double,
    duration: Int64,
    probes: Range<Int>
  ) throws -> Sent {
    let sender = try MeterSender(to: port, segments: true)
    let single = try MeterSender(to: port)
    var probe = ProbeTraffic()
    var sent = Sent()
    var dice: UInt64 = 0x9E37_79B9_7F4A_7C15
    let length = traffic.length
    let span = HeldClock.second / Int64(traffic.datagrams)
    let minimum = min(PacedSender.minimumProbes, probes.count)
    let start = meter_now()
    var last = start
    var credit = 0.0
    while last - start < duration || sent.probes < minimum {
      try traffic.withNextSecond { bytes in
        var position = 0
        while position < bytes.count, last - start < duration || sent.probes < minimum {
          let now = meter_now()
          credit = min(credit + rate * Double(now - last) / 1e9, rate * PacedSender.catchUp)
          last = now
          let end = min(position + Int(credit) * length, bytes.count)
          clock.leap(Int64((end - position) / length) * span)
          if end > position { try sender.send(bytes[position..<end], length: length) }
          credit -= Double((end - position) / length)
          sent.datagrams += (end - position) / length
          position = end
          // The next slot's begin, so that a late one makes none later.
          let next = now + PacedSender.slot - (now - start) % PacedSender.slot
          dice = dice &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          if (dice >> 33) % PacedSender.slotsPerProbe == 0, sent.probes < probes.count {
            // Anywhere in the slot, so that probes fall into no step with the server's ticks.
            meter_wait_until(next - Int64(dice >> 40) % PacedSender.slot)
            let number = probes.lowerBound + sent.probes
            let datagram = probe.datagram(number)
            times.stamp(number)
            try single.send(datagram, length: datagram.count)
            sent.probes += 1
            sent.datagrams += 1
          }
          meter_wait_until(next)
        }
      }
    }
    sent.nanoseconds = meter_now() - start
    return sent
  }
}
