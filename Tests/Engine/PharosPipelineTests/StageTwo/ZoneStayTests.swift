import PharosModel
import PharosPipeline
import Testing

/// Visits of tags that have no fixes, by the zones that they are in, and the numbers of tags in zones.
@Suite("Stays in zones")
struct ZoneStayTests {
  private static let settings = VisitSettings(minimum: .seconds(45), hold: .minutes(5))

  private static func site(_ thresholds: [OccupancyThreshold] = [], visits: VisitSettings? = settings) -> Site
  {
    let zones = ["a", "b"].map { name in
      Zone(identifier: name, observers: [.name(name)], occupancy: name == "a" ? thresholds : [])
    }
    var site = LinkScript.site(zones: zones)
    site.visits = visits
    return site
  }

  /// A tag beside an observer for some seconds, while both observers live.
  private static func stay(
    _ name: String,
    _ seconds: Range<Int>,
    beacon: BeaconID = LinkScript.tag
  ) -> [StageLink] {
    let other = name == "a" ? "b" : "a"
    return seconds.flatMap { second in
      [
        LinkScript.summary(name, -55, at: Double(second), beacon: beacon),
        LinkScript.summary(other, -85, at: Double(second), beacon: beacon),
      ]
    }
  }

  private static func words(_ events: [Event]) -> [String] {
    events.compactMap { event in
      guard case .visit(let visit) = event.detail else { return nil }
      let time = Int((event.time - LinkScript.start).seconds.rounded())
      return "\(visit.departure == nil ? "+" : "-")\(event.region)@\(time)"
    }
  }

  @Test("a stay in a zone is a visit once it has lasted, and a pass through is none")
  func minimum() throws {
    let links = Self.stay("a", 0..<100) + Self.stay("b", 100..<130) + Self.stay("a", 130..<200)
    let events = LinkScript.events(Self.site(), links, until: 200)
    let words = Self.words(events)
    #expect(words.map { $0.prefix(2) } == ["+a", "-a", "+a"], "\(words)")
    let visits = events.compactMap { event -> VisitDetail? in
      guard case .visit(let visit) = event.detail else { return nil }
      return visit
    }
    #expect(visits[0].visit == visits[1].visit && visits[0].visit != visits[2].visit)
    #expect(visits[0].visit == events.first { $0.kind == .visitArrive }?.id)
    #expect(visits[1].evidence.end == .leftZone)
    #expect(visits[0].place?.kind == .zone)
  }

  @Test("without the setting there are no visits")
  func off() {
    let events = LinkScript.events(Self.site(visits: nil), Self.stay("a", 0..<200), until: 200)
    #expect(Self.words(events).isEmpty)
  }

  @Test("a restart in the middle of a visit gives one departure for its arrival", arguments: [true, false])
  func restart(hasCheckpoint: Bool) throws {
    let site = Self.site()
    var stage = StageTwo(site: site)
    var events: [Event] = []
    for link in Self.stay("a", 0..<100).sorted(by: StageLink.isOrderedBefore) {
      stage.restore(link, into: &events)
    }
    stage.advance(to: LinkScript.time(100), into: &events)
    #expect(Self.words(events).map { $0.prefix(2) } == ["+a"])
    var reported = StateTable(after: events).state
    if hasCheckpoint {
      stage = try StateLawTests.restored(StateLawTests.bytes(stage), site)
      reported = PublishedState()
    } else {
      stage = StageTwo(site: site)
    }
    var later: [Event] = []
    stage.resume(at: LinkScript.time(700), publishedState: reported, into: &later)
    let links = Self.stay("a", 700..<720) + Self.stay("b", 720..<800)
    for link in links.sorted(by: StageLink.isOrderedBefore) { stage.restore(link, into: &later) }
    stage.advance(to: LinkScript.time(800), into: &later)
    let words = Self.words(later)
    #expect(words.map { $0.prefix(2) } == ["-a", "+b"], "\(words)")
    let ids = (events + later).compactMap { event -> EventID? in
      guard case .visit(let visit) = event.detail, visit.place?.identifier == "a" else { return nil }
      return visit.visit
    }
    #expect(Set(ids).count == 1)
    #expect(Set((events + later).map(\.id)).count == events.count + later.count)
  }

  @Test("a zone publishes its number of beacons above and below its thresholds, once each")
  func occupancy() {
    let tags = (0..<4).map { BeaconID.proximity(LinkScript.uuid, major: 2, minor: UInt16($0)) }
    var links: [StageLink] = []
    for (index, tag) in tags.enumerated() {
      let arrival = 10 * index
      links += Self.stay("a", arrival..<(100 + 10 * index), beacon: tag)
      links += Self.stay("b", (100 + 10 * index)..<200, beacon: tag)
    }
    let site = Self.site([OccupancyThreshold(above: 2, below: 1)], visits: nil)
    let reported = LinkScript.events(site, links, until: 200).compactMap { event -> String? in
      guard case .occupancy(let transition) = event.detail else { return nil }
      #expect(event.region == "a" && event.subject == .none)
      return "\(transition.direction) \(transition.count)"
    }
    #expect(reported == ["above 3", "below 0"])
  }

  @Test("a subject that is erased leaves no visit, and no event says so")
  func erasure() throws {
    var stage = StageTwo(site: Self.site())
    var events: [Event] = []
    for link in Self.stay("a", 0..<100).sorted(by: StageLink.isOrderedBefore) {
      stage.restore(link, into: &events)
    }
    stage.advance(to: LinkScript.time(100), into: &events)
    events.removeAll()
    let traces = try #require(SubjectTraces(LinkScript.tag.description))
    stage.apply(.forget(traces), at: LinkScript.time(101), into: &events)
    stage.advance(to: LinkScript.time(2_000), into: &events)
    #expect(Self.words(events).isEmpty)
  }
}
