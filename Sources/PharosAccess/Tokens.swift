package import PharosReports
import Synchronization

/// The tokens that open the server over HTTP.
///
/// A secret is shown once, when its token is made; kept is its SHA-256, in the journal and in memory. Verifying costs
/// one hash and one look-up, whatever was presented.
package final class Tokens: Sendable {
  /// The most tokens that are kept; a program that makes one for each request finds out here.
  package static let limit = 10_000
  /// The longest name of a token.
  ///
  /// - Units: bytes of UTF-8.
  package static let longestName = 200

  private struct State {
    /// By the first eight bytes of the digest: a look-up that tells who times it nothing about the rest.
    var byDigest: [UInt64: Token] = [:]
    var lastUsed: [String: Timestamp] = [:]
  }

  private let store: any DocumentStore
  private let state = Mutex(State())

  /// Reads the tokens that are kept.
  ///
  /// - Throws: `AccessError.store` where the journal cannot be read, or `.damaged`.
  package init(store: any DocumentStore) throws(AccessError) {
    self.store = store
    let kept: [Token] = try store.decoded(kind: DocumentKind.token).map(\.value)
    state.withLock { state in
      for token in kept { state.byDigest[Tokens.slot(token.digest)] = token }
    }
  }

  /// Whether there is any token, expired ones included.
  package var isEmpty: Bool { state.withLock { $0.byDigest.isEmpty } }

  /// All tokens, the oldest first.
  package func list() -> [Token] {
    state.withLock { Array($0.byDigest.values) }
      .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }

  /// When a token was last used since the server started, or nil.
  package func lastUsed(_ id: String) -> Timestamp? { state.withLock { $0.lastUsed[id] } }

  /// Makes a token; what it gives back is the only place where the secret ever is.
  ///
  /// - Parameters:
  ///   - name: what to call it in lists.
  ///   - role: whom it stands for.
  ///   - now: the present time.
  ///   - expiresAt: from when on it opens nothing, or nil for never.
  /// - Returns: the secret and what is kept.
  /// - Throws: `AccessError` where a name or time is wrong, there are too many, or it could not be kept.
  package func create(
    name: String,
    role: Token.Role,
    at now: Timestamp,
    expiresAt: Timestamp? = nil
  ) throws(AccessError) -> NewToken {
    guard (1...Tokens.longestName).contains(name.utf8.count) else {
      throw .badName(field: "name", limit: Tokens.longestName)
    }
    if case .application(let application) = role {
      guard (1...Tokens.longestName).contains(application.utf8.count) else {
        throw .badName(field: "application", limit: Tokens.longestName)
      }
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

  /// Who asks with a secret, or nil if it opens nothing.
  ///
  /// - Parameters:
  ///   - secret: what was presented, without `Bearer`.
  ///   - now: the present time.
  /// - Returns: who it is.
  package func verify(_ secret: String, at now: Timestamp) -> Principal? {
    guard secret.hasPrefix(Secret.prefix), secret.utf8.count <= Secret.longest else { return nil }
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

  /// Revokes a token: from now on it opens nothing.
  ///
  /// - Parameter id: its id.
  /// - Returns: whether there was one.
  /// - Throws: `AccessError.store` where it could not be forgotten, in which case it still holds.
  package func revoke(_ id: String) throws(AccessError) -> Bool {
    guard let token = state.withLock({ $0.byDigest.values.first { $0.id == id } }) else { return false }
    try store.forget(kind: DocumentKind.token, key: id)
    state.withLock { state in
      state.byDigest[Tokens.slot(token.digest)] = nil
      state.lastUsed[id] = nil
    }
    return true
  }

  private static func slot(_ digest: [UInt8]) -> UInt64 {
    digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
