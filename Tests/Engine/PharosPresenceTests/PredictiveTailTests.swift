import Foundation
import PharosPresence
import PharosTestSupport
import Testing

@Suite("The predictive tail of a run of losses")
struct PredictiveTailTests {
  /// The mean of c^m over Beta(a, b), by the midpoint rule: slow and obvious.
  static func integral(_ continued: Double, _ ended: Double, more: Double) -> Double {
    let steps = 10_000
    var (top, bottom) = (0.0, 0.0)
    for step in 0..<steps {
      let chance = (Double(step) + 0.5) / Double(steps)
      let density = Foundation.exp(
        (continued - 1) * Foundation.log(chance) + (ended - 1) * Foundation.log(1 - chance)
      )
      bottom += density
      top += density * Foundation.pow(chance, more)
    }
    return top / bottom
  }

  @Test(
    "the chance of a longer run is the integral over what is known of its continuation",
    arguments: [(8.0, 7.0), (4.0, 2.5), (40.0, 20.0), (3.2, 9.7), (120.0, 15.0)]
  )
  func chances(continued: Double, ended: Double) {
    let tail = PredictiveTail(continued: continued, ended: ended)
    for more in [1, 2, 5, 17, 60] {
      let bits = -Foundation.log2(PredictiveTailTests.integral(continued, ended, more: Double(more)))
      #expect(tail.losses(forBits: bits - 0.003) == more)
      #expect(tail.losses(forBits: bits + 0.003) == more + 1)
    }
  }

  @Test("the number of losses is the smallest whose chance is small enough", arguments: Seeds.fixed(0..<40))
  func smallest(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let continued = Foundation.pow(10, Double.random(in: 0.2...4, using: &generator))
    let ended = Foundation.pow(10, Double.random(in: 0.3...4, using: &generator))
    let bits = Double.random(in: 0.1...30, using: &generator)
    let tail = PredictiveTail(continued: continued, ended: ended)
    let losses = tail.losses(forBits: bits)
    guard Double(losses) < PredictiveTail.maximum else { return }
    /// The chance of so many more by the C library's ln Γ; the tail's Stirling series is right to 0.0001 bits.
    func logChance(_ more: Int) -> Double {
      let (low, high) = (continued + Double(more), continued + ended + Double(more))
      let nats = lgamma(continued + ended) - lgamma(continued) + lgamma(low) - lgamma(high)
      return nats / Foundation.log(2)
    }
    #expect(logChance(losses) <= -bits + 1e-4)
    #expect(losses == 0 || logChance(losses - 1) > -bits - 1e-4)
  }

  @Test("little history makes a tail heavy, much history makes it that of a known chance")
  func history() {
    let known = Int((20 / -Foundation.log2(2.0 / 3)).rounded(.up))
    let few = PredictiveTail(continued: 10, ended: 5).losses(forBits: 20)
    let many = PredictiveTail(continued: 20_000, ended: 10_000).losses(forBits: 20)
    #expect(few > 2 * known)
    #expect(many - known <= 1 && many >= known)
    #expect(PredictiveTail(continued: 10, ended: 5).losses(forBits: -1) == 0)
  }
}
