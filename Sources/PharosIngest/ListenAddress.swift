/// Where to listen for datagrams.
public struct ListenAddress: Hashable, Sendable {
  /// What a listener's socket is.
  public enum Socket: Hashable, Sendable {
    /// One that is opened and bound to a host, by address or name, and a port; port 0 takes any that is free.
    case bind(host: String, port: Int)
    /// A socket that the launching process, such as systemd, has opened and passed on as a file descriptor.
    case descriptor(Int32)
  }

  /// The socket.
  public var socket: Socket
  /// The multicast groups to join, as addresses.
  ///
  /// A listener with groups has a single socket on a single loop: the kernel gives a copy of a multicast datagram to
  /// each socket of a port, and so would bring each one several times.
  public var multicastGroups: [String]
  /// Whose datagrams are taken.
  public var policy: ListenPolicy

  /// Listens at a host and port.
  public init(host: String, port: Int, multicastGroups: [String] = [], policy: ListenPolicy = .open) {
    socket = .bind(host: host, port: port)
    self.multicastGroups = multicastGroups
    self.policy = policy
  }

  /// Listens at a socket that is open and bound already.
  public init(descriptor: Int32, policy: ListenPolicy = .open) {
    socket = .descriptor(descriptor)
    multicastGroups = []
    self.policy = policy
  }

  /// Reads `HOST:PORT`, with the host in brackets where it is an IPv6 address; `:PORT` means all addresses.
  ///
  /// Nil if the text has no port from 0 to 65,535 or is ambiguous, as `::1:50001` would be.
  public init?(_ text: some StringProtocol) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      return nil
    }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]"), host.count > 2 {
      host = String(host.dropFirst().dropLast())
    } else if host.contains(where: { ":[] ".contains($0) }) {
      return nil
    }
    self.init(host: host.isEmpty ? "::" : host, port: Int(port))
  }
}

extension ListenAddress: CustomStringConvertible {
  /// `udp 127.0.0.1:50001`, or the descriptor.
  public var description: String {
    switch socket {
    case .bind(let host, let port): host.contains(":") ? "udp [\(host)]:\(port)" : "udp \(host):\(port)"
    case .descriptor(let descriptor): "descriptor \(descriptor)"
    }
  }
}
