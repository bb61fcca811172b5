import Logging
import PharosConsoleSupport
import PharosJournal
import PharosModel
import PharosSite
import PharosTerminal
import PharosTestSupport
import PharosTools
import Testing

@Suite("Exporting the site")
struct SiteExportRunnerTests {
  private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  @Test(
    "of a server that is stopped: its site file, and what was registered over HTTP, with its paths as they are written"
  )
  func stopped() async throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data")
    let journal = try Journal.open(.folder(data), stream: "pharos")
    for (kind, key, document) in [
      ("http.observer", "ac:23:3f:a0:00:62", #"{"name":"the attic"}"#),
      ("http.zone", "attic", #"{"name":"The attic","observers":["ac:23:3f:a0:00:62"],"adjacent":["lobby"]}"#),
      ("http.application", "shop", #"{"purpose":"To greet you."}"#),
      ("http.region", "shop/till", #"{"mac":"c0:de:00:00:00:01","subject":"beacon"}"#),
    ] {
      try journal.put(Array(document.utf8), kind: kind, key: key)
    }
    journal.leave()
    let site = try folder.write(
      """
      venues: [venues/shop/]
      observers: [{ id: "ac:23:3f:a0:00:61", name: desk }]
      zones: [{ id: lobby, observers: ["ac:23:3f:a0:00:61"] }]
      """,
      to: "site.yaml"
    )
    let kept = KeptConsole()
    let runner = SiteExportRunner(site: site, .folder(data, stream: "pharos"))
    #expect(await runner.run(on: kept.console, logger: quiet) == .success)
    let read = try SiteFile.parse(kept.output.text, path: "site.yaml")
    #expect(read.venues == ["venues/shop/"])
    #expect(read.site.observers.map(\.name) == ["desk", "the attic"])
    #expect(read.site.zones.map(\.identifier) == ["lobby", "attic"])
    #expect(read.access.purposes == ["shop": "To greet you."])
    #expect(read.site.applications.first?.regions.map(\.identifier) == ["till"])
  }
}
