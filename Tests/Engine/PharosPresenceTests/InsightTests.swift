import PharosModel
import PharosPresence
import Testing

@Suite("Insight into a track")
struct InsightTests {
  private static func heard(_ region: Region, seconds: ClosedRange<Int> = 0...20) -> Timeline {
    var timeline = Timeline(Timeline.site([region]))
    for second in seconds { timeline.receive(at: Double(second), rssi: -70) }
    return timeline
  }

  @Test("a beacon that is not heard has none, nor has a beacon of no region")
  func outsiders() {
    var timeline = Self.heard(Timeline.region(minor: 7))
    timeline.receive(1, 8, at: 21)
    let (observer, beacon) = (Timeline.handset, Timeline.beacon())
    #expect(timeline.engine.insight(observer: observer, beacon: beacon) != nil)
    #expect(timeline.engine.insight(observer: .name("unknown"), beacon: beacon) == nil)
    #expect(timeline.engine.insight(observer: observer, beacon: Timeline.beacon(1, 8)) == nil)
  }

  @Test("it tells what was learned and when silence would end the visit")
  func learned() throws {
    let timeline = Self.heard(Timeline.region(silence: .seconds(12)))
    let insight = try #require(
      timeline.engine.insight(observer: Timeline.handset, beacon: Timeline.beacon())
    )
    #expect(insight.observer == Timeline.handset)
    #expect(insight.beacon == Timeline.beacon())
    #expect(insight.samples == 21)
    #expect(insight.lastHeard == Timeline.at(20))
    #expect(abs(try #require(insight.interval).seconds - 1) < 0.02)
    #expect(abs(try #require(insight.level) + 70) < 0.01)
    #expect(try #require(insight.levelDeviation) > 0)
    #expect(try #require(insight.receptionShare) > 0.99)
    #expect(insight.silenceIsEvidence)
    let region = try #require(insight.regions.first)
    #expect(insight.regions.count == 1)
    #expect(region.region == "door")
    #expect(region.application == "gallery")
    #expect(!region.isAboutBeacons)
    #expect(region.state == .inside)
    #expect(region.since == Timeline.at(0))
    #expect(region.allowedGap == .seconds(12))
    #expect(region.silenceDeadline == Timeline.at(32))
    #expect(region.levelDeadline == nil)
    #expect(!region.isWaitingForProof)
  }

  @Test("the deadline that it tells is the time of the exit")
  func deadline() throws {
    var timeline = Self.heard(Timeline.region(silence: .seconds(12)))
    let insight = timeline.engine.insight(observer: Timeline.handset, beacon: Timeline.beacon())
    let deadline = try #require(insight?.regions.first?.silenceDeadline)
    timeline.advance(to: 100)
    #expect(timeline.events.last { $0.kind == .regionExit }?.time == deadline)
    let after = timeline.engine.insight(observer: Timeline.handset, beacon: Timeline.beacon())
    #expect(after?.regions.first?.state == .outside)
    #expect(after?.regions.first?.silenceDeadline == nil)
  }

  @Test("a level below the exit level has a deadline of its own, which is the time of the exit")
  func level() throws {
    var timeline = Self.heard(Timeline.region(silence: .seconds(60), enter: -75, exit: -80))
    var committed: Timestamp?
    for step in 0..<40 {
      let second = 21 + Double(step) / 2
      timeline.receive(at: second, rssi: -99)
      let insight = timeline.engine.insight(observer: Timeline.handset, beacon: Timeline.beacon())
      #expect(insight?.regions.first?.enterLevel == -75)
      #expect(insight?.regions.first?.exitLevel == -80)
      committed = committed ?? insight?.regions.first?.levelDeadline
    }
    let exit = try #require(timeline.events.first { $0.kind == .regionExit })
    #expect(committed == exit.time)
  }

  @Test("looking changes nothing")
  func pure() {
    var (seen, unseen) = (
      Timeline(Timeline.site([Timeline.region()])), Timeline(Timeline.site([Timeline.region()]))
    )
    for second in [0.0, 1, 2, 3, 9, 10, 11, 30] {
      seen.receive(at: second)
      unseen.receive(at: second)
      let first = seen.engine.insight(observer: Timeline.handset, beacon: Timeline.beacon())
      #expect(first != nil)
      #expect(seen.engine.insight(observer: Timeline.handset, beacon: Timeline.beacon()) == first)
    }
    #expect(seen.events == unseen.events)
    #expect(!seen.events.isEmpty)
  }
}
