import PharosFixes
import PharosModel
import PharosSimulation
import PharosSpace
import Testing

@Suite("Scenarios: tags and fixed observers")
struct TagScenarioTests {
  static let tag = UUID128(high: 0x1234, low: 0x5678)

  /// Returns a tag of one of four makes, none of which is calibrated.
  static func tag(_ number: Int, in house: ScenarioHouse) throws -> CarriedTag {
    let journey = try house.planner.tour(
      seed: house.seed &* 10 &+ UInt64(number),
      on: SimulatedMall.floor(number % 3),
      lasting: ScenarioSeeds.stroll,
      receiving: number == 3 ? [.stairs] : [],
      gait: SimulatedGait(speed: 0.9)
    )
    let beacon = BeaconID.proximity(tag, major: 1, minor: UInt16(number))
    return CarriedTag(beacon: beacon, journey: journey, power: -62 + 2 * Double(number))
  }

  @Test("tags are found on their floor within ten metres, with honest accuracy")
  func tags() throws {
    var judged: [ScenarioRun.Judged] = []
    for seed in ScenarioSeeds.all {
      let house = ScenarioHouse(hasAccessPoints: false, hasBeacons: false, hasObservers: true, seed: seed)
      let tags = try (0..<4).map { number in try Self.tag(number, in: house) }
      let scene = IndoorScene(
        name: "tags",
        duration: ScenarioSeeds.stroll,
        venue: house.venue,
        storey: SimulatedMall.storey,
        tags: tags
      )
      let site = Site(positioning: PositioningSettings(tags: [.proximity(Self.tag)]))
      let run = try ScenarioRun(scene, seed: seed, on: try house.ground(.placed), site: site)
      #expect(run.fixes.count == 4)
      judged += run.all
    }
    let figures = ScenarioFigures(judged)
    print("tags: \(figures.row)")
    #expect(figures.within > 0.5)
    #expect(figures.withinTwice > 0.88)
    #expect(figures.median < 10)
    #expect(figures.floor > 0.75)
  }
}
