import PharosDocuments
import PharosModel
import PharosSimulatedWorlds
import PharosSimulation
import PharosSpace
import PharosTestSupport
import PharosWays
import Testing

/// When a subject has to leave for its gate, on walks that are drawn and on passengers of a simulated airport.
@Suite("Departure watch", .timeLimit(.minutes(20)))
struct DepartureWatchTests {
  private static let start = Timestamp(seconds: 1_750_000_000)
  private static let gate = DepartureWatch.Appointment(time: start + .minutes(60), margin: .minutes(5))

  private static func at(_ second: Double) -> Timestamp { start + .seconds(second) }

  /// The seconds at which a subject is warned whose walk is a function of time, with a fix every two seconds.
  private static func warnings(until end: Int = 3_600, _ walk: (Double) -> Double?) -> [Int] {
    var watch = DepartureWatch()
    var warned: [Int] = []
    for second in stride(from: 0, to: end, by: 2) {
      let now = at(Double(second))
      let isDue =
        if let walk = walk(Double(second)) {
          watch.update(walk: .seconds(walk), at: now, for: gate)
        } else {
          watch.advance(to: now, for: gate)
        }
      if isDue { warned.append(second) }
    }
    return warned
  }

  @Test(
    "a subject that stays where it is, is warned once, when the walk exceeds the time left minus the margin"
  )
  func stays() {
    // 3,600 s less 300 s of margin and 400 s of walk.
    #expect(Self.warnings { _ in 400 } == [2_902])
    #expect(Self.warnings { _ in 0 } == [], "it is there")
  }

  @Test("a subject that was last located long ago is taken to stay there")
  func silent() {
    #expect(Self.warnings { $0 < 100 ? 400 : nil } == [2_902])
    #expect(Self.warnings { _ in nil } == [], "nothing is known of one that never was located")
  }

  @Test("a warned subject that walks the wrong way is warned again, and not once it is there")
  func wrongWay() {
    let warned = Self.warnings { second in
      switch second {
      case ..<2_910: 400
      case ..<2_945: 400 + (second - 2_910)
      default: max(0, 435 - (second - 2_945))
      }
    }
    #expect(warned.count == 2)
    #expect(warned.first == 2_902)
    // The walk has grown by twenty seconds at 2,930 s; the median of three fixes and the pause come on top.
    #expect((2_932...2_940).contains(warned.last ?? 0))
  }

  @Test("a subject that walks there in time is not warned, one that would have less than half the margin is")
  func approaching() {
    #expect(Self.warnings { max(0, 400 - max(0, $0 - 2_880)) } == [])
    // It walks at three quarters of the speed: its slack falls below zero on the way, and it still arrives in time.
    #expect(Self.warnings { max(0, 400 - max(0, $0 - 2_880) * 0.75) } == [])
    #expect(Self.warnings { max(0, 400 - max(0, $0 - 2_880) * 0.55) }.count == 1)
  }

  @Test("a fix that is wrong once decides nothing")
  func outlier() {
    #expect(Self.warnings(until: 2_600) { $0 == 2_000 ? 3_000 : 400 } == [])
  }

  @Test("a restart neither repeats a warning nor loses the next one")
  func restart() throws {
    var watch = DepartureWatch()
    for second in [2_900.0, 2_902, 2_904] {
      _ = watch.update(walk: .seconds(400), at: Self.at(second), for: Self.gate)
    }
    #expect(watch.warnings == 1)
    var writer = FieldWriter()
    writer.code(&watch)
    var reader = FieldReader(writer.bytes[...])
    var restored: DepartureWatch = try reader.read()
    #expect(restored.warnings == 1)
    let isRepeated = restored.update(walk: .seconds(400), at: Self.at(2_940), for: Self.gate)
    #expect(!isRepeated)
    let again = (0..<20).map { step in
      let time = Self.at(2_942 + 2 * Double(step))
      return restored.update(walk: .seconds(402 + 2 * Double(step)), at: time, for: Self.gate)
    }
    #expect(again.count { $0 } == 1)
    // What the journal says counts where the saved state is older.
    var older = DepartureWatch()
    older.restore(warnings: 1, at: Self.at(2_904))
    let isRepeatedByOlder = older.update(walk: .seconds(400), at: Self.at(2_940), for: Self.gate)
    #expect(!isRepeatedByOlder)
  }

  /// A passenger who waits somewhere and goes to a gate.
  private struct Passenger {
    /// The walk that routes state, from where the passenger waits.
    let walk: Double
    /// The speed as a share of that of routes.
    let speed: Double
    /// The second at which the passenger goes without being warned; nil for one who waits for the warning.
    let leaves: Double?
    /// The time from a warning to the first step.
    let reaction: Double
    /// Indicates whether the first steps lead away from the gate, until the next warning.
    let isLost: Bool

    /// Plays the time up to the appointment; fixes err by a few metres.
    ///
    /// - Returns: the number of warnings, and the second of the arrival, if there is one.
    func play(_ random: inout RandomStream) -> (warnings: Int, arrival: Double?) {
      var watch = DepartureWatch()
      var remaining = walk
      var warnings = 0
      var goesAt = leaves
      var arrival: Double?
      for second in stride(from: 0.0, to: 3_600, by: 2) {
        let goes = goesAt.map { second >= $0 } ?? false
        if goes { remaining += 2 * (isLost && warnings == 1 ? speed : -speed) }
        remaining = max(0, remaining)
        if remaining == 0, arrival == nil { arrival = second }
        let now = DepartureWatchTests.at(second)
        let isDue: Bool
        if now >= watch.nextSample(for: gate) {
          // 5 m at 1.3 m/s.
          let seen = TimeSpan.seconds(max(0, remaining + 3.8 * random.normal()))
          isDue = watch.update(walk: seen, at: now, for: gate)
        } else {
          isDue = watch.advance(to: now, for: gate)
        }
        if isDue {
          warnings += 1
          if leaves == nil { goesAt = second + reaction }
        }
      }
      return (warnings, arrival)
    }
  }

  @Test(
    "1,000 passengers: all who obey reach the gate, few are warned without need",
    arguments: Seeds.fixed(1..<9)
  )
  func passengers(seed: UInt64) throws {
    var random = RandomStream(seed: seed)
    let venue = SimulatedAirport(floors: 2, seed: seed).venue
    let places = venue.buildings[0].floors.flatMap(\.pointsOfInterest)
    let gates = places.filter { $0.category == "gate" }.map(\.identifier)
    let shops = places.filter { $0.category == "shopping" }.map(\.identifier)
    func drawn(_ count: Int, _ all: [String]) -> [Waypoint] {
      (0..<count).map { _ in .place(all[Int(random.uniform() * Double(all.count))]) }
    }
    let rows = try Router(WalkableGraph(venue)).matrix(from: drawn(40, shops), to: drawn(10, gates))
    let walks = rows.joined().compactMap { $0?.duration }.filter { $0 > 30 }
    try #require(walks.count > 200)

    var spare: [Double] = []
    var (warned, needless, missed) = (0, 0, 0)
    for number in 0..<1_000 {
      let walk = walks[Int(random.uniform() * Double(walks.count))]
      let speed = min(max(1.34 + 0.2 * random.normal(), 1), 1.8) / 1.3
      // Six of ten wait for the warning; the others leave in time to have five and a half to twenty-five minutes.
      let own = number % 10 < 6 ? nil : 3_600 - walk / speed - random.uniform(330, 1_500)
      let passenger = Passenger(
        walk: walk,
        speed: speed,
        leaves: own.map { max($0, 0) },
        reaction: random.uniform(5, 45),
        isLost: number % 10 == 0
      )
      let (warnings, arrival) = passenger.play(&random)
      if warnings > 0 { warned += 1 }
      if own != nil, warnings > 0 { needless += 1 }
      guard own == nil else { continue }
      guard let arrival else {
        missed += 1
        continue
      }
      spare.append((3_600 - arrival) / 60)
    }
    spare.sort()
    let p95 = spare[spare.count * 95 / 100]
    print(
      "seed \(seed): \(warned) warned, \(needless) without need, \(missed) missed, spare",
      "\(spare[0]) to \(spare[spare.count - 1]) min, p5 \(spare[spare.count / 20]), p95 \(p95)"
    )
    #expect(missed == 0, "seed \(seed)")
    #expect(needless * 100 <= 3 * warned, "seed \(seed): \(needless) of \(warned)")
    #expect((2...6).contains(p95), "seed \(seed)")
  }
}
