import CPharos
import Glibc
import PharosCaptures
package import PharosModel

/// A UDP socket that sends to one address, many datagrams a call.
///
/// `pharos replay`, the demo and the tests send with it. It never waits by itself: the caller paces. Datagrams of one
/// length that follow each other in a call go to the kernel as one train, where the system can do that (Linux since
/// 4.18, found out at run time): on the loopback interface that takes a quarter of the time.
package final class DatagramSender {
  /// The send buffer of a sender of batches.
  ///
  /// - Units: bytes. 4 MiB: a train of datagrams is charged as a whole, and so are those of a batch that waits.
  package static let batchBuffer = 4 << 20
  /// The time to wait for room in the socket's buffer before the caller checks again for a request to stop.
  ///
  /// - Units: milliseconds.
  private static let patience: Int32 = 100

  private let descriptor: Int32
  /// The longest datagram that may go in a train: 0 where the system cannot send any.
  private var trains: Int32

  /// Opens a socket towards an address.
  ///
  /// - Parameters:
  ///   - destination: the address to send to.
  ///   - sendBuffer: the send buffer to ask for, in bytes.
  ///   - sendsTrains: indicates whether datagrams may go to the kernel as trains, where the system supports it.
  /// - Throws: the error of the system.
  package init(
    to destination: Endpoint,
    sendBuffer: Int = 1 << 20,
    sendsTrains: Bool = true
  ) throws(SendError) {
    var address = destination.system
    let outcome = pharos_connect(&address, Int32(clamping: sendBuffer))
    guard outcome >= 0 else { throw SendError(errno: -outcome) }
    descriptor = outcome
    trains = sendsTrains ? pharos_maximum_in_train(descriptor) : 0
  }

  deinit { _ = pharos_close(descriptor) }

  /// Indicates whether datagrams may go as trains: false if the system has reported that it does not support them.
  package var sendsTrains: Bool { trains != 0 }

  /// The address from which the datagrams are sent.
  package var source: Endpoint? {
    var address = pharos_address()
    return pharos_local_address(descriptor, &address) == 0 ? Endpoint(address) : nil
  }

  /// Sends datagrams that lie one behind the other in some bytes, without waiting.
  ///
  /// - Parameters:
  ///   - bytes: the datagrams.
  ///   - ranges: the range of each datagram in the bytes.
  /// - Returns: the number of datagrams that the system took; fewer than all if the socket's buffer is full.
  /// - Throws: the error of the system for the first datagram, such as a refusal by the receiver's machine.
  package func send(_ bytes: [UInt8], ranges: some Collection<Range<Int>>) throws(SendError) -> Int {
    let outcome = bytes.withUnsafeBytes { buffer in
      let datagrams = ranges.map { range in
        let part = UnsafeRawBufferPointer(rebasing: buffer[range])
        return pharos_datagram(bytes: part.baseAddress, length: UInt32(part.count), truncated: 0)
      }
      return pharos_send(descriptor, datagrams, UInt32(datagrams.count), &trains)
    }
    if outcome >= 0 { return Int(outcome) }
    let error = SendError(errno: -outcome)
    if error.isBufferFull { return 0 }
    throw error
  }

  /// Sends one datagram and says whether the system took it.
  package func send(_ bytes: [UInt8]) throws(SendError) -> Bool {
    try send(bytes, ranges: CollectionOfOne(0..<bytes.count)) == 1
  }

  /// Waits a moment until the socket takes datagrams again, blocking the thread: for threads of one's own.
  package func waitUntilWritable() { _ = pharos_wait_writable(descriptor, DatagramSender.patience) }
}

/// The reason why the system did not send a datagram.
package struct SendError: Error, Hashable, Sendable {
  /// The system's number for it.
  package let errno: Int32

  /// Makes an error from the system's number.
  package init(errno: Int32) { self.errno = errno }

  /// Indicates whether the socket's buffer is full; the caller can send again later.
  var isBufferFull: Bool { errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS }

  /// Indicates whether the destination refused an earlier datagram because no process listens on its port.
  package var isRefused: Bool { errno == ECONNREFUSED }
}

extension SendError: CustomStringConvertible {
  /// The failure and the remedy.
  package var description: String {
    isRefused
      ? "cannot send: no process listens at the destination. Start `pharos serve` there, or check host and port."
      : "cannot send: \(String(cString: strerror(errno))) (errno \(errno))."
  }
}
