import Foundation

/// The dashboard for Grafana that `pharos grafana` prints: gateways first, then the way of a datagram to a subscriber.
///
/// - Source: grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model.
package enum GrafanaDashboard {
  /// The kinds of panels that are used.
  private enum Kind: String {
    case stat
    case timeseries
    case stateTimeline = "state-timeline"
  }

  /// A panel: its title, kind, unit by Grafana's name, width of 24 columns, and the queries with their legends.
  private struct Panel {
    var title: String
    var kind = Kind.timeseries
    var unit = "short"
    var width = 12
    var queries: [(expression: String, legend: String)]
  }

  /// Returns the dashboard, JSON as Grafana imports it, for a server that Prometheus scrapes as `job`.
  package static func text(job: String = AlertRules.defaultJob) throws -> String {
    let dashboard: [String: Any] = [
      "title": "Pharos",
      "uid": "pharos",
      "tags": ["pharos"],
      "schemaVersion": 39,
      "editable": true,
      "refresh": "30s",
      "time": ["from": "now-6h", "to": "now"],
      "templating": [
        "list": [
          ["name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"],
          [
            "name": "job", "label": "Job", "type": "constant", "query": job,
            "current": ["text": job, "value": job], "hide": 2,
          ],
          [
            "name": "instance", "label": "Server", "type": "query", "datasource": source,
            "query": #"label_values(\#(Metric.buildInfo.selected(#"job="$job""#)), instance)"#,
            "refresh": 2, "includeAll": true, "multi": true, "allValue": ".*",
            "current": ["text": "All", "value": "$__all"],
          ] as [String: Any],
        ] as [Any]
      ],
      "panels": laidOut(),
    ]
    let data = try JSONSerialization.data(
      withJSONObject: dashboard,
      options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    )
    return String(decoding: data, as: UTF8.self) + "\n"
  }

  private static let source = ["type": "prometheus", "uid": "${datasource}"]

  /// The panels from left to right in rows.
  private static func laidOut() -> [[String: Any]] {
    var x = 0
    var y = 0
    var height = 0
    return panels.enumerated().map { index, panel in
      if x + panel.width > 24 { (x, y, height) = (0, y + height, 0) }
      let own = panel.kind == .stat ? 4 : 8
      defer { (x, height) = (x + panel.width, max(height, own)) }
      return json(panel, id: index + 1, at: ["x": x, "y": y, "w": panel.width, "h": own])
    }
  }

  private static func json(_ panel: Panel, id: Int, at place: [String: Int]) -> [String: Any] {
    let targets = panel.queries.enumerated().map { index, query in
      [
        "refId": String(UnicodeScalar(UInt8(ascii: "A") + UInt8(index))), "datasource": source,
        "expr": query.expression, "legendFormat": query.legend,
      ] as [String: Any]
    }
    var json: [String: Any] = [
      "id": id, "title": panel.title, "type": panel.kind.rawValue, "datasource": source, "gridPos": place,
      "targets": targets,
    ]
    var defaults: [String: Any] = ["unit": panel.unit]
    if panel.kind == .stateTimeline {
      defaults["mappings"] = [
        [
          "type": "value",
          "options": ["0": ["text": "down", "color": "red"], "1": ["text": "up", "color": "green"]],
        ]
          as [String: Any]
      ]
    }
    json["fieldConfig"] = ["defaults": defaults, "overrides": [Any]()] as [String: Any]
    return json
  }

  /// A selector of the server, and further labels.
  private static func of(_ metric: Metric, _ labels: String = "") -> String {
    metric.selected(#"job="$job",instance=~"$instance"\#(labels.isEmpty ? "" : ",\(labels)")"#)
  }

  /// The rate of a counter.
  private static func rate(_ metric: Metric, _ labels: String = "") -> String {
    "rate(\(of(metric, labels))[$__rate_interval])"
  }

  private static let panels: [Panel] = [
    Panel(
      title: "Observers up",
      kind: .stat,
      width: 4,
      queries: [("sum(\(of(.observerUp)))", "up")]
    ),
    Panel(
      title: "Observers down",
      kind: .stat,
      width: 4,
      queries: [("count(\(of(.observerUp)) == 0) or vector(0)", "down")]
    ),
    Panel(
      title: "Adverts",
      kind: .stat,
      unit: "cps",
      width: 4,
      queries: [("sum(\(rate(.adverts)))", "adverts")]
    ),
    Panel(
      title: "Events decided in an hour",
      kind: .stat,
      width: 4,
      queries: [("sum(increase(\(of(.eventsDecided))[1h]))", "events")]
    ),
    Panel(
      title: "Delay of events",
      kind: .stat,
      unit: Metric.deliveryLag.unit,
      width: 4,
      queries: [("max(\(of(.deliveryLag)))", "delay")]
    ),
    Panel(
      title: "Journal refuses writes",
      kind: .stat,
      unit: "bool_yes_no",
      width: 4,
      queries: [("max(\(of(.journalRefusing)))", "refuses")]
    ),
    Panel(
      title: "Observers",
      kind: .stateTimeline,
      width: 24,
      queries: [(of(.observerUp), "{{name}} {{observer}}")]
    ),
    Panel(
      title: "Adverts of each observer",
      unit: "cps",
      queries: [(rate(.observerAdverts), "{{name}} {{observer}}")]
    ),
    Panel(
      title: "Datagrams of each observer that are missing",
      unit: "percentunit",
      queries: [
        (
          "\(rate(.observerMissing)) / "
            + "(\(rate(.observerDatagrams)) + \(rate(.observerMissing)))",
          "{{name}} {{observer}}"
        )
      ]
    ),
    Panel(
      title: "Datagrams, by format",
      unit: "cps",
      queries: [("sum by (format) (\(rate(.datagramsDecoded))) > 0", "{{format}}")]
    ),
    Panel(
      title: "Datagrams refused, dropped and late",
      unit: "cps",
      queries: [
        ("sum by (reason) (\(rate(.datagramsRefused))) > 0", "refused: {{reason}}"),
        ("sum(\(rate(.kernelDrops)))", "dropped by the kernel"),
        ("sum(\(rate(.late)))", "late"),
        ("sum(\(rate(.quarantined)))", "quarantined"),
      ]
    ),
    Panel(
      title: "Tracks, tags and located subjects",
      queries: [
        ("sum(\(of(.tracks)))", "tracks"),
        ("sum(\(of(.tags)))", "tags"),
        ("sum(\(of(.locatedSubjects)))", "located subjects"),
        ("sum(\(of(.heardDevices)))", "devices heard"),
      ]
    ),
    Panel(
      title: "Events",
      unit: "cps",
      queries: [
        ("sum(\(rate(.eventsDecided)))", "decided"),
        ("sum by (path) (\(rate(.eventsPublished)))", "published: {{path}}"),
        ("sum(\(rate(.eventsStreamed)))", "to live streams"),
        ("sum(\(rate(.eventsLost)))", "lost"),
      ]
    ),
    Panel(
      title: "Webhooks",
      queries: [
        ("max(\(of(.webhookLag)))", "events behind the journal"),
        ("sum(\(of(.deadLetters)))", "given up"),
        ("sum by (state) (\(of(.webhookStates)))", "{{state}}"),
      ]
    ),
    Panel(
      title: "Journal",
      unit: Metric.lastCommit.unit,
      queries: [("max(\(of(.lastCommit)))", "last commit")]
    ),
    Panel(
      title: "Processor time",
      unit: "percentunit",
      queries: [(rate(.processorTime), "{{instance}}")]
    ),
    Panel(
      title: "Memory",
      unit: Metric.residentMemory.unit,
      queries: [
        (of(.residentMemory), "{{instance}} resident"),
        (of(.journalSize), "{{instance}} journal on disk"),
      ]
    ),
  ]
}
