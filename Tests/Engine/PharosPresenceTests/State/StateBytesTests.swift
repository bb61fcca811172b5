import PharosDocuments
import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Bytes of a state, whole and damaged")
struct StateBytesTests {
  /// A state with something of everything in it.
  private static func part(_ seed: Int) -> (world: StateWorld, run: StateRun, bytes: [UInt8]) {
    let world = StateWorld(seed: seed, count: 500)
    var run = StateRun(world)
    for (time, input) in world.inputs { run.give(input, at: time) }
    return (world, run, run.parts[0])
  }

  @Test("a state that is cut off anywhere is refused")
  func cut() {
    let (world, _, bytes) = StateBytesTests.part(60)
    for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 80)) {
      var engine = StateRun.fresh(world, 1, MonitoringLimits())[0]
      var reader = FieldReader(bytes[..<length])
      #expect(throws: FieldError.self) { try engine.restoreState(from: &reader) { _ in true } }
    }
  }

  @Test("bytes that are damaged are refused, or make an engine that continues to run", arguments: 0..<4)
  func damaged(seed: Int) {
    let (world, _, bytes) = StateBytesTests.part(70 + seed)
    var random = SeededGenerator(seed: UInt64(seed) &+ 5)
    let later = (world.inputs.last?.time ?? 0) + 1
    var (refused, accepted) = (0, 0)
    for _ in 0..<60 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<damaged.count, using: &random)
        damaged[place] =
          [0, 0x7F, 0xFF, damaged[place] ^ 1, damaged[place] ^ 0x80].randomElement(using: &random) ?? 0
      }
      var engine = StateRun.fresh(world, 1, MonitoringLimits())[0]
      var reader = FieldReader(damaged[...])
      do {
        try engine.restoreState(from: &reader) { _ in true }
      } catch {
        refused += 1
        continue
      }
      accepted += 1
      var run = StateRun(world)
      if Bool.random(using: &random) {
        engine.resume(at: Timeline.at(later + 50), publishedState: PublishedState(), into: &run.output)
      }
      run.engines = [engine]
      for (time, input) in world.inputs.prefix(60) { run.give(input, at: later + 50 + time) }
      run.advance(to: later + 5_000)
      _ = run.parts
      _ = run.engines[0].tracks(TrackQuery())
    }
    #expect(refused > 0)
    #expect(accepted > 0)
  }

  @Test(
    "reports with timestamps out of range can be stored, and the engine continues from there",
    arguments: [-292.0, -147, 0, 73.1, 74, 147, 292]
  )
  func farTimes(years: Double) throws {
    let site = Timeline.site([Timeline.region()])
    var timeline = Timeline(site)
    let time = years * 31_557_600 - Double(Timeline.origin.nanoseconds) / 1e9
    timeline.receive(at: time)
    #expect(timeline.story().count == 1)
    let kept = timeline.checkpoint(at: time + 1)
    try timeline.restart(from: kept, at: time + 2, site: site)
    #expect(timeline.checkpoint(at: time + 3).bytes.count == kept.bytes.count)
    #expect(timeline.engine.standings().map(\.state) == [.inside])
  }

  @Test("a gap as long as time allows can be kept", arguments: [31.0, 32, 100, 238])
  func longGap(years: Double) throws {
    let site = Timeline.site([Timeline.region()])
    var timeline = Timeline(site)
    let time = years * 31_557_600
    for second in 0..<4 { timeline.receive(at: Double(second)) }
    timeline.receive(at: time)
    try timeline.restart(from: timeline.checkpoint(at: time + 1), at: time + 2, site: site)
    timeline.receive(at: time + 3)
    #expect(timeline.engine.standings().map(\.state) == [.inside])
  }

  @Test(
    "an offset that no receiver has is held, and makes no state that cannot be read",
    arguments: [1e300, -.infinity, .nan]
  )
  func absurdOffset(offset: Double) throws {
    let site = Timeline.site([Timeline.region()])
    var absurd = site
    absurd.observers = [
      ObserverEntry(id: Timeline.handset, rssiOffset: offset, liveness: .assumed)
    ]
    for (before, after) in [(absurd, site), (site, absurd)] {
      var timeline = Timeline(before)
      for second in 0..<4 { timeline.receive(at: Double(second)) }
      try timeline.restart(from: timeline.checkpoint(at: 5), at: 6, site: after)
      timeline.receive(at: 7)
      try timeline.restart(from: timeline.checkpoint(at: 8), at: 9, site: after)
      #expect(timeline.engine.standings().map(\.state) == [.inside])
    }
  }

  @Test("random bytes are refused", arguments: 0..<4)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      var bytes = (0..<Int.random(in: 0...400, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      if !bytes.isEmpty, Bool.random(using: &random) { bytes[0] = 1 }
      var engine = MonitoringEngine(site: Site())
      var reader = FieldReader(bytes[...])
      #expect(throws: FieldError.self) { try engine.restoreState(from: &reader) { _ in true } }
      #expect(engine.observers().isEmpty)
    }
  }

  @Test("another version is refused by its number")
  func version() {
    let (world, _, bytes) = StateBytesTests.part(61)
    var other = bytes
    other[0] = 8
    var engine = StateRun.fresh(world, 1, MonitoringLimits())[0]
    var reader = FieldReader(other[...])
    #expect(throws: FieldError(.version(8, expected: 17), at: 1)) {
      try engine.restoreState(from: &reader) { _ in true }
    }
  }

  @Test("parts that number regions differently do not belong together")
  func outsiders() throws {
    let (world, run, bytes) = StateBytesTests.part(62)
    var engine = StateRun.fresh(world, 1, MonitoringLimits())[0]
    var reader = FieldReader(bytes[...])
    try engine.restoreState(from: &reader) { $0 == .eui48(1) }
    var other = run
    for index in 0..<3 {
      let region = Timeline.region("more\(index)")
      other.give(.change(.startMonitoring(application: "gallery", region)), at: 10_000 + Double(index))
    }
    var second = FieldReader(other.parts[0][...])
    #expect(throws: FieldError.self) { try engine.restoreState(from: &second) { $0 == .eui48(2) } }
    #expect(engine.observers().map(\.id) == [.eui48(1)])
  }
}
