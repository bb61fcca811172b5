package import PharosReports
import CPharos
import PharosCaptures

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A UDP socket that sends to one address, many datagrams a call.
///
/// What `pharos replay`, the demo and the tests send with. It never waits by itself: the caller paces. Datagrams of one
/// length that follow each other in a call go to the kernel as one train, where the system can do that (Linux since 4.18,
/// found out at run time): on the loopback interface that takes a quarter of the time.
package struct DatagramSender: ~Copyable {
  private let descriptor: Int32
  /// The longest datagram that may go in a train: 0 where the system cannot send any.
  ///
  /// In a box, as sending changes nothing that a caller could see.
  private let trains: UnsafeMutablePointer<Int32>

  /// Opens a socket towards an address.
  ///
  /// - Parameters:
  ///   - destination: where to send.
  ///   - sendBuffer: the send buffer to ask for, in bytes.
  ///   - sendsTrains: whether datagrams may go to the kernel as trains, where it can.
  /// - Throws: what the system says.
  package init(
    to destination: Endpoint,
    sendBuffer: Int = 1 << 20,
    sendsTrains: Bool = true
  ) throws(SendError) {
    var address = destination.system
    let outcome = pharos_connect(&address, Int32(clamping: sendBuffer))
    guard outcome >= 0 else { throw SendError(errno: -outcome) }
    descriptor = outcome
    trains = .allocate(capacity: 1)
    trains.initialize(to: sendsTrains ? pharos_longest_in_train(descriptor) : 0)
  }

  deinit {
    _ = pharos_close(descriptor)
    trains.deallocate()
  }

  /// Whether datagrams may go as trains: false where the system has said that it cannot do that.
  package var sendsTrains: Bool { trains.pointee != 0 }

  /// Where the datagrams come from.
  package var source: Endpoint? {
    var address = pharos_address()
    return pharos_local_address(descriptor, &address) == 0 ? Endpoint(address) : nil
  }

  /// Sends datagrams that lie one behind the other in some bytes, without waiting.
  ///
  /// - Parameters:
  ///   - bytes: the datagrams.
  ///   - ranges: where each of them lies in the bytes.
  /// - Returns: how many the system took; fewer than all when the socket's buffer is full.
  /// - Throws: what the system says about the first one, such as a refusal by the receiver's machine.
  package func send(_ bytes: [UInt8], ranges: some Collection<Range<Int>>) throws(SendError) -> Int {
    let outcome = bytes.withUnsafeBytes { buffer in
      let datagrams = ranges.map { range in
        let part = UnsafeRawBufferPointer(rebasing: buffer[range])
        return pharos_datagram(bytes: part.baseAddress, length: UInt32(part.count), truncated: 0)
      }
      return pharos_send(descriptor, datagrams, UInt32(datagrams.count), trains)
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

  /// Waits until the socket takes datagrams again, blocking the thread: for threads of one's own.
  ///
  /// - Parameter milliseconds: how long to wait at most.
  /// - Returns: whether it does.
  package func waitUntilWritable(milliseconds: Int) -> Bool {
    pharos_wait_writable(descriptor, Int32(clamping: milliseconds)) > 0
  }
}

/// Why the system did not send a datagram.
package struct SendError: Error, Hashable, Sendable {
  /// The system's number for it.
  package let errno: Int32

  /// Makes an error from the system's number.
  package init(errno: Int32) { self.errno = errno }

  /// Whether the socket only has no room at the moment.
  var isBufferFull: Bool { errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS }

  /// Indicates whether the destination refused an earlier datagram because no process listens on its port.
  package var isRefused: Bool { errno == ECONNREFUSED }
}

extension SendError: CustomStringConvertible {
  /// What failed and what to do.
  package var description: String {
    isRefused
      ? "cannot send: no process listens at the destination. Start `pharos serve` there, or check host and port."
      : "cannot send: \(String(cString: strerror(errno))) (errno \(errno))."
  }
}
