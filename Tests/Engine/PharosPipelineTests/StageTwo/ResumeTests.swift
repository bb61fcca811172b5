import PharosModel
import PharosPipeline
import Testing

/// A visit, a downtime, and the events that follow.
@Suite("Stage two after a restart")
struct ResumeTests {
  private static let tag = LinkScript.tag
  private static let pause = 600.0

  /// Takes links up to a time, writes a checkpoint, and goes on a pause later with the events published meanwhile.
  private static func resumed(
    _ links: [StageLink],
    until seconds: Double,
    site: Site = LinkScript.site(),
    reported: PublishedState = PublishedState()
  ) throws -> (stage: StageTwo, events: [Event]) {
    var stage = StageTwo(site: site)
    var events: [Event] = []
    for link in links.sorted(by: StageLink.isOrderedBefore) { stage.restore(link, into: &events) }
    stage.advance(to: LinkScript.time(seconds), into: &events)
    stage = try StateLawTests.restored(StateLawTests.bytes(stage), site)
    var later: [Event] = []
    stage.resume(at: LinkScript.time(seconds + pause), publishedState: reported, into: &later)
    return (stage, later)
  }

  private static func run(
    _ resumed: (stage: StageTwo, events: [Event]),
    _ links: [StageLink],
    until seconds: Double
  ) -> [Event] {
    var (stage, events) = resumed
    for link in links.sorted(by: StageLink.isOrderedBefore) { stage.restore(link, into: &events) }
    stage.advance(to: LinkScript.time(seconds), into: &events)
    return events.sorted(by: Event.isOrderedBefore)
  }

  private static func word(
    _ state: RegionState,
    lastKnown: RegionState? = nil,
    observer: String? = "a",
    at seconds: Double
  ) -> PublishedState {
    var reported = PublishedState()
    reported.regions = [
      PublishedState.RegionRecord(
        application: "gallery",
        region: "hall",
        subject: .beacon(tag),
        state: state,
        lastKnown: lastKnown ?? state,
        enteredAt: state == .outside ? nil : LinkScript.time(seconds),
        refinement: tag,
        observer: observer.map { .name($0) },
        time: LinkScript.time(seconds),
        decidedAt: LinkScript.time(seconds)
      )
    ]
    return reported
  }

  @Test("the pause ends no visit; the observer that heard the tag ends it later")
  func goesOn() throws {
    let links = [LinkScript.link("a", isUp: true, at: 0), LinkScript.presence("a", .inside, at: 1)]
    let resumed = try Self.resumed(links, until: 10)
    let later = [LinkScript.link("a", isUp: true, at: 611), LinkScript.presence("a", .outside, at: 900)]
    let events = Self.run(resumed, later, until: 2_000)
    #expect(LinkScript.words(events) == ["region.state hall @900", "region.exit hall @900"])
    #expect(events.first?.transition?.enteredAt == LinkScript.time(1))
  }

  @Test("an alarm about a long hold counts the time under observation")
  func holds() throws {
    let site = LinkScript.site([LinkScript.region(hold: .seconds(60))])
    let links = [
      LinkScript.link("a", isUp: true, at: 0), LinkScript.presence("a", .inside, at: 1),
      LinkScript.link("a", isUp: false, at: 20),
    ]
    let events = Self.run(try Self.resumed(links, until: 50, site: site), [], until: 2_000)
    #expect(LinkScript.words(events) == ["region.holdExceeded hall @680"])
  }

  @Test("an enter that was published after the checkpoint is not published again")
  func knowsEnters() throws {
    let links = [LinkScript.link("a", isUp: true, at: 0)]
    let resumed = try Self.resumed(links, until: 10, reported: Self.word(.inside, at: 12))
    let later = [
      LinkScript.link("a", isUp: true, at: 611), LinkScript.presence("a", .inside, at: 615),
      LinkScript.presence("a", .outside, at: 900),
    ]
    let events = Self.run(resumed, later, until: 3_000)
    #expect(LinkScript.words(events) == ["region.state hall @900", "region.exit hall @900"])
    #expect(events.first?.transition?.enteredAt == LinkScript.time(12))
  }

  @Test("a beacon that entered after the checkpoint and stays silent leaves after the maximum silence")
  func givesUp() throws {
    let resumed = try Self.resumed([], until: 10, reported: Self.word(.inside, at: 12))
    // The default policy allows a silence of at most 300 s; the observer is up from 650 on.
    let events = Self.run(resumed, [LinkScript.link("a", isUp: true, at: 650)], until: 3_000)
    #expect(LinkScript.words(events) == ["region.state hall @950", "region.exit hall @950"])
    #expect(events.first?.transition?.evidence.rule == .neverHeard)
    #expect(events.first?.transition?.evidence.window == .seconds(300))
  }

  @Test("an observer that died after its first word behind the restart refutes nothing")
  func diedAgain() throws {
    let resumed = try Self.resumed([], until: 10, reported: Self.word(.inside, at: 12))
    let up = [LinkScript.link("a", isUp: true, at: 650), LinkScript.life("a", at: 650)]
    let down = LinkScript.link("a", isUp: false, at: 1_000)
    let events = Self.run(resumed, up + [down], until: 3_000)
    #expect(LinkScript.words(events) == ["region.state hall @1000", "region.unmonitored hall @1000"])
    // One that lives on refutes it, if no later than that is known.
    let lives = Self.run(resumed, up + [LinkScript.life("a", at: 951)], until: 3_000)
    #expect(LinkScript.words(lives) == ["region.state hall @951", "region.exit hall @951"])
  }

  @Test("an event after a checkpoint with an assumption is an assumption too, and is given up like it")
  func assumesAgain() throws {
    let (first, _) = try Self.resumed([], until: 10, reported: Self.word(.inside, at: 12))
    var again = try StateLawTests.restored(StateLawTests.bytes(first), LinkScript.site())
    var events: [Event] = []
    let word = Self.word(.inside, observer: "b", at: 700)
    again.resume(at: LinkScript.time(1_200), publishedState: word, into: &events)
    let silent = [LinkScript.link("a", isUp: true, at: 1_210), LinkScript.link("b", isUp: true, at: 1_250)]
    let gone = Self.run((again, events), silent, until: 3_000)
    #expect(LinkScript.words(gone) == ["region.state hall @1550", "region.exit hall @1550"])
    let heard = [LinkScript.presence("b", .inside, at: 1_260), LinkScript.presence("b", .outside, at: 2_000)]
    let left = Self.run((again, events), silent + heard, until: 3_000)
    #expect(LinkScript.words(left) == ["region.state hall @2000", "region.exit hall @2000"])
  }

  @Test("an observer that has lost its word of a tag has it inside until its own silence says otherwise")
  func restoresUnknown() throws {
    let links = [LinkScript.link("a", isUp: true, at: 0), LinkScript.presence("a", .inside, at: 1)]
    let resumed = try Self.resumed(links, until: 10)
    let unsaid = [LinkScript.presence("a", .unknown, at: 610), LinkScript.link("a", isUp: true, at: 611)]
    let gone = Self.run(resumed, unsaid, until: 3_000)
    #expect(LinkScript.words(gone) == ["region.state hall @911", "region.exit hall @911"])
    let heard = [LinkScript.presence("a", .inside, at: 620), LinkScript.presence("a", .outside, at: 2_000)]
    let left = Self.run(resumed, unsaid + heard, until: 3_000)
    #expect(LinkScript.words(left) == ["region.state hall @2000", "region.exit hall @2000"])
    #expect(left.first?.transition?.enteredAt == LinkScript.time(1))
    let other = [LinkScript.presence("b", .inside, at: 620), LinkScript.presence("b", .outside, at: 700)]
    let moved = Self.run(resumed, unsaid + other, until: 3_000)
    #expect(LinkScript.words(moved) == ["region.state hall @700", "region.exit hall @700"])
  }

  @Test("the same of an observer that was down: once it is back, its silence says it")
  func restoresUnknownWhileOffline() throws {
    let links = [
      LinkScript.link("a", isUp: true, at: 0), LinkScript.presence("a", .inside, at: 1),
      LinkScript.link("a", isUp: false, at: 5),
    ]
    let resumed = try Self.resumed(links, until: 10)
    let unsaid = [LinkScript.presence("a", .unknown, at: 610)]
    let isFinished = { (events: [Event]) in LinkScript.words(events).contains { $0.hasPrefix("region.exit") }
    }
    #expect(!isFinished(Self.run(resumed, unsaid, until: 3_000)))
    let back = [LinkScript.link("a", isUp: true, at: 650)]
    #expect(
      LinkScript.words(Self.run(resumed, unsaid + back, until: 3_000)).suffix(2) == [
        "region.state hall @950", "region.exit hall @950",
      ]
    )
  }

  @Test("as long as it is unknown whether its observer is alive, a silence ends nothing")
  func waitsForLife() throws {
    let resumed = try Self.resumed([], until: 10, reported: Self.word(.inside, at: 12))
    let others = [LinkScript.link("b", isUp: true, at: 611)]
    #expect(Self.run(resumed, others, until: 1_500).isEmpty)
    let down = [LinkScript.link("a", isUp: false, at: 700)]
    let words = LinkScript.words(Self.run(resumed, others + down, until: 3_000))
    #expect(words == ["region.state hall @700", "region.unmonitored hall @700"])
  }

  @Test("an observer that never comes back is down, and what it may have inside is not known")
  func neverBack() throws {
    let resumed = try Self.resumed([], until: 10, reported: Self.word(.inside, at: 12))
    let events = Self.run(resumed, [LinkScript.link("b", isUp: true, at: 611)], until: 1_600)
    #expect(LinkScript.words(events) == ["region.state hall @1510", "region.unmonitored hall @1510"])
    #expect(events.first?.transition?.evidence.rule == .observerOutage)
    // Once it is back after all, its own silence says that the beacon has left.
    let back = Self.run(resumed, [LinkScript.link("a", isUp: true, at: 1_700)], until: 3_000)
    #expect(LinkScript.words(back).suffix(2) == ["region.state hall @2000", "region.exit hall @2000"])
  }

  @Test("an exit that was published after the checkpoint is not published again, and the next enter is")
  func knowsExits() throws {
    let links = [LinkScript.link("a", isUp: true, at: 0), LinkScript.presence("a", .inside, at: 1)]
    let resumed = try Self.resumed(links, until: 10, reported: Self.word(.outside, at: 14))
    #expect(Self.run(resumed, [LinkScript.link("a", isUp: true, at: 611)], until: 3_000).isEmpty)
    let back = [LinkScript.presence("a", .inside, at: 700)]
    let events = Self.run(resumed, back, until: 701)
    #expect(LinkScript.words(events) == ["region.state hall @700", "region.enter hall @700"])
    #expect(events.first?.transition?.from == .outside)
  }

  @Test("a region published as unmonitored settles once its observer is back")
  func knowsTheDark() throws {
    var reported = Self.word(.unmonitored, lastKnown: .inside, at: 14)
    reported.observers = [
      PublishedState.ObserverRecord(
        observer: .name("a"),
        isUp: false,
        time: LinkScript.time(14),
        decidedAt: LinkScript.time(14)
      )
    ]
    let links = [LinkScript.link("a", isUp: true, at: 0)]
    let resumed = try Self.resumed(links, until: 10, reported: reported)
    let silent = Self.run(resumed, [LinkScript.link("a", isUp: true, at: 700)], until: 3_000)
    #expect(LinkScript.words(silent) == ["region.state hall @1000", "region.exit hall @1000"])
    let heard = [LinkScript.link("a", isUp: true, at: 700), LinkScript.presence("a", .inside, at: 720)]
    #expect(LinkScript.words(Self.run(resumed, heard, until: 900)) == ["region.state hall @720"])
  }

  @Test("no id is given twice, though the checkpoint does not know the last transitions")
  func ids() throws {
    let links = [LinkScript.link("a", isUp: true, at: 0), LinkScript.presence("a", .inside, at: 1)]
    var stage = StageTwo(site: LinkScript.site())
    var before: [Event] = []
    for link in links { stage.restore(link, into: &before) }
    stage.advance(to: LinkScript.time(10), into: &before)
    var resumed = try StateLawTests.restored(StateLawTests.bytes(stage), LinkScript.site())
    // Published after the checkpoint: left and came back.
    let lost = [LinkScript.presence("a", .outside, at: 11), LinkScript.presence("a", .inside, at: 13)]
    for link in lost { stage.restore(link, into: &before) }
    stage.advance(to: LinkScript.time(14), into: &before)
    var after: [Event] = []
    resumed.resume(at: LinkScript.time(60), publishedState: Self.word(.inside, at: 13), into: &after)
    for link in [LinkScript.presence("a", .outside, at: 70), LinkScript.presence("a", .inside, at: 90)] {
      resumed.restore(link, into: &after)
    }
    resumed.advance(to: LinkScript.time(100), into: &after)
    #expect(after.count == 4)
    let ids = (before + after).map(\.id)
    #expect(Set(ids).count == ids.count)
  }

  // MARK: Zones

  private static let rooms = LinkScript.site(
    zones: ["a", "b", "c"].map { Zone(identifier: $0, observers: [.name($0)]) }
  )

  private static func heard(_ levels: [(String, Double)], _ seconds: ClosedRange<Int>) -> [StageLink] {
    seconds.flatMap { second in
      levels.map { LinkScript.summary($0.0, $0.1, at: Double(second)) }
        + levels.map { LinkScript.life($0.0, at: Double(second)) }
    }
  }

  private static func zoneWords(_ events: [Event]) -> [String] {
    events.filter { $0.move != nil }.map { event in
      let verbs: [EventKind: String] = [
        .zoneEnter: "+", .zoneExit: "-", .zoneUnmonitored: "?", .zoneMonitored: "!",
      ]
      let verb = verbs[event.kind] ?? event.kind.type
      return "\(verb)\(event.region)@\(Int((event.time - LinkScript.start).seconds))"
    }
  }

  @Test("a tag stays in its zone over the pause, and leaves it when it is heard elsewhere")
  func keepsZones() throws {
    let links = Self.heard([("a", -50), ("b", -75)], 0...40)
    let resumed = try Self.resumed(links, until: 41, site: Self.rooms)
    let same = Self.heard([("a", -50), ("b", -75)], 642...700)
    #expect(Self.zoneWords(Self.run(resumed, same, until: 701)).isEmpty)
    let moved = Self.heard([("a", -80), ("b", -50)], 642...700)
    let words = Self.zoneWords(Self.run(resumed, moved, until: 701))
    #expect(words.map { $0.prefix(2) } == ["-a", "+b"])
  }

  @Test("silence after the pause ends a stay as it does otherwise, not at once")
  func endsZones() throws {
    let links = Self.heard([("a", -50), ("b", -75)], 0...40)
    let resumed = try Self.resumed(links, until: 41, site: Self.rooms)
    let alive = (642...900).flatMap { second in
      ["a", "b"].map { LinkScript.life($0, at: Double(second)) }
    }
    let events = Self.run(resumed, alive, until: 901).filter { $0.move != nil }
    #expect(events.map(\.kind) == [.zoneExit])
    let left = try #require(events.first)
    #expect(left.decidedAt >= LinkScript.time(641 + 10))
    #expect(left.move?.reason == .silence)
  }

  @Test(
    "a tag that is unmonitored stays so over the pause, with its checkpoint and without",
    arguments: [true, false]
  )
  func keepsUnmonitored(isKept: Bool) throws {
    let links = Self.heard([("a", -50)], 0...40) + [LinkScript.link("a", isUp: false, at: 45)]
    var reported = PublishedState()
    if !isKept {
      reported.zones = [
        PublishedState.ZoneRecord(
          beacon: Self.tag,
          zone: "a",
          isUnmonitored: true,
          time: LinkScript.time(45),
          decidedAt: LinkScript.time(45)
        )
      ]
    }
    let resumed = try Self.resumed(isKept ? links : [], until: 50, site: Self.rooms, reported: reported)
    #expect(resumed.stage.tagStandings().first?.zoneState == .unmonitored)
    #expect(Self.zoneWords(Self.run(resumed, [], until: 2_000)).isEmpty)
    let back = [LinkScript.link("a", isUp: true, at: 900)]
    let there = Self.heard([("a", -50)], 901...960)
    #expect(Self.zoneWords(Self.run(resumed, back + there, until: 960)).map { $0.prefix(2) } == ["!a"])
    let alive = (901...1_400).map { LinkScript.life("a", at: Double($0)) }
    #expect(Self.zoneWords(Self.run(resumed, back + alive, until: 1_400)).map { $0.prefix(2) } == ["-a"])
  }

  @Test("a zone that was published after the checkpoint holds until an observer hears the tag")
  func restoresZoneWords() throws {
    let links = Self.heard([("a", -50), ("b", -75)], 0...40)
    var reported = PublishedState()
    reported.zones = [
      PublishedState.ZoneRecord(
        beacon: Self.tag,
        zone: "b",
        time: LinkScript.time(45),
        decidedAt: LinkScript.time(45)
      )
    ]
    let resumed = try Self.resumed(links, until: 41, site: Self.rooms, reported: reported)
    #expect(resumed.stage.tagStandings().first?.zone == "b")
    let there = Self.heard([("a", -75), ("b", -50)], 660...720)
    #expect(Self.zoneWords(Self.run(resumed, there, until: 721)).isEmpty)
    let back = Self.heard([("a", -50), ("b", -80)], 660...720)
    #expect(Self.zoneWords(Self.run(resumed, back, until: 721)).map { $0.prefix(2) } == ["-b", "+a"])
    // No observer hears it: it is in no zone after the longest silence, or unmonitored if no observer of its zone is up.
    for (life, kind) in [([LinkScript.life("b", at: 642)], EventKind.zoneExit), ([], .zoneUnmonitored)] {
      let silent = Self.run(resumed, life, until: 2_000).filter { $0.move != nil }
      #expect(silent.map(\.kind) == [kind])
      #expect(silent.first.map { $0.decidedAt >= LinkScript.time(641 + 300) } == true)
      // Of the observer that was never heard it is not known when it failed: the event has the time of its decision.
      if kind == .zoneUnmonitored { #expect(silent.first.map { $0.time >= LinkScript.time(941) } == true) }
    }
  }
}
