import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import Testing

@Suite("Tokens")
struct TokenTests {
  private let noon = Timestamp(seconds: 1_800_000_000)

  @Test("a secret gives its holder access, and only its digest is stored")
  func roles() throws {
    let journal = try Journal.open(.memory, stream: "test")
    let tokens = try Tokens(store: journal)
    #expect(tokens.isEmpty)
    let gallery = try tokens.create(name: "gallery app", role: .application("gallery"), at: noon)
    let boss = try tokens.create(name: "boss", role: .operator, at: noon)
    #expect(
      tokens.verify(gallery.secret, at: noon) == .application(id: gallery.token.id, name: "gallery")
    )
    #expect(tokens.verify(boss.secret, at: noon) == .operator(id: boss.token.id))
    #expect(tokens.list().map(\.name).sorted() == ["boss", "gallery app"])
    for (_, document) in try journal.documents(kind: "access.token") {
      let text = String(decoding: document, as: UTF8.self)
      #expect(!text.contains(gallery.secret) && !text.contains(gallery.secret.dropFirst(4)))
    }
  }

  @Test("a secret is pht_ and 43 characters of base64url, and never the same")
  func form() throws {
    let tokens = try Tokens(store: try Journal.open(.memory, stream: "test"))
    var secrets: Set<String> = []
    for number in 0..<200 {
      let secret = try tokens.create(name: "\(number)", role: .operator, at: noon).secret
      #expect(secret.wholeMatch(of: /pht_[A-Za-z0-9_-]{43}/) != nil)
      secrets.insert(secret)
    }
    #expect(secrets.count == 200)
    #expect(Set(tokens.list().map(\.id)).count == 200)
  }

  @Test("a text that differs from the secret gives no access")
  func outsiders() throws {
    let tokens = try Tokens(store: try Journal.open(.memory, stream: "test"))
    let secret = try tokens.create(name: "one", role: .operator, at: noon).secret
    let bytes = Array(secret.utf8)
    for index in bytes.indices {
      var changed = bytes
      changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(tokens.verify(String(decoding: changed, as: UTF8.self), at: noon) == nil)
    }
    let others = [
      "", "pht_", "Bearer \(secret)", secret + "A", String(secret.dropLast()), secret + "\u{301}",
    ]
    for other in others + [String(repeating: "pht_", count: 100_000)] {
      #expect(tokens.verify(other, at: noon) == nil)
    }
    #expect(tokens.verify(secret, at: noon) != nil)
  }

  @Test("a client has ended once its token has expired or was revoked, and so has a ticket of it")
  func ends() throws {
    let tokens = try Tokens(store: try Journal.open(.memory, stream: "test"))
    let end = noon + .seconds(60)
    let brief = try tokens.create(name: "boss", role: .operator, at: noon, expiresAt: end).token
    // Of two tokens with one name, each is a client of its own.
    let lasting = try tokens.create(name: "boss", role: .operator, at: noon).token
    let gone = try tokens.create(name: "app", role: .application("gallery"), at: noon).token
    let clients = Set([brief, lasting, gone].map(\.principal.client) + [Principal.local.client])
    #expect(clients.count == 4)
    #expect(tokens.ended(among: clients, at: end - .oneNanosecond).isEmpty)
    let tickets = (0..<2).compactMap { _ in tokens.tickets.issue(to: brief.principal, at: .zero) }
    #expect(tokens.redeem(tickets[0], at: .zero, end - .oneNanosecond) == brief.principal)
    #expect(tokens.redeem(tickets[1], at: .zero, end) == nil)
    #expect(tokens.ended(among: clients, at: end) == [brief.principal.client])
    #expect(try tokens.revoke(gone.id))
    #expect(tokens.ended(among: clients, at: end) == [brief.principal.client, gone.principal.client])
    let shop = try tokens.create(name: "till", role: .application("shop"), at: noon).token
    #expect(tokens.ended(among: [shop.principal.client], at: noon).isEmpty)
    tokens.revokingAll(of: "shop").adopt()
    #expect(tokens.ended(among: [shop.principal.client], at: noon) == [shop.principal.client])
    #expect(tokens.ended(among: ["token unknown"], at: noon) == ["token unknown"])
  }

  @Test("a token ends at its time, to the nanosecond")
  func expiry() throws {
    let tokens = try Tokens(store: try Journal.open(.memory, stream: "test"))
    let end = noon + .minutes(60)
    let secret = try tokens.create(name: "short", role: .operator, at: noon, expiresAt: end).secret
    #expect(tokens.verify(secret, at: end - .oneNanosecond) != nil)
    #expect(tokens.verify(secret, at: end) == nil)
    #expect(throws: AccessError.expired) {
      try tokens.create(name: "past", role: .operator, at: noon, expiresAt: noon)
    }
  }

  @Test("revoking holds at once and after a restart; others stay")
  func revocation() throws {
    let journal = try Journal.open(.memory, stream: "test")
    let tokens = try Tokens(store: journal)
    let kept = try tokens.create(name: "kept", role: .application("a"), at: noon)
    let gone = try tokens.create(name: "gone", role: .operator, at: noon)
    #expect(try tokens.revoke(gone.token.id))
    #expect(try !tokens.revoke(gone.token.id))
    #expect(try !tokens.revoke("no such id"))
    for again in [tokens, try Tokens(store: journal)] {
      #expect(again.verify(gone.secret, at: noon) == nil)
      #expect(again.verify(kept.secret, at: noon) == .application(id: kept.token.id, name: "a"))
      #expect(again.list() == [kept.token])
    }
  }

  @Test("when a token was used is known, for those that opened")
  func use() throws {
    let tokens = try Tokens(store: try Journal.open(.memory, stream: "test"))
    let made = try tokens.create(name: "one", role: .operator, at: noon, expiresAt: noon + .minutes(2))
    #expect(tokens.lastUsed(made.token.id) == nil)
    _ = tokens.verify(made.secret, at: noon + .minutes(1))
    _ = tokens.verify(made.secret, at: noon + .minutes(3))
    #expect(tokens.lastUsed(made.token.id) == noon + .minutes(1))
  }

  @Test("names that cannot be are refused with words", arguments: ["", String(repeating: "n", count: 201)])
  func names(name: String) throws {
    let tokens = try Tokens(store: try Journal.open(.memory, stream: "test"))
    #expect(throws: AccessError.badName(field: "name", limit: 200)) {
      try tokens.create(name: name, role: .operator, at: noon)
    }
    #expect(throws: AccessError.badName(field: "application", limit: 200)) {
      try tokens.create(name: "n", role: .application(name), at: noon)
    }
    #expect(tokens.isEmpty)
    #expect(
      AccessError.badName(field: "name", limit: 200).description == "name must be a text of 1 to 200 bytes"
    )
  }

  @Test("a token that cannot be stored is not in effect, and one that cannot be deleted still is")
  func failingStore() throws {
    let store = StubbornStore(try Journal.open(.memory, stream: "test"))
    let tokens = try Tokens(store: store)
    let made = try tokens.create(name: "one", role: .operator, at: noon)
    store.refuses = true
    #expect(throws: AccessError.self) { try tokens.create(name: "two", role: .operator, at: noon) }
    #expect(throws: AccessError.self) { try tokens.revoke(made.token.id) }
    #expect(tokens.verify(made.secret, at: noon) != nil)
    #expect(tokens.list() == [made.token])
  }

  @Test("a damaged document is reported by name and grants no access")
  func damage() throws {
    let journal = try Journal.open(.memory, stream: "test")
    let made = try Tokens(store: journal).create(name: "one", role: .operator, at: noon)
    let document = try #require(try journal.documents(kind: "access.token").first?.document)
    for length in 0..<document.count {
      try journal.put(Array(document.prefix(length)), kind: "access.token", key: made.token.id)
      let error = #expect(throws: AccessError.self) { _ = try Tokens(store: journal) }
      #expect(error?.description.contains("access.token/\(made.token.id)") == true)
    }
  }
}
