import PharosModel
import PharosRooms
import PharosSimulation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Scenarios: causality")
struct CutScenarioTests {
  @Test("cutting a trace anywhere changes no fix before the cut", arguments: ScenarioSeeds.all)
  func cut(seed: UInt64) throws {
    let house = ScenarioHouse(seed: seed)
    let ground = try house.ground(.placed)
    let length = TimeSpan.seconds(60)
    let handsets = try (0..<2).map { number in
      Handset(
        id: .name("walker \(number)"),
        journey: try house.planner.tour(
          seed: seed &* 7 &+ UInt64(number),
          on: SimulatedMall.floor(number),
          lasting: length
        ),
        motion: number == 0 ? .raw(Handset.Sensors()) : .steps,
        hasSatellites: number == 1,
        network: Network(delay: .milliseconds(5), jitter: .milliseconds(40), loss: 0.02, reordering: 0.05)
      )
    }
    let scene = IndoorScene(
      name: "cut",
      duration: length,
      venue: house.venue,
      storey: SimulatedMall.storey,
      handsets: handsets
    )
    let whole = try ScenarioRun(scene, seed: seed, on: ground).events.filter { $0.kind == .fix }
    #expect(whole.count > 80)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<4 {
      let end = TimeSpan.milliseconds(Int64.random(in: 500..<60_000, using: &random))
      let cut = try ScenarioRun(scene, seed: seed, on: ground, until: end).events.filter { $0.kind == .fix }
      // What is decided at the cut or behind it may miss what came later.
      let before = cut.filter { $0.decidedAt < scene.start + end }
      #expect(before == whole.filter { $0.decidedAt < scene.start + end }, "cut at \(end.seconds) s")
      #expect(end < .seconds(4) || !before.isEmpty)
    }
  }
}
