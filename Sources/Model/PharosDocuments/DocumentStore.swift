/// A store of small documents by kind and key, such as the journal.
package protocol DocumentStore<Failure>: Sendable {
  /// The error of a store that cannot be read or written.
  associatedtype Failure: Error

  /// Stores and drops documents, all of them or none; returns how many were stored or dropped.
  @discardableResult
  func change(_ changes: [DocumentChange]) throws(Failure) -> Int
  /// Returns all documents of a kind, by key.
  func documents(kind: String) throws(Failure) -> [(key: String, document: [UInt8])]
}

/// A document to store, or to drop.
package struct DocumentChange: Hashable, Sendable {
  /// The kind of the document.
  package var kind: String
  /// The key of the document among its kind.
  package var key: String
  /// The document; nil to drop the one that there is.
  package var document: [UInt8]?

  /// Makes a change.
  package init(kind: String, key: String, document: [UInt8]? = nil) {
    (self.kind, self.key, self.document) = (kind, key, document)
  }
}

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
