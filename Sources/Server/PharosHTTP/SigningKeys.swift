package import Pharos
package import PharosDelivery
import PharosDocuments
package import PharosModel
package import PharosSecurity
package import PharosSite

/// The keys that observers sign with, as an operator changes them: kept by the store, adopted by the server that runs, and
/// an observer that gets one is accepted.
///
/// A server that is stopping adopts nothing; the next start does.
package struct SigningKeys: Sendable {
  private let keys: ObserverKeys
  private let owner: SiteOwner
  private let server: PharosServer?

  /// Names what is changed.
  ///
  /// - Parameters:
  ///   - keys: the stored keys.
  ///   - owner: the owner of the site, which accepts the observers.
  ///   - server: the server that runs; nil if there is none.
  package init(_ keys: ObserverKeys, owner: SiteOwner, server: PharosServer?) {
    (self.keys, self.owner, self.server) = (keys, owner, server)
  }

  /// The observers with their keys, in order.
  package var observers: [KeyedObserver] { keys.list() }

  /// One observer with its keys, or nil if it never had any.
  package func observer(_ id: ObserverID) -> KeyedObserver? { keys.observer(id) }

  /// Makes a key for an observer, which counts from now on, and accepts it; also while there is no server.
  ///
  /// - Parameters:
  ///   - observer: the observer.
  ///   - radios: the further observers whose records it may send, in place of those it has; nil to leave them.
  ///   - overlap: the time for which older keys stay valid.
  ///   - now: the present time.
  /// - Returns: the key; this is the only time that its secret is given out.
  /// - Throws: the reason for the refusal, in which case no key was made, or the error of a server that is stopping.
  package func add(
    for observer: ObserverID,
    radios: [ObserverID]? = nil,
    overlap: TimeSpan = ObserverKeys.overlap,
    at now: Timestamp
  ) async throws -> ObserverKey {
    var pending = PendingChange()
    let key = try await owner.edit(whileStopped: true, with: { pending }) { sources in
      let (key, change) = try keys.adding(observer, radios: radios, overlap: overlap, at: now)
      pending = change
      let accepted = [observer] + (radios ?? [])
      sources.accepted.formUnion(accepted)
      return (key, accepted.map { RegionChange.acceptObserver($0) })
    }
    try await change {}
    return key
  }

  /// Revokes a key: from now on it is not valid; also while there is no server.
  ///
  /// - Parameters:
  ///   - keyID: the key's identifier.
  ///   - observer: the observer that has the key.
  /// - Returns: `true` if there was such a key.
  /// - Throws: the error of the store, in which case the key is still valid, or of a server that is stopping.
  package func revoke(_ keyID: UInt32, of observer: ObserverID) async throws -> Bool {
    try await change { try keys.revoke(keyID, of: observer) }
  }

  /// Forgets all keys of an observer, so that it is one without any again; also while there is no server.
  ///
  /// - Parameter observer: the observer.
  /// - Returns: `true` if it had, or had had, any.
  /// - Throws: the error of the store, or of a server that is stopping.
  package func forget(_ observer: ObserverID) async throws -> Bool {
    try await change { try keys.forget(observer) }
  }

  /// Changes the stored keys while no edit of the site is made, and has the server adopt them.
  private func change<Value>(_ change: () throws -> Value) async throws -> Value {
    try await owner.inTurn {
      let value = try change()
      try await server?.adopt(keys: keys.list())
      return value
    }
  }
}
