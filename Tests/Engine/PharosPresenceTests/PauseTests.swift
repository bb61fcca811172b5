import PharosModel
import PharosPresence
import Testing

/// The machine stands still, and what was sent meanwhile is read all at once.
@Suite("A machine that stands still")
struct PauseTests {
  private static let site = Timeline.site([Timeline.region("door", major: 1, silence: .seconds(4))])

  private static func story(isPublished: Bool, isBack: Bool) -> [String] {
    var timeline = Timeline(site)
    for second in 1...20 {
      timeline.receive(2, 9, at: Double(second))
      timeline.receive(at: Double(second) + 0.1)
    }
    timeline.advance(to: 20.2)
    if isPublished { timeline.pause(from: 20.3, to: 60) }
    // What waited in the socket: the other beacon first, then the beacon.
    timeline.receive(2, 9, at: 60)
    if isBack { timeline.receive(at: 60.001) }
    timeline.advance(to: 80)
    return timeline.story()
  }

  @Test("silence begins again, so that no beacon exits before its adverts are read")
  func stays() {
    #expect(
      Self.story(isPublished: true, isBack: true) == ["regionEnter door 1.1", "regionExit door 64.001"]
    )
    #expect(Self.story(isPublished: true, isBack: false) == ["regionEnter door 1.1", "regionExit door 64.0"])
    // Without a report of it the silence is the beacon's.
    #expect(Self.story(isPublished: false, isBack: true).dropFirst().first == "regionExit door 24.1")
  }

  @Test(
    "adverts that are read at one instant count apart by their ages, in any order",
    arguments: [([300, 200], true), ([200, 300], true), ([200, 205], false), ([205, 200], false)]
  )
  func readTogether(ages: [Int64], enters: Bool) {
    var timeline = Timeline(Timeline.site([Timeline.region(samples: 2, silence: .seconds(4))]))
    for age in ages { timeline.receive(at: 60, timing: .age(.milliseconds(age))) }
    timeline.advance(to: 63)
    #expect(timeline.story() == (enters ? ["regionEnter door 59.8"] : []))
  }

  @Test("an advert that is much earlier than the latest one does not make it enter")
  func readTooLate() {
    var site = Timeline.site([Timeline.region(samples: 2, silence: .seconds(4))])
    site.observers[0].lag = .seconds(60)
    var timeline = Timeline(site)
    for age in [1.0, 50] { timeline.receive(at: 60, timing: .age(.seconds(age))) }
    timeline.advance(to: 130)
    #expect(timeline.story() == [])
  }

  @Test("deadlines before a pause are decided before it")
  func before() {
    var timeline = Timeline(Self.site)
    for second in 1...20 { timeline.receive(at: Double(second)) }
    timeline.advance(to: 23)
    timeline.pause(from: 25, to: 60)
    timeline.advance(to: 100)
    #expect(timeline.story() == ["regionEnter door 1.0", "regionExit door 24.0"])
  }

  @Test("reports that another thread received a moment before its end are taken as they are")
  func overtaking() {
    var timeline = Timeline(Self.site)
    for second in 1...20 { timeline.receive(at: Double(second)) }
    timeline.advance(to: 20.2)
    timeline.pause(from: 20.3, to: 60)
    timeline.receive(at: 59.999)
    timeline.advance(to: 63.9)
    #expect(timeline.story() == ["regionEnter door 1.0"])
    timeline.advance(to: 70)
    #expect(timeline.story() == ["regionEnter door 1.0", "regionExit door 64.0"])
  }
}
