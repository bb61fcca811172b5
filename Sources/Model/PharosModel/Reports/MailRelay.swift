/// A relay that takes e-mail, and the sender of the mail.
///
/// The relay is a mail server of the operator's, such as Postfix on the same machine, which knows credentials, TLS and queues.
package struct MailRelay: Hashable, Sendable {
  /// The host and port, on which the relay takes mail without credentials.
  package var place: HostPort
  /// The address of the sender.
  package var sender: String

  /// Names a relay.
  package init(_ place: HostPort, sender: String) {
    self.place = place
    self.sender = sender
  }

  /// The scheme of the receivers that are addresses of people.
  package static let scheme = "mailto:"

  /// Returns the address that a receiver's URL names; nil for another URL.
  package static func address(in url: String) -> String? {
    guard url.lowercased().hasPrefix(scheme) else { return nil }
    return String(url.dropFirst(scheme.count))
  }

  /// Returns whether a text is an address that mail can be sent to, without quoted parts and comments.
  ///
  /// - Source: RFC 5321, 4.1.2 (Dot-string) and 4.5.3.1 (lengths).
  package static func isAddress(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, text.utf8.count <= 254, 1...64 ~= parts[0].utf8.count else { return false }
    func isDotted(_ text: Substring, _ others: String) -> Bool {
      text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        !label.isEmpty
          && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || others.contains($0)) }
      }
    }
    return isDotted(parts[0], "!#$%&'*+-/=?^_`{|}~") && isDotted(parts[1], "-")
  }
}
