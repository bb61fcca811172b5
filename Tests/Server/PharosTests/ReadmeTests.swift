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
    // end
    arrivals.cancel()
  }

  @MainActor
  private func guide() async throws {
    // begin
    let visitor = SubjectID.observer(.name("visitor-phone"))
    let guide = PharosServer(site: Site(), listening: ["127.0.0.1:50001"])
    let monitor = guide.monitor("guide", in: "monitors")  // keeps its conditions and records from run to run

    @Sendable func watch(_ monitor: RegionMonitor) async {
      for await event in monitor.events {
        switch event.state {
        case .satisfied: print(event.date, event.subject, "is at the", event.identifier)
        case .unsatisfied: print(event.date, event.subject, "has left the", event.identifier)
        case .unmonitored: print("No gateway watches the", event.identifier)
        case .unknown where event.conditionUnsupported: print("The", event.identifier, "needs a venue")
        case .unknown: print(event.subject, "is not located")
        }
      }
    }

    @Sendable func follow(_ subject: SubjectID, on server: PharosServer) async {
      var settings = LocationUpdate.LiveConfiguration.pedestrian
      settings.distanceFilter = 5
      for await update in server.liveUpdates(for: subject, configuration: settings).values {
        if update.locationUnavailable { print(subject, "has no fix") }
        if let since = update.stationarySince { print(subject, "has rested since", since) }
        guard let fix = update.location, let latitude = fix.detail.latitude,
          let longitude = fix.detail.longitude
        else { continue }
        let place = fix.detail.room ?? "\(latitude), \(longitude)"
        print(fix.time, subject, "is at", place, "within", fix.detail.horizontalAccuracy, "m")
      }
    }

    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await guide.run() }
      tasks.addTask { await watch(monitor) }
      tasks.addTask { await follow(visitor, on: guide) }
      // swift-format-ignore
      let entrance = RegionMonitor.BeaconIdentityCondition(
        uuid: UUID128("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")!,
        major: 100
      )
      try await monitor.add(entrance, identifier: "entrance", subject: .beacon(observers: nil))
      let fountain = RegionMonitor.CircularGeographicCondition(
        center: Geofence.Position(latitude: 52.5201, longitude: 13.4050),
        radius: 20
      )
      try await monitor.add(fountain, identifier: "fountain", assuming: .unsatisfied)
      for reason in try await monitor.diagnostics(for: visitor) {
        print(reason.message, reason.remedy)
      }
      try await tasks.waitForAll()
    }
    // end
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
    let here = own.components(separatedBy: "// begin\n").dropFirst()
      .map { $0.components(separatedBy: "// end\n")[0] }
    #expect(blocks.map(statements) == here.map(statements))
    let guide = try #require(blocks.last)
    #expect(guide.contains("liveUpdates") && guide.contains("monitor.add"))
    #expect(guide.split(separator: "\n").count <= 60)
  }

  /// The code without layout, comments and imports.
  private func statements(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { $0 != "import Pharos" && !$0.hasPrefix("//") }
      .joined().filter { !$0.isWhitespace }
  }
}
