import Foundation
import OpenCombine
import Pharos
import PharosTestSupport
import Testing

/// Ten programs as a developer who knows Core Location writes them from memory, on the main actor as in `main.swift`.
///
/// Each is given the server and a function that has the world happen: a beacon of a museum that a gateway hears, or a phone
/// that rests and says where it is.
@MainActor
@Suite("First programs", .timeLimit(.minutes(20)))
struct FirstProgramTests {
  private static let gateway = SubjectID.observer(.eui64(0x001B_C509_4081_0000))
  private static let phone = SubjectID.observer(.name("phone"))
  private static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  private static let once = PresencePolicy(enterSamples: 1)
  private static let here = RegionMonitor.CircularGeographicCondition(
    center: Geofence.Position(latitude: 48.1, longitude: 11.5),
    radius: 50
  )

  /// A site with a region of the museum's beacons, which it ranges.
  private static var site: Site {
    let region = Region(identifier: "museum", constraint: .proximity(uuid), presence: once)
    let ranging = RangingRequest(constraint: .proximity(uuid))
    return Site(applications: [
      Application(identifier: "default", regions: [region], ranging: [ranging])
    ])
  }

  /// Runs a program beside its server.
  private func run(
    _ site: Site = site,
    _ program:
      @MainActor (_ server: PharosServer, _ hear: @MainActor () async throws -> Void) async throws -> Void
  ) async throws {
    let server = PharosServer(site: site, listening: ["127.0.0.1:0"])
    let running = Task { try await server.run() }
    _ = try await server.addresses()
    try await program(server) {
      try await server.receive(try #require(Hex.bytes(EmbeddingTests.raddec)))
      for second in (0...40).reversed() {
        let fix = #"{"latitude":48.1,"longitude":11.5,"accuracy":3,"source":"gnss"}"#
        try await server.receive(Array(#"{"observer":"phone","age":\#(second * 1_000),"fix":\#(fix)}"#.utf8))
      }
    }
    running.cancel()
    try await running.value
  }

  @Test("a list of visitors that a sink fills")
  func list() async throws {
    try await run { server, hear in
      let list = Visitors()
      let subscription = server.events
        .filter { $0.kind == .regionEnter }
        .map { $0.subject }
        .sink { subject in Task { @MainActor in list.add(subject) } }
      try await hear()
      for await _ in list.changes { break }
      #expect(list.visitors == [Self.gateway])
      subscription.cancel()
    }
  }

  /// What belongs to the main actor, as a view model does.
  @MainActor
  private final class Visitors {
    private(set) var visitors: [SubjectID] = []
    let (changes, change) = AsyncStream<Void>.makeStream()

    func add(_ subject: SubjectID) {
      visitors.append(subject)
      change.yield()
    }
  }

  @Test("didEnterRegion as a delegate has it")
  func delegate() async throws {
    try await run { server, hear in
      let calls = server.regionEvents.values
      try await hear()
      for await call in calls {
        guard case .didEnterRegion(let region, let subject) = call else { continue }
        #expect(region == "museum" && subject == Self.gateway)
        break
      }
    }
  }

  @Test("ranged beacons with major, minor and accuracy")
  func ranging() async throws {
    try await run { server, hear in
      let rangings = server.ranging(.proximity(Self.uuid)).values
      try await hear()
      for await ranging in rangings {
        guard let beacon = ranging.beacons.first else { continue }
        #expect(beacon.uuid == Self.uuid && beacon.major == 100 && beacon.minor == 0)
        #expect(beacon.accuracy > 0 || beacon.proximity == .unknown)
        break
      }
    }
  }

  @Test("CLMonitor with a beacon condition, and its record afterwards")
  func beaconCondition() async throws {
    try await run(Site()) { server, hear in
      let monitor = server.monitor()
      let events = monitor.events
      let condition = RegionMonitor.BeaconIdentityCondition(uuid: Self.uuid, major: 100)
      try await monitor.add(condition, identifier: "museum", assuming: .unsatisfied, presence: Self.once)
      try await hear()
      for await event in events {
        #expect(event.state == .satisfied && event.identifier == "museum" && event.subject == Self.gateway)
        break
      }
      #expect(monitor.record(for: "museum")?.condition == condition.condition)
      try await monitor.remove("museum")
      #expect(monitor.identifiers.isEmpty)
    }
  }

  @Test("CLMonitor with a circle, about a phone that says where it is")
  func circle() async throws {
    try await run(Site()) { server, hear in
      let monitor = server.monitor()
      let events = monitor.events
      try await monitor.add(Self.here, identifier: "square")
      try await hear()
      for await event in events where event.state == .satisfied {
        #expect(event.subject == Self.phone && event.identifier == "square" && event.diagnostics.isEmpty)
        break
      }
    }
  }

  @Test("live updates with the location, until the phone is stationary")
  func liveUpdates() async throws {
    try await run(Site()) { server, hear in
      let updates = server.liveUpdates(for: Self.phone).values
      try await hear()
      for await update in updates {
        if let fix = update.location {
          #expect(fix.detail.latitude == 48.1 && fix.detail.horizontalAccuracy == 3)
        }
        if update.stationary { break }
      }
    }
  }

  @Test("the significant-change service begins with where the phone is")
  func significantChanges() async throws {
    try await run(Site()) { server, hear in
      let changes = server.significantLocationChanges(for: Self.phone).values
      try await hear()
      for await change in changes {
        #expect(change.location?.detail.longitude == 11.5 && !change.locationUnavailable)
        break
      }
    }
  }

  @Test("locations with their dates, as Foundation has them")
  func dates() async throws {
    try await run(Site()) { server, hear in
      let fixes = server.fixes(for: Self.phone).values
      try await hear()
      for await fix in fixes {
        #expect(abs(fix.time.date.timeIntervalSinceNow) < 86_400)
        #expect(fix.detail.course == nil && fix.detail.altitude == nil)
        break
      }
    }
  }

  @Test("the reasons for which there is nothing, as a service session has them")
  func diagnostics() async throws {
    try await run(Site()) { server, _ in
      let monitor = server.monitor()
      #expect(try await monitor.diagnostics().map(\.reason) == [.conditionMissing])
      try await monitor.add(Self.here, identifier: "square")
      let reasons = try await monitor.diagnostics(for: Self.phone)
      #expect(reasons.map(\.reason) == [.noCoverage])
      #expect(reasons.allSatisfy { !$0.remedy.isEmpty })
    }
  }

  @Test("locations in batches, for a program that sleeps")
  func deferred() async throws {
    try await run(Site()) { server, hear in
      let batches = server.deferredEvents(of: [.fix], timeout: .minutes(60), maximumCount: 20).values
      try await hear()
      for await batch in batches {
        #expect(batch.count == 20 && batch.allSatisfy { $0.subject == Self.phone })
        #expect(batch.map(\.time) == batch.map(\.time).sorted())
        break
      }
    }
  }
}

extension PharosServer {
  /// Has a datagram arrive at the first address that the server listens at.
  func receive(_ datagram: [UInt8]) async throws {
    let address = try #require(try await addresses().first)
    #expect(try DatagramSender(to: address).send(datagram))
  }
}
