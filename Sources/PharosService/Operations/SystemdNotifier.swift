import CPharos

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A notifier that reports the state of the service to systemd, in datagrams to the socket that `NOTIFY_SOCKET` names.
///
/// Without that variable systemd expects no notifications, and the initialiser returns nil.
///
/// - Source: sd_notify(3), sd_watchdog_enabled(3).
package struct SystemdNotifier: Sendable {
  /// What can be told.
  package enum Word: Hashable, Sendable {
    /// It listens and serves.
    case ready
    /// It reads its configuration again.
    case reloading
    /// It drains.
    case stopping
    /// It is alive and decides.
    case watchdog
    /// How things are, in one line.
    case status(String)
  }

  /// The socket's path; a leading `@` means one without a file.
  let path: String
  /// Within which time systemd wants a sign of life, or nil if it does not.
  package let watchdog: Duration?

  /// Reads what systemd told this process.
  ///
  /// - Parameters:
  ///   - environment: the variables of the process.
  ///   - processID: the process, as `WATCHDOG_PID` may name another one.
  package init?(environment: [String: String], processID: Int32) {
    guard let path = environment["NOTIFY_SOCKET"], path.first == "/" || path.first == "@" else { return nil }
    guard path.utf8.count < SystemdNotifier.longestPath else { return nil }
    self.path = path
    let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
    let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
    watchdog = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
  }

  /// The longest path that a socket's address holds on Linux.
  ///
  /// - Units: bytes.
  private static let longestPath = 108

  /// Tells something; a manager that does not listen is no reason to stop.
  ///
  /// - Returns: whether it was taken.
  @discardableResult
  package func tell(_ words: Word...) -> Bool {
    let lines = words.map { word in
      switch word {
      case .ready: "READY=1"
      // systemd wants the time as well, to tell this reload from an earlier one.
      case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(SystemdNotifier.monotonicMicroseconds())"
      case .stopping: "STOPPING=1"
      case .watchdog: "WATCHDOG=1"
      case .status(let text): "STATUS=\(text.replacing("\n", with: " "))"
      }
    }
    return send(Array(lines.joined(separator: "\n").utf8))
  }

  private func send(_ bytes: [UInt8]) -> Bool {
    let descriptor = SystemdNotifier.datagramSocket()
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let isAbstract = path.first == "@"
    let name = isAbstract ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    // The name of an abstract socket is as long as the address says; that of a file ends with a zero.
    let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    let length = socklen_t(offset + name.count + (isAbstract ? 0 : 1))
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        sendto(descriptor, bytes, bytes.count, 0, address, length) == bytes.count
      }
    }
  }

  private static func datagramSocket() -> Int32 {
    #if canImport(Glibc)
    socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #elseif canImport(Musl)
    socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)
    #else
    socket(AF_UNIX, SOCK_DGRAM, 0)
    #endif
  }

  private static func monotonicMicroseconds() -> Int64 { pharos_clock_monotonic() / 1_000 }
}
