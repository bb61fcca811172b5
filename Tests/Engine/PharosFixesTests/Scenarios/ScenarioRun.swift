import PharosFixes
import PharosModel
import PharosPipeline
import PharosSimulation
import PharosSpace

/// A simulated scene sent through the whole pipeline: the fixes of all subjects, with their true positions.
struct ScenarioRun {
  /// A fix and the truth at its time.
  struct Judged {
    let time: TimeSpan
    let fix: FixDetail
    let truth: Journey.Place
    /// How far the fix lies from the truth, in metres, whatever the floors.
    let error: Double
    let hasRightFloor: Bool
  }

  let scene: IndoorScene
  let events: [Event]
  private(set) var fixes: [SubjectID: [Judged]] = [:]

  /// Plays a scene.
  ///
  /// - Parameters:
  ///   - scene: what happens.
  ///   - seed: what chance is drawn from; the house is the same for the same seed.
  ///   - ground: what is known of the house.
  ///   - end: reports received from then on are left out.
  ///   - site: what is declared.
  /// - Throws: what is wrong with the scene or the site.
  init(
    _ scene: IndoorScene,
    seed: UInt64,
    on ground: LocatableVenue,
    until end: TimeSpan = .forever,
    site: Site = Site()
  ) throws {
    self.scene = scene
    var pipeline = try Pipeline(site: site, venues: [ground])
    var events: [Event] = []
    for item in try IndoorSimulation(scene, seed: seed) {
      guard case .datagram(let datagram) = item else { continue }
      guard datagram.received - scene.start < end else { break }
      events += pipeline.ingest(datagram.reports)
    }
    events += pipeline.finish(tail: .seconds(2))
    self.events = events
    var journeys: [SubjectID: Journey] = [:]
    for handset in scene.handsets { journeys[.observer(handset.id)] = handset.journey }
    for tag in scene.tags { journeys[.beacon(tag.beacon)] = tag.journey }
    for event in events {
      guard case .fix(let fix) = event.detail, let journey = journeys[event.subject] else { continue }
      let time = event.time - scene.start
      let truth = journey.place(at: time)
      fixes[event.subject, default: []].append(
        Judged(
          time: time,
          fix: fix,
          truth: truth,
          error: ScenarioRun.distance(fix, truth, in: scene.venue),
          hasRightFloor: fix.isIndoors
            ? fix.level == truth.floor.level && !truth.isOutdoors : truth.isOutdoors
        )
      )
    }
  }

  /// The fixes of all subjects.
  var all: [Judged] { fixes.keys.sorted().flatMap { fixes[$0] ?? [] } }

  /// The fixes of the only subject.
  var only: [Judged] { fixes.count == 1 ? all : [] }

  /// How long after a subject stepped off a stair, lift or escalator the fixes had the new floor, and kept it for five
  /// seconds; nil where that never came before the next ride.
  func delays(of handset: Handset) -> [(manner: Journey.Manner, delay: Double?)] {
    let judged = fixes[.observer(handset.id)] ?? []
    let arrivals = handset.journey.arrivals
    return arrivals.indices.map { number in
      let arrival = arrivals[number]
      // Until the next ride begins, which is not before the floor changes again.
      let left = judged.filter { $0.time >= arrival.time && !$0.truth.isBetweenFloors }
        .prefix { $0.truth.floor == arrival.floor }
      let kept = left.indices.first { index in
        left[index...].prefix(6).allSatisfy { $0.fix.isIndoors && $0.fix.level == arrival.floor.level }
      }
      return (arrival.manner, kept.map { (left[$0].time - arrival.time).seconds })
    }
  }

  private static func distance(_ fix: FixDetail, _ truth: Journey.Place, in venue: Venue) -> Double {
    if fix.isIndoors { return Point(x: fix.x, y: fix.y).distance(to: truth.point) }
    guard let latitude = fix.latitude, let longitude = fix.longitude,
      let coordinate = Coordinate(latitude: latitude, longitude: longitude),
      let point = venue.floor(truth.floor)?.plane.point(of: coordinate)
    else { return .infinity }
    return point.distance(to: truth.point)
  }
}

extension Journey.Place {
  /// Indicates whether the person is between two floors.
  fileprivate var isBetweenFloors: Bool { [.climbing, .escalator, .lift].contains(manner) }
}

/// What a table says of fixes.
struct ScenarioFigures {
  let count: Int
  let mean, median, p90: Double
  /// Shares of fixes: with the right floor, with the truth within the accuracy, within twice it.
  let floor, within, withinTwice: Double
  /// The share of fixes that are sure of the floor, with a certainty of at least 0.95, and of these the share that are right.
  let sure, surelyRight: Double
  let accuracy: Double

  /// Judges fixes; on the way between floors either floor is right, and none is counted.
  init(_ judged: [ScenarioRun.Judged]) {
    let finished = judged.filter { !$0.truth.isBetweenFloors }
    let errors = finished.map(\.error).sorted()
    func share(_ condition: (ScenarioRun.Judged) -> Bool) -> Double {
      finished.isEmpty ? 0 : Double(finished.count(where: condition)) / Double(finished.count)
    }
    count = finished.count
    mean = errors.isEmpty ? .infinity : errors.reduce(0, +) / Double(errors.count)
    median = errors.isEmpty ? .infinity : errors[errors.count / 2]
    p90 = errors.isEmpty ? .infinity : errors[errors.count * 9 / 10]
    floor = share(\.hasRightFloor)
    let certain = finished.filter { $0.fix.floorCertainty.map { $0 >= 0.95 } ?? false }
    sure = finished.isEmpty ? 0 : Double(certain.count) / Double(finished.count)
    surelyRight = certain.isEmpty ? 1 : Double(certain.count(where: \.hasRightFloor)) / Double(certain.count)
    within = share { $0.error <= $0.fix.horizontalAccuracy }
    withinTwice = share { $0.error <= 2 * $0.fix.horizontalAccuracy }
    accuracy =
      finished.isEmpty
      ? .infinity : finished.map(\.fix.horizontalAccuracy).reduce(0, +) / Double(finished.count)
  }

  /// The figures in a row.
  var row: String {
    func one(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
    func percent(_ share: Double) -> String { "\((share * 1_000).rounded() / 10) %" }
    return "mean \(one(mean)) m, median \(one(median)) m, p90 \(one(p90)) m, floor \(percent(floor)), "
      + "sure \(percent(sure)), of these right \(percent(surelyRight)), "
      + "within \(percent(within)), within twice \(percent(withinTwice)), mean accuracy \(one(accuracy)) m, \(count) fixes"
  }
}
