import Foundation
import PharosFixes
import PharosModel
import PharosTestSupport
import Testing

@Suite("Ways up and down in the air pressure")
struct HeightTests {
  /// The pressures of a height that is a function of time, with a sensor's noise and what else the air does.
  static func samples(
    _ seconds: Double,
    rate: Double = 5,
    seed: UInt64 = 66,
    weather: (Double) -> Double = { _ in 0 },
    height: (Double) -> Double
  ) -> [(time: Timestamp, sample: MotionSample)] {
    var generator = SeededGenerator(seed: seed)
    return (0..<Int(seconds * rate)).map { index in
      let passed = Double(index) / rate
      // A quarter of a metre, 0.03 hPa, where it is read often, as phones do; less in means of a second.
      let scatter = rate < 2 ? 0.13 : 0.2165
      let noise = (0..<4).reduce(0) { sum, _ in sum + Double.random(in: -scatter...scatter, using: &generator)
      }
      let pressure = 1_010 * exp(-(height(passed) + noise) / 8_581) + weather(passed)
      let sample = MotionSample(kind: .barometer, age: .zero, x: Float(pressure), y: 0, z: 0)
      return (DrawnWalk.start + .seconds(passed), sample)
    }
  }

  /// A height that rises evenly from a time on, to its end.
  static func ramp(from start: Double, speed: Double, to end: Double) -> (Double) -> Double {
    { max(0, min(abs(end), ($0 - start) * speed)) * (end < 0 ? -1 : 1) }
  }

  @Test(
    "a change of floors is reported once, soon after it ended, with its height",
    arguments: [
      ("lift, one floor", 1.0, 4.5), ("lift, five floors down", 2.0, -21), ("escalator", 0.3, 5.2),
      ("stairs", 0.25, 3.2), ("stairs down", 0.35, -3.2), ("half a floor", 0.3, 2),
    ],
    [1.0, 5, 10]
  )
  func ways(_ way: (name: String, speed: Double, end: Double), rate: Double) throws {
    for seed in 0..<20 as Range<UInt64> {
      let height = Self.ramp(from: 40, speed: way.speed, to: way.end)
      let climbs = MotionTracker.movements(of: Self.samples(120, rate: rate, seed: seed, height: height))
        .climbs
      #expect(climbs.count == 1, "\(way.name)")
      let climb = try #require(climbs.first)
      #expect(abs(Double(climb.meters) - way.end) < 0.9)
      let ended = DrawnWalk.start + .seconds(40 + abs(way.end) / way.speed)
      #expect(climb.time > ended - .seconds(1.5) && climb.time < ended + .seconds(8), "\(way.name)")
      #expect(climb.began > DrawnWalk.start + .seconds(39) && climb.began < ended)
    }
  }

  @Test("a landing between two flights of stairs is part of the way")
  func landing() {
    let height = { (seconds: Double) in
      Self.ramp(from: 20, speed: 0.3, to: 1.4)(seconds) + Self.ramp(from: 32, speed: 0.3, to: 1.8)(seconds)
    }
    let climbs = MotionTracker.movements(of: Self.samples(90, height: height)).climbs
    #expect(abs(climbs.reduce(0) { $0 + $1.meters } - 3.2) < 0.8)
  }

  @Test("weather, doors, ventilation and noise are no climbs")
  func air() {
    let level = { (_: Double) in 0.0 }
    let storms: [(String, (Double) -> Double)] = [
      ("nothing", { _ in 0 }),
      ("a front of 4 hPa an hour", { -4 * $0 / 3_600 }),
      ("a door", { abs($0 - 100) < 0.5 ? 0.6 : 0 }),
      ("a door that stays open for a while", { $0 > 100 && $0 < 130 ? -0.35 : 0 }),
      ("ventilation that starts", { $0 > 100 ? 0.3 : 0 }),
      ("wind in gusts", { 0.04 * sin($0 * 0.9) + 0.04 * sin($0 * 0.37) }),
    ]
    for (name, weather) in storms {
      for seed in 0..<4 as Range<UInt64> {
        let samples = Self.samples(600, seed: seed, weather: weather, height: level)
        #expect(MotionTracker.movements(of: samples).climbs.isEmpty, "\(name)")
      }
    }
  }

  @Test("a pause of the sensor is no climb")
  func gap() {
    let low = Self.samples(30) { _ in 0 }
    let high = Self.samples(30) { _ in 8 }.map { (time: $0.time + .seconds(60), sample: $0.sample) }
    #expect(MotionTracker.movements(of: low + high).climbs.isEmpty)
  }
}
