import GRDB
package import PharosDocuments
package import PharosModel
import Synchronization

extension Journal: DocumentStore {
  /// Stores a small document under a kind and a key: a token, an application created over HTTP, a rule.
  ///
  /// - Throws: ``JournalError``; the previous document is unchanged.
  package func put(_ document: [UInt8], kind: String, key: String) throws(JournalError) {
    try change([DocumentChange(kind: kind, key: key, document: document)])
  }

  /// Stores and drops several documents, all of them or none, with one write to the disk.
  ///
  /// - Returns: the number of documents that were stored or dropped.
  /// - Throws: ``JournalError``; the previous documents are unchanged.
  @discardableResult
  package func change(_ changes: [DocumentChange]) throws(JournalError) -> Int {
    guard let replicate = shared.withLock({ $0.replicate }) else { return try changeHere(changes) }
    let common = changes.filter { !Journal.ownKinds.contains($0.kind) }
    guard !common.isEmpty else { return try changeHere(changes) }
    do {
      try replicate(common)
    } catch {
      throw JournalError(.notReplicated(reason: "\(error)"), at: place)
    }
    return common.count + (try changeHere(changes.filter { Journal.ownKinds.contains($0.kind) }))
  }

  /// The kinds of documents that belong to one server, also where several servers have the same documents.
  static let ownKinds: Set<String> = [
    "access.senderRecord", "access.senderLease", "access.looks", "comparison", "cluster.node",
    "cluster.erasure",
    "cluster.promoted",
  ]

  /// Has all further changes of documents, but for those that belong to this server alone, made on all servers.
  ///
  /// - Parameters:
  ///   - replicate: returns once this server has made the changes by ``changeHere(_:)``, or throws why that is not known.
  ///   - announce: passes on what this server tells of its deliveries, and returns at once.
  package func replicate(
    by replicate: @escaping @Sendable ([DocumentChange]) throws -> Void,
    announcing announce: @escaping @Sendable ([DocumentChange]) -> Void
  ) {
    shared.withLock { ($0.replicate, $0.announce) = (replicate, announce) }
  }

  /// Stores and drops documents in this journal alone.
  ///
  /// - Returns: the number of documents that were stored or dropped.
  /// - Throws: ``JournalError``; the previous documents are unchanged.
  @discardableResult
  package func changeHere(_ changes: [DocumentChange]) throws(JournalError) -> Int {
    guard !changes.isEmpty else { return 0 }
    defer { shared.withLock { $0.changes += 1 } }
    return try write { database in
      let insert = try PreparedStatement(
        cachedBy: database,
        "INSERT OR REPLACE INTO documents (kind, key, bytes) VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?)"
      )
      let drop = try PreparedStatement(
        cachedBy: database,
        "DELETE FROM documents WHERE kind = CAST(? AS TEXT) AND key = CAST(? AS TEXT)"
      )
      var count = 0
      for change in changes {
        let statement = change.document == nil ? drop : insert
        statement.bind(bytes: Array(change.kind.utf8), at: 1)
        statement.bind(bytes: Array(change.key.utf8), at: 2)
        if let document = change.document { try insert.run(binding: document, at: 3) } else { try drop.run() }
        count += database.changesCount
      }
      return count
    }
  }

  /// Returns the document of a kind under a key, or nil if there is none.
  ///
  /// - Throws: ``JournalError``.
  package func document(kind: String, key: String) throws(JournalError) -> [UInt8]? {
    try read { database in
      let find = try PreparedStatement(
        cachedBy: database,
        "SELECT bytes FROM documents WHERE kind = CAST(? AS TEXT) AND key = CAST(? AS TEXT)"
      )
      defer { find.reset() }
      find.bind(bytes: Array(kind.utf8), at: 1)
      find.bind(bytes: Array(key.utf8), at: 2)
      return try find.next() ? find.bytes(0) : nil
    }
  }

  /// Returns all documents of a kind, in the order of their keys.
  ///
  /// - Throws: ``JournalError``.
  package func documents(kind: String) throws(JournalError) -> [(key: String, document: [UInt8])] {
    try read { database in
      let find = try PreparedStatement(
        cachedBy: database,
        "SELECT CAST(key AS BLOB), bytes FROM documents WHERE kind = CAST(? AS TEXT) ORDER BY key"
      )
      defer { find.reset() }
      find.bind(bytes: Array(kind.utf8), at: 1)
      var documents: [(key: String, document: [UInt8])] = []
      while try find.next() {
        documents.append((String(decoding: find.bytes(0), as: UTF8.self), find.bytes(1)))
      }
      return documents
    }
  }

  /// Drops a document.
  ///
  /// - Returns: true if there was one.
  /// - Throws: ``JournalError``.
  @discardableResult
  package func delete(kind: String, key: String) throws(JournalError) -> Bool {
    try change([DocumentChange(kind: kind, key: key)]) > 0
  }
}

extension Journal {
  /// Returns the number of documents that name a subject, by kind: rules, filters and keys, which only their owner may
  /// change.
  ///
  /// - Throws: ``JournalError``.
  package func documents(naming traces: SubjectTraces) throws(JournalError) -> [String: Int] {
    let words = traces.words
    return try read { database in
      let rows = try PreparedStatement(
        database,
        "SELECT CAST(kind AS BLOB), CAST(key AS BLOB), bytes FROM documents"
      )
      var counts: [String: Int] = [:]
      while try rows.next() {
        let (key, bytes) = (rows.bytes(1), rows.bytes(2))
        guard words.contains(where: { key.holds($0) || bytes.holds($0) }) else { continue }
        counts[String(decoding: rows.bytes(0), as: UTF8.self), default: 0] += 1
      }
      return counts
    }
  }
}

extension FieldCodable {
  /// The bytes of the value, as the journal stores it.
  package var encoded: [UInt8] {
    var writer = FieldWriter()
    write(to: &writer)
    return writer.bytes
  }

  /// Reads a value that takes all of the bytes.
  package init(encoded bytes: [UInt8]) throws(FieldError) {
    var reader = FieldReader(bytes[...])
    try self.init(from: &reader)
    try reader.finish()
  }
}

extension SubjectTraces {
  /// Returns whether a document names the subject.
  package func isNamed(in document: [UInt8]) -> Bool { words.contains { document.holds($0) } }

  /// The byte strings by which a document may name a subject: its text in either case, and its encoded fields.
  fileprivate var words: [[UInt8]] {
    var words: [[UInt8]] = []
    func add(_ text: String) {
      words += [Array(text.utf8), Array(text.lowercased().utf8), Array(text.uppercased().utf8)]
    }
    if let observer {
      add(observer.description)
      words.append(observer.encoded)
    }
    if let beacon {
      add(beacon.description)
      if beacon.kind == .address, let address = beacon.address { add(address.description) }
      words.append(beacon.encoded)
    }
    return words
  }
}

extension [UInt8] {
  /// Returns whether the array contains another one as a contiguous run.
  fileprivate func holds(_ word: [UInt8]) -> Bool {
    guard let first = word.first, count >= word.count else { return false }
    for start in 0...(count - word.count) where self[start] == first {
      if self[start..<(start + word.count)].elementsEqual(word) { return true }
    }
    return false
  }
}
