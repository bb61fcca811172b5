import HTTPTypes
import Pharos
package import PharosDelivery
import PharosIngest
package import PharosJournal
import PharosDocuments
package import PharosModel

/// The erasure of subjects from all stores.
struct ErasureResource: Resource {
  let server: PharosServer
  let registrar: Registrar
  let commitPublisher: CommitPublisher
  let authorisations: Authorisations
  let webhooks: Webhooks
  let mqtt: MQTTPublisher?
  let notifications: Notifications
  let journal: Journal
  let cache: LiveStateCache

  /// The interval between checks whether the last decisions about a subject have been published.
  private static let glance = Duration.milliseconds(5)
  /// The number of checks before the request fails, over 10 s in all: a decision is published within milliseconds, or
  /// within a second where the disk is slow.
  private static let patience = 2_000

  var routes: [Route] {
    [Route(.delete, "/v1/subjects/{subject}", access: .operation, handler: erase)]
  }

  /// Erases a subject: first the engine forgets it, then the journal and the other stores remove its traces.
  private func erase(_ request: APIRequest) async throws -> APIAnswer {
    let text = request.parameter("subject")
    guard let traces = SubjectTraces(text) else {
      throw Problem.notFound("\"\(text.shortened)\" is neither an observer nor a beacon.")
    }
    guard !commitPublisher.statistics.isFailing else {
      throw Problem.unavailable(
        "The journal takes nothing at present, so nothing can be removed from it. Try again later."
      )
    }
    let acceptances = try await acceptances(traces)
    try await server.apply(.forget(traces))
    let forgotten = try await server.snapshot().time
    try await settle(through: forgotten)
    try await server.checkpoint()
    await commitPublisher.drain()
    let authorisations = try self.authorisations.erase(traces)
    webhooks.forget(traces)
    mqtt?.forget(traces)
    let notifications = try self.notifications.forget(traces)
    let report = try await Blocking.run { [journal] in
      try ErasureReport(
        erasing: traces,
        from: journal,
        keepingCheckpointsFrom: forgotten,
        authorisations: authorisations,
        acceptances: acceptances,
        notifications: notifications
      )
    }
    cache.forget(traces)
    commitPublisher.forget(traces)
    return .json { report.write(to: &$0) }
  }

  private func acceptances(_ traces: SubjectTraces) async throws -> Int {
    guard let observer = traces.observer else { return 0 }
    return try await registrar.forget(observer) ? 1 : 0
  }

  /// Waits until everything that was decided up to an instant has been delivered.
  private func settle(through instant: Timestamp) async throws {
    for _ in 0..<ErasureResource.patience {
      if try await server.snapshot().deliveredThrough >= instant { return }
      try await Task.sleep(for: ErasureResource.glance)
    }
    throw Problem.unavailable("The server is too far behind to erase a subject at present. Try again later.")
  }
}

/// The data that was removed of a subject, from all stores.
package struct ErasureReport: Sendable {
  /// The subject.
  package let traces: SubjectTraces
  /// The counts with their names, in the order of the report.
  package let counts: [(name: StaticString, count: Int)]
  /// The documents that still name it, by kind, because they are a client's rules and not its trace.
  package let remaining: [String: Int]

  /// Removes a subject from a journal, and puts the counts of all stores together.
  ///
  /// - Parameters:
  ///   - traces: the subject.
  ///   - journal: the journal.
  ///   - instant: the time from which checkpoints no longer contain the subject and are kept; nil drops all.
  ///   - authorisations: the counts of authorisations and person marks.
  ///   - acceptances: the number of acceptances out of quarantine: 1 or 0.
  ///   - notifications: the number of notification states: 1 or 0.
  /// - Throws: the error of the journal; the call may be repeated.
  package init(
    erasing traces: SubjectTraces,
    from journal: Journal,
    keepingCheckpointsFrom instant: Timestamp? = nil,
    authorisations: ErasedAuthorisations,
    acceptances: Int,
    notifications: Int
  ) throws {
    try Assignments.erase(traces, in: journal)
    let comparisons = try ComparisonStore(journal: journal).erase(traces)
    let erased = try journal.erase(traces, keepingCheckpointsFrom: instant)
    self.traces = traces
    remaining = try journal.documents(naming: traces)
    counts = [
      ("events", erased.events), ("mentions", erased.mentions), ("rows", erased.rows),
      ("names", erased.names), ("postings", erased.postings), ("history", erased.history),
      ("deliveries", erased.deliveries),
      ("deadLetters", erased.deadLetters), ("checkpoints", erased.checkpoints),
      ("authorisations", authorisations.authorisations), ("persons", authorisations.persons),
      ("acceptances", acceptances), ("notifications", notifications),
      ("comparisons", comparisons),
    ]
  }

  /// Writes the counts as JSON.
  fileprivate func write(to json: inout JSONText) {
    json.member("subject", traces.description)
    json.openObject("removed")
    for (name, count) in counts { json.member(name, count) }
    json.closeObject()
    json.objects("remaining", remaining.sorted { $0.key < $1.key }) { json, entry in
      json.member("kind", entry.key)
      json.member("documents", entry.value)
    }
  }
}
