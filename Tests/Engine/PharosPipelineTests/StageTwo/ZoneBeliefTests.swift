import PharosModel
import PharosRooms
import PharosTestSupport
import Testing

/// The forward filter beside a slow one that is written as the textbook has it.
@Suite("The probabilities of zones")
struct ZoneBeliefTests {
  private static let names = ["a", "b", "c", "d", "e"]

  private static func plan() -> ZonePlan {
    let adjacent = [["b"], ["a", "c"], ["b"], ["e"], ["d"]]
    let zones = names.enumerated().map { place, name in
      Zone(
        identifier: name,
        observers: [.name(name)],
        floor: place < 3 ? 0 : 1,
        adjacent: adjacent[place]
      )
    }
    return ZonePlan(site: LinkScript.site(zones: zones))
  }

  /// One step of the forward algorithm over a full matrix; the last state is elsewhere.
  private static func reference(
    _ before: [Double],
    doors: Double,
    scores: [Double],
    evidence: Double,
    _ plan: ZonePlan
  ) -> [Double] {
    let count = before.count
    var matrix = Array(repeating: Array(repeating: 0.0, count: count), count: count)
    for from in 0..<count {
      for to in 0..<count where to != from {
        if from == count - 1 || to == count - 1 {
          matrix[from][to] = doors * ZoneRules.leavingShare
          continue
        }
        switch plan.step(from: from, to: to) {
        case .stay: break
        case .walk: matrix[from][to] = doors
        case .stray: matrix[from][to] = doors * ZoneRules.strayShare
        case .climb: matrix[from][to] = doors * ZoneRules.climbShare
        }
      }
      let leaving = matrix[from].reduce(0, +)
      if leaving > 0.5 { for to in 0..<count { matrix[from][to] *= 0.5 / leaving } }
      matrix[from][from] = 1 - min(leaving, 0.5)
    }
    var after = (0..<count).map { to in (0..<count).reduce(0) { $0 + before[$1] * matrix[$1][to] } }
    for to in 0..<count { after[to] *= RadioMath.exponential(scores[to] * evidence) }
    let sum = after.reduce(0, +)
    return after.map { $0 / sum }
  }

  @Test("they are those of the forward algorithm", arguments: [1, 2, 3, 4] as [UInt64])
  func forward(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let plan = Self.plan()
    var belief = ZoneBelief()
    var weighing = ZoneWeighing()
    var expected: [Double] = []
    for step in 0..<300 {
      weighing.removeAll()
      for zone in 0..<5 {
        weighing.add(zone, probability: belief.probability(of: zone), plan)
      }
      belief.recallElsewhere(into: &weighing, plan)
      let scores = (0..<6).map { _ in Double.random(in: -2...0, using: &random) }
      for index in 0..<6 { weighing.candidates[index].score = scores[index] }
      let elapsed = Double.random(in: 0...5, using: &random)
      let evidence = Bool.random(using: &random) ? Double.random(in: 0...1, using: &random) : 0
      belief.step(elapsed: elapsed, rate: 0.1, evidence: evidence, &weighing, plan)
      let before = step == 0 ? Array(repeating: 0.19, count: 5) + [0.05] : expected
      let doors = step == 0 ? 0 : elapsed * 0.1
      expected = Self.reference(before, doors: doors, scores: scores, evidence: evidence, plan)
      for zone in 0..<5 { #expect(abs(belief.probability(of: zone) - expected[zone]) < 1e-9) }
      let sum = belief.shares.reduce(0) { $0 + $1.probability }
      #expect(abs(sum - 1) < 1e-9)
    }
  }

  @Test("a door leads both ways, and no known stairs lead to another floor")
  func steps() {
    let plan = Self.plan()
    #expect(plan.step(from: 0, to: 0) == .stay)
    #expect(plan.step(from: 0, to: 1) == .walk)
    #expect(plan.step(from: 0, to: 2) == .stray)
    #expect(plan.step(from: 0, to: 3) == .climb)
    let open = ["a", "b"].map { Zone(identifier: $0, observers: [.name($0)]) }
    #expect(ZonePlan(site: LinkScript.site(zones: open)).step(from: 0, to: 1) == .walk)
    let stairs = [
      Zone(identifier: "a", observers: [.name("a")], floor: 0),
      Zone(identifier: "b", observers: [.name("b")], floor: 1, adjacent: ["a"]),
      Zone(identifier: "c", observers: [.name("c")], floor: 2),
    ]
    let house = ZonePlan(site: LinkScript.site(zones: stairs))
    #expect(house.step(from: 0, to: 1) == .walk)
    #expect(house.step(from: 0, to: 2) == .climb)
  }
}
