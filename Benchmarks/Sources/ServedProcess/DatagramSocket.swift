import CSocketMeter
import Foundation

/// A UDP socket towards a port of 127.0.0.1; it waits where its buffer is full.
package final class DatagramSocket: Sendable {
  private let descriptor: Int32

  /// Opens a socket; throws why the system gives none.
  package init(to port: UInt16) throws {
    descriptor = meter_connect(port)
    guard descriptor >= 0 else { throw ServedProcessError("cannot open a socket: error \(-descriptor)") }
  }

  deinit { meter_close(descriptor) }

  /// Sends one datagram, of no bytes as well.
  ///
  /// - Returns: whether the system took it; it does not while the port has no listener.
  @discardableResult
  package func send(_ datagram: [UInt8]) -> Bool {
    datagram.withUnsafeBytes { bytes in
      Foundation.send(descriptor, bytes.baseAddress, bytes.count, 0) == bytes.count
    }
  }

  /// Sends datagrams of one length that lie one behind the other, in as few calls as can be.
  package func send(_ bytes: [UInt8], length: Int) {
    bytes.withUnsafeBytes { bytes in
      _ = meter_send(descriptor, bytes.baseAddress, UInt32(length), UInt32(bytes.count / length), 0)
    }
  }
}
