import CPharos

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A UDP socket that is connected to the server, so that the system tells of refusals.
final class GatewaySocket {
  /// What became of a datagram.
  enum Outcome {
    case taken
    /// The socket's buffer is full.
    case blocked
    case failed(LinkTrouble)
  }

  /// The send buffer to ask for.
  ///
  /// - Units: bytes. Room for a tenth of a second at the rate at which a ring is emptied.
  private static let buffer: Int32 = 128 << 10

  let descriptor: Int32

  /// Opens a socket.
  init(to address: pharos_address) throws(LinkTrouble) {
    var address = address
    let outcome = pharos_connect(&address, GatewaySocket.buffer)
    guard outcome >= 0 else { throw LinkTrouble(errno: -outcome) }
    descriptor = outcome
  }

  deinit { _ = pharos_close(descriptor) }

  /// Sends a datagram without waiting.
  func send(_ bytes: [UInt8]) -> Outcome {
    let outcome = bytes.withUnsafeBytes { buffer in
      var datagram = pharos_datagram(bytes: buffer.baseAddress, length: UInt32(buffer.count), truncated: 0)
      return pharos_send(descriptor, &datagram, 1, nil)
    }
    guard outcome < 0 else { return outcome == 1 ? .taken : .blocked }
    return -outcome == EAGAIN || -outcome == EWOULDBLOCK ? .blocked : .failed(LinkTrouble(errno: -outcome))
  }

  /// What the system has found out about datagrams that were sent before, once.
  func takeError() -> LinkTrouble? {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0, code != 0 else { return nil }
    return LinkTrouble(errno: code)
  }
}
