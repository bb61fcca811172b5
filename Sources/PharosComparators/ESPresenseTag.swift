import PharosReports

/// Where the nodes stand, floor by floor.
struct ESPresensePlan: Sendable {
  let observers: [ComparatorObserver]
  /// The observers of each floor that has any.
  let floors: [[Int]]
  /// Whether every observer has a place.
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

/// What the companion knows of one tag: the nodes' reports, the filter, and how its scenarios stand.
///
/// - Source: companion `MultiScenarioLocator` and `Scenario`: confidence 50 × heard ÷ possible + 50 × (0.6 × error + 0.4 ×
///   correlation), at least 5, 10 for the nearest node; weight exp(−δ² ÷ 2σ²); 0.7 old and 0.3 new.
struct ESPresenseTag: Sendable {
  /// The room last told.
  var room: Int32?
  /// What each node makes of the tag.
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

  /// What a node reports, if it is not too old.
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
