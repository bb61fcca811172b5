import PharosModel
import PharosRooms
import PharosSimulation
import PharosSpace
import Testing

@Suite("Scenarios: from floor to floor")
struct FloorScenarioTests {
  /// The longest time after stepping off until the new floor is reported.
  ///
  /// - Units: seconds.
  static let allowed = 10.0

  /// Up and down by one means, with walks between.
  static func journeySteps(_ kind: Connector.Kind) -> [JourneyStep] {
    let floor = SimulatedMall.floor
    func walks(_ x: Double, _ toX: Double) -> [JourneyStep] {
      [.walk(to: Point(x: x, y: 18)), .walk(to: Point(x: toX, y: 22)), .stay(.seconds(3))]
    }
    return switch kind {
    case .stairs, .ramp:
      walks(20, 40) + [.ride(SimulatedMall.stairs, to: floor(1))] + walks(50, 12)
        + [.ride(SimulatedMall.stairs, to: floor(2))] + walks(20, 55) + [
          .ride(SimulatedMall.stairs, to: floor(0))
        ]
        + walks(30, 8)
    case .lift:
      walks(40, 10) + [.ride(SimulatedMall.lift, to: floor(2))] + walks(30, 8)
        + [.ride(SimulatedMall.lift, to: floor(1))] + walks(50, 22) + [
          .ride(SimulatedMall.lift, to: floor(0))
        ]
        + walks(30, 50)
    case .escalator:
      walks(40, 10) + [.ride(SimulatedMall.lowerEscalator, to: floor(1))] + walks(50, 38)
        + [.ride(SimulatedMall.upperEscalator, to: floor(2))] + walks(10, 20)
        + [.ride(SimulatedMall.upperEscalator, to: floor(1))] + walks(50, 45)
        + [.ride(SimulatedMall.lowerEscalator, to: floor(0))] + walks(10, 40)
    }
  }

  @Test(
    "the new floor is reported within ten seconds after a lift, stairs and escalators",
    arguments: [Connector.Kind.stairs, .lift, .escalator]
  )
  func newFloor(kind: Connector.Kind) throws {
    for (number, thinning) in ScenarioSeeds.rides.enumerated() {
      // Half of the handsets have a barometer.
      let hasBarometer = number % 2 == 0
      var delays: [Double?] = []
      var judged: [ScenarioRun.Judged] = []
      for seed in ScenarioSeeds.all {
        let house = ScenarioHouse(seed: seed)
        let ground = try house.ground(.surveyed)
        let journey = try house.planner.journey(
          on: SimulatedMall.floor(0),
          from: Point(x: 5, y: 20),
          Self.journeySteps(kind)
        )
        var handset = Handset(
          id: .name("walker"),
          journey: journey,
          hasBarometer: hasBarometer,
          headingBias: 0.1
        )
        thinning.thin(&handset)
        let scene = IndoorScene(
          name: "floors",
          duration: journey.duration,
          venue: house.venue,
          storey: SimulatedMall.storey,
          handsets: [handset]
        )
        let run = try ScenarioRun(scene, seed: seed, on: ground)
        delays += run.delays(of: handset).map(\.delay)
        judged += run.all
      }
      let reported = delays.compactMap { $0 }
      let text = delays.map { $0.map { "\(($0 * 10).rounded() / 10)" } ?? "never" }.joined(separator: " ")
      print(
        "floors: \(kind.rawValue), \(hasBarometer ? "barometer" : "no barometer"), \(thinning.rawValue): s after stepping off: \(text); \(ScenarioFigures(judged).row)"
      )
      #expect(delays.count == ScenarioSeeds.all.count * (kind == .escalator ? 4 : 3))
      #expect(
        reported.count == delays.count && (reported.max() ?? .infinity) <= Self.allowed,
        "\(thinning): \(text)"
      )
    }
  }
}
