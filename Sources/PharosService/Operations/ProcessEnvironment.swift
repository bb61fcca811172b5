#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The environment of this process.
package enum ProcessEnvironment {
  /// The variables by name.
  ///
  /// To be read at the start, before there are threads that might change them.
  package static func variables() -> [String: String] {
    var variables: [String: String] = [:]
    for name in names { if let value = getenv(name) { variables[name] = String(cString: value) } }
    return variables
  }

  /// The variables that Pharos looks at, and no others.
  static let names = [
    "PHAROS_SITE", "PHAROS_UDP", "PHAROS_HTTP", "PHAROS_DATA", "PHAROS_OUTPUT", "PHAROS_RECORD",
    "PHAROS_LOOPS", "PHAROS_TLS_CERTIFICATE", "PHAROS_TLS_KEY", "PHAROS_RETENTION_AGE",
    "PHAROS_RETENTION_SIZE", "PHAROS_LOG_LEVEL", "PHAROS_LOG_FORMAT", "PHAROS_TOKEN", "NOTIFY_SOCKET",
    "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS",
  ]
}
