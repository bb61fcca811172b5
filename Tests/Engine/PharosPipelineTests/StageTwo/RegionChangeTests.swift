import PharosModel
import PharosPipeline
import Testing

@Suite("Changes of the regions in stage two")
struct RegionChangeTests {
  private static func run(
    on site: Site = LinkScript.site(),
    _ links: [StageLink],
    _ changes: [(Double, RegionChange)],
    until seconds: Double = 100
  ) -> [Event] {
    var stage = StageTwo(site: site)
    var events: [Event] = []
    var waiting = links.sorted(by: StageLink.isOrderedBefore)[...]
    for (at, change) in changes {
      while let link = waiting.first, link.decidedAt < LinkScript.time(at) {
        stage.restore(link, into: &events)
        waiting.removeFirst()
      }
      stage.apply(change, at: LinkScript.time(at), into: &events)
    }
    for link in waiting { stage.restore(link, into: &events) }
    stage.advance(to: LinkScript.time(seconds), into: &events)
    return events.sorted(by: Event.isOrderedBefore)
  }

  @Test("a region that is stopped falls silent")
  func stop() {
    let links = [LinkScript.presence("a", .inside, at: 1), LinkScript.presence("a", .outside, at: 9)]
    let events = Self.run(links, [(5, .stopMonitoring(application: "gallery", identifier: "hall"))])
    #expect(
      LinkScript.words(events) == ["region.state hall @1", "region.enter hall @1", "region.reset hall @5"]
    )
  }

  @Test("replacing a region by the same question with other flags keeps the visit")
  func replaceFlags() {
    var quiet = LinkScript.region()
    quiet.notifyOnExit = false
    let links = [LinkScript.presence("a", .inside, at: 1), LinkScript.presence("a", .outside, at: 9)]
    let events = Self.run(links, [(5, .startMonitoring(application: "gallery", quiet))])
    #expect(events.map(\.kind) == [.regionState, .regionEnter, .regionState])
  }

  @Test("replacing a region by one with another question starts again")
  func replaceQuestion() {
    let links = [LinkScript.presence("a", .inside, at: 1), LinkScript.presence("b", .inside, at: 9)]
    let change = RegionChange.startMonitoring(application: "gallery", LinkScript.region(observers: ["b"]))
    let events = Self.run(links, [(5, change)])
    #expect(events.filter { $0.kind == .regionEnter }.count == 2)
    #expect(events.last?.transition?.from == .unknown)
  }

  @Test("a state that was assumed is where the next one is compared with")
  func assumed() {
    let exact = Region(
      identifier: "door",
      constraint: .proximity(LinkScript.uuid, major: 1, minor: 7),
      subject: .beacon(observers: nil)
    )
    let start = RegionChange.startMonitoring(application: "gallery", exact, assuming: .inside)
    let links = [
      LinkScript.link("a", isUp: true, at: 0), LinkScript.presence("a", .outside, at: 20, region: "door"),
    ]
    let events = Self.run(on: LinkScript.site([]), links, [(5, start)])
    #expect(LinkScript.words(events) == ["region.state door @20", "region.exit door @20"])
  }

  @Test("a state that was assumed is given up when a live observer never heard the beacon")
  func assumedInVain() {
    let exact = Region(
      identifier: "door",
      constraint: .proximity(LinkScript.uuid, major: 1, minor: 7),
      subject: .beacon(observers: nil)
    )
    let start = RegionChange.startMonitoring(application: "gallery", exact, assuming: .inside)
    let events = Self.run(on: LinkScript.site([]), [LinkScript.link("a", isUp: true, at: 0)], [(5, start)])
    #expect(LinkScript.words(events) == ["region.state door @35", "region.exit door @35"])
    #expect(events.last?.transition?.evidence.rule == .neverHeard)
  }

  @Test("a question is answered once and changes nothing")
  func request() throws {
    let ask = RegionChange.requestState(
      application: "gallery",
      identifier: "hall",
      subject: .beacon(LinkScript.tag)
    )
    let events = Self.run([LinkScript.presence("a", .inside, at: 1)], [(5, ask)])
    let answer = try #require(events.last)
    #expect(events.count == 3)
    #expect(answer.kind == .regionState)
    #expect(answer.transition?.isAnswer == true)
    #expect(answer.transition?.to == .inside)
    #expect(answer.transition?.evidence.rule == .requested)
    #expect(answer.time == LinkScript.time(5))
  }

  @Test(
    "a beacon that was never heard is outside once a live observer could have heard it",
    arguments: [(10.0, RegionState.unknown), (29, .unknown), (31, .outside)]
  )
  func requestUnheard(at: Double, expected: RegionState) {
    let ask = RegionChange.requestState(
      application: "gallery",
      identifier: "hall",
      subject: .beacon(LinkScript.tag)
    )
    let events = Self.run([LinkScript.link("a", isUp: true, at: 0)], [(at, ask)])
    #expect(events.map { $0.transition?.to } == [expected])
  }

  @Test("questions about observers and about unknown regions are not for stage two")
  func requestElsewhere() {
    let asks: [RegionChange] = [
      .requestState(application: "gallery", identifier: "hall", subject: .observer(.name("a"))),
      .requestState(application: "gallery", identifier: "none", subject: .beacon(LinkScript.tag)),
    ]
    #expect(Self.run([], asks.map { (5, $0) }).isEmpty)
  }

  @Test("a rotation tree brings regions about beacons and takes them away")
  func rotation() {
    let node = RegionNode(region: LinkScript.region("wing"), children: [])
    let changes: [(Double, RegionChange)] = [
      (
        1,
        .setRotation(
          application: "gallery",
          [RegionNode(region: LinkScript.region("house"), children: [node])]
        )
      ),
      (10, .setRotation(application: "gallery", [])),
    ]
    let links = [
      LinkScript.presence("a", .inside, at: 5, region: "wing"),
      LinkScript.presence("a", .outside, at: 15, region: "wing"),
    ]
    let events = Self.run(on: LinkScript.site([]), links, changes)
    #expect(
      LinkScript.words(events) == [
        "region.state wing @5", "region.enter wing @5", "region.reset house @10", "region.reset wing @10",
      ]
    )
  }
}
