import PharosModel
import PharosPresence
import Testing

@Suite("Time: lag, lateness, deadlines")
struct TimeTests {
  @Test("an exit carries its deadline and is decided one lag later")
  func deadline() throws {
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    timeline.receive(at: 0)
    timeline.advance(to: 3.499_999_999)
    #expect(timeline.story() == ["regionEnter door 0.0"])
    timeline.advance(to: 3.5)
    let exit = try #require(timeline.events.last)
    #expect(exit.kind == .regionExit)
    #expect(exit.time == Timeline.at(3))
    #expect(exit.decidedAt == Timeline.at(3.5))
  }

  @Test("a report at the instant at which a timer is due comes first")
  func tie() {
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    timeline.receive(at: 0)
    timeline.receive(at: 3.5)
    timeline.advance(to: 100)
    #expect(timeline.story() == ["regionEnter door 0.0", "regionExit door 6.5"])
  }

  @Test("event time is the receive time less the age")
  func age() throws {
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    timeline.receive(at: 10, timing: .age(.milliseconds(400)))
    let enter = try #require(timeline.events.first { $0.kind == .regionEnter })
    #expect(enter.time == Timeline.at(9.6))
    #expect(enter.decidedAt == Timeline.at(10))
  }

  @Test("a late report never enters, but extends last-heard and cancels an exit that is pending")
  func late() {
    var site = Timeline.site([Timeline.region()])
    site.observers[0].lag = .seconds(1)
    var timeline = Timeline(site)
    timeline.receive(at: 10, timing: .age(.seconds(2)))
    #expect(timeline.story().isEmpty)
    timeline.receive(at: 11)
    // The deadline is 14, the exit waits for the lag until 15.
    timeline.receive(at: 14.5, timing: .age(.seconds(2)))
    timeline.advance(to: 15.2)
    #expect(timeline.story() == ["regionEnter door 11.0"])
    timeline.advance(to: 30)
    #expect(timeline.story() == ["regionEnter door 11.0", "regionExit door 15.5"])
    timeline.receive(at: 31, timing: .age(.seconds(5)))
    #expect(timeline.story().count == 2)
    #expect(timeline.engine.counters.late == 3)
  }

  @Test("a lag is learned from the ages, between half a second and ten, and grows at once")
  func lag() throws {
    var timeline = Timeline(Timeline.site([]))
    timeline.receive(at: 0)
    #expect(timeline.engine.observers().first?.lag == .milliseconds(500))
    timeline.receive(at: 1, timing: .age(.milliseconds(2_100)))
    let grown = try #require(timeline.engine.observers().first).lag
    #expect(grown >= .milliseconds(2_100) && grown <= .milliseconds(2_500))
    timeline.receive(at: 2, timing: .age(.seconds(60)))
    #expect(timeline.engine.observers().first?.lag == .seconds(10))
    for step in 0..<8_000 { timeline.receive(at: 3 + Double(step) / 100) }
    #expect(
      timeline.engine.observers().first?.lag == .milliseconds(500),
      "two in eight thousand are forgotten"
    )
  }

  @Test("a sender's own clock is corrected, drifting or set either way", arguments: [0.0, 3_600, -3_600])
  func senderClock(step: Double) throws {
    var site = Timeline.site([Timeline.region(silence: .seconds(20))])
    site.observers[0].lag = .seconds(1)
    var timeline = Timeline(site)
    for second in 0..<300 {
      let seconds = Double(second)
      let skew = -1e6 + seconds * 50e-6 + (second >= 100 ? step : 0)
      timeline.receive(at: seconds, timing: .sent(Timeline.at(seconds + skew)))
    }
    timeline.advance(to: 299)
    #expect(timeline.story() == ["regionEnter door 0.0"])
    let offset = try #require(timeline.engine.observers().first?.clockOffset)
    #expect(abs(offset.seconds - (1e6 - step)) < 0.1)
    #expect(timeline.engine.counters.late < 10)
  }

  @Test("a receive time that goes back is moved to the latest and counted")
  func backwards() {
    var timeline = Timeline(Timeline.site([Timeline.region()]))
    timeline.receive(at: 10)
    timeline.receive(at: 5)
    timeline.advance(to: 100)
    #expect(timeline.engine.counters.backwards == 1)
    #expect(timeline.story() == ["regionEnter door 10.0", "regionExit door 13.0"])
  }
}
