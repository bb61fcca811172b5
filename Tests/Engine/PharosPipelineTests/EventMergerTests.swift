import PharosModel
import PharosPipeline
import PharosPresence
import PharosTestSupport
import Testing

@Suite("The merger")
struct EventMergerTests {
  private static func event(_ seconds: Double, _ observer: String, _ ordinal: UInt64) -> Event {
    let instant = Traffic.start + .seconds(seconds)
    return Event(
      stream: "test",
      kind: .observerOnline,
      time: instant,
      decidedAt: instant,
      stage: 1,
      subject: .observer(.name(observer)),
      counter: ordinal,
      ordinal: ordinal,
      detail: .observer(ObserverTransition())
    )
  }

  private static func output(_ events: [Event]) -> StageOutput {
    var output = StageOutput()
    output.events = events
    return output
  }

  @Test("nothing is released before every shard is past it")
  func watermark() {
    var merger = EventMerger(shards: 2, site: Site())
    merger.offer(Self.output([Self.event(1, "a", 1)]), from: 0, finalThrough: Traffic.start + .seconds(5))
    #expect(merger.release().isEmpty)
    merger.offer(Self.output([]), from: 1, finalThrough: Traffic.start + .milliseconds(999))
    #expect(merger.release().isEmpty)
    merger.offer(Self.output([]), from: 1, finalThrough: Traffic.start + .seconds(1))
    #expect(merger.release() == [Self.event(1, "a", 1)])
    #expect(merger.release().isEmpty)
    #expect(merger.released == Traffic.start + .seconds(1))
  }

  @Test("however shards hand over, the order is that of the events", arguments: [1, 2, 3, 4] as [UInt64])
  func anyInterleaving(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queues = (0..<3).map { shard in
      (0..<100).map {
        Self.event(Double($0 / 3) + Double.random(in: 0..<1, using: &random), "\(shard)", UInt64($0))
      }
      .sorted(by: Event.isOrderedBefore)
    }
    let expected = queues.flatMap { $0 }.sorted(by: Event.isOrderedBefore)
    var merger = EventMerger(shards: 3, site: Site())
    var events: [Event] = []
    while queues.contains(where: { !$0.isEmpty }) {
      let shard = Int.random(in: 0..<3, using: &random)
      let count = min(Int.random(in: 0...7, using: &random), queues[shard].count)
      let portion = Array(queues[shard].prefix(count))
      queues[shard].removeFirst(count)
      let past =
        queues[shard].first.map { $0.decidedAt - TimeSpan(nanoseconds: 1) } ?? Traffic.start + .seconds(99)
      merger.offer(Self.output(portion), from: shard, finalThrough: past)
      events += merger.release()
    }
    #expect(events == expected)
  }

  @Test("a watermark that goes back, and a shard that there is not, change nothing")
  func oddOffers() {
    var merger = EventMerger(shards: 1, site: Site())
    merger.offer(Self.output([]), from: 0, finalThrough: Traffic.start + .seconds(5))
    merger.offer(Self.output([]), from: 0, finalThrough: Traffic.start)
    merger.offer(Self.output([]), from: 7, finalThrough: Traffic.start)
    #expect(merger.release().isEmpty)
    #expect(merger.released == Traffic.start + .seconds(5))
  }

  @Test("refusals and steps of the clock come before what the stages decided at the same instant")
  func serverEvents() {
    var merger = EventMerger(shards: 1, site: Site())
    merger.offer(Self.output([Self.event(1, "a", 1)]), from: 0, finalThrough: Traffic.start)
    merger.publish(
      .regionLimitExceeded(limit: 20, application: "x", identifier: "y"),
      at: Traffic.start + .seconds(1)
    )
    merger.stepClock(by: .seconds(2), at: Traffic.start + .seconds(1))
    merger.offer(Self.output([]), from: 0, finalThrough: Traffic.start + .seconds(1))
    #expect(merger.release().map(\.kind) == [.clockStepped, .regionLimitExceeded, .observerOnline])
  }

  @Test(
    "an event decided at the instant of a step is published after it, with the new time",
    arguments: [-7.0, 7]
  )
  func atAStep(step: Double) {
    var merger = EventMerger(shards: 1, site: Site())
    merger.stepClock(by: .seconds(step), at: Traffic.start + .seconds(1))
    let events = [Self.event(1, "a", 1), Self.event(2, "a", 2)]
    merger.offer(Self.output(events), from: 0, finalThrough: Traffic.start + .seconds(3))
    let committed = merger.release()
    #expect(committed.map(\.kind) == [.clockStepped, .observerOnline, .observerOnline])
    let times = committed.map { ($0.decidedAt - Traffic.start).seconds }
    #expect(times == [1, 1 + step, 2 + step])
  }

  @Test("links of all shards reach stage two in their order, changes before those of their instant")
  func stageTwo() {
    var merger = EventMerger(shards: 2, site: Site())
    let region = Region(
      identifier: "hall",
      constraint: .proximity(Traffic.uuid),
      subject: .beacon(observers: nil)
    )
    let beacon = BeaconID.proximity(Traffic.uuid, major: 1, minor: 1)
    func link(_ observer: String, _ state: RegionState, _ seconds: Double) -> StageOutput {
      let instant = Traffic.start + .seconds(seconds)
      var output = StageOutput()
      output.links = [
        .presence(
          PresenceChange(
            observer: .name(observer),
            beacon: beacon,
            application: "x",
            region: "hall",
            state: state,
            time: instant,
            decidedAt: instant,
            ordinal: 1,
            evidence: Evidence(rule: .samples)
          )
        )
      ]
      return output
    }
    merger.offer(link("b", .outside, 9), from: 1, finalThrough: Traffic.start + .seconds(8))
    merger.offer(link("b", .inside, 3), from: 1, finalThrough: Traffic.start + .seconds(8))
    merger.apply(.startMonitoring(application: "x", region), at: Traffic.start + .seconds(2))
    merger.offer(link("a", .inside, 2), from: 0, finalThrough: Traffic.start + .seconds(2))
    let entered = merger.release()
    #expect(entered.map(\.kind) == [.regionState, .regionEnter])
    #expect(entered.allSatisfy { $0.time == Traffic.start + .seconds(2) })
    merger.offer(link("a", .outside, 6), from: 0, finalThrough: Traffic.start + .seconds(20))
    #expect(merger.release().isEmpty, "the beacon is still inside at b")
    merger.offer(StageOutput(), from: 1, finalThrough: Traffic.start + .seconds(20))
    #expect(merger.release().map(\.kind) == [.regionState, .regionExit])
  }

  @Test(
    "in whatever order shards hand links over, stage two takes them in theirs",
    arguments: [1, 2, 3, 4] as [UInt64]
  )
  func anyOrderOfLinks(seed: UInt64) {
    let region = Region(
      identifier: "hall",
      constraint: .proximity(Traffic.uuid),
      subject: .beacon(observers: nil)
    )
    let site = Site(applications: [Application(identifier: "x", regions: [region])])
    var random = SeededGenerator(seed: seed)
    let states: [RegionState] = [.inside, .outside, .unmonitored]
    let links = (0..<400).map { number in
      let instant = Traffic.start + .seconds(Double(Int.random(in: 0..<60, using: &random)))
      let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
      return StageLink.presence(
        PresenceChange(
          observer: .name(name),
          beacon: .proximity(Traffic.uuid, major: 1, minor: UInt16.random(in: 1...3, using: &random)),
          application: "x",
          region: "hall",
          state: states.randomElement(using: &random) ?? .inside,
          time: instant,
          decidedAt: instant,
          ordinal: UInt64(number),
          evidence: Evidence(rule: .samples)
        )
      )
    }
    let end = Traffic.start + .seconds(100)
    /// The events of links that come in portions, each of which ends at an instant.
    func events(_ links: [StageLink], endingAt instants: [Double]) -> [Event] {
      var merger = EventMerger(shards: 1, site: site)
      var events: [Event] = []
      var begin = Timestamp.distantPast
      for instant in instants.map({ Traffic.start + .seconds($0) }) + [end] {
        var output = StageOutput()
        output.links = links.filter { $0.decidedAt > begin && $0.decidedAt <= instant + .seconds(3) }
        output.links.removeAll { $0.decidedAt <= begin + .seconds(3) && begin != .distantPast }
        merger.offer(output, from: 0, finalThrough: instant)
        events += merger.release()
        begin = instant
      }
      return events
    }
    let expected = events(links.sorted(by: StageLink.isOrderedBefore), endingAt: [])
    #expect(expected.count > 20)
    #expect(events(links, endingAt: []) == expected)
    #expect(events(links.shuffled(using: &random), endingAt: [10, 20, 21, 40]) == expected)
    #expect(
      events(links.sorted(by: StageLink.isOrderedBefore), endingAt: [5, 6, 7, 30]) == expected
    )
  }
}
