import Foundation
package import PharosDocuments
import PharosModel

/// The rules for the URLs of webhooks, which keep webhooks from being turned against the server's own surroundings.
///
/// Receivers on the premises are the normal case, so private and loopback addresses are allowed. The addresses under
/// which clouds hand out a machine's credentials are not, nor are link-local ones and the listeners of the server itself,
/// which would be fed with their own events. A URL is checked when it is given, and the addresses that its host has before each
/// connection: a name can lead anywhere.
package enum WebhookTarget {
  /// The maximum length of a URL, in bytes; browsers and proxies support about as much.
  package static let maximumLength = 2_048

  /// The names under which clouds hand out credentials.
  static let metadataNames: Set<String> = [
    "metadata.google.internal", "metadata.goog", "metadata", "instance-data", "instance-data.ec2.internal",
  ]
  /// The addresses under which clouds hand out credentials, besides the link-local ones.
  ///
  /// - Source: the manuals of Alibaba Cloud, Azure (168.63.129.16), Oracle Cloud (192.0.0.192), Amazon EC2 and Google Cloud.
  private static let metadataAddresses = Set(
    ["100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"].compactMap {
      IPAddress($0)
    }
  )

  /// Checks a URL.
  ///
  /// - Parameters:
  ///   - text: the URL.
  ///   - ownPorts: the TCP ports that the server listens on.
  /// - Returns: the problem with it, or nil.
  package static func problem(with text: String, ownPorts: Set<Int>) -> DocumentProblem? {
    func refused(_ message: String, _ expected: String) -> DocumentProblem {
      DocumentProblem(field: "url", message: message, expected: expected)
    }
    let example = "an address such as https://example.org/hooks/pharos"
    guard text.utf8.count <= maximumLength else {
      return refused("has \(text.utf8.count) bytes", "at most \(maximumLength)")
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
    let port = parts.port ?? (scheme == "https" ? 443 : 80)
    let isLocal = host == "localhost" || host.hasSuffix(".localhost")
    let reason =
      metadataNames.contains(host)
      ? credentials
      : (isLocal ? IPAddress(v4: 0x7F00_0001) : IPAddress(host)).flatMap {
        refusal(of: $0, port: port, ownPorts: ownPorts)
      }
    return reason.map { refused("is \($0)", "the address of a receiver of yours") }
  }

  private static let credentials = "an address under which clouds hand out a machine's credentials"

  /// Returns what an address is to which no webhook may connect; nil for any other one.
  ///
  /// - Parameters:
  ///   - address: the address, in any form that stands for an IPv4 address as well.
  ///   - port: the TCP port.
  ///   - ownPorts: the TCP ports that the server listens on.
  ///   - ownAddresses: the addresses of this machine, besides loopback.
  /// - Returns: a description for messages, or nil.
  static func refusal(
    of address: IPAddress,
    port: Int,
    ownPorts: Set<Int>,
    ownAddresses: Set<IPAddress> = []
  ) -> String? {
    let forms = [address, embedded(in: address)].compactMap { $0 }
    for form in forms {
      let isFour = form.version == .v4
      let first = isFour ? form.low >> 24 : form.high >> 56
      if metadataAddresses.contains(form) || isFour && form.low >> 16 == 0xA9FE { return credentials }
      if !isFour && form.high >> 54 == 0xFE80 >> 6 { return "a link-local address" }
      if isFour ? first >= 224 : first == 0xFF { return "no address of a single machine" }
      let isLoopback = isFour ? first == 127 || first == 0 : form.high == 0 && form.low <= 1
      if ownPorts.contains(port), isLoopback || ownAddresses.contains(form) {
        return "this server itself, which would be fed with its own events"
      }
    }
    return nil
  }

  /// The IPv4 address that an IPv6 address stands for; nil if it stands for none.
  ///
  /// - Source: RFC 4291, 2.5.5 (mapped and compatible); RFC 6052 and RFC 8215 (translated); RFC 3056 (6to4); RFC 4380 (Teredo).
  private static func embedded(in address: IPAddress) -> IPAddress? {
    guard address.version == .v6 else { return nil }
    let (high, low) = (address.high, address.low)
    let last = UInt32(truncatingIfNeeded: low)
    let isMapped = high == 0 && (low >> 32 == 0xFFFF || low >> 32 == 0 && low > 1)
    let isTranslated =
      high == 0x0064_FF9B_0000_0000 && low >> 32 == 0 || high >> 16 == 0x0064_FF9B_0001
      || high == 0 && low >> 32 == 0xFFFF_0000
    if isMapped || isTranslated { return IPAddress(v4: last) }
    if high >> 48 == 0x2002 { return IPAddress(v4: UInt32(truncatingIfNeeded: high >> 16)) }
    return high >> 32 == 0x2001_0000 ? IPAddress(v4: ~last) : nil
  }

  /// Returns the canonical form of a host: lowercase, no brackets, zone or final dot, and IPv4 addresses in dotted form however
  /// they are written (2852039166, 0xa9fea9fe).
  static func canonicalHost(_ text: String) -> String {
    var host = text.lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    if host.contains(":"), let zone = host.firstIndex(of: "%") { host = String(host[..<zone]) }
    while host.hasSuffix(".") { host.removeLast() }
    var four = in_addr()
    guard inet_aton(host, &four) != 0 else { return host }
    return IPAddress(v4: UInt32(bigEndian: four.s_addr)).description
  }
}
