import Logging
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension ConnectionGuard.Rules {
  /// The rules of a server, as it is configured and as the system lets it.
  init(_ configuration: HTTPConfiguration, tally: HTTPTally, logger: Logger) {
    let allowed = ConnectionGuard.Rules.connections(
      wanted: configuration.mostConnections,
      descriptors: ConnectionGuard.Rules.descriptorLimit
    )
    if allowed < configuration.mostConnections {
      logger.warning(
        "the system allows fewer open files than the HTTP interface may have connections; raise them (ulimit -n, LimitNOFILE=)",
        metadata: [
          LogKey.limit: "\(HTTPLimit.connections.rawValue)",
          LogKey.value: "\(allowed) instead of \(configuration.mostConnections)",
        ]
      )
    }
    self.init(
      table: ConnectionTable(capacity: allowed),
      tally: tally,
      times: [
        .head: .seconds(Int64(configuration.headSeconds)),
        .body: .seconds(Int64(configuration.bodySeconds)),
        .unreadBody: .seconds(Int64(configuration.unreadBodySeconds)),
      ],
      readTime: .seconds(Int64(configuration.readSeconds)),
      mostBytes: configuration.largestBody * 2
    )
  }

  /// How many connections there may be where so many descriptors may be open; some even where that is very few.
  package static func connections(wanted: Int, descriptors: Int) -> Int {
    let reserved = min(HTTPConfiguration.reservedDescriptors, descriptors / 2)
    return max(1, min(wanted, descriptors - reserved))
  }

  private static var descriptorLimit: Int {
    var limit = rlimit()
    #if canImport(Glibc)
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let kind = RLIMIT_NOFILE
    #endif
    return getrlimit(kind, &limit) == 0 ? Int(clamping: limit.rlim_cur) : .max
  }
}
