import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Floods of inputs")
struct FloodTests {
  @Test(
    "few tracks and observers are kept when many are heard, and no exit is false for it",
    arguments: 0..<4
  )
  func bounds(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let region = Timeline.region(samples: 1, silence: .seconds(5_000))
    var timeline = Timeline(
      Timeline.site([region]),
      limits: MonitoringLimits(observers: 8, tracksPerObserver: 32)
    )
    for step in 0..<2_000 {
      timeline.receive(
        UInt16.random(in: 0...3, using: &generator),
        UInt16.random(in: 0...UInt16.max, using: &generator),
        at: Double(step) / 10,
        from: .eui48(UInt64.random(in: 0..<20, using: &generator))
      )
    }
    let counters = timeline.engine.counters
    #expect(counters.observers <= 8)
    #expect(counters.tracks <= 8 * 32)
    #expect(counters.observerEvictions > 0)
    #expect(counters.observers > 0 && counters.tracks >= counters.observers)
    #expect(!timeline.story().contains { $0.hasPrefix("regionExit") })
  }

  @Test("any bytes and any times leave the engine standing", arguments: 0..<4)
  func flood(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed) &+ 77)
    var timeline = Timeline(StateWorld(seed: seed, count: 0).site)
    for step in 0..<3_000 {
      let payload = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      let age = Int64.random(in: .min ... .max, using: &generator)
      let timing: [ReportTiming] = [
        .received, .age(TimeSpan(nanoseconds: age)), .sent(Timestamp(nanoseconds: age)),
      ]
      timeline.advert(
        payload + Timeline.iBeacon(1, 1),
        at: Double(step) + Double.random(in: -5...5, using: &generator),
        timing: timing.randomElement(using: &generator) ?? .received
      )
    }
    timeline.advance(to: 1e9)
    #expect(timeline.engine.counters.reports == 3_000)
    #expect(timeline.engine.counters.backwards > 0)
  }
}
