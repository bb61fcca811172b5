import Foundation
import PharosCluster
import PharosDelivery
import PharosHTTP
import PharosIngest
import PharosJournal
import PharosModel
import PharosPresence
import PharosService
import PharosTestSupport
import Testing

@Suite("Metrics as Prometheus reads them")
struct PrometheusTextTests {
  /// A text with every family that there is.
  static func whole() throws -> String {
    var sources = MetricSources()
    sources.process = (.current(), 1_700_000_000.5, "1 \"quoted\" \\ line\nend")
    sources.snapshot = IngestSnapshot()
    sources.observers = ListedObserver.all(of: site, heard)
    let journal = try Journal.open(.memory, stream: "metrics")
    try journal.save(checkpoint: [1], instant: Timestamp(seconds: 1_700_000_000), through: 0)
    sources.journal = journal.statistics()
    sources.committed = CommitPublisherStatistics()
    sources.feeds = FeedStatistics()
    sources.webhooks = []
    sources.http = HTTPStatistics()
    sources.mqttInput = MQTTFeedStatistics()
    sources.mqttOutput = MQTTStanding()
    sources.cluster = (SharedLogStanding(), true)
    return PrometheusText.text(of: sources)
  }

  /// A site that lists one gateway, and names another in a zone.
  static let site = Site(
    observers: [ObserverEntry(id: .eui48(1), name: "Hall \"A\"")],
    zones: [Zone(identifier: "store", observers: [.eui48(2)])]
  )

  /// The states of a listed gateway and of one that merely sends, each after a heartbeat.
  static let heard: [ObserverStatus] = {
    var engine = MonitoringEngine(site: site)
    var batch = ReportBatch()
    for observer in [ObserverID.eui48(1), .eui48(9)] {
      batch.append(
        Report(
          observer: batch.index(of: observer),
          received: Timestamp(seconds: 1_700_000_000),
          timing: .received,
          body: .heartbeat(Heartbeat())
        )
      )
    }
    var output = StageOutput()
    engine.ingest(batch, into: &output)
    return engine.observers()
  }()

  /// A family as a table says it: its kind, its labels and its help.
  private struct Family: Equatable {
    var kind: String
    var labels: Set<String>
    var help: String
  }

  /// The families of a text by name; a family is written once, with its help and its kind, before its samples.
  private func families() throws -> [String: Family] {
    var families: [String: Family] = [:]
    var lines = try PrometheusTextTests.whole().split(separator: "\n")[...]
    while let help = lines.popFirst()?.wholeMatch(of: /# HELP (\w+) (.+)/) {
      let name = String(help.1)
      let kind = try #require(lines.popFirst()?.wholeMatch(of: /# TYPE (\w+) (counter|gauge)/))
      #expect(kind.1 == name && families[name] == nil)
      let samples = lines.prefix { !$0.hasPrefix("#") }
      lines = lines.dropFirst(samples.count)
      #expect(!samples.isEmpty && samples.allSatisfy { $0.hasPrefix(name + " ") || $0.hasPrefix(name + "{") })
      let labels = samples.first.map { Set($0.matches(of: /(\w+)="/).map { String($0.1) }) } ?? []
      families[name] = Family(kind: String(kind.2), labels: labels, help: String(help.2))
    }
    #expect(lines.isEmpty)
    return families
  }

  @Test("names say their unit, and counters end in _total")
  func names() throws {
    for (name, family) in try families() {
      #expect(name.hasSuffix("_total") == (family.kind == "counter"), "\(name)")
      #expect(name.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") })
      #expect(!family.help.hasSuffix("."))
    }
  }

  @Test("each metric of the table is written once, and those without a source are left out")
  func table() throws {
    let names = Metric.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(try families().count == names.count)
    #expect(PrometheusText.text(of: MetricSources()).isEmpty)
  }

  @Test("labels are escaped, and numbers are what Prometheus reads")
  func escapes() throws {
    let text = try PrometheusTextTests.whole()
    #expect(text.contains(#"pharos_build_info{version="1 \"quoted\" \\ line\nend"} 1"#))
    #expect(text.contains("process_start_time_seconds 1700000000.5\n"))
    #expect(PrometheusText.number(.infinity) == "+Inf")
    #expect(PrometheusText.number(.nan) == "NaN")
    #expect(PrometheusText.number(1e21) == "1e+21")
  }

  @Test("the labels are fixed: a server without traffic has the very samples of a busy one")
  func fixedLabels() {
    var busy = IngestSnapshot()
    busy.datagrams = 7
    busy.monitoring.matched = 3
    let series = [IngestSnapshot(), busy].map { snapshot in
      var sources = MetricSources()
      sources.snapshot = snapshot
      return PrometheusText.text(of: sources).split(separator: "\n").map { $0.prefix { $0 != " " } }
    }
    #expect(series[0] == series[1])
    #expect(series[0].count > 100)
  }

  @Test("observers that are listed or named by a zone have series, others have none")
  func observers() throws {
    let text = try PrometheusTextTests.whole()
    #expect(PrometheusTextTests.heard.count == 2)
    #expect(text.contains(#"pharos_observer_up{observer="00:00:00:00:00:01",name="Hall \"A\""} 1"#))
    #expect(text.contains(#"pharos_observer_up{observer="00:00:00:00:00:02",name=""} 0"#))
    #expect(
      text.contains(
        #"last_heard_timestamp_seconds{observer="00:00:00:00:00:01",name="Hall \"A\""} 1700000000"#
      )
    )
    #expect(!text.contains("00:00:00:00:00:09"))
    let many = (0..<ListedObserver.maximumCount + 5).map { ObserverEntry(id: .eui48(UInt64($0))) }
    var crowded = MetricSources()
    crowded.observers = ListedObserver.all(of: Site(observers: many), [])
    let up = PrometheusText.text(of: crowded).split(separator: "\n").count {
      $0.hasPrefix("pharos_observer_up{")
    }
    #expect(up == ListedObserver.maximumCount)
  }

  @Test("the table of the guide has the families of the text, with their kinds, labels and help")
  func documented() throws {
    let page = SharedData.repository.appending(
      path: "Sources/Server/PharosService/PharosService.docc/Metrics.md"
    )
    var table: [String: Family] = [:]
    for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") {
      guard let row = line.wholeMatch(of: /\| `(\w+)` \| (counter|gauge) \| (.*?) \| (.*) \|/) else {
        continue
      }
      let labels = row.3.matches(of: /`(\w+)`/).map { String($0.1) }
      table[String(row.1)] = Family(kind: String(row.2), labels: Set(labels), help: String(row.4))
    }
    let families = try families()
    #expect(Set(families.keys) == Set(table.keys))
    for (name, family) in families { #expect(family == table[name], "\(name)") }
  }

  @Test("promtool finds nothing to say", .enabled(if: Promtool.path != nil, "promtool is not installed"))
  func promtool() throws {
    let result = try Promtool.run(["check", "metrics"], input: PrometheusTextTests.whole())
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.isEmpty, "\(result.output)")
  }
}
