import PharosModel
import Testing

@Suite("Filters of events")
struct EventFilterTests {
  private let exit = Event(
    stream: "s",
    kind: .regionExit,
    time: Timestamp(seconds: 100),
    decidedAt: Timestamp(seconds: 101),
    stage: 2,
    subject: .beacon(.address(DeviceAddress(bits: 5, kind: .random))),
    application: "gallery",
    region: "caf\u{E9}",
    counter: 1,
    detail: .region(
      RegionTransition(
        from: .inside,
        to: .outside,
        observer: .name("front"),
        evidence: Evidence(rule: .level)
      )
    )
  )

  @Test("a filter that names nothing lets everything through, one that names an empty set nothing")
  func ends() {
    #expect(EventFilter.all.matches(exit))
    #expect(EventFilter.all.isAll)
    #expect(!EventFilter(kinds: []).matches(exit))
    #expect(!EventFilter(applications: []).matches(exit))
    #expect(!EventFilter(regions: []).matches(exit))
    #expect(!EventFilter(subjects: []).matches(exit))
    #expect(!EventFilter(observers: []).matches(exit))
  }

  @Test("each member must be fulfilled")
  func members() {
    var filter = EventFilter(
      kinds: [.regionExit, .zoneExit],
      applications: ["gallery"],
      regions: ["caf\u{E9}", "b"],
      subjects: [exit.subject],
      observers: [.name("front")]
    )
    #expect(filter.matches(exit))
    filter.kinds = [.regionEnter]
    #expect(!filter.matches(exit))
    filter.kinds = nil
    filter.applications = [""]
    #expect(!filter.matches(exit))
    filter.applications = nil
    filter.subjects = [.none]
    #expect(!filter.matches(exit))
    filter.subjects = nil
    filter.observers = [.name("back")]
    #expect(!filter.matches(exit))
  }

  @Test("texts that only look alike are different regions, as they are to the journal")
  func spelling() {
    #expect(EventFilter(regions: ["caf\u{E9}"]).matches(exit))
    #expect(!EventFilter(regions: ["cafe\u{301}"]).matches(exit))
  }

  @Test(
    "since is part of the time wanted, until is not",
    arguments: [(99, 100, false), (100, 101, true), (100, 100, false), (101, 200, false), (0, 101, true)]
  )
  func times(since: Int, until: Int, isWanted: Bool) {
    let filter = EventFilter(since: Timestamp(seconds: Int64(since)), until: Timestamp(seconds: Int64(until)))
    #expect(filter.matches(exit) == isWanted)
  }

  @Test("an observer is found as subject, as the one that decided, that heard, and that reported a battery")
  func observers() {
    let observer = ObserverID.name("front")
    let beacon = SubjectID.beacon(.address(DeviceAddress(bits: 5, kind: .random)))
    let hearing = ZoneTransition.Hearing(observer: observer, level: -60)
    let zone = ZoneTransition(from: nil, to: "a", margin: 1, dwell: nil, reason: .margin, hearings: [hearing])
    let found: [(SubjectID, EventDetail)] = [
      (.observer(observer), .observer(ObserverTransition())), (beacon, exit.detail), (beacon, .zone(zone)),
      (beacon, .battery(millivolts: 3_000, observer: observer)),
    ]
    for (subject, detail) in found {
      let event = Event(
        stream: "s",
        kind: .zoneEnter,
        time: Timestamp(seconds: 1),
        decidedAt: Timestamp(seconds: 1),
        stage: 1,
        subject: subject,
        counter: 1,
        detail: detail
      )
      #expect(EventFilter(observers: [observer]).matches(event))
      #expect(!EventFilter(observers: [.name("back")]).matches(event))
    }
  }
}
