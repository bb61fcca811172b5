import Logging
import PharosModel
import PharosService
import PharosSite
import PharosTerminal
import PharosTestSupport
import Synchronization
import Testing

@Suite("Reading the site file again")
struct SiteReloaderTests {
  /// What the reloader does with a file: whom it adopted and what it logged.
  private final class Record: Sendable {
    let adopted = Mutex<[SiteConfiguration]>([])
    let log = MemorySink()

    var logger: Logger {
      Logger(label: "test") { [log] label in LineLogHandler(label: label, format: .json, sink: log) }
    }
  }

  private static let first = """
    stream: hall
    applications:
      - id: shop
        regions:
          - { id: door, mac: "c0:00:00:00:00:01" }
          - { id: till, mac: "c0:00:00:00:00:02" }
    observers: [{ id: desk }]
    """

  private func reloading(
    _ text: String?,
    refusal: String? = nil
  ) async throws -> (isAccepted: Bool, adopted: [SiteConfiguration], log: String) {
    let folder = try TemporaryFolder()
    let path = try folder.write(text ?? SiteReloaderTests.first, to: "site.yaml")
    let record = Record()
    let first = try SiteFile.parse(SiteReloaderTests.first, path: "site.yaml")
    let reloader = SiteReloader(
      path: text == nil ? nil : path,
      current: { first },
      logger: record.logger
    ) { configuration in
      if let refusal { throw CommandFailure(refusal) }
      record.adopted.withLock { $0.append(configuration) }
    }
    let isAccepted = await reloader.reload()
    return (isAccepted, record.adopted.withLock { $0 }, record.log.text)
  }

  @Test("a right file is adopted, and the log says what changed")
  func right() async throws {
    let outcome = try await reloading(
      """
      stream: hall
      applications:
        - id: shop
          regions:
            - { id: door, mac: "c0:00:00:00:00:09" }
            - { id: yard, mac: "c0:00:00:00:00:03" }
      observers: [{ id: desk, name: front desk }]
      zones: [{ id: hall, observers: [desk] }]
      """
    )
    #expect(outcome.isAccepted)
    #expect(outcome.adopted.first?.site.applications.first?.regions.map(\.identifier) == ["door", "yard"])
    for phrase in [
      "regions added: shop/yard", "regions changed: shop/door", "regions removed: shop/till",
      "observers changed: desk", "zones added: hall",
    ] {
      #expect(outcome.log.contains(phrase), "\(phrase)")
    }
    #expect(!outcome.log.contains("applications"))
  }

  @Test("a wrong file is refused whole, each mistake in the log with its line")
  func wrong() async throws {
    let outcome = try await reloading("regions:\n  - { id: a }\nfoo: 1\n")
    #expect(!outcome.isAccepted)
    #expect(outcome.adopted.isEmpty)
    #expect(outcome.log.contains("site.yaml:2: region \\\"a\\\": no uuid"))
    #expect(outcome.log.contains("site.yaml:3: site: unknown key"))
    #expect(outcome.log.contains("The previous one stays in effect"))
  }

  @Test("a site that the engine refuses changes nothing either")
  func refused() async throws {
    let outcome = try await reloading("stream: hall\n", refusal: "21 regions are one too many")
    #expect(!outcome.isAccepted)
    #expect(outcome.log.contains("21 regions are one too many"))
  }

  @Test("changes that take effect at the next start only are logged, and the stream's name stays")
  func restart() async throws {
    let outcome = try await reloading(
      "stream: other\nlisten: { udp: \"0.0.0.0:1\", http: \"127.0.0.1:1\" }\ndata: here\n"
    )
    #expect(outcome.isAccepted)
    #expect(outcome.adopted.first?.site.stream == "hall")
    for key in ["stream", "listen.udp", "listen.http", "data"] {
      #expect(outcome.log.contains("site.yaml: \(key) takes effect at the next start only"), "\(key)")
    }
    // A listener that is added asks for a restart once, as such, and not for another who must sign.
    for text in ["journal.retention", "who must sign"] { #expect(!outcome.log.contains(text), "\(text)") }
  }

  @Test("origins of pages take effect at once")
  func origins() async throws {
    let outcome = try await reloading(
      "stream: hall\nlisten: { allowedOrigins: [\"https://floor.example.org\"] }\n"
    )
    #expect(outcome.adopted.first?.allowedOrigins == ["https://floor.example.org"])
    #expect(outcome.log.contains("listen.allowedOrigins changed"))
    #expect(!outcome.log.contains("listen.allowedOrigins takes effect at the next start only"))
  }

  @Test("a file that is as it was changes nothing, and a server without one says so")
  func nothing() async throws {
    #expect(try await reloading(SiteReloaderTests.first).log.contains("nothing has changed"))
    let without = try await reloading(nil)
    #expect(!without.isAccepted)
    #expect(without.log.contains("was started without one"))
  }
}
