/// A host and a port as a command line gives them: `127.0.0.1:50001`, `[::1]:50001`, `gateway.local:50001`, or `*:50001` for all
/// addresses of this machine.
public struct HostPort: Hashable, Sendable {
  /// A name or an address, without brackets, or `*`.
  public let host: String
  /// The UDP or TCP port; 0 asks the system for a free one.
  public let port: UInt16

  /// Makes an address from its parts.
  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `HOST:PORT`, an IPv6 address in brackets; nil if it is none.
  public init?(_ text: some StringProtocol) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    guard let port = UInt16(digits) else { return nil }
    var host = text[..<colon]
    if host.first == "[", host.last == "]" {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, !host.contains(where: \.isWhitespace) else { return nil }
    self.init(host: String(host), port: port)
  }
}

extension HostPort: CustomStringConvertible {
  /// `HOST:PORT`, with brackets around an IPv6 address.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension HostPort {
  /// The host that stands for all addresses of the machine that listens; a resolver would take it for the loopback.
  package static let allAddresses = "*"

  /// Indicates whether it is a place to send to: neither all addresses nor any free port.
  package var isDestination: Bool { host != HostPort.allAddresses && port > 0 }

  /// Indicates whether only this machine can reach the host.
  package var isLoopback: Bool { HostPort.isLoopback(host: host) }

  /// Returns whether a name or an address, without brackets, belongs to this machine and reaches no other.
  ///
  /// - Source: RFC 6761, 6.3 (localhost and the names below it); RFC 1122, 3.2.1.3 (127/8); RFC 4291, 2.5.3 (::1).
  package static func isLoopback(host: some StringProtocol) -> Bool {
    let name = host.lowercased()
    if name == "localhost" || name == "localhost." || name.hasSuffix(".localhost") { return true }
    guard let address = IPAddress(name) else { return false }
    let text = address.description
    return text == "::1" || text.hasPrefix("127.") || text.hasPrefix("::ffff:127.")
  }
}
