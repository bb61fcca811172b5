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
          .done(
            "application/yaml",
            .any.described("The document of a site file; the page TheSiteFile describes its members.")
          )
        )
        .failing(.conflict, .unavailable),
        access: .operation
      ) { _ in try siteFile() },
    ]
  }

  /// The present configuration as a site file, without the identity keys of tags.
  private func siteFile() throws -> APIAnswer {
    let configuration = backend.registrar.merged(into: backend.configuration)
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
    let now = backend.clock()
    return .json { json in
      json.member("version", backend.version)
      json.member("stream", backend.registrar.site.stream)
      json.member("startedAt", backend.startedAt.rfc3339)
      json.member("time", now.rfc3339)
      json.member("uptime", backend.uptime.seconds, decimals: 3)
      json.member("demo", backend.isDemo)
      json.member("dataFolder", ifPresent: backend.dataFolder)
      write(snapshot, to: &json)
      write(backend.journal.statistics(), to: &json)
      write(backend.commitPublisher.statistics, to: &json)
      write(backend.feeds.statistics, to: &json)
      writeWebhooks(to: &json)
    }
  }

  private func write(_ snapshot: IngestSnapshot, to json: inout JSONText) {
    json.objects("listeners", snapshot.sockets) { json, socket in
      json.member("address", socket.address.description)
      json.member("loop", socket.loop)
      json.member("receiveBuffer", socket.receiveBuffer)
    }
    json.openObject("ingest")
    json.member("datagrams", snapshot.datagrams)
    json.member("bytes", snapshot.bytes)
    json.member("reports", snapshot.decoding.totalReports)
    json.member("truncated", snapshot.truncated)
    json.member("kernelDrops", snapshot.kernelDrops)
    json.member("queueWaits", snapshot.queueWaits)
    json.member("forwarded", snapshot.forwarded)
    json.member("socketErrors", snapshot.socketErrors)
    json.member("tableEvictions", snapshot.tableEvictions)
    json.member("recording", snapshot.isRecording)
    if snapshot.deliveredThrough != .distantPast {
      json.member("deliveredThrough", snapshot.deliveredThrough.rfc3339)
    }
    write(snapshot.decoding, to: &json)
    write(snapshot.refusedSources, to: &json)
    json.closeObject()
    json.openObject("engine")
    json.objects("counters", StatusResource.counters(snapshot)) { json, counter in
      json.member("name", counter.name)
      json.member("count", counter.count)
    }
    json.closeObject()
  }

  private func write(_ decoding: DatagramCounters, to json: inout JSONText) {
    json.objects("formats", WireFormat.allCases.filter { decoding.datagrams($0) > 0 }) { json, format in
      json.member("format", format.name)
      json.member("datagrams", decoding.datagrams(format))
      json.member("reports", decoding.reports(format))
    }
    json.member("refused", decoding.totalRefusals)
    json.objects("refusals", decoding.refusals) { $1.write(to: &$0) }
    json.member("skipped", decoding.totalSkips)
    json.objects("skips", decoding.skips) { $1.write(to: &$0) }
    json.objects("ignoredIdentities", decoding.ignoredIdentities.sorted) { json, member in
      json.member("name", member.name)
      json.member("count", member.count)
    }
  }

  private func write(_ sources: [RefusedSource], to json: inout JSONText) {
    json.objects("refusedSources", sources.prefix(StatusResource.shownSources)) { json, source in
      json.member("source", source.source.description)
      json.member("count", source.count)
      json.member("skipped", source.skipped)
      json.member("lastReason", source.lastReason.name)
      json.member("lastRefused", source.lastRefused.rfc3339)
    }
  }

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

  private func write(_ journal: JournalStatistics, to json: inout JSONText) {
    json.openObject("journal")
    json.member("head", journal.head)
    json.member("oldest", journal.oldest)
    json.member("events", journal.events)
    json.member("bytes", journal.bytes)
    json.member("commits", journal.commits)
    json.member("failures", journal.failures)
    json.member("appended", journal.appended)
    json.member("pruned", journal.pruned)
    json.member("lastCommit", journal.lastCommit.seconds, decimals: 6)
    json.member("lastCheckpoint", ifPresent: journal.lastCheckpoint?.rfc3339)
    json.closeObject()
  }

  private func write(_ commitPublisher: CommitPublisherStatistics, to json: inout JSONText) {
    json.openObject("teller")
    json.member("received", commitPublisher.received)
    json.member("told", commitPublisher.committed)
    json.member("passed", commitPublisher.passed)
    json.member("withheld", commitPublisher.withheld)
    json.member("lost", commitPublisher.lost)
    json.member("waiting", commitPublisher.waiting)
    json.member("checkpoints", commitPublisher.checkpoints)
    json.member("failing", commitPublisher.isFailing)
    json.member("lastFailure", ifPresent: commitPublisher.lastFailure)
    json.closeObject()
  }

  private func write(_ feeds: FeedStatistics, to json: inout JSONText) {
    json.openObject("feeds")
    json.member("open", feeds.open)
    json.member("opened", feeds.opened)
    json.member("refused", feeds.refused)
    json.member("delivered", feeds.delivered)
    json.member("dropped", feeds.dropped)
    json.member("fellBehind", feeds.fellBehind)
    json.closeObject()
  }

  private func writeWebhooks(to json: inout JSONText) {
    let standings = backend.webhooks.list()
    json.openObject("webhooks")
    json.member("count", standings.count)
    json.member("failing", standings.count { $0.state == .failing })
    json.member("dead", standings.reduce(0) { $0 + $1.dead })
    json.closeObject()
  }
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
          .answering(.done("*/*", .text)),
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

  private static func asset(_ path: String) throws(Problem) -> APIAnswer {
    guard let asset = Dashboard.asset(path) else {
      throw .notFound("The dashboard has no file \(path.shortened).")
    }
    var answer = APIAnswer.bytes(asset.bytes, type: asset.contentType)
    for (name, value) in Dashboard.headers { answer.headers[named: name] = value }
    answer.headers[.eTag] = asset.entityTag
    return answer
  }

  private func readiness(_: APIRequest) async -> APIAnswer {
    let checks = await readinessCheck.result(of: backend)
    let isReady = checks.allSatisfy { $0.problem == nil }
    return .json(status: isReady ? .ok : .serviceUnavailable) { json in
      json.member("status", isReady ? "ready" : "notReady")
      json.objects("checks", checks) { json, check in
        json.member("name", check.part)
        json.member("ok", check.problem == nil)
        json.member("problem", ifPresent: check.problem)
      }
    }
  }
}

extension DatagramCounters.Reason {
  fileprivate func write(to json: inout JSONText) {
    json.member("reason", reason.name)
    json.member("format", ifPresent: format?.name)
    json.member("count", count)
    json.member("meaning", WireFormat.advice(on: reason))
  }
}

extension Schema {
  static let readiness = Schema.object([
    .required("status", .words(["ready", "notReady"])),
    .required(
      "checks",
      .list(
        .object([
          .required("name", .text),
          .required("ok", .flag),
          .optional("problem", .text),
        ])
      )
    ),
  ]).named("Readiness")

  static let status = Schema.object([
    .required("version", .text),
    .required("stream", .text),
    .required("startedAt", .time),
    .required("time", .time),
    .required("uptime", .number, "Seconds."),
    .required("demo", .flag),
    .optional("dataFolder", .text),
    .required(
      "listeners",
      .list(
        .object([
          .required("address", .text),
          .required("loop", .count),
          .required("receiveBuffer", .count, "Bytes."),
        ])
      )
    ),
    .required(
      "ingest",
      .object([
        .required("datagrams", .count),
        .required("bytes", .count),
        .required("reports", .count),
        .required("truncated", .count),
        .required("kernelDrops", .count),
        .required("queueWaits", .count),
        .required("forwarded", .count),
        .required("socketErrors", .count),
        .required("tableEvictions", .count),
        .required("recording", .flag),
        .optional("deliveredThrough", .time),
        .required(
          "formats",
          .list(
            .object([
              .required("format", .text),
              .required("datagrams", .count),
              .required("reports", .count),
            ])
          )
        ),
        .required("refused", .count),
        .required(
          "refusals",
          .list(
            .object([
              .required("reason", .text),
              .optional("format", .text),
              .required("count", .count),
              .required("meaning", .text),
            ])
          )
        ),
        .required(
          "skipped",
          .count,
          "Elements that could not be read in datagrams of which the rest was read."
        ),
        .required(
          "skips",
          .list(
            .object([
              .required("reason", .text),
              .optional("format", .text),
              .required("count", .count),
              .required("meaning", .text),
            ])
          )
        ),
        .required(
          "ignoredIdentities",
          .list(
            .object([
              .required("name", .text),
              .required("count", .count),
            ])
          ),
          """
          Members of JSON objects that look like a beacon's identity and were ignored: that beacon is not \
          found.
          """
        ),
        .required(
          "refusedSources",
          .list(
            .object([
              .required("source", .text),
              .required("count", .count),
              .required("skipped", .count),
              .required("lastReason", .text),
              .required("lastRefused", .time),
            ])
          )
        ),
      ])
    ),
    .required(
      "engine",
      .object([
        .required(
          "counters",
          .list(
            .object([
              .required("name", .text),
              .required("count", .count),
            ])
          )
        )
      ])
    ),
    .required(
      "journal",
      .object([
        .required("head", .count),
        .required("oldest", .count),
        .required("events", .count),
        .required("bytes", .count),
        .required("commits", .count),
        .required("failures", .count),
        .required("appended", .count),
        .required("pruned", .count),
        .required("lastCommit", .number, "Seconds."),
        .optional("lastCheckpoint", .time),
      ])
    ),
    .required(
      "teller",
      .object([
        .required("received", .count),
        .required("told", .count),
        .required("passed", .count),
        .required("withheld", .count),
        .required("lost", .count),
        .required("waiting", .count),
        .required("checkpoints", .count),
        .required("failing", .flag),
        .optional("lastFailure", .text),
      ])
    ),
    .required(
      "feeds",
      .object([
        .required("open", .count),
        .required("opened", .count),
        .required("refused", .count),
        .required("delivered", .count),
        .required("dropped", .count),
        .required("fellBehind", .count),
      ])
    ),
    .required(
      "webhooks",
      .object([
        .required("count", .count),
        .required("failing", .count),
        .required("dead", .count),
      ])
    ),
  ]).named("Status")
}
