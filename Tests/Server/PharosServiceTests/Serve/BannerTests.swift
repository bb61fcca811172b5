import PharosDelivery
import PharosIngest
import PharosModel
import PharosService
import PharosSite
import Testing

@Suite("The banner of a server")
struct BannerTests {
  private let here = HostPort(host: "127.0.0.1", port: 50_001)

  @Test("for an empty site the banner states what is missing, and what to try next")
  func empty() {
    let banner = Banner(settings: ServeSettings(), isDemo: false, configuration: SiteConfiguration())
    let text = banner.lines([here], http: nil).joined(separator: "\n")
    #expect(text.hasPrefix("Pharos is listening on udp 127.0.0.1:50001."))
    #expect(text.contains("no region to enter: pharos init"))
    #expect(text.contains("events go nowhere: add --http 127.0.0.1:8080 or --output"))
    var settings = ServeSettings()
    settings.http = HostPort(host: "127.0.0.1", port: 8_080)
    let served = Banner(settings: settings, isDemo: false, configuration: SiteConfiguration())
    let lines = served.lines([here], http: settings.http)
    #expect(
      lines.contains { $0.contains("no region to enter: name a gateway on the dashboard, or pharos init") }
    )
    #expect(text.contains("nothing survives a restart: --data pharos-data"))
    #expect(text.contains("--udp 0.0.0.0:50001 hears the network"))
    #expect(
      text.contains("try next   pharos replay Captures/museum-visit/capture.pcapng --to 127.0.0.1:50001")
    )
  }

  @Test("a server that hears the network, keeps and tells events lacks nothing of it")
  func complete() throws {
    let configuration = try SiteFile.parse(StarterSite.text, path: "site.yaml")
    var settings = ServeSettings()
    settings.site = "site.yaml"
    settings.output = "events.jsonl"
    settings.record = "run.pharos"
    settings.data = "pharos-data"
    let network = [HostPort(host: "0.0.0.0", port: 50_001)]
    let web = HostPort(host: "127.0.0.1", port: 8_080)
    let lines = Banner(settings: settings, isDemo: false, configuration: configuration)
      .lines(network, http: web)
    #expect(!lines.contains { $0.contains("not yet") })
    #expect(lines.contains("  site       site.yaml: 3 regions, 0 zones, 0 observers"))
    #expect(lines.contains("  dashboard  http://127.0.0.1:8080/"))
    #expect(
      lines.first
        == "Pharos is listening on udp 0.0.0.0:50001, http 127.0.0.1:8080, the latter for this machine alone."
        + " Ctrl-C ends."
    )
    #expect(lines.contains("  journal    pharos-data"))
    #expect(lines.contains("  events     events.jsonl"))
    #expect(lines.contains("  recording  run.pharos"))
    settings.tls = TLSFiles(certificate: "c", key: "k")
    let secure = Banner(settings: settings, isDemo: false, configuration: configuration)
      .lines(network, http: web)
    #expect(secure.contains("  dashboard  https://127.0.0.1:8080/"))
    let open = Banner(settings: settings, isDemo: false, configuration: configuration)
      .lines(network, http: HostPort(host: "0.0.0.0", port: 8_080))
    #expect(open.first == "Pharos is listening on udp 0.0.0.0:50001, https 0.0.0.0:8080. Ctrl-C ends.")
  }

  @Test("the demo repeats the address of its dashboard instead of rates")
  func reminder() {
    let banner = Banner(settings: ServeSettings(), isDemo: true, configuration: SiteConfiguration())
    let time = Timestamp(seconds: 3_600)
    let web = HostPort(host: "127.0.0.1", port: 8_080)
    let line = "01:00:00  The dashboard is at http://127.0.0.1:8080/. Ctrl-C ends."
    #expect(banner.reminder(at: time, http: web) == line)
    #expect(banner.reminder(at: time, http: nil) == nil)
  }

  @Test("after a restart the banner counts what was made on the dashboard, and lacks no region")
  func registered() {
    var sources = SiteSources(declared: Site())
    sources.zones = ["a": Zone(identifier: "a", observers: []), "b": Zone(identifier: "b", observers: [])]
    let region = Region(identifier: "tags", constraint: .proximity(UUID128(high: 1, low: 2)))
    sources.made["default"] = MadeApplication(regions: ["tags": region])
    sources.observers[.name("gate")] = ObserverEntry(id: .name("gate"), name: "Gate")
    var settings = ServeSettings()
    settings.data = "data"
    let banner = Banner(
      settings: settings,
      isDemo: false,
      configuration: SiteConfiguration(),
      sources: sources
    )
    let lines = banner.lines([here], http: nil)
    #expect(lines.contains("  journal    data: 2 rooms, 1 region and 1 name made on the dashboard"))
    #expect(!lines.contains { $0.contains("no region to enter") })
  }

  @Test("the status line gives rates, and losses only where there are any")
  func status() {
    let tally = EventTally()
    var now = IngestSnapshot()
    now.time = Timestamp(seconds: 3_600)
    now.datagrams = 600
    let line = StatusService.line(now, since: IngestSnapshot(), period: .seconds(60), tally: tally)
    #expect(line == "01:00:00  0 of 0 observers up, 0 devices heard, 10 datagrams/s")
    now.kernelDrops = 3
    tally.lose(2)
    tally.wrote(1)
    let loss = StatusService.line(now, since: IngestSnapshot(), period: .seconds(60), tally: tally)
    #expect(loss.hasSuffix("1 event written, 3 dropped by the kernel, 2 events lost"))
  }

  @Test("the status line says what the journal refuses and has lost")
  func trouble() {
    var committed = CommitPublisherStatistics()
    #expect(StatusService.trouble(committed).isEmpty)
    committed.isFailing = true
    committed.waiting = 7
    committed.lost = 2
    #expect(StatusService.trouble(committed) == ", journal refuses, 7 events wait, 2 events dropped")
  }
}
