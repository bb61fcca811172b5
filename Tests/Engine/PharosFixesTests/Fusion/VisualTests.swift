import PharosFixes
import PharosModel
import PharosSimulatedWorlds
import PharosSimulation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Visual positioning")
struct VisualTests {
  @Test(
    "odometry that drifts and jumps places a walk within a metre or two",
    arguments: Seeds.fixed(1..<4 as Range<UInt64>)
  )
  func drift(seed: UInt64) throws {
    let hall = try VisualHall()
    let walk = hall.walk(seed: seed)
    let sensings = walk.sensings(of: VisualHall.observer, since: VisualHall.start)
    let (fixes, locator) = hall.fixes(sensings)
    let errors = hall.errors(fixes, walk)
    #expect(errors.count > 800)
    #expect(errors.quantile(0.5) < 1.5 && errors.quantile(0.95) < 3.8)
    #expect(locator.counters.jumps >= 5 && locator.counters.outliers == 0)
  }

  @Test("pauses, scans without an attitude, and handsets without steps", arguments: [true, false])
  func hardships(hasSteps: Bool) throws {
    let hall = try VisualHall()
    let errors = VisualWalk.Errors(
      jumpInterval: .forever,
      pauseInterval: .seconds(90),
      pause: .seconds(2),
      direction: nil
    )
    let walk = hall.walk(errors, hasSteps: hasSteps, scanDistance: 60, seed: 5)
    let (fixes, _) = hall.fixes(walk.sensings(of: VisualHall.observer, since: VisualHall.start))
    let found = hall.errors(fixes, walk)
    #expect(found.quantile(0.5) < 3, "\(found.quantile(0.5)) m")
    // Nothing tells the direction of the first frame before the second scan.
    let later = hall.errors(fixes.filter { $0.time > VisualHall.start + .seconds(120) }, walk)
    #expect(later.quantile(0.95) < 6, "\(later.quantile(0.95)) m")
  }

  @Test("a scan that contradicts everything is not used, two that agree are")
  func outliers() throws {
    let hall = try VisualHall()
    func scan(_ point: Point, at seconds: Double) throws -> Sensing {
      let coordinate = try #require(hall.plane.coordinate(of: point))
      let fix = OutsideFix(
        latitude: coordinate.latitude,
        longitude: coordinate.longitude,
        horizontalAccuracy: Meters(0.5),
        speed: nil,
        source: .vps
      )
      return Self.sensing(.outside(fix), at: seconds)
    }
    func pose(at seconds: Double) -> Sensing {
      Self.sensing(
        .relativePose(RelativePose(session: 1, interval: .milliseconds(500), x: 0, y: 0, z: 0)),
        at: seconds
      )
    }
    var sensings = [try scan(Point(x: 50, y: 50), at: 0)]
    for step in 1...20 { sensings.append(pose(at: Double(step) / 2)) }
    sensings.append(try scan(Point(x: 90, y: 50), at: 10.1))
    for step in 21...30 { sensings.append(pose(at: Double(step) / 2)) }
    let once = hall.fixes(sensings)
    #expect(once.locator.counters.outliers == 1)
    #expect(try #require(once.fixes.last).point.distance(to: Point(x: 50, y: 50)) < 1)
    sensings.append(try scan(Point(x: 90.5, y: 50), at: 15.1))
    for step in 31...36 { sensings.append(pose(at: Double(step) / 2)) }
    let twice = hall.fixes(sensings)
    #expect(try #require(twice.fixes.last).point.distance(to: Point(x: 90.5, y: 50)) < 1)
  }

  @Test("poses that cannot be are counted and change nothing")
  func invalid() throws {
    let hall = try VisualHall()
    let walk = hall.walk(seed: 9)
    let sensings = Array(walk.sensings(of: VisualHall.observer, since: VisualHall.start).prefix(2_000))
    var spoilt: [Sensing] = []
    let second = TimeSpan.seconds(1)
    let bad = [
      RelativePose(session: 1, interval: second, x: .nan, y: 0, z: 0),
      RelativePose(session: 1, interval: second, x: .infinity, y: 0, z: 0),
      RelativePose(session: 1, interval: second, x: 2_000, y: 0, z: 0),
      RelativePose(session: 1, interval: .zero, x: 0, y: 0, z: 0),
      RelativePose(session: 1, interval: .seconds(60), x: 0, y: 0, z: 0),
      RelativePose(session: 1, interval: .milliseconds(10), x: 5, y: 0, z: 0),
      RelativePose(
        session: 9,
        interval: second,
        x: 0,
        y: 0,
        z: 0,
        rotation: Rotation(w: 1, x: 1, y: 0, z: 0)
      ),
      RelativePose(
        session: 9,
        interval: second,
        x: 0,
        y: 0,
        z: 0,
        rotation: Rotation(w: .nan, x: 1, y: 0, z: 0)
      ),
    ]
    for (index, sensing) in sensings.enumerated() {
      if index % 50 == 49 {
        var copy = sensing
        copy.body = .relativePose(bad[index / 50 % bad.count])
        spoilt.append(copy)
      }
      spoilt.append(sensing)
    }
    let (clean, withBad) = (hall.fixes(sensings), hall.fixes(spoilt))
    #expect(clean.fixes == withBad.fixes)
    #expect(withBad.locator.counters.invalid == 40)
  }

  @Test(
    "neither the order of arrival within the lag nor extra time changes a fix",
    arguments: Seeds.drawn(1..<4 as Range<UInt64>)
  )
  func batches(seed: UInt64) throws {
    let hall = try VisualHall()
    let walk = hall.walk(seed: seed)
    let sensings = Array(walk.sensings(of: VisualHall.observer, since: VisualHall.start).prefix(2_500))
    let plain = hall.fixes(sensings).fixes
    var random = SeededGenerator(seed: seed)
    var locator = Locator(ground: hall.ground, seed: 7)
    var fixes: [FixEstimate] = []
    for sensing in sensings {
      if Bool.random(using: &random) {
        locator.advance(to: sensing.decidedAt - .milliseconds(Int64.random(in: 1...900, using: &random)))
      }
      locator.receive(sensing)
      while Bool.random(using: &random), let fix = locator.nextFix() { fixes.append(fix) }
    }
    if let last = sensings.last { locator.advance(to: last.decidedAt + .seconds(2)) }
    while let fix = locator.nextFix() { fixes.append(fix) }
    #expect(fixes == plain)
  }

  static func sensing(_ body: Sensing.Body, at seconds: Double) -> Sensing {
    let time = VisualHall.start + .seconds(seconds)
    return Sensing(observer: VisualHall.observer, time: time, decidedAt: time, ordinal: 0, body: body)
  }
}
