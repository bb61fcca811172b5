import Foundation
import PharosDelivery
import PharosHTTP
import PharosIngest
import PharosJournal
import PharosModel
import PharosMonitoring
import PharosService
import PharosTestSupport
import Testing

@Suite("Metrics as Prometheus reads them")
struct PrometheusTextTests {
  /// A text with every family that there is.
  static func whole() throws -> String {
    var text = PrometheusText()
    text.write(.current(), startedAt: 1_700_000_000.5, version: "1 \"quoted\" \\ line\nend")
    text.write(IngestSnapshot())
    let journal = try Journal.open(.memory, stream: "metrics")
    try journal.save(checkpoint: [1], instant: Timestamp(seconds: 1_700_000_000), through: 0)
    text.write(journal.statistics())
    text.write(CommitPublisherStatistics())
    text.write(FeedStatistics())
    text.write([])
    text.write(HTTPStatistics())
    return text.text
  }

  @Test("every family is written once, with its help and its kind, before its samples")
  func families() throws {
    let lines = try PrometheusTextTests.whole().split(separator: "\n").map(String.init)
    for family in MetricFamily.all {
      let help = try #require(lines.firstIndex(of: "# HELP \(family.name) \(family.help)"))
      #expect(lines[help + 1] == "# TYPE \(family.name) \(family.kind.rawValue)")
      #expect(lines.count { $0.hasPrefix("# HELP \(family.name) ") } == 1)
      #expect(lines[help + 2].hasPrefix(family.name + (family.labels.isEmpty ? " " : "{")))
    }
    let told = lines.filter { $0.hasPrefix("# TYPE") }.count
    #expect(told == MetricFamily.all.count)
  }

  @Test("names say their unit, counters end in _total, and no two families share a name")
  func names() {
    let names = MetricFamily.all.map(\.name)
    #expect(Set(names).count == names.count)
    for family in MetricFamily.all {
      #expect(family.name.hasSuffix("_total") == (family.kind == .counter), "\(family.name)")
      #expect(family.name.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") })
      #expect(!family.help.hasSuffix("."))
    }
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
      var text = PrometheusText()
      text.write(snapshot)
      return text.text.split(separator: "\n").map { $0.prefix { $0 != " " } }
    }
    #expect(series[0] == series[1])
    #expect(series[0].count > 100)
  }

  @Test("the guide names every family")
  func documented() throws {
    let page = SharedData.repository.appending(
      path: "Sources/PharosService/PharosService.docc/Operations.md"
    )
    let text = try String(contentsOf: page, encoding: .utf8)
    for family in MetricFamily.all {
      #expect(text.contains("`\(family.name)`"), "\(family.name) is missing")
    }
  }

  @Test("promtool finds nothing to say", .enabled(if: PrometheusTextTests.checker != nil))
  func promtool() throws {
    let process = Process()
    process.executableURL = URL(filePath: try #require(PrometheusTextTests.checker))
    process.arguments = ["check", "metrics"]
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(PrometheusTextTests.whole().utf8))
    try input.fileHandleForWriting.close()
    let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(said)")
    #expect(said.isEmpty, "\(said)")
  }

  /// Prometheus' own checker, where it is installed.
  static let checker = ["/usr/bin/promtool", "/usr/local/bin/promtool", "/opt/homebrew/bin/promtool"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }
}
