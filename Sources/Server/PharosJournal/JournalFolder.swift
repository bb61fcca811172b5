import Foundation
import Glibc
import GRDB
import PharosDocuments

/// The folder of a journal that is not open, or only for a moment: how a journal passes from one server to another.
package struct JournalFolder: Sendable {
  /// The path.
  private let path: String
  /// The stream of the events.
  private let stream: String

  /// Names a folder.
  package init(_ path: String, stream: String) { (self.path, self.stream) = (path, stream) }

  /// Opens the journal, calls a function with it, and releases the folder.
  ///
  /// - Throws: ``JournalError``, or the error of the function.
  /// - Returns: the value of the function.
  package func visit<Value>(_ body: (Journal) throws -> Value) throws -> Value {
    let journal = try Journal.open(.folder(path), stream: stream)
    defer { journal.leave() }
    return try body(journal)
  }

  /// Moves the journal to another folder, in place of the one there; neither may be open.
  ///
  /// A killed process leaves one of both, or none.
  ///
  /// - Throws: ``JournalError`` if a file cannot be moved.
  package func move(to folder: String) throws(JournalError) {
    try Journal.make(folder)
    let (source, target) = (path + "/journal.sqlite", folder + "/journal.sqlite")
    for suffix in JournalFile.suffixes { unlink(target + suffix) }
    // The file itself comes last: the others are nothing without it.
    for suffix in JournalFile.suffixes.reversed() where access(source + suffix, F_OK) == 0 {
      guard rename(source + suffix, target + suffix) == 0 else {
        throw JournalError(.folder(reason: String(cString: strerror(errno))), at: target)
      }
    }
  }

  /// Writes a copy of a journal that is open as it is now to a file; groups are appended meanwhile.
  ///
  /// - Parameters:
  ///   - journal: the journal.
  ///   - target: the file, which must not exist.
  /// - Throws: ``JournalError``.
  package static func copy(_ journal: Journal, to target: String) throws(JournalError) {
    do {
      let queue = try DatabaseQueue(path: target)
      try JournalFile.restrict(target)
      try journal.database.backup(to: queue)
      try queue.close()
    } catch {
      throw JournalError(error, at: target)
    }
  }

  /// A path beside the files of a journal, for what is handed over of it.
  package static func draft(of journal: Journal) -> String { journal.place + ".handover" }
}

/// The documents that belong to one server alone, also where several servers have the same documents.
package struct OwnDocuments: Sendable {
  private let documents: [DocumentChange]

  /// Makes the ones of a server that has none yet.
  package init() { documents = [] }

  /// Reads the ones of a journal.
  package init(of journal: Journal) throws(JournalError) {
    var found: [DocumentChange] = []
    for kind in Journal.ownKinds.sorted() {
      found += try journal.documents(kind: kind).map {
        DocumentChange(kind: kind, key: $0.key, document: $0.document)
      }
    }
    documents = found
  }

  /// Puts them into a journal that was copied, in place of those of the server that it was copied from.
  package func replace(in journal: Journal) throws(JournalError) {
    let others = try OwnDocuments(of: journal).documents.map { DocumentChange(kind: $0.kind, key: $0.key) }
    try journal.changeHere(others + documents)
  }
}
