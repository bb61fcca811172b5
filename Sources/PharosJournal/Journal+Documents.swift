import GRDB

extension Journal {
  /// Keeps a small thing under a kind and a key: a token, an application made over HTTP, a rule.
  ///
  /// - Throws: ``JournalError``; the document that was there is there as it was.
  package func put(_ document: [UInt8], kind: String, key: String) throws(JournalError) {
    try put([(kind: kind, key: key, document: document)])
  }

  /// Keeps several documents, all of them or none, with one write to the disk.
  ///
  /// - Throws: ``JournalError``; the documents that were there are there as they were.
  package func put(_ documents: [(kind: String, key: String, document: [UInt8])]) throws(JournalError) {
    try write { database in
      let insert = try PreparedStatement(
        cachedBy: database,
        "INSERT OR REPLACE INTO documents (kind, key, bytes) VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?)"
      )
      for (kind, key, document) in documents {
        insert.bind(bytes: Array(kind.utf8), at: 1)
        insert.bind(bytes: Array(key.utf8), at: 2)
        try insert.run(binding: document, at: 3)
      }
    }
  }

  /// The document of a kind under a key, or nil if there is none.
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

  /// All documents of a kind, in the order of their keys.
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
  /// - Returns: whether there was one.
  /// - Throws: ``JournalError``.
  @discardableResult
  package func delete(kind: String, key: String) throws(JournalError) -> Bool {
    try write { database in
      let drop = try PreparedStatement(
        cachedBy: database,
        "DELETE FROM documents WHERE kind = CAST(? AS TEXT) AND key = CAST(? AS TEXT)"
      )
      drop.bind(bytes: Array(kind.utf8), at: 1)
      drop.bind(bytes: Array(key.utf8), at: 2)
      try drop.run()
      return database.changesCount > 0
    }
  }
}
