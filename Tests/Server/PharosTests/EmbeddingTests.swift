import OpenCombine
import Pharos
import PharosTestSupport
import Synchronization
import Testing

/// The programs of the README: what a Swift developer writes to subscribe.
@Suite("Embedding", .timeLimit(.minutes(20)))
struct EmbeddingTests {
  /// A museum that believes one advert and forgets after a second.
  private func museum() throws -> Site {
    let uuid = try #require(UUID128("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
    let presence = PresencePolicy(enterSamples: 1, silence: .fixed(.seconds(1)))
    let region = Region(identifier: "museum", constraint: .proximity(uuid), presence: presence)
    return Site(applications: [Application(identifier: "default", regions: [region])])
  }

  /// The composite of the raddec convention's own documentation: an iBeacon 100/0 heard by one receiver.
  static let raddec =
    "10004702aabbccddeeff013b0301001bc50940810000f0014aa2cab000f101264224ffeeddccbbaa0201061aff4c000215"
    + "e2c56db5dffb48d2b060d0f5a71096e000640000c57b"

  private func send(_ datagram: String, to server: PharosServer) async throws {
    try await server.receive(try #require(Hex.bytes(datagram)))
  }

  @Test("an OpenCombine subscriber and a for-await loop see the same visit")
  func sameEvents() async throws {
    let server = PharosServer(site: try museum(), listening: ["127.0.0.1:0"])
    let (kinds, continuation) = AsyncStream<EventKind>.makeStream()
    let visits = server.events(in: "museum").sink { event in continuation.yield(event.kind) }
    let sequence = server.events(in: "museum").sequence
    let running = Task { try await server.run() }
    try await send(Self.raddec, to: server)
    var published: [EventKind] = []
    for await kind in kinds {
      published.append(kind)
      if kind == .regionEnter { break }
    }
    var awaited: [EventKind] = []
    for await event in sequence {
      awaited.append(event.kind)
      #expect(event.subject == .observer(.eui64(0x001B_C509_4081_0000)))
      if event.kind == .regionEnter { break }
    }
    #expect(published == awaited)
    #expect(published == [.regionState, .regionEnter])
    visits.cancel()
    running.cancel()
    try await running.value
  }

  /// What a developer writes from memory; with OpenCombine's own operators it compiles and ends at the first event.
  @MainActor
  private final class Visitors {
    private(set) var subjects: [SubjectID] = []
    private var cancellables = Set<AnyCancellable>()
    let (arrivals, continuation) = AsyncStream<SubjectID>.makeStream()

    init(of server: PharosServer) {
      server.events.filter { $0.kind == .regionEnter }
        .map { $0.subject }
        .sink { subject in
          Task { @MainActor in
            self.subjects.append(subject)
            self.continuation.yield(subject)
          }
        }
        .store(in: &cancellables)
    }
  }

  @Test("a first program on the main actor works")
  @MainActor
  func firstProgram() async throws {
    let server = PharosServer(site: try museum(), listening: ["127.0.0.1:0"])
    let visitors = Visitors(of: server)
    let first = server.events.first { $0.kind == .regionEnter }.map(\.subject).values
    let running = Task { try await server.run() }
    try await send(Self.raddec, to: server)
    for await subject in first { #expect(subject == .observer(.eui64(0x001B_C509_4081_0000))) }
    for await _ in visitors.arrivals { break }
    #expect(visitors.subjects == [.observer(.eui64(0x001B_C509_4081_0000))])
    running.cancel()
    try await running.value
  }

  @Test("the 21st region is refused with the limit, and a known one may be replaced")
  func limit() async throws {
    let server = PharosServer(site: try museum(), listening: ["127.0.0.1:0"])
    let monitor = server.monitor()
    let running = Task { try await server.run() }
    let condition = BeaconConstraint.proximity(UUID128(high: 1, low: 2))
    for number in 1..<20 { try await monitor.add(condition, identifier: "room \(number)") }
    let refusals = server.events(of: [.regionLimitExceeded]).sequence
    do {
      try await monitor.add(condition, identifier: "room 20")
      Issue.record("the 21st region was accepted")
    } catch {
      let message = "\(error)"
      #expect(message.contains("20") && message.contains("default"), "\(message)")
    }
    try await monitor.add(.proximity(UUID128(high: 3, low: 4)), identifier: "room 7")
    for await event in refusals {
      #expect(RegionEvent(event) == .monitoringDidFail(region: "room 20", limit: 20))
      break
    }
    running.cancel()
    try await running.value
  }

  @Test("a named monitor keeps its conditions and records for the next run")
  func namedMonitor() async throws {
    let folder = try TemporaryFolder()
    let uuid = try #require(UUID128("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
    let gateway = SubjectID.observer(.eui64(0x001B_C509_4081_0000))
    for run in 1...2 {
      let server = PharosServer(site: Site(), listening: ["127.0.0.1:0"])
      let monitor = server.monitor("the museum/1", in: folder.path("monitors"))
      #expect(monitor.identifiers == (run == 1 ? [] : ["museum", "visitor"]))
      #expect(monitor.record(for: "museum")?.lastEvent?.state == (run == 1 ? nil : .satisfied))
      let events = monitor.events
      let running = Task { try await server.run() }
      if run == 1 {
        let once = PresencePolicy(enterSamples: 1)
        try await monitor.add(.proximity(uuid), identifier: "museum", presence: once)
      }
      let tag = RegionMonitor.BeaconIdentityCondition(uuid: uuid, major: 100, minor: 0)
      try await monitor.add(
        tag,
        identifier: "visitor",
        subject: .beacon(observers: nil),
        presence: PresencePolicy(enterSamples: 1)
      )
      #expect(server.regions(of: "default").map(\.identifier) == ["museum", "visitor"])
      try await send(Self.raddec, to: server)
      for await event in events where event.state == .satisfied {
        #expect(event.identifier == "visitor" || run == 1, "the record of the first run says so already")
        if event.identifier == "visitor" {
          #expect(event.subject == .beacon(.proximity(uuid, major: 100, minor: 0)))
          break
        }
      }
      #expect(monitor.subjects(of: "museum") == [gateway])
      running.cancel()
      try await running.value
    }
  }

  @Test("without a venue an area can be decided for handsets outdoors alone")
  func unsupported() async throws {
    let server = PharosServer(site: try museum(), listening: ["127.0.0.1:0"])
    let circle = RegionMonitor.CircularGeographicCondition(
      center: Geofence.Position(latitude: 52.52, longitude: 13.29),
      radius: 25
    )
    let monitor = server.monitor()
    let events = monitor.events
    let running = Task { try await server.run() }
    try await monitor.add(circle, identifier: "handsets")
    try await monitor.add(circle, identifier: "tags", subject: .beacon(observers: nil))
    for await event in events {
      #expect(event.identifier == "tags" && event.conditionUnsupported)
      break
    }
    running.cancel()
    try await running.value
  }

  @Test("live updates of a running server end at a rest, and say when there is no fix")
  func liveUpdates() async throws {
    let server = PharosServer(site: Site(), listening: ["127.0.0.1:0"])
    let phone = SubjectID.observer(.name("phone"))
    let configuration = LocationUpdate.LiveConfiguration(silence: .milliseconds(100))
    let updates = server.liveUpdates(for: phone, configuration: configuration).values
    let resting = server.liveUpdates(for: phone).first { $0.stationary }.values
    let running = Task { try await server.run() }
    _ = try await server.addresses()
    let fixes = (0...40).map { second in
      Event(
        stream: "test",
        kind: .fix,
        time: Timestamp(seconds: second),
        decidedAt: Timestamp(seconds: second),
        stage: 2,
        subject: phone,
        counter: UInt64(second),
        detail: .fix(
          FixDetail(venue: "hall", building: "main", horizontalAccuracy: 2, sources: .wifi, age: .zero)
        )
      )
    }
    server.hub.publish(fixes)
    for await update in resting {
      #expect(update.location?.time == Timestamp(seconds: 20))
      #expect(update.stationarySince == Timestamp(seconds: 0))
    }
    var located = 0
    for await update in updates {
      if update.location != nil { located += 1 }
      // The timer runs from the subscription on: before the first fix it may have expired already.
      if update.locationUnavailable, located > 0 { break }
    }
    #expect(located == 21)
    running.cancel()
    try await running.value
  }

  @Test("a server that cannot listen throws the reason to all that wait for it")
  func cannotListen() async throws {
    let first = PharosServer(site: try museum(), listening: ["127.0.0.1:0"])
    let running = Task { try await first.run() }
    let accepted = try #require(try await first.addresses().first)
    let listener = try #require(ListenAddress("\(accepted)"))
    let second = PharosServer(site: try museum(), listening: [listener])
    await #expect(throws: IngestError.self) { try await second.run() }
    await #expect(throws: IngestError.self) { _ = try await second.addresses() }
    running.cancel()
    try await running.value
  }
}
