import Logging
import PharosConsoleSupport
import PharosModel
import PharosSite
import PharosTerminal
import PharosTestSupport
import PharosTools
import Testing

@Suite("Init")
struct InitRunnerTests {
  private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  @Test("it writes a site file that checks, and never over one that is there")
  func writesOnce() async throws {
    let folder = try TemporaryFolder()
    let first = KeptConsole()
    let runner = InitRunner(folder: folder.path(""))
    #expect(await runner.run(on: first.console, logger: quiet) == .success)
    #expect(first.output.text.contains("pharos check"))
    let bytes = try folder.bytes("site.yaml")
    let configuration = try SiteFile.parse(bytes: bytes, path: "site.yaml")
    #expect(configuration.warnings.isEmpty)
    #expect(configuration.site.applications.first?.regions.count == 3)
    let second = KeptConsole()
    #expect(await runner.run(on: second.console, logger: quiet) == .failure)
    #expect(second.errors.text.contains("exists already"))
    #expect(try folder.bytes("site.yaml") == bytes)
  }

  @Test("a folder that is missing is made; one that cannot be is named before anything is listened for")
  func missingFolder() async throws {
    let folder = try TemporaryFolder()
    let runner = InitRunner(folder: folder.path("venues/hall"))
    #expect(await runner.run(on: KeptConsole().console, logger: quiet) == .success)
    #expect(try !folder.bytes("venues/hall/site.yaml").isEmpty)
    let kept = KeptConsole()
    let within = folder.path("venues/hall/site.yaml/hall")
    let refused = InitRunner(folder: within, listening: .minutes(10))
    #expect(await refused.run(on: kept.console, logger: quiet) == .failure)
    #expect(kept.errors.text.contains(within))
  }
}
