import PharosFaults
import PharosTestSupport
import Testing

@Suite("Ground truth")
struct TruthTests {
  @Test("spans of several stays are put together, and say what they leave free")
  func spans() {
    var truth = Truth()
    for (transmitter, station, span) in [(1, 0, 10..<20), (1, 1, 15..<30), (1, 0, 50..<60), (2, 0, 0..<100)]
      as [(
        Int, Int, Range<TrueTime>
      )]
    {
      truth.add(Truth.Stay(transmitter: transmitter, station: station, span: span))
    }
    let both = truth.spans(of: [1], at: [0, 1])
    #expect(both == [10..<30, 50..<60])
    #expect(truth.spans(of: [1], at: [1]) == [15..<30])
    #expect(both.absence(in: 0..<100) == 70)
    #expect(both.absence(in: 12..<30) == 0)
    #expect(both.covers(29))
    #expect(!both.covers(30))
    #expect(truth.isAudible(1, at: 1, 15))
    #expect(!truth.isAudible(1, at: 1, 10))
  }

  @Test(
    "residents are always somewhere, and two plans of one seed are the same",
    arguments: Seeds.drawn(0..<20 as Range<UInt64>)
  )
  func plans(seed: UInt64) {
    let (plan, again) = (FaultPlan(seed: seed), FaultPlan(seed: seed))
    #expect(plan.truth.stays.map(\.span) == again.truth.stays.map(\.span))
    #expect(plan.kinds == again.kinds)
    #expect(plan.site == again.site)
    #expect(!plan.questions.isEmpty)
    for stay in plan.truth.stays { #expect(plan.stations.indices.contains(stay.station)) }
  }
}
