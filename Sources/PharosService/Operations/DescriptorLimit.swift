#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How many descriptors the process may have open.
enum DescriptorLimit {
  /// Raises the soft limit to the hard one, as far as the system lets it.
  ///
  /// The soft limit of 1,024 that systems start programs with is for those that still use `select`; live streams need
  /// thousands.
  ///
  /// - Source: the notes of systemd, "File Descriptor Limits".
  static func raise() {
    #if canImport(Glibc)
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let kind = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    guard getrlimit(kind, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    // Where it is refused, what there is stays, and the HTTP interface fits itself in.
    _ = setrlimit(kind, &limit)
  }
}
