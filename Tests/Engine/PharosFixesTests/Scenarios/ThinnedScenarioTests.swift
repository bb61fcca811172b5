import PharosModel
import PharosRooms
import PharosSimulation
import PharosSpace
import Testing

@Suite("Scenarios: thinned")
struct ThinnedScenarioTests {
  /// A stroll over one floor.
  static func figures(
    _ thinning: ScenarioThinning,
    _ knowledge: ScenarioHouse.Knowledge,
    change: (inout Handset) -> Void = { _ in }
  ) throws -> (figures: ScenarioFigures, first: [Double]) {
    var judged: [ScenarioRun.Judged] = []
    var first: [Double] = []
    for seed in ScenarioSeeds.all {
      let house = ScenarioHouse(seed: seed)
      let ground = try house.ground(knowledge)
      let journey = try house.planner.tour(
        seed: seed &+ 100,
        on: SimulatedMall.floor(Int(seed % 3)),
        lasting: ScenarioSeeds.stroll
      )
      var handset = Handset(id: .name("walker"), journey: journey, headingBias: seed % 2 == 0 ? 0.12 : -0.12)
      thinning.thin(&handset)
      change(&handset)
      let scene = IndoorScene(
        name: "stroll",
        duration: ScenarioSeeds.stroll,
        venue: house.venue,
        storey: SimulatedMall.storey,
        handsets: [handset]
      )
      let run = try ScenarioRun(scene, seed: seed, on: ground)
      judged += run.all
      first.append(run.all.first?.time.seconds ?? .infinity)
    }
    return (ScenarioFigures(judged), first)
  }

  @Test(
    "the main table beside thinned ones",
    arguments: ScenarioThinning.allCases,
    ScenarioHouse.Knowledge.allCases
  )
  func table(thinning: ScenarioThinning, knowledge: ScenarioHouse.Knowledge) throws {
    let (figures, first) = try Self.figures(thinning, knowledge)
    print(
      "thinned: \(knowledge.rawValue), \(thinning.rawValue): \(figures.row), first fixes after \(first) s"
    )
    #expect(first.allSatisfy { $0 < 5 })
    guard knowledge == .surveyed || thinning != .wiFiOnly else {
      // Without a survey nothing tells how loud access points send: such fixes are a guess on the right floor.
      #expect(figures.floor > 0.9)
      #expect(figures.median < 20)
      return
    }
    #expect(figures.floor > 0.97)
    #expect(figures.surelyRight >= 0.95)
    #expect(figures.median < 4)
    #expect(figures.p90 < 10)
    #expect(figures.within > 0.5)
    #expect(figures.withinTwice > 0.88)
  }
}
