import Foundation
import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Estimators of a track")
struct EstimatorTests {
  /// Gaps between samples of a beacon under losses that come in runs: Gilbert's channel.
  struct Channel {
    var interval: Double
    var toBad: Double
    var toGood: Double
    private var isBad = false

    init(interval: Double, toBad: Double, toGood: Double) {
      self.interval = interval
      self.toBad = toBad
      self.toGood = toGood
    }

    mutating func nextGap(_ generator: inout SeededGenerator) -> Double {
      var gap = 0.0
      while true {
        gap += interval + Double.random(in: 0...0.01, using: &generator)
        let chance = Double.random(in: 0..<1, using: &generator)
        isBad = isBad ? chance >= toGood : chance < toBad
        if !isBad { return gap }
      }
    }
  }

  @Test(
    "datagrams that a network holds up do not shorten the interval of an old track",
    arguments: Seeds.fixed(0..<40 as Range<UInt64>)
  )
  func heldUp(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var (learner, history) = (IntervalLearner(), LossHistory())
    var previous = 0.0
    for step in 1...1_000 {
      // Every second advert arrives; after the first hundred, one in fifty does so up to 0.4 s late.
      var time = Double(step) * 0.505
      guard Bool.random(using: &generator) else { continue }
      if step > 100, Int.random(in: 0..<50, using: &generator) == 0 {
        time += Double.random(in: 0.1...0.4, using: &generator)
      }
      if time > previous { _ = learner.learn(gap: Float(time - previous), &history) }
      previous = max(previous, time)
      if step % 256 == 0 { history.shorter = 0 }
    }
    #expect(abs(learner.interval - 0.505) < 0.05, "seed \(seed): \(learner.interval) s")
  }

  @Test("an old track believes a faster interval by its fourth gap")
  func faster() {
    var (learner, history) = (IntervalLearner(), LossHistory())
    for _ in 0..<200 { _ = learner.learn(gap: 1, &history) }
    for _ in 0..<3 { _ = learner.learn(gap: 0.25, &history) }
    #expect(learner.interval == 1)
    _ = learner.learn(gap: 0.25, &history)
    #expect(abs(learner.interval - 0.25) < 0.01)
  }

  @Test(
    "the interval and the share are learned through losses",
    arguments: [(0.1, 0.0, 1.0), (0.35, 0.1, 0.5), (1.0, 0.2, 0.5), (1.0, 0.3, 0.2), (10.0, 0.3, 0.3)]
  )
  func interval(interval: Double, toBad: Double, toGood: Double) {
    for seed in UInt64(1)...5 {
      var generator = SeededGenerator(seed: seed)
      var channel = Channel(interval: interval, toBad: toBad, toGood: toGood)
      var (learner, history) = (IntervalLearner(), LossHistory())
      for _ in 0..<400 { _ = learner.learn(gap: Float(channel.nextGap(&generator)), &history) }
      #expect(abs(Double(learner.interval) - interval) < interval * 0.1 + 0.01, "seed \(seed)")
      let share = toGood / (toBad + toGood)
      #expect(abs(history.all(received: learner.received).share - share) < 0.15, "seed \(seed)")
    }
  }

  @Test("a beacon that changes its interval is followed both ways, and its slow mode is kept in mind")
  func modes() {
    var (learner, history) = (IntervalLearner(), LossHistory())
    for _ in 0..<40 { _ = learner.learn(gap: 5, &history) }
    #expect(abs(learner.interval - 5) < 0.01)
    for _ in 0..<4 { _ = learner.learn(gap: 0.5, &history) }
    #expect(abs(learner.interval - 0.5) < 0.01)
    #expect(history.slowest == 5)
    for _ in 0..<40 { _ = learner.learn(gap: 2, &history) }
    #expect(abs(learner.interval - 2) < 0.05)
  }

  @Test("one chance gap that is too short changes nothing")
  func spike() {
    var (learner, history) = (IntervalLearner(), LossHistory())
    for step in 0..<60 { _ = learner.learn(gap: step == 30 ? 0.1 : 1, &history) }
    #expect(abs(learner.interval - 1) < 0.01)
  }

  @Test("the Kalman filter finds a level in noise and follows a step")
  func kalman() {
    var generator = SeededGenerator(seed: 3)
    func noise() -> Double {
      (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0..<1, using: &generator) } * 4
    }
    var filter = KalmanLevel(first: -60 + noise())
    for _ in 0..<200 { filter.add(-60 + noise(), after: 0.1) }
    #expect(abs(filter.level + 60) < 3)
    #expect(filter.variance < 4)
    for _ in 0..<50 { filter.add(-80 + noise(), after: 0.1) }
    #expect(abs(filter.level + 80) < 3)
  }

  @Test("distance by log-distance, and back", arguments: [1.6, 2.0, 3.0])
  func distances(exponent: Double) throws {
    let model = DistanceModel(exponent: exponent)
    for meters in [0.1, 1, 2.5, 30] {
      let level = try #require(model.measuredPower(level: -59, meters: 1 / meters))
      let found = try #require(model.distance(level: level, variance: 1, measuredPower: -59))
      #expect(abs(found.meters - meters) < meters * 1e-9)
      // Levels scatter by the filter's deviation and by what one place differs from the next.
      var generator = SeededGenerator(seed: UInt64(meters * 10))
      var within = 0
      for _ in 0..<20_000 {
        let scatter = (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &generator) }
        let truth = meters * RadioMath.powerOfTwo(scatter * 50.0.squareRoot() / exponent / 3.0103)
        within += abs(truth - found.meters) <= found.deviation ? 1 : 0
      }
      #expect((13_200...14_200).contains(within), "\(within)")
    }
  }

  @Test("proximity holds its class until an edge is clearly crossed")
  func proximity() {
    var classifier = ProximityClassifier()
    let classes = [0.49, 0.52, 0.56, 0.48, 0.44, 2.9, 3.1, 3.4, 2.9, 2.7].map { classifier.classify($0) }
    #expect(
      classes == [.immediate, .immediate, .near, .near, .immediate, .near, .near, .far, .far, .near]
    )
    let undetermined = classifier.classify(nil)
    #expect(undetermined == .unknown)
    let again = classifier.classify(3.1)
    #expect(again == .far)
  }

  @Test(
    "deliveries of a gateway have as long as its oldest recent report took, and at most the lag"
  )
  func delivery() {
    var lag = LagEstimator(given: nil)
    #expect(lag.delivery == .milliseconds(30))
    lag.record(age: .milliseconds(200))
    #expect(lag.delivery == .milliseconds(230))
    for _ in 0..<3_000 { lag.record(age: .milliseconds(20)) }
    #expect(lag.delivery == .milliseconds(50))
    lag.record(age: .seconds(2))
    #expect(lag.delivery == min(lag.lag, .milliseconds(2_030)))
    var given = LagEstimator(given: .seconds(3))
    given.record(age: .milliseconds(20))
    #expect(given.delivery == .seconds(3))
  }

  @Test("the mean of a second is over the adverts that have a level")
  func levelless() {
    var buckets = SecondBuckets()
    buckets.add(number: 1, at: Timestamp(seconds: 1), level: -60)
    buckets.add(number: 1, at: Timestamp(seconds: 1), level: nil)
    let second = buckets.close(through: 1)
    #expect(second?.count == 2)
    #expect(second?.mean == -60)
  }

  @Test("seconds take samples out of order and close as one")
  func seconds() {
    var buckets = SecondBuckets()
    for (second, level) in [(3, -60.0), (5, -70), (4, -50), (3, -62), (5, -72)] {
      buckets.add(number: Int64(second), at: Timestamp(seconds: Int64(second)), level: level)
    }
    let before = buckets.close(through: 2)
    #expect(before == nil)
    let early = buckets.close(through: 4)
    #expect(early?.count == 3)
    let mean = -172.0 / 3
    #expect(early?.mean == mean)
    let late = buckets.close(through: 5)
    #expect(late?.variance == 2)
    let nothing = buckets.close(through: 9)
    #expect(nothing == nil)
  }
}
