package import PharosModel

/// ESPresense and its companion: locators compete floor by floor, a Kalman filter and a smoothed vote choose.
///
/// Nodes send smoothed distances. For every floor a multilateration and the nearest node are *scenarios*; the most
/// confident one feeds a constant-velocity filter, every scenario is weighed by how near it lies to where the filter
/// expects the tag, and the vote, seven tenths old and three tenths new, says which scenario is believed. The room is
/// the one where its place lies.
///
/// Rooms need places of nodes: if an observer has none, the rule falls back to the nearest node, which its name states.
///
/// - Source: companion `config.example.yaml` (time-out 30 s, away 120 s, nearest node within 10 m, process 0.01,
///   measurement 0.1, 0.5 m/s, smoothing weight 0.7, motion sigma 2 m), `MultiScenarioLocator`,
///   `NelderMeadMultilateralizer`, `NearestNode`; firmware `defaults.h`.
/// - Simplified: one multilateration a floor (the four of the companion minimise the same error); the nearest node of
///   the floor that stands in a room decides the room, in place of drawn polygons; floors have no heights; a
///   tag that no node has in view keeps its room until it is away.
package struct ESPresense: Comparator {
  /// The name that tables show.
  package let name: String
  /// True: the rule decides home and not home, for the whole site.
  package var decidesPresence: Bool { true }
  /// Indicates whether the rule has observers.
  package var decidesRooms: Bool { plan != nil }

  /// The silence after which a node's distance no longer counts.
  package static let timeout = TimeSpan.seconds(30)
  /// The silence that is being away.
  package static let away = TimeSpan.seconds(120)

  private let plan: ESPresensePlan?
  private var presence = SilenceTimeout(span: ESPresense.away, scope: .site)
  private var tags: [ESPresenseTag] = []

  /// Makes the rule; with observers it decides rooms as well.
  package init(observers: [ComparatorObserver]? = nil) {
    plan = observers.map(ESPresensePlan.init(observers:))
    name =
      switch plan?.hasPlaces {
      case nil: "ESPresense 120 s"
      case true?: "ESPresense companion"
      case false?: "ESPresense nearest node"
      }
  }

  /// Takes an advert that a node heard.
  package mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    advance(to: sighting.time - .oneNanosecond, into: &verdicts)
    presence.heard(sighting, into: &verdicts)
    guard let plan, plan.observers.indices.contains(Int(sighting.observer)) else { return }
    let beacon = Int(sighting.beacon)
    while tags.count <= beacon { tags.append(ESPresenseTag(plan: plan)) }
    guard tags[beacon].nodes[Int(sighting.observer)].hear(sighting) else { return }
    let room = tags[beacon].locate(on: plan, at: sighting.time)
    tell(room, about: beacon, at: sighting.time, into: &verdicts)
  }

  /// Lets time pass.
  package mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    let start = verdicts.count
    presence.advance(to: time, into: &verdicts)
    guard let plan else { return }
    for index in start..<verdicts.count {
      guard case .exit = verdicts[index].change else { continue }
      let beacon = Int(verdicts[index].beacon)
      guard tags.indices.contains(beacon) else { continue }
      let room = tags[beacon].room
      tags[beacon] = ESPresenseTag(plan: plan)
      tags[beacon].room = room
      tell(nil, about: beacon, at: verdicts[index].time, into: &verdicts)
    }
    verdicts.sortByTime(from: start)
  }

  private mutating func tell(
    _ room: Int32?,
    about beacon: Int,
    at time: Timestamp,
    into verdicts: inout [Verdict]
  ) {
    guard room != tags[beacon].room else { return }
    tags[beacon].room = room
    verdicts.append(Verdict(beacon: Int32(beacon), time: time, change: .room(room)))
  }
}

/// The nodes and their positions, floor by floor.
struct ESPresensePlan: Sendable {
  let observers: [ComparatorObserver]
  /// The observers of each floor that has any.
  let floors: [[Int]]
  /// Indicates whether every observer has a place.
  let hasPlaces: Bool

  init(observers: [ComparatorObserver]) {
    self.observers = observers
    hasPlaces = !observers.isEmpty && observers.allSatisfy { $0.place != nil }
    let levels = Set(observers.map(\.floor)).sorted()
    floors = levels.map { level in observers.indices.filter { observers[$0].floor == level } }
  }

  /// The room of a point on a floor: that of the nearest node which stands in one.
  func room(at point: FloorPoint, on floor: Int) -> Int32? {
    var nearest: (room: Int32, distance: Double)?
    for node in floors[floor] {
      guard let room = observers[node].room, let place = observers[node].place else { continue }
      let distance = point.distance(to: FloorPoint(place))
      if distance < nearest?.distance ?? .infinity { nearest = (room, distance) }
    }
    return nearest?.room
  }
}

/// The companion's state of one tag: the nodes' reports, the filter, and the belief in each scenario.
///
/// - Source: companion `MultiScenarioLocator` and `Scenario`: confidence 50 × heard ÷ possible + 50 × (0.6 × error + 0.4 ×
///   correlation), at least 5, 10 for the nearest node; weight exp(−δ² ÷ 2σ²); 0.7 old and 0.3 new.
struct ESPresenseTag: Sendable {
  /// The room of the last verdict.
  var room: Int32?
  /// The tag's state at each node.
  var nodes: [ESPresenseNode]

  private static let nearestNodeConfidence = 10.0
  private static let lowestConfidence = 5.0
  private static let nearestNodeReach = 10.0
  private static let (oldWeight, newWeight) = (0.7, 0.3)
  /// Metres.
  private static let motionSigma = 2.0
  private static let smallestMove = 0.1

  private var filter = ConstantVelocityFilter()
  /// The share of belief of each scenario: for each floor the multilateration, then the nearest node.
  private var beliefs: [Double]
  private var told: (point: FloorPoint, floor: Int)?

  init(plan: ESPresensePlan) {
    nodes = Array(repeating: ESPresenseNode(), count: plan.observers.count)
    beliefs = Array(repeating: 0, count: plan.floors.count * 2)
  }

  /// The room after a new report.
  mutating func locate(on plan: ESPresensePlan, at time: Timestamp) -> Int32? {
    guard plan.hasPlaces else { return nearestRoom(of: plan, at: time) }
    let scenarios = scenarios(on: plan, at: time)
    guard let best = mostConfident(of: scenarios), let bestScenario = scenarios[best] else { return room }
    let expected = filter.predict(to: time)
    vote(scenarios, around: expected ?? bestScenario.point)
    filter.correct(with: bestScenario.point, at: time)
    var winner = best
    for index in scenarios.indices where scenarios[index] != nil {
      if beliefs[index] > beliefs[winner] { winner = index }
    }
    guard let scenario = scenarios[winner] else { return room }
    let floor = winner / 2
    if let told, told.floor == floor, told.point.distance(to: scenario.point) < ESPresenseTag.smallestMove {
      return room
    }
    told = (scenario.point, floor)
    return plan.room(at: scenario.point, on: floor)
  }

  private func nearestRoom(of plan: ESPresensePlan, at time: Timestamp) -> Int32? {
    var nearest: (node: Int, distance: Double)?
    for node in nodes.indices {
      guard let distance = distance(of: node, at: time), distance < nearest?.distance ?? .infinity else {
        continue
      }
      nearest = (node, distance)
    }
    return nearest.flatMap { plan.observers[$0.node].room }
  }

  /// Returns the distance that a node reports, or nil if it has no report or the report is too old.
  private func distance(of node: Int, at time: Timestamp) -> Double? {
    guard let report = nodes[node].report, time - report.time <= ESPresense.timeout else { return nil }
    return report.distance
  }

  // MARK: Scenarios

  private struct Scenario: Sendable {
    var point: FloorPoint
    var confidence: Double
  }

  private func scenarios(on plan: ESPresensePlan, at time: Timestamp) -> [Scenario?] {
    var scenarios = [Scenario?](repeating: nil, count: plan.floors.count * 2)
    for (floor, members) in plan.floors.enumerated() {
      var ranges: [NodeRange] = []
      for node in members {
        guard let distance = distance(of: node, at: time) else { continue }
        guard let place = plan.observers[node].place else { continue }
        ranges.append(NodeRange(place: FloorPoint(place), distance: distance))
      }
      ranges.sort { $0.distance < $1.distance }
      guard let nearest = ranges.first else { continue }
      if ranges.count >= 2 {
        let solution = Multilateration.solve(ranges)
        let heard = Double(ranges.count) / Double(members.count)
        let confidence = 50 * heard + 50 * (0.6 * solution.fit + 0.4 * solution.correlation)
        scenarios[floor * 2] = Scenario(
          point: solution.point,
          confidence: max(ESPresenseTag.lowestConfidence, confidence)
        )
      }
      if nearest.distance <= ESPresenseTag.nearestNodeReach {
        scenarios[floor * 2 + 1] = Scenario(
          point: nearest.place,
          confidence: ESPresenseTag.nearestNodeConfidence
        )
      }
    }
    return scenarios
  }

  private func mostConfident(of scenarios: [Scenario?]) -> Int? {
    var best: (index: Int, confidence: Double)?
    for index in scenarios.indices {
      guard let scenario = scenarios[index], scenario.confidence > best?.confidence ?? 0 else { continue }
      best = (index, scenario.confidence)
    }
    return best?.index
  }

  private mutating func vote(_ scenarios: [Scenario?], around expected: FloorPoint) {
    var weights = [Double](repeating: 0, count: scenarios.count)
    var sum = 0.0
    for index in scenarios.indices {
      guard let scenario = scenarios[index] else { continue }
      let off = scenario.point.distance(to: expected) / ESPresenseTag.motionSigma
      weights[index] = scenario.confidence * RadioMath.exponential(-off * off / 2)
      sum += weights[index]
    }
    guard sum > 0 else { return }
    let isFirst = beliefs.allSatisfy { $0 == 0 }
    for index in beliefs.indices {
      let new = weights[index] / sum
      beliefs[index] =
        isFirst ? new : ESPresenseTag.oldWeight * beliefs[index] + ESPresenseTag.newWeight * new
    }
  }
}

/// One node's view of a tag: levels of the last 15 s, and the distance that it would report.
///
/// - Source: firmware `AdaptivePercentileRSSI` (15 s, 10 to 200 samples, Tukey's fences of 1.5 interquartile ranges, mean
///   of what lies within), `defaults.h` (absorption 2.7, at most 16 m; reported after 0.5 m or 5 s).
/// - Simplified: ten samples are kept however old they are; until there are four, all count.
struct ESPresenseNode: Sendable {
  /// The path-loss exponent.
  static let absorption = 2.7
  /// Metres beyond which nothing is reported.
  static let farthest = 16.0

  private static let window = TimeSpan.seconds(15)
  private static let (fewest, most) = (10, 200)
  private static let (step, pause) = (0.5, TimeSpan.seconds(5))

  /// The distance last reported in metres, and when.
  private(set) var report: (distance: Double, time: Timestamp)?

  private var samples: [(level: Double, time: Timestamp)] = []
  private var sorted: [Double] = []

  /// Takes an advert.
  ///
  /// - Returns: true if the node reports a distance now.
  mutating func hear(_ sighting: Sighting) -> Bool {
    keep(sighting)
    let distance = RadioMath.powerOfTen(
      (sighting.measuredPower - fencedMean) / (10 * ESPresenseNode.absorption)
    )
    guard distance <= ESPresenseNode.farthest else { return false }
    if let report {
      let isDue = sighting.time - report.time >= ESPresenseNode.pause
      guard isDue || abs(distance - report.distance) >= ESPresenseNode.step else { return false }
    }
    report = (distance, sighting.time)
    return true
  }

  private mutating func keep(_ sighting: Sighting) {
    samples.append((sighting.level, sighting.time))
    sorted.insert(sighting.level, at: rank(of: sighting.level))
    while let oldest = samples.first {
      let isOld = sighting.time - oldest.time > ESPresenseNode.window && samples.count > ESPresenseNode.fewest
      guard isOld || samples.count > ESPresenseNode.most else { return }
      sorted.remove(at: rank(of: oldest.level))
      samples.removeFirst()
    }
  }

  /// Returns the index of a level among the sorted ones, or the index at which to insert it.
  private func rank(of level: Double) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < level { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The mean of the levels within Tukey's fences.
  private var fencedMean: Double {
    let count = sorted.count
    var (low, high) = (-Double.infinity, Double.infinity)
    if count >= 4 {
      let (first, third) = (sorted[count / 4], sorted[count * 3 / 4])
      low = first - 1.5 * (third - first)
      high = third + 1.5 * (third - first)
    }
    var (sum, kept) = (0.0, 0.0)
    for level in sorted where level >= low && level <= high {
      sum += level
      kept += 1
    }
    return sum / kept
  }
}
