import PharosCaptures
import PharosIngest
import PharosModel
import PharosPipeline
import PharosPresence
import PharosRooms
import PharosWire
import Testing

@Suite("Inputs of a server beside UDP", .serialized, .timeLimit(.minutes(20)))
struct ServerLooksTests {
  private let source = Endpoint(IPAddress(v4: 0x0A00_0001), port: 40_000)

  @Test("a datagram that came over HTTP counts like any other, in its place, recorded", arguments: [1, 2])
  func receives(loops: Int) async throws {
    let harness = try await ServerHarness.start(isRecording: true) { $0.loops = loops }
    for observer in UInt64(1)...4 {
      let receipts = try await harness.server.receive(
        [Samples.raddec(observer: observer, minor: 3)],
        from: source,
        under: .open
      )
      #expect(receipts == [.accepted(format: .raddec, reports: 1)])
    }
    #expect(
      try await harness.server.receive([[1, 2, 3]], from: source, under: .open) == [.refused(.unrecognised)]
    )
    #expect(try await harness.server.receive([[]], from: source, under: .open) == [.refused(.empty)])
    let huge = [UInt8](repeating: 0, count: IngestServer.largestMessage + 1)
    #expect(try await harness.server.receive([huge], from: source, under: .open) == [.refused(.truncated)])
    await harness.output.wait { events in events.count { $0.kind == .regionEnter } == 5 }
    let snapshot = await harness.server.snapshot()
    #expect(snapshot.datagrams == 7)
    #expect(snapshot.refusedSources.map(\.source) == [source.address])
    #expect(snapshot.heard.observers.map(\.source) == Array(repeating: source, count: 4))
    await harness.server.shutdown()
    #expect(try harness.replayed(shards: 2) == harness.output.all)
    await #expect(throws: IngestError.stopped) {
      try await harness.server.receive([[1]], from: source, under: .open)
    }
  }

  @Test("tracks come in order and by the page, from all loops together")
  func tracks() async throws {
    let harness = try await ServerHarness.start { $0.loops = 3 }
    for observer in UInt64(1)...9 {
      for minor in UInt16(1)...3 {
        _ = try await harness.server.receive(
          [Samples.raddec(observer: observer, minor: minor)],
          from: source,
          under: .open
        )
      }
    }
    // Shards take what was received when they run next.
    var all: [TrackInsight] = []
    while all.count < 27 { all = try await harness.server.tracks(TrackQuery(limit: 1_000)) }
    #expect(all.count == 27)
    #expect(all.map(\.key) == all.map(\.key).sorted())
    var paged: [TrackQuery.Key] = []
    while true {
      let page = try await harness.server.tracks(TrackQuery(after: paged.last, limit: 5))
      if page.isEmpty { break }
      paged += page.map(\.key)
    }
    #expect(paged == all.map(\.key))
    #expect(try await harness.server.standings().count { $0.state == .inside } == 9)
    var hearers: [Int] = []
    while hearers != [9, 9, 9] {
      hearers = try await harness.server.beaconStandings().map(\.observers.count)
    }
    await harness.server.shutdown()
  }

  @Test("an edited site changes what is different in it and nothing else", arguments: [1, 2])
  func adopts(loops: Int) async throws {
    let harness = try await ServerHarness.start { $0.loops = loops }
    let server = harness.server
    let own = Region(identifier: "own", constraint: .proximity(Samples.uuid, major: 9))
    try await server.apply(.startMonitoring(application: "app", own))
    _ = try await server.receive([Samples.raddec(observer: 1, minor: 1)], from: source, under: .open)
    await harness.output.wait { events in events.count { $0.kind == .regionEnter } == 2 }
    var edited = Samples.site
    edited.applications[0].regions[1] = Region(
      identifier: "tag",
      constraint: .proximity(Samples.uuid, major: 1, minor: 1),
      subject: .beacon(observers: nil),
      presence: PresencePolicy(enterSamples: 1)
    )
    try await server.adopt(edited)
    // Another advert: the region has another question now, so it starts again; the other one goes on.
    _ = try await server.receive([Samples.raddec(observer: 1, minor: 1)], from: source, under: .open)
    await harness.output.wait { events in events.count { $0.kind == .regionEnter } == 3 }
    let names = server.site.applications.first?.regions.map(\.identifier)
    #expect(names.map(Set.init) == ["any", "tag", "own"])
    // Too many regions together with those of the application: refused whole.
    var crowded = edited
    crowded.applications[0].regions += (0..<18).map {
      Region(identifier: "more-\($0)", constraint: .proximity(Samples.uuid, major: UInt16($0)))
    }
    await #expect(throws: RegionRefusal.self) { try await server.adopt(crowded) }
    #expect(server.site.applications.first?.regions.count == 3)
    await server.shutdown()
    let enters = harness.output.all.filter { $0.kind == .regionEnter }
    #expect(enters.map(\.region).sorted() == ["any", "tag", "tag"])
  }
}
