import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import PharosSecurity
import Testing

/// The bytes of documents in the journal, which servers of other versions have to read.
@Suite("Stored documents")
struct StoredDocumentTests {
  /// Reads a document and checks that the same bytes are written for it.
  private static func read<Value: FieldCodable>(_ hex: String) throws -> Value {
    let value = try Value(encoded: try #require(Hex.bytes(hex)))
    #expect(Hex.text(value.encoded) == hex)
    return value
  }

  private static func time(_ seconds: Int64) -> Timestamp { Timestamp(nanoseconds: seconds * 1_000_000_000) }

  @Test("an authorisation keeps its layout")
  func authorisation() throws {
    let entry: AuthorisationEntry = try Self.read(
      "0000000473686f70010300000001680400000000b2d05e000000000000000002"
    )
    #expect(entry.application == "shop" && entry.subject == .observer(.name("h")))
    #expect(entry.state == .always && entry.since == Self.time(3))
  }

  @Test("a token keeps its layout, whatever its role")
  func token() throws {
    let token: Token = try Self.read(
      "00000002696400000004646f6f72010000000473686f7000000000b2d05e000100000000ee6b28000001020304050607"
        + "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    )
    #expect(token.id == "id" && token.name == "door" && token.role == .application("shop"))
    #expect(token.createdAt == Self.time(3) && token.expiresAt == Self.time(4))
    let other: Token = try Self.read(
      "00000002696400000004646f6f720000000000b2d05e0000000000000000000000000000000000000000000000000000"
        + "0000000000000000"
    )
    #expect(other.role == .operator && other.expiresAt == nil)
  }

  @Test("a notification rule keeps its layout")
  func rule() throws {
    let rule: NotificationRule = try Self.read(
      "030000000473686f700000000568656c6c6f0000000468616c6c00000000094869207b6e616d657d010000000df84758"
        + "0001054601a40000000d4575726f70652f4265726c696e00000000000000000c000000000000000000"
    )
    let before = "01" + Hex.text(rule.encoded).dropFirst(2).dropLast(18)
    #expect(try NotificationRule(encoded: try #require(Hex.bytes(before))) == rule)
    let expected = NotificationRule(
      application: "shop",
      id: "hello",
      region: "hall",
      occasion: .enter,
      text: "Hi {name}",
      atMostOncePer: .seconds(60),
      quietHours: QuietHours(from: 22 * 60 + 30, to: 7 * 60, timeZone: "Europe/Berlin"),
      startsAfter: 12
    )
    #expect(rule == expected)
  }

  @Test("a webhook keeps its layout")
  func webhook() throws {
    let webhook: WebhookDefinition = try Self.read(
      "0100000001770000001268747470733a2f2f612e6578616d706c652f0000000173010000000473686f70010000000100"
        + "000013706861726f732e726567696f6e2e656e74657200010000000101030000000168000000002677687365635f4141"
        + "4543417751464267634943516f4c4441304f4478415245684d5546525958010000002677687365635f41414543417751"
        + "464267634943516f4c4441304f4478415245684d554652595801000000012a05f2000000000000000008010000000000"
        + "b2d05e00000000000000000c"
    )
    let secret = try #require(WebhookSecret("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"))
    var expected = WebhookDefinition(
      id: "w",
      url: "https://a.example/",
      summary: "s",
      application: "shop",
      filter: EventFilter(kinds: [.regionEnter], subjects: [.observer(.name("h"))]),
      secret: secret,
      createdAt: Self.time(3),
      startsAfter: 12
    )
    expected.formerSecret = secret
    expected.rotatesAt = Self.time(5)
    #expect(webhook == expected)
  }

  @Test("the keys of an observer keep their layout")
  func keys() throws {
    let observer: KeyedObserver = try Self.read(
      "0300000001670000000100000005000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0000"
        + "0000b2d05e000100000000ee6b280000000001030000000172"
    )
    #expect(observer.id == .name("g") && observer.radios == [.name("r")])
    #expect(observer.keys.map(\.key.id) == [5] && observer.keys.map(\.key.secret) == [Array(0..<32)])
    #expect(observer.keys.map(\.createdAt) == [Self.time(3)] && observer.keys[0].expiresAt == Self.time(4))
  }

  @Test("replay windows and their lease keep their layout")
  func windows() throws {
    let record: SenderRecord = try Self.read(
      "0300000001670000000500000007000100000000b2d05e00010000000700000009000000012a05f20000000000000002"
        + "00"
        + String(repeating: "00", count: 120)
    )
    #expect(record.sender == SenderName(observer: .name("g"), keyID: 5) && record.bootID == 7)
    #expect(record.floor == nil && record.startedAt == Self.time(3))
    #expect(record.window == ReplayWindow(bootID: 7, sequence: 9, uptime: .seconds(5)))
    let lease: SenderLease = try Self.read(
      "000000012a05f20000000000ee6b2800000000007735940000000004626f6f74"
    )
    let expected = SenderLease(
      until: Self.time(5),
      written: Self.time(4),
      steady: .seconds(2),
      machineStart: "boot"
    )
    #expect(lease == expected)
  }
}
