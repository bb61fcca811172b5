import PharosDocuments
import PharosFixes
import PharosModel
import PharosPipeline
import PharosSimulatedWorlds
import PharosSimulation
import PharosSpace
import PharosTestSupport
import PharosWays
import Testing

@Suite("Itineraries")
struct ItineraryTests {
  private static func itinerary(_ points: [Point], in hall: VisualHall, level: Int = 0) throws -> Itinerary {
    Itinerary(
      try points.map { point in
        let coordinate = try #require(hall.plane.coordinate(of: point))
        return Itinerary.Waypoint(
          latitude: coordinate.latitude,
          longitude: coordinate.longitude,
          level: level
        )
      }
    )
  }

  private static func fixes(
    _ sensings: [Sensing],
    in hall: VisualHall,
    _ itinerary: Itinerary?
  ) -> [FixEstimate] {
    var locator = Locator(ground: hall.ground, seed: 7)
    locator.assign(itinerary)
    var fixes: [FixEstimate] = []
    for sensing in sensings {
      locator.receive(sensing)
      while let fix = locator.nextFix() { fixes.append(fix) }
    }
    return fixes
  }

  @Test("an itinerary brings fixes nearer", arguments: Seeds.fixed(1..<4 as Range<UInt64>))
  func accuracy(seed: UInt64) throws {
    let hall = try VisualHall()
    let walk = hall.walk(seed: seed)
    let sensings = walk.sensings(of: VisualHall.observer, since: VisualHall.start)
    let errors = hall.errors(
      Self.fixes(sensings, in: hall, try Self.itinerary(VisualHall.route, in: hall)),
      walk
    )
    #expect(
      errors.quantile(0.5) < 1.2 && errors.quantile(0.95) < 3,
      "\(errors.quantile(0.5)) \(errors.quantile(0.95))"
    )
  }

  @Test(
    "the progress along an itinerary is as exact as the fixes are",
    arguments: Seeds.drawn(1..<4 as Range<UInt64>)
  )
  func progress(seed: UInt64) throws {
    let hall = try VisualHall()
    let sensings = hall.walk(seed: seed).sensings(of: VisualHall.observer, since: VisualHall.start)
    let itinerary = try Self.itinerary(VisualHall.route, in: hall)
    let fixes = Self.fixes(sensings, in: hall, itinerary)
    for fix in fixes {
      let progress = try #require(fix.progress)
      #expect(!progress.isOffRoute && progress.deviation < 6)
      // The nearest place of the route is at most twice as far from the true one as the fix, and around a corner the way between the
      // two is √2 times as long. So a progress goes back as far as the fix before it was ahead: at a scan, by the drift since the last.
      let (way, place) = VisualHall.progress(at: fix.time - VisualHall.start)
      let error = fix.point.distance(to: place)
      #expect(abs(progress.distance - way) <= 2 * 2.0.squareRoot() * error + 0.01, "\(fix)")
    }
    let final = try #require(fixes.last?.progress)
    #expect(final.share > 0.98 && final.distance > 1_060)
    let place = try #require(Coordinate(latitude: final.latitude ?? .nan, longitude: final.longitude ?? .nan))
    let end = try #require(hall.plane.coordinate(of: VisualHall.route[VisualHall.route.count - 1]))
    #expect(place.distance(to: end) < 8)
  }

  @Test("a subject that leaves the route is off it within 15 s, and on it again after its return")
  func offRoute() throws {
    let hall = try VisualHall()
    let path = [
      Point(x: 20, y: 20), Point(x: 100, y: 20), Point(x: 100, y: 60), Point(x: 160, y: 60),
      Point(x: 160, y: 20),
      Point(x: 240, y: 20),
    ]
    let stages = zip(path, path.dropFirst()).map { VisualWalk.Stage(to: $1, from: $0, speed: 1.3) }
    let walk = VisualWalk(from: path[0], stages, on: hall.plane, scanDistance: 60, seed: 4)
    let sensings = walk.sensings(of: VisualHall.observer, since: VisualHall.start)
    let itinerary = try Self.itinerary([path[0], Point(x: 320, y: 20)], in: hall)
    let fixes = Self.fixes(sensings, in: hall, itinerary)
    let turned = 80 / 1.3
    let off = try #require(fixes.first { $0.progress?.isOffRoute == true })
    #expect((off.time - VisualHall.start).seconds > turned)
    #expect((off.time - VisualHall.start).seconds < turned + 15)
    #expect(fixes.last?.progress?.isOffRoute == false)
    #expect(abs((fixes.last?.progress?.distance ?? 0) - 220) < 5)
    // While it is off the route, the route pulls nothing.
    #expect(hall.errors(fixes, walk).quantile(0.95) < 4)
  }

  @Test("a route on no floor of the venue, or with one place, is none")
  func none() throws {
    let hall = try VisualHall()
    let sensings = Array(
      hall.walk(seed: 2).sensings(of: VisualHall.observer, since: VisualHall.start).prefix(900)
    )
    let plain = Self.fixes(sensings, in: hall, nil)
    #expect(Self.fixes(sensings, in: hall, try Self.itinerary(VisualHall.route, in: hall, level: 3)) == plain)
    let twice = Array(repeating: VisualHall.route[0], count: 3)
    #expect(Self.fixes(sensings, in: hall, try Self.itinerary(twice, in: hall)) == plain)
    #expect(!Itinerary([Itinerary.Waypoint(latitude: 1, longitude: 2)]).isValid)
    #expect(!Itinerary(Array(repeating: Itinerary.Waypoint(latitude: .nan, longitude: 2), count: 2)).isValid)
  }

  @Test(
    "assigned while it runs, written and restored, for all portions of time",
    arguments: [1, 2, 3] as [UInt64]
  )
  func assigned(seed: UInt64) throws {
    let hall = try VisualHall()
    let sensings = Array(
      hall.walk(seed: 3).sensings(of: VisualHall.observer, since: VisualHall.start).prefix(2_000)
    )
    let subject = SubjectID.observer(VisualHall.observer)
    let itinerary = try Self.itinerary(VisualHall.route, in: hall)
    let change = RegionChange.setItinerary(subject: subject, itinerary)
    var writer = FieldWriter()
    change.write(to: &writer)
    var reader = FieldReader(writer.bytes[...])
    #expect(try RegionChange(from: &reader) == change)
    func events(_ advances: Bool) -> (events: [Event], stage: StageTwo) {
      var random = SeededGenerator(seed: seed)
      var stage = StageTwo(site: Site(stream: "s"), venues: [hall.ground])
      var events: [Event] = []
      var isAssigned = false
      for sensing in sensings {
        if !isAssigned, sensing.decidedAt > VisualHall.start + .seconds(100) {
          isAssigned = true
          stage.apply(change, at: VisualHall.start + .seconds(100), into: &events)
        }
        if advances, Bool.random(using: &random) {
          stage.advance(to: sensing.decidedAt - .milliseconds(1), into: &events)
        }
        stage.restore(.sensing(sensing), into: &events)
      }
      stage.advance(to: VisualHall.start + .seconds(300), into: &events)
      return (events.sorted(by: Event.isOrderedBefore), stage)
    }
    let (plain, stage) = events(false)
    #expect(events(true).events == plain)
    let known = plain.filter { event in
      if case .fix(let fix) = event.detail { return fix.progress != nil }
      return false
    }
    #expect(known.count > 50)
    #expect(known.allSatisfy { $0.time > VisualHall.start + .seconds(98) })
    var state = FieldWriter()
    stage.writeState(to: &state)
    var restored = StageTwo(site: Site(stream: "s"), venues: [hall.ground])
    var states = FieldReader(state.bytes[...])
    try restored.restoreState(from: &states)
    try states.finish()
    var again = FieldWriter()
    restored.writeState(to: &again)
    #expect(again.bytes == state.bytes)
  }
}
