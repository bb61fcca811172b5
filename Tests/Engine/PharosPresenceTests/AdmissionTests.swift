import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Where only listed observers count")
struct AdmissionTests {
  private static func site(_ liveness: ObserverEntry.Liveness = .assumed) -> Site {
    var site = Timeline.site([Timeline.region("door", silence: .seconds(30))], liveness: liveness)
    site.admission = .listed
    return site
  }

  private static let unlisted = ObserverID.name("unknown")

  @Test("an unlisted observer changes nothing, is published once, counted and shown; a listed one counts")
  func quarantine() throws {
    var timeline = Timeline(AdmissionTests.site())
    for second in 1...20 { timeline.receive(at: Double(second), from: AdmissionTests.unlisted) }
    timeline.advance(to: 21)
    #expect(timeline.events.map(\.kind) == [.observerQuarantined])
    #expect(timeline.events.first?.subject == .observer(AdmissionTests.unlisted))
    #expect(timeline.events.first?.time == Timeline.at(1))
    #expect(timeline.links.isEmpty)
    #expect(timeline.engine.observers().isEmpty)
    #expect(timeline.engine.counters.quarantined == 20)
    let shown = try #require(timeline.engine.quarantine().first)
    #expect(shown.reports == 20)
    #expect((shown.firstHeard, shown.lastHeard) == (Timeline.at(1), Timeline.at(20)))
    timeline.receive(at: 22)
    #expect(timeline.story() == ["regionEnter door 22.0"])
  }

  @Test("an accepted observer counts from then on, and is no longer shown")
  func acceptance() {
    var timeline = Timeline(AdmissionTests.site())
    timeline.receive(at: 1, from: AdmissionTests.unlisted)
    timeline.apply(.acceptObserver(AdmissionTests.unlisted), at: 2)
    timeline.receive(at: 3, from: AdmissionTests.unlisted)
    #expect(timeline.story() == ["regionEnter door 3.0"])
    #expect(timeline.engine.quarantine().isEmpty)
  }

  @Test("a flood of made-up names is bounded, in memory and in events")
  func flood() {
    var timeline = Timeline(AdmissionTests.site())
    for number in 0..<20_000 { timeline.receive(at: Double(number) / 1_000, from: .eui48(UInt64(number))) }
    #expect(timeline.engine.quarantine().count <= 1_024)
    #expect(timeline.engine.quarantine().count > 900)
    #expect(timeline.events.count == timeline.engine.quarantine().count)
    #expect(timeline.engine.counters.quarantined == 20_000)
    let before = timeline.events.count
    timeline.receive(at: 2_000, from: .eui48(50_000))
    #expect(timeline.events.count == before + 1, "the oldest was evicted")
    #expect(timeline.engine.quarantine().contains { $0.id == .eui48(50_000) })
  }

  @Test(
    "an observer that is no longer listed is removed: unmonitored, which is no exit; and where all count again, none is quarantined"
  )
  func edits() {
    var site = AdmissionTests.site()
    site.admission = .open
    var timeline = Timeline(site)
    for second in 1...5 {
      timeline.receive(at: Double(second))
      timeline.receive(at: Double(second) + 0.5, from: AdmissionTests.unlisted)
    }
    var output = StageOutput()
    site.admission = .listed
    timeline.engine.apply(.declare(site.settings), at: Timeline.at(6), into: &output)
    #expect(output.events.map(\.kind) == [.regionState, .regionUnmonitored])
    #expect(output.events.allSatisfy { $0.subject == .observer(AdmissionTests.unlisted) })
    #expect(timeline.engine.observers().map(\.id) == [Timeline.handset])
    timeline.receive(at: 7, from: AdmissionTests.unlisted)
    #expect(timeline.engine.quarantine().count == 1)
    site.admission = .open
    timeline.engine.apply(.declare(site.settings), at: Timeline.at(8), into: &output)
    #expect(timeline.engine.quarantine().isEmpty)
    timeline.receive(at: 9, from: AdmissionTests.unlisted)
    #expect(timeline.engine.observers().count == 2)
  }

  @Test("a dismissed observer no longer counts: unmonitored, which is no exit")
  func dismissal() {
    var timeline = Timeline(AdmissionTests.site())
    timeline.apply(.acceptObserver(AdmissionTests.unlisted), at: 1)
    for second in 2...5 { timeline.receive(at: Double(second), from: AdmissionTests.unlisted) }
    timeline.apply(.dismissObserver(AdmissionTests.unlisted), at: 6)
    #expect(timeline.story([.regionUnmonitored, .regionExit]).count == 1)
    timeline.receive(at: 7, from: AdmissionTests.unlisted)
    #expect(timeline.engine.quarantine().map(\.id) == [AdmissionTests.unlisted])
    // One that the site lists can be dismissed as well.
    timeline.receive(at: 8)
    timeline.apply(.dismissObserver(Timeline.handset), at: 9)
    timeline.receive(at: 10)
    #expect(timeline.engine.observers().isEmpty)
  }

  @Test("accepted and quarantined observers are known after a restart")
  func restart() throws {
    let site = AdmissionTests.site()
    var timeline = Timeline(site)
    timeline.receive(at: 1, from: AdmissionTests.unlisted)
    timeline.receive(at: 1, from: .eui48(5))
    timeline.apply(.acceptObserver(AdmissionTests.unlisted), at: 2)
    let shown = timeline.engine.quarantine()
    let kept = timeline.checkpoint(at: 3)
    try timeline.restart(from: kept, at: 100, site: site)
    #expect(timeline.engine.quarantine() == shown)
    timeline.receive(at: 101, from: AdmissionTests.unlisted)
    timeline.receive(at: 101, from: .eui48(5))
    #expect(timeline.story() == ["regionEnter door 101.0"])
    #expect(timeline.events.count { $0.kind == .observerQuarantined } == 2, "and is not published again")
  }
}
