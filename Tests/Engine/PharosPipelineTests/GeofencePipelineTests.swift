import PharosFixes
import PharosModel
import PharosPipeline
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Geofences through the whole pipeline, without a venue")
struct GeofencePipelineTests {
  private static let start = Timestamp(seconds: 1_700_000_000)
  private static let middle = Geofence.Position(latitude: 48.137, longitude: 11.575)
  private static let walkers: [ObserverID] = [.name("ann"), .name("bob"), .name("cid")]

  private static let yard = Region(
    identifier: "yard",
    geofence: Geofence(shape: .circle(center: middle, radius: Meters(20)))
  )
  private static let site = Site(
    stream: "test",
    applications: [Application(identifier: "gallery", regions: [yard])]
  )

  /// Walks to and fro through the yard, a fix a second each with an error of a few metres.
  private static func inputs(seed: UInt64) -> [(observer: ObserverID, instant: Timestamp, fix: OutsideFix)] {
    var random = SeededGenerator(seed: seed)
    var inputs: [(observer: ObserverID, instant: Timestamp, fix: OutsideFix)] = []
    for second in 0..<300 {
      for (number, walker) in walkers.enumerated() {
        let place = Double((second + number * 40) % 160)
        let east = (place < 80 ? place : 160 - place) - 40 + Double.random(in: -4...4, using: &random)
        let fix = OutsideFix(
          latitude: middle.latitude,
          longitude: middle.longitude + east / (111_320 * 0.66738),
          horizontalAccuracy: Meters(4),
          speed: nil,
          source: .gnss
        )
        inputs.append((walker, start + .milliseconds(Int64(second * 1_000 + number * 100)), fix))
      }
    }
    return inputs
  }

  private static func run(
    _ inputs: [(observer: ObserverID, instant: Timestamp, fix: OutsideFix)],
    on site: Site = Self.site,
    shards: Int,
    batch size: Int,
    checkpointAt cut: Int? = nil
  ) throws -> [Event] {
    var pipeline = try Pipeline(site: site, shards: shards)
    var events: [Event] = []
    var next = 0
    while next < inputs.count {
      if let cut, next >= cut, next < cut + size {
        events += pipeline.advance(to: inputs[next].instant - .milliseconds(50))
        let bytes = pipeline.checkpoint()
        pipeline = try Pipeline(site: site, restoring: bytes, shards: shards)
      }
      var batch = ReportBatch()
      for input in inputs[next..<min(inputs.count, next + size)] {
        let index = batch.index(of: input.observer)
        batch.append(
          Report(observer: index, received: input.instant, timing: .received, body: .outsideFix(input.fix))
        )
      }
      events += pipeline.ingest(batch)
      next += size
    }
    return events + pipeline.finish(tail: .minutes(2))
  }

  @Test("the events are the same for every size of batches, number of shards and restart from a checkpoint")
  func determinism() throws {
    let inputs = Self.inputs(seed: Seeds.drawn(0..<1 as Range<UInt64>).first ?? 1)
    let whole = try Self.run(inputs, shards: 1, batch: inputs.count)
    let kinds = whole.map(\.kind)
    #expect(kinds.count { $0 == .regionEnter } >= 9)
    #expect(kinds.count { $0 == .regionExit } >= 6)
    #expect(Set(whole.map(\.id)).count == whole.count)
    for (shards, size) in [(1, 1), (1, 7), (2, 50), (3, 1)] {
      #expect(try Self.run(inputs, shards: shards, batch: size) == whole)
    }
    #expect(try Self.run(inputs, shards: 2, batch: 9, checkpointAt: 450) == whole)
  }

  @Test(
    "each location of a handset is a fix without a venue, whether there are areas or not; a late one is none",
    arguments: Seeds.drawn(1..<4 as Range<UInt64>)
  )
  func fixes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let inputs = Self.inputs(seed: seed)
    let events = [true, false].map { hasAreas in
      try? Self.run(inputs, on: hasAreas ? Self.site : Site(stream: "test"), shards: 1, batch: 7)
    }
    let fixes = events.map { events in (events ?? []).filter { $0.kind == .fix } }
    #expect(fixes[0] == fixes[1])
    #expect(fixes[0].count == inputs.count)
    for (event, input) in zip(fixes[0], inputs) {
      guard case .fix(let fix) = event.detail else { continue }
      #expect(event.subject == .observer(input.observer) && event.time == input.instant)
      #expect(fix.latitude == input.fix.latitude && fix.longitude == input.fix.longitude)
      #expect(fix.horizontalAccuracy == 4 && fix.sources == .outside && !fix.isIndoors && fix.venue.isEmpty)
    }
    var reported = ReportedFixes(site: Self.site, limit: 2)
    var latest: [ObserverID: Timestamp] = [:]
    for (number, input) in inputs.prefix(200).enumerated() {
      let walker = Self.walkers[number % 2]
      let sensing = Sensing(
        observer: walker,
        time: input.instant - .seconds(Double.random(in: 0...3, using: &random)),
        decidedAt: input.instant,
        ordinal: 0,
        body: .outside(input.fix)
      )
      let isLate = latest[walker].map { sensing.time <= $0 } ?? false
      #expect((reported.receive(sensing) == nil) == isLate)
      if !isLate { latest[walker] = sensing.time }
    }
    #expect(reported.counters.late > 0 && reported.counters.subjects == 2)
  }

  @Test("a region is added, asked about and forgotten while subjects are located")
  func changes() throws {
    var pipeline = try Pipeline(site: Site(stream: "test"))
    var events = pipeline.apply(.startMonitoring(application: "shop", Self.yard), at: Self.start)
    for second in 1...10 {
      var batch = ReportBatch()
      let fix = OutsideFix(
        latitude: Self.middle.latitude,
        longitude: Self.middle.longitude,
        horizontalAccuracy: Meters(3),
        speed: nil,
        source: .gnss
      )
      let index = batch.index(of: Self.walkers[0])
      let time = Self.start + .seconds(Double(second))
      batch.append(Report(observer: index, received: time, timing: .received, body: .outsideFix(fix)))
      events += pipeline.ingest(batch)
    }
    events += pipeline.advance(to: Self.start + .seconds(10.5))
    #expect(pipeline.insideNow().map(\.region) == ["yard"])
    let subject = SubjectID.observer(Self.walkers[0])
    events += pipeline.apply(
      .requestState(application: "shop", identifier: "yard", subject: subject),
      at: Self.start + .seconds(11)
    )
    let traces = try #require(SubjectTraces("ann"))
    events += pipeline.apply(.forget(traces), at: Self.start + .seconds(12))
    events += pipeline.finish(tail: .minutes(1))
    let states = events.compactMap { event -> String? in
      guard case .region(let transition) = event.detail, event.kind == .regionState else { return nil }
      return "\(transition.to)\(transition.isAnswer ? "?" : "")"
    }
    #expect(states == ["inside", "inside?", "unmonitored"])
  }

  @Test("an area that is none is refused, with the corners that cross")
  func refused() throws {
    let corners = [(0.0, 0.0), (0.1, 0.1), (0.1, 0), (0, 0.1)]
      .map { Geofence.Position(latitude: 48 + $0.1, longitude: 11 + $0.0) }
    let bow = Region(identifier: "bow", geofence: Geofence(shape: .polygon(rings: [corners])))
    var pipeline = try Pipeline(site: Site(stream: "test"))
    #expect(throws: RegionRefusal.self) { try pipeline.check(.startMonitoring(application: "shop", bow)) }
    _ = pipeline.apply(.startMonitoring(application: "shop", bow), at: Self.start)
    #expect(pipeline.applications.isEmpty)
  }
}
