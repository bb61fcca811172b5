import PharosModel
import PharosPresence
import Testing

@Suite("Groups that truly leave together")
struct GroupDepartureTests {
  private static func delays(
    of group: Int,
    _ liveness: ObserverEntry.Liveness,
    silence: LifeDrill.SilenceRule,
    seeds: Range<UInt64>
  ) -> (delays: [Double], omitted: Int) {
    var delays: [Double] = []
    var omitted = 0
    for seed in seeds {
      var drill = LifeDrill()
      drill.tags = group
      drill.liveness = liveness
      drill.silence = silence
      drill.length = 200
      drill.departures = Array(repeating: 120 + Double(seed) / 10, count: group)
      let outcome = drill.play(seed: seed)
      delays += outcome.delays
      omitted += outcome.omitted
      #expect(outcome.falseExits == 0)
    }
    return (delays.sorted(), omitted)
  }

  @Test(
    "all exit, no later than a single tag and two seconds",
    arguments: [ObserverEntry.Liveness.auto, .heartbeat, .traffic, .assumed],
    [2, 20]
  )
  func together(liveness: ObserverEntry.Liveness, group: Int) throws {
    for silence in [LifeDrill.SilenceRule.adaptive, .fixed(4)] {
      let single = GroupDepartureTests.delays(of: 1, liveness, silence: silence, seeds: 0..<10)
      let all = GroupDepartureTests.delays(of: group, liveness, silence: silence, seeds: 0..<4)
      #expect(single.omitted == 0)
      #expect(all.omitted == 0)
      let slowest = try #require(single.delays.last)
      let late = try #require(all.delays.dropLast(all.delays.count / 20).last)
      #expect(late <= slowest + 2)
    }
  }

  @Test("one exit after the other is published, down to the last, though no other beacon is there")
  func oneByOne() {
    var drill = LifeDrill()
    drill.tags = 3
    drill.passersBy = 0
    drill.silence = .fixed(6)
    drill.length = 300
    drill.departures = [150, 180, 210]
    let outcome = drill.play(seed: 1)
    #expect(outcome.omitted == 0)
    #expect(outcome.falseExits == 0)
    #expect(outcome.offline == 0)
  }

  @Test("a group that takes the last traffic with it is unmonitored, not gone: its radio may hang")
  func noneLeft() {
    var drill = LifeDrill()
    drill.tags = 3
    drill.passersBy = 0
    drill.length = 300
    drill.departures = [150, 150, 150]
    let outcome = drill.play(seed: 1)
    #expect(outcome.omitted == 3)
    #expect(outcome.offline == 1)
  }
}
