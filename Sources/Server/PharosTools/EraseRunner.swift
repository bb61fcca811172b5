package import Logging
import PharosDelivery
import PharosDocuments
import PharosHTTP
import PharosJournal
import PharosModel
package import PharosTerminal
import Yams

/// `pharos erase`: removes every trace of a subject, and says what was removed.
package struct EraseRunner: Sendable {
  private let access: ServerAccess

  /// Makes a runner for a server.
  package init(_ access: ServerAccess) { self.access = access }

  /// Erases a subject.
  ///
  /// - Parameters:
  ///   - subject: the observer or beacon, as events write it.
  ///   - console: the console that receives the list of what was removed.
  ///   - logger: the logger for documents that cannot be read.
  /// - Returns: 0, also if no data about the subject existed; 1 if the erasure failed.
  package func run(_ subject: String, on console: Console, logger: Logger) async -> CommandStatus {
    await console.run {
      guard let traces = SubjectTraces(subject) else {
        throw CommandFailure(
          "--subject is \"\(subject)\"; expected an observer or a beacon as events write it: ac:23:3f:00:00:01, a name, UUID/1/2.",
          status: .usage
        )
      }
      let counts: [(name: String, count: Int)]
      let remaining: [(kind: String, count: Int)]
      switch access {
      case .folder(let folder, let stream):
        let journal = try DataFolder.open(folder, stream: stream)
        let recordings = Recordings(dataFolder: folder)
        let report = try await SubjectStores(of: journal, recordings: recordings, logger: logger).erase(
          traces
        )
        try journal.rewrite()
        counts = report.counts.map { ("\($0.name)", $0.count) }
        remaining = report.remaining.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      case .http(let url, let token):
        let path = "/v1/subjects/\(PercentCoding.encode(segment: traces.description))"
        let tree = try ServerClient.tree(try await ServerClient(url: url, token: token).ask("DELETE", path))
        counts = (tree["removed"]?.mapping.map(Array.init) ?? []).compactMap { key, value in
          guard let name = key.string, let count = value.int else { return nil }
          return (name, count)
        }
        remaining = (tree["remaining"]?.sequence.map(Array.init) ?? []).compactMap { entry in
          guard let kind = entry["kind"]?.string, let count = entry["documents"]?.int else { return nil }
          return (kind, count)
        }
      }
      for line in ErasureText.lines(subject: traces.description, counts, remaining) {
        try console.print(line)
      }
      console.say(ErasureText.whatIsYours)
      return .success
    }
  }
}

/// The texts about what was removed.
enum ErasureText {
  /// The note on data that no server can remove.
  static let whatIsYours =
    "Not touched: recordings (--record), event files (--output), backups, what webhooks and streams have delivered, and the "
    + "site file. They are yours; if the subject is in them, remove them too."

  /// The words for one thing and for several, by the name of the count.
  private static let words: [String: (one: String, several: String)] = [
    "events": ("event about it", "events about it"),
    "mentions": ("event about others that named it", "events about others that named it"),
    "rows": ("row of where it stands, or that named it", "rows of where it stands, or that named it"),
    "names": ("entry in the list of names", "entries in the list of names"),
    "postings": ("entry in the index of events", "entries in the index of events"),
    "history": (
      "hour of summaries about it, or that named it", "hours of summaries about it, or that named it"
    ),
    "deliveries": ("delivery that waited for it", "deliveries that waited for it"),
    "deadLetters": ("delivery that was given up", "deliveries that were given up"),
    "checkpoints": ("checkpoint, as a whole", "checkpoints, as a whole"),
    "authorisations": ("authorisation", "authorisations"),
    "comparisons": ("comparison of captures that showed it", "comparisons of captures that showed it"),
    "recordings": ("recording of all inputs, as a whole", "recordings of all inputs, as a whole"),
    "persons": ("mark that it is a person", "marks that it is a person"),
    "acceptances": ("acceptance as an observer", "acceptances as an observer"),
    "shares": ("share of where it is", "shares of where it is"),
    "looks": ("entry of looks", "entries of looks"),
    "formerNames": ("record of its names", "records of its names"),
    "notifications": ("memory of notifications", "memories of notifications"),
  ]

  /// The lines that say what was removed and what still names the subject.
  static func lines(
    subject: String,
    _ counts: [(name: String, count: Int)],
    _ remaining: [(kind: String, count: Int)]
  ) -> [String] {
    let removed = counts.filter { $0.count > 0 }
    var lines = [
      removed.isEmpty ? "Nothing was stored about \(subject)." : "Removed of \(subject):"
    ]
    for (name, count) in removed {
      let noun = words[name].map { count == 1 ? $0.one : $0.several } ?? name
      lines.append(table.line(["\(count)", noun]))
    }
    if !remaining.isEmpty {
      lines.append("Rules that still name it, which an operator made and may change:")
      for (kind, count) in remaining { lines.append(table.line(["\(count)", "of the kind \(kind)"])) }
    }
    return lines
  }

  private static let table = TextTable([.number("", 8), .text("", 71)])
}
