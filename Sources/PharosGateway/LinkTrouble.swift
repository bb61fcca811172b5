/// Why datagrams do not reach the server, as far as the system tells.
package enum LinkTrouble: Error, Hashable, Sendable {
  /// The server's name is not known, or cannot be looked up now; what the resolver says.
  case unknownHost(reason: String)
  /// The server's host answers, but no process listens on the port.
  case refused
  /// There is no way to the server, or its machine does not answer; what the system says.
  case unreachable(reason: String)
  /// Anything else; what the system says.
  case system(reason: String)

  /// Whether the system takes seconds to find out about it.
  var isSlow: Bool {
    switch self {
    case .unreachable: true
    case .unknownHost, .refused, .system: false
    }
  }
}

extension LinkTrouble: CustomStringConvertible {
  /// What is wrong and who can do something about it, without a full stop.
  package var description: String {
    switch self {
    case .unknownHost(let reason): "its name cannot be looked up (\(reason)); check the name and the DNS"
    case .refused:
      "no process listens on that port (connection refused); check that the server runs, and on this port"
    case .unreachable(let reason): "there is no way to it (\(reason)); check the network and the address"
    case .system(let reason): "sending fails (\(reason))"
    }
  }
}
