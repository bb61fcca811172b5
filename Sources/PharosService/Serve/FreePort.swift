import PharosReports

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where the demo's dashboard is: at the usual port, or at any other that is free.
enum FreePort {
  /// The address that the demo serves HTTP at.
  static func http(_ console: Console) -> HostPort {
    let usual = HostPort(host: "127.0.0.1", port: 8_080)
    guard !isFree(usual.port) else { return usual }
    console.say("Port \(usual.port) is in use; the dashboard takes another one.")
    return HostPort(host: usual.host, port: 0)
  }

  /// Whether a TCP port of this machine can be listened at now.
  static func isFree(_ port: UInt16) -> Bool {
    #if canImport(Glibc)
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
    let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var reuse: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
