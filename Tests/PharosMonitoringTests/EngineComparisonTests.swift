import PharosEvents
import PharosMonitoring
import PharosReports
import PharosTestSupport
import Testing

/// What both engines can do.
private protocol Engine {
  init(site: Site, limits: MonitoringLimits, models: RangingModels, sensing: SensingScope?)
  mutating func ingest(_ batch: borrowing ReportBatch, into output: inout StageOutput)
  mutating func ingest(_ report: Report, in batch: borrowing ReportBatch, into output: inout StageOutput)
  mutating func advance(to watermark: Timestamp, into output: inout StageOutput)
  mutating func apply(_ change: RegionChange, at received: Timestamp, into output: inout StageOutput)
  mutating func adopt(_ site: Site, at instant: Timestamp, into output: inout StageOutput)
  mutating func pause(through end: Timestamp, at received: Timestamp, into output: inout StageOutput)
  mutating func finishChanges(into output: inout StageOutput)
  func writeState(to writer: inout FieldWriter)
  mutating func restoreState(
    from reader: inout FieldReader,
    where isOurs: (ObserverID) -> Bool
  ) throws(FieldError)
  mutating func resume(at instant: Timestamp, lastTold: LastTold, into output: inout StageOutput)
  func observers() -> [ObserverStatus]
  func standings() -> [RegionStanding]
  func tracks(_ query: TrackQuery) -> [TrackInsight]
  var counters: MonitoringCounters { get }
}

extension StageOne: Engine {}
extension MonitoringEngine: Engine {}

/// The engine must decide as the one before it does.
@Suite("The engine compared with the one before")
struct EngineComparisonTests {
  /// What an engine gave out, in the order in which it is published.
  struct Told: Equatable {
    var events: [Event] = []
    var links: [StageLink] = []
    var observers: [ObserverStatus] = []
    var standings: [RegionStanding] = []
    var tracks: [TrackInsight] = []
    var counters = MonitoringCounters()
  }

  /// What happens to an engine beside its inputs.
  enum Interruption { case none, restarts, pauses, adoptions }

  private static func play<E: Engine>(
    _ type: E.Type,
    _ world: StateWorld,
    _ interruption: Interruption = .none,
    batch size: Int = 1
  ) throws -> Told {
    var engine = E(site: world.site, limits: .init(), models: world.models, sensing: nil)
    var output = StageOutput()
    var batch = ReportBatch()
    for (number, (time, input)) in world.inputs.enumerated() {
      switch input {
      case .change(let change):
        engine.ingest(batch, into: &output)
        batch.removeAll()
        engine.apply(change, at: Timeline.at(time), into: &output)
      case .report(var body, let payload, let observer, let timing):
        if case .advert(var advert) = body {
          advert.payload = batch.append(payload: payload)
          body = .advert(advert)
        }
        batch.append(
          Report(observer: batch.index(of: observer), received: Timeline.at(time), timing: timing, body: body)
        )
        if batch.reports.count >= size {
          engine.ingest(batch, into: &output)
          batch.removeAll()
        }
      }
      guard number % 97 == 96 else { continue }
      engine.ingest(batch, into: &output)
      batch.removeAll()
      switch interruption {
      case .none: break
      case .pauses: engine.pause(through: Timeline.at(time + 20), at: Timeline.at(time), into: &output)
      case .adoptions:
        var site = world.site
        for place in site.observers.indices {
          site.observers[place].rssiOffset += Double(number % 3)
          site.observers[place].lag = number % 2 == 0 ? .milliseconds(700) : nil
          site.observers[place].liveness = number % 4 < 2 ? .auto : .traffic
        }
        if number % 5 > 2 { site.applications[0].regions.removeLast() }
        engine.adopt(site, at: Timeline.at(time), into: &output)
      case .restarts:
        engine.finishChanges(into: &output)
        var writer = FieldWriter()
        engine.writeState(to: &writer)
        engine = E(site: world.site, limits: .init(), models: world.models, sensing: nil)
        var reader = FieldReader(writer.bytes[...])
        try engine.restoreState(from: &reader) { _ in true }
        if number % 2 == 0 { engine.resume(at: Timeline.at(time), lastTold: LastTold(), into: &output) }
      }
    }
    engine.ingest(batch, into: &output)
    engine.advance(to: Timeline.at((world.inputs.last?.time ?? 0) + 1_000), into: &output)
    return Told(
      events: output.events.sorted(by: Event.isOrderedBefore),
      links: output.links.sorted(by: StageLink.isOrderedBefore),
      observers: engine.observers(),
      standings: engine.standings(),
      tracks: engine.tracks(TrackQuery(limit: 1_000)),
      counters: engine.counters
    )
  }

  private static func compare(_ old: Told, _ new: Told) {
    for (left, right) in zip(old.events, new.events) where left != right {
      Issue.record("event\n\(left)\nbecame\n\(right)")
      return
    }
    #expect(old.events.count == new.events.count)
    for (left, right) in zip(old.links, new.links) where left != right {
      Issue.record("link\n\(left)\nbecame\n\(right)")
      return
    }
    #expect(old.links.count == new.links.count)
    for (left, right) in zip(old.tracks, new.tracks) where left != right {
      Issue.record("track\n\(left)\nbecame\n\(right)")
      return
    }
    #expect(old.observers == new.observers)
    #expect(old.standings == new.standings)
    #expect(old.counters == new.counters)
  }

  @Test("drawn worlds give the same events, links, tracks and counts", arguments: Seeds.drawn(1..<41))
  func worlds(seed: Int) throws {
    let world = StateWorld(seed: seed)
    EngineComparisonTests.compare(
      try EngineComparisonTests.play(StageOne.self, world),
      try EngineComparisonTests.play(MonitoringEngine.self, world)
    )
  }

  @Test("so do they in batches", arguments: Seeds.drawn(41..<81))
  func batches(seed: Int) throws {
    let world = StateWorld(seed: seed)
    EngineComparisonTests.compare(
      try EngineComparisonTests.play(StageOne.self, world),
      try EngineComparisonTests.play(MonitoringEngine.self, world, batch: 40)
    )
  }

  @Test("so do they over pauses, restarts and edits", arguments: Seeds.drawn(81..<121))
  func interruptions(seed: Int) throws {
    let world = StateWorld(seed: seed)
    for interruption in [Interruption.pauses, .restarts, .adoptions] {
      EngineComparisonTests.compare(
        try EngineComparisonTests.play(StageOne.self, world, interruption),
        try EngineComparisonTests.play(MonitoringEngine.self, world, interruption)
      )
    }
  }
}
