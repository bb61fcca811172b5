import Foundation
import PharosFixes
import PharosModel
import PharosSimulation
import PharosSpace
import PharosStays

/// Measures the visits of 100 simulated days against their truth.
///
/// Each day a handset walks through a mall with two floors of sixteen shops of 20 m × 20 m: stops of 45 s to hours at
/// places at least 5 m within a shop, walks at 1 to 1.4 m/s between them, slow strolls past shop windows (0.4 to 0.7 m/s),
/// stop-and-go queues (stops of 8 to 22 s, 10 to 16 m apart: with less, 45 s within the radius are a visit), lifts, gaps of 20 s to 4 min in the data, and after five minutes at rest one
/// fix in 20 to 40 s. During a stop the subject moves about by some 1.5 m. Where data are missing nothing can be seen: an
/// end of a stop that lies in a gap is right anywhere in the gap, and a stop counts if fixes cover 45 s of it.
///
/// The model of the error: for each axis the sum of two Gauss-Markov processes, 4.2 m that persist for 12 s and 2.3 m that
/// persist for 2 min, so that the mean error is 6.0 m. One fix in 100 begins one to three fixes on the other floor. The
/// accuracy that a fix states is the true 68 % radius times 0.8 to 1.25. The speed is that of a step counter: 0 at rest and
/// within 15 % when walking, wrong about walking for three seconds in a minute.
///
/// The other two runs have no speeds. In one the errors are the same, so that a subject at rest seems to move as one that
/// strolls. In the other they are those of a tag that fixed gateways locate: 4.4 m that depend on where the tag is and change
/// over 14 m, as levels do, and 1.3 m that persist for 4 s.
func measureVisits(_ input: PlacesInput) throws -> [PlacesRow] {
  let steps = VisitScore(days: 100, seed: input.seed, .steps)
  let blind = VisitScore(days: 100, seed: input.seed, .none)
  let tag = VisitScore(days: 100, seed: input.seed, .tag)
  return steps.rows(isTarget: true, "") + blind.rows(isTarget: false, " without speeds")
    + tag.rows(isTarget: false, " of tags")
}

/// What locates the subject.
private enum VisitSubject {
  /// A handset that counts steps.
  case steps
  /// A handset without speeds.
  case none
  /// A tag.
  case tag
}

/// An error that depends on the place: a sum of plane waves with random courses and phases.
private struct PlacedError {
  private let waves: [(course: Point, phase: Double)]

  init(_ random: inout RandomStream) {
    waves = (0..<12).map { _ in
      let angle = Double.random(in: 0..<2 * .pi, using: &random)
      // Wavelengths of 45 to 90 m, so that errors are correlated over 14 m.
      let number = 2 * .pi / Double.random(in: 45...90, using: &random)
      return (
        Point(x: number * cos(angle), y: number * sin(angle)), Double.random(in: 0..<2 * .pi, using: &random)
      )
    }
  }

  /// Returns the error at a place, of a standard deviation on each axis.
  func callAsFunction(at point: Point, _ deviation: Double) -> Point {
    let scale = deviation * (2.0 / 6).squareRoot()
    let terms = waves.map { scale * cos($0.course.dot(point) + $0.phase) }
    return Point(x: terms.prefix(6).reduce(0, +), y: terms.suffix(6).reduce(0, +))
  }
}

/// The shops of the mall.
private struct Mall {
  static let side = 20.0
  static let corridor = 10.0
  static let shops = 8
  static let levels = 0...1
  static let door = Point(x: 5, y: side + corridor / 2)

  static let plane: FloorPlane = {
    guard let origin = Coordinate(latitude: 52.4, longitude: -4.08) else {
      preconditionFailure("the origin is no coordinate")
    }
    return .ground(GroundPlane(origin: origin))
  }()

  static let venue: Venue = {
    let width = Double(shops) * side
    let depth = 2 * side + corridor
    let floors = levels.map { level in
      let points = (0..<2 * shops).map { shop in
        let corner = Mall.corner(of: shop)
        let outline = Polygon(rectangleFrom: corner, to: corner + Point(x: side, y: side))
        return PointOfInterest(
          identifier: Mall.name(of: shop, on: level),
          name: "Shop \(shop)",
          category: "retail",
          point: corner + Point(x: side / 2, y: side / 2),
          area: Area(outline: outline)
        )
      }
      let whole = Polygon(rectangleFrom: .origin, to: Point(x: width, y: depth))
      return Floor(
        level: level,
        plane: plane,
        walkable: [Area(outline: whole)],
        pointsOfInterest: points
      )
    }
    return Venue(identifier: "mall", buildings: [Building(identifier: "main", floors: floors)])
  }()

  static func name(of shop: Int, on level: Int) -> String { "\(level)-\(shop)" }

  static func corner(of shop: Int) -> Point {
    shop < shops
      ? Point(x: Double(shop) * side, y: 0) : Point(x: Double(shop - shops) * side, y: side + corridor)
  }

  /// The place in the corridor before a shop.
  static func entrance(of shop: Int) -> Point {
    Point(x: corner(of: shop).x + side / 2, y: side + corridor / 2)
  }
}

/// A day of a subject, second by second.
private struct Day {
  struct Second {
    var point: Point
    var level: Int
    var speed: Double
    /// The time without fixes is left out.
    var hasFix = true
  }

  struct Stop {
    var seconds: ClosedRange<Int>
    var place: String
  }

  private(set) var seconds: [Second] = []
  private(set) var stops: [Stop] = []
  private var random: RandomStream
  private var point = Mall.door
  private var level = 0

  init(_ random: RandomStream) {
    self.random = random
    rest(at: Mall.door, for: 5)
    var shop = Int.random(in: 0..<2 * Mall.shops, using: &self.random)
    for _ in 0..<Int.random(in: 10...16, using: &self.random) {
      let before = (shop, level)
      switch Double.random(in: 0..<1, using: &self.random) {
      case ..<0.25: stroll()
      case ..<0.45: queue()
      default: break
      }
      if Double.random(in: 0..<1, using: &self.random) < 0.2 { changeFloor() }
      repeat { shop = Int.random(in: 0..<2 * Mall.shops, using: &self.random) } while (shop, level) == before
      visit(shop)
    }
    let night = Double.random(in: 0..<1, using: &self.random) < 0.3
    if night {
      visit(shop == 0 ? 1 : 0, for: Int.random(in: 6 * 3600...9 * 3600, using: &self.random))
    }
    walk(to: Mall.door)
    makeGaps()
  }

  private mutating func walk(to target: Point, at pace: Double? = nil) {
    let pace = pace ?? Double.random(in: 1.0...1.4, using: &random)
    let start = point
    let length = start.distance(to: target)
    let count = Int(length / pace)
    for step in 0..<max(0, count) {
      let share = min(1, Double(step + 1) * pace / length)
      seconds.append(Second(point: start.interpolated(to: target, share: share), level: level, speed: pace))
    }
    point = target
  }

  private mutating func rest(at place: Point, for duration: Int) {
    var wander = Point.origin
    for _ in 0..<duration {
      // Moving about: 1 m on each axis, over some 20 s.
      wander = wander * 0.95 + Point(x: random.normal() * 0.31, y: random.normal() * 0.31)
      seconds.append(Second(point: place + wander, level: level, speed: 0))
    }
    point = place
  }

  private mutating func visit(_ shop: Int, for given: Int? = nil) {
    walk(to: Point(x: point.x, y: Mall.side + Mall.corridor / 2))
    walk(to: Mall.entrance(of: shop))
    let corner = Mall.corner(of: shop)
    let place =
      corner
      + Point(
        x: Double.random(in: 5...(Mall.side - 5), using: &random),
        y: Double.random(in: 5...(Mall.side - 5), using: &random)
      )
    walk(to: place)
    let duration: Int
    switch Double.random(in: 0..<1, using: &random) {
    case ..<0.35: duration = Int.random(in: 45...90, using: &random)
    case ..<0.7: duration = Int.random(in: 180...600, using: &random)
    case ..<0.9: duration = Int.random(in: 600...2_400, using: &random)
    default: duration = Int.random(in: 3_600...9_000, using: &random)
    }
    let start = seconds.count
    rest(at: place, for: given ?? duration)
    stops.append(Stop(seconds: start...(seconds.count - 1), place: Mall.name(of: shop, on: level)))
    walk(to: Mall.entrance(of: shop))
  }

  /// A walk slowly past the windows.
  private mutating func stroll() {
    walk(to: Point(x: point.x, y: Mall.side + Mall.corridor / 2))
    let pace = Double.random(in: 0.4...0.7, using: &random)
    let target = Point(x: point.x < 80 ? 150 : 10, y: point.y)
    let way = pace * Double.random(in: 60...180, using: &random)
    let share = min(1, way / point.distance(to: target))
    walk(to: point.interpolated(to: target, share: share), at: pace)
  }

  /// A queue that moves on, or lights that turn green one after the other.
  private mutating func queue() {
    walk(to: Point(x: point.x, y: Mall.side + Mall.corridor / 2))
    let ahead = point.x < 80 ? 1.0 : -1
    for _ in 0..<Int.random(in: 3...7, using: &random) {
      rest(at: point, for: Int.random(in: 8...22, using: &random))
      walk(to: point + Point(x: ahead * Double.random(in: 10...16, using: &random), y: 0))
    }
  }

  private mutating func changeFloor() {
    walk(to: Point(x: point.x, y: Mall.side + Mall.corridor / 2))
    walk(to: Point(x: 80, y: Mall.side + Mall.corridor / 2))
    rest(at: point, for: 12)
    level = 1 - level
    rest(at: point, for: 6)
  }

  private mutating func makeGaps() {
    var place = 0
    while place < seconds.count {
      place += Int.random(in: 200...1_800, using: &random)
      for gone in place..<(place + Int.random(in: 20...240, using: &random)) where gone < seconds.count {
        seconds[gone].hasFix = false
      }
    }
    for stop in stops where stop.seconds.count > 600 {
      var next = stop.seconds.lowerBound + 300
      for second in next..<(stop.seconds.upperBound - 20) {
        if second < next { seconds[second].hasFix = false }
        if second == next { next += Int.random(in: 20...40, using: &random) }
      }
    }
  }
}

/// The fixes of a day, and the visits that are found in them.
private struct VisitScore {
  private var stops = 0
  private var found = 0
  private var visits = 0
  private var arrivals: [Double] = []
  private var departures: [Double] = []
  private var placesRight = 0
  private var fixes = 0
  private var errors = 0.0
  private var seconds = 0.0
  private let days: Int

  init(days: Int, seed: UInt64, _ subject: VisitSubject) {
    self.days = days
    for day in 0..<days { run(seed: seed &* 1_000 &+ UInt64(day), subject) }
  }

  private mutating func run(seed: UInt64, _ subject: VisitSubject) {
    var random = RandomStream(seed: seed)
    let day = Day(RandomStream(seed: seed ^ 0x5EED))
    let start = Timestamp(seconds: 1_790_000_000)
    let events = VisitScore.fixes(of: day, from: start, subject, &random)
    let site = Site(visits: VisitSettings(minimum: .seconds(45)))
    var detection = Visits(site: site, venues: [LocatableVenue(venue: Mall.venue)], limit: 1_024)
    var committed: [Event] = []
    let clock = ContinuousClock()
    let spent = clock.measure {
      for event in events {
        guard case .fix(let fix) = event.detail else { continue }
        detection.receive(fix, of: event, into: &committed)
      }
      detection.advance(to: start + .minutes(60 * 48), into: &committed)
    }
    seconds += Double(spent.components.seconds) + Double(spent.components.attoseconds) * 1e-18
    fixes += events.count
    score(committed, day, from: start)
    for event in events {
      guard case .fix(let fix) = event.detail else { continue }
      let truth = day.seconds[Int((event.time - start).seconds)]
      errors += Point(x: fix.x, y: fix.y).distance(to: truth.point)
    }
  }

  private static func fixes(
    of day: Day,
    from start: Timestamp,
    _ subject: VisitSubject,
    _ random: inout RandomStream
  ) -> [Event] {
    var events: [Event] = []
    var (fast, slow) = (Point.origin, Point.origin)
    let slowKept = exp(-1 / 120.0)
    let (fastKept, fastDeviation) = subject == .tag ? (exp(-1 / 4.0), 1.3) : (exp(-1 / 12.0), 4.2)
    let placed = subject == .tag ? PlacedError(&random) : nil
    func renewed(_ error: Point, _ kept: Double, _ deviation: Double) -> Point {
      let fresh = deviation * (1 - kept * kept).squareRoot()
      return error * kept + Point(x: random.normal() * fresh, y: random.normal() * fresh)
    }
    for _ in 0..<600 {
      fast = renewed(fast, fastKept, fastDeviation)
      slow = renewed(slow, slowKept, 2.3)
    }
    var (wrongFloor, wrongSpeed) = (0, 0)
    for (number, second) in day.seconds.enumerated() {
      fast = renewed(fast, fastKept, fastDeviation)
      slow = renewed(slow, slowKept, 2.3)
      if wrongFloor == 0, Double.random(in: 0..<1, using: &random) < 0.01 {
        wrongFloor = Int.random(in: 1...3, using: &random)
      }
      if wrongSpeed == 0, Double.random(in: 0..<1, using: &random) < 1.0 / 57 { wrongSpeed = 3 }
      defer {
        wrongFloor = max(0, wrongFloor - 1)
        wrongSpeed = max(0, wrongSpeed - 1)
      }
      guard second.hasFix else { continue }
      let place = second.point + fast + (placed?(at: second.point, 4.4) ?? slow)
      let isWalking = (second.speed > 0) != (wrongSpeed > 0)
      let pace = second.speed > 0 ? second.speed : 0.8
      let speed = isWalking ? pace * Double.random(in: 0.85...1.15, using: &random) : 0
      let time = start + .seconds(Double(number))
      let fix = FixDetail(
        venue: "mall",
        building: "main",
        level: wrongFloor > 0 ? 1 - second.level : second.level,
        x: place.x,
        y: place.y,
        horizontalAccuracy: 1.5096 * 4.79 * Double.random(in: 0.8...1.25, using: &random),
        speed: subject == .steps ? speed : nil,
        sources: .wifi,
        age: .zero
      )
      events.append(
        Event(
          stream: "pharos",
          kind: .fix,
          time: time,
          decidedAt: time + .seconds(1),
          stage: 2,
          subject: .observer(.name("visitor")),
          counter: UInt64(number),
          detail: .fix(fix)
        )
      )
    }
    return events
  }

  private mutating func score(_ committed: [Event], _ day: Day, from start: Timestamp) {
    var left = committed.compactMap { event -> VisitDetail? in
      guard event.kind == .visitDepart, case .visit(let visit) = event.detail else { return nil }
      return visit
    }
    visits += left.count
    for stop in day.stops {
      let seen = stop.seconds.filter { day.seconds[$0].hasFix }
      let covered = zip(seen.dropFirst(), seen).reduce(0) { $0 + min($1.0 - $1.1, 20) }
      guard let first = seen.first, let last = seen.last else { continue }
      let (begin, end) = (Double(stop.seconds.lowerBound), Double(stop.seconds.upperBound + 1))
      let overlaps = left.map { visit in
        let (arrival, departure) = VisitScore.ends(of: visit, from: start)
        let from = min(max(arrival, begin), Double(first))
        let to = max(min(departure, end), Double(last + 1))
        return max(0, min(departure, to) - max(arrival, from)) / (max(departure, to) - min(arrival, from))
      }
      guard let best = overlaps.indices.max(by: { overlaps[$0] < overlaps[$1] }), overlaps[best] > 0.5 else {
        if covered >= 45 - 1 { stops += 1 }
        continue
      }
      let visit = left.remove(at: best)
      guard covered >= 45 - 1 else {
        visits -= 1
        continue
      }
      stops += 1
      let (arrival, departure) = VisitScore.ends(of: visit, from: start)
      found += 1
      arrivals.append((arrival - min(max(arrival, begin), Double(first))).magnitude)
      departures.append((departure - max(min(departure, end), Double(last + 1))).magnitude)
      if visit.place?.identifier == stop.place { placesRight += 1 }
    }
  }

  private static func ends(of visit: VisitDetail, from start: Timestamp) -> (Double, Double) {
    ((visit.arrival - start).seconds, ((visit.departure ?? start) - start).seconds)
  }

  func rows(isTarget: Bool, _ suffix: String) -> [PlacesRow] {
    func share(_ part: Int, _ whole: Int) -> Double { whole == 0 ? 0 : Double(part) / Double(whole) }
    func percent(_ value: Double) -> String { String(format: "%.2f %%", 100 * value) }
    func quantile(_ values: [Double], _ share: Double) -> Double {
      let sorted = values.sorted()
      return sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
    }
    func row(_ quantity: String, _ target: String, _ seen: String, _ isMet: Bool) -> PlacesRow {
      PlacesRow(
        quantity: quantity + suffix,
        target: isTarget ? target : "none",
        seen: seen,
        isMet: isTarget ? isMet : nil
      )
    }
    let (hit, wrong) = (share(found, stops), share(visits - found, visits))
    let (arrival, departure) = (quantile(arrivals, 0.5), quantile(departures, 0.5))
    let right = share(placesRight, found)
    func moments(_ values: [Double]) -> String {
      String(format: "p50 %.1f s, p90 %.1f s", quantile(values, 0.5), quantile(values, 0.9))
    }
    return [
      row("visits found", "≥ 98 %", "\(percent(hit)) of \(stops) in \(days) days", hit >= 0.98),
      row("visits false", "≤ 1 %", "\(percent(wrong)) of \(visits)", wrong <= 0.01),
      row("arrival error", "p50 ≤ 20 s", moments(arrivals), arrival <= 20),
      row("departure error", "p50 ≤ 20 s", moments(departures), departure <= 20),
      row("place right, shops of 20 m × 20 m", "≥ 97 %", percent(right), right >= 0.97),
      PlacesRow(
        quantity: "visit detection" + suffix,
        target: "none",
        seen: String(
          format: "%.2f µs a fix, mean error of a fix %.1f m",
          seconds * 1e6 / Double(fixes),
          errors / Double(fixes)
        ),
        isMet: nil
      ),
    ]
  }
}
