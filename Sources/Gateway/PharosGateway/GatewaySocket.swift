import CPharos
import Glibc
import PharosFiles

/// A UDP socket that is connected to the server, so that the system reports refusals.
final class GatewaySocket {
  /// The outcome of sending a datagram.
  enum Outcome {
    case sent
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
    guard outcome < 0 else { return outcome == 1 ? .sent : .blocked }
    return -outcome == EAGAIN || -outcome == EWOULDBLOCK ? .blocked : .failed(LinkTrouble(errno: -outcome))
  }

  /// Returns the error that the system has found in earlier datagrams, once.
  func pendingError() -> LinkTrouble? {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0, code != 0 else { return nil }
    return LinkTrouble(errno: code)
  }
}

/// A reason why datagrams do not reach the server, as far as the system reports it.
package enum LinkTrouble: Error, Hashable, Sendable {
  /// The server's name is not known, or cannot be looked up now; what the resolver says.
  case unknownHost(reason: String)
  /// The server's host answers, but no process listens on the port.
  case refused
  /// There is no way to the server, or its machine does not answer; what the system says.
  case unreachable(reason: String)
  /// Anything else; what the system says.
  case system(reason: String)

  /// Indicates whether the system takes seconds to detect it.
  var isSlow: Bool {
    switch self {
    case .unreachable: true
    case .unknownHost, .refused, .system: false
    }
  }
}

extension LinkTrouble: CustomStringConvertible {
  /// The problem and who can solve it, without a full stop.
  package var description: String {
    switch self {
    case .unknownHost(let reason): "its name cannot be looked up (\(reason)); check the name and the DNS"
    case .refused:
      "no process listens on that port (connection refused); check that the server runs, and on this port"
    case .unreachable(let reason): "there is no way to it (\(reason)); check the network and the address"
    case .system(let reason): "sending fails (\(reason))"
    }
  }
}

extension LinkTrouble {
  /// Interprets an error number of the system for a gateway.
  init(errno code: Int32) {
    let reason = SystemError.text(code)
    switch code {
    case ECONNREFUSED: self = .refused
    // The last one: no address of one's own to send from, as before the network is up.
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL: self = .unreachable(reason: reason)
    default: self = .system(reason: reason)
    }
  }
}
