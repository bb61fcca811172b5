import PharosDelivery
import PharosJournal
import PharosModel
import PharosSecurity
import Testing

@Suite("The keys of observers")
struct ObserverKeysTests {
  private let noon = Timestamp(seconds: 1_800_000_000)
  private let gateway = ObserverID.eui48(1)

  @Test("a key is kept with its secret, and read back by the next start")
  func kept() throws {
    let journal = try Journal.open(.memory, stream: "test")
    let keys = try ObserverKeys(store: journal)
    #expect(keys.list().isEmpty)
    let key = try keys.add(gateway, radios: [.name("roof")], at: noon)
    let expected = KeyedObserver(
      id: gateway,
      keys: [KeyedObserver.Entry(key: key, createdAt: noon)],
      radios: [.name("roof")]
    )
    #expect(keys.observer(gateway) == expected)
    #expect(try ObserverKeys(store: journal).list() == [expected])
  }

  @Test("a rotation keeps the older keys for the overlap, and drops what has expired; four are enough")
  func rotation() throws {
    let keys = try ObserverKeys(store: try Journal.open(.memory, stream: "test"))
    let first = try keys.add(gateway, at: noon)
    let second = try keys.add(gateway, overlap: .seconds(60), at: noon + .seconds(10))
    #expect(first != second)
    var entries = try #require(keys.observer(gateway)).keys
    #expect(entries.map(\.key) == [first, second])
    #expect(entries.map(\.expiresAt) == [noon + .seconds(70), nil])
    // A second rotation does not prolong what is on its way out.
    let third = try keys.add(gateway, overlap: .seconds(3_600), at: noon + .seconds(20))
    entries = try #require(keys.observer(gateway)).keys
    #expect(entries.map(\.expiresAt) == [noon + .seconds(70), noon + .seconds(3_620), nil])
    _ = try keys.add(gateway, at: noon + .seconds(30))
    #expect(throws: AccessError.tooManyKeys(gateway, limit: 4)) {
      try keys.add(gateway, at: noon + .seconds(40))
    }
    _ = try keys.add(gateway, at: noon + .seconds(80))
    entries = try #require(keys.observer(gateway)).keys
    #expect(entries.count == 4 && entries.map(\.key).contains(third) && !entries.map(\.key).contains(first))
  }

  @Test("a key that is revoked is gone, its observer still must sign; a forgotten observer need not")
  func revoking() throws {
    let journal = try Journal.open(.memory, stream: "test")
    let keys = try ObserverKeys(store: journal)
    let key = try keys.add(gateway, at: noon)
    let store = SenderRecords(store: journal)
    let lease = SenderLease(until: noon, written: noon, steady: .zero, machineStart: "a")
    let record = SenderRecord(sender: SenderName(observer: gateway, keyID: key.id), bootID: 1)
    try store.keep([record], lease: lease)
    #expect(try store.records(of: keys.list()) == [record])
    #expect(try store.lease() == lease)
    #expect(try !keys.revoke(key.id ^ 1, of: gateway))
    #expect(try keys.revoke(key.id, of: gateway))
    #expect(try !keys.revoke(key.id, of: gateway))
    #expect(keys.observer(gateway) == KeyedObserver(id: gateway))
    #expect(try journal.documents(kind: "access.senderRecord").isEmpty)
    #expect(KeyRing(keys.list()).mustSign(gateway))
    #expect(try keys.forget(gateway))
    #expect(try !keys.forget(gateway))
    #expect(try ObserverKeys(store: journal).list().isEmpty)
  }

  @Test("records of keys that are gone are swept up at a start")
  func sweeping() throws {
    let journal = try Journal.open(.memory, stream: "test")
    let store = SenderRecords(store: journal)
    let lease = SenderLease(until: noon, written: noon, steady: .zero, machineStart: "a")
    try store.keep([SenderRecord(sender: SenderName(observer: gateway, keyID: 5), bootID: 1)], lease: lease)
    #expect(try store.records(of: []).isEmpty)
    #expect(try journal.documents(kind: "access.senderRecord").isEmpty)
  }

  @Test("an observer with keys speaks for itself and is not another one's radio")
  func radios() throws {
    let keys = try ObserverKeys(store: try Journal.open(.memory, stream: "test"))
    _ = try keys.add(.name("a"), at: noon)
    #expect(throws: AccessError.notARadio(.name("a"), of: gateway)) {
      try keys.add(gateway, radios: [.name("a")], at: noon)
    }
    #expect(throws: AccessError.notARadio(gateway, of: gateway)) {
      try keys.add(gateway, radios: [gateway], at: noon)
    }
    let many = (0..<17).map { ObserverID.eui48(UInt64($0) + 100) }
    #expect(throws: AccessError.self) { try keys.add(gateway, radios: many, at: noon) }
    #expect(keys.observer(gateway) == nil)
  }

  @Test("a key that could not be stored is not in effect")
  func stubborn() throws {
    let store = StubbornStore(try Journal.open(.memory, stream: "test"))
    let keys = try ObserverKeys(store: store)
    let key = try keys.add(gateway, at: noon)
    store.refuses = true
    #expect(throws: AccessError.self) { try keys.add(gateway, at: noon) }
    #expect(throws: AccessError.self) { try keys.revoke(key.id, of: gateway) }
    #expect(throws: AccessError.self) { try keys.forget(gateway) }
    #expect(keys.observer(gateway)?.keys.map(\.key) == [key])
  }
}
