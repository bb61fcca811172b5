/// Where a gateway sends: a host, by name or address, and a port.
public struct GatewayDestination: Hashable, Sendable {
  /// A name or an address, without brackets.
  public let host: String
  /// The UDP port.
  public let port: UInt16

  /// Makes a destination from its parts.
  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `HOST:PORT`, an IPv6 address in brackets; nil if it is none.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(digits), port > 0 else {
      return nil
    }
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

extension GatewayDestination: CustomStringConvertible {
  /// `HOST:PORT`, with brackets around an IPv6 address.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
