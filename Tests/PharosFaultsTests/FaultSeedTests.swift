import PharosFaults
import PharosTestSupport
import Testing

@Suite("The whole system while everything goes wrong")
struct FaultSeedTests {
  private func expectSound(_ seeds: Range<UInt64>, generation: PlanGeneration = .fourth) {
    var swarm = FaultSwarm(seeds: seeds)
    swarm.generation = generation
    let summary = swarm.run()
    for outcome in summary.failures {
      for violation in outcome.violations {
        Issue.record(
          """
          seed \(outcome.seed), \(violation.rule.rawValue) after \(violation.time) s: \(violation.text)
          replay: PHAROS_BUILD=benchmarks swift run -c release faults --seed \(outcome.seed) --generation \(generation.rawValue) --trace
          """
        )
      }
    }
    #expect(summary.seeds == seeds.count)
    #expect(summary.datagrams > 0)
    #expect(summary.events > 0)
    #expect(summary.committed > 0)
  }

  @Test("seeds of this commit break no rule")
  func commit() { expectSound(Seeds.commit..<Seeds.commit + 12, generation: .third) }

  /// New seeds of this generation are played by the deep tests: some two in a thousand still find what happens to slow tags and to
  /// adverts without ages when uploads are lost.
  @Test("seeds with uploads, outages, crowds and expiring tokens break no rule")
  func installations() { expectSound(930_000_000..<930_000_012) }

  @Test("seeds that once failed break no rule", arguments: FailedSeed.all)
  func failed(_ failed: FailedSeed) {
    expectSound(failed.seed..<failed.seed + 1, generation: failed.generation)
  }

  @Test("the same seed plays alike, step by step")
  func deterministic() {
    var runs: [[String]] = []
    for _ in 0..<2 {
      var lines: [String] = []
      _ = FaultSwarm(seeds: 0..<1).trace(Seeds.commit) { lines.append($0) }
      runs.append(lines)
    }
    #expect(runs[0] == runs[1])
    #expect(runs[0].count > 10)
  }

  @Test("bugs that are put in are found", arguments: FoundPlant.all)
  func planted(_ found: FoundPlant) {
    var swarm = FaultSwarm(seeds: found.seed..<found.seed + 1, plant: found.plant)
    swarm.generation = found.generation
    let summary = swarm.run()
    let rules = Set(summary.failures.flatMap(\.violations).map(\.rule))
    #expect(rules.contains(found.rule), "\(found.plant.rawValue) with seed \(found.seed) breaks \(rules)")
  }
}
