import Foundation
import PharosFixes
import PharosModel
import PharosSpace
import PharosStays
import PharosTestSupport
import Testing

/// Pictures of tracks, with the columns in which visits begin and end.
///
/// A column stands for 15 s: a digit is the place in units of 30 m, a dot means no fixes, and `^` another floor.
@Suite("The detection of visits")
struct VisitDetectorTests {
  private static let start = Timestamp(seconds: 1_790_000_000)
  private static let settings = VisitSettings(minimum: .seconds(45))
  private static let ground = VisitFix.Ground(venue: "mall", floor: FloorID(building: "main", level: 0))
  private static let upstairs = VisitFix.Ground(venue: "mall", floor: FloorID(building: "main", level: 1))

  /// The fixes of a picture, one a second, with errors of some metres that persist for some seconds.
  private static func fixes(_ picture: String, seed: UInt64) -> [VisitFix] {
    var random = SeededGenerator(seed: seed)
    var error = Point.origin
    let marks = Array(picture)
    var fixes: [VisitFix] = []
    var here = 0.0
    for (column, mark) in marks.enumerated() {
      let target = mark.wholeNumberValue.map { 30 * Double($0) } ?? here
      for second in 0..<15 {
        // To the next place at 2 m/s.
        let left = target - here
        let step = min(2, left.magnitude) * (left < 0 ? -1 : 1)
        here += step
        let noise = { Double.random(in: -1...1, using: &random) }
        error = error * 0.9 + Point(x: noise(), y: noise())
        guard mark != "." else { continue }
        let time = start + .seconds(Double(column * 15 + second))
        fixes.append(
          VisitFix(
            time: time,
            decidedAt: time + .seconds(1),
            ground: mark == "^" ? upstairs : ground,
            point: Point(x: here, y: 10) + error,
            accuracy: 4,
            speed: step == 0 ? 0 : 1.2
          )
        )
      }
    }
    return fixes
  }

  /// The visits that were found: the columns of their arrivals and departures, and how they ended.
  private static func visits(_ picture: String, seed: UInt64 = 1) -> [String] {
    var detector = VisitDetector(settings)
    var steps: [VisitDetector.Step] = []
    for fix in fixes(picture, seed: seed) {
      while detector.deadline < fix.decidedAt { steps += detector.expire() }
      steps += detector.add(fix)
    }
    if detector.deadline < .distantFuture { steps += detector.expire() }
    return steps.compactMap { step in
      guard case .depart(let stay) = step, let departure = stay.departure else { return nil }
      let columns = [stay.arrival, departure].map { Int((($0 - start).seconds / 15).rounded()) }
      return "\(columns[0])-\(columns[1]) \(stay.evidence.end)"
    }
  }

  private static let pictures: [(picture: String, visits: [String], reason: String)] = [
    ("0123333345678", ["4-8 moved"], "a stop of a minute on a walk"),
    ("0123456789876543210", [], "a walk"),
    ("012233445566778899", [], "a walk with short stops"),
    ("01111111111111123456", ["2-15 moved"], "a long stop"),
    ("011111....1111123456", ["2-15 moved"], "a gap in the data ends no stay"),
    ("01....67", [], "a gap in the data is no stay"),
    ("1111111111^^^^^^^^^^", ["0-10 changedFloor", "10-20 silence"], "a change of floor ends a stay"),
    ("11111111111111" + String(repeating: ".", count: 130), ["0-14 silence"], "silence ends it at last"),
    (
      "11111111" + String(repeating: ".", count: 8) + "2222234567", ["0-8 silence", "17-21 moved"],
      "gone in a gap"
    ),
    ("111112222233333456789", ["0-5 moved", "6-10 moved", "11-15 moved"], "three stops one after the other"),
  ]

  @Test("visits are found where the pictures show stays", arguments: pictures)
  func found(picture: String, visits: [String], reason: String) {
    for seed: UInt64 in 1...5 {
      let found = Self.visits(picture, seed: seed)
      #expect(found.count == visits.count, "\(reason), seed \(seed): \(found)")
      for (one, other) in zip(found, visits) {
        #expect(one.split(separator: " ").last == other.split(separator: " ").last, "\(reason): \(one)")
        let columns = [one, other].map {
          $0.split(separator: " ")[0].split(separator: "-").map { Int($0) ?? 0 }
        }
        for (left, right) in zip(columns[0], columns[1]) {
          #expect(abs(left - right) <= 1, "\(reason), seed \(seed): \(one) for \(other)")
        }
      }
    }
  }

  @Test(
    "fixes of any kind give arrivals and departures in turn, each visit after the one before",
    arguments: 1...20
  )
  func order(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let marks = Array("0123456789...^")
    var picture = ""
    for _ in 0..<60 {
      let mark = marks.randomElement(using: &random) ?? "0"
      picture += String(repeating: mark, count: Int.random(in: 1...8, using: &random))
    }
    var detector = VisitDetector(Self.settings)
    var last = Timestamp.distantPast
    var arrival: Timestamp?
    for fix in Self.fixes(picture, seed: seed) {
      for step in detector.add(fix) {
        switch step {
        case .arrive(let stay):
          #expect(arrival == nil)
          #expect(stay.departure == nil && stay.evidence.end == .lasting)
          #expect(stay.arrival >= last && stay.arrival <= fix.time)
          arrival = stay.arrival
        case .depart(let stay):
          #expect(arrival == stay.arrival)
          #expect((stay.departure ?? .distantPast) >= stay.arrival)
          #expect((stay.departure ?? .distantFuture) <= fix.time)
          last = stay.departure ?? last
          arrival = nil
        }
      }
      #expect(detector.isStaying == (arrival != nil))
    }
  }

  /// The visit of a subject that rests at the origin for half an hour, and the accuracy of each of its fixes.
  ///
  /// The error of a fix is a normal one that all fixes share, and one that persists for ten seconds.
  private static func rest(shared: Double, own: Double, seed: UInt64) throws -> (stay: Stay, accuracy: Double)
  {
    var random = SeededGenerator(seed: seed)
    func normal() -> Double {
      let (radius, angle) = (
        Double.random(in: 0..<1, using: &random), Double.random(in: 0..<1, using: &random)
      )
      return (-2 * log(1 - radius)).squareRoot() * cos(2 * .pi * angle)
    }
    let place = Point(x: shared * normal(), y: shared * normal())
    let accuracy = 1.5096 * (shared * shared + own * own).squareRoot()
    var detector = VisitDetector(settings)
    var steps: [VisitDetector.Step] = []
    var error = Point(x: own * normal(), y: own * normal())
    let kept = exp(-0.1)
    for second in 0..<1_800 {
      error = error * kept + Point(x: normal(), y: normal()) * (own * (1 - kept * kept).squareRoot())
      let time = start + .seconds(Double(second))
      steps += detector.add(
        VisitFix(
          time: time,
          decidedAt: time + .seconds(1),
          ground: ground,
          point: place + error,
          accuracy: accuracy,
          speed: 0
        )
      )
    }
    steps += detector.expire()
    guard case .depart(let stay) = try #require(steps.last) else { throw NoVisit() }
    return (stay, accuracy)
  }

  private struct NoVisit: Error {}

  @Test("the accuracy of a visit holds two thirds of truths where its fixes err alike")
  func accuracyOfRest() throws {
    var held = 0
    for seed: UInt64 in 1...200 {
      let (stay, accuracy) = try Self.rest(shared: 3, own: 1, seed: seed)
      #expect(stay.accuracy <= accuracy)
      held += stay.center.distance(to: .origin) <= stay.accuracy ? 1 : 0
    }
    // 68 %, and three deviations of 200 chances either way.
    #expect((116...156).contains(held), "\(held) of 200")
  }

  @Test("the accuracy of a visit is better than that of its fixes where their errors change")
  func accuracyOfScatter() throws {
    for seed: UInt64 in 1...20 {
      let (stay, accuracy) = try Self.rest(shared: 0, own: 3, seed: seed)
      #expect(stay.accuracy < 0.7 * accuracy, "\(stay.accuracy) of \(accuracy) m")
    }
  }

  /// The arrivals that are found in the fixes of a tag, which have no speeds, at the places of an hour.
  ///
  /// The error is one of 4 m that depends on the place, and one of a metre that persists for some seconds.
  private static func arrivals(
    minimum: TimeSpan,
    seed: UInt64,
    at place: (Double) -> Point
  ) -> [VisitDetector.Step] {
    var random = SeededGenerator(seed: seed)
    let phase = Double.random(in: 0..<6, using: &random)
    var error = Point.origin
    var detector = VisitDetector(VisitSettings(minimum: minimum))
    var steps: [VisitDetector.Step] = []
    for second in 0..<3_600 {
      let point = place(Double(second))
      let noise = { Double.random(in: -1...1, using: &random) }
      error = error * 0.75 + Point(x: noise(), y: noise())
      let placed = Point(x: 4 * cos(point.x / 30 + phase), y: 4 * sin(point.y / 30 + phase))
      let time = start + .seconds(Double(second))
      steps += detector.add(
        VisitFix(
          time: time,
          decidedAt: time + .seconds(1),
          ground: ground,
          point: point + placed + error,
          accuracy: 6
        )
      )
    }
    return steps.filter { if case .arrive = $0 { true } else { false } }
  }

  @Test(
    "a tag that paces or goes in circles all the time visits nothing",
    arguments: [0.5, 1.0],
    [TimeSpan.seconds(60), .minutes(4)]
  )
  func pacing(speed: Double, minimum: TimeSpan) {
    for seed: UInt64 in 1...5 {
      for length in [24.0, 40.0] {
        let found = Self.arrivals(minimum: minimum, seed: seed) { second in
          let way = (second * speed).truncatingRemainder(dividingBy: 2 * length)
          return Point(x: min(way, 2 * length - way), y: 10)
        }
        #expect(found.isEmpty, "to and fro on \(length) m, seed \(seed): \(found)")
      }
      for radius in [6.0, 10.0] {
        let found = Self.arrivals(minimum: minimum, seed: seed) { second in
          Point(x: radius * cos(second * speed / radius), y: radius * sin(second * speed / radius))
        }
        #expect(found.isEmpty, "a circle of \(radius) m, seed \(seed): \(found)")
      }
    }
  }

  @Test(
    "a tag that rests after it has paced is visited once",
    arguments: [TimeSpan.seconds(60), .minutes(4)]
  )
  func restOfTag(minimum: TimeSpan) {
    for seed: UInt64 in 1...5 {
      let found = Self.arrivals(minimum: minimum, seed: seed) { second in
        let way = min(second, 1_200) * 0.5
        let part = way.truncatingRemainder(dividingBy: 40)
        return Point(x: min(part, 40 - part), y: 10)
      }
      #expect(found.count == 1, "seed \(seed): \(found)")
      guard case .arrive(let stay)? = found.first else { continue }
      let late = (stay.arrival - Self.start).seconds - 1_200
      #expect((-60...60).contains(late), "seed \(seed): it came \(late) s after the rest began")
    }
  }
}
