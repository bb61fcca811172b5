import PharosJournal
import PharosReports
package import PharosSigning

/// Where replay windows are kept: a record for each key, and one lease for all.
package struct SenderRecords: Sendable {
  /// What the lease is kept under.
  private static let leaseKey = "lease"

  private let store: any DocumentStore

  /// Keeps records in a store.
  package init(store: any DocumentStore) { self.store = store }

  /// What the run before has left of keys that are still there; what is left of others is dropped.
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
    for (key, record) in kept where !names.contains(record.sender) {
      try store.forget(kind: DocumentKind.senderRecord, key: key)
    }
    return kept.map(\.value).filter { names.contains($0.sender) }
  }

  /// The lease that the run before has left, or nil.
  ///
  /// - Throws: `AccessError.store` where the journal cannot be read, or `.damaged`.
  package func lease() throws(AccessError) -> SenderLease? {
    let kept: [(key: String, value: SenderLease)] = try store.decoded(kind: DocumentKind.senderLease)
    return kept.first?.value
  }

  /// Keeps records and a lease, all of it or nothing, with one write to the disk.
  ///
  /// - Throws: `AccessError.store`.
  package func keep(_ records: [SenderRecord], lease: SenderLease) throws(AccessError) {
    var documents: [(kind: String, key: String, document: [UInt8])] = records.map { record in
      (kind: DocumentKind.senderRecord, key: "\(record.sender)", document: SenderRecords.bytes(record))
    }
    documents.append(
      (kind: DocumentKind.senderLease, key: SenderRecords.leaseKey, document: SenderRecords.bytes(lease))
    )
    do throws(JournalError) { try store.put(documents) } catch { throw .store(error) }
  }

  private static func bytes(_ value: some FieldCodable) -> [UInt8] {
    var writer = FieldWriter()
    value.write(to: &writer)
    return writer.bytes
  }
}
