import Pharos
import PharosDelivery
import PharosHTTP
import PharosIngest
import PharosJournal
import PharosReports
import PharosWebhooks

extension ServerParts {
  /// All metrics in Prometheus' text format.
  func metrics() async -> String {
    var text = PrometheusText()
    text.write(
      .current(),
      startedAt: Double(startedAt.nanoseconds) / 1e9,
      version: PharosVersion.text
    )
    if let snapshot = try? await server.snapshot() { text.write(snapshot) }
    text.write(journal.statistics())
    text.write(teller.statistics)
    text.write(feeds.statistics)
    text.write(webhooks.list())
    text.write(web.statistics)
    return text.text
  }

  /// Whether it can do its work: it listens and decides, and what it decides is kept.
  func readiness() async -> Readiness {
    var checks: [Readiness.Check] = []
    do {
      _ = try await server.snapshot()
      checks.append(.init("ingest"))
    } catch {
      checks.append(.init("ingest", problem: "\(error)"))
    }
    let told = teller.statistics
    checks.append(
      .init(
        "journal",
        problem: told.isFailing ? told.lastFailure ?? "the journal refuses what is to be kept" : nil
      )
    )
    return Readiness(checks)
  }
}
