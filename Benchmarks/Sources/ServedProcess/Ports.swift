import Foundation

/// Ports of 127.0.0.1 and limits of this process.
package enum Machine {
  /// Returns a port that is free at this moment.
  package static func freePort(udp: Bool) throws -> UInt16 {
    let kind = Int32((udp ? SOCK_DGRAM : SOCK_STREAM).rawValue)
    let descriptor = socket(AF_INET, kind, 0)
    guard descriptor >= 0 else { throw ServedProcessError("cannot open a socket: error \(errno)") }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let outcome = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
      }
    }
    guard outcome else { throw ServedProcessError("cannot find a free port: error \(errno)") }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Lets this process, and those that it starts from now on, open as many descriptors as the system allows.
  ///
  /// - Returns: how many that is.
  @discardableResult
  package static func raiseDescriptorLimit() -> Int {
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(kind, &limit) == 0 else { return 0 }
    limit.rlim_cur = limit.rlim_max
    setrlimit(kind, &limit)
    getrlimit(kind, &limit)
    return Int(clamping: limit.rlim_cur)
  }
}
