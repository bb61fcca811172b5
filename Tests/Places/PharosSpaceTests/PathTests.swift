import PharosModel
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Path")
struct PathTests {
  /// Two seconds at the origin, ten metres east in five seconds, three seconds there, four metres north in two.
  let way = Path(
    from: Path.Stop(.origin, dwell: .seconds(2)),
    through: [Path.Stop(Point(x: 10, y: 0), dwell: .seconds(3)), Path.Stop(Point(x: 10, y: 4))],
    speed: 2
  )
  /// There and back again: one second at each end, four seconds each way.
  let round = Path(
    from: Path.Stop(.origin, dwell: .seconds(1)),
    through: [Path.Stop(Point(x: 4, y: 0), dwell: .seconds(1))],
    speed: 1,
    loops: true
  )

  @Test(
    "one is where the time says",
    arguments: [
      (-1.0, 0.0, 0.0, false), (1.9, 0, 0, false), (2, 0, 0, true), (4.5, 5, 0, true), (7, 10, 0, false),
      (9.9, 10, 0, false), (11, 10, 2, true), (12, 10, 4, false), (1_000, 10, 4, false),
    ]
  )
  func position(time: Double, x: Double, y: Double, isMoving: Bool) {
    #expect(way.position(at: .seconds(time)) == Point(x: x, y: y))
    #expect(way.isMoving(at: .seconds(time)) == isMoving)
  }

  @Test("a way lasts as long as its stays and walks")
  func duration() {
    #expect(way.duration == .seconds(12))
    #expect(round.duration == .seconds(10))
    #expect(Path(at: .origin).duration == .zero)
  }

  @Test(
    "a loop begins again",
    arguments: [(0.5, 0.0), (3, 2), (5.5, 4), (8, 2), (10.5, 0), (13, 2), (10_008, 2)]
  )
  func loop(time: Double, x: Double) {
    #expect(round.position(at: .seconds(time)) == Point(x: x, y: 0))
  }

  @Test(
    "one faces where one walks or has walked, and before that where one will",
    arguments: [(0.0, 1.0, 0.0), (5, 1, 0), (9, 1, 0), (11, 0, 1), (50, 0, 1)]
  )
  func heading(time: Double, x: Double, y: Double) {
    #expect(way.heading(at: .seconds(time)) == Point(x: x, y: y))
    #expect(Path(at: .origin).heading(at: .seconds(time)) == nil)
  }

  @Test("in a loop one still faces where one came from while waiting at the begin")
  func headingOfALoop() {
    #expect(round.heading(at: .seconds(0.5)) == Point(x: 1, y: 0))
    #expect(round.heading(at: .seconds(10.5)) == Point(x: -1, y: 0))
  }

  @Test(
    "stillness counts from the last walk",
    arguments: [(1.0, nil), (4, 0), (8, 1), (9.5, 2.5), (11, 0), (20, 8)] as [(Double, Double?)]
  )
  func stillness(time: Double, seconds: Double?) {
    #expect(way.stillness(at: .seconds(time)) == seconds.map { .seconds($0) })
  }

  @Test("in a loop stillness goes on over the turn")
  func stillnessOfALoop() {
    #expect(round.stillness(at: .seconds(0.5)) == nil)
    #expect(round.stillness(at: .seconds(10.5)) == .milliseconds(500))
  }

  @Test(
    "the next departure lies ahead",
    arguments: [(0.0, 2.0), (2, 10), (9, 10), (10, nil), (99, nil)] as [(Double, Double?)]
  )
  func nextDeparture(time: Double, next: Double?) {
    #expect(way.nextDeparture(after: .seconds(time)) == next.map { .seconds($0) })
  }

  @Test("in a loop there is always a next departure", arguments: [(0.0, 1.0), (1, 6), (6, 11), (27, 31)])
  func nextDepartureOfALoop(time: Double, next: Double) {
    #expect(round.nextDeparture(after: .seconds(time)) == .seconds(next))
  }

  @Test("a walker without speed never leaves", arguments: [0.0, -1, .nan])
  func standstill(speed: Double) {
    let path = Path(
      from: Path.Stop(.origin, dwell: .seconds(1)),
      through: [Path.Stop(Point(x: 5, y: 5))],
      speed: speed,
      loops: true
    )
    #expect(path.position(at: .seconds(100)) == .origin)
    #expect(path.nextDeparture(after: .zero) == nil)
  }

  @Test("no position is faster than the path's speed")
  func speedLimit() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<50 {
      func stop() -> Path.Stop {
        Path.Stop(
          Point(x: .random(in: -20...20, using: &random), y: .random(in: -20...20, using: &random)),
          dwell: .seconds(.random(in: 0...3, using: &random))
        )
      }
      let path = Path(
        from: stop(),
        through: [stop(), stop(), stop()],
        speed: 1.5,
        loops: .random(using: &random)
      )
      var previous = path.position(at: .zero)
      for tick in 1...600 {
        let here = path.position(at: .milliseconds(Int64(tick) * 100))
        #expect(here.distance(to: previous) <= 0.15 + 1e-6)
        previous = here
      }
    }
  }
}
