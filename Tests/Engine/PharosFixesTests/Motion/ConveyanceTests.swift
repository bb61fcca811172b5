import PharosModel
import PharosPipeline
import PharosSimulatedWorlds
import PharosSimulation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Conveyors and escalators")
struct ConveyanceTests {
  /// The states and requests of a walk.
  private static func details(_ walk: VisualWalk, in hall: VisualHall) -> [Event] {
    var stage = StageTwo(site: Site(stream: "s"), venues: [hall.ground])
    var events: [Event] = []
    for sensing in walk.sensings(of: VisualHall.observer, since: VisualHall.start) {
      stage.restore(.sensing(sensing), into: &events)
    }
    stage.advance(to: VisualHall.start + walk.duration + .seconds(5), into: &events)
    return events.filter { $0.kind != .fix }
  }

  private static func conveyances(
    _ events: [Event]
  ) -> [(seconds: Double, decided: Double, conveyance: PositioningTransition.Conveyance)] {
    var last = PositioningTransition.Conveyance.none
    return events.compactMap { event in
      guard case .positioning(let transition) = event.detail, transition.conveyance != last else {
        return nil
      }
      last = transition.conveyance
      return (
        (event.time - VisualHall.start).seconds, (event.decidedAt - VisualHall.start).seconds,
        transition.conveyance
      )
    }
  }

  private static func walk(_ manner: VisualWalk.Manner, in hall: VisualHall, seed: UInt64) -> VisualWalk {
    let (start, board, leave) = (Point(x: 20, y: 20), Point(x: 60, y: 20), Point(x: 90, y: 20))
    let ride: VisualWalk.Stage
    switch manner {
    case .lift: ride = VisualWalk.Stage(at: board, for: .seconds(20), manner: manner)
    case .standing: ride = VisualWalk.Stage(at: board, for: .seconds(60))
    case .escalator:
      ride = VisualWalk.Stage(to: Point(x: 70, y: 20), from: board, speed: 0.45, manner: manner)
    case .walking, .conveyor: ride = VisualWalk.Stage(to: leave, from: board, speed: 0.65, manner: manner)
    }
    let after = VisualWalk.Stage(to: Point(x: 150, y: 20), from: ride.end, speed: 1.3)
    return VisualWalk(
      from: start,
      [VisualWalk.Stage(to: board, from: start, speed: 1.3), ride, after],
      on: hall.plane,
      seed: seed
    )
  }

  @Test(
    "riding is detected within 5 s, and a scan is asked for behind it",
    arguments: [1, 2, 3] as [UInt64],
    [false, true]
  )
  func riding(seed: UInt64, rises: Bool) throws {
    let hall = try VisualHall()
    let walk = Self.walk(rises ? .escalator(rise: 5) : .conveyor, in: hall, seed: seed)
    let events = Self.details(walk, in: hall)
    let found = Self.conveyances(events)
    let board = 40 / 1.3
    let on = try #require(found.first)
    #expect(on.seconds > board && on.seconds < board + 5)
    #expect(found.map(\.conveyance).contains(rises ? .escalator : .conveyor))
    #expect(found.last?.conveyance == PositioningTransition.Conveyance.none)
    let requests = events.compactMap { event -> ScanRequest.Reason? in
      if case .scanRequest(let request) = event.detail { return request.reason }
      return nil
    }
    #expect(requests.contains(.conveyor))
  }

  @Test("neither walking, nor standing, nor a lift is a conveyance", arguments: [1, 2, 3] as [UInt64])
  func others(seed: UInt64) throws {
    let hall = try VisualHall()
    for manner in [VisualWalk.Manner.walking, .standing, .lift(rise: 9)] {
      let events = Self.details(Self.walk(manner, in: hall, seed: seed), in: hall)
      #expect(Self.conveyances(events).isEmpty, "\(manner)")
    }
  }

  @Test("a handset that detects no steps tells nothing of conveyances")
  func blind() throws {
    let hall = try VisualHall()
    let stages = [VisualWalk.Stage(to: Point(x: 200, y: 20), from: Point(x: 20, y: 20), speed: 1.3)]
    let walk = VisualWalk(from: Point(x: 20, y: 20), stages, on: hall.plane, hasSteps: false, seed: 1)
    #expect(Self.conveyances(Self.details(walk, in: hall)).isEmpty)
  }
}
