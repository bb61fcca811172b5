import PharosCaptures
import PharosIngest
import PharosModel
import PharosSite
import PharosTestSupport
import Testing

@Suite("A recording of every kind of input", .serialized, .timeLimit(.minutes(20)))
struct EveryInputTests {
  /// A session of random inputs through the front door of a server.
  private struct Session {
    let clock: ManualClock
    let harness: ServerHarness
    /// The announced events, with the times that they were given.
    var announced: [Event] = []
    private var random: SeededGenerator
    private var sent: UInt64 = 0
    private let source = Endpoint(IPAddress(v4: 0x7F00_0001), port: 9)

    init(loops: Int, seed: UInt64, behind former: Session? = nil) async throws {
      random = SeededGenerator(seed: seed)
      let clock = former?.clock ?? ManualClock()
      self.clock = clock
      harness = try await ServerHarness.start(
        site: former?.harness.server.site ?? Samples.site,
        isRecording: true,
        restoring: try former?.harness.continuation()
      ) {
        $0.loops = loops
        $0.clock = clock.ingest(minimumPause: .seconds(20))
        $0.continuesExactly = true
      }
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func advert() -> [UInt8] {
      Samples.raddec(
        observer: UInt64(number(0...7)),
        minor: UInt16(number(0...5)),
        rssi: Int8(number(-90 ... -40))
      )
    }

    /// Gives one input of each kind, in random order, and lets a random time pass behind each.
    mutating func round(_ round: Int) async throws {
      for kind in Array(0..<8).shuffled(using: &random) {
        switch kind {
        case 0: try await datagrams()
        case 1: try await messages()
        case 2: try await changes(round)
        case 3: announce(round)
        case 4: clock.setWall(by: .seconds(Double(number(-3_600...3_600))))
        case 5: clock.pass(.seconds(Double(number(20...90))))
        case 6: try await harness.server.checkpoint()
        default:
          let traces = try #require(SubjectTraces("\(ObserverID.eui48(UInt64(number(0...7))))"))
          try await harness.server.apply(.forget(traces))
        }
        await harness.pass(.milliseconds(Int64(number(0...2_500))), on: clock)
      }
    }

    private mutating func datagrams() async throws {
      let sender = try harness.sender()
      for _ in 0..<12 {
        try sender.sendWaiting(advert())
        clock.pass(.milliseconds(Int64(number(0...120))))
      }
      sent += 12
      _ = await harness.snapshot(datagrams: sent)
    }

    /// Adverts as HTTP and MQTT bring them, one of which no packet of a recording can hold.
    private mutating func messages() async throws {
      let long = Array(repeating: UInt8(ascii: "["), count: 70_000)
      _ = try await harness.server.receive([advert(), long, advert()], from: source, under: .open)
      sent += 3
    }

    private mutating func changes(_ round: Int) async throws {
      let constraint = BeaconConstraint.proximity(Samples.uuid, major: 1, minor: UInt16(round))
      let region = Region(identifier: "extra", constraint: constraint)
      let phone = SubjectID.observer(.eui48(UInt64(number(0...7))))
      try await harness.server.apply(all: [
        .startMonitoring(application: "app", region),
        .requestState(application: "app", identifier: "any", subject: phone),
      ])
      // One more than it may hold: the refusal is an event, and is refused again.
      try? await harness.server.apply(.setRegionLimit(application: "app", 1))
      var edited = harness.server.site
      edited.zones = [Zone(identifier: "hall-\(round)", observers: [.eui48(1), .eui48(2)])]
      try await harness.server.adopt(edited)
    }

    private mutating func announce(_ round: Int) {
      let now = clock.ingest.wall()
      let subject = SubjectID.observer(.eui48(UInt64(number(0...7))))
      let change = AuthorisationTransition(from: .notDetermined, to: .always, purpose: "to find the way")
      let event = Event(
        stream: "test",
        kind: .authorisationChanged,
        time: now,
        decidedAt: now - .seconds(Double(number(0...60))),
        stage: 0,
        subject: subject,
        application: "app",
        counter: UInt64(round),
        detail: .authorisation(change)
      )
      announced.append(event)
      harness.server.announce([event]) { _ in Issue.record("the server was listening") }
    }
  }

  @Test(
    "gives the events that the server gave, byte for byte",
    arguments: [1, 2, 3],
    Seeds.drawn(0..<16 as Range<UInt64>, first: 2)
  )
  func sameEvents(loops: Int, seed: UInt64) async throws {
    var session = try await Session(loops: loops, seed: seed)
    for round in 0..<6 { try await session.round(round) }
    await session.harness.output.wait { events in
      events.count { $0.kind == .authorisationChanged } == session.announced.count
        && events.contains { $0.kind == .clockStepped }
    }
    session.clock.pass(.seconds(19))
    await session.harness.server.shutdown()
    let served = session.harness.output.all
    #expect(served.contains { $0.kind == .regionEnter })
    let lines = served.map { $0.cloudEvent(stream: "test") }
    for shards in [1, 3] {
      let replayed = try session.harness.replayed(shards: shards)
      #expect(parting(of: replayed.map { $0.cloudEvent(stream: "test") }, lines) == nil)
    }
    // Their times are the wall clock's, however often that was set.
    let published = served.filter { $0.kind == .authorisationChanged }
    #expect(published.map(\.id) == session.announced.map(\.id))
    #expect(published.map(\.time) == session.announced.map(\.time))
  }

  @Test(
    "gives the events of a server that never stopped, if each run continues the one before exactly",
    arguments: [[1, 1, 1], [2, 1, 3], [3, 2, 2]],
    Seeds.drawn(0..<8 as Range<UInt64>, first: 1)
  )
  func continued(loops: [Int], seed: UInt64) async throws {
    var runs: [Session] = []
    for (index, count) in loops.enumerated() {
      var session = try await Session(loops: count, seed: seed &+ UInt64(index) &* 7_919, behind: runs.last)
      for round in 0..<3 { try await session.round(index * 3 + round) }
      await session.harness.server.shutdown()
      runs.append(session)
      // Between two runs nothing is received, however long it takes: no silence begins and no visit is resumed.
      session.clock.pass(.milliseconds(Int64(index) * 700))
    }
    let served = runs.flatMap(\.harness.output.all)
    #expect(served.contains { $0.kind == .regionEnter } && served.contains { $0.kind == .regionExit })
    let lines = served.map { $0.cloudEvent(stream: "test") }
    for shards in [1, 3] {
      let replayed = try ServerHarness.replayed(runs.map(\.harness), shards: shards)
      #expect(parting(of: replayed.map { $0.cloudEvent(stream: "test") }, lines) == nil)
    }
  }

  @Test("an event that is announced to a server that has stopped goes where the caller says")
  func stopped() async throws {
    var session = try await Session(loops: 1, seed: 1)
    try await session.round(0)
    await session.harness.server.shutdown()
    let event = try #require(session.announced.first)
    await confirmation { confirm in
      session.harness.server.announce([event]) { events in
        #expect(events == [event])
        confirm()
      }
    }
  }

  private func parting(of left: [String], _ right: [String]) -> String? {
    for (index, pair) in zip(left, right).enumerated() where pair.0 != pair.1 {
      return "event \(index):\n\(pair.0)\n\(pair.1)"
    }
    return left.count == right.count ? nil : "\(left.count) events instead of \(right.count)"
  }
}
