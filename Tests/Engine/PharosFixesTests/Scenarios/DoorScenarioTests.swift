import PharosModel
import PharosRooms
import PharosSimulation
import PharosSpace
import Testing

@Suite("Scenarios: through doors")
struct DoorScenarioTests {
  static func run(seed: UInt64) throws -> ScenarioRun {
    let house = ScenarioHouse(seed: seed)
    let journey = try house.planner.journey(
      on: SimulatedMall.floor(0),
      from: Point(x: -60, y: 20),
      isOutdoors: true,
      [
        .stay(.seconds(10)), .enter(through: SimulatedMall.westDoor), .walk(to: Point(x: 45, y: 20)),
        .walk(to: Point(x: 37, y: 8)), .stay(.seconds(20)), .walk(to: Point(x: 45, y: 20)),
        .leave(through: SimulatedMall.eastDoor, to: Point(x: 130, y: 20)), .stay(.seconds(20)),
      ]
    )
    let handset = Handset(id: .name("walker"), journey: journey, hasSatellites: true)
    let scene = IndoorScene(
      name: "doors",
      duration: journey.duration,
      venue: house.venue,
      storey: SimulatedMall.storey,
      handsets: [handset]
    )
    return try ScenarioRun(scene, seed: seed, on: try house.ground(.surveyed))
  }

  @Test("from outside through the house and out again no fix leaps, and the advice changes once each way")
  func throughTheHouse() throws {
    var judged: [ScenarioRun.Judged] = []
    for seed in ScenarioSeeds.all {
      let run = try Self.run(seed: seed)
      let plane = try #require(run.scene.venue.floor(SimulatedMall.floor(0))?.plane)
      let fixes = run.only
      judged += fixes
      var leap = 0.0
      var changes: [(time: Double, isIndoors: Bool)] = []
      var advices: [(time: Double, advice: SatelliteAdvice)] = []
      var last: Point?
      for entry in fixes {
        let point: Point
        if entry.fix.isIndoors {
          point = Point(x: entry.fix.x, y: entry.fix.y)
        } else {
          let latitude = try #require(entry.fix.latitude)
          let longitude = try #require(entry.fix.longitude)
          let coordinate = try #require(Coordinate(latitude: latitude, longitude: longitude))
          point = try #require(plane.point(of: coordinate))
        }
        if let last { leap = max(leap, last.distance(to: point)) }
        last = point
        if changes.last?.isIndoors != entry.fix.isIndoors {
          changes.append((entry.time.seconds, entry.fix.isIndoors))
        }
        if advices.last?.advice != entry.fix.satellites {
          advices.append((entry.time.seconds, entry.fix.satellites))
        }
      }
      print(
        "doors: seed \(seed): longest step \(leap) m; \(changes); \(advices); \(ScenarioFigures(fixes).row)"
      )
      #expect(changes.map(\.isIndoors) == [false, true, false])
      #expect(advices.map(\.advice) == [.needed, .notNeeded, .needed])
      #expect(leap < 8)
    }
    #expect(ScenarioFigures(judged).median < 5)
  }
}
