import PharosCaptures

/// Names and addresses of hosts, as far as it matters which of them mean this very machine.
package enum HostName {
  /// Whether a name or an address, without brackets, is of this machine and reaches no other.
  ///
  /// - Source: RFC 6761, 6.3 (localhost and what ends in it); RFC 1122, 3.2.1.3 (127/8); RFC 4291, 2.5.3 (::1).
  package static func isLoopback(_ host: some StringProtocol) -> Bool {
    let name = host.lowercased()
    if name == "localhost" || name == "localhost." || name.hasSuffix(".localhost") { return true }
    guard let address = IPAddress(name) else { return false }
    let text = address.description
    return text == "::1" || text.hasPrefix("127.") || text.hasPrefix("::ffff:127.")
  }

  /// The host of a field `Host`, without its port and brackets; nil where it is none.
  package static func host(of field: String) -> String? {
    var host = field[...]
    if host.first == "[" {
      guard let end = host.firstIndex(of: "]") else { return nil }
      let rest = host[host.index(after: end)...]
      guard rest.isEmpty || isPort(rest) else { return nil }
      host = host[host.index(after: host.startIndex)..<end]
    } else if let colon = host.firstIndex(of: ":") {
      guard isPort(host[colon...]) else { return nil }
      host = host[..<colon]
    }
    return host.isEmpty ? nil : host.lowercased()
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.first == ":" && text.dropFirst().allSatisfy { ("0"..."9").contains($0) }
  }
}
