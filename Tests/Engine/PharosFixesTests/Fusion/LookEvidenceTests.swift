import PharosFixes
import PharosModel
import PharosSpace
import PharosTestSupport
import Testing

@Suite("How loud a look is as a whole")
struct LookEvidenceTests {
  private static let deviation = 3.0

  /// Readings' differences from what is expected, how far each may be off, and how much it counts.
  private struct Reading {
    var difference: Double
    var deviation: Double
    var worth: Double
  }

  private static func sum(_ readings: [Reading], freedom: Double) -> LookEvidence {
    readings.reduce(.none) { sum, reading in
      let one = LookEvidence(difference: reading.difference, deviation: reading.deviation, freedom: freedom)
      return sum + one * Float(reading.worth)
    }
  }

  /// The logarithm of the mean likelihood over all offsets, by small steps: slow, and obvious.
  private static func tried(_ readings: [Reading], freedom: Double, mean: Double = 0) -> Double {
    let step = 0.05
    var total = 0.0
    for number in -500...500 {
      let offset = Double(number) * step
      var log = -(offset - mean) * (offset - mean) / (2 * deviation * deviation)
      for reading in readings {
        let score = (reading.difference - offset) / reading.deviation
        let tail = (freedom + 1) / 2 * RadioMath.naturalLog(1 + score * score / freedom)
        log -= reading.worth * (RadioMath.naturalLog(reading.deviation) + tail)
      }
      total += RadioMath.exponential(log) * step
    }
    return RadioMath.naturalLog(total / (deviation * (2 * Double.pi).squareRoot()))
  }

  private static func readings(
    _ count: Int,
    within reach: Double,
    _ random: inout SeededGenerator
  ) -> [Reading] {
    (0..<count).map { _ in
      Reading(
        difference: .random(in: -reach...reach, using: &random),
        deviation: .random(in: 4...9, using: &random),
        worth: .random(in: 0.05...1, using: &random)
      )
    }
  }

  @Test(
    "It is what small steps through all offsets come to, for errors that are normal",
    arguments: Seeds.fixed(0..<20)
  )
  func normal(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let readings = Self.readings(.random(in: 0...12, using: &random), within: 15, &random)
    // With a million degrees of freedom Student's distribution is the normal one.
    let sum = Self.sum(readings, freedom: 1_000_000)
    for mean in [0, -12.0, 4.5] {
      let marginal = sum.marginal(Float(Self.deviation * Self.deviation), about: Float(mean))
      #expect(abs(Double(marginal) - Self.tried(readings, freedom: 1_000_000, mean: mean)) < 0.01)
    }
  }

  @Test("With outliers it is never more, and little less while readings fit", arguments: Seeds.fixed(0..<20))
  func outliers(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...12, using: &random)
    let wild = Self.readings(count, within: 40, &random)
    let variance = Float(Self.deviation * Self.deviation)
    #expect(Double(Self.sum(wild, freedom: 10).marginal(variance)) <= Self.tried(wild, freedom: 10) + 0.01)
    let fitting = Self.readings(count, within: 6, &random)
    let short = Self.tried(fitting, freedom: 10) - Double(Self.sum(fitting, freedom: 10).marginal(variance))
    #expect((-0.01...0.25).contains(short))
  }

  @Test("a common offset of all readings has less weight than their differences")
  func common() {
    let common = (0..<8).map { _ in Reading(difference: 5, deviation: 6, worth: 1) }
    let mixed = (0..<8).map { Reading(difference: $0 % 2 == 0 ? 5 : -5, deviation: 6, worth: 1) }
    let (first, second) = (Self.sum(common, freedom: 10), Self.sum(mixed, freedom: 10))
    #expect(abs(first.likelihood - second.likelihood) < 0.001)
    #expect(first.marginal(9) > second.marginal(9) + 1)
    // Where every look is as loud as expected, both are what they were.
    #expect(abs(first.marginal(0) - first.likelihood) < 0.001)
  }

  @Test("scans that are fainter than usual move a subject near a wall less")
  func shielded() throws {
    func error(lookDeviation: Float) throws -> Double {
      try (1...8 as ClosedRange<UInt64>).reduce(0) { sum, seed in
        var hall = try FusionHall(seed: seed) { $0.lookDeviation = lookDeviation }
        let place = Point(x: 4, y: 12)
        for second in 0..<16 { hall.scan(at: place, Double(second), louder: second < 12 ? 0 : -10) }
        let last = try #require(hall.fixes(tail: 1).last)
        return sum + last.point.distance(to: place)
      }
    }
    let blind = try error(lookDeviation: 0)
    let open = try error(lookDeviation: 4)
    #expect(open < blind)
  }
}
