import Pharos
import PharosTestSupport
import Synchronization
import Testing

@Suite("A program that is started again", .timeLimit(.minutes(20)))
struct RestartTests {
  private static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

  private static func site(_ regions: [String]) -> Site {
    let presence = PresencePolicy(enterSamples: 1, silence: .fixed(.minutes(10)))
    return Site(applications: [
      Application(
        identifier: "default",
        regions: regions.map {
          Region(identifier: $0, constraint: .proximity(uuid), presence: presence)
        }
      )
    ])
  }

  /// What an iOS app could report, as JSON.
  private static let advert: String = {
    let data = "0201061aff4c000215" + "e2c56db5dffb48d2b060d0f5a71096e0" + "00640000c5"
    return #"{"observer":"phone","address":"c0:00:00:00:00:01","rssi":-60,"data":"\#(data)"}"#
  }()

  /// Runs a server, sends it an advert, and waits for an enter of a region.
  private static func run(
    _ server: PharosServer,
    enters region: String,
    _ body: (PharosServer) async throws -> Void = { _ in }
  ) async throws -> [Event] {
    let seen = server.events.sequence
    let running = Task { try await server.run() }
    try await body(server)
    let source = try #require(try await server.addresses().first)
    guard
      case .accepted(format: _, reports: 1, skipped: 0) = try await server.receive(
        [Array(advert.utf8)],
        from: source,
        under: .open
      ).first
    else {
      Issue.record("the advert was refused")
      return []
    }
    var events: [Event] = []
    for await event in seen {
      events.append(event)
      if event.kind == .regionEnter, event.region == region { break }
    }
    running.cancel()
    try await running.value
    return events
  }

  @Test("goes on from the last checkpoint of the first run, with a site that was edited while it runs")
  func resumes() async throws {
    let kept = Mutex<[UInt8]>([])
    var configuration = IngestConfiguration(listeners: ["127.0.0.1:0"])
    configuration.checkpoint = { pending in kept.withLock { $0 = pending.encoded() } }
    let first = PharosServer(site: Self.site(["museum"]), configuration: configuration)
    let before = try await Self.run(first, enters: "museum")
    let checkpoint = try Checkpoint(decoding: kept.withLock { $0 })
    let second = PharosServer(
      site: Self.site(["museum"]),
      configuration: configuration,
      restoring: Restoration(checkpoint: checkpoint)
    )
    let edited = Self.site(["museum", "shop"])
    let after = try await Self.run(second, enters: "shop") { server in
      let standings = try await server.standings()
      #expect(standings.map(\.region) == ["museum"])
      #expect(standings.map(\.state) == [.inside])
      try await server.adopt(edited)
      #expect(server.site == edited)
    }
    #expect(after.filter { $0.kind == .regionEnter }.map(\.region) == ["shop"])
    let ids = (before + after).map(\.id)
    #expect(Set(ids).count == ids.count)
  }
}
