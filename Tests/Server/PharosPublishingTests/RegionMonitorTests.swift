import PharosModel
import PharosPublishing
import Synchronization
import Testing

@Suite("CLMonitor's words", .timeLimit(.minutes(20)))
struct RegionMonitorTests {
  private struct Refusal: Error {}

  private final class Control: RegionControl {
    let changes = Mutex<[RegionChange]>([])
    let refuses: Bool
    let known: [Region]

    init(refuses: Bool = false, known: [Region] = []) {
      self.refuses = refuses
      self.known = known
    }

    func regions(of application: String) -> [Region] { known }

    func canMonitor(_ region: Region) -> Bool { region.geofence == nil || region.subject == .observer }

    func apply(_ change: RegionChange) async throws {
      if refuses { throw Refusal() }
      changes.withLock { $0.append(change) }
    }
  }

  private let condition = BeaconConstraint.proximity(UUID128(high: 1, low: 2))

  private func state(
    _ state: RegionState,
    region: String = "lobby",
    second: Int64,
    handset: String = "handset",
    evidence: Evidence = Evidence(rule: .samples)
  ) -> Event {
    Event(
      stream: "test",
      kind: .regionState,
      time: Timestamp(seconds: second),
      decidedAt: Timestamp(seconds: second),
      stage: 1,
      subject: .observer(.name(handset)),
      application: "default",
      region: region,
      counter: UInt64(second),
      detail: .region(RegionTransition(from: .unknown, to: state, evidence: evidence))
    )
  }

  @Test("while an event is handled the record still shows the one before it")
  func recordLag() async throws {
    let hub = EventHub()
    let monitor = RegionMonitor(hub: hub, control: Control())
    try await monitor.add(condition, identifier: "lobby")
    let subject = SubjectID.observer(.name("handset"))
    let events = monitor.events
    hub.publish([state(.inside, second: 1)] + batch(1..<2, region: "lobby") + [state(.outside, second: 2)])
    hub.publish([state(.inside, region: "not ours", second: 3), state(.unmonitored, second: 4)])
    hub.finish()
    var seen: [MonitorState] = []
    var recorded: [MonitorState?] = []
    for await event in events {
      seen.append(event.state)
      recorded.append(monitor.record(for: "lobby", subject: subject)?.lastEvent?.state)
    }
    #expect(seen == [.satisfied, .unsatisfied, .unmonitored])
    #expect(recorded == [nil, .satisfied, .unsatisfied])
    #expect(monitor.record(for: "lobby", subject: subject)?.lastEvent?.state == .unmonitored)
    #expect(monitor.record(for: "not ours", subject: subject) == nil)
  }

  @Test("adding tells the server, with the state to start from")
  func add() async throws {
    let control = Control()
    let monitor = RegionMonitor(application: "gallery", hub: EventHub(), control: control)
    try await monitor.add(condition, identifier: "b", assuming: .unsatisfied)
    try await monitor.add(condition, identifier: "a")
    #expect(monitor.identifiers == ["a", "b"])
    try await monitor.remove("b")
    #expect(monitor.identifiers == ["a"])
    let region = Region(identifier: "b", constraint: condition)
    let changes = control.changes.withLock { $0 }
    #expect(changes.first == .startMonitoring(application: "gallery", region, assuming: .outside))
    #expect(changes.last == .stopMonitoring(application: "gallery", identifier: "b"))
  }

  @Test("a region that the server refuses is not added")
  func refused() async {
    let monitor = RegionMonitor(hub: EventHub(), control: Control(refuses: true))
    await #expect(throws: Refusal.self) { try await monitor.add(condition, identifier: "a") }
    #expect(monitor.identifiers.isEmpty)
  }

  private let circle = RegionMonitor.CircularGeographicCondition(
    center: Geofence.Position(latitude: 52.52, longitude: 13.29),
    radius: 25
  )

  private func located(_ accuracy: Double) -> Evidence {
    var evidence = Evidence(rule: .position)
    evidence.geofence = GeofenceBasis(
      probability: 0.95,
      edgeDistance: 3,
      accuracy: accuracy,
      dwell: .seconds(1),
      fixes: 2
    )
    return evidence
  }

  private func others(second: Int64, of subject: SubjectID = .observer(.name("handset"))) -> Event {
    Event(
      stream: "test",
      kind: .regionsOutside,
      time: Timestamp(seconds: second),
      decidedAt: Timestamp(seconds: second),
      stage: 2,
      subject: subject,
      application: "default",
      counter: UInt64(second),
      detail: .region(RegionTransition(from: .unknown, to: .outside, evidence: Evidence(rule: .elsewhere)))
    )
  }

  @Test("a subject that is outside of all other areas is an event for each condition without one")
  func outsideOfOthers() async throws {
    let hub = EventHub()
    let monitor = RegionMonitor(hub: hub, control: Control())
    try await monitor.add(circle, identifier: "court")
    try await monitor.add(circle, identifier: "hall")
    try await monitor.add(circle, identifier: "assumed", assuming: .unsatisfied)
    try await monitor.add(circle, identifier: "tags", subject: .beacon(observers: nil))
    try await monitor.add(condition, identifier: "lobby")
    let events = monitor.events
    let subject = SubjectID.observer(.name("handset"))
    hub.publish([
      state(.unknown, region: "hall", second: 1), state(.inside, region: "court", second: 2),
      others(second: 3), others(second: 4), state(.outside, region: "court", second: 5),
    ])
    hub.finish()
    var seen: [String] = []
    for await event in events {
      seen.append("\(event.identifier) \(event.state) \(event.date.nanoseconds / 1_000_000_000)")
      if event.identifier == "hall" {
        #expect(monitor.record(for: "hall", subject: subject)?.lastEvent == nil)
      }
    }
    #expect(seen == ["court satisfied 2", "hall unsatisfied 3", "court unsatisfied 5"])
    #expect(monitor.record(for: "hall", subject: subject)?.lastEvent?.state == .unsatisfied)
    #expect(monitor.subjects(of: "hall", in: .unsatisfied) == [subject])
  }

  @Test("a condition whose region is reset is stated again, as its record no longer holds")
  func reset() async throws {
    let hub = EventHub()
    let monitor = RegionMonitor(hub: hub, control: Control())
    try await monitor.add(circle, identifier: "court")
    let events = monitor.events
    let reset = Event(
      stream: "test",
      kind: .regionReset,
      time: Timestamp(seconds: 2),
      decidedAt: Timestamp(seconds: 2),
      stage: 0,
      subject: .none,
      application: "default",
      region: "court",
      counter: 2,
      detail: .regionReset(.replaced)
    )
    hub.publish([others(second: 1), reset, others(second: 3)])
    hub.finish()
    var seen: [Timestamp] = []
    for await event in events { seen.append(event.date) }
    #expect(seen == [Timestamp(seconds: 1), Timestamp(seconds: 3)])
  }

  @Test("circles, polygons and beacons become regions")
  func conditions() async throws {
    let control = Control()
    let monitor = RegionMonitor(hub: EventHub(), control: control)
    let corners = [(0.0, 0.0), (0.0, 0.001), (0.001, 0.0)].map {
      Geofence.Position(latitude: $0.0, longitude: $0.1)
    }
    let museum = RegionMonitor.BeaconIdentityCondition(uuid: UUID128(high: 1, low: 2), major: 3)
    try await monitor.add(circle, identifier: "circle")
    try await monitor.add(
      RegionMonitor.PolygonGeographicCondition(corners: corners, level: 1),
      identifier: "hall"
    )
    try await monitor.add(museum, identifier: "museum", subject: .beacon(observers: nil))
    let added = control.changes.withLock { $0 }
      .compactMap { change -> Region? in
        guard case .startMonitoring(application: _, let region, assuming: _) = change else { return nil }
        return region
      }
    #expect(
      added == [
        Region(
          identifier: "circle",
          geofence: Geofence(shape: .circle(center: circle.center, radius: Meters(25)))
        ),
        Region(identifier: "hall", geofence: Geofence(shape: .polygon(rings: [corners]), level: 1)),
        Region(
          identifier: "museum",
          constraint: .proximity(UUID128(high: 1, low: 2), major: 3),
          subject: .beacon(observers: nil)
        ),
      ]
    )
    #expect(monitor.record(for: "circle")?.condition == circle.condition)
    #expect(monitor.record(for: "circle")?.lastEvent == nil)
  }

  @Test("the subjects of a condition, and its last event about whatever subject")
  func subjects() async throws {
    let hub = EventHub()
    let monitor = RegionMonitor(hub: hub, control: Control())
    try await monitor.add(condition, identifier: "lobby")
    let events = monitor.events
    hub.publish([
      state(.inside, second: 1, handset: "b"), state(.inside, second: 2, handset: "a"),
      state(.outside, second: 3, handset: "b"),
    ])
    hub.finish()
    for await _ in events {}
    #expect(monitor.subjects(of: "lobby") == [.observer(.name("a")), .observer(.name("b"))])
    #expect(monitor.subjects(of: "lobby", in: .satisfied) == [.observer(.name("a"))])
    #expect(monitor.subjects(of: "hall").isEmpty)
    #expect(monitor.record(for: "lobby")?.lastEvent?.state == .unsatisfied)
    #expect(monitor.record(for: "hall") == nil)
  }

  @Test("an event that says the same as the record is left out")
  func repeated() async throws {
    let hub = EventHub()
    let monitor = RegionMonitor(hub: hub, control: Control())
    try await monitor.add(condition, identifier: "lobby")
    let events = monitor.events
    hub.publish([state(.inside, second: 1), state(.inside, second: 2), state(.outside, second: 3)])
    hub.finish()
    #expect(await collect(events).map(\.date) == [Timestamp(seconds: 1), Timestamp(seconds: 3)])
  }

  @Test("diagnostics of the position, of the scan and of the conditions")
  func diagnostics() async throws {
    let hub = EventHub()
    let monitor = RegionMonitor(hub: hub, control: Control())
    try await monitor.add(circle, identifier: "circle")
    let events = monitor.events
    try await monitor.add(circle, identifier: "tags", subject: .beacon(observers: nil))
    let refusal = Event(
      stream: "test",
      kind: .regionLimitExceeded,
      time: Timestamp(seconds: 4),
      decidedAt: Timestamp(seconds: 4),
      stage: 0,
      subject: .none,
      application: "default",
      region: "room 20",
      counter: 1,
      detail: .regionLimit(limit: 20, refused: "room 20")
    )
    hub.publish([
      state(.inside, region: "circle", second: 1, evidence: located(8)),
      state(.outside, region: "circle", second: 2, evidence: located(60)),
      state(.unmonitored, region: "circle", second: 3, evidence: Evidence(rule: .scanOff)), refusal,
    ])
    hub.finish()
    let seen = await collect(events)
    #expect(seen.map(\.identifier) == ["tags", "circle", "circle", "circle", "room 20"])
    #expect(
      seen.map(\.diagnostics) == [
        .conditionUnsupported, [], .accuracyLimited, .authorizationDeniedGlobally, .conditionLimitExceeded,
      ]
    )
    #expect(
      seen.map(\.state) == [.unmonitored, .satisfied, .unsatisfied, .unmonitored, .unmonitored]
    )
    #expect(seen[0].conditionUnsupported && seen[2].accuracyLimited && !seen[2].authorizationDenied)
    #expect(seen[3].authorizationDeniedGlobally && seen[4].conditionLimitExceeded)
    #expect(monitor.subjects(of: "tags").isEmpty)
  }

  @Test(
    "of a subject that an application may not learn about, a single event says so",
    arguments: [
      (AuthorisationState.denied, MonitorDiagnostics.authorizationDenied),
      (.restricted, .authorizationRestricted), (.notDetermined, .authorizationRequestInProgress),
    ]
  )
  func authorisation(state: AuthorisationState, expected: MonitorDiagnostics) async throws {
    let hub = EventHub()
    let options = RegionMonitor.Options(authorisation: { subject in
      subject == .observer(.name("handset")) ? state : .whenInUse
    })
    let monitor = RegionMonitor(hub: hub, control: Control(), options: options)
    try await monitor.add(condition, identifier: "lobby")
    let events = monitor.events
    hub.publish([
      self.state(.inside, second: 1), self.state(.outside, second: 2),
      self.state(.inside, second: 3, handset: "other"),
    ])
    hub.finish()
    let seen = await collect(events)
    #expect(seen.map(\.state) == [.unknown, .satisfied])
    #expect(seen.map(\.diagnostics) == [expected, []])
  }

  @Test("other regions of the application count on request")
  func otherRegions() async throws {
    let hub = EventHub()
    let region = Region(identifier: "declared", constraint: condition)
    let control = Control(known: [region])
    let options = RegionMonitor.Options(includesOtherRegions: true)
    let monitor = RegionMonitor(hub: hub, control: control, options: options)
    try await monitor.add(condition, identifier: "lobby")
    let events = monitor.events
    let own = RegionMonitor(hub: hub, control: control).events
    hub.publish([state(.inside, region: "declared", second: 1), state(.inside, second: 2)])
    hub.finish()
    #expect(await collect(events).map(\.identifier) == ["declared", "lobby"])
    #expect(await collect(own).isEmpty)
    #expect(monitor.identifiers == ["declared", "lobby"])
    #expect(monitor.record(for: "declared")?.lastEvent?.state == .satisfied)
  }

  private final class Store: MonitorStore {
    struct Failure: Error {}

    let bytes = Mutex<[UInt8]?>(nil)
    let isBroken: Bool

    init(_ bytes: [UInt8]? = nil, isBroken: Bool = false) {
      self.isBroken = isBroken
      self.bytes.withLock { $0 = bytes }
    }

    func load() throws -> [UInt8]? { bytes.withLock { $0 } }

    func store(_ bytes: [UInt8]) throws {
      if isBroken { throw Failure() }
      self.bytes.withLock { $0 = bytes }
    }
  }

  @Test("a monitor with a store resumes with its conditions and records")
  func persistence() async throws {
    let store = Store()
    let options = RegionMonitor.Options(store: store)
    do {
      let hub = EventHub()
      let monitor = RegionMonitor(hub: hub, control: Control(), options: options)
      try await monitor.add(circle, identifier: "circle", subject: .observer)
      try await monitor.add(condition, identifier: "lobby")
      try await monitor.add(condition, identifier: "removed")
      try await monitor.remove("removed")
      let events = monitor.events
      hub.publish([state(.inside, second: 1), state(.outside, second: 2, handset: "other")])
      hub.finish()
      #expect(await collect(events).count == 2)
    }
    let hub = EventHub()
    let control = Control()
    let monitor = RegionMonitor(hub: hub, control: control, options: options)
    #expect(monitor.identifiers == ["circle", "lobby"])
    #expect(monitor.subjects(of: "lobby", in: .satisfied) == [.observer(.name("handset"))])
    #expect(control.changes.withLock { $0.isEmpty })
    let events = monitor.events
    hub.publish([state(.inside, second: 3), state(.outside, second: 4)])
    hub.finish()
    let seen = await collect(events)
    #expect(seen.map(\.date) == [Timestamp(seconds: 4)], "the state of the previous run is no event again")
    #expect(seen.allSatisfy { !$0.persistenceUnavailable })
    let changes = control.changes.withLock { $0 }
    let circle = Region(
      identifier: "circle",
      geofence: Geofence(shape: .circle(center: self.circle.center, radius: Meters(25)))
    )
    #expect(
      changes == [
        .startMonitoring(application: "default", circle),
        .startMonitoring(application: "default", Region(identifier: "lobby", constraint: condition)),
      ]
    )
    #expect(monitor.record(for: "lobby")?.lastEvent?.date == Timestamp(seconds: 4))
  }

  @Test("a forgotten subject is gone from the records and from the store")
  func forgetting() async throws {
    let store = Store()
    let options = RegionMonitor.Options(store: store)
    let hub = EventHub()
    let monitor = RegionMonitor(hub: hub, control: Control(), options: options)
    try await monitor.add(condition, identifier: "lobby")
    let events = monitor.events
    hub.publish([state(.inside, second: 1), state(.inside, second: 2, handset: "other")])
    hub.finish()
    #expect(await collect(events).count == 2)
    monitor.forget(try #require(SubjectTraces("handset")))
    let next = RegionMonitor(hub: EventHub(), control: Control(), options: options)
    for monitor in [monitor, next] {
      #expect(monitor.subjects(of: "lobby") == [.observer(.name("other"))])
    }
  }

  @Test("an unreadable record of a monitor stays, and each event says so", arguments: [false, true])
  func brokenStore(isBroken: Bool) async throws {
    let store = isBroken ? Store(isBroken: true) : Store([9, 9, 9])
    let hub = EventHub()
    let monitor = RegionMonitor(hub: hub, control: Control(), options: RegionMonitor.Options(store: store))
    try await monitor.add(condition, identifier: "lobby")
    let events = monitor.events
    hub.publish([state(.inside, second: 1)])
    hub.finish()
    let seen = await collect(events)
    #expect(seen.map(\.persistenceUnavailable) == [true])
    #expect(seen.map(\.state) == [.satisfied])
    #expect(store.bytes.withLock { $0 } == (isBroken ? nil : [9, 9, 9]))
  }
}
