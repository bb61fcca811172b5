import CSocketMeter
import Foundation
import Synchronization

/// Sends a site's traffic and its markers at a steady rate, on a thread of its own, until it is stopped.
package final class LoadSender: Sendable {
  /// What was sent, and how well the rate was kept.
  package struct Sent: Sendable {
    /// Datagrams sent.
    package var datagrams = 0
    /// Seconds of traffic sent.
    package var seconds: Int64 = 0
    /// How far the sender is behind its own plan.
    ///
    /// - Units: seconds.
    package var behind = 0.0
  }

  /// How many slots a second has: each gateway sends in its own.
  private static let slots = SiteLoad.gateways
  private static let slot: Int64 = 1_000_000_000 / Int64(slots)
  /// A plan that is missed by more is started again: what was not sent in time is not sent at all.
  private static let patience: Int64 = 2_000_000_000

  private let socket: DatagramSocket
  private let markers: Markers
  private let sent = Mutex(Sent())
  private let isStopped = Atomic<Bool>(false)
  private let ended = DispatchSemaphore(value: 0)

  /// Begins to send.
  ///
  /// - Parameters:
  ///   - port: the port of 127.0.0.1.
  ///   - adverts: how many a second, besides the markers.
  ///   - markers: the markers.
  /// - Throws: why there is no socket.
  package init(to port: UInt16, adverts: Int, markers: Markers) throws {
    socket = try DatagramSocket(to: port)
    self.markers = markers
    let thread = Thread { [self] in
      run(SiteLoad(adverts: adverts))
      ended.signal()
    }
    thread.name = "load"
    thread.start()
  }

  /// What was sent so far.
  package var progress: Sent { sent.withLock { $0 } }

  /// Stops and waits for the end.
  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    ended.wait()
  }

  private func run(_ load: SiteLoad) {
    var load = load
    var next = meter_now()
    var slot = 0
    var second: Int64 = 0
    while !isStopped.load(ordering: .relaxed) {
      var count = 0
      for datagram in load.datagrams(of: slot, second: second) {
        socket.send(datagram)
        count += 1
      }
      for marker in stride(from: slot, to: Markers.count, by: LoadSender.slots) {
        socket.send(markers.proof(marker))
        count += 1
        guard (Int(second) + marker).isMultiple(of: Markers.cycle) else { continue }
        socket.send(markers.enter(marker))
        count += 1
      }
      slot += 1
      if slot == LoadSender.slots { (slot, second) = (0, second + 1) }
      next += LoadSender.slot
      let behind = max(0, meter_now() - next)
      if behind > LoadSender.patience { next = meter_now() }
      sent.withLock { sent in
        sent.datagrams += count
        sent.seconds = second
        sent.behind = Double(behind) / 1e9
      }
      meter_wait_until(next)
    }
  }
}
