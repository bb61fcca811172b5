import PharosDelivery
import PharosJournal
import Synchronization

/// A store that refuses to change anything when it is told to.
final class StubbornStore: DocumentStore {
  private let base: any DocumentStore
  private let refusing = Mutex(false)

  init(_ base: any DocumentStore) { self.base = base }

  var refuses: Bool {
    get { refusing.withLock { $0 } }
    set { refusing.withLock { $0 = newValue } }
  }

  func put(_ document: [UInt8], kind: String, key: String) throws(JournalError) {
    try check()
    try base.put(document, kind: kind, key: key)
  }

  func put(_ documents: [(kind: String, key: String, document: [UInt8])]) throws(JournalError) {
    try check()
    try base.put(documents)
  }

  func documents(kind: String) throws(JournalError) -> [(key: String, document: [UInt8])] {
    try base.documents(kind: kind)
  }

  func delete(kind: String, key: String) throws(JournalError) -> Bool {
    try check()
    return try base.delete(kind: kind, key: key)
  }

  private func check() throws(JournalError) {
    if refuses { throw JournalError(.full, at: "here") }
  }
}
