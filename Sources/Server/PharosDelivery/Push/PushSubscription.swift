import Foundation
import PharosDocuments
import PharosSecurity

/// The keys of a browser that takes notifications from a push service; the address of its subscription is the URL of a webhook.
///
/// - Source: the Push API of the W3C, `PushSubscription`.
package struct PushSubscription: Hashable, Sendable {
  /// The length of the secret.
  ///
  /// - Units: bytes. RFC 8291, 3.2.
  package static let secretLength = 16

  /// The public point of the browser's key on P-256, uncompressed.
  package var point: [UInt8]
  /// The secret that proves to the browser that a message comes from a server that it gave the secret to.
  package var secret: [UInt8]

  /// Makes a subscription; returns nil if the lengths are not those of a point and a secret.
  package init?(point: [UInt8], secret: [UInt8]) {
    guard point.count == P256Key.pointLength, point.first == 4,
      secret.count == PushSubscription.secretLength
    else { return nil }
    self.point = point
    self.secret = secret
  }
}

extension PushSubscription: CustomStringConvertible, CustomReflectable {
  /// A placeholder that reveals nothing about the secret.
  package var description: String { "the keys of a browser" }
  /// A mirror without children, so that the secret is not dumped.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension PushSubscription: FieldForm {
  /// The point and the secret behind it, in base64url.
  package var form: String { Secret.base64URL(point + secret) }
  /// Reads the text.
  package init?(form: String) {
    guard let bytes = PushSubscription.bytes(base64URL: form), bytes.count > P256Key.pointLength else {
      return nil
    }
    let point = Array(bytes.prefix(P256Key.pointLength))
    self.init(point: point, secret: Array(bytes.dropFirst(P256Key.pointLength)))
  }
}

extension PushSubscription {
  /// Returns the bytes of a text that browsers write, with padding or without; nil if it is none.
  static func bytes(base64URL text: String) -> [UInt8]? {
    let plain = text.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
    let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
    return Data(base64Encoded: plain + padding).map { Array($0) }
  }
}

extension DocumentFields {
  /// Reads the keys of a browser, as its `PushSubscription.toJSON()` gives them.
  func subscription() -> PushSubscription? {
    func bytes(_ key: String, _ length: Int) -> [UInt8]? {
      required(
        key,
        ValueForm(expected: "\(length) bytes in base64url, as the browser gives them", mismatch: "none") {
          PushSubscription.bytes(base64URL: $0).flatMap { $0.count == length ? $0 : nil }
        }
      )
    }
    let point = bytes("p256dh", P256Key.pointLength)
    let secret = bytes("auth", PushSubscription.secretLength)
    guard let point, let secret else { return nil }
    // The point must lie on the curve; any key finds out.
    guard P256Key().sharedSecret(with: point) != nil else {
      mistake("p256dh", "p256dh is no point of P-256", expected: "the key that the browser gives")
      return nil
    }
    return PushSubscription(point: point, secret: secret)
  }
}
