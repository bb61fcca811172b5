import PharosDocuments
package import PharosJournal
import PharosModel

/// A store of tokens and authorisations, such as the journal: small documents by kind and key.
package protocol DocumentStore: Sendable {
  /// Stores and drops documents, all of them or none; returns how many were stored or dropped.
  @discardableResult
  func change(_ changes: [DocumentChange]) throws(JournalError) -> Int
  /// Returns all documents of a kind, by key.
  func documents(kind: String) throws(JournalError) -> [(key: String, document: [UInt8])]
}

extension Journal: DocumentStore {}

/// A change of a store's documents that is written in one transaction with changes of other stores.
package struct PendingChange: Sendable {
  /// The documents to store and to drop.
  package var documents: [DocumentChange]
  /// Makes the change in memory, once the documents are stored.
  package var adopt: @Sendable () -> Void

  /// Makes a change.
  package init(documents: [DocumentChange] = [], adopt: @escaping @Sendable () -> Void = {}) {
    (self.documents, self.adopt) = (documents, adopt)
  }

  /// Returns both changes as one.
  package func and(_ other: PendingChange) -> PendingChange {
    PendingChange(documents: documents + other.documents) { [adopt] in
      adopt()
      other.adopt()
    }
  }
}

/// The kinds of documents that this module stores.
enum DocumentKind {
  /// A token: key is its id.
  static let token = "access.token"
  /// An authorisation: key is a digest of application and subject.
  static let authorisation = "access.authorisation"
  /// The purpose of an application's authorisations: key is the application.
  static let purpose = "access.purpose"
  /// A subject that is a person: key is a digest of the subject.
  static let person = "access.person"
  /// The keys of an observer: key is the observer.
  static let observerKeys = "access.observerKeys"
  /// The saved state of a key's replay window: key is the key's id and the observer.
  static let senderRecord = "access.senderRecord"
  /// The lease of the replay windows: there is only one.
  static let senderLease = "access.senderLease"
}

extension DocumentStore {
  /// Reads all documents of a kind.
  func decoded<Value: FieldCodable>(kind: String) throws(AccessError) -> [(key: String, value: Value)] {
    let kept: [(key: String, document: [UInt8])]
    do throws(JournalError) { kept = try documents(kind: kind) } catch { throw .store(error) }
    var values: [(key: String, value: Value)] = []
    for (key, document) in kept {
      do throws(FieldError) {
        values.append((key, try Value(encoded: document)))
      } catch {
        throw .damaged(kind: kind, key: key, error)
      }
    }
    return values
  }

  /// Stores a value.
  func keep<Value: FieldCodable>(_ value: Value, kind: String, key: String) throws(AccessError) {
    try carryOut([DocumentChange(kind: kind, key: key, document: value.encoded)])
  }

  /// Makes a change, once its documents are stored.
  package func carryOut(_ change: PendingChange) throws(AccessError) {
    try carryOut(change.documents)
    change.adopt()
  }

  /// Stores and deletes values, all of them or none.
  func carryOut(_ changes: [DocumentChange]) throws(AccessError) {
    do throws(JournalError) { try change(changes) } catch { throw .store(error) }
  }
}
