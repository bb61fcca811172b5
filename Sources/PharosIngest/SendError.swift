#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
