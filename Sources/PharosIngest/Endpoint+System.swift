package import CPharos
package import PharosCaptures

extension Endpoint {
  /// Stands for the address of a socket that has none, as a UNIX socket that somebody passed to the process.
  package static let none = Endpoint(IPAddress(v4: 0), port: 0)

  /// The endpoint that the C shim read; an IPv4 address mapped into IPv6 is one of version 4.
  package init(_ address: pharos_address) {
    switch address.version {
    case 4: self.init(IPAddress(v4: UInt32(truncatingIfNeeded: address.low)), port: address.port)
    case 6: self.init(IPAddress(v6: address.high, address.low), port: address.port)
    default: self = .none
    }
  }

  /// The endpoint as the C shim takes it.
  var system: pharos_address {
    pharos_address(
      high: address.high,
      low: address.low,
      scope: 0,
      port: port,
      version: address.version.rawValue
    )
  }
}
