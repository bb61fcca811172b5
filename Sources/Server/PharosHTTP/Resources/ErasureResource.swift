import HTTPTypes
package import Logging
import Pharos
import PharosDelivery
import PharosDocuments
import PharosIngest
package import PharosJournal
package import PharosModel
import PharosSite

/// The erasure of subjects from all stores.
struct ErasureResource: Resource {
  let stores: SubjectStores
  let commitPublisher: CommitPublisher

  var routes: [Route] {
    [
      Route(
        .delete,
        "/v1/subjects/{subject}",
        Operation(
          "eraseSubject",
          .access,
          "Erase every trace of a subject",
          """
          Removes all stored data about an observer or a beacon: events, states, deliveries, checkpoints, \
          recordings, authorisations; the bytes that held it are overwritten. The sequence numbers of its events stay as \
          empty places, so that streams resume as before. Six octets name both an observer and a beacon.
          """
        )
        .with(.subject)
        .answering(.erasure),
        access: .operation,
        handler: erase
      )
    ]
  }

  private func erase(_ request: APIRequest) async throws -> APIAnswer {
    let traces = try request.subjectTraces()
    guard !commitPublisher.statistics.isFailing else {
      throw Problem.unavailable(
        "The journal takes nothing at present, so nothing can be removed from it. Try again later."
      )
    }
    let report = try await stores.erase(traces)
    return .json(ErasureReport.members, of: report)
  }
}

/// The stores that keep something about subjects.
package struct SubjectStores: Sendable {
  let owner: SiteOwner
  let authorisations: Authorisations
  let journal: Journal
  let recordings: Recordings
  /// The stores that only a running server has.
  let running: Running?

  /// The stores of a running server.
  struct Running {
    let server: PharosServer
    let commitPublisher: CommitPublisher
    let webhooks: Webhooks
    let mqtt: MQTTPublisher?
    let notifications: Notifications
    let cache: LiveStateCache
  }

  /// Opens the stores of a server that does not run.
  ///
  /// - Parameters:
  ///   - journal: the server's journal.
  ///   - recordings: the recordings beside it.
  ///   - logger: the logger for documents that cannot be read.
  /// - Throws: the error of a journal that cannot be read.
  package init(of journal: Journal, recordings: Recordings, logger: Logger) throws {
    owner = try SiteOwner(declared: Site(), store: journal, logger: logger)
    authorisations = try Authorisations(store: journal)
    self.journal = journal
    self.recordings = recordings
    running = nil
  }

  /// Gathers the stores of a running server.
  package init(of backend: any HTTPBackend, cache: LiveStateCache) {
    owner = backend.owner
    authorisations = backend.authorisations
    journal = backend.journal
    recordings = backend.recordings
    running = Running(
      server: backend.server,
      commitPublisher: backend.commitPublisher,
      webhooks: backend.webhooks,
      mqtt: backend.mqtt,
      notifications: backend.notifications,
      cache: cache
    )
  }

  /// Erases a subject: the engine forgets it first, then the stores that keep, then those that show.
  ///
  /// Servers that decide alike by one log forget it with this one, and erase it by ``eraseHere(_:ended:)`` when they read that.
  ///
  /// - Throws: the error of a store; the call may be repeated.
  package func erase(_ traces: SubjectTraces) async throws -> ErasureReport {
    var acceptances = 0
    if let observer = traces.observer { acceptances = try await owner.forget(observer) ? 1 : 0 }
    let beacons = try await owner.forgetBeacons(traces)
    // Behind the two that may end a name of it.
    let formerNames = try await owner.forget(traces)
    try await running?.server.apply(.forget(traces))
    return try await eraseHere(traces, ended: (acceptances, beacons, formerNames))
  }

  /// Erases a subject that the engine has forgotten from the stores of this server.
  ///
  /// - Parameters:
  ///   - traces: the subject.
  ///   - ended: the numbers of acceptances, of beacons and of former names that were removed before.
  /// - Returns: what was removed.
  /// - Throws: the error of a store; the call may be repeated.
  @discardableResult
  package func eraseHere(
    _ traces: SubjectTraces,
    ended: (acceptances: Int, beacons: Int, formerNames: Int) = (0, 0, 0)
  ) async throws -> ErasureReport {
    let forgotten = try await running?.decideNothing()
    let authorisations = try self.authorisations.erase(traces)
    running?.webhooks.forget(traces)
    running?.mqtt?.forget(traces)
    let notifications =
      try running?.notifications.forget(traces) ?? Notifications.forget(traces, keptIn: journal)
    let (comparisons, recorded, erased, remaining) = try await BackgroundExecutor.requests.run {
      [journal, recordings] in
      try Assignments.erase(traces, in: journal)
      let comparisons = try ComparisonStore(journal: journal).erase(traces)
      let erased = try journal.erase(traces, keepingCheckpointsFrom: forgotten)
      return (comparisons, recordings.erase(traces), erased, try journal.documents(naming: traces))
    }
    running?.cache.forget(traces)
    running?.commitPublisher.forget(traces)
    return ErasureReport(
      traces: traces,
      counts: [
        erased.events, erased.mentions, erased.rows, erased.names, erased.postings, erased.history,
        erased.deliveries, erased.deadLetters, erased.checkpoints, authorisations.authorisations,
        authorisations.persons, authorisations.shares, authorisations.looks, ended.acceptances, ended.beacons,
        ended.formerNames, notifications, comparisons, recorded,
      ],
      remaining: remaining
    )
  }
}

extension SubjectStores.Running {
  /// The interval between checks whether the last decisions about a subject have been published.
  private static let glance = Duration.milliseconds(5)
  /// The number of checks before the request fails, over 10 s in all: a decision is published within milliseconds, or
  /// within a second where the disk is slow.
  private static let patience = 2_000

  /// Returns when all that was decided about a forgotten subject is committed, and a checkpoint without it is taken.
  ///
  /// - Returns: the time from which checkpoints do not contain the subject.
  fileprivate func decideNothing() async throws -> Timestamp {
    let forgotten = try await server.snapshot().time
    // Whatever it holds of the subject would outlast it.
    try await server.endRecording()
    try await waitForDelivery(through: forgotten)
    try await server.checkpoint()
    await commitPublisher.drain()
    return forgotten
  }

  /// Waits until everything that was decided up to an instant has been delivered.
  private func waitForDelivery(through instant: Timestamp) async throws {
    for _ in 0..<Self.patience {
      if try await server.snapshot().deliveredThrough >= instant { return }
      try await Task.sleep(for: Self.glance)
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

  /// The sorts of data that are removed, in the order of the report.
  private static let sorts: [(name: StaticString, description: String)] = [
    ("events", "Events about it."),
    ("mentions", "Events about others that named it."),
    ("rows", "Rows of where it stood, or that named it."),
    ("names", "Entries in the list of names."),
    ("postings", "Entries in the index of events."),
    ("history", "Hours of summaries about it or that named it."),
    ("deliveries", "Deliveries to webhooks that waited."),
    ("deadLetters", "Deliveries to webhooks that were given up."),
    ("checkpoints", "Checkpoints, dropped as a whole."),
    ("authorisations", "Authorisations."),
    ("persons", "Marks that it is a person."),
    ("shares", "What it shared with others, and others with it."),
    ("looks", "Looks of others at it, and its own at others."),
    ("acceptances", "Acceptances as an observer."),
    ("beacons", "Names given over HTTP."),
    ("formerNames", "Records of its present and former names."),
    ("notifications", "Memories of notifications."),
    ("comparisons", "Comparisons of captures that showed it."),
    ("recordings", "Recordings of all inputs, dropped as a whole."),
  ]

  fileprivate init(traces: SubjectTraces, counts: [Int], remaining: [String: Int]) {
    precondition(counts.count == ErasureReport.sorts.count, "a sort of data has no count")
    self.traces = traces
    self.counts = zip(ErasureReport.sorts, counts).map { ($0.name, $1) }
    self.remaining = remaining
  }

  fileprivate static let members: [DocumentField<ErasureReport>] = [
    .always("subject", .text) { $0.traces.description },
    .always("removed", .object([removed]), "What was removed, by sort.") { $0 },
    .always(
      "remaining",
      .list(
        .object([
          .always("kind", .text) { $0.key },
          .always("documents", .integer) { $0.value },
        ])
      ),
      "Documents that still name it, because they are an operator's rules: webhooks, regions, keys."
    ) { $0.remaining.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) } },
  ]

  private static let removed = DocumentField<ErasureReport>(
    writing: sorts.map { .required($0.name.description, .integer, $0.description) }
  ) { report, json in
    for (name, count) in report.counts { json.member(name, count) }
  }
}

extension Schema {
  static let erasure = Schema.object(ErasureReport.members).named("Erasure")
}
