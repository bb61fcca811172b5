import Foundation
import PharosService
import Testing

@Suite("Alerting rules and the Grafana dashboard")
struct MonitoringTests {
  /// The metrics that an expression in PromQL selects.
  private static func families(in text: String) -> Set<String> {
    Set(text.matches(of: /((?:pharos|process)_[a-z_]+)\{/).map { String($0.1) })
  }

  private static func written() throws -> Set<String> {
    Set(try PrometheusTextTests.whole().matches(of: /# TYPE (\w+)/).map { String($0.1) })
  }

  @Test("rules and panels ask only for metrics that the server writes")
  func known() throws {
    let written = try Self.written()
    let rules = Self.families(in: AlertRules.text())
    let dashboard = Self.families(in: try GrafanaDashboard.text())
    #expect(rules.count >= 12 && rules.isSubset(of: written), "\(rules.subtracting(written))")
    #expect(dashboard.count >= 20 && dashboard.isSubset(of: written), "\(dashboard.subtracting(written))")
  }

  @Test("the dashboard is JSON in which no panel covers another and each has a data source and a query")
  func dashboard() throws {
    struct Dashboard: Decodable {
      struct Panel: Decodable {
        struct Place: Decodable { var x, y, w, h: Int }
        struct Target: Decodable { var expr, legendFormat, refId: String }
        var id: Int
        var title: String
        var gridPos: Place
        var targets: [Target]
        var datasource: [String: String]
      }
      var panels: [Panel]
    }
    let text = try GrafanaDashboard.text(job: "indoor")
    let dashboard = try JSONDecoder().decode(Dashboard.self, from: Data(text.utf8))
    var covered: Set<[Int]> = []
    for panel in dashboard.panels {
      #expect(panel.gridPos.x + panel.gridPos.w <= 24)
      #expect(!panel.targets.isEmpty && panel.datasource == ["type": "prometheus", "uid": "${datasource}"])
      #expect(Set(panel.targets.map(\.refId)).count == panel.targets.count)
      for x in panel.gridPos.x..<panel.gridPos.x + panel.gridPos.w {
        for y in panel.gridPos.y..<panel.gridPos.y + panel.gridPos.h {
          #expect(covered.insert([x, y]).inserted, "\(panel.title)")
        }
      }
    }
    #expect(Set(dashboard.panels.map(\.id)).count == dashboard.panels.count)
    #expect(text.contains(#""query" : "indoor""#))
  }

  /// A test of the rules in promtool's own form: the series of a quarter of an hour, and which alerts fire at its end.
  private static func verdicts(
    _ series: [(series: String, values: String)],
    at minutes: Int = 20,
    expect alerts: [String: [(labels: [String: String], summary: String, description: String)]]
  ) throws -> (status: Int32, output: String) {
    let folder = URL.temporaryDirectory.appending(path: "pharos-rules-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try AlertRules.text().write(to: folder.appending(path: "rules.yml"), atomically: true, encoding: .utf8)
    func alert(_ name: String) -> [String: Any] {
      let expected = (alerts[name] ?? []).map { alert in
        [
          "exp_labels": alert.labels,
          "exp_annotations": ["summary": alert.summary, "description": alert.description],
        ]
      }
      return ["eval_time": "\(minutes)m", "alertname": name, "exp_alerts": expected]
    }
    let names = AlertRules.text().matches(of: /alert: (\w+)/).map { String($0.1) }
    let test: [String: Any] = [
      "rule_files": ["rules.yml"],
      "evaluation_interval": "1m",
      "tests": [
        [
          "interval": "1m",
          "input_series": series.map { ["series": $0.series, "values": $0.values] },
          "alert_rule_test": names.map(alert),
        ] as [String: Any]
      ],
    ]
    let file = folder.appending(path: "test.yml")
    try JSONSerialization.data(withJSONObject: test, options: .withoutEscapingSlashes).write(to: file)
    return try Promtool.run(["test", "rules", file.path()])
  }

  private static let server = #"job="pharos",instance="hall:8080""#

  /// What a server in good health gives: one gateway that is up and a few datagrams a minute.
  private static let healthy: [(series: String, values: String)] = [
    ("up{\(server)}", "1+0x30"),
    ("pharos_ingest_datagrams_total{\(server)}", "0+600x30"),
    (#"pharos_observer_up{\#(server),observer="g1",name="Hall"}"#, "1+0x30"),
    (#"pharos_observer_datagrams_total{\#(server),observer="g1",name="Hall"}"#, "0+600x30"),
    (#"pharos_observer_datagrams_missing_total{\#(server),observer="g1",name="Hall"}"#, "0+6x30"),
    (#"pharos_ingest_datagrams_refused_total{\#(server),format="json",reason="malformed"}"#, "0+6x30"),
    ("pharos_monitoring_reports_quarantined_total{\(server)}", "5+0x30"),
    ("pharos_ingest_kernel_drops_total{\(server)}", "3+0x30"),
    ("pharos_ingest_delivery_lag_seconds{\(server)}", "0.2+0x30"),
    ("pharos_journal_refusing{\(server)}", "0+0x30"),
    ("pharos_events_lost_total{\(server)}", "2+0x30"),
    (#"pharos_webhooks{\#(server),state="failing"}"#, "0+0x30"),
    ("process_open_fds{\(server)}", "50+0x30"),
    ("process_max_fds{\(server)}", "1000+0x30"),
    ("process_start_time_seconds{\(server)}", "1700000000+0x30"),
  ]

  @Test("promtool reads the rules", .enabled(if: Promtool.path != nil, "promtool is not installed"))
  func checked() throws {
    let file = URL.temporaryDirectory.appending(path: "pharos-rules-\(UUID()).yml")
    defer { try? FileManager.default.removeItem(at: file) }
    try AlertRules.text(job: #"it's "indoor""#).write(to: file, atomically: true, encoding: .utf8)
    let result = try Promtool.run(["check", "rules", file.path()])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("14 rules found"), "\(result.output)")
  }

  @Test(
    "no rule fires for a server in good health",
    .enabled(if: Promtool.path != nil, "promtool is not installed")
  )
  func quiet() throws {
    let result = try Self.verdicts(Self.healthy, expect: [:])
    #expect(result.status == 0, "\(result.output)")
  }

  /// A failure: the series that differ from those of good health, and the rule that must fire with its labels.
  struct Failure: CustomTestStringConvertible, Sendable {
    var rule: String
    var series: String
    var values: String
    /// The series that stand still with it.
    var constant: [String] = []
    var labels: [String: String] = [:]
    var severity = "warning"
    var summary: String
    var testDescription: String { rule }
  }

  static let failures = [
    Failure(
      rule: "PharosDown",
      series: "up{\(server)}",
      values: "1+0x10 0+0x20",
      severity: "critical",
      summary: "Pharos on hall:8080 does not answer"
    ),
    Failure(
      rule: "PharosNothingArrives",
      series: "pharos_ingest_datagrams_total{\(server)}",
      values: "6000x30",
      constant: [#"pharos_ingest_datagrams_refused_total{\#(server),format="json",reason="malformed"}"#],
      severity: "critical",
      summary: "Pharos on hall:8080 receives no datagram"
    ),
    Failure(
      rule: "PharosObserverDown",
      series: #"pharos_observer_up{\#(server),observer="g1",name="Hall"}"#,
      values: "1+0x10 0+0x20",
      labels: ["observer": "g1", "name": "Hall"],
      summary: "Observer Hall (g1) is down"
    ),
    Failure(
      rule: "PharosObserverLosesDatagrams",
      series: #"pharos_observer_datagrams_missing_total{\#(server),observer="g1",name="Hall"}"#,
      values: "0+60x30",
      labels: ["observer": "g1", "name": "Hall"],
      summary: "More than 5 % of the datagrams of observer Hall (g1) are lost"
    ),
    Failure(
      rule: "PharosDatagramsRefused",
      series: #"pharos_ingest_datagrams_refused_total{\#(server),format="json",reason="malformed"}"#,
      values: "0+60x30",
      labels: ["reason": "malformed"],
      summary: "More than 5 % of the datagrams are refused: malformed"
    ),
    Failure(
      rule: "PharosObserversQuarantined",
      series: "pharos_monitoring_reports_quarantined_total{\(server)}",
      values: "0+5x30",
      severity: "info",
      summary: "Observers that are not accepted send reports"
    ),
    Failure(
      rule: "PharosKernelDrops",
      series: "pharos_ingest_kernel_drops_total{\(server)}",
      values: "3x18 9x12",
      summary: "The kernel dropped datagrams because a receive buffer was full"
    ),
    Failure(
      rule: "PharosEventsLate",
      series: "pharos_ingest_delivery_lag_seconds{\(server)}",
      values: "90x30",
      summary: "Events are delivered 1m 30s behind the datagrams"
    ),
    Failure(
      rule: "PharosJournalRefuses",
      series: "pharos_journal_refusing{\(server)}",
      values: "0+0x10 1+0x20",
      severity: "critical",
      summary: "The journal cannot be written"
    ),
    Failure(
      rule: "PharosWebhookFails",
      series: #"pharos_webhooks{\#(server),state="failing"}"#,
      values: "2x30",
      labels: ["state": "failing"],
      summary: "2 webhooks are failing"
    ),
    Failure(
      rule: "PharosFilesRunOut",
      series: "process_open_fds{\(server)}",
      values: "900x30",
      summary: "Pharos uses 900 files, more than 80 % of its limit"
    ),
    Failure(
      rule: "PharosRestarts",
      series: "process_start_time_seconds{\(server)}",
      values: "1700000000x10 1700000600 1700000660 1700000720 1700000720x20",
      summary: "Pharos started 3 times within 15 minutes"
    ),
  ]

  @Test(
    "each failure fires its rule and no other",
    .enabled(if: Promtool.path != nil, "promtool is not installed"),
    arguments: failures
  )
  func fires(_ failure: Failure) throws {
    var series = Self.healthy
    let index = try #require(series.firstIndex { $0.series == failure.series })
    series[index].values = failure.values
    for index in series.indices where failure.constant.contains(series[index].series) {
      series[index].values = "60x30"
    }
    let lines = AlertRules.text().split(separator: "\n").drop { !$0.hasSuffix("alert: \(failure.rule)") }
    let line = try #require(lines.first { $0.contains("description: ") })
    let description = String(line.drop { $0 != "\"" }.dropFirst().dropLast())
    let labels = failure.labels.merging(
      ["job": "pharos", "instance": "hall:8080", "severity": failure.severity],
      uniquingKeysWith: { $1 }
    )
    let result = try Self.verdicts(
      series,
      expect: [failure.rule: [(labels, failure.summary, description.replacing(#"\""#, with: "\""))]]
    )
    #expect(result.status == 0, "\(result.output)")
  }
}
