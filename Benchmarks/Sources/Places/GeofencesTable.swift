import Foundation
import PharosModel
import PharosPipeline
import PharosSimulation
import PharosSpace
import PharosStays

/// Measures geofences against simulated walks, whose truth is known, and their cost in a large site.
///
/// The error of a fix is a circular normal distribution with a mean length of 6 m, of which successive errors resemble each
/// other: their correlation falls to 1/e within a time that each row states. The rule that is compared takes every
/// fix for the truth.
func measureGeofences(_ input: PlacesInput) throws -> [PlacesRow] {
  var rows: [PlacesRow] = []
  for correlation in [0.0, 5, 20] {
    rows += standing(input.seed, correlation)
  }
  rows.append(walks(input.seed, 10))
  rows.append(handOvers(input.seed))
  rows += gates(input.seed)
  rows += scale(input.seed)
  return rows
}

/// The error of successive fixes: an Ornstein–Uhlenbeck process along each axis.
private struct FixError {
  var random: RandomStream
  let deviation: Double
  let correlation: Double
  private var east: Double
  private var north: Double

  init(_ seed: UInt64, deviation: Double, correlation: Double) {
    random = RandomStream(seed: seed)
    self.deviation = deviation
    self.correlation = correlation
    east = 0
    north = 0
    east = deviation * random.normal()
    north = deviation * random.normal()
  }

  /// The error of the next fix, a span after the last one.
  mutating func next(after span: Double = 1) -> Point {
    let kept = correlation > 0 ? RadioMath.exponential(-span / correlation) : 0
    let fresh = deviation * (1 - kept * kept).squareRoot()
    east = kept * east + fresh * random.normal()
    north = kept * north + fresh * random.normal()
    return Point(x: east, y: north)
  }
}

/// A stage two with one geofence, on a plane of metres.
private struct Field {
  static let plane = certain(
    Coordinate(latitude: 48.137, longitude: 11.575).flatMap { MercatorPlane(origin: $0) }
  )
  static let start = Timestamp(seconds: 1_000_000)

  let area: GeofenceArea
  var stage: StageTwo
  var events: [Event] = []
  /// The state by the rule that takes every fix for the truth.
  var naive: Bool?
  var naiveChanges: [(second: Double, isInside: Bool)] = []

  init(_ shape: Geofence.Shape) {
    area = certain(GeofenceArea(shape))
    let region = Region(identifier: "fence", geofence: Geofence(shape: shape))
    stage = StageTwo(site: Site(applications: [Application(identifier: "places", regions: [region])]))
  }

  static func position(_ point: Point) -> Geofence.Position {
    let coordinate = certain(plane.coordinate(of: point))
    return Geofence.Position(latitude: coordinate.latitude, longitude: coordinate.longitude)
  }

  static func circle(_ radius: Double) -> Geofence.Shape {
    .circle(center: position(.origin), radius: Meters(radius))
  }

  mutating func fix(
    _ point: Point,
    at second: Double,
    accuracy: Double,
    source: LocatedPosition.Source = .radio
  ) {
    let place = Field.position(point)
    let time = Field.start + .seconds(second)
    let position = certain(
      LocatedPosition(
        subject: .observer(.eui48(1)),
        time: time,
        decidedAt: time,
        latitude: place.latitude,
        longitude: place.longitude,
        accuracy: accuracy,
        source: source
      )
    )
    stage.follow(position, into: &events)
    let isInside = area.contains(point)
    if let naive, naive != isInside { naiveChanges.append((second, isInside)) }
    naive = isInside
  }

  /// The enters and exits with their seconds.
  var changes: [(second: Double, isInside: Bool)] {
    events.compactMap { event in
      guard event.kind == .regionEnter || event.kind == .regionExit else { return nil }
      return ((event.decidedAt - Field.start).seconds, event.kind == .regionEnter)
    }
  }
}

/// The standard deviation along an axis of errors whose mean length is 6 m.
private let deviation = 6 / (Double.pi / 2).squareRoot()
private let accuracy = deviation * GeofenceArea.deviationsWithin68

/// False transitions of subjects that stand.
private func standing(_ seed: UInt64, _ correlation: Double) -> [PlacesRow] {
  let places: [(String, Double, Double, Bool)] = [
    ("15 m outside a circle of 10 m", 10, 25, true), ("15 m inside a circle of 25 m", 25, 10, true),
    ("in the middle of a circle of 10 m", 10, 0, false),
  ]
  return places.enumerated().map { number, place in
    let hours = 200
    var (own, naive) = (0, 0)
    for hour in 0..<hours {
      var field = Field(Field.circle(place.1))
      var error = FixError(
        seed &+ UInt64(number * 1_000 + hour),
        deviation: deviation,
        correlation: correlation
      )
      for second in 0..<3_600 {
        field.fix(Point(x: place.2, y: 0) + error.next(), at: Double(second), accuracy: accuracy)
      }
      // To be found where one is is no false transition.
      let isInside = place.2 < place.1
      own += field.changes.count - (isInside && field.changes.first?.isInside == true ? 1 : 0)
      naive += field.naiveChanges.count
    }
    let rate = Double(own) / Double(hours)
    return PlacesRow(
      quantity: "false transitions an hour, \(place.0), correlation \(Int(correlation)) s",
      target: place.3 ? "≤ 0.05" : "none: its edge is nearer than 15 m",
      seen: "\(decimal(rate, 3)); every fix for the truth \(decimal(Double(naive) / Double(hours), 2))",
      isMet: place.3 ? rate <= 0.05 : nil
    )
  }
}

/// The delay of enters and exits of subjects that walk into the middle of a circle of 10 m and out of it again.
private func walks(_ seed: UInt64, _ correlation: Double) -> PlacesRow {
  let pace = 1.3
  var (own, naive): ([Double], [Double]) = ([], [])
  var missed = 0
  var (finished, naiveFinished): ([Double], [Double]) = ([], [])
  for walk in 0..<500 {
    var field = Field(Field.circle(10))
    var error = FixError(seed &+ UInt64(50_000 + walk), deviation: deviation, correlation: correlation)
    let (arrives, stays) = (40 + 45 / pace, 120.0)
    let leaves = arrives + stays
    for second in 0..<Int(leaves + 60) {
      let time = Double(second)
      let distance =
        time < arrives ? min(45, 45 - pace * max(0, time - 40)) : time < leaves ? 0 : pace * (time - leaves)
      field.fix(Point(x: distance, y: 0) + error.next(), at: time, accuracy: accuracy)
    }
    let (entered, left) = (arrives - 10 / pace, leaves + 10 / pace)
    for (truth, isInside, end) in [(entered, true, leaves), (left, false, leaves + 60)] {
      func delays(_ changes: [(second: Double, isInside: Bool)]) -> (first: Double, last: Double)? {
        let near = changes.filter { $0.second >= truth - 8 && $0.second < end }
        guard let last = near.last, last.isInside == isInside else { return nil }
        return near.first { $0.isInside == isInside }.map { ($0.second - truth, last.second - truth) }
      }
      if let found = delays(field.changes) {
        own.append(found.first)
        finished.append(found.last)
      } else {
        missed += 1
      }
      if let found = delays(field.naiveChanges) {
        naive.append(found.first)
        naiveFinished.append(found.last)
      }
    }
  }
  let median = percentile(own, 0.5)
  return PlacesRow(
    quantity: "delay p50 of enters and exits at 1.3 m/s, circle of 10 m, correlation \(Int(correlation)) s",
    target: "≤ 8 s",
    seen: "\(decimal(median, 1)) s, p90 \(decimal(percentile(own, 0.9), 1)) s, until the state stays right "
      + "\(decimal(percentile(finished, 0.5), 1)) s, \(missed) of 1000 missed; every fix for the truth "
      + "\(decimal(percentile(naive, 0.5), 1)) s, until it stays right \(decimal(percentile(naiveFinished, 0.5), 1)) s",
    isMet: median <= 8
  )
}

/// Transitions of subjects that stand 8 m or more from an edge while their source changes every minute.
private func handOvers(_ seed: UInt64) -> PlacesRow {
  var (changes, own, naive) = (0, 0, 0)
  for subject in 0..<200 {
    var field = Field(Field.circle(20))
    let isInside = subject % 2 == 0
    let place = Point(x: isInside ? Double(subject % 12) : 28 + Double(subject % 20), y: 0)
    // Satellites are off in a direction of their own beside a building.
    var outside = FixError(seed &+ UInt64(70_000 + subject), deviation: 6, correlation: 120)
    var radio = FixError(seed &+ UInt64(80_000 + subject), deviation: deviation, correlation: 10)
    for second in 0..<1_800 {
      let isRadio = (second / 60) % 2 == 0
      if second > 0, second % 60 == 0 { changes += 1 }
      let error = isRadio ? radio.next() : outside.next()
      let spread = isRadio ? accuracy : 6 * GeofenceArea.deviationsWithin68
      field.fix(place + error, at: Double(second), accuracy: spread, source: isRadio ? .radio : .outside)
    }
    own += field.changes.count - (isInside && field.changes.first?.isInside == true ? 1 : 0)
    naive += field.naiveChanges.count
  }
  return PlacesRow(
    quantity:
      "false transitions in \(changes) hand-overs between satellites and radio, 8 m or more from the edge",
    target: "≤ 1 %",
    seen: "\(own); every fix for the truth \(naive)",
    isMet: own * 100 <= changes
  )
}

/// Fast walks through a gate of 2 m × 6 m, and beside it.
private func gates(_ seed: UInt64) -> [PlacesRow] {
  let corners = [(-1.0, -3.0), (1, -3), (1, 3), (-1, 3)].map { Field.position(Point(x: $0.0, y: $0.1)) }
  let count = 1_000
  return [(0.0, true), (6.0, false)].map { aside, isThrough in
    var (own, naive) = (0, 0)
    for walk in 0..<count {
      var field = Field(.polygon(rings: [corners]))
      var error = FixError(seed &+ UInt64(90_000 + walk), deviation: 0.66, correlation: 5)
      let pace = 2 + Double(walk % 11) / 10
      for second in 0..<30 {
        let east = -30 + pace * (Double(second) + Double(walk % 7) / 7)
        field.fix(Point(x: east, y: aside) + error.next(), at: Double(second), accuracy: 1)
      }
      let changes = field.changes
      own += changes.count == 2 && changes[0].isInside && !changes[1].isInside ? 1 : 0
      naive += field.naiveChanges.isEmpty ? 0 : 1
    }
    let name =
      isThrough
      ? "found of \(count) walks at 2 to 3 m/s through a gate of 2 m"
      : "falsely found of \(count) walks 3 m beside it"
    return PlacesRow(
      quantity: name,
      target: isThrough ? "≥ 95 %" : "≤ 1 %",
      seen: "\(own); a fix in the gate \(naive)",
      isMet: isThrough ? own * 100 >= count * 95 : own * 100 <= count
    )
  }
}

/// 100,000 polygons in a town of 20 km × 20 km, and 10,000 subjects that walk in it, once a second.
private func scale(_ seed: UInt64) -> [PlacesRow] {
  var random = RandomStream(seed: seed)
  func makeRegions(_ count: Int) -> [Region] {
    (0..<count).map { number in
      let middle = Point(
        x: .random(in: -10_000...10_000, using: &random),
        y: .random(in: -10_000...10_000, using: &random)
      )
      let corners = 4 + number % 5
      let radius = Double.random(in: 8...40, using: &random)
      let ring = (0..<corners).map { corner in
        let (sine, cosine) = Trigonometry.sineAndCosine(2 * .pi * Double(corner) / Double(corners))
        return Field.position(middle + Point(x: radius * cosine, y: radius * sine))
      }
      return Region(identifier: "fence-\(number)", geofence: Geofence(shape: .polygon(rings: [ring])))
    }
  }
  var memory: [Int] = []
  var rows: [PlacesRow] = []
  for count in [50_000, 100_000] {
    let application = Application(identifier: "town", regions: makeRegions(count), regionLimit: count)
    let before = residentBytes()
    var stage = StageTwo(site: Site(applications: [application]))
    let subjects = 10_000
    var places = (0..<subjects).map { _ in
      Point(
        x: .random(in: -10_000...10_000, using: &random),
        y: .random(in: -10_000...10_000, using: &random)
      )
    }
    var events: [Event] = []
    var spent = Duration.zero
    let seconds = 20
    for second in 0..<seconds {
      let time = Field.start + .seconds(Double(second))
      let positions = (0..<subjects).map { subject in
        places[subject] = places[subject] + Point(x: .random(in: -1.5...1.5, using: &random), y: 1)
        let error = Point(x: .random(in: -8...8, using: &random), y: .random(in: -8...8, using: &random))
        let place = Field.position(places[subject] + error)
        return certain(
          LocatedPosition(
            subject: .observer(.eui48(UInt64(subject + 1))),
            time: time,
            decidedAt: time,
            latitude: place.latitude,
            longitude: place.longitude,
            accuracy: accuracy,
            source: .radio
          )
        )
      }
      // The first second makes the index.
      let begin = processorTime()
      for position in positions { stage.follow(position, into: &events) }
      if second > 0 { spent += processorTime() - begin }
    }
    memory.append(residentBytes() - before)
    guard count == 100_000 else { continue }
    let each = Double(spent / .microseconds(1)) / Double(subjects * (seconds - 1))
    rows.append(
      PlacesRow(
        quantity: "time for a fix, \(count) polygons and \(subjects) subjects, one core",
        target: "≤ 20 µs",
        seen: "\(decimal(each, 2)) µs, \(events.count) events",
        isMet: each <= 20
      )
    )
  }
  rows.append(
    PlacesRow(
      quantity: "memory for 50,000 and 100,000 polygons with 10,000 subjects",
      target: "linear",
      seen: memory.map { "\($0 >> 20) MiB" }.joined(separator: " and "),
      isMet: memory[1] <= memory[0] * 5 / 2
    )
  )
  return rows
}

/// The processor time that the thread has taken: other processes share the cores.
private func processorTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// Unwraps what the tables make of constants.
private func certain<Value>(_ value: Value?) -> Value {
  guard let value else { preconditionFailure("a constant of the table is out of range") }
  return value
}

/// The memory that the process holds.
private func residentBytes() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4_096 } ?? 0
}

private func percentile(_ numbers: [Double], _ share: Double) -> Double {
  let sorted = numbers.sorted()
  return sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
}

private func decimal(_ number: Double, _ places: Int) -> String {
  var scale = 1.0
  for _ in 0..<places { scale *= 10 }
  return "\((number * scale).rounded() / scale)"
}
