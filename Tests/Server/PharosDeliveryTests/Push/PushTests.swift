import Foundation
import NIOHTTP1
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import PharosSecurity
import Synchronization
import Testing

/// Notifications for browsers: the encryption, the server's token, subscriptions, and a browser that reads what it gets.
@Suite("Web Push", .timeLimit(.minutes(5)))
struct PushTests {
  /// A browser at a push service: takes requests in place of the network, checks them as both would, and reads them.
  final class Browser: WebhookSender {
    let key = P256Key()
    let secret: [UInt8] = Array(1...16)
    private let isGone: Bool
    private let received = Mutex<[[String: String]]>([])
    private let changes = AsyncStream<Void>.makeStream()

    init(isGone: Bool = false) { self.isGone = isGone }

    var texts: [[String: String]] { received.withLock { $0 } }

    /// The document that subscribes it.
    func document(_ url: String = "https://push.example/send/1") -> [UInt8] {
      let keys = #"{"p256dh":"\#(base64URL(key.point))","auth":"\#(base64URL(secret))"}"#
      return json(#"{"url":"\#(url)","summary":"Ada's","keys":\#(keys)}"#)
    }

    func send(_ request: WebhookRequest) async -> DeliveryOutcome {
      guard !isGone else { return .gone }
      if let text = read(request.body) { received.withLock { $0.append(text) } }
      changes.continuation.yield()
      return .delivered
    }

    /// Waits until so many messages were read.
    func wait(for count: Int) async {
      if texts.count >= count { return }
      for await _ in changes.stream where texts.count >= count { return }
    }

    func shutdown() async {}

    /// Decrypts a body as RFC 8291 says, and reads the document in it.
    private func read(_ body: [UInt8]) -> [String: String]? {
      guard let text = PushTests.opened(body, by: key, secret) else { return nil }
      return (try? JSONSerialization.jsonObject(with: Data(text))) as? [String: String]
    }
  }

  /// Returns the text of a body; nil if it is not for this key and secret, or was changed on the way.
  private static func opened(_ body: [UInt8], by key: P256Key, _ secret: [UInt8]) -> [UInt8]? {
    guard body.count > 86 + 17, body[16..<20].elementsEqual([0, 0, 16, 0]), body[20] == 65 else { return nil }
    let (salt, server) = (Array(body[..<16]), Array(body[21..<86]))
    guard let shared = key.sharedSecret(with: server) else { return nil }
    let info = Array("WebPush: info\0".utf8) + key.point + server
    let first = HMACSHA256.derivedKey(from: shared, salt: secret, info: info, length: 32)
    func derived(_ name: String, _ length: Int) -> [UInt8] {
      HMACSHA256.derivedKey(from: first, salt: salt, info: Array("\(name)\0".utf8), length: length)
    }
    let content = derived("Content-Encoding: aes128gcm", 16)
    let nonce = derived("Content-Encoding: nonce", 12)
    let sealed = Array(body[86...])
    // The mode is a stream cipher: to encrypt once more is to decrypt. The tag is compared with that of the result.
    let text = Array(AES128GCM.seal(sealed.dropLast(16).map { $0 }, key: content, nonce: nonce).dropLast(16))
    guard AES128GCM.seal(text, key: content, nonce: nonce) == sealed, text.last == 2 else { return nil }
    return text.dropLast()
  }

  private static func notification(_ counter: UInt64, text: String = "Leave now.") -> Event {
    var detail = NotificationDetail(
      rule: "gate",
      occasion: .deadline,
      text: text,
      cause: EventID(high: 1, low: counter)
    )
    detail.title = "Gate 7"
    detail.link = "https://example.org/gates/7"
    return Event(
      stream: Samples.stream,
      kind: .notification,
      time: Samples.start,
      decidedAt: Samples.start,
      stage: 0,
      subject: Samples.subject(1),
      application: "gallery",
      counter: counter,
      detail: .notification(detail)
    )
  }

  @Test("a message is the one of RFC 8291, appendix A")
  func vector() throws {
    let point = try #require(
      bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    )
    let secret = try #require(bytes("BTBZMqHH6r4Tts7J_aSIgg"))
    let subscription = try #require(PushSubscription(point: point, secret: secret))
    let key = try #require(
      bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw").flatMap { P256Key(number: $0) }
    )
    let salt = try #require(bytes("DGv6ra1nlYgDCS1FRnbzlw"))
    let text = Array("When I grow up, I want to be a watermelon".utf8)
    let body = try #require(PushMessage.body(text, for: subscription, key: key, salt: salt))
    let expected = [
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml",
      "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT",
      "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
    ]
    #expect(base64URL(body) == expected.joined())
    let browser = try #require(
      bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94").flatMap { P256Key(number: $0) }
    )
    #expect(browser.point == point)
    #expect(Self.opened(body, by: browser, secret) == text)
    #expect(Self.opened(body, by: P256Key(), secret) == nil)
    for index in [0, 30, 90, body.count - 1] {
      var changed = body
      changed[index] ^= 1
      #expect(Self.opened(changed, by: browser, secret) == nil, "byte \(index)")
    }
  }

  @Test("the token is for one service, half a day, and says who is responsible")
  func token() throws {
    let key = P256Key()
    let header = PushMessage.token(
      for: "https://push.example:8443/send/1?x=y",
      key: key,
      contact: "pharos@example.org",
      at: Samples.start
    )
    let parts = header.split(separator: " ")
    #expect(parts.first == "vapid")
    #expect(parts.last == "k=\(base64URL(key.point))")
    let token = try #require(parts.dropFirst().first?.dropFirst(2).dropLast())
    let sections = token.split(separator: ".").compactMap { bytes(String($0)) }
    try #require(sections.count == 3)
    #expect(String(decoding: sections[0], as: UTF8.self) == #"{"typ":"JWT","alg":"ES256"}"#)
    let claims = #"{"aud":"https://push.example:8443","exp":1750043200,"sub":"mailto:pharos@example.org"}"#
    #expect(String(decoding: sections[1], as: UTF8.self) == claims)
    #expect(sections[2].count == 64)
  }

  @Test("a text of any length fits into a message", arguments: [0, 1, 1_000, 4_000, 20_000])
  func lengths(length: Int) throws {
    for letter in ["a", "é", "日", "\"", "👩‍👩‍👧‍👦"] {
      let message = PushMessage(of: Self.notification(1, text: String(repeating: letter, count: length)))
      #expect(message.text.count <= PushMessage.maximumText)
      let object = try JSONSerialization.jsonObject(with: Data(message.text)) as? [String: Any]
      #expect(object?["link"] as? String == "https://example.org/gates/7")
      if length <= 100 { #expect((object?["text"] as? String)?.count == length) }
    }
  }

  @Test("a browser subscribes, reads each notification and nothing else, through a restart")
  func delivery() async throws {
    let browser = Browser()
    let journal = try Journal.open(.memory, stream: Samples.stream)
    let first = try WebhookHouse(journal, sender: browser)
    let made = try first.webhooks.create(json: browser.document())
    let id = made.standing.definition.id
    #expect(made.secret == nil, "nothing is signed with it")
    var text = JSONText()
    text.openObject()
    made.write(to: &text)
    text.closeObject()
    let listed = String(decoding: text.utf8, as: UTF8.self)
    #expect(listed.contains(#""browser":true"#))
    #expect(!listed.contains(base64URL(browser.secret)) && !listed.contains(base64URL(browser.key.point)))
    #expect(try first.webhooks.replace(id, json: text.utf8).standing.definition.push != nil, "the keys stay")
    #expect(try first.webhooks.create(json: browser.document()).standing.definition.id == id, "not twice")
    let key = try first.webhooks.publicPushKey()

    let second = try WebhookHouse(journal, sender: browser)
    #expect(try second.webhooks.publicPushKey() == key, "the key is kept")
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await second.webhooks.run() }
      try second.publish([Samples.event(counter: 1), Self.notification(2), Self.notification(3)])
      await browser.wait(for: 2)
      #expect(try await second.webhooks.test(id).outcome == .delivered)
      second.webhooks.stop()
    }
    #expect(browser.texts.map { $0["title"] } == ["Gate 7", "Gate 7", "Pharos"])
    #expect(browser.texts.prefix(2).map { $0["text"] } == ["Leave now.", "Leave now."])
    #expect(browser.texts.first?["id"] == Self.notification(2).id.description)
    #expect(browser.texts.first?["link"] == "https://example.org/gates/7")
  }

  @Test("a browser that is gone is forgotten")
  func gone() async throws {
    let house = try WebhookHouse(
      try Journal.open(.memory, stream: Samples.stream),
      sender: Browser(isGone: true)
    )
    _ = try house.webhooks.create(json: Browser().document())
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await house.webhooks.run() }
      try house.publish([Self.notification(1)])
      while !house.webhooks.list().isEmpty { await Task.yield() }
      house.webhooks.stop()
    }
    #expect(try house.journal.documents(kind: "webhook").isEmpty)
  }

  @Test("the answers 404 and 410 of a push service end a subscription, and the request has its headers")
  func headers() async throws {
    for status in [HTTPResponseStatus.notFound, .gone, .created] {
      let service = try await Receiver { _ in .init(status: status) }
      let house = try WebhookHouse(try Journal.open(.memory, stream: Samples.stream))
      let id = try house.webhooks.create(json: Browser().document(service.url)).standing.definition.id
      let outcome = try await house.webhooks.test(id).outcome
      #expect(outcome == (status == .created ? .delivered : .gone), "\(status)")
      let request = try #require((service.accepted + service.refused).first)
      #expect(request.headers["content-encoding"] == "aes128gcm")
      #expect(request.headers["ttl"] == "86400")
      #expect(request.headers["topic"]?.utf8.count == 32)
      #expect(request.headers["authorization"]?.hasPrefix("vapid t=") == true)
      #expect(request.headers["webhook-signature"] == nil)
      await service.close()
    }
  }

  private static let zeros = String(repeating: "A", count: 86)

  @Test(
    "keys that are none are refused with a reason",
    arguments: [
      (#"{"p256dh":"AAAA","auth":"AAAAAAAAAAAAAAAAAAAAAA"}"#, "keys.p256dh"),
      (#"{"auth":"AAAAAAAAAAAAAAAAAAAAAA"}"#, "keys.p256dh"),
      (#"{"p256dh":"B\#(zeros)","auth":"AAAAAAAAAAAAAAAAAAAAAA"}"#, "keys.p256dh"),
    ]
  )
  func mistakes(keys: String, field: String) throws {
    let house = try WebhookHouse(try Journal.open(.memory, stream: Samples.stream))
    #expect {
      try house.webhooks.create(json: json(#"{"url":"https://push.example/1","keys":\#(keys)}"#))
    } throws: { error in
      guard case .invalid(let problems)? = error as? WebhookError else { return false }
      return problems.map(\.field) == [field]
    }
  }
}

private func base64URL(_ bytes: [UInt8]) -> String {
  let text = Data(bytes).base64EncodedString()
  return text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

private func bytes(_ text: String) -> [UInt8]? {
  let plain = text.replacing("-", with: "+").replacing("_", with: "/")
  let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
  return Data(base64Encoded: plain + padding).map { Array($0) }
}
