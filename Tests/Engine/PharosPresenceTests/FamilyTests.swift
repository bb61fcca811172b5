import PharosDecisionCheck
import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Learning among the tracks of a family")
struct FamilyTests {
  /// What a track with such gaps tells its family.
  static func record(_ gaps: [Float], to pool: inout LossPool) {
    var (learner, history) = (IntervalLearner(), LossHistory())
    for gap in gaps { _ = learner.learn(gap: gap, &history) }
    pool.record(learner, slowest: 0)
  }

  @Test("good neighbours do not shorten what a bad one needs, be they six or twenty")
  func worst() {
    func allowed(neighbours: Int) -> Double {
      var pool = LossPool()
      // One in eight loses ten to thirty adverts in a row now and then; the others lose single ones.
      for number in 0..<neighbours {
        var (learner, history) = (IntervalLearner(), LossHistory())
        for step in 0..<512 {
          let isLong = number % 8 == 0 && step % 64 == 63
          let missed = isLong ? 10 + step % 20 : step % 5 == 4 ? 1 : 0
          _ = learner.learn(gap: Float(missed + 1), &history)
        }
        let all = history.all(received: learner.received)
        pool.add(all, of: LossPool.WorstTrack(losses: all, interval: 1), level: -80)
        pool.record(learner, slowest: 0)
      }
      var silence = AdaptiveSilenceTests.learned(Array(repeating: 1.0, count: 200))
      silence.belief = pool.belief(level: -80)
      silence.worst = pool.worst(level: -80)
      return AdaptiveSilenceTests.gap(silence, PresencePolicy()).seconds
    }
    let (few, many) = (allowed(neighbours: 6), allowed(neighbours: 24))
    #expect(few >= 30)
    #expect(abs(many - few) < few * 0.05, "\(few) s and \(many) s")
  }

  @Test("tracks that take several intervals for one do not unsettle a family, and those that agree settle it")
  func agreement() {
    var pool = LossPool()
    FamilyTests.record(Array(repeating: 0.104, count: 9), to: &pool)
    #expect(pool.commonInterval == 0, "one track is no family")
    FamilyTests.record([0.73, 1.46, 0.73, 0.73], to: &pool)
    FamilyTests.record([1.9, 2.1, 2.0], to: &pool)
    FamilyTests.record(Array(repeating: 0.106, count: 9), to: &pool)
    #expect(abs(pool.commonInterval - 0.105) < 0.002)
  }

  @Test("a family that took a multiple for its interval learns the true one from two tracks")
  func correction() {
    var pool = LossPool()
    FamilyTests.record([0.73, 0.73, 0.73], to: &pool)
    for _ in 0..<2 { FamilyTests.record(Array(repeating: 0.104, count: 9), to: &pool) }
    #expect(abs(pool.commonInterval - 0.104) < 0.002)
  }

  @Test("a young track believes one gap of its family's interval, or of two of them; an old one does not")
  func belief() {
    for short in [Float(0.104), 0.209] {
      var (learner, history) = (IntervalLearner(), LossHistory())
      _ = learner.learn(gap: 0.94, &history)
      history.shorter = 0.104
      _ = learner.learn(gap: short, &history)
      #expect(abs(learner.interval - 0.1045) < 0.001, "after a gap of \(short) s")
    }
    var (learner, history) = (IntervalLearner(), LossHistory())
    for _ in 0..<100 { _ = learner.learn(gap: 1, &history) }
    history.shorter = 0.104
    _ = learner.learn(gap: 0.209, &history)
    #expect(learner.interval == 1)
  }

  @Test("a young track reckons with its family's interval, but is no less patient than its own gaps ask for")
  func pace() {
    var silence = AdaptiveSilenceTests.learned([6, 14])
    silence.familyInterval = 0.104
    #expect(silence.pace(PresencePolicy()) == 6)
    silence.isFamilyIntervalKnown = true
    #expect(silence.pace(PresencePolicy()) == 0.104)
    let gap = AdaptiveSilenceTests.gap(silence).seconds
    #expect(gap >= 21 && gap < 60, "\(gap) s")
    silence = AdaptiveSilenceTests.learned([1, 1.005, 1.008])
    (silence.familyInterval, silence.isFamilyIntervalKnown) = (0.104, true)
    #expect(silence.pace(PresencePolicy()) >= 1, "gaps of just one length are its own")
  }

  @Test("two short gaps in different windows are two accidents and no interval")
  func accidents() {
    var (learner, history) = (IntervalLearner(), LossHistory())
    for _ in 0..<3 {
      for _ in 0..<127 { _ = learner.learn(gap: 0.505, &history) }
      _ = learner.learn(gap: 0.21, &history)
      _ = history.turn(&learner, samples: 128)
    }
    #expect(abs(learner.interval - 0.505) < 0.01)
  }

  @Test("a track with more losses gives the family's prior less weight")
  func doubt() {
    var silence = AdaptiveSilenceTests.learned((0..<60).map { $0 % 3 == 0 ? 3 : 1 })
    let alone = AdaptiveSilenceTests.gap(silence)
    silence.belief.received = 30_000
    #expect(AdaptiveSilenceTests.gap(silence) > alone * 0.6)
  }

  @Test("the rate of bodies is what was counted in the time watched, and falls to a budget in ten days")
  func bodies() {
    var pool = LossPool()
    #expect(abs(pool.bodiesPerDay - 150) < 0.01)
    for _ in 0..<10 { pool.recordWatch(86_400) }
    #expect(abs(pool.bodiesPerDay - 0.01) < 0.0001)
    for _ in 0..<5 { pool.recordHiding() }
    #expect(abs(pool.bodiesPerDay - 0.51) < 0.01)
    for _ in 0..<90 { pool.recordWatch(86_400) }
    #expect(abs(pool.bodiesPerDay - 0.051) < 0.001)
    pool.recordWatch(86_400)
    #expect(abs(pool.bodiesPerDay - 0.051) < 0.002, "half of both is forgotten")
  }

  @Test("bodies are learned from silences at the usual level that ordinary losses do not explain")
  func bodyRate() throws {
    let region = Region(
      identifier: "tag",
      constraint: .proximity(Timeline.uuid, major: 1, minor: 7),
      subject: .observer,
      presence: PresencePolicy()
    )
    func gap(hidings: Bool, hours: Int) throws -> TimeSpan {
      var timeline = Timeline(Timeline.site([region]))
      var time = 0.0
      for step in 0..<(hours * 27_700) {
        timeline.receive(1, 7, at: time, rssi: -75)
        time += step % 10 == 0 ? 0.4 : 0.1
        if hidings, step % 3_000 == 2_999 { time += 7 }
      }
      timeline.advance(to: time + 600)
      #expect(timeline.events.count { $0.kind == .regionExit } == 1)
      let evidence = try #require(timeline.transitions(.regionExit).first?.evidence)
      #expect(evidence.recomputed() == .follows)
      return try #require(evidence.gap)
    }
    let few = try gap(hidings: false, hours: 4)
    let many = try gap(hidings: true, hours: 4)
    #expect(few < .seconds(11), "\(few)")
    #expect(many > few + .seconds(2) && many < .seconds(60), "\(many)")
  }

  @Test("reflections minutes apart never enter, however many there are")
  func reflections() {
    let region = Region(
      identifier: "door",
      constraint: .proximity(Timeline.uuid),
      subject: .observer,
      presence: PresencePolicy(enterSamples: 2)
    )
    for seed in 0..<20 {
      var generator = SeededGenerator(seed: UInt64(seed))
      var timeline = Timeline(Timeline.site([region]))
      var time = 0.0
      for _ in 0..<60 {
        timeline.receive(at: time)
        time += Double.random(in: 120...600, using: &generator)
      }
      timeline.advance(to: time)
      #expect(timeline.events.count { $0.kind == .regionEnter } == 0, "seed \(seed)")
    }
  }

  @Test("reflections of a beacon that is away, however regular, teach no interval")
  func reflectionsOfOneAway() throws {
    let region = Region(
      identifier: "tag",
      constraint: .proximity(Timeline.uuid, major: 1, minor: 7),
      subject: .observer,
      presence: PresencePolicy()
    )
    var timeline = Timeline(Timeline.site([region]))
    for step in 0..<600 { timeline.receive(1, 7, at: Double(step) * 0.35) }
    for step in 1...5 { timeline.receive(1, 7, at: 210 + Double(step) * 300) }
    for step in 0..<600 { timeline.receive(1, 7, at: 2_000 + Double(step) * 0.35) }
    timeline.advance(to: 3_000)
    let exits = timeline.transitions(.regionExit)
    #expect(exits.count == 2)
    let last = try #require(exits.last?.evidence)
    #expect(try #require(last.gap) < .seconds(20))
    #expect(try #require(last.interval) < .seconds(1))
  }

  @Test("two tags that come to rest alike tell their family at once: the third has no false exit")
  func firstRests() {
    let minors: [UInt16] = [7, 8, 9]
    let regions = minors.map { minor in
      Region(
        identifier: "tag \(minor)",
        constraint: .proximity(Timeline.uuid, major: 1, minor: minor),
        subject: .observer,
        presence: PresencePolicy()
      )
    }
    var timeline = Timeline(Timeline.site(regions))
    var time = 0.0
    for minor in minors {
      for _ in 0..<200 {
        timeline.receive(1, minor, at: time)
        time += 0.1
      }
      for _ in 0..<8 {
        time += 9.9
        timeline.receive(1, minor, at: time)
        time += 0.1
      }
    }
    #expect(timeline.events.count { $0.kind == .regionExit && $0.region == "tag 7" } > 0)
    #expect(timeline.events.count { $0.kind == .regionExit && $0.region == "tag 9" } == 0)
    timeline.advance(to: time + 600)
    #expect(timeline.events.count { $0.kind == .regionExit && $0.region == "tag 9" } == 1)
  }

  @Test("one tag that seems to rest tells its family nothing, and neither do two with different intervals")
  func oneRest() {
    var pool = LossPool()
    pool.recordRest(10)
    #expect(pool.expectedSlowest == 0)
    pool.recordRest(17)
    #expect(pool.expectedSlowest == 0)
    pool.recordRest(17.1)
    #expect(abs(pool.expectedSlowest - 17.1) < 0.01)
  }
}
