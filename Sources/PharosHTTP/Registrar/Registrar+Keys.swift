import PharosAccess
package import PharosReports
package import PharosSigning

extension Registrar {
  /// The observers with their keys, in order.
  package var keyedObservers: [KeyedObserver] { keys.list() }

  /// One observer with its keys, or nil if it never had any.
  package func keyedObserver(_ id: ObserverID) -> KeyedObserver? { keys.observer(id) }

  /// Makes a key for an observer, which counts from now on, and accepts it; also while there is no server.
  ///
  /// - Parameters:
  ///   - observer: the observer.
  ///   - radios: the further observers whose records it may send, in place of those it has; nil to leave them.
  ///   - overlap: how long older keys stay good.
  ///   - now: the present time.
  /// - Returns: the key; this is the only time that its secret is given out.
  /// - Throws: why not; no key was made then.
  package func addKey(
    for observer: ObserverID,
    radios: [ObserverID]? = nil,
    overlap: TimeSpan = ObserverKeys.overlap,
    at now: Timestamp
  ) async throws -> ObserverKey {
    // Accepted first: an observer that counts and has no key yet is where it was before.
    for observer in [observer] + (radios ?? []) { try await accept(observer) }
    return try await changeKeys { keys throws(AccessError) in
      try keys.add(observer, radios: radios, overlap: overlap, at: now)
    }
  }

  /// Revokes a key: from now on it opens nothing; also while there is no server.
  ///
  /// - Parameters:
  ///   - keyID: which key.
  ///   - observer: whose key it is.
  /// - Returns: whether there was one.
  /// - Throws: why not; the key still opens then.
  package func revokeKey(_ keyID: UInt32, of observer: ObserverID) async throws -> Bool {
    try await changeKeys { keys throws(AccessError) in try keys.revoke(keyID, of: observer) }
  }

  /// Forgets all keys of an observer, so that it is one without any again; also while there is no server.
  ///
  /// - Parameter observer: the observer.
  /// - Returns: whether it had, or had had, any.
  /// - Throws: why not.
  package func forgetKeys(of observer: ObserverID) async throws -> Bool {
    try await changeKeys { keys throws(AccessError) in try keys.forget(observer) }
  }
}
