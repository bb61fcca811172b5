import Foundation

/// Where a webhook may post to: the rules that keep it from being turned against the server's own surroundings.
///
/// Receivers on the premises are the normal case, so private and loopback addresses are allowed. The address under
/// which clouds hand out a machine's credentials is not, nor are the listeners of the server itself, which would be fed
/// with their own events.
package enum WebhookTarget {
  /// The longest URL that is taken; browsers and proxies agree on about as much.
  package static let longest = 2_048

  /// The hosts under which clouds hand out credentials.
  static let metadataHosts: Set<String> = [
    "169.254.169.254", "fd00:ec2::254", "metadata.google.internal", "metadata.goog", "metadata",
    "100.100.100.200",
  ]

  /// Checks a URL.
  ///
  /// - Parameters:
  ///   - text: the URL.
  ///   - ownPorts: the TCP ports that the server listens on.
  /// - Returns: what is wrong with it, or nil.
  package static func problem(with text: String, ownPorts: Set<Int>) -> WebhookProblem? {
    func refused(_ message: String, _ expected: String) -> WebhookProblem {
      WebhookProblem("url", message, expected: expected)
    }
    let example = "an address such as https://example.org/hooks/pharos"
    guard text.utf8.count <= longest else {
      return refused("has \(text.utf8.count) bytes", "at most \(longest)")
    }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let parts = URLComponents(string: text) else {
      return refused("is no URL", example)
    }
    guard let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
      return refused("does not begin with http:// or https://", example)
    }
    guard parts.user == nil, parts.password == nil else {
      return refused(
        "carries a name or password, which lists and logs would show",
        "a URL without them: deliveries are signed, so the receiver can tell that they are genuine"
      )
    }
    guard parts.fragment == nil else {
      return refused("has a fragment, which is never sent", "a URL without #")
    }
    guard let host = parts.host.map(canonicalHost), !host.isEmpty else {
      return refused("names no host", example)
    }
    if let port = parts.port, !(1...65_535).contains(port) {
      return refused("has port \(port)", "a port from 1 to 65535")
    }
    if metadataHosts.contains(host) {
      return refused(
        "is the address under which clouds hand out a machine's credentials",
        "the address of a receiver of yours"
      )
    }
    let port = parts.port ?? (scheme == "https" ? 443 : 80)
    if ownPorts.contains(port), isOwn(host) {
      return refused(
        "is this server itself, which would be fed with its own events",
        "the address of another program"
      )
    }
    return nil
  }

  /// A host as it is compared: small letters, no brackets or final dot, and IPv4 addresses in their usual form however
  /// they are written (2852039166, 0xa9fea9fe, ::ffff:169.254.169.254).
  static func canonicalHost(_ text: String) -> String {
    var host = text.lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    while host.hasSuffix(".") { host.removeLast() }
    var four = in_addr()
    if inet_aton(host, &four) != 0 { return dotted(UInt32(bigEndian: four.s_addr)) }
    var six = in6_addr()
    guard inet_pton(AF_INET6, host, &six) == 1 else { return host }
    let bytes = withUnsafeBytes(of: six) { Array($0) }
    if bytes[0..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
      return dotted(bytes[12...].reduce(0) { $0 << 8 | UInt32($1) })
    }
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &six, &buffer, socklen_t(buffer.count)) != nil else { return host }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Whether a host is this machine under a name that everybody knows.
  private static func isOwn(_ host: String) -> Bool {
    host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host == "0.0.0.0"
      || host == "::1" || host == "::"
  }

  private static func dotted(_ bits: UInt32) -> String {
    "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
  }
}
