import PharosDocuments
import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Beacons that are heard seldom")
struct SparseBeaconTests {
  /// A region with the default policy, or another one.
  static func region(_ policy: PresencePolicy = PresencePolicy()) -> Region {
    Region(identifier: "door", constraint: .proximity(Timeline.uuid), presence: policy)
  }

  /// The times at which a beacon of an interval is heard, if so many of its adverts are lost.
  static func times(
    every interval: Double,
    count: Int,
    loss: Double = 0,
    using generator: inout SeededGenerator
  ) -> [Double] {
    var time = Double.random(in: 0...interval, using: &generator)
    var times: [Double] = []
    while times.count < count {
      time += interval + Double.random(in: 0...0.01, using: &generator)
      if Double.random(in: 0..<1, using: &generator) >= loss { times.append(time) }
    }
    return times
  }

  /// The number of the advert with which a beacon that is heard at such times enters, or nil.
  static func entry(_ times: [Double], _ policy: PresencePolicy = PresencePolicy()) -> Int? {
    var timeline = Timeline(Timeline.site([region(policy)]))
    for (number, time) in times.enumerated() {
      timeline.receive(at: time)
      if timeline.events.contains(where: { $0.kind == .regionEnter }) { return number + 1 }
    }
    return nil
  }

  @Test(
    "it enters with its third advert in regular distance, whatever the interval up to two minutes",
    arguments: [29, 31, 45, 60, 90, 120] as [Double]
  )
  func third(interval: Double) {
    var generator = SeededGenerator(seed: UInt64(interval))
    for _ in 0..<50 {
      let entry = Self.entry(Self.times(every: interval, count: 4, using: &generator))
      #expect(entry == (interval < 30 ? 2 : 3))
    }
  }

  @Test(
    "of 30 % lost adverts, 95 in 100 enter with the fifth at the latest",
    arguments: [31, 45, 60, 120] as [Double]
  )
  func lossy(interval: Double) {
    var generator = SeededGenerator(seed: UInt64(interval))
    let entries = (0..<400).map { _ in
      Self.entry(Self.times(every: interval, count: 12, loss: 0.3, using: &generator)) ?? .max
    }
    #expect(entries.filter { $0 <= 5 }.count >= 380)
    #expect(entries.allSatisfy { $0 < .max })
  }

  @Test("more samples than two, and a level, are asked for as they are of a fast beacon")
  func policies() {
    let every45 = (0..<20).map { Double($0) * 45 }
    #expect(Self.entry(every45, PresencePolicy(enterSamples: 3)) == 3)
    #expect(Self.entry(every45, PresencePolicy(enterSamples: 5)) == 5)
    #expect(Self.entry(every45, PresencePolicy(enterWithin: .seconds(40))) == nil)
    #expect(Self.entry(every45, PresencePolicy(enterRSSI: -55)) == nil)
    #expect(Self.entry(every45, PresencePolicy(enterRSSI: -65)) == 3)
  }

  @Test(
    "reflections do not enter oftener than two of them fall within half a minute",
    arguments: [2, 6, 20] as [Double]
  )
  func reflections(perHour: Double) {
    var generator = SeededGenerator(seed: UInt64(perHour))
    var (pairs, entries) = (0, 0)
    for _ in 0..<2_000 {
      var (time, times) = (0.0, [Double]())
      for _ in 0..<8 {
        time += -Double.random(in: 1e-9..<1, using: &generator).logarithm * 3_600 / perHour
        times.append(time)
      }
      let isPair = zip(times, times.dropFirst()).contains { $1 - $0 <= 30.036 }
      pairs += isPair ? 1 : 0
      entries += Self.entry(times) != nil ? 1 : 0
    }
    #expect(entries >= pairs)
    #expect(Double(entries) <= Double(pairs) * 1.05 + 3, "\(entries) entries, \(pairs) pairs")
  }

  /// A beacon that was here in one interval, left, and is heard at other times since: the number of the advert with which it
  /// enters again, or nil.
  private static func returning(
    from interval: Double,
    at times: [Double],
    samples: Int = 2,
    using generator: inout SeededGenerator
  ) -> Int? {
    var timeline = Timeline(Timeline.site([region(PresencePolicy(enterSamples: samples))]))
    let visit = Self.times(every: interval, count: 200, using: &generator)
    for time in visit { timeline.receive(at: time) }
    let back = (visit.last ?? 0) + 600
    timeline.advance(to: back)
    timeline.events = []
    for (number, time) in times.enumerated() {
      timeline.receive(at: back + time)
      if timeline.events.contains(where: { $0.kind == .regionEnter }) { return number + 1 }
    }
    return nil
  }

  @Test(
    "it enters again in any other interval, however many samples that takes",
    arguments: Seeds.drawn(0..<6)
  )
  func changedInterval(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<60 {
      let before = 0.1 * RadioMath.exponential(Double.random(in: 0...6, using: &generator))
      let after = 0.1 * RadioMath.exponential(Double.random(in: 0...7, using: &generator))
      let samples = Int.random(in: 1...5, using: &generator)
      let isLossy = Bool.random(using: &generator)
      let times = Self.times(every: after, count: 150, loss: isLossy ? 0.3 : 0, using: &generator)
      let entry = Self.returning(from: before, at: times, samples: samples, using: &generator)
      #expect(
        (entry ?? .max) <= (isLossy ? 150 : samples + 5),
        "\(before) s, then \(after) s, \(samples) samples: \(entry ?? -1)"
      )
    }
  }

  @Test(
    "reflections of a fast beacon hardly enter but by two within its window",
    arguments: [6, 20, 60] as [Double]
  )
  func reflectionsOfFast(perHour: Double) {
    var generator = SeededGenerator(seed: UInt64(perHour))
    var (pairs, entries) = (0, 0)
    for _ in 0..<1_000 {
      var (time, times) = (0.0, [Double]())
      for _ in 0..<8 {
        time += -Double.random(in: 1e-9..<1, using: &generator).logarithm * 3_600 / perHour
        times.append(time)
      }
      pairs += zip(times, times.dropFirst()).contains { $1 - $0 <= 3 } ? 1 : 0
      entries += Self.returning(from: 0.5, at: times, using: &generator) != nil ? 1 : 0
    }
    #expect(entries >= pairs)
    #expect(Double(entries) <= Double(pairs) * 1.2 + 10, "\(entries) entries, \(pairs) pairs")
  }

  @Test("a lone advert does not enter, however often one upload names it")
  func lone() {
    var timeline = Timeline(Timeline.site([Self.region()]))
    for _ in 0..<4 { timeline.receive(at: 0) }
    timeline.advance(to: 3_000)
    for _ in 0..<4 { timeline.receive(at: 3_000) }
    #expect(timeline.story().isEmpty)
  }

  @Test(
    "a gateway that uploads several adverts at once makes a tag enter within a few uploads",
    arguments: [10, 30, 60]
  )
  func uploads(period: Int) {
    var timeline = Timeline(Timeline.site([Self.region()]))
    for upload in 0..<60 {
      for _ in 0..<2 + upload % 3 { timeline.receive(at: Double(upload * period)) }
      if upload == 2 { #expect(timeline.events.contains { $0.kind == .regionEnter }) }
    }
    #expect(!timeline.events.contains { $0.kind == .regionExit })
    timeline.advance(to: Double(60 * period) + 1_000)
    #expect(timeline.events.filter { $0.kind == .regionExit }.count == 1)
  }

  @Test(
    "adverts of an upload once a minute count as heard when they were sent",
    arguments: [31, 20, 5] as [Double]
  )
  func ages(interval: Double) {
    var timeline = Timeline(Timeline.site([Self.region()], liveness: .auto))
    var sent = 0.0
    for upload in 1...120 {
      let received = Double(upload * 60)
      while sent < received {
        timeline.receive(at: received, timing: .age(.seconds(received - sent)))
        timeline.receive(9, 9, at: received, timing: .age(.seconds(received - sent)))
        sent += interval
      }
      if upload == 6 { #expect(timeline.events.contains { $0.kind == .regionEnter }) }
    }
    #expect(!timeline.events.contains { $0.kind == .regionExit })
    let enter = timeline.events.first { $0.kind == .regionEnter }
    // The last advert of one upload and the first of the next are enough.
    #expect(enter.map { $0.decidedAt - $0.time <= .seconds(60) } == true)
  }

  @Test(
    "it may be silent for three to five intervals, also behind a restart",
    arguments: [31, 45, 60, 120] as [Double]
  )
  func silence(interval: Double) throws {
    let site = Timeline.site([Self.region()])
    for restarts in [false, true] {
      var timeline = Timeline(site)
      for number in 0..<40 { timeline.receive(at: Double(number) * interval) }
      let last = 39 * interval
      var since = last
      if restarts {
        let kept = timeline.checkpoint(at: last + 1)
        try timeline.restart(from: kept, at: last + 5, site: site)
        since = last + 5
      }
      timeline.advance(to: last + 3_000)
      let exits = timeline.events.filter { $0.kind == .regionExit }
      #expect(exits.count == 1)
      let gap = (exits[0].time - Timeline.at(since)).seconds
      #expect(gap >= 3 * interval && gap <= 5 * interval, "\(gap) s")
    }
  }

  @Test("adverts before a checkpoint count after it")
  func checkpoint() throws {
    let site = Timeline.site([Self.region()])
    var timeline = Timeline(site)
    for number in 0..<2 { timeline.receive(at: Double(number) * 60) }
    var twin = timeline
    let kept = twin.checkpoint(at: 61)
    var reader = FieldReader(kept.bytes[...])
    twin.engine = MonitoringEngine(site: site)
    try twin.engine.restoreState(from: &reader) { _ in true }
    timeline.receive(at: 120)
    twin.receive(at: 120)
    #expect(timeline.story() == twin.story())
    #expect(timeline.events.contains { $0.kind == .regionEnter })
  }

  @Test("its status says what was heard and what is missing")
  func status() throws {
    var timeline = Timeline(Timeline.site([Self.region()]))
    for number in 0..<2 { timeline.receive(at: Double(number) * 60) }
    let insight = try #require(timeline.engine.tracks(TrackQuery()).first)
    let entry = try #require(insight.regions.first?.entry)
    #expect(entry.heard == 2 && entry.span == .seconds(60) && entry.isNextEnough)
    timeline.receive(at: 120)
    #expect(timeline.engine.tracks(TrackQuery()).first?.regions.first?.entry == nil)
  }
}

extension Double {
  /// The natural logarithm.
  fileprivate var logarithm: Double { RadioMath.naturalLog(self) }
}
