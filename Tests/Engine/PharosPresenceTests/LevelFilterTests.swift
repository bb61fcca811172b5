import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Levels: filters and how sure they are")
struct LevelFilterTests {
  static func noise(_ generator: inout SeededGenerator) -> Double {
    (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0..<1, using: &generator) }
  }

  /// Adds a sample one second after the last, and returns the variance that the filter had measured for one sample.
  ///
  /// The variance of the estimate afterwards is that of two independent values: the prediction and the sample.
  static func add(_ sample: Double, to filter: inout KalmanLevel) -> Double {
    let predicted = filter.variance + KalmanLevel.drift
    filter.add(sample, after: 1)
    return predicted * filter.variance / (predicted - filter.variance)
  }

  @Test("standardised innovations have a variance of one, whatever the noise", arguments: [2.0, 4, 6])
  func innovations(deviation: Double) {
    var generator = SeededGenerator(seed: 5)
    var filter = KalmanLevel(first: -60)
    var (sum, count, walk) = (0.0, 0.0, -60.0)
    for step in 0..<20_000 {
      walk += LevelFilterTests.noise(&generator) * KalmanLevel.drift.squareRoot()
      let sample = walk + deviation * LevelFilterTests.noise(&generator)
      let predicted = filter.variance + KalmanLevel.drift
      let innovation = sample - filter.level
      let expected = predicted + LevelFilterTests.add(sample, to: &filter)
      if step >= 200 {
        sum += innovation * innovation / expected
        count += 1
      }
    }
    #expect(abs(sum / count - 1) < 0.1, "\(sum / count)")
  }

  @Test("one spike is no noise and moves a settled level by a few dB; a step is followed within seconds")
  func spikeAndStep() {
    var filter = KalmanLevel(first: -60)
    for _ in 0..<100 { filter.add(-60, after: 1) }
    let before = LevelFilterTests.add(-30, to: &filter)
    #expect(LevelFilterTests.add(-60, to: &filter) < before + 1)
    for _ in 0..<29 { filter.add(-60, after: 1) }
    #expect(abs(filter.level + 60) < 1)
    for _ in 0..<5 { filter.add(-80, after: 1) }
    #expect(filter.level < -77)
  }

  @Test(
    "a level is low or far below only where it seldom is, and comings, goings and silence make nothing usual"
  )
  func surroundings() {
    var usual = UsualLevel()
    var generator = SeededGenerator(seed: 8)
    var samples: UInt32 = 0
    func finish(_ count: Int) {
      for _ in 0..<count {
        samples += 1
        usual.add(Float(-60 + 2 * LevelFilterTests.noise(&generator)), after: 1, samples: samples)
      }
    }
    finish(500)
    for level in stride(from: Float(-90), to: -60, by: 3) {
      samples += 1
      usual.add(level, after: level == -90 ? 36_000 : 1, samples: samples)
    }
    finish(100)
    #expect(abs(usual.level + 60) < 2)
    #expect(usual.levelClass(of: -64, before: .usual) == .usual)
    #expect(usual.levelClass(of: -70, before: .usual) == .low)
    #expect(usual.levelClass(of: -76, before: .usual) == .far)
    #expect(usual.levelClass(of: -67, before: .low) == .low, "hysteresis")
  }
}
