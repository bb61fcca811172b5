import PharosDelivery
import PharosDocuments
import PharosJournal
import Synchronization

/// A store that refuses changes on demand.
final class StubbornStore: DocumentStore {
  private let base: any DocumentStore<JournalError>
  private let refusing = Mutex(false)

  init(_ base: any DocumentStore<JournalError>) { self.base = base }

  var refuses: Bool {
    get { refusing.withLock { $0 } }
    set { refusing.withLock { $0 = newValue } }
  }

  func change(_ changes: [DocumentChange]) throws(JournalError) -> Int {
    try check()
    return try base.change(changes)
  }

  func documents(kind: String) throws(JournalError) -> [(key: String, document: [UInt8])] {
    try base.documents(kind: kind)
  }

  private func check() throws(JournalError) {
    if refuses { throw JournalError(.full, at: "here") }
  }
}
