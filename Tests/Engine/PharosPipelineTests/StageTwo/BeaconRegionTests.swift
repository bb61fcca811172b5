import PharosModel
import PharosPipeline
import Testing

/// One picture: a line for each observer, a column for each second.
///
/// `I` the beacon is inside, `O` it is gone, `S` the
/// observer stopped scanning, `D` it went down, `U` it is back. Below what comes of it: `E` enter, `X` exit,
/// `u` unmonitored, `s` only a change of state.
@Suite("Regions about beacons")
struct BeaconRegionTests {
  @Test(
    "reports of several gateways become one visit",
    arguments: [
      (["I---O-"], "E---X-", "one gateway alone"),
      (["I---O-", "--I---O-"], "E-----X-", "the last one to lose it ends the visit"),
      (["I--O--", "---I--O-"], "E-----X-", "a hand-over within an instant is no exit"),
      (["I--O----", "----I--O-"], "E--XE--X-", "a second in between is one"),
      (["I--D--", "-I----"], "E-----", "with one gateway down the other holds it inside"),
      (["I--D--"], "E--u--", "no observer is left"),
      (["I--D-U-I--O-"], "E--u---s--X-", "back and still there: no second enter"),
      (["I--D-U-O-"], "E--u---X-", "back and gone: the exit comes then"),
      (["I--D----", "-----I-O-"], "E--u-s-X-", "another one that hears it later settles the matter"),
      (["I--S--I-"], "E--u--s-", "a radio that does not scan says nothing"),
      (["I-O-D-U-"], "E-X-----", "an outage after it left changes nothing"),
      (["O---I---"], "s---E---", "outside at first is no exit"),
      (["D-I-"], "--E-", "an outage before it was ever heard changes nothing"),
      (["I-O-----", "-I--D---"], "E---u---", "the last one that heard it went down"),
      (["I-D-----", "I----O--"], "E----X--", "the live one heard it longer than the dead one"),
      (["I--D----", "I----O--"], "E--u----", "both heard it last at the same time, as far as times tell"),
    ]
  )
  func pictures(lines: [String], expected: String, why: String) {
    var links: [StageLink] = []
    for (row, line) in lines.enumerated() {
      let name = String(UnicodeScalar(UInt8(ascii: "a") + UInt8(row)))
      for (second, mark) in line.enumerated() {
        let at = Double(second)
        switch mark {
        case "I": links.append(LinkScript.presence(name, .inside, at: at))
        case "O": links.append(LinkScript.presence(name, .outside, at: at, lastHeard: at - 0.5))
        case "S": links.append(LinkScript.presence(name, .unmonitored, at: at))
        case "D": links.append(LinkScript.link(name, isUp: false, at: at))
        case "U": links.append(LinkScript.link(name, isUp: true, at: at))
        default: break
        }
      }
    }
    let events = LinkScript.events(LinkScript.site(), links, until: 20)
    #expect(BeaconRegionTests.picture(events, expected.count) == expected, "\(why)")
  }

  @Test("an observer that lost a beacon before its outage does not end the stay at another that is down")
  func outageIsNoHearing() {
    let links = [
      LinkScript.presence("a", .inside, at: 0), LinkScript.presence("b", .inside, at: 1),
      LinkScript.link("b", isUp: false, at: 5), LinkScript.link("a", isUp: false, at: 9),
      LinkScript.link("a", isUp: true, at: 11),
      LinkScript.presence("a", .outside, at: 13, lastHeard: 2),
    ]
    let events = LinkScript.events(LinkScript.site(), links, until: 20)
    #expect(events.count { $0.kind == .regionUnmonitored } == 1)
    #expect(events.count { $0.kind == .regionExit } == 0)
  }

  /// The events drawn; every enter, exit and unmonitored must have its state event beside it.
  private static func picture(_ events: [Event], _ width: Int) -> String {
    var marks = Array(repeating: Character("-"), count: width)
    for event in events {
      let second = Int((event.time - LinkScript.start).seconds)
      switch event.kind {
      case .regionState where marks[second] == "-": marks[second] = "s"
      case .regionEnter where marks[second] == "s": marks[second] = "E"
      case .regionExit where marks[second] == "s": marks[second] = "X"
      case .regionUnmonitored where marks[second] == "s": marks[second] = "u"
      default: marks[second] = "?"
      }
    }
    return String(marks)
  }

  @Test("an exit has the start of the visit, the deciding observer and the reason")
  func exitDetail() throws {
    let links = [
      LinkScript.presence("a", .inside, at: 2), LinkScript.presence("b", .inside, at: 4),
      LinkScript.presence("a", .outside, at: 6), LinkScript.presence("b", .outside, at: 9),
    ]
    let events = LinkScript.events(LinkScript.site(), links, until: 20)
    let exit = try #require(events.last)
    let transition = try #require(exit.transition)
    #expect(exit.kind == .regionExit)
    #expect(exit.subject == .beacon(LinkScript.tag))
    #expect(exit.stage == 2)
    #expect(transition.enteredAt == LinkScript.time(2))
    #expect(transition.observer == LinkScript.observer("b"))
    #expect(transition.refinement == LinkScript.tag)
    #expect(transition.evidence.rule == .adaptiveSilence)
    #expect(transition.from == .inside && transition.to == .outside)
  }

  @Test("only the observers that a region lists count")
  func listedObservers() {
    let site = LinkScript.site([LinkScript.region(observers: ["b"])])
    let links = [LinkScript.presence("a", .inside, at: 1), LinkScript.presence("b", .inside, at: 3)]
    let events = LinkScript.events(site, links, until: 9)
    #expect(LinkScript.words(events) == ["region.state hall @3", "region.enter hall @3"])
  }

  @Test("a beacon held unmonitored for too long raises one alarm")
  func maximumHold() {
    let site = LinkScript.site([LinkScript.region(hold: .seconds(60))])
    let links = [LinkScript.presence("a", .inside, at: 1), LinkScript.link("a", isUp: false, at: 5)]
    let words = LinkScript.words(LinkScript.events(site, links, until: 1_000))
    #expect(words.filter { $0.contains("holdExceeded") } == ["region.holdExceeded hall @65"])
  }

  @Test("a beacon found again in time raises no alarm")
  func heldInTime() {
    let site = LinkScript.site([LinkScript.region(hold: .seconds(60))])
    let links = [
      LinkScript.presence("a", .inside, at: 1), LinkScript.link("a", isUp: false, at: 5),
      LinkScript.presence("b", .inside, at: 50),
    ]
    let events = LinkScript.events(site, links, until: 1_000)
    #expect(!events.contains { $0.kind == .regionHoldExceeded })
  }

  @Test("the notify flags silence enter and exit, never the state")
  func notifyFlags() {
    var region = LinkScript.region()
    region.notifyOnEntry = false
    region.notifyOnExit = false
    let links = [LinkScript.presence("a", .inside, at: 1), LinkScript.presence("a", .outside, at: 5)]
    let events = LinkScript.events(LinkScript.site([region]), links, until: 9)
    #expect(events.map(\.kind) == [.regionState, .regionState])
  }

  @Test("a presence change for an unmonitored region is counted and dropped")
  func stray() {
    var stage = StageTwo(site: LinkScript.site())
    var events: [Event] = []
    stage.restore(LinkScript.presence("a", .inside, at: 1, region: "elsewhere"), into: &events)
    stage.advance(to: LinkScript.time(9), into: &events)
    #expect(events.isEmpty)
    #expect(stage.counters.strayChanges == 1)
  }

  @Test("no id is given twice, whatever is stopped, started and forgotten between")
  func uniqueIDs() {
    var stage = StageTwo(site: LinkScript.site(), limits: PositioningLimits(tags: 16))
    var events: [Event] = []
    var random = Cycle()
    for second in 0..<2_000 {
      let at = Double(second)
      let beacon = BeaconID.proximity(LinkScript.uuid, major: 1, minor: UInt16(random.next(40)))
      let state: RegionState = random.next(2) == 0 ? .inside : .outside
      stage.restore(LinkScript.presence("a", state, at: at, beacon: beacon), into: &events)
      if random.next(50) == 0 {
        let instant = LinkScript.time(at + 0.5)
        stage.apply(.stopMonitoring(application: "gallery", identifier: "hall"), at: instant, into: &events)
        stage.apply(.startMonitoring(application: "gallery", LinkScript.region()), at: instant, into: &events)
      }
    }
    stage.advance(to: LinkScript.time(5_000), into: &events)
    #expect(events.count > 500)
    #expect(Set(events.map(\.id)).count == events.count)
    #expect(stage.counters.evictions > 0)
    #expect(stage.counters.tags <= 16)
  }
}

/// Small numbers that look random and are the same every time.
private struct Cycle {
  private var state: UInt64 = 42

  mutating func next(_ bound: UInt64) -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) % bound
  }
}
