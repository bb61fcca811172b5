import PharosModel
import PharosPipeline
import PharosSimulatedWorlds
import PharosSimulation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Events of visual positioning")
struct VisualEventsTests {
  /// The events that stage two makes of sensings, with time that is let run on now and then.
  private static func events(_ sensings: [Sensing], in hall: VisualHall, advancing seed: UInt64?) -> [Event] {
    var stage = StageTwo(site: Site(stream: "s"), venues: [hall.ground])
    var random = SeededGenerator(seed: seed ?? 0)
    var events: [Event] = []
    for sensing in sensings.sorted(by: { ($0.decidedAt, $0.ordinal) < ($1.decidedAt, $1.ordinal) }) {
      if seed != nil, Int.random(in: 0..<4, using: &random) == 0 {
        stage.advance(to: sensing.decidedAt - .milliseconds(1), into: &events)
      }
      stage.restore(.sensing(sensing), into: &events)
    }
    if let last = sensings.last { stage.advance(to: last.decidedAt + .seconds(60), into: &events) }
    return events.sorted(by: Event.isOrderedBefore)
  }

  private static func sensings(_ hall: VisualHall) throws -> [Sensing] {
    let walk = hall.walk(seed: 3)
    var sensings = walk.sensings(of: VisualHall.observer, since: VisualHall.start)
    func record(_ status: VisualStatus, at seconds: Double) {
      let time = VisualHall.start + .seconds(seconds)
      sensings.append(
        Sensing(
          observer: VisualHall.observer,
          time: time,
          decidedAt: time,
          ordinal: UInt64(sensings.count),
          body: .visualStatus(status)
        )
      )
    }
    for second in stride(from: 40.0, to: 60, by: 2) {
      record(
        VisualStatus(
          state: .degradedPositioning,
          reasons: .lowLight,
          backgroundScan: second < 50 ? .stopped : .failed
        ),
        at: second
      )
    }
    record(VisualStatus(state: .accuratePositioning), at: 60)
    return sensings.sorted { ($0.decidedAt, $0.ordinal) < ($1.decidedAt, $1.ordinal) }
  }

  @Test("a walk through darkness, and its end")
  func walk() throws {
    let hall = try VisualHall()
    let events = Self.events(try Self.sensings(hall), in: hall, advancing: nil)
    let states = events.compactMap { event -> PositioningTransition? in
      if case .positioning(let transition) = event.detail { return transition }
      return nil
    }
    #expect(
      states.map(\.state) == [
        .accuratePositioning, .degradedPositioning, .degradedPositioning, .accuratePositioning,
        .degradedPositioning, .notPositioning,
      ]
    )
    #expect(states.map(\.advice) == [.none, .none, .holdPhoneUp, .none, .none, .none])
    #expect(states.map(\.reasons) == [[], .lowLight, .lowLight, [], .trackingLost, []])
    #expect(states[1].evidence.reported == .degradedPositioning && states[1].evidence.isTracking)
    #expect(states[1].evidence.venue == "terminal")
    #expect((states[1].evidence.distance ?? 0) > 30 && (states[1].evidence.scanAge ?? .zero) > .seconds(30))
    let requests = events.filter { $0.kind == .scanRequested }
    #expect(requests.allSatisfy { $0.subject == .observer(VisualHall.observer) && $0.stage == 2 })
    #expect(Set(events.map(\.id)).count == events.count)
  }

  @Test("the same events for all portions of time", arguments: Seeds.drawn(1..<4 as Range<UInt64>))
  func portions(seed: UInt64) throws {
    let hall = try VisualHall()
    let sensings = try Self.sensings(hall)
    #expect(
      Self.events(sensings, in: hall, advancing: seed) == Self.events(sensings, in: hall, advancing: nil)
    )
  }

  @Test("a handset without visual positioning has no such events")
  func without() throws {
    var hall = try FusionHall()
    _ = hall.walk(from: Point(x: 5, y: 12), to: Point(x: 55, y: 12), beginning: 0)
    var stage = StageTwo(site: Site(stream: "s"), venues: [hall.ground])
    var events: [Event] = []
    for sensing in hall.sensings { stage.restore(.sensing(sensing), into: &events) }
    stage.advance(to: FusionHall.time(100), into: &events)
    #expect(!events.isEmpty && events.allSatisfy { $0.kind == .fix })
  }
}
