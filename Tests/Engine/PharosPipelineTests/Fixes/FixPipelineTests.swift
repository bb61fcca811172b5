import PharosFixes
import PharosModel
import PharosPipeline
import PharosPresence
import PharosSpace
import PharosTestSupport
import Testing

/// Handsets and tags are located by the pipeline that decides everything else.
@Suite("Fixes of a pipeline")
struct FixPipelineTests {
  private static func people(_ people: Range<Int>, seconds: Double, seed: UInt64 = 1) -> HallWalk {
    var walk = HallWalk(seed: seed)
    walk.walk(people: people, seconds: seconds)
    return walk
  }

  @Test("shards, batches and ticks change not a byte of a fix")
  func identical() throws {
    let venues = [try Hall().ground]
    var walk = Self.people(0..<5, seconds: 40)
    walk.carry(tags: 10..<12, seconds: 40)
    let expected = try FixRun().events(of: walk.inputs, on: venues).lines
    #expect(expected.count > 250, "too little to prove anything")
    let runs = [
      FixRun(shards: 1, batch: 64), FixRun(shards: 2, batch: 7), FixRun(shards: 4, batch: 1),
      FixRun(shards: 4, batch: 1_000), FixRun(shards: 1, batch: 1, ticks: 3),
      FixRun(shards: 4, batch: 5, ticks: 4),
    ]
    for run in runs {
      let lines = try run.events(of: walk.inputs, on: venues).lines
      #expect(lines == expected, "\(run)")
    }
  }

  @Test("each subject has a fix a second, published a second later, near to the truth")
  func fixes() throws {
    let walk = Self.people(0..<4, seconds: 60)
    let fixes = try FixRun().events(of: walk.inputs, on: [Hall().ground]).fixes
    #expect(Set(fixes.map(\.event.id)).count == fixes.count)
    var errors: [Double] = []
    for person in 0..<4 {
      let own = fixes.filter { $0.event.subject == .observer(HallWalk.handset(person)) }
      #expect(own.count >= 58)
      for (earlier, later) in zip(own, own.dropFirst()) {
        #expect(later.event.time - earlier.event.time == .seconds(1))
      }
      for (event, fix) in own {
        #expect(event.decidedAt == event.time + .seconds(1))
        #expect(event.region.isEmpty && event.application.isEmpty && event.stage == 2)
        #expect(fix.venue == "hall-1" && fix.building == "main" && fix.level == 0)
        #expect(fix.floorName == "Ground floor")
        #expect(fix.horizontalAccuracy > 0)
        #expect((fix.latitude ?? 0) > 52.6 && (fix.latitude ?? 0) < 52.601)
        let truth = HallWalk.place(of: person, at: (event.time - Hall.start).seconds)
        if event.time <= Hall.start + .seconds(60) {
          errors.append((Point(x: fix.x, y: fix.y) - truth).length)
        }
      }
      #expect(own[30].fix.sources.isSuperset(of: [.wifi, .beacons]), "\(own[30].fix.sources)")
    }
    // A guess of the middle of the hall is 15 m off; the accuracy of fixes is tested with the fusion.
    #expect(errors.sorted()[errors.count / 2] < 12)
  }

  @Test("a site that replays or scenes feed says so in each fix, and decides the same")
  func simulated() throws {
    let walk = Self.people(0..<2, seconds: 20)
    var site = Hall.site()
    let real = try FixRun().events(of: walk.inputs, on: [Hall().ground], site: site).fixes
    site.positioning.isSimulated = true
    let simulated = try FixRun().events(of: walk.inputs, on: [Hall().ground], site: site).fixes
    #expect(real.count > 30)
    #expect(real.allSatisfy { $0.fix.sourceInformation.isEmpty })
    let expected = real.map { pair in
      var fix = pair.fix
      fix.sourceInformation = .simulatedBySoftware
      return fix
    }
    #expect(simulated.map(\.fix) == expected)
  }

  @Test("later readings change no published fix", arguments: 1..<6)
  func causality(part: Int) throws {
    let venues = [try Hall().ground]
    let walk = Self.people(0..<3, seconds: 30)
    let whole = try FixRun().events(of: walk.inputs, on: venues)
    let cut = walk.inputs.count * part / 6
    let instant = walk.inputs[cut].received
    var pipeline = try Pipeline(site: Hall.site(), venues: venues)
    var events: [Event] = []
    for input in walk.inputs[..<cut] { events += pipeline.ingest(input.batch) }
    events += pipeline.advance(to: instant - .oneNanosecond)
    #expect(!events.fixes.isEmpty)
    #expect(events.lines == whole.filter { $0.decidedAt < instant }.lines)
  }

  @Test("without a venue no subject is located, and with one nothing else changes")
  func regionsAlone() throws {
    var walk = Self.people(0..<2, seconds: 20)
    walk.carry(tags: 10..<12, seconds: 20)
    let bare = try FixRun().events(of: walk.inputs, on: [])
    #expect(bare.fixes.isEmpty)
    #expect(bare.contains { $0.kind == .regionEnter })
    let located = try FixRun().events(of: walk.inputs, on: [Hall().ground])
    let others = located.filter { $0.kind != .fix }
    #expect(others.map(\.id) == bare.map(\.id))
    #expect(others.map(\.detail) == bare.map(\.detail))
    #expect(located.fixes.count > 50)
  }

  @Test("a tag without a place is located by the observers that receive it, and a placed beacon is no tag")
  func tags() throws {
    var walk = HallWalk(seed: 3)
    walk.carry(tags: 0..<1, seconds: 60)
    let fixes = try FixRun().events(of: walk.inputs, on: [Hall().ground]).fixes
    #expect(Set(fixes.map(\.event.subject)) == [.beacon(Hall.tag(0))])
    #expect(fixes.count > 50)
    var errors: [Double] = []
    for (event, fix) in fixes where event.time <= Hall.start + .seconds(60) {
      #expect(fix.sources == .observers)
      #expect(event.decidedAt == event.time + .seconds(1))
      let truth = HallWalk.place(of: 0, at: (event.time - Hall.start).seconds)
      errors.append((Point(x: fix.x, y: fix.y) - truth).length)
    }
    #expect(errors.sorted()[errors.count / 2] < 10)
  }

  @Test("a handset whose scans never stop coming late is not located, and that is counted")
  func late() throws {
    var pipeline = try Pipeline(site: Hall.site(), venues: [Hall().ground])
    let inputs = Self.people(0..<1, seconds: 10).inputs.map { input -> HallWalk.Input in
      var late = ReportBatch()
      for var report in input.batch.reports {
        report.timing = .age(.seconds(20))
        late.append(report, from: input.batch)
      }
      return (input.received, late)
    }
    let events = FixRun().events(of: inputs, by: &pipeline)
    #expect(events.fixes.isEmpty)
    #expect(pipeline.positioningCounters.locating.late > 20)
    #expect(pipeline.monitoringCounters.sensings == pipeline.positioningCounters.sensings)
  }

  @Test("fixes end some time after the last report, and the subject is forgotten later")
  func silence() throws {
    var pipeline = try Pipeline(site: Hall.site(), venues: [Hall().ground])
    let inputs = Self.people(0..<2, seconds: 10).inputs
    let events = FixRun(tail: .minutes(9)).events(of: inputs, by: &pipeline)
    let last = try #require(events.fixes.last?.event.time)
    #expect(last > Hall.start + .seconds(12) && last < Hall.start + .seconds(60))
    #expect(pipeline.positioningCounters.locating.subjects == 2)
    #expect(pipeline.advance(to: Hall.start + .minutes(11)).isEmpty)
    #expect(pipeline.positioningCounters.locating.subjects == 0)
  }

  @Test("a forgotten subject that comes back is located again, whether time was advanced in between or not")
  func comingBack() throws {
    let venues = [try Hall().ground]
    var walk = Self.people(0..<2, seconds: 5)
    walk.walk(people: 0..<2, from: 700, seconds: 5)
    walk.walk(people: 0..<1, from: 1_200, seconds: 5)
    let expected = try FixRun().events(of: walk.inputs, on: venues).fixes.map(\.event).lines
    #expect(expected.count > 30)
    for run in [FixRun(shards: 2, batch: 1_000), FixRun(batch: 1, ticks: 7)] {
      let lines = try run.events(of: walk.inputs, on: venues).fixes.map(\.event).lines
      #expect(lines == expected, "\(run)")
    }
    var pipeline = try Pipeline(site: Hall.site(), venues: venues)
    _ = FixRun(tail: .minutes(20)).events(of: walk.inputs, by: &pipeline)
    #expect(pipeline.positioningCounters.locating.subjects == 0)
  }

  @Test(
    "one scan is enough for a fix at once, and nothing makes it more accurate while nothing more is heard"
  )
  func oneScan() throws {
    let scan = try #require(
      Self.people(0..<1, seconds: 3).inputs.first { input in
        input.batch.reports.contains { if case .wifiScan = $0.body { true } else { false } }
      }
    )
    let fixes = try FixRun(tail: .seconds(20)).events(of: [scan], on: [Hall().ground]).fixes
    #expect(fixes.count >= 15)
    let first = try #require(fixes.first?.fix)
    let last = try #require(fixes.last?.fix)
    // One scan leaves nearly the whole hall open, and no fix leaves the hall: what is left is the noise of the cloud.
    #expect(last.horizontalAccuracy > first.horizontalAccuracy * 0.85)
    #expect(last.age > first.age + .seconds(10))
  }
}
