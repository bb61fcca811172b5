/// What was removed, in words.
enum ErasureText {
  /// What no server can remove.
  static let whatIsYours =
    "Not touched: recordings (--record), event files (--output), backups, what webhooks and streams have delivered, and the "
    + "site file. They are yours; if the subject is in them, remove them too."

  private static let words: [String: String] = [
    "events": "events about it",
    "mentions": "events about others that named it",
    "rows": "rows of where it stands, or that named it",
    "names": "entries in the list of names",
    "postings": "entries in the index of events",
    "deliveries": "deliveries that waited for it",
    "deadLetters": "deliveries that were given up",
    "checkpoints": "checkpoints, as a whole",
    "authorisations": "authorisations",
    "persons": "marks that it is a person",
    "acceptances": "acceptances as an observer",
    "notifications": "memories of notifications",
  ]

  /// The lines that say what was removed and what still names the subject.
  static func lines(
    subject: String,
    _ counts: [(name: String, count: Int)],
    _ remaining: [(kind: String, count: Int)]
  ) -> [String] {
    let removed = counts.filter { $0.count > 0 }
    var lines = [
      removed.isEmpty ? "Nothing was kept of \(subject)." : "Removed of \(subject):"
    ]
    for (name, count) in removed { lines.append("  \(padded(count)) \(words[name] ?? name)") }
    if !remaining.isEmpty {
      lines.append("Rules that name it still, which somebody made and may change:")
      for (kind, count) in remaining { lines.append("  \(padded(count)) of the kind \(kind)") }
    }
    return lines
  }

  private static func padded(_ count: Int) -> String {
    let text = "\(count)"
    return String(repeating: " ", count: max(0, 6 - text.count)) + text
  }
}
