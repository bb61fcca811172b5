import CSocketMeter

/// A UDP socket of 127.0.0.1 that a benchmark has opened for a receiver, so that all receivers get alike ones.
package struct MeterSocket: Sendable {
  /// What is asked for, as `pharos serve` asks.
  ///
  /// - Units: bytes.
  package static let receiveBuffer = 4 << 20

  /// The socket.
  package let descriptor: Int32
  /// The port that the system chose.
  package let port: UInt16
  /// What the kernel granted, in the unit it was asked in.
  ///
  /// - Units: bytes.
  package let receiveBuffer: Int

  /// Opens a socket.
  ///
  /// - Parameters:
  ///   - receiveBuffer: the receive buffer to ask for, in bytes.
  ///   - port: the port of sockets that share one; nil for any that is free, and for this socket alone.
  /// - Throws: why the system gives none.
  package init(receiveBuffer: Int = MeterSocket.receiveBuffer, sharing port: UInt16? = nil) throws {
    var bound = port ?? 0
    descriptor = try MeterError.check(
      meter_open(&bound, Int32(clamping: receiveBuffer), port == nil ? 0 : 1),
      "open a socket"
    )
    self.port = bound
    self.receiveBuffer = Int(meter_receive_buffer(descriptor))
  }

  /// How many datagrams the kernel has dropped since the socket was opened.
  package var kernelDrops: Int { Int(meter_kernel_drops(descriptor)) }

  /// Whether nothing waits in it.
  package var isEmpty: Bool { meter_is_empty(descriptor) != 0 }

  /// Waits until nothing waits in it, looking every millisecond; a receiver that takes nothing for 10 s is an error.
  package func untilEmpty() async throws {
    let deadline = meter_now() + 10_000_000_000
    while !isEmpty {
      guard meter_now() < deadline else { throw MeterError("a receiver has left datagrams for ten seconds") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  /// Closes it; for sockets without another owner.
  package func close() { meter_close(descriptor) }

  /// How many datagrams of a length the receive buffer holds, with a tenth of it to spare.
  ///
  /// Found by sending one to a socket of its own: what the kernel books for a datagram is its own business.
  package static func capacity(of length: Int, receiveBuffer: Int) throws -> Int {
    let probe = try MeterSocket()
    defer { probe.close() }
    let sender = try MeterSender(to: probe.port)
    try sender.send([UInt8](repeating: 0, count: length), length: length)
    while probe.isEmpty { meter_wait_until(meter_now() + 100_000) }
    let booked = Int(meter_booked_bytes(probe.descriptor))
    return max(1, receiveBuffer * 2 * 9 / 10 / booked)
  }
}

/// A socket that sends many datagrams of one length in few calls.
package final class MeterSender: Sendable {
  private let descriptor: Int32
  private let segments: Int32

  /// Opens a socket towards a port of 127.0.0.1.
  ///
  /// - Parameters:
  ///   - port: the port.
  ///   - segments: whether trains of datagrams are cut by the kernel, where it can.
  /// - Throws: why the system gives none.
  package init(to port: UInt16, segments: Bool = false) throws {
    descriptor = try MeterError.check(meter_connect(port), "connect a socket")
    self.segments = segments ? meter_has_segments() : 0
  }

  deinit { meter_close(descriptor) }

  /// Sends datagrams of one length that lie one behind the other.
  package func send(_ bytes: [UInt8], length: Int) throws { try send(bytes[...], length: length) }

  /// Sends datagrams of one length that lie one behind the other.
  package func send(_ bytes: ArraySlice<UInt8>, length: Int) throws {
    let count = UInt32(bytes.count / length)
    let sent = bytes.withUnsafeBytes { bytes in
      meter_send(descriptor, bytes.baseAddress, UInt32(length), count, segments)
    }
    try MeterError.check(sent, "send")
  }
}
