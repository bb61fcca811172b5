/// An address and a UDP port.
public struct Endpoint: Hashable, Sendable {
  /// The address.
  public let address: IPAddress
  /// The port.
  public let port: UInt16

  /// Makes an endpoint.
  public init(_ address: IPAddress, port: UInt16) {
    self.address = address
    self.port = port
  }
}

extension Endpoint: CustomStringConvertible {
  /// `10.0.0.1:50001` or `[fd07::1]:50001`.
  public var description: String {
    address.version == .v4 ? "\(address):\(port)" : "[\(address)]:\(port)"
  }
}
