package import PharosComparators
package import PharosModel

/// The companion of ESPresense: locators compete floor by floor, a Kalman filter and a smoothed vote choose.
///
/// For every floor a multilateration and the nearest node are *scenarios*; the most confident one feeds a
/// constant-velocity filter, every scenario is weighed by how near it lies to where the filter expects the tag, and the
/// vote, seven tenths old and three tenths new, says which scenario is believed. The room is the one where its place lies.
///
/// - Precondition: every observer has a place.
/// - Source: companion `config.example.yaml` (nearest node within 10 m, process 0.01, measurement 0.1, 0.5 m/s, smoothing
///   weight 0.7, motion sigma 2 m), `NelderMeadMultilateralizer`, `NearestNode`, `MultiScenarioLocator` and `Scenario`:
///   confidence 50 × heard ÷ possible + 50 × (0.6 × error + 0.4 × correlation), at least 5, 10 for the nearest node;
///   weight exp(−δ² ÷ 2σ²); 0.7 old and 0.3 new.
/// - Simplified: one multilateration a floor (the four of the companion minimise the same error); the nearest node of
///   the floor that stands in a room decides the room, in place of drawn polygons; floors have no heights.
package struct ESPresenseCompanion: ESPresenseLocator {
  /// The name that tables show.
  package static let name = "companion"

  private let observers: [ComparatorObserver]
  /// The observers of each floor that has any.
  private let floors: [[Int]]

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
  private var committed: (point: FloorPoint, floor: Int)?

  /// Begins with a tag that no node has heard.
  package init(observers: [ComparatorObserver]) {
    self.observers = observers
    let levels = Set(observers.map(\.floor)).sorted()
    floors = levels.map { level in observers.indices.filter { observers[$0].floor == level } }
    beliefs = Array(repeating: 0, count: floors.count * 2)
  }

  /// Returns the room after a new report.
  package mutating func locate(_ nodes: [ESPresenseNode], from room: Int32?, at time: Timestamp) -> Int32? {
    let scenarios = scenarios(nodes, at: time)
    guard let best = likeliest(of: scenarios), let bestScenario = scenarios[best] else { return room }
    let expected = filter.predict(to: time)
    vote(scenarios, around: expected ?? bestScenario.point)
    filter.correct(with: bestScenario.point, at: time)
    var winner = best
    for index in scenarios.indices where scenarios[index] != nil {
      if beliefs[index] > beliefs[winner] { winner = index }
    }
    guard let scenario = scenarios[winner] else { return room }
    let floor = winner / 2
    if let committed, committed.floor == floor,
      committed.point.distance(to: scenario.point) < ESPresenseCompanion.smallestMove
    {
      return room
    }
    committed = (scenario.point, floor)
    return self.room(at: scenario.point, on: floor)
  }

  private struct Scenario: Sendable {
    var point: FloorPoint
    var confidence: Double
  }

  private func scenarios(_ nodes: [ESPresenseNode], at time: Timestamp) -> [Scenario?] {
    var scenarios = [Scenario?](repeating: nil, count: floors.count * 2)
    for (floor, members) in floors.enumerated() {
      var ranges: [NodeRange] = []
      for node in members {
        guard let distance = nodes[node].distance(at: time) else { continue }
        guard let place = observers[node].place else { continue }
        ranges.append(NodeRange(place: FloorPoint(x: place.x, y: place.y), distance: distance))
      }
      ranges.sort { $0.distance < $1.distance }
      guard let nearest = ranges.first else { continue }
      if ranges.count >= 2 {
        let solution = Multilateration.solve(ranges)
        let heard = Double(ranges.count) / Double(members.count)
        let confidence = 50 * heard + 50 * (0.6 * solution.fit + 0.4 * solution.correlation)
        scenarios[floor * 2] = Scenario(
          point: solution.point,
          confidence: max(ESPresenseCompanion.lowestConfidence, confidence)
        )
      }
      if nearest.distance <= ESPresenseCompanion.nearestNodeReach {
        scenarios[floor * 2 + 1] = Scenario(
          point: nearest.place,
          confidence: ESPresenseCompanion.nearestNodeConfidence
        )
      }
    }
    return scenarios
  }

  private func likeliest(of scenarios: [Scenario?]) -> Int? {
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
      let off = scenario.point.distance(to: expected) / ESPresenseCompanion.motionSigma
      weights[index] = scenario.confidence * RadioMath.exponential(-off * off / 2)
      sum += weights[index]
    }
    guard sum > 0 else { return }
    let isFirst = beliefs.allSatisfy { $0 == 0 }
    for index in beliefs.indices {
      let new = weights[index] / sum
      beliefs[index] =
        isFirst ? new : ESPresenseCompanion.oldWeight * beliefs[index] + ESPresenseCompanion.newWeight * new
    }
  }

  /// Returns the room of a point on a floor: that of the nearest node which stands in one.
  private func room(at point: FloorPoint, on floor: Int) -> Int32? {
    var nearest: (room: Int32, distance: Double)?
    for node in floors[floor] {
      guard let room = observers[node].room, let place = observers[node].place else { continue }
      let distance = point.distance(to: FloorPoint(x: place.x, y: place.y))
      if distance < nearest?.distance ?? .infinity { nearest = (room, distance) }
    }
    return nearest?.room
  }
}

extension ComparatorCatalog {
  /// Returns the rules that decide rooms, for observers that all have places: ESPresense has its companion then.
  package static func rooms(placed observers: [ComparatorObserver]) -> [any Comparator] {
    rooms(observers: observers).dropLast() + [ESPresense<ESPresenseCompanion>(observers: observers)]
  }
}
