import PharosModel
import PharosPipeline
import Testing

@Suite("Steps of the wall clock")
struct ClockStepTests {
  private func run(steps: [(second: Double, by: Double)]) throws -> [Event] {
    let presence = PresencePolicy(enterSamples: 1, silence: .fixed(.seconds(5)))
    let region = Region(identifier: "hall", constraint: .proximity(Traffic.uuid), presence: presence)
    let site = Site(applications: [Application(identifier: "default", regions: [region])])
    var pipeline = try Pipeline(site: site)
    var events: [Event] = []
    var steps = steps[...]
    for second in 0..<60 {
      let now = Traffic.start + .seconds(Double(second))
      while let step = steps.first, step.second <= Double(second) {
        events += pipeline.stepClock(by: .seconds(step.by), at: Traffic.start + .seconds(step.second))
        steps.removeFirst()
      }
      var batch = ReportBatch()
      // A beacon for ten seconds of each twenty; another one always, which proves that the observer lives.
      if second % 20 < 10 {
        Traffic.append(.report(.name("a"), now, .received, .advert(minor: 1, level: -60)), to: &batch)
      }
      Traffic.append(.report(.name("a"), now, .received, .heartbeat), to: &batch)
      events += pipeline.ingest(batch)
    }
    return events + pipeline.finish()
  }

  @Test("move the published times and nothing else", arguments: [3_600.0, -3_600.0])
  func relabel(step: Double) throws {
    let plain = try run(steps: [])
    let stepped = try run(steps: [(second: 25.5, by: step)])
    let instant = Traffic.start + .seconds(25.5)
    let committed = stepped.filter { $0.kind != .clockStepped }
    #expect(committed.map(\.id) == plain.map(\.id))
    #expect(stepped.count == plain.count + 1)
    for (before, after) in zip(plain, committed) {
      let shift = before.decidedAt > instant ? TimeSpan.seconds(step) : .zero
      #expect(after.time == before.time + shift)
      #expect(after.decidedAt == before.decidedAt + shift)
      guard case .region(let old) = before.detail, case .region(let new) = after.detail else { continue }
      #expect(new.enteredAt == old.enteredAt.map { $0 + shift })
      #expect(new.evidence.lastHeard == old.evidence.lastHeard.map { $0 + shift })
    }
    #expect(plain.contains { $0.kind == .regionExit && $0.decidedAt > instant })
  }

  @Test("add up")
  func several() throws {
    let plain = try run(steps: [])
    let stepped = try run(steps: [(5.5, 100), (25.5, -30), (45.5, 7)]).filter { $0.kind != .clockStepped }
    #expect(plain.last.map { $0.time + .seconds(77) } == stepped.last?.time)
    #expect(plain.map(\.id) == stepped.map(\.id))
  }
}
