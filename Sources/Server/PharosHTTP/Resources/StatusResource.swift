import HTTPTypes
import Pharos
import PharosCaptures
import PharosDashboard
import PharosDelivery
import PharosDocuments
import PharosIngest
import PharosJournal
import PharosModel
import PharosPresence
import PharosRooms
import PharosSite
import PharosWire
import Synchronization

/// The text of the site file, written once for each state of the site.
private final class SiteText: Sendable {
  private let last = Mutex<(configuration: SiteConfiguration, bytes: [UInt8])?>(nil)

  /// Returns the text of a configuration, as it was written last or by `write`.
  func bytes(of configuration: SiteConfiguration, _ write: () throws -> [UInt8]) rethrows -> [UInt8] {
    if let last = last.withLock({ $0 }), last.configuration == configuration { return last.bytes }
    let bytes = try write()
    last.withLock { $0 = (configuration, bytes) }
    return bytes
  }
}

/// The status of the server and its configuration.
struct StatusResource: Resource {
  let backend: any HTTPBackend
  private let written = SiteText()

  var routes: [Route] {
    [
      Route(
        .get,
        "/v1/status",
        Operation("getStatus", .operation, "What the server is, has counted, and how its parts fare")
          .answering(.status)
          .failing(.unavailable),
        access: .operation,
        handler: status
      ),
      Route(
        .get,
        "/v1/site",
        Operation(
          "getSite",
          .operation,
          "The present configuration as a site file",
          """
          The site file together with what was registered over HTTP; read again it gives the same site. The \
          identity keys of tags are left out.
          """
        )
        .answering(
          .done([
            (
              "application/yaml",
              .any.described("The document of a site file; the page TheSiteFile describes its members.")
            ),
            ("text/plain", .text.described("The same as a text, for a client that asks for that.")),
          ])
        )
        .failing(.conflict, .unavailable),
        access: .operation
      ) { _ in try siteFile() },
    ]
  }

  /// The present configuration as a site file, without the identity keys of tags.
  private func siteFile() throws -> APIAnswer {
    let configuration = backend.owner.merged(into: backend.configuration)
    let bytes = try written.bytes(of: configuration) { try siteFile(of: configuration) }
    return .bytes(bytes, type: "application/yaml")
  }

  private func siteFile(of configuration: SiteConfiguration) throws -> [UInt8] {
    var configuration = configuration
    let keys = configuration.site.beacons.count { $0.identityKey != nil }
    for index in configuration.site.beacons.indices { configuration.site.beacons[index].identityKey = nil }
    do throws(DocumentError) {
      let text = try SiteFile.text(of: configuration)
      let remark =
        keys > 0 ? "# \(Wording.count(keys, "irk")) left out: copy from the site file that has it.\n" : ""
      return Array((remark + text).utf8)
    } catch {
      let reasons = error.problems.map(\.message).joined(separator: " ")
      throw Problem.conflict("notDeclarable", "No site file can declare the present site: \(reasons)")
    }
  }

  private func status(_: APIRequest) async throws -> APIAnswer {
    let snapshot = try await backend.server.snapshot()
    return .json(StatusDocument.members, of: StatusDocument(backend, snapshot))
  }
}

/// The status of the server: what it is, and what its parts have counted.
private struct StatusDocument {
  let version: String
  let stream: String
  let startedAt: Timestamp
  let time: Timestamp
  let uptime: TimeSpan
  let isDemo: Bool
  let dataFolder: String?
  let snapshot: IngestSnapshot
  let journal: JournalStatistics
  let commitPublisher: CommitPublisherStatistics
  let feeds: FeedStatistics
  let webhooks: [WebhookStanding]
  let conflicts: [SiteConflict]
  let cluster: ClusterStanding?

  init(_ backend: any HTTPBackend, _ snapshot: IngestSnapshot) {
    version = backend.version
    stream = backend.owner.site.stream
    startedAt = backend.startedAt
    time = backend.clock()
    uptime = backend.uptime
    isDemo = backend.isDemo
    dataFolder = backend.dataFolder
    self.snapshot = snapshot
    journal = backend.journal.statistics()
    commitPublisher = backend.commitPublisher.statistics
    feeds = backend.feeds.statistics
    webhooks = backend.webhooks.list()
    conflicts = snapshot.heard.conflicts(with: backend.owner.site)
    cluster = backend.clusterStanding
  }

  static let members: [DocumentField<StatusDocument>] = [
    .always("version", .text) { $0.version },
    .always("stream", .text) { $0.stream },
    .always("startedAt", .moment) { $0.startedAt },
    .always("time", .moment) { $0.time },
    .always("uptime", .seconds, "Seconds.") { $0.uptime },
    .always("demo", .flag) { $0.isDemo },
    .sometimes("dataFolder", .text) { $0.dataFolder },
    .always("listeners", .list(.object(SocketStatus.members))) { $0.snapshot.sockets },
    .always("formats", .list(.text), "The datagram formats that the server reads.") { _ in
      WireFormat.allCases.map(\.name)
    },
    .always("ingest", .object(ingest)) { $0.snapshot },
    .always("engine", .object(engine)) { $0.snapshot },
    .always("journal", .object(JournalStatistics.members)) { $0.journal },
    .always("publisher", .object(CommitPublisherStatistics.members)) { $0.commitPublisher },
    .always("feeds", .object(FeedStatistics.members)) { $0.feeds },
    .always("webhooks", .object(deliveries)) { $0.webhooks },
    .always(
      "conflicts",
      .list(.object(SiteConflict.members)),
      "What the input proves to be wrong with the site, and its owner has to mend."
    ) { $0.conflicts },
    .sometimes("cluster", .object(ClusterStanding.members), "The nodes of the cluster.") { $0.cluster },
  ]

  private static let ingest: [DocumentField<IngestSnapshot>] = [
    .always("datagrams", .count) { $0.datagrams },
    .always("bytes", .count) { $0.bytes },
    .always("reports", .count) { $0.decoding.totalReports },
    .always("truncated", .count) { $0.truncated },
    .always("kernelDrops", .count) { $0.kernelDrops },
    .always("queueWaits", .count) { $0.queueWaits },
    .always("forwarded", .count) { $0.forwarded },
    .always("socketErrors", .count) { $0.socketErrors },
    .always("tableEvictions", .count) { $0.tableEvictions },
    .always("recording", .flag) { $0.isRecording },
    .sometimes("deliveredThrough", .moment) {
      $0.deliveredThrough == .distantPast ? nil : $0.deliveredThrough
    },
    .part(decoding) { $0.decoding },
    .always("refusedSources", .list(.object(RefusedSource.members))) {
      Array($0.refusedSources.prefix(shownSources))
    },
  ]

  private static let decoding: [DocumentField<DatagramCounters>] = [
    .always(
      "formats",
      .list(
        .object([
          .always("format", .text) { $0.format.name },
          .always("datagrams", .count) { $0.counters.datagrams($0.format) },
          .always("reports", .count) { $0.counters.reports($0.format) },
        ])
      )
    ) { counters in
      WireFormat.allCases.filter { counters.datagrams($0) > 0 }.map { (format: $0, counters: counters) }
    },
    .always("refused", .count) { $0.totalRefusals },
    .always("refusals", .list(.object(DatagramCounters.Reason.members))) { $0.refusals },
    .always("skipped", .count, "Elements that could not be read in datagrams of which the rest was read.") {
      $0.totalSkips
    },
    .always("skips", .list(.object(DatagramCounters.Reason.members))) { $0.skips },
    .always(
      "ignoredIdentities",
      .list(.object(named)),
      """
      Members of JSON objects that look like a beacon's identity and were ignored: that beacon is not \
      found.
      """
    ) { $0.ignoredIdentities.sorted },
  ]

  private static let named: [DocumentField<(name: String, count: UInt64)>] = [
    .always("name", .text) { $0.name },
    .always("count", .count) { $0.count },
  ]

  private static let engine: [DocumentField<IngestSnapshot>] = [
    .always("counters", .list(.object(named))) { counters($0) }
  ]

  private static let deliveries: [DocumentField<[WebhookStanding]>] = [
    .always("count", .count) { $0.count },
    .always("failing", .count) { $0.count { $0.state == .failing } },
    .always("dead", .count) { $0.reduce(0) { $0 + $1.dead } },
  ]

  /// The number of senders of refused datagrams that are shown: those with the most refusals.
  private static let shownSources = 50

  /// Returns the counters of the two stages, by name.
  private static func counters(_ snapshot: IngestSnapshot) -> [(name: String, count: UInt64)] {
    let (one, two) = (snapshot.monitoring, snapshot.positioning)
    return [
      ("reports", one.reports), ("adverts", one.adverts), ("matched", one.matched),
      ("unmatched", one.unmatched), ("late", one.late), ("joined", one.joined),
      ("withoutLevel", one.withoutLevel), ("backwards", one.backwards), ("sequenceGaps", one.sequenceGaps),
      ("sequenceRepeats", one.sequenceRepeats), ("sequenceConflicts", one.sequenceConflicts),
      ("restarts", one.restarts), ("staleBoots", one.staleBoots),
      ("outages", one.outages), ("trackEvictions", one.trackEvictions),
      ("observerEvictions", one.observerEvictions), ("quarantined", one.quarantined), ("tracks", one.tracks),
      ("observers", one.observers), ("summaries", two.summaries), ("presenceChanges", two.presenceChanges),
      ("observerChanges", two.observerChanges), ("tags", UInt64(two.tags)), ("tagEvictions", two.evictions),
    ]
  }
}

extension SocketStatus {
  fileprivate static let members: [DocumentField<SocketStatus>] = [
    .always("address", .text) { $0.address.description },
    .always("loop", .count) { $0.loop },
    .always("receiveBuffer", .count, "Bytes.") { $0.receiveBuffer },
  ]
}

extension SiteConflict {
  fileprivate static let members: [DocumentField<SiteConflict>] = [
    .always("kind", .word(Kind.allCases)) { $0.kind },
    .always("message", .text, "What is so.") { $0.message },
    .always("remedy", .text, "What to do.") { $0.remedy },
    .sometimes("addresses", .list(.text), "The addresses of the tags that send one identity.") {
      $0.addresses.isEmpty ? nil : $0.addresses.map(\.description)
    },
  ]
}

extension RefusedSource {
  fileprivate static let members: [DocumentField<RefusedSource>] = [
    .always("source", .text) { $0.source.description },
    .always("count", .count) { $0.count },
    .always("skipped", .count) { $0.skipped },
    .always("lastReason", .text) { $0.lastReason.name },
    .always("lastRefused", .moment) { $0.lastRefused },
  ]
}

extension JournalStatistics {
  fileprivate static let members: [DocumentField<JournalStatistics>] = [
    .always("head", .count) { $0.head },
    .always("oldest", .count) { $0.oldest },
    .always("events", .count) { $0.events },
    .always("bytes", .count) { $0.bytes },
    .always("commits", .count) { $0.commits },
    .always("failures", .count) { $0.failures },
    .always("appended", .count) { $0.appended },
    .always("pruned", .count) { $0.pruned },
    .always("lastCommit", .seconds(decimals: 6), "Seconds.") { $0.lastCommit },
    .sometimes("lastCheckpoint", .moment) { $0.lastCheckpoint },
  ]
}

extension CommitPublisherStatistics {
  fileprivate static let members: [DocumentField<CommitPublisherStatistics>] = [
    .always("received", .count) { $0.received },
    .always("published", .count) { $0.committed },
    .always("passed", .count) { $0.passed },
    .always("withheld", .count) { $0.withheld },
    .always("lost", .count) { $0.lost },
    .always("waiting", .count) { $0.waiting },
    .always("checkpoints", .count) { $0.checkpoints },
    .always("failing", .flag) { $0.isFailing },
    .sometimes("lastFailure", .text) { $0.lastFailure },
  ]
}

extension FeedStatistics {
  fileprivate static let members: [DocumentField<FeedStatistics>] = [
    .always("open", .count) { $0.open },
    .always("opened", .count) { $0.opened },
    .always("refused", .count) { $0.refused },
    .always("delivered", .count) { $0.delivered },
    .always("dropped", .count) { $0.dropped },
    .always("fellBehind", .count) { $0.fellBehind },
  ]
}

/// The newest check of readiness, which all share who ask within a second: it costs more than its answer.
private actor ReadinessCheck {
  private static let lifetime = TimeSpan.seconds(1)

  private var newest: (begun: TimeSpan, task: Task<[(part: String, problem: String?)], Never>)?

  func result(of backend: any HTTPBackend) async -> [(part: String, problem: String?)] {
    let now = backend.uptime
    if let newest, now - newest.begun < ReadinessCheck.lifetime { return await newest.task.value }
    let task = Task { await backend.readiness() }
    newest = (now, task)
    return await task.value
  }
}

/// The dashboard, and what watches the server.
struct PageResource: Resource {
  let backend: any HTTPBackend
  private let readinessCheck = ReadinessCheck()

  var routes: [Route] {
    [
      Route(
        .get,
        "/",
        Operation("getDashboard", .pages, "The dashboard")
          .answering(.done("text/html", .text)),
        access: .anyone,
        conditional: true
      ) { _ in try PageResource.asset("/") },
      Route(
        .get,
        "/assets/**",
        Operation("getAsset", .pages, "A file of the dashboard")
          .with(.path("file", "The file's name."))
          .answering(
            .done([("text/css", .text), ("text/javascript", .text), ("image/svg+xml", .text)])
          ),
        access: .anyone,
        conditional: true
      ) { request in
        try PageResource.asset("/assets/" + request.rest)
      },
      Route(
        .get,
        "/healthz",
        Operation("getHealth", .operation, "Whether the process lives")
          .answering(
            .object([
              .required("status", .constant("ok"))
            ])
          ),
        access: .anyone,
        immediate: true
      ) { _ in .json { $0.member("status", "ok") } },
      Route(
        .get,
        "/readyz",
        Operation("getReadiness", .operation, "Whether the server can do its work")
          .answering(
            .done(.readiness),
            .refused(.serviceUnavailable, "It cannot, and why.", .readiness)
          ),
        access: .anyone,
        immediate: true,
        handler: readiness
      ),
      Route(
        .get,
        "/metrics",
        Operation("getMetrics", .operation, "Metrics in Prometheus's text format")
          .answering(.done("text/plain", .text)),
        access: .operation
      ) { _ in
        .bytes(Array(await backend.metrics().utf8), type: "text/plain; version=0.0.4; charset=utf-8")
      },
    ]
  }

  /// Answers with a file of the pages.
  static func asset(_ path: String) throws(Problem) -> APIAnswer {
    guard let asset = Dashboard.asset(path) else {
      throw .notFound("The dashboard has no file \(path.shortened).")
    }
    var answer = APIAnswer.bytes(asset.bytes, type: asset.contentType)
    for (name, value) in Dashboard.headers { answer.headers[named: name] = value }
    answer.headers[.eTag] = asset.entityTag
    // The one script that may answer for the pages of visitors while there is no network.
    if path == "/assets/visitor-worker.js" { answer.headers[named: "Service-Worker-Allowed"] = "/venues/" }
    return answer
  }

  fileprivate static let readiness: [DocumentField<[(part: String, problem: String?)]>] = [
    .always("status", .text(.words(["ready", "notReady"]))) {
      $0.allSatisfy { $0.problem == nil } ? "ready" : "notReady"
    },
    .always(
      "checks",
      .list(
        .object([
          .always("name", .text) { $0.part },
          .always("ok", .flag) { $0.problem == nil },
          .sometimes("problem", .text) { $0.problem },
        ])
      )
    ) { $0 },
  ]

  private func readiness(_: APIRequest) async -> APIAnswer {
    let checks = await readinessCheck.result(of: backend)
    let isReady = checks.allSatisfy { $0.problem == nil }
    return .json(PageResource.readiness, of: checks, status: isReady ? .ok : .serviceUnavailable)
  }
}

extension DatagramCounters.Reason {
  fileprivate static let members: [DocumentField<DatagramCounters.Reason>] = [
    .always("reason", .text) { $0.reason.name },
    .sometimes("format", .text) { $0.format?.name },
    .always("count", .count) { $0.count },
    .always("meaning", .text) { WireFormat.advice(on: $0.reason) },
  ]
}

extension Schema {
  static let readiness = Schema.object(PageResource.readiness).named("Readiness")

  static let status = Schema.object(StatusDocument.members).named("Status")
}
