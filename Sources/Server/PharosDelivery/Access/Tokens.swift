package import PharosDocuments
package import PharosJournal
package import PharosModel
import PharosSecurity
import Synchronization

/// The tokens that grant access over HTTP.
///
/// A secret is shown once, when its token is created. The journal and the memory hold only its SHA-256. Verifying costs
/// one hash and one look-up for any input.
package final class Tokens: Sendable {
  /// The maximum number of tokens; a program that creates one for each request fails here.
  package static let limit = 10_000
  /// The longest name of a token.
  ///
  /// - Units: bytes of UTF-8.
  package static let maximumName = 200

  private struct State {
    /// The tokens by the first eight bytes of the digest: the time of a look-up reveals nothing about the rest.
    var byDigest: [UInt64: Token] = [:] { didSet { ends = nil } }
    var lastUsed: [String: Timestamp] = [:]
    /// The end of each client's token, or the distant future; nil after a change of the tokens.
    var ends: [String: Timestamp]?
  }

  /// The tickets that stand for tokens for a moment.
  package let tickets = Tickets()

  private let store: any DocumentStore<JournalError>
  private let state = Mutex(State())

  /// Reads the stored tokens.
  ///
  /// - Throws: `AccessError.store` where the journal cannot be read, or `.damaged`.
  package init(store: any DocumentStore<JournalError>) throws(AccessError) {
    self.store = store
    try reload()
  }

  /// Reads the tokens again that another server may have changed.
  package func reload() throws(AccessError) {
    let kept: [Token] = try store.decoded(kind: DocumentKind.token).map(\.value)
    state.withLock { state in
      state.byDigest = Dictionary(kept.map { (Tokens.slot($0.digest), $0) }) { $1 }
    }
  }

  /// Indicates whether there are no tokens, neither valid nor expired ones.
  package var isEmpty: Bool { state.withLock { $0.byDigest.isEmpty } }

  /// Returns all tokens, the oldest first.
  package func list() -> [Token] {
    state.withLock { Array($0.byDigest.values) }
      .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }

  /// Returns the time at which a token was last used since the server started, or nil.
  package func lastUsed(_ id: String) -> Timestamp? { state.withLock { $0.lastUsed[id] } }

  /// Creates a token; only the result of this call contains the secret.
  ///
  /// - Parameters:
  ///   - name: the name in lists.
  ///   - role: the role of its bearer.
  ///   - now: the present time.
  ///   - expiresAt: the time from which the token is invalid, or nil for never.
  /// - Returns: the secret and the stored token.
  /// - Throws: `AccessError` if a name or time is invalid, there are too many, or the token could not be stored.
  package func create(
    name: String,
    role: Token.Role,
    at now: Timestamp,
    expiresAt: Timestamp? = nil
  ) throws(AccessError) -> NewToken {
    guard (1...Tokens.maximumName).contains(name.utf8.count) else {
      throw .badName(field: "name", limit: Tokens.maximumName)
    }
    if case .application(let application) = role {
      guard (1...Tokens.maximumName).contains(application.utf8.count) else {
        throw .badName(field: "application", limit: Tokens.maximumName)
      }
    }
    // The name of a gateway stands for it in a topic, where a slash would end it.
    if case .gateway(let gateway) = role, gateway.description.utf8.contains(UInt8(ascii: "/")) {
      throw .badGateway(gateway)
    }
    if let expiresAt, expiresAt <= now { throw .expired }
    guard state.withLock({ $0.byDigest.count }) < Tokens.limit else {
      throw .tooMany(what: "tokens", limit: Tokens.limit)
    }
    let secret = Secret.random()
    let token = Token(
      id: Secret.randomID(),
      name: name,
      role: role,
      createdAt: now,
      expiresAt: expiresAt,
      digest: Secret.digest(of: secret)
    )
    try store.keep(token, kind: DocumentKind.token, key: token.id)
    state.withLock { $0.byDigest[Tokens.slot(token.digest)] = token }
    return NewToken(secret: secret, token: token)
  }

  /// Returns the principal that a secret belongs to, or nil if it is invalid or expired.
  ///
  /// - Parameters:
  ///   - secret: the text that the client presented, without `Bearer`.
  ///   - now: the present time.
  /// - Returns: the principal.
  package func verify(_ secret: String, at now: Timestamp) -> Principal? {
    guard secret.hasPrefix(Secret.prefix), secret.utf8.count <= Secret.maximumLength else { return nil }
    let digest = Secret.digest(of: secret)
    return state.withLock { state in
      guard let token = state.byDigest[Tokens.slot(digest)], Secret.areEqual(token.digest, digest) else {
        return nil
      }
      guard !token.hasExpired(at: now) else { return nil }
      state.lastUsed[token.id] = now
      return token.principal
    }
  }

  /// Returns the principal that a ticket was issued to, and uses the ticket up; nil if it or its token is not valid.
  ///
  /// - Parameters:
  ///   - ticket: the text that the client presented.
  ///   - uptime: the steady time.
  ///   - now: the present time.
  /// - Returns: the principal.
  package func redeem(_ ticket: String, at uptime: TimeSpan, _ now: Timestamp) -> Principal? {
    guard let principal = tickets.redeem(ticket, at: uptime) else { return nil }
    return ended(among: [principal.client], at: now).isEmpty ? principal : nil
  }

  /// Returns the clients whose tokens have expired or were revoked; one that needs no token is none of them.
  ///
  /// - Parameters:
  ///   - clients: clients as `Principal` names them.
  ///   - now: the present time.
  /// - Returns: those of the clients that may do nothing any longer.
  package func ended(among clients: Set<String>, at now: Timestamp) -> Set<String> {
    guard !clients.isEmpty else { return [] }
    return state.withLock { state in
      let ends =
        state.ends
        ?? Dictionary(
          state.byDigest.values.map { ($0.principal.client, $0.expiresAt ?? .distantFuture) },
          uniquingKeysWith: max
        )
      state.ends = ends
      return clients.filter { client in
        client != Principal.local.client && ends[client].map { now >= $0 } ?? true
      }
    }
  }

  /// Revokes a token, which is invalid from now on.
  ///
  /// - Parameter id: its id.
  /// - Returns: true if there was one.
  /// - Throws: `AccessError.store` if it could not be deleted; it stays valid then.
  package func revoke(_ id: String) throws(AccessError) -> Bool {
    guard let token = state.withLock({ $0.byDigest.values.first { $0.id == id } }) else { return false }
    try store.carryOut([DocumentChange(kind: DocumentKind.token, key: id)])
    state.withLock { state in
      state.byDigest[Tokens.slot(token.digest)] = nil
      state.lastUsed[id] = nil
    }
    tickets.revoke(of: [token.principal])
    return true
  }

  /// Returns the change that revokes the tokens of an application that no longer exists.
  package func revokingAll(of application: String) -> PendingChange {
    let tokens = list().filter { $0.principal.application?.utf8.elementsEqual(application.utf8) ?? false }
    return PendingChange(
      documents: tokens.map { DocumentChange(kind: DocumentKind.token, key: $0.id) }
    ) { [self] in
      state.withLock { state in
        for token in tokens {
          state.byDigest[Tokens.slot(token.digest)] = nil
          state.lastUsed[token.id] = nil
        }
      }
      tickets.revoke(of: Set(tokens.map(\.principal)))
    }
  }

  private static func slot(_ digest: [UInt8]) -> UInt64 {
    digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// The stored part of a token: everything but its secret, of which only the SHA-256 is stored.
package struct Token: Hashable, Sendable {
  /// The role of a token's bearer.
  package enum Role: Hashable, Sendable {
    /// May see and change everything.
    case `operator`
    /// May see and change the data of one application.
    case application(String)
    /// May post what one gateway hears, and nothing else.
    case gateway(ObserverID)
    /// May post what any gateway hears, and nothing else.
    case gateways
  }

  /// Its name in lists: 12 characters of base64url.
  package let id: String
  /// The name that its creator gave it.
  package let name: String
  /// The role of its bearer.
  package let role: Role
  /// The time of its creation.
  package let createdAt: Timestamp
  /// The time from which it is invalid, or nil if it is valid until it is revoked.
  package let expiresAt: Timestamp?
  /// The SHA-256 of the secret, 32 bytes.
  let digest: [UInt8]

  /// The principal that it authenticates.
  package var principal: Principal {
    switch role {
    case .operator: .operator(id: id)
    case .application(let application): .application(id: id, name: application)
    case .gateway(let observer): .gateway(id: id, observer: observer)
    case .gateways: .gateway(id: id, observer: nil)
    }
  }

  /// Returns whether it has expired.
  package func hasExpired(at now: Timestamp) -> Bool { expiresAt.map { now >= $0 } ?? false }
}

extension Token: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let id = try coder.field(value().id)
    let name = try coder.field(value().name)
    let role = try coder.field(value().role)
    let createdAt = try coder.field(value().createdAt)
    let expiresAt = try coder.field(value().expiresAt)
    var digest = C.isReader ? [] : value().digest
    try coder.code(raw: &digest, count: Secret.digestLength)
    return Token(id: id, name: name, role: role, createdAt: createdAt, expiresAt: expiresAt, digest: digest)
  }
}

extension Token.Role: FieldUnion {
  /// The name of the field.
  package static var fieldName: String { "a token's role" }

  /// Hands each case to a coder.
  package static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, .operator)
    try coder.code(&union, 1, Self.application) { if case .application(let name) = $0 { name } else { nil } }
    try coder.code(&union, 2, Self.gateway) { if case .gateway(let observer) = $0 { observer } else { nil } }
    try coder.code(&union, 3, .gateways)
  }
}

/// A new token with its secret, which is shown this once and never again.
package struct NewToken: Sendable {
  /// The secret: `pht_` and 43 characters of base64url, 32 random bytes.
  package let secret: String
  /// The stored token.
  package let token: Token
}

/// The identity on whose behalf a request is made.
package enum Principal: Hashable, Sendable {
  /// A client on the same machine, if the server listens to the loopback alone and requires no tokens.
  case local
  /// The operator, by the id of the token.
  case `operator`(id: String)
  /// An application, by the id of its token and the application's identifier.
  case application(id: String, name: String)
  /// A gateway that posts adverts, by the id of its token; the observer is nil if it may post what any gateway hears.
  case gateway(id: String, observer: ObserverID?)

  /// The application that it is bound to, or nil if it is bound to none.
  package var application: String? {
    switch self {
    case .local, .operator, .gateway: nil
    case .application(_, let name): name
    }
  }

  /// The name that identifies the client for limits per client; all local clients are one.
  package var client: String {
    switch self {
    case .local: "local"
    case .operator(let id), .application(let id, _), .gateway(let id, _): "token \(id)"
    }
  }

  /// Indicates whether it may see and change the data of all applications.
  package var isOperator: Bool {
    switch self {
    case .local, .operator: true
    case .application, .gateway: false
    }
  }

  /// Indicates whether it may post adverts and nothing else.
  package var isGateway: Bool { if case .gateway = self { true } else { false } }

  /// Returns whether it may see and change the data of an application.
  package func mayUse(application name: String) -> Bool {
    application.map { $0.utf8.elementsEqual(name.utf8) } ?? isOperator
  }
}

/// The functions that create and hash the secrets of tokens.
enum Secret {
  /// The prefix of every secret, by which a scanner for leaked credentials recognises one.
  static let prefix = "pht_"
  /// The prefix of every ticket.
  static let ticketPrefix = "phk_"
  /// - Units: bytes; 256 bits cannot be guessed, so a plain hash without salt and stretching is enough.
  static let length = 32
  /// - Units: bytes.
  static let digestLength = 32
  /// - Units: bytes; what a longer text holds is not looked at, so that a header cannot cost time.
  static let maximumLength = 256

  /// Returns a new secret from the system's generator.
  static func random() -> String {
    prefix + base64URL(randomBytes(length))
  }

  /// Returns a new ticket from the system's generator.
  static func randomTicket() -> String {
    ticketPrefix + base64URL(randomBytes(length))
  }

  /// Returns a new id for lists: 9 random bytes, 12 characters.
  static func randomID() -> String { base64URL(randomBytes(9)) }

  /// Returns the SHA-256 of the text of a secret.
  static func digest(of secret: String) -> [UInt8] {
    SHA256.hash(Array(secret.utf8))
  }

  /// Returns a short text for a key of any length: 16 bytes of the SHA-256 of its fields, in hexadecimal.
  static func key(_ write: (inout FieldWriter) -> Void) -> String {
    var writer = FieldWriter()
    write(&writer)
    return Hex.text(SHA256.hash(writer.bytes).prefix(16))
  }

  /// Returns whether two digests are equal, in a time that does not depend on where they differ.
  static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
  }

  /// - Source: RFC 4648 section 5, without padding.
  static func base64URL(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits = group.reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
      bits <<= UInt32(8 * (3 - group.count))
      for position in 0...group.count {
        text.append(alphabet[Int(bits >> UInt32(18 - 6 * position) & 0x3F)])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }
}
