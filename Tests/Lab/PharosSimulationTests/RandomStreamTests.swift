import PharosSimulation
import PharosTestSupport
import Testing

@Suite("RandomStream")
struct RandomStreamTests {
  static let draws = 20_000

  private func numbers(_ draw: (inout RandomStream) -> Double) -> [Double] {
    var random = RandomStream(seed: 99, 1)
    return (0..<Self.draws).map { _ in draw(&random) }
  }

  @Test("uniform numbers fill their range evenly")
  func uniform() {
    let numbers = numbers { $0.uniform(2, 4) }
    #expect(numbers.allSatisfy { $0 >= 2 && $0 < 4 })
    #expect(abs(numbers.mean - 3) < 0.02)
    #expect(abs(numbers.deviation - 2 / 12.0.squareRoot()) < 0.02)
  }

  @Test("normal numbers have mean 0, deviation 1 and no skew")
  func normal() {
    let numbers = numbers { $0.normal() }
    #expect(abs(numbers.mean) < 0.03)
    #expect(abs(numbers.deviation - 1) < 0.03)
    #expect(abs(numbers.skewness) < 0.06)
    #expect(abs(Double(numbers.count { $0.magnitude < 1 }) / Double(Self.draws) - 0.6827) < 0.015)
  }

  @Test("exponential numbers have mean and deviation alike")
  func exponential() {
    let numbers = numbers { $0.exponential(mean: 3) }
    #expect(numbers.allSatisfy { $0 >= 0 && $0.isFinite })
    #expect(abs(numbers.mean - 3) < 0.1)
    #expect(abs(numbers.deviation - 3) < 0.15)
  }

  @Test("a chance comes about as often as it should", arguments: [0.0, 0.03, 0.5, 1])
  func chance(probability: Double) {
    let share = numbers { $0.chance(probability) ? 1 : 0 }.mean
    #expect(abs(share - probability) < 0.015)
  }

  @Test("streams differ by seed and by every name, and not otherwise")
  func names() {
    func first(_ stream: RandomStream) -> UInt64 {
      var stream = stream
      return stream.next()
    }
    var seen: Set<UInt64> = []
    for seed: UInt64 in 0..<8 {
      for one: UInt64 in 0..<8 {
        for other: UInt64 in 0..<8 {
          #expect(seen.insert(first(RandomStream(seed: seed, one, other))).inserted)
        }
        #expect(seen.insert(first(RandomStream(seed: seed, one))).inserted)
      }
    }
    #expect(first(RandomStream(seed: 3, 1, 4)) == first(RandomStream(seed: 3, 1, 4)))
  }
}
