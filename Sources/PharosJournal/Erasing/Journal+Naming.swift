package import PharosReports
import GRDB

extension Journal {
  /// How many documents name a subject, by kind: rules, filters and keys that somebody made, which are his to change.
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

extension SubjectTraces {
  /// The bytes by which a subject may stand in a document: its text in either case, and its fields.
  fileprivate var words: [[UInt8]] {
    var words: [[UInt8]] = []
    func add(_ text: String) {
      words += [Array(text.utf8), Array(text.lowercased().utf8), Array(text.uppercased().utf8)]
    }
    if let observer {
      add(observer.description)
      words.append(Deliveries.bytes { observer.write(to: &$0) })
    }
    if let beacon {
      add(beacon.description)
      if beacon.kind == .address, let address = beacon.address { add(address.description) }
      words.append(Deliveries.bytes { beacon.write(to: &$0) })
    }
    return words
  }
}

extension [UInt8] {
  /// Whether some bytes stand in these, one behind the other.
  fileprivate func holds(_ word: [UInt8]) -> Bool {
    guard let first = word.first, count >= word.count else { return false }
    for start in 0...(count - word.count) where self[start] == first {
      if self[start..<(start + word.count)].elementsEqual(word) { return true }
    }
    return false
  }
}
