import PharosComparators
import PharosModel
import PharosSimulatedWorlds
import PharosTestSupport
import Testing

@Suite("Invariants of all rules")
struct InvariantTests {
  static var rules: [any Comparator] {
    ComparatorCatalog.presence() + ComparatorCatalog.rooms(placed: RoomRuleTests.house)
      + [
        SilenceRule.fixed(.seconds(2)), SilenceRule.fixed(.milliseconds(1_500)),
        ESPresense<NearestNode>(observers: RoomRuleTests.house),
      ]
  }

  private static func sightings(seed: UInt64) -> [Sighting] {
    var random = SeededGenerator(seed: seed)
    var time = Playback.start
    return (0..<3_000).map { _ in
      time =
        time
        + .milliseconds(Int64.random(in: 0..<40, using: &random) * Int64.random(in: 0..<40, using: &random))
      if Int.random(in: 0..<200, using: &random) == 0 {
        time = time + .seconds(Double.random(in: 0..<150, using: &random))
      }
      return Sighting(
        observer: .random(in: 0..<4, using: &random),
        beacon: .random(in: 0..<3, using: &random),
        time: time,
        level: Double(Int.random(in: -95...(-40), using: &random)),
        measuredPower: -59
      )
    }
  }

  @Test(
    "enter and exit alternate, times never go back, rooms really change",
    arguments: Seeds.drawn(1..<7 as Range<UInt64>)
  )
  func alternation(seed: UInt64) {
    let sightings = Self.sightings(seed: seed)
    for rule in Self.rules {
      var rule = rule
      var verdicts: [Verdict] = []
      for sighting in sightings { rule.heard(sighting, into: &verdicts) }
      rule.advance(to: .distantFuture - .seconds(1_000), into: &verdicts)
      var inside: Set<[Int32]> = []
      var rooms: [Int32: Int32] = [:]
      var latest = Timestamp.distantPast
      for verdict in verdicts {
        #expect(verdict.time >= latest, "\(rule.name), seed \(seed)")
        latest = verdict.time
        switch verdict.change {
        case .enter(let observer):
          #expect(inside.insert([verdict.beacon, observer ?? -1]).inserted, "\(rule.name), seed \(seed)")
        case .exit(let observer):
          #expect(inside.remove([verdict.beacon, observer ?? -1]) != nil, "\(rule.name), seed \(seed)")
        case .room(let room):
          #expect(rooms[verdict.beacon] != room, "\(rule.name), seed \(seed)")
          rooms[verdict.beacon] = room
        }
      }
      #expect(inside.isEmpty, "\(rule.name) reports no exit, seed \(seed)")
      #expect(rooms.isEmpty, "\(rule.name) leaves a silent tag in a room, seed \(seed)")
    }
  }

  @Test("letting time pass in steps decides the same as all at once", arguments: 1...4 as ClosedRange<UInt64>)
  func steps(seed: UInt64) {
    let sightings = Self.sightings(seed: seed)
    for rule in Self.rules {
      var whole = rule
      var stepwise = rule
      var (expected, found): ([Verdict], [Verdict]) = ([], [])
      var before = sightings[0].time
      for sighting in sightings {
        whole.heard(sighting, into: &expected)
        // Everything up to just before the next advert, in three steps.
        let gap = sighting.time - before
        for part in [0.3, 0.8] { stepwise.advance(to: before + gap * part - .oneNanosecond, into: &found) }
        stepwise.heard(sighting, into: &found)
        before = sighting.time
      }
      whole.advance(to: before + .minutes(10), into: &expected)
      for second in 0...600 { stepwise.advance(to: before + .seconds(Double(second)), into: &found) }
      #expect(found == expected, "\(rule.name), seed \(seed)")
    }
  }
}
