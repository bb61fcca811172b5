/// How to reach the servers of NATS, and as what.
package struct NATSSettings: Sendable, CustomStringConvertible {
  /// What a client shows to a server.
  package enum Credentials: Sendable {
    /// Nothing: the server knows its clients otherwise, or not at all.
    case none
    /// A user and a password.
    case password(user: String, password: String)
    /// A file with the seed of a user's NKey (`SU…`); the server's configuration has the public key.
    case seed(file: String)
    /// A file with a user's JWT and seed (`nsc generate creds`).
    case file(String)
  }

  /// The addresses, `nats://HOST:PORT` or `tls://HOST:PORT`; others of the cluster are learnt from the server.
  package var servers: [String]
  /// The name that the servers show for the connection.
  package var name: String
  /// What the client shows to a server.
  package var credentials: Credentials
  /// A file of PEM certificates that the servers' certificates must descend from; nil for the system's.
  package var authorities: String?
  /// The time to connect to one server, in milliseconds.
  package var connectTime: Int
  /// The interval of the pings, in milliseconds; a server that leaves two unanswered is left for another one.
  package var pingInterval: Int

  /// Makes settings; the times are for servers in one building.
  package init(
    servers: [String],
    name: String,
    credentials: Credentials = .none,
    authorities: String? = nil,
    connectTime: Int = 2_000,
    pingInterval: Int = 2_000
  ) {
    self.servers = servers
    self.name = name
    self.credentials = credentials
    self.authorities = authorities
    self.connectTime = connectTime
    self.pingInterval = pingInterval
  }

  /// The addresses, the name and the kind of the credentials, never a secret.
  package var description: String {
    let kind =
      switch credentials {
      case .none: "without credentials"
      case .password(let user, _): "as user \(user)"
      case .seed(let file): "with the key in \(file)"
      case .file(let file): "with the credentials in \(file)"
      }
    return "\(name) at \(servers.joined(separator: ", ")) \(kind)"
  }

  /// The sentence on what cannot be used; nil if all can.
  var problem: String? {
    guard !servers.isEmpty else { return "no server is named; give one as nats://HOST:4222" }
    for (place, server) in servers.enumerated() {
      // An address with a user or a password is not repeated: it would be logged.
      if server.contains("@") {
        return
          "the address of server \(place + 1) has a user in it; give user and password by their own settings"
      }
      guard server.hasPrefix("nats://") || server.hasPrefix("tls://"), server.count > 8 else {
        return "\"\(server)\" is no address of a NATS server; give it as nats://HOST:4222 or tls://HOST:4222"
      }
    }
    return nil
  }

  /// Indicates whether the connection is encrypted.
  var isEncrypted: Bool { authorities != nil || servers.contains { $0.hasPrefix("tls://") } }
}
