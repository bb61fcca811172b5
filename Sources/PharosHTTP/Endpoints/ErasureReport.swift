package import PharosAccess
package import PharosJournal
package import PharosReports

/// What was removed of a subject, from everywhere.
package struct ErasureReport: Hashable, Sendable {
  /// Whom it was about.
  package let traces: SubjectTraces
  /// What the journal held.
  package var journal: Erased
  /// What was decided about it.
  package var authorisations: ErasedAuthorisations
  /// That it was let out of quarantine: 1 or 0.
  package var acceptances: Int
  /// What notifications remembered of it: 1 or 0.
  package var notifications: Int
  /// The documents that name it still, by kind, because they are somebody's rules and not its trace.
  package var remaining: [String: Int]

  /// Puts the counts together.
  package init(
    traces: SubjectTraces,
    journal: Erased,
    authorisations: ErasedAuthorisations,
    acceptances: Int,
    notifications: Int,
    remaining: [String: Int]
  ) {
    self.traces = traces
    self.journal = journal
    self.authorisations = authorisations
    self.acceptances = acceptances
    self.notifications = notifications
    self.remaining = remaining
  }

  /// The counts with their names, in the order of the report.
  package var counts: [(name: StaticString, count: Int)] {
    [
      ("events", journal.events), ("mentions", journal.mentions), ("rows", journal.rows),
      ("names", journal.names), ("postings", journal.postings), ("deliveries", journal.deliveries),
      ("deadLetters", journal.deadLetters), ("checkpoints", journal.checkpoints),
      ("authorisations", authorisations.authorisations), ("persons", authorisations.persons),
      ("acceptances", acceptances), ("notifications", notifications),
    ]
  }

  /// Writes the counts as JSON.
  package func write(to json: inout JSONText) {
    json.openObject()
    json.member("subject", traces.description)
    json.openObject("removed")
    for (name, count) in counts { json.member(name, count) }
    json.closeObject()
    json.openArray("remaining")
    for (kind, count) in remaining.sorted(by: { $0.key < $1.key }) {
      json.openObject()
      json.member("kind", kind)
      json.member("documents", count)
      json.closeObject()
    }
    json.closeArray()
    json.closeObject()
  }
}
