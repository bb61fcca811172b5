import Foundation
import OpenCombine
import Pharos
import PharosTestSupport
import Testing

/// The programs of the README in Swift, which are compiled here as they stand there.
@Suite("The README's programs")
struct ReadmeTests {
  /// The programs, on the main actor as in `main.swift`; nothing calls them.
  @MainActor
  private func programs() async throws {
    // begin
    // swift-format-ignore
    let museum = UUID128("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")!
    let region = Region(
      identifier: "museum",
      constraint: .proximity(museum),
      subject: .beacon(observers: nil)
    )
    let site = Site(applications: [Application(identifier: "default", regions: [region])])
    let server = PharosServer(site: site, listening: ["127.0.0.1:50001"])
    let arrivals = server.events.filter { $0.kind == .regionEnter }
      .sink { event in print(event.time, event.subject, "entered", event.region) }
    try await server.run()
    async let running: Void = server.run()
    let monitor = server.monitor("museum", in: "monitors")
    let tour = RegionMonitor.BeaconIdentityCondition(uuid: museum, major: 100)
    try await monitor.add(tour, identifier: "tour", subject: .beacon(observers: nil))
    for await event in monitor.events where event.state == .satisfied {
      print(event.date, event.subject, "is at the", event.identifier)
    }
    try await running
    // end
    arrivals.cancel()
  }

  @Test("the programs of the README are those that are compiled here")
  func compiled() throws {
    let root = SharedData.repository
    let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let own = try String(
      contentsOf: root.appending(path: "Tests/Server/PharosTests/ReadmeTests.swift"),
      encoding: .utf8
    )
    let blocks = readme.components(separatedBy: "```swift\n").dropFirst()
      .map { $0.components(separatedBy: "```")[0] }
    #expect(blocks.count == 2)
    let here = own.components(separatedBy: "// begin\n")[1].components(separatedBy: "// end\n")[0]
    #expect(statements(blocks.joined()) == statements(here))
  }

  /// The code without layout, comments and imports.
  private func statements(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { $0 != "import Pharos" && !$0.hasPrefix("//") }
      .joined().filter { !$0.isWhitespace }
  }
}
