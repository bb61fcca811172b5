package import PharosDocuments
package import PharosJournal
package import PharosModel
package import PharosSecurity
import Synchronization

/// The keys that observers sign with.
///
/// Unlike a token's, a key's secret must be stored: verifying a MAC requires the secret itself. It is in the journal's
/// file, which only its owner may read (0600, in a folder of 0700), and is shown once, when the key is created. Lists
/// show fingerprints.
package final class ObserverKeys: Sendable {
  /// The default time for which older keys stay valid beside a new one.
  ///
  /// A week: an operator of gateways reaches each of them within one.
  package static let overlap = TimeSpan.minutes(7 * 24 * 60)

  private let store: any DocumentStore<JournalError>
  private let observers: Mutex<[ObserverID: KeyedObserver]>

  /// Reads the stored keys.
  ///
  /// - Throws: `AccessError.store` where the journal cannot be read, or `.damaged`.
  package init(store: any DocumentStore<JournalError>) throws(AccessError) {
    self.store = store
    observers = Mutex([:])
    try reload()
  }

  /// Reads the keys again that another server may have changed.
  package func reload() throws(AccessError) {
    let kept: [(key: String, value: KeyedObserver)] = try store.decoded(kind: DocumentKind.observerKeys)
    observers.withLock { $0 = Dictionary(kept.map { ($0.value.id, $0.value) }, uniquingKeysWith: { $1 }) }
  }

  /// Returns all observers with their keys, in order.
  package func list() -> [KeyedObserver] { observers.withLock { $0.values.sorted { $0.id < $1.id } } }

  /// Returns one observer with its keys, or nil if it never had any.
  package func observer(_ id: ObserverID) -> KeyedObserver? { observers.withLock { $0[id] } }

  /// Creates a key for an observer; only the result of this call reveals the secret.
  ///
  /// The existing keys stay valid for the overlap, so that the gateway can be given the new one in the meantime.
  ///
  /// - Parameters:
  ///   - id: the observer.
  ///   - radios: the further observers whose records it may send, in place of those it has; nil to leave them.
  ///   - overlap: the time for which older keys stay valid.
  ///   - now: the present time.
  /// - Returns: the key.
  /// - Throws: `AccessError` if there are too many, a radio has keys of its own, or the key could not be stored.
  package func add(
    _ id: ObserverID,
    radios: [ObserverID]? = nil,
    overlap: TimeSpan = ObserverKeys.overlap,
    at now: Timestamp
  ) throws(AccessError) -> ObserverKey {
    let (key, change) = try adding(id, radios: radios, overlap: overlap, at: now)
    try store.carryOut(change)
    return key
  }

  /// Returns a key for an observer, and the change that makes it count; the parameters are those of
  /// ``add(_:radios:overlap:at:)``.
  package func adding(
    _ id: ObserverID,
    radios: [ObserverID]? = nil,
    overlap: TimeSpan = ObserverKeys.overlap,
    at now: Timestamp
  ) throws(AccessError) -> (key: ObserverKey, change: PendingChange) {
    var observer = self.observer(id) ?? KeyedObserver(id: id)
    if let radios { observer.radios = try checked(radios, of: id) }
    observer.keys.removeAll { $0.hasExpired(at: now) }
    guard observer.keys.count < KeyedObserver.maximumKeys else {
      throw .tooManyKeys(id, limit: KeyedObserver.maximumKeys)
    }
    guard observers.withLock({ $0[id] != nil || $0.count < KeyRing.maximumObservers }) else {
      throw .tooMany(what: "observers with keys", limit: KeyRing.maximumObservers)
    }
    for index in observer.keys.indices {
      observer.keys[index].expiresAt = min(observer.keys[index].expiresAt ?? .distantFuture, now + overlap)
    }
    let key = ObserverKeys.newKey(besides: observer.keys)
    observer.keys.append(KeyedObserver.Entry(key: key, createdAt: now))
    return (key, keeping(observer))
  }

  /// Revokes a key: from now on, no datagram is accepted with it.
  ///
  /// An observer without any key left must still sign where signatures are verified. So it is ignored until it has a
  /// new key or is removed.
  ///
  /// - Returns: true if there was one.
  /// - Throws: `AccessError.store` if it could not be deleted; it stays valid then.
  package func revoke(_ keyID: UInt32, of id: ObserverID) throws(AccessError) -> Bool {
    guard var observer = observer(id), observer.keys.contains(where: { $0.key.id == keyID }) else {
      return false
    }
    observer.keys.removeAll { $0.key.id == keyID }
    var change = keeping(observer)
    change.documents.append(ObserverKeys.record(of: keyID, id))
    try store.carryOut(change)
    return true
  }

  /// Removes an observer with all its keys, so that it counts as one without keys: unsigned data is accepted if the
  /// allowlist permits.
  ///
  /// - Returns: true if the observer has, or had, keys.
  /// - Throws: `AccessError.store` if they could not be deleted.
  package func forget(_ id: ObserverID) throws(AccessError) -> Bool {
    guard let observer = observer(id) else { return false }
    let records = observer.keys.map { ObserverKeys.record(of: $0.key.id, id) }
    try store.carryOut([DocumentChange(kind: DocumentKind.observerKeys, key: "\(id)")] + records)
    observers.withLock { $0[id] = nil }
    return true
  }

  private func checked(_ radios: [ObserverID], of id: ObserverID) throws(AccessError) -> [ObserverID] {
    let radios = Set(radios).sorted()
    guard radios.count <= KeyedObserver.maximumRadios else {
      throw .tooMany(what: "radios of one observer", limit: KeyedObserver.maximumRadios)
    }
    for radio in radios where radio == id || observer(radio) != nil { throw .notARadio(radio, of: id) }
    return radios
  }

  /// The change that drops the saved replay window of a key.
  private static func record(of keyID: UInt32, _ id: ObserverID) -> DocumentChange {
    DocumentChange(kind: DocumentKind.senderRecord, key: "\(SenderName(observer: id, keyID: keyID))")
  }

  private func keeping(_ observer: KeyedObserver) -> PendingChange {
    let (kind, key) = (DocumentKind.observerKeys, "\(observer.id)")
    return PendingChange(
      documents: [DocumentChange(kind: kind, key: key, document: observer.encoded)]
    ) { [self] in observers.withLock { $0[observer.id] = observer } }
  }

  private static func newKey(besides keys: [KeyedObserver.Entry]) -> ObserverKey {
    var generator = SystemRandomNumberGenerator()
    while true {
      let key = ObserverKey.random(using: &generator)
      if !keys.contains(where: { $0.key.id == key.id }) { return key }
    }
  }
}

/// The store of replay windows: a record for each key, and one lease for all.
package struct SenderRecords: Sendable {
  /// The key of the lease's document.
  private static let leaseKey = "lease"

  private let store: any DocumentStore<JournalError>

  /// Creates a store of records.
  package init(store: any DocumentStore<JournalError>) { self.store = store }

  /// Returns the records that the previous run left for existing keys; deletes those of other keys.
  ///
  /// - Parameter observers: the observers with their keys.
  /// - Returns: the records.
  /// - Throws: `AccessError.store` where the journal cannot be read, or `.damaged`.
  package func records(of observers: [KeyedObserver]) throws(AccessError) -> [SenderRecord] {
    var names: Set<SenderName> = []
    for observer in observers {
      for entry in observer.keys { names.insert(SenderName(observer: observer.id, keyID: entry.key.id)) }
    }
    let kept: [(key: String, value: SenderRecord)] = try store.decoded(kind: DocumentKind.senderRecord)
    let unknown = kept.filter { !names.contains($0.value.sender) }
    try store.carryOut(unknown.map { DocumentChange(kind: DocumentKind.senderRecord, key: $0.key) })
    return kept.map(\.value).filter { names.contains($0.sender) }
  }

  /// Returns the lease that the previous run left, or nil.
  ///
  /// - Throws: `AccessError.store` where the journal cannot be read, or `.damaged`.
  package func lease() throws(AccessError) -> SenderLease? {
    let kept: [(key: String, value: SenderLease)] = try store.decoded(kind: DocumentKind.senderLease)
    return kept.first?.value
  }

  /// Stores records and a lease, all of them or none, with one write to the disk.
  ///
  /// - Throws: `AccessError.store`.
  package func keep(_ records: [SenderRecord], lease: SenderLease) throws(AccessError) {
    let kept = records.map { record in
      DocumentChange(kind: DocumentKind.senderRecord, key: "\(record.sender)", document: record.encoded)
    }
    let key = SenderRecords.leaseKey
    try store.carryOut(
      kept + [DocumentChange(kind: DocumentKind.senderLease, key: key, document: lease.encoded)]
    )
  }
}
