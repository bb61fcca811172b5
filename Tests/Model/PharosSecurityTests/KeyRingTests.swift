import PharosDocuments
import PharosModel
import PharosSecurity
import PharosTestSupport
import PharosWire
import Testing

@Suite("Keys and permitted signers")
struct KeyRingTests {
  private let noon = Timestamp(seconds: 1_780_000_000)
  private let gateway = ObserverID.eui48(1)

  private func signer(
    _ datagram: [UInt8],
    _ ring: KeyRing,
    at time: Timestamp
  ) -> Result<SenderName, DatagramRefusal> {
    do throws(DatagramRefusal) {
      let head = try PharosDatagramHead.head(of: datagram.span.bytes)
      return .success(try ring.signer(of: datagram.span.bytes, head: head, at: time).name)
    } catch {
      return .failure(error)
    }
  }

  private func ring(_ keys: [KeyedObserver.Entry], of observer: ObserverID = .eui48(1)) -> KeyRing {
    KeyRing([KeyedObserver(id: observer, keys: keys)])
  }

  @Test("every single bit that is flipped is found out, in datagrams of any length", arguments: [1, 3, 24])
  func bitFlips(adverts: Int) {
    let key = Datagrams.key(1)
    let ring = ring([KeyedObserver.Entry(key: key, createdAt: noon)])
    let datagram = Datagrams.signed(by: key, adverts: adverts)
    #expect(signer(datagram, ring, at: noon) == .success(SenderName(observer: gateway, keyID: key.id)))
    for bit in 0..<datagram.count * 8 {
      var flipped = datagram
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      if case .success = signer(flipped, ring, at: noon) { Issue.record("bit \(bit) was not noticed") }
    }
    for length in 0..<datagram.count {
      if case .success = signer(Array(datagram[..<length]), ring, at: noon) {
        Issue.record("cut at \(length)")
      }
    }
  }

  @Test("a missing key, another's key and a key under another id are refused, each with its reason")
  func reasons() throws {
    let (key, other) = (Datagrams.key(1), Datagrams.key(2))
    let both = KeyRing([
      KeyedObserver(id: gateway, keys: [KeyedObserver.Entry(key: key, createdAt: noon)]),
      KeyedObserver(id: .name("b"), keys: [KeyedObserver.Entry(key: other, createdAt: noon)]),
    ])
    #expect(signer(Datagrams.signed(by: other), both, at: noon) == .failure(.unknownKey))
    #expect(signer(Datagrams.signed(by: key, observer: .name("b")), both, at: noon) == .failure(.unknownKey))
    #expect(signer(Datagrams.signed(by: key, observer: .name("c")), both, at: noon) == .failure(.unknownKey))
    let forged = try ObserverKey(id: key.id, secret: other.secret)
    #expect(signer(Datagrams.signed(by: forged), both, at: noon) == .failure(.badSignature))
    var encoder = PharosDatagramEncoder(observer: gateway, bootID: 1)
    #expect(signer(encoder.finish(uptime: .zero), both, at: noon) == .failure(.notSigned))
  }

  @Test("a key that is rotated stays good until the overlap is over, and its window stays its own")
  func rotation() throws {
    let (old, new) = (Datagrams.key(1), Datagrams.key(2))
    let before = ring([KeyedObserver.Entry(key: old, createdAt: noon)])
    let end = noon + .seconds(60)
    let after = KeyRing(
      [
        KeyedObserver(
          id: gateway,
          keys: [
            KeyedObserver.Entry(key: old, createdAt: noon, expiresAt: end),
            KeyedObserver.Entry(key: new, createdAt: noon),
          ]
        )
      ],
      following: before
    )
    let oldName = SenderName(observer: gateway, keyID: old.id)
    #expect(before.sender(oldName) === after.sender(oldName))
    let (first, second) = (Datagrams.signed(by: old), Datagrams.signed(by: new))
    #expect(signer(first, after, at: end - .oneNanosecond) == .success(oldName))
    #expect(signer(first, after, at: end) == .failure(.expiredKey))
    #expect(signer(second, after, at: end) == .success(SenderName(observer: gateway, keyID: new.id)))
    // Without the old key, the very same bytes come from an unknown sender.
    let last = KeyRing(
      [KeyedObserver(id: gateway, keys: [KeyedObserver.Entry(key: new, createdAt: noon)])],
      following: after
    )
    #expect(signer(first, last, at: noon) == .failure(.unknownKey))
    // Another secret under the same id is another key.
    let forged = try ObserverKey(id: new.id, secret: old.secret)
    let replaced = KeyRing(
      [KeyedObserver(id: gateway, keys: [KeyedObserver.Entry(key: forged, createdAt: noon)])],
      following: last
    )
    let newName = SenderName(observer: gateway, keyID: new.id)
    #expect(replaced.sender(newName) !== last.sender(newName))
  }

  @Test("a sender speaks for itself and for its radios, and for no other observer that has keys")
  func vouching() {
    let radio = ObserverID.name("roof")
    let other = ObserverID.name("other")
    let entry = KeyedObserver.Entry(key: Datagrams.key(1), createdAt: noon)
    let ring = KeyRing([
      KeyedObserver(id: gateway, keys: [entry], radios: [radio, other]),
      KeyedObserver(id: other),
    ])
    #expect(ring.mayVouch(gateway, for: gateway))
    #expect(ring.mayVouch(gateway, for: radio))
    #expect(!ring.mayVouch(gateway, for: other))
    #expect(!ring.mayVouch(gateway, for: .name("unknown")))
    #expect(!ring.mayVouch(radio, for: gateway))
    #expect(ring.mustSign(other) && !ring.mustSign(radio))
  }

  @Test("a key's text is read back, and shows nothing where it is printed")
  func text() throws {
    let key = Datagrams.key(5)
    #expect(try ObserverKey(text: "  \(key.text)\n") == key)
    #expect(key.text.wholeMatch(of: /pharos-key-[0-9a-f]{8}-[0-9a-f]{64}/) != nil)
    for shown in ["\(key)", String(reflecting: key), "\(KeyedObserver.Entry(key: key, createdAt: noon))"] {
      #expect(!shown.contains(Hex.text(key.secret)))
      #expect(!shown.contains("secret"))
    }
    var dumped = ""
    dump(KeyedObserver(id: gateway, keys: [KeyedObserver.Entry(key: key, createdAt: noon)]), to: &dumped)
    #expect(!dumped.contains("\(key.secret[0])\n"))
    #expect(key.fingerprint.wholeMatch(of: /[0-9a-f]{8}/) != nil)
    #expect(key.fingerprint != Datagrams.key(6).fingerprint)
    for wrong in [
      "", "pharos-key-", String(key.text.dropLast()), key.text + "0",
      key.text.replacing("pharos", with: "other"),
    ] {
      #expect(throws: KeyError.badText) { try ObserverKey(text: wrong) }
    }
    #expect(throws: KeyError.badID) { try ObserverKey(id: 0, secret: key.secret) }
    #expect(throws: KeyError.badLength(31)) { try ObserverKey(id: 1, secret: Array(key.secret.dropLast())) }
  }

  @Test("an observer with its keys is read back as it was written")
  func bytes() throws {
    let observer = KeyedObserver(
      id: gateway,
      keys: [
        KeyedObserver.Entry(key: Datagrams.key(1), createdAt: noon),
        KeyedObserver.Entry(key: Datagrams.key(2), createdAt: noon, expiresAt: noon + .seconds(1)),
      ],
      radios: [.name("roof")]
    )
    var writer = FieldWriter()
    observer.write(to: &writer)
    var reader = FieldReader(writer.bytes[...])
    #expect(try KeyedObserver(from: &reader) == observer)
    for length in 0..<writer.bytes.count {
      var short = FieldReader(writer.bytes[..<length])
      #expect(throws: FieldError.self) { try KeyedObserver(from: &short) }
    }
  }
}
