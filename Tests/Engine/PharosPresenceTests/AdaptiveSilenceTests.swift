import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("How long a silence may last")
struct AdaptiveSilenceTests {
  static let policy = PresencePolicy()

  static func learned(_ gaps: some Sequence<Double>) -> AdaptiveSilence {
    var (learner, history) = (IntervalLearner(), LossHistory())
    for gap in gaps { _ = learner.learn(gap: Float(gap), &history) }
    return AdaptiveSilence(learner: learner, history: history)
  }

  static func gap(_ silence: AdaptiveSilence, _ policy: PresencePolicy = policy) -> TimeSpan {
    silence.allowance(policy, at: .usual).gap
  }

  @Test(
    "a stream of adverts is seldom given up, from the first one on, and the gap stays between floor and ceiling",
    arguments: [
      (0.1, 0.05, 0.6), (1.0, 0.2, 0.5), (1.0, 0.4, 0.4), (1.0, 0.037, 0.333), (10.0, 0.037, 0.333),
    ]
  )
  func falseExits(interval: Double, toBad: Double, toGood: Double) {
    var falseExits = 0
    var isBounded = true
    for seed in 0..<100 {
      var generator = SeededGenerator(seed: UInt64(seed))
      var channel = EstimatorTests.Channel(interval: interval, toBad: toBad, toGood: toGood)
      var silence = AdaptiveSilence(learner: IntervalLearner(), history: LossHistory())
      for step in 0..<200 {
        let gap = channel.nextGap(&generator)
        let allowed = AdaptiveSilenceTests.gap(silence).seconds
        isBounded = isBounded && allowed >= 2 && allowed <= 300
        if step > 0, gap > allowed { falseExits += 1 }
        _ = silence.learner.learn(gap: Float(gap), &silence.history)
      }
    }
    #expect(isBounded)
    #expect(falseExits <= 1, "of 100 starts")
  }

  @Test(
    "the prior of a run's length follows the share that is lost, and hours without a loss leave few losses"
  )
  func runLengths() {
    // The share lost, and how often a run went on in public traces.
    let traces = [(0.05, 0.07...0.12), (0.2, 0.20...0.35), (0.45, 0.58...0.68), (0.75, 0.82...0.88)]
    for (share, range) in traces {
      let counts = LossRuns(received: 1e6 * Float(1 - share), lost: 1e6 * Float(share))
      let prior = counts.runLengthPrior(isFading: false)
      #expect(range.contains(prior.continued / (prior.continued + prior.ended)), "\(share)")
    }
    for interval in [0.1, 0.35, 1, 2, 5, 10, 30] {
      let hours = AdaptiveSilenceTests.learned(Array(repeating: interval, count: Int(14_400 / interval)))
      #expect(AdaptiveSilenceTests.gap(hours).seconds <= max(2, interval * 5.5), "\(interval) s")
      // In an hour a slower one has sent too few.
      guard interval <= 10 else { continue }
      let hour = AdaptiveSilenceTests.learned(Array(repeating: interval, count: Int(3_600 / interval)))
      #expect(AdaptiveSilenceTests.gap(hour).seconds <= max(2, interval * 8.5), "\(interval) s")
    }
  }

  @Test("after a long history the gap is the one that the true chances ask for, and hardly longer")
  func nearlyBest() {
    var generator = SeededGenerator(seed: 4)
    var channel = EstimatorTests.Channel(interval: 1, toBad: 0.143, toGood: 1.0 / 3)
    let silence = AdaptiveSilenceTests.learned((0..<20_000).map { _ in channel.nextGap(&generator) })
    // 86,400 adverts a day, 0.7 received, 0.143 runs after each, each lasting 34 more with (2/3)^34: 0.009 a day.
    let best = 1.005 * 35
    let gap = AdaptiveSilenceTests.gap(silence).seconds
    #expect(gap >= best && gap < best * 1.15, "\(gap) s")
  }

  @Test("a fast beacon that is heard well is let go within seconds; declared facts count as known")
  func allowed() {
    let fast = AdaptiveSilenceTests.learned(Array(repeating: 0.1, count: 3_000))
    #expect(AdaptiveSilenceTests.gap(fast) < .seconds(4))
    #expect(AdaptiveSilenceTests.gap(fast, PresencePolicy(stillInterval: .seconds(10))) > .seconds(40))
    #expect(AdaptiveSilenceTests.gap(fast, PresencePolicy(silence: .never)) == .forever)
    #expect(AdaptiveSilenceTests.gap(fast, PresencePolicy(silence: .fixed(.seconds(30)))) == .seconds(30))
    var unlearned = AdaptiveSilenceTests.learned([])
    #expect(AdaptiveSilenceTests.gap(unlearned) == AdaptiveSilence.defaultSilence)
    #expect(unlearned.enterWindow == .milliseconds(30_036))
    unlearned.declared = 2
    #expect(abs(unlearned.enterWindow.seconds - 6.036) < 0.001)
  }

  @Test("the window of an entry is longer where more is lost, and each interval has its advDelay")
  func enterWindow() {
    func window(_ gaps: [Double]) -> Double {
      AdaptiveSilenceTests.learned(gaps).enterWindow.seconds
    }
    #expect(abs(window(Array(repeating: 10, count: 40)) - 30.036) < 0.01)
    let lossy = window((0..<60).map { [10, 20, 70][$0 % 3] })
    #expect(lossy > 50 && lossy < 50.5, "seven of ten lost: \(lossy) s")
    #expect(window(Array(repeating: 100, count: 40)) == 60, "reflections lie minutes apart")
    #expect(window(Array(repeating: 0.1, count: 40)) == 3)
  }

  @Test("an interval at rest that a policy declares makes the window at least three of it, up to a minute")
  func restingEnterWindow() {
    func window(_ still: TimeSpan?, learned: TimeSpan) -> Double {
      AdaptiveSilence.enterWindow(learned: learned, under: PresencePolicy(stillInterval: still)).seconds
    }
    #expect(window(nil, learned: .seconds(3)) == 3)
    #expect(abs(window(.seconds(10), learned: .seconds(3)) - 30.036) < 0.001)
    #expect(window(.seconds(10), learned: .seconds(50)) == 50)
    #expect(window(.seconds(60), learned: .seconds(3)) == 60, "reflections lie minutes apart")
  }

  @Test("a track among others that never lost one of a million adverts is let go after a few intervals")
  func lossless() {
    var pool = LossPool()
    var stretch = LossRuns()
    stretch.received = 128
    for _ in 0..<8_191 { pool.add(stretch, level: -60) }
    var silence = AdaptiveSilenceTests.learned(Array(repeating: 1, count: 3_600))
    #expect(AdaptiveSilenceTests.gap(silence) > .seconds(6), "an hour alone")
    silence.belief = pool.belief(level: -60)
    #expect(AdaptiveSilenceTests.gap(silence) <= .seconds(4))
  }

  @Test("fading of a beacon that is hardly received gets some seconds, unless the level fell far")
  func edge() {
    var silence = AdaptiveSilenceTests.learned(Array(repeating: 0.1, count: 3_000))
    silence.isWeak = true
    #expect(AdaptiveSilenceTests.gap(silence) > .seconds(12))
    let unsure = silence.allowance(AdaptiveSilenceTests.policy, at: .far).gap
    #expect(unsure > .seconds(12))
    silence.isUsualKnown = true
    #expect(silence.allowance(AdaptiveSilenceTests.policy, at: .far).gap < .seconds(6))
    silence.isUsuallyWeak = true
    #expect(silence.allowance(AdaptiveSilenceTests.policy, at: .far).gap > .seconds(12), "it never was loud")
    // Of a slower beacon more is lost around a fade, but no fade and its losses last for long.
    var slow = AdaptiveSilenceTests.learned(Array(repeating: 2, count: 3_000))
    slow.isUsuallyWeak = true
    #expect(slow.allowance(AdaptiveSilenceTests.policy, at: .usual).basis?.floor == .seconds(28))
  }

  @Test("a new beacon among tracks that lose nothing exits sooner than one without any prior")
  func borrowed() {
    var pool = LossPool()
    var stretch = LossRuns()
    stretch.received = 128
    for _ in 0..<50 { pool.add(stretch, level: -60) }
    var silence = AdaptiveSilenceTests.learned([1, 1, 1, 1])
    let alone = AdaptiveSilenceTests.gap(silence)
    silence.belief = pool.belief(level: -60)
    #expect(silence.belief.received > 500)
    #expect(AdaptiveSilenceTests.gap(silence) < alone * 0.6)
  }

  @Test("tracks that differ much lend little")
  func dispersion() {
    var (alike, unlike) = (LossPool(), LossPool())
    for step in 0..<60 {
      var stretch = LossRuns()
      stretch.received = 128
      (stretch.runs, stretch.lost) = (20, 40)
      alike.add(stretch, level: -60)
      (stretch.runs, stretch.lost) = step % 2 == 0 ? (0, 0) : (40, 80)
      unlike.add(stretch, level: -60)
    }
    #expect(alike.belief(level: -60).received > 20 * unlike.belief(level: -60).received)
  }

  @Test("where the level has fallen as it seldom does, silence means absence sooner")
  func fallen() {
    var generator = SeededGenerator(seed: 9)
    var channel = EstimatorTests.Channel(interval: 1, toBad: 0.3, toGood: 0.7)
    let silence = AdaptiveSilenceTests.learned((0..<10_000).map { _ in channel.nextGap(&generator) })
    let usual = silence.allowance(AdaptiveSilenceTests.policy, at: .usual).gap
    let far = silence.allowance(AdaptiveSilenceTests.policy, at: .far).gap
    #expect(far.seconds < usual.seconds * 0.75)
    #expect(far >= .seconds(6))
  }

  @Test("a beacon that a body could hide gets the time that the rate of bodies and the budget ask for")
  func hidden() throws {
    var silence = AdaptiveSilenceTests.learned((0..<3_000).map { $0 % 10 == 0 ? 0.4 : 0.1 })
    let alone = AdaptiveSilenceTests.gap(silence)
    #expect(alone < .seconds(6))
    var last = alone
    for rate in [0.001, 0.01, 0.1, 150] {
      silence.bodies = rate
      let basis = try #require(silence.allowance(AdaptiveSilenceTests.policy, at: .usual).basis)
      #expect(basis.allowedGap >= last, "\(rate) a day")
      last = basis.allowedGap
    }
    silence.bodies = 0.001
    #expect(AdaptiveSilenceTests.gap(silence) == alone, "fewer than the budget")
    silence.bodies = 150
    #expect(AdaptiveSilenceTests.gap(silence) > .seconds(10))
    #expect(AdaptiveSilenceTests.gap(silence) < .seconds(14))
  }

  @Test("a day's bodies that outlast the allowed gap are within the budget", arguments: [0.1, 0.35, 1])
  func hidingChance(interval: Double) throws {
    var silence = AdaptiveSilenceTests.learned((0..<3_000).map { interval * ($0 % 10 == 0 ? 4 : 1) })
    silence.bodies = 100
    let policy = PresencePolicy(falseExitsPerDay: 10)
    let basis = try #require(silence.allowance(policy, at: .usual).basis)
    let gap = basis.allowedGap.seconds
    let bodies = 100 * max(0, 1 - (try #require(silence.unexplainedPause)) / 10)
    var generator = SeededGenerator(seed: 3)
    var outlasting = 0
    for _ in 0..<100_000 {
      var hidden = Double.random(in: 0...10, using: &generator)
      while Double.random(in: 0..<1, using: &generator) < 2.0 / 3 { hidden += interval }
      if hidden > gap { outlasting += 1 }
    }
    #expect(Double(outlasting) * bodies / 100_000 <= 6.3, "\(gap) s")
  }

  @Test("a pause is unexplained only where ordinary losses seldom make one, and unknown at first")
  func unexplained() throws {
    let lossless = try #require(
      AdaptiveSilenceTests.learned(Array(repeating: 0.1, count: 3_000)).unexplainedPause
    )
    #expect(lossless > 1 && lossless < 3)
    let lossy = AdaptiveSilenceTests.learned((0..<3_000).map { $0 % 5 == 0 ? 0.4 : 0.1 })
    #expect(try #require(lossy.unexplainedPause) > 4)
    var young = AdaptiveSilenceTests.learned(Array(repeating: 0.1, count: 60))
    #expect(young.unexplainedPause == nil)
    young.bodies = 150
    #expect(AdaptiveSilenceTests.gap(young) > .seconds(10), "any body may be one that losses do not explain")
  }

  @Test("bodies change nothing where ordinary losses explain the longest of them")
  func explained() throws {
    var slow = AdaptiveSilenceTests.learned((0..<3_000).map { $0 % 5 == 0 ? 4 : 1 })
    let alone = AdaptiveSilenceTests.gap(slow)
    slow.bodies = 150
    #expect(try #require(slow.unexplainedPause) > 10)
    #expect(AdaptiveSilenceTests.gap(slow) == alone)
  }

  @Test("a tag that comes to rest is followed at once when its slow mode is known, and its losses stay")
  func motion() {
    var (learner, history) = (IntervalLearner(), LossHistory())
    for step in 0..<400 { _ = learner.learn(gap: step % 10 == 0 ? 0.2 : 0.1, &history) }
    let runs = history.runs
    for _ in 0..<3 { _ = learner.learn(gap: 10, &history) }
    #expect(learner.interval == 10)
    #expect(history.slowest == 10)
    #expect(history.runs == runs, "no advert was lost")
    for _ in 0..<2_000 { _ = learner.learn(gap: 0.1, &history) }
    #expect(abs(learner.interval - 0.1) < 0.01)
    let silence = AdaptiveSilence(learner: learner, history: history)
    #expect(AdaptiveSilenceTests.gap(silence) > .seconds(25), "it may be at rest again")
    _ = learner.learn(gap: 10, &history)
    #expect(learner.interval == 10)
  }

  @Test("runs of losses of one length now and then are no slow mode")
  func noMode() {
    var generator = SeededGenerator(seed: 2)
    var channel = EstimatorTests.Channel(interval: 1, toBad: 0.125, toGood: 0.125)
    var (learner, history) = (IntervalLearner(), LossHistory())
    for _ in 0..<50_000 { _ = learner.learn(gap: Float(channel.nextGap(&generator)), &history) }
    #expect(history.slowest == 0)
    #expect(abs(learner.interval - 1.005) < 0.01)
  }
}
