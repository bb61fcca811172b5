import PharosModel
import PharosSpace
import PharosStays
import PharosTestSupport
import Testing

/// Live updates of drawn walks, and of walks that are simple enough to see what must follow.
@Suite("Stationary subjects")
struct StationaryTrackTests {
  private static let start = Timestamp(seconds: 1_790_000_000)
  private static let ground = VisitFix.Ground(venue: "mall", floor: FloorID(building: "main", level: 0))
  private static let upstairs = VisitFix.Ground(venue: "mall", floor: FloorID(building: "main", level: 1))

  private static func fix(
    _ second: Double,
    _ point: Point,
    accuracy: Double = 2,
    speed: Double? = nil,
    on ground: VisitFix.Ground = ground
  ) -> VisitFix {
    let time = start + .seconds(second)
    return VisitFix(
      time: time,
      decidedAt: time + .seconds(1),
      ground: ground,
      point: point,
      accuracy: accuracy,
      speed: speed
    )
  }

  /// The changes for fixes at the same place, one a second.
  private static func resting(
    _ seconds: Range<Int>,
    accuracy: Double = 2,
    speed: Double? = nil,
    in track: inout StationaryTrack
  ) -> [StationaryTrack.Change?] {
    seconds.map { track.receive(fix(Double($0), Point(x: 5, y: 5), accuracy: accuracy, speed: speed)) }
  }

  @Test("a subject at rest is stationary after the duration, and nothing follows")
  func rest() {
    var track = StationaryTrack(.pedestrian)
    let changes = Self.resting(0..<60, in: &track)
    #expect(changes[..<20].allSatisfy { $0 == .located })
    #expect(changes[20] == .stationary(since: Self.start))
    #expect(changes[21...].allSatisfy { $0 == nil })
  }

  @Test("vague fixes take as long as the slowest movement needs to separate them", arguments: [6.0, 10, 16])
  func vagueness(accuracy: Double) {
    var track = StationaryTrack(.pedestrian)
    let changes = Self.resting(0..<120, accuracy: accuracy, in: &track)
    #expect(changes.firstIndex(of: .stationary(since: Self.start)) == Int((2 * accuracy / 0.4).rounded(.up)))
  }

  @Test("fixes that are too vague for four durations decide nothing, unless speeds are measured")
  func tooVague() {
    var track = StationaryTrack(.pedestrian)
    let vague = Self.resting(0..<600, accuracy: 20, in: &track)
    #expect(vague.allSatisfy { $0 == .located })
    var measured = StationaryTrack(.pedestrian)
    #expect(
      Self.resting(0..<600, accuracy: 20, speed: 0, in: &measured).firstIndex(
        of: .stationary(since: Self.start)
      ) == 20
    )
  }

  @Test("a speed, a way, another floor and a silence end a rest")
  func ends() {
    let here = Point(x: 5, y: 5)
    let ends: [(VisitFix, StationaryTrack.Change?)] = [
      (Self.fix(60, here), nil), (Self.fix(60, here, speed: 0.3), nil),
      (Self.fix(60, here, speed: 0.5), .located), (Self.fix(60, Point(x: 9, y: 5)), .located),
      (Self.fix(60, Point(x: 9, y: 5), speed: 0.1), nil),
      (Self.fix(60, Point(x: 11, y: 5), speed: 0.1), .located),
      (Self.fix(60, here, on: Self.upstairs), .located),
    ]
    for (fix, change) in ends {
      var track = StationaryTrack(.pedestrian)
      _ = Self.resting(0..<60, in: &track)
      #expect(track.receive(fix) == change)
    }
    var track = StationaryTrack(.pedestrian)
    _ = Self.resting(0..<60, in: &track)
    #expect(track.expire() == .unavailable)
    #expect(track.expire() == nil)
    #expect(Self.resting(90..<120, in: &track).first == .located)
  }

  @Test("a fix that is late or without an accuracy changes nothing")
  func useless() {
    var track = StationaryTrack(.pedestrian)
    _ = Self.resting(0..<60, in: &track)
    let far = Point(x: 50, y: 5)
    #expect(track.receive(Self.fix(59, far)) == nil)
    #expect(track.receive(Self.fix(61, far, accuracy: .nan)) == nil)
    #expect(track.receive(Self.fix(62, far)) == .located)
    #expect(track.receive(Self.fix(63, far, accuracy: 0)) == .located)
  }

  @Test("a slow walk that goes to and fro is no rest")
  func pacing() {
    var track = StationaryTrack(.pedestrian)
    for second in 0..<1_200 {
      let way = (0.5 * Double(second)).truncatingRemainder(dividingBy: 20)
      #expect(track.receive(Self.fix(Double(second), Point(x: min(way, 20 - way), y: 0))) == .located)
    }
  }

  /// A walk that was drawn: its fixes, one a second, and whether the subject walks.
  private struct DrawnWalk {
    var fixes: [(fix: VisitFix, isWalking: Bool)] = []

    /// Draws a walk from place to place in a hall of 40 m, at a pace that is drawn for each way, with a pause after each.
    init(seed: UInt64, paces: ClosedRange<Double>, ways: Int) {
      var random = SeededGenerator(seed: seed)
      let accuracy = Double.random(in: 1...2.5, using: &random)
      let share = Double.random(in: 0.2...0.4, using: &random)
      let deviation = accuracy / 1.5096 * share
      let persistence = 0.905
      var (here, error) = (Point(x: 20, y: 20), Point.origin)
      func draw(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
      func add(isWalking: Bool) {
        let noise = Point(x: draw(-1...1), y: draw(-1...1)) * (deviation * 3.0.squareRoot())
        error = error * persistence + noise * (1 - persistence * persistence).squareRoot()
        let stated = accuracy * draw(0.8...1.25)
        fixes.append((fix(Double(fixes.count), here + error, accuracy: stated), isWalking))
      }
      for _ in 0..<ways {
        var next = here
        while next.distance(to: here) < 15 { next = Point(x: draw(0...40), y: draw(0...40)) }
        let pace = draw(paces)
        while here.distance(to: next) > pace {
          here = here + (next - here) * (pace / here.distance(to: next))
          add(isWalking: true)
        }
        for _ in 0..<Int(draw(40...120)) { add(isWalking: false) }
      }
    }
  }

  @Test(
    "a slow walker is never stationary, and one that rests is within 30 s",
    arguments: Seeds.drawn(0..<200 as Range<UInt64>)
  )
  func drawnWalks(seed: UInt64) {
    var track = StationaryTrack(.pedestrian)
    var (run, wasWalking) = (0, true)
    var (isStationary, hasRested) = (false, true)
    for (fix, isWalking) in DrawnWalk(seed: seed, paces: 0.5...1.4, ways: 20).fixes {
      run = isWalking == wasWalking ? run + 1 : 1
      wasWalking = isWalking
      if run == 1 { hasRested = false }
      switch track.receive(fix) {
      case .stationary?:
        (isStationary, hasRested) = (true, true)
        #expect(!isWalking, "seed \(seed): stationary \(run) s into a walk")
      case .located?: isStationary = false
      case .unavailable?, nil: break
      }
      if !isWalking, run == 31 { #expect(hasRested, "seed \(seed): 30 s at rest") }
      if isWalking, run == 12 { #expect(!isStationary, "seed \(seed): 12 s of a walk without an update") }
    }
  }

  @Test("the machine does what the rule says, word for word", arguments: Seeds.drawn(0..<50 as Range<UInt64>))
  func reference(seed: UInt64) {
    for profile in [MotionProfile.pedestrian, MotionProfile(distance: 3, duration: .seconds(15))] {
      var track = StationaryTrack(profile)
      var reference = StationaryReference(profile: profile)
      for (number, step) in DrawnWalk(seed: seed, paces: 0.2...1.4, ways: 4).fixes.enumerated() {
        var fix = step.fix
        if number % 7 > 3 { fix.speed = step.isWalking ? 0.7 : 0.1 }
        let (made, expected) = (track.receive(fix), reference.receive(fix))
        #expect(made == expected, "seed \(seed), fix \(number)")
        guard made == expected else { return }
      }
    }
  }
}

/// Days of subjects that rest and move, and the times that live updates take to say so.
@Suite("Stationary subjects over days")
struct StationaryDayTests {
  /// A subject, its fixes and its day.
  struct Subject: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The stated accuracy of fixes in metres; each varies by a quarter.
    let accuracy: ClosedRange<Double>
    /// The share of the stated accuracy that the errors have.
    let share: ClosedRange<Double>
    /// The time in seconds for which errors persist.
    let persistence: ClosedRange<Double>
    /// The pace of walks in m/s.
    let pace: ClosedRange<Double>
    /// The length of rests in seconds.
    let rests: ClosedRange<Double>
    /// Indicates whether the subject's motion is reported, so that its speed is measured.
    let isMeasured: Bool
    /// The seconds from the start of a movement within which 95 % of the first updates come.
    let response: Double
  }

  /// The figures of a day.
  struct Figures {
    var falseRests = 0
    var falseUpdates = 0
    /// The seconds from the start of each rest to the update that says so; infinite where none came.
    var rests: [Double] = []
    /// The seconds from the start of each movement to its first update.
    var responses: [Double] = []
    var walked = 0.0

    /// The least number that a share of numbers does not exceed.
    static func quantile(_ share: Double, of numbers: [Double]) -> Double {
      let place = Int((share * Double(numbers.count)).rounded(.up)) - 1
      return numbers.isEmpty ? .infinity : numbers.sorted()[max(0, place)]
    }
  }

  static let subjects = [
    Subject(
      testDescription: "a carried tag",
      accuracy: 2...3,
      share: 0.2...0.4,
      persistence: 5...12,
      pace: 0.8...1.4,
      rests: 40...600,
      isMeasured: false,
      response: 5
    ),
    Subject(
      testDescription: "a phone on a table",
      accuracy: 2...5,
      share: 0.4...0.7,
      persistence: 10...30,
      pace: 0.8...1.4,
      rests: 600...3_600,
      isMeasured: true,
      response: 3
    ),
    Subject(
      testDescription: "a slow walk with a phone",
      accuracy: 1...5,
      share: 0.2...0.7,
      persistence: 5...30,
      pace: 0.45...0.7,
      rests: 40...300,
      isMeasured: true,
      response: 3
    ),
    Subject(
      testDescription: "a slow walk with a tag",
      accuracy: 1...2.5,
      share: 0.2...0.4,
      persistence: 5...15,
      pace: 0.5...0.7,
      rests: 40...300,
      isMeasured: false,
      response: 7
    ),
  ]

  /// Draws walks until so many hours were walked, each to a place that is drawn and followed by a rest.
  static func figures(of subject: Subject, hours: Double, seed: UInt64) -> Figures {
    var random = SeededGenerator(seed: seed)
    func draw(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
    func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + draw(0...1) } }
    let accuracy = draw(subject.accuracy)
    let deviation = accuracy / 1.5096 * draw(subject.share)
    let kept = 1 - 1 / draw(subject.persistence)
    let ground = VisitFix.Ground(venue: "mall", floor: FloorID(building: "main", level: 0))
    var (track, figures) = (StationaryTrack(.pedestrian), Figures())
    var (second, here, isStationary, start) = (0.0, Point.origin, false, 0.0)
    var error = Point(x: normal(), y: normal()) * deviation
    // In the first three seconds of a walk it is the rest before that is found.
    func step(isWalking: Bool, speed: Double) -> StationaryTrack.Change? {
      second += 1
      error = error * kept + Point(x: normal(), y: normal()) * (deviation * (1 - kept * kept).squareRoot())
      let time = Timestamp(seconds: 1_790_000_000) + .seconds(second)
      let change = track.receive(
        VisitFix(
          time: time,
          decidedAt: time,
          ground: ground,
          point: here + error,
          accuracy: accuracy * draw(0.8...1.25),
          speed: subject.isMeasured ? speed : nil
        )
      )
      if case .stationary? = change {
        if isWalking, second > start + 3 { figures.falseRests += 1 }
        isStationary = true
      } else if change == .located {
        if !isWalking, isStationary { figures.falseUpdates += 1 }
        isStationary = false
      }
      return change
    }
    while figures.walked < hours * 3_600 {
      var next = here
      while next.distance(to: here) < 15 { next = Point(x: draw(0...60), y: draw(0...60)) }
      let pace = draw(subject.pace)
      start = second
      var isAwaited = isStationary
      while here.distance(to: next) > pace {
        here = here + (next - here) * (pace / here.distance(to: next))
        let change = step(isWalking: true, speed: pace * draw(0.9...1.1))
        if isAwaited, change == .located {
          figures.responses.append(second - start)
          isAwaited = false
        }
      }
      if isAwaited { figures.responses.append(.infinity) }
      figures.walked += second - start
      let (rest, length) = (second, draw(subject.rests))
      var rested: Double?
      while second < rest + length {
        if case .stationary? = step(isWalking: false, speed: draw(0...0.15)) {
          rested = rested ?? second - rest
        }
      }
      figures.rests.append(rested ?? .infinity)
    }
    return figures
  }

  @Test(
    "no rest is found in hours of walking, a rest within 30 s, and a movement within seconds",
    arguments: subjects
  )
  func days(subject: Subject) {
    var all = Figures()
    for seed in Seeds.drawn(0..<48 as Range<UInt64>) {
      let day = Self.figures(of: subject, hours: 0.5, seed: seed)
      #expect(day.falseRests == 0, "seed \(seed)")
      all.rests += day.rests
      all.responses += day.responses
      all.falseUpdates += day.falseUpdates
    }
    let rested = Figures.quantile(0.99, of: all.rests)
    #expect(rested <= 30, "99 % of \(all.rests.count) rests are found within \(rested) s")
    let response = Figures.quantile(0.95, of: all.responses)
    #expect(response <= subject.response, "95 % of \(all.responses.count) movements within \(response) s")
    // What is measured to rest is not said to move because its fixes wander.
    let falseUpdates = Double(all.falseUpdates) / Double(all.rests.count)
    #expect(falseUpdates <= (subject.isMeasured ? 0.01 : 0.2), "\(falseUpdates) false updates a rest")
  }
}

/// The rule of stationary subjects on one floor, read off its description, without sums that grow.
private struct StationaryReference {
  let profile: MotionProfile
  private var fixes: [VisitFix] = []
  private var rest: (decisive: [VisitFix], means: [Point])?

  init(profile: MotionProfile) { self.profile = profile }

  private var speed: Double { profile.distance / profile.duration.seconds }

  private func square(_ fix: VisitFix) -> Double {
    let deviation = max(0.5, fix.accuracy / 1.5096)
    return 2 * deviation * deviation
  }

  private func mean(_ fixes: [VisitFix]) -> Point {
    let weights = fixes.map { 1 / ($0.accuracy * $0.accuracy) }
    let sum = zip(fixes, weights).reduce(Point.origin) { $0 + $1.0.point * $1.1 }
    return sum * (1 / weights.reduce(0, +))
  }

  private func scatter(_ fixes: [VisitFix]) -> Double {
    let weights = fixes.map { 1 / ($0.accuracy * $0.accuracy) }
    let center = mean(fixes)
    let squares = zip(fixes, weights).map { fix, weight in
      weight * (fix.point - center).dot(fix.point - center)
    }
    return squares.reduce(0, +) / weights.reduce(0, +)
  }

  private func isLeft(_ decisive: [VisitFix], _ center: Point, by fix: VisitFix) -> Bool {
    let count = Double(decisive.count)
    let learned = (square(fix) + count * scatter(decisive)) / (count + 1)
    let isStill = fix.speed.map { $0 < speed } ?? false
    let expected = isStill ? max(learned, square(fix)) : learned
    let off = fix.point - center
    return off.dot(off) > 6.908 * expected
  }

  private func rootMeanSquareSpeed(_ fixes: [VisitFix]) -> Double? {
    let radius = fixes.map(\.accuracy).reduce(0, +) / Double(fixes.count)
    let lag = max(profile.duration * 0.25, .seconds(radius / speed))
    let speeds = fixes.compactMap { fix -> Double? in
      guard let before = fixes.last(where: { fix.time - $0.time >= lag }) else { return nil }
      return before.point.distance(to: fix.point) / (fix.time - before.time).seconds
    }
    guard !speeds.isEmpty else { return nil }
    return (speeds.map { $0 * $0 }.reduce(0, +) / Double(speeds.count)).squareRoot()
  }

  private func isRest(_ fixes: [VisitFix]) -> Bool {
    guard let first = fixes.first, let last = fixes.last, fixes.count >= 3 else { return false }
    let span = last.time - first.time
    let isStill = fixes.allSatisfy { $0.speed.map { $0 < speed } ?? false }
    let way = speed * span.seconds
    guard span >= profile.duration, isStill || way >= first.accuracy + last.accuracy else { return false }
    let (scatter, center) = (scatter(fixes), mean(fixes))
    let stated = fixes.map(square).reduce(0, +) / Double(fixes.count)
    let displacement = (12 * scatter).squareRoot()
    guard displacement <= profile.distance / 2 || scatter <= stated else { return false }
    if !isStill {
      guard displacement <= way / 2, let speeds = rootMeanSquareSpeed(fixes), speeds <= speed / 2 else {
        return false
      }
    }
    return !isLeft(fixes, center, by: last)
  }

  mutating func receive(_ fix: VisitFix) -> StationaryTrack.Change? {
    let isMoving = fix.speed.map { $0 >= speed } ?? false
    if let rest {
      if !isMoving, let center = rest.means.last, !isLeft(rest.decisive, center, by: fix) {
        let count = min(rest.decisive.count + rest.means.count, 4 * rest.decisive.count)
        self.rest?.means.append(center + (fix.point - center) * (1 / Double(count)))
        return nil
      }
      self.rest = nil
      fixes = [fix]
      return .located
    }
    if isMoving {
      fixes = [fix]
      return .located
    }
    fixes = (fixes + [fix]).filter { $0.time >= fix.time - profile.duration * 4 }
    for first in fixes.indices.reversed() where isRest(Array(fixes[first...])) {
      let decisive = Array(fixes[first...])
      let center = mean(decisive)
      rest = (decisive, [center])
      let since = fixes[..<first].lastIndex { isLeft(decisive, center, by: $0) }.map { $0 + 1 } ?? 0
      return .stationary(since: fixes[since].time)
    }
    return .located
  }
}
