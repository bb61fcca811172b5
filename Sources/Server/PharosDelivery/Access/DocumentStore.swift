package import PharosDocuments
import PharosJournal
import PharosModel

/// The kinds of documents that this module stores.
enum DocumentKind {
  /// A token: key is its id.
  static let token = "access.token"
  /// An authorisation: key is a digest of application and subject.
  static let authorisation = "access.authorisation"
  /// The purpose of an application's authorisations: key is the application.
  static let purpose = "access.purpose"
  /// The accuracy that an application has and may ask for: key is the application.
  static let accuracy = "access.accuracy"
  /// A subject that is a person: key is a digest of the subject.
  static let person = "access.person"
  /// What a subject shares with another: key is a digest of both.
  static let share = "access.share"
  /// The looks at a subject: key is a digest of the subject.
  static let looks = "access.looks"
  /// The keys of an observer: key is the observer.
  static let observerKeys = "access.observerKeys"
  /// The saved state of a key's replay window: key is the key's id and the observer.
  static let senderRecord = "access.senderRecord"
  /// The lease of the replay windows: there is only one.
  static let senderLease = "access.senderLease"
}

extension DocumentStore<JournalError> {
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
