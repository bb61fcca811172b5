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

    init(refuses: Bool = false) { self.refuses = refuses }

    func apply(_ change: RegionChange) async throws {
      if refuses { throw Refusal() }
      changes.withLock { $0.append(change) }
    }
  }

  private let condition = BeaconConstraint.proximity(UUID128(high: 1, low: 2))

  private func state(_ state: RegionState, region: String = "lobby", second: Int64) -> Event {
    Event(
      stream: "test",
      kind: .regionState,
      time: Timestamp(seconds: second),
      decidedAt: Timestamp(seconds: second),
      stage: 1,
      subject: .observer(.name("handset")),
      application: "default",
      region: region,
      counter: UInt64(second),
      detail: .region(RegionTransition(from: .unknown, to: state, evidence: Evidence(rule: .samples)))
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
}
