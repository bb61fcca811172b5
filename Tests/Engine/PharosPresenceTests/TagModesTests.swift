import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("The modes of a tag")
struct TagModesTests {
  static let second = ObserverID.eui48(0xAC23_3FA0_0002)
  private static let door = Region(identifier: "door", constraint: .proximity(Timeline.uuid, major: 1))

  /// A tag with a motion sensor that comes and goes, at one observer or at two in turn.
  struct MotionTag {
    var moving = 0.1
    var rest = 10.0
    var loss = 0.0
    var visits = 5
    /// The time for which it is away between two visits, in seconds.
    var away = 5_400.0
    var observers = [Timeline.handset]

    struct Outcome {
      var falseExits = 0
      var delays: [Double] = []
    }

    /// Plays the visits: it moves, rests, moves, and rests again.
    func play(seed: UInt64) -> Outcome {
      var random = SeededGenerator(seed: seed)
      var timeline = Timeline(Timeline.site([TagModesTests.door]))
      var outcome = Outcome()
      var time = 10.0
      for visit in 0..<visits {
        let observer = observers[visit % observers.count]
        let start = time
        let calmed = Double.random(in: 8...20, using: &random) * rest
        for (interval, length) in [(moving, 10.0), (rest, calmed), (moving, 10), (rest, calmed)] {
          let end = time + max(length, interval)
          while time < end {
            if Double.random(in: 0..<1, using: &random) >= loss { timeline.receive(at: time, from: observer) }
            time += interval + Double.random(in: 0...0.01, using: &random)
          }
        }
        let last = time
        time += away
        timeline.advance(to: time)
        let exits = timeline.events.filter { $0.kind == .regionExit && $0.decidedAt >= Timeline.at(start) }
        outcome.falseExits += exits.count { $0.decidedAt < Timeline.at(last) }
        outcome.delays += exits.filter { $0.decidedAt >= Timeline.at(last) }.map {
          ($0.decidedAt - Timeline.at(last)).seconds
        }
      }
      return outcome
    }
  }

  @Test("a motion tag exits falsely once at most, whatever its intervals are", arguments: Seeds.fixed(0..<60))
  func visits(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var tag = MotionTag()
    tag.rest = Double.random(in: 2...60, using: &random)
    tag.moving = max(0.1, tag.rest / Double.random(in: 10...200, using: &random))
    tag.visits = Int.random(in: 2...8, using: &random)
    tag.loss = seed % 3 == 0 ? 0 : Double.random(in: 0...0.2, using: &random)
    if seed % 2 == 0 { tag.observers.append(TagModesTests.second) }
    let outcome = tag.play(seed: UInt64(seed))
    #expect(outcome.falseExits <= 1, "\(tag)")
    #expect(outcome.delays.count == tag.visits, "\(tag)")
    if tag.loss == 0, let last = outcome.delays.last {
      #expect(last < max(tag.rest * 12, 10), "\(tag): \(outcome.delays)")
    }
  }

  @Test("three adverts in one interval are a mode, though a faster one follows", arguments: [2, 3, 6, 12])
  func fewAdverts(gaps: Int) {
    var (learner, history) = (IntervalLearner(), LossHistory())
    for _ in 0..<gaps { _ = learner.learn(gap: 10, &history) }
    for _ in 0..<100 { _ = learner.learn(gap: 0.1, &history) }
    #expect(history.slowest == 10)
    let silence = AdaptiveSilence(learner: learner, history: history)
    #expect(AdaptiveSilenceTests.gap(silence) > .seconds(20))
  }

  @Test("losses that a mode explains are removed when the mode is found")
  func removedLosses() {
    var (learner, history) = (IntervalLearner(), LossHistory())
    for _ in 0..<200 { _ = learner.learn(gap: 0.1, &history) }
    // It rests for two adverts at a time, and once for longer.
    for _ in 0..<2 {
      for _ in 0..<2 { _ = learner.learn(gap: 10, &history) }
      for _ in 0..<20 { _ = learner.learn(gap: 0.1, &history) }
    }
    #expect(history.runs == 4)
    for gap in [10, 10, 10] as [Float] { _ = learner.learn(gap: gap, &history) }
    #expect(history.slowest == 10)
    #expect(history.runs == 0)
    #expect(history.all(received: learner.received).lost == 0)
  }

  @Test("a button's interval, one in motion and one at rest are separate modes")
  func three() {
    var (learner, history) = (IntervalLearner(), LossHistory())
    for _ in 0..<3 {
      for _ in 0..<20 { _ = learner.learn(gap: 20, &history) }
      for _ in 0..<50 { _ = learner.learn(gap: 1, &history) }
      for _ in 0..<50 { _ = learner.learn(gap: 0.1, &history) }
      for _ in 0..<50 { _ = learner.learn(gap: 1, &history) }
    }
    #expect(history.slowest == 20)
    #expect(history.runs == 0)
    #expect(learner.interval == 1)
  }

  @Test("the modes of a tag are erased with it")
  func erased() throws {
    var timeline = Timeline(Timeline.site([TagModesTests.door]))
    func visit(from start: Double, _ timeline: inout Timeline) {
      for step in 0..<100 { timeline.receive(at: start + Double(step) / 10) }
      for step in 1..<12 { timeline.receive(at: start + 10 + Double(step) * 10) }
    }
    visit(from: 0, &timeline)
    timeline.advance(to: 6_000)
    func slowest(_ timeline: Timeline) -> Double? {
      timeline.engine.insight(observer: Timeline.handset, beacon: Timeline.beacon())?.slowestInterval?.seconds
    }
    timeline.receive(at: 6_001)
    #expect(try abs(#require(slowest(timeline)) - 10) < 0.1)
    timeline.apply(.forget(try #require(SubjectTraces("\(Timeline.beacon())"))), at: 6_002)
    timeline.receive(at: 6_003)
    #expect(slowest(timeline) == nil)
  }
}
