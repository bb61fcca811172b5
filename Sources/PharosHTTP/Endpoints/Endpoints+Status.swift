import COpenAPI
import Pharos
import PharosCaptures
import PharosDashboard
import PharosDelivery
import PharosIngest
import PharosJournal
import PharosModel
import PharosMonitoring
import PharosPositioning
import PharosWire

extension Endpoints {
  var statusRoutes: [Route] {
    [Route(.get, "/v1/status", access: .operation) { _ in try await status() }]
  }

  private func status() async throws -> APIAnswer {
    let snapshot = try await backend.server.snapshot()
    let now = backend.clock()
    return .json { json in
      json.openObject()
      json.member("version", backend.facts.version)
      json.member("stream", backend.registrar.site.stream)
      json.member("startedAt", backend.facts.startedAt.rfc3339)
      json.member("time", now.rfc3339)
      json.member("uptime", (now - backend.facts.startedAt).seconds, decimals: 3)
      json.member("demo", backend.facts.isDemo)
      json.member("dataFolder", ifPresent: backend.facts.dataFolder)
      write(snapshot, to: &json)
      write(backend.journal.statistics(), to: &json)
      write(backend.commitPublisher.statistics, to: &json)
      write(backend.feeds.statistics, to: &json)
      writeWebhooks(to: &json)
      json.closeObject()
    }
  }

  private func write(_ snapshot: IngestSnapshot, to json: inout JSONText) {
    json.openArray("listeners")
    for socket in snapshot.sockets {
      json.openObject()
      json.member("address", socket.address.description)
      json.member("loop", socket.loop)
      json.member("receiveBuffer", socket.receiveBuffer)
      json.closeObject()
    }
    json.closeArray()
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
    json.openArray("counters")
    for (name, count) in Endpoints.counters(snapshot) {
      json.openObject()
      json.member("name", name)
      json.member("count", count)
      json.closeObject()
    }
    json.closeArray()
    json.closeObject()
  }

  private func write(_ decoding: DatagramCounters, to json: inout JSONText) {
    json.openArray("formats")
    for format in WireFormat.allCases where decoding.datagrams(format) > 0 {
      json.openObject()
      json.member("format", format.name)
      json.member("datagrams", decoding.datagrams(format))
      json.member("reports", decoding.reports(format))
      json.closeObject()
    }
    json.closeArray()
    json.member("refused", decoding.totalRefusals)
    json.openArray("refusals")
    for reason in DatagramRefusal.allCases {
      for format in WireFormat.allCases.map({ Optional($0) }) + [nil] {
        let count = decoding.refusals(format, reason)
        guard count > 0 else { continue }
        json.openObject()
        json.member("reason", reason.name)
        json.member("format", ifPresent: format?.name)
        json.member("count", count)
        json.member("meaning", reason.description)
        json.closeObject()
      }
    }
    json.closeArray()
  }

  private func write(_ sources: [RefusedSource], to json: inout JSONText) {
    json.openArray("refusedSources")
    for source in sources.prefix(Endpoints.shownSources) {
      json.openObject()
      json.member("source", source.source.description)
      json.member("count", source.count)
      json.member("lastReason", source.lastReason.name)
      json.member("lastRefused", source.lastRefused.rfc3339)
      json.closeObject()
    }
    json.closeArray()
  }

  /// The number of senders of refused datagrams that are shown: those with the most refusals.
  private static let shownSources = 50

  /// Returns the counters of the two stages, by name.
  private static func counters(_ snapshot: IngestSnapshot) -> [(String, UInt64)] {
    let (one, two) = (snapshot.monitoring, snapshot.positioning)
    return [
      ("reports", one.reports), ("adverts", one.adverts), ("matched", one.matched),
      ("unmatched", one.unmatched), ("late", one.late), ("joined", one.joined),
      ("withoutLevel", one.withoutLevel), ("backwards", one.backwards),
      ("sequenceGaps", one.sequenceGaps),
      ("sequenceRepeats", one.sequenceRepeats), ("restarts", one.restarts),
      ("staleBoots", one.staleBoots),
      ("outages", one.outages), ("trackEvictions", one.trackEvictions),
      ("observerEvictions", one.observerEvictions), ("quarantined", one.quarantined),
      ("tracks", one.tracks),
      ("observers", one.observers), ("summaries", two.summaries),
      ("presenceChanges", two.presenceChanges),
      ("observerChanges", two.observerChanges), ("tags", UInt64(two.tags)),
      ("tagEvictions", two.evictions),
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
    json.member("told", commitPublisher.told)
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

extension Endpoints {
  var pageRoutes: [Route] {
    [
      Route(.get, "/", access: .anyone, conditional: true) { _ in try Endpoints.asset("/") },
      Route(.get, "/assets/{file...}", access: .anyone, conditional: true) { request in
        try Endpoints.asset("/assets/\(request.parameter("file"))")
      },
      Route(.get, "/openapi.json", access: .anyone, conditional: true) { _ in
        .bytes(OpenAPI.document, type: "application/json")
      },
      Route(.get, "/healthz", access: .anyone) { _ in
        .json { json in
          json.openObject()
          json.member("status", "ok")
          json.closeObject()
        }
      },
      Route(.get, "/readyz", access: .anyone) { _ in await readiness() },
      Route(.get, "/metrics", access: .operation) { _ in
        .bytes(
          Array(await backend.metrics().utf8),
          type: "text/plain; version=0.0.4; charset=utf-8"
        )
      },
    ]
  }

  private static func asset(_ path: String) throws(Problem) -> APIAnswer {
    guard let asset = Dashboard.asset(path) else {
      throw .notFound("The dashboard has no file \(path.shortened).")
    }
    var answer = APIAnswer.bytes(asset.bytes, type: asset.contentType)
    for (name, value) in Dashboard.headers { answer.setHeader(name, value) }
    answer.setHeader("ETag", asset.entityTag)
    return answer
  }

  private func readiness() async -> APIAnswer {
    let readiness = await backend.readiness()
    return .json(status: readiness.isReady ? 200 : 503) { json in
      json.openObject()
      json.member("status", readiness.isReady ? "ready" : "notReady")
      json.openArray("checks")
      for check in readiness.checks {
        json.openObject()
        json.member("name", check.name)
        json.member("ok", check.problem == nil)
        json.member("problem", ifPresent: check.problem)
        json.closeObject()
      }
      json.closeArray()
      json.closeObject()
    }
  }
}

/// The description of the interface: a JSON file that lives in the binary.
package enum OpenAPI {
  /// The bytes of `OpenAPI/openapi.json`, copied out of the binary once.
  package static let document: [UInt8] = {
    let file = copenapi_document()
    return Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
  }()
}
