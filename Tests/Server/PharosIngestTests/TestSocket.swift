import CPharos
import Foundation
import PharosCaptures
import PharosIngest
import PharosModel

/// A UDP socket of the test's own, bound to a free port of the loopback interface.
final class TestSocket {
  let descriptor: Int32
  let address: Endpoint

  init(receiveBuffer: Int32 = 4 << 20) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var loopback = sockaddr_in()
    loopback.sin_family = sa_family_t(AF_INET)
    loopback.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let outcome = withUnsafeBytes(of: &loopback) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, socklen_t(bytes.count)) }
    }
    guard outcome == 0, pharos_set_receive_buffer(descriptor, receiveBuffer) == 0 else {
      throw SendError(errno: errno)
    }
    var bound = pharos_address()
    guard pharos_local_address(descriptor, &bound) == 0 else { throw SendError(errno: errno) }
    self.descriptor = descriptor
    address = Endpoint(bound)
  }

  deinit { _ = pharos_close(descriptor) }
}

extension DatagramSender {
  /// Sends one datagram, waiting for room in the socket's own buffer.
  func sendWaiting(_ bytes: [UInt8]) throws(SendError) {
    while try !send(bytes) { waitUntilWritable() }
  }
}
