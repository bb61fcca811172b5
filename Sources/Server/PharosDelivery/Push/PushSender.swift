import PharosJournal
import PharosSecurity
import Synchronization

/// The server as push services know it: the key that signs its tokens, and that the subscriptions of browsers are for.
///
/// The journal keeps the key beside the webhooks, from the moment that a browser learns of it.
final class PushSender: Sendable {
  /// The kind of the journal document that holds the key.
  private static let documentKind = "push key"

  let key: P256Key
  /// The address of the operator, to which a push service may write about trouble.
  let contact: String?
  private let journal: Journal
  private let isKept: Mutex<Bool>

  /// Reads the key from the journal, or makes one.
  init(_ journal: Journal, contact: String?) throws(JournalError) {
    self.journal = journal
    self.contact = contact
    let kept = try journal.document(kind: PushSender.documentKind, key: "").flatMap { P256Key(number: $0) }
    key = kept ?? P256Key()
    isKept = Mutex(kept != nil)
  }

  /// Stores the key, unless it is stored.
  func keep() throws(JournalError) {
    let isNew = isKept.withLock { isKept in
      defer { isKept = true }
      return !isKept
    }
    guard isNew else { return }
    do {
      try journal.put(key.number, kind: PushSender.documentKind, key: "")
    } catch {
      isKept.withLock { $0 = false }
      throw error
    }
  }
}
