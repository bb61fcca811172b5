import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("An edited site changes only what was edited")
struct AdoptionTests {
  private static func story(_ timeline: Timeline) -> [String] {
    timeline.story([.regionEnter, .regionExit, .regionUnmonitored])
  }

  @Test("the same site is no change: not a byte of the state, and not one event", arguments: 0..<2)
  func same(seed: Int) {
    let world = StateWorld(seed: 80 + seed, count: 500)
    var whole = StateRun(world)
    whole.play()
    var edited = StateRun(world)
    edited.play { run, number in
      guard number % 50 == 10 else { return }
      let time = Timeline.at(world.inputs[number - 1].time)
      run.engines[0].advance(to: time, into: &run.output)
      let before = run.parts
      for change in world.site.changes(to: world.site) + [.declare(world.site.settings)] {
        run.engines[0].apply(change, at: time, into: &run.output)
      }
      #expect(run.parts == before)
    }
    #expect(edited.committed.events == whole.committed.events)
    #expect(edited.committed.links == whole.committed.links)
  }

  @Test("one region goes, one changes its policy, one comes, and the fourth does not notice")
  func regions() {
    func region(_ name: String, _ silence: Double = 5) -> Region {
      Timeline.region(name, silence: .seconds(silence))
    }
    var site = Timeline.site([region("stays"), region("goes"), region("changes")])
    var timeline = Timeline(site)
    for second in 1...10 { timeline.receive(at: Double(second)) }
    site.applications[0].regions = [region("stays"), region("changes", 9), region("comes")]
    timeline.adopt(site, at: 10.5)
    for second in 11...20 { timeline.receive(at: Double(second)) }
    timeline.advance(to: 60)
    #expect(
      AdoptionTests.story(timeline).sorted() == [
        "regionEnter changes 1.0", "regionEnter changes 11.0", "regionEnter comes 10.5",
        "regionEnter goes 1.0",
        "regionEnter stays 1.0", "regionExit changes 29.0", "regionExit comes 25.0", "regionExit stays 25.0",
      ]
    )
    #expect(timeline.states(of: "stays").count == 2)
  }

  @Test("another offset moves what was smoothed, so that the edit causes no entry or exit")
  func offsets() throws {
    let region = Timeline.region("door", silence: .seconds(60), enter: -70, exit: -76)
    var site = Timeline.site([region])
    var timeline = Timeline(site)
    for second in 1...30 { timeline.receive(at: Double(second), rssi: -68) }
    let before = try #require(
      timeline.engine.insight(observer: Timeline.handset, beacon: Timeline.beacon())?.level
    )
    site.observers[0].rssiOffset = 12
    timeline.adopt(site, at: 30.5)
    let after = try #require(
      timeline.engine.insight(observer: Timeline.handset, beacon: Timeline.beacon())?.level
    )
    #expect(abs(after - before - 12) < 0.01)
    // What it hears now counts twelve decibels more: the same place.
    for second in 31...60 { timeline.receive(at: Double(second), rssi: -80) }
    timeline.advance(to: 61)
    #expect(AdoptionTests.story(timeline) == ["regionEnter door 1.0"])
    let level = try #require(
      timeline.engine.insight(observer: Timeline.handset, beacon: Timeline.beacon())?.level
    )
    #expect(abs(level + 68) < 0.5)
  }

  @Test("lag, liveness, directory and zones take effect at once")
  func others() throws {
    var site = Timeline.site([Timeline.region("door", silence: .seconds(60))])
    var timeline = Timeline(site)
    for step in 0..<40 { timeline.receive(at: Double(step) / 2) }
    #expect(timeline.engine.observers()[0].lag == .milliseconds(500))
    site.observers[0].lag = .seconds(3)
    site.observers[0].liveness = .traffic
    site.beacons = [
      BeaconEntry(constraint: .proximity(Timeline.uuid), measuredPower: -70, interval: .seconds(2))
    ]
    site.zones = [Zone(identifier: "lobby", observers: [Timeline.handset])]
    timeline.adopt(site, at: 20)
    #expect(timeline.engine.observers()[0].lag == .seconds(3))
    let insight = try #require(timeline.engine.insight(observer: Timeline.handset, beacon: Timeline.beacon()))
    #expect(insight.declaredInterval == .seconds(2))
    for step in 41..<60 { timeline.receive(at: Double(step) / 2) }
    timeline.advance(to: 500)
    let summaries = timeline.links.count { if case .second = $0 { true } else { false } }
    #expect(summaries > 5, "stage two hears of it now")
    #expect(timeline.story([.observerOffline]).count == 1, "silence is an outage now")
    #expect(AdoptionTests.story(timeline).last?.hasPrefix("regionUnmonitored door") == true)
  }

  @Test(
    "after a restart with an edited site: what is gone is gone, what is new begins, the rest goes on"
  )
  func restart() throws {
    func region(_ name: String, _ silence: Double = 5) -> Region {
      Timeline.region(name, silence: .seconds(silence))
    }
    var site = Timeline.site([region("stays"), region("goes"), region("changes")])
    var timeline = Timeline(site)
    for second in 1...10 { timeline.receive(at: Double(second)) }
    let kept = timeline.checkpoint(at: 10.5)
    site.applications[0].regions = [region("changes", 9), region("stays"), region("comes")]
    try timeline.restart(from: kept, at: 610.5, site: site)
    for second in 611...620 { timeline.receive(at: Double(second)) }
    timeline.advance(to: 700)
    let story = AdoptionTests.story(timeline)
    #expect(story.filter { $0.contains("stays") } == ["regionEnter stays 1.0", "regionExit stays 625.0"])
    #expect(story.filter { $0.contains("goes") } == ["regionEnter goes 1.0"])
    #expect(story.filter { $0.contains("changes") }.last == "regionExit changes 629.0")
    #expect(story.filter { $0.contains("comes") } == ["regionEnter comes 610.5", "regionExit comes 625.0"])
    #expect(Set(timeline.events.map(\.id)).count == timeline.events.count)
    #expect(timeline.engine.standings().map(\.region) == ["changes", "comes", "stays"])
  }
}
