package import PharosJournal
import PharosModel

/// A store of tokens and authorisations, such as the journal: small documents by kind and key.
package protocol DocumentStore: Sendable {
  /// Stores a document and replaces the previous one of its kind and key.
  func put(_ document: [UInt8], kind: String, key: String) throws(JournalError)
  /// Stores several documents, all of them or none.
  func put(_ documents: [(kind: String, key: String, document: [UInt8])]) throws(JournalError)
  /// Returns all documents of a kind, by key.
  func documents(kind: String) throws(JournalError) -> [(key: String, document: [UInt8])]
  /// Deletes a document, and returns true if there was one.
  func delete(kind: String, key: String) throws(JournalError) -> Bool
}

extension Journal: DocumentStore {}

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
    do throws(JournalError) { try put(value.encoded, kind: kind, key: key) } catch { throw .store(error) }
  }

  /// Deletes a value.
  func forget(kind: String, key: String) throws(AccessError) {
    do throws(JournalError) { _ = try delete(kind: kind, key: key) } catch { throw .store(error) }
  }
}
