import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Tracks, a page at a time")
struct TrackQueryTests {
  private static func timeline() -> Timeline {
    var timeline = Timeline(Timeline.site([Timeline.region("all", silence: .seconds(300))]))
    var random = SeededGenerator(seed: 9)
    for number in 0..<900 {
      let observer = ObserverID.eui48(UInt64.random(in: 1...7, using: &random))
      let (major, minor) = (
        UInt16.random(in: 1...9, using: &random), UInt16.random(in: 1...9, using: &random)
      )
      timeline.receive(major, minor, at: Double(number) / 10, from: observer)
    }
    return timeline
  }

  @Test("pages of any size join up to all tracks, in order and once", arguments: [1, 3, 10, 100, 1_000])
  func pages(limit: Int) {
    let timeline = TrackQueryTests.timeline()
    let all = timeline.engine.tracks(TrackQuery(limit: 1_000))
    #expect(all.count == timeline.engine.observers().map(\.tracks).reduce(0, +))
    #expect(all.map(\.key) == all.map(\.key).sorted())
    var joined: [TrackInsight] = []
    var after: TrackQuery.Key?
    while true {
      let page = timeline.engine.tracks(TrackQuery(after: after, limit: limit))
      #expect(page.count <= limit)
      guard let last = page.last else { break }
      joined += page
      after = last.key
    }
    #expect(joined == all)
    for insight in all {
      #expect(timeline.engine.insight(observer: insight.observer, beacon: insight.beacon) == insight)
    }
  }

  @Test("by observer, by beacon, and by both")
  func filters() throws {
    let timeline = TrackQueryTests.timeline()
    let all = timeline.engine.tracks(TrackQuery(limit: 1_000))
    let one = try #require(all.randomElement())
    let ofObserver = timeline.engine.tracks(TrackQuery(observer: one.observer, limit: 1_000))
    #expect(ofObserver == all.filter { $0.observer == one.observer })
    let ofBeacon = timeline.engine.tracks(TrackQuery(beacon: one.beacon, limit: 1_000))
    #expect(ofBeacon == all.filter { $0.beacon == one.beacon })
    #expect(timeline.engine.tracks(TrackQuery(observer: one.observer, beacon: one.beacon)) == [one])
    let rest = timeline.engine.tracks(TrackQuery(observer: one.observer, after: one.key, limit: 1_000))
    #expect(rest == all.filter { $0.observer == one.observer && $0.beacon > one.beacon })
    #expect(timeline.engine.tracks(TrackQuery(observer: .name("unknown"))).isEmpty)
  }
}
