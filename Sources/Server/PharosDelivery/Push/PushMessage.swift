import Foundation
import PharosDocuments
package import PharosModel
package import PharosSecurity

/// A notification as a message to a browser: a request to the push service, which can read neither the text nor who is meant.
///
/// - Source: RFC 8030 (the request), RFC 8188 and RFC 8291 (the encryption), RFC 8292 (the server's token).
package struct PushMessage: Hashable, Sendable {
  /// The longest text of a message: push services take 4,096 bytes, of which 103 are keys, padding and tag.
  ///
  /// - Units: bytes.
  package static let maximumText = 3_993
  /// The time for which a token is valid; RFC 8292 allows a day.
  package static let tokenAge = TimeSpan.minutes(12 * 60)
  /// The size of a record: the only one of a message.
  ///
  /// - Units: bytes.
  private static let recordSize: UInt32 = 4_096

  /// The id of the event, by which the push service and the browser recognise a repetition.
  private let id: String
  /// The text that the browser's worker reads.
  package let text: [UInt8]

  /// Makes the message of an event.
  package init(of event: Event) {
    let id = event.id.description
    guard case .notification(let notification) = event.detail else {
      self.init(id: id, title: event.kind.word, text: event.detail.summary(of: event))
      return
    }
    self.init(
      id: id,
      title: notification.title ?? notification.text,
      text: notification.title == nil ? "" : notification.text,
      link: notification.link,
      picture: notification.picture,
      at: event.time
    )
  }

  /// Makes a message of a title and a text.
  package init(
    id: String,
    title: String,
    text: String,
    link: String? = nil,
    picture: String? = nil,
    at time: Timestamp? = nil
  ) {
    self.id = id
    func document(_ length: Int) -> [UInt8] {
      var json = JSONText()
      json.openObject()
      json.member("id", id)
      json.member("title", String(title.prefix(length)))
      json.member("text", String(text.prefix(length)))
      // A part of an address leads nowhere.
      if let link, link.utf8.count <= PushMessage.maximumLink { json.member("link", link) }
      if let picture, picture.utf8.count <= PushMessage.maximumLink { json.member("picture", picture) }
      if let time { json.member("time", time.rfc3339) }
      json.closeObject()
      return json.utf8
    }
    var length = PushMessage.maximumText
    var bytes = document(length)
    while bytes.count > PushMessage.maximumText {
      length /= 2
      bytes = document(length)
    }
    self.text = bytes
  }

  /// The longest address that goes into a message.
  ///
  /// - Units: bytes of UTF-8. Two of them, each byte escaped, leave room for the texts.
  private static let maximumLink = 512
}

extension PushMessage {
  /// Returns the body of the request: the text, encrypted for the browser alone.
  ///
  /// - Parameters:
  ///   - text: the text, of at most ``maximumText`` bytes.
  ///   - subscription: the keys of the browser.
  ///   - key: a key for this message alone.
  ///   - salt: 16 random bytes.
  /// - Returns: the body; nil if the browser's point is not on the curve.
  /// - Source: RFC 8291, section 3; RFC 8188, section 2.
  package static func body(
    _ text: [UInt8],
    for subscription: PushSubscription,
    key: P256Key,
    salt: [UInt8]
  ) -> [UInt8]? {
    guard let shared = key.sharedSecret(with: subscription.point) else { return nil }
    func info(_ name: String) -> [UInt8] { Array("\(name)\0".utf8) }
    let secret = HMACSHA256.derivedKey(
      from: shared,
      salt: subscription.secret,
      info: info("WebPush: info") + subscription.point + key.point,
      length: 32
    )
    func derived(_ name: String, _ length: Int) -> [UInt8] {
      HMACSHA256.derivedKey(from: secret, salt: salt, info: info("Content-Encoding: \(name)"), length: length)
    }
    // Two ends the last record.
    let sealed = AES128GCM.seal(
      text + [2],
      key: derived("aes128gcm", AES128GCM.keyLength),
      nonce: derived("nonce", AES128GCM.nonceLength)
    )
    let size = (0..<4).map { UInt8(truncatingIfNeeded: recordSize >> UInt32(24 - 8 * $0)) }
    return salt + size + [UInt8(key.point.count)] + key.point + sealed
  }

  /// Returns the token by which the push service knows the server: it is for one service alone and for half a day.
  ///
  /// - Parameters:
  ///   - url: the address of the subscription.
  ///   - key: the server's key.
  ///   - contact: the address of the operator; nil for none.
  ///   - now: the time.
  /// - Returns: the value of the header `authorization`.
  /// - Source: RFC 8292, sections 2 and 3; RFC 6454, 6.2 (the origin of the service).
  package static func token(
    for url: String,
    key: P256Key,
    contact: String?,
    at now: Timestamp
  ) -> String {
    let parts = URLComponents(string: url)
    let host = (parts?.scheme ?? "https").lowercased() + "://" + (parts?.host ?? "").lowercased()
    var claims = JSONText()
    claims.openObject()
    claims.member("aud", host + (parts?.port.map { ":\($0)" } ?? ""))
    claims.member("exp", (now + tokenAge).nanoseconds / 1_000_000_000)
    claims.member("sub", ifPresent: contact.map { MailRelay.scheme + $0 })
    claims.closeObject()
    let header = #"{"typ":"JWT","alg":"ES256"}"#
    let signed =
      Secret.base64URL(Array(header.utf8)) + "." + Secret.base64URL(claims.utf8)
    let signature = Secret.base64URL(key.signature(of: Array(signed.utf8)))
    return "vapid t=\(signed).\(signature), k=\(Secret.base64URL(key.point))"
  }
}

extension WebhookRequest {
  /// Makes the request that brings a message to a browser.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - url: the address of the subscription.
  ///   - subscription: the keys of the browser.
  ///   - sender: the server as push services know it.
  ///   - instant: the time of the attempt.
  ///   - settings: the time limits; a push service keeps the message as long as its delivery would be tried.
  init(
    _ message: PushMessage,
    to url: String,
    _ subscription: PushSubscription,
    from sender: PushSender,
    at instant: Timestamp,
    _ settings: DeliverySettings
  ) {
    var generator = SystemRandomNumberGenerator()
    let salt = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let body = PushMessage.body(message.text, for: subscription, key: P256Key(), salt: salt)
    self.init(url: url, headers: [], body: body ?? [], timeout: settings.timeout)
    isMissingGone = true
    headers = [
      ("authorization", PushMessage.token(for: url, key: sender.key, contact: sender.contact, at: instant)),
      ("content-type", "application/octet-stream"),
      ("content-encoding", "aes128gcm"),
      ("user-agent", "pharos-webhooks"),
      ("ttl", String(Int(settings.giveUpAfter.seconds))),
      ("urgency", "high"),
      ("topic", message.topic),
    ]
  }
}

extension PushMessage {
  /// The name under which a later message takes the place of an earlier one that the browser did not fetch yet: of the
  /// same event alone.
  ///
  /// - Source: RFC 8030, 5.4: at most 32 characters of base64url.
  fileprivate var topic: String { String(id.prefix(32)) }
}
