import PharosDecisionCheck
import PharosDocuments
import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Evidence recomputes to the decision")
struct EvidenceTests {
  /// A world of one beacon with losses, a level that wanders, and visits; every rule decides in it.
  static func world(seed: Int, _ policy: PresencePolicy) -> Timeline {
    var generator = SeededGenerator(seed: UInt64(seed))
    var region = Timeline.region()
    region.presence = policy
    var timeline = Timeline(Timeline.site([region]))
    var time = 0.0
    for _ in 0..<6 {
      let length = Double.random(in: 5...400, using: &generator)
      let until = time + length
      var level = -60.0
      while time < until {
        time += 1 + Double.random(in: 0...0.01, using: &generator)
        level += Double.random(in: -2...(until - time < 20 ? 0 : 2), using: &generator)
        level = min(max(level, -95), -50)
        guard Double.random(in: 0..<1, using: &generator) > 0.3 else { continue }
        timeline.receive(at: time, rssi: Int8(level))
      }
      time += Double.random(in: 20...1_000, using: &generator)
    }
    timeline.advance(to: time + 1_000)
    return timeline
  }

  static let policies = [
    PresencePolicy(),
    PresencePolicy(enterSamples: 3, enterRSSI: -75, exitRSSI: -85),
    PresencePolicy(enterDistance: Meters(4), exitDistance: Meters(12), silence: .fixed(.seconds(20))),
    PresencePolicy(enterSamples: 1, silenceFloor: .seconds(7), falseExitsPerDay: 10),
  ]

  @Test("every enter and exit follows from its evidence", arguments: Seeds.drawn(0..<12))
  func follows(seed: Int) {
    for policy in EvidenceTests.policies {
      let timeline = EvidenceTests.world(seed: seed, policy)
      let transitions = timeline.transitions(.regionEnter) + timeline.transitions(.regionExit)
      #expect(!transitions.isEmpty)
      for transition in transitions {
        #expect(transition.evidence.recomputed() == .follows, "seed \(seed): \(transition.evidence)")
      }
    }
  }

  @Test("evidence that was changed does not")
  func contradicts() throws {
    let timeline = EvidenceTests.world(seed: 1, PresencePolicy())
    let exit = try #require(timeline.transitions(.regionExit).first { $0.evidence.silence != nil }).evidence
    let enter = try #require(timeline.transitions(.regionEnter).first).evidence
    let changes: [(Evidence, (inout Evidence) -> Void)] = [
      (exit, { $0.gap = .seconds(1) }), (exit, { $0.gap = nil }),
      (exit, { $0.allowedGap = .seconds(1) }), (exit, { $0.silence = nil }),
      (exit, { $0.silence?.misses += 1 }), (exit, { $0.silence?.budget *= 100 }),
      (exit, { $0.silence?.opportunities *= 100 }), (exit, { $0.silence?.ended *= 3 }),
      (exit, { $0.silence?.pace = .seconds(9) }), (exit, { $0.silence?.floor = .seconds(200) }),
      (enter, { $0.counted = 1 }), (enter, { $0.spread = .seconds(100) }), (enter, { $0.window = nil }),
    ]
    for (place, change) in changes.enumerated() {
      var evidence = change.0
      change.1(&evidence)
      let isContradicted = if case .contradicts = evidence.recomputed() { true } else { false }
      #expect(isContradicted, "change \(place)")
    }
  }

  @Test("JSON carries the numbers to the last digit that was computed with")
  func digits() throws {
    let timeline = EvidenceTests.world(seed: 3, PresencePolicy())
    let exit = try #require(timeline.transitions(.regionExit).first { $0.evidence.silence != nil })
    let basis = try #require(exit.evidence.silence)
    var json = JSONText()
    json.openObject()
    exit.evidence.write(to: &json)
    json.closeObject()
    #expect(json.text.contains("\"runChance\":\(basis.runChance)"))
    #expect(json.text.contains("\"misses\":\(basis.misses)"))
    #expect(basis.recomputedMisses == basis.misses)
  }
}

@Suite("Several transmitters under one identity, and thresholds in metres")
struct SharedIdentityTests {
  static func tag(_ number: UInt64) -> DeviceAddress {
    DeviceAddress(bits: 0xAC_233F_000000 + number, kind: .public)
  }

  @Test("tags that share an identity are learned apart, and the identity is gone when the last of them is")
  func apart() throws {
    var region = Timeline.region()
    region.presence = PresencePolicy()
    var timeline = Timeline(Timeline.site([region]))
    for second in 0..<2_000 {
      timeline.receive(at: Double(second), address: SharedIdentityTests.tag(1))
      if second % 10 == 0 { timeline.receive(at: Double(second) + 0.4, address: SharedIdentityTests.tag(2)) }
    }
    // The quick one leaves; the slow one stays, with a gap of ten seconds each time.
    for step in 200..<400 {
      timeline.receive(at: Double(step) * 10 + 0.4, address: SharedIdentityTests.tag(2))
    }
    #expect(timeline.story() == ["regionEnter door 0.4"])
    timeline.advance(to: 8_000)
    let exit = try #require(timeline.transitions(.regionExit).first)
    #expect(abs((exit.evidence.interval ?? .zero).seconds - 10) < 0.1)
    #expect(exit.evidence.recomputed() == .follows)
  }

  @Test("the hour in which one of two tags with an identity was away is no gap between its adverts")
  func returning() throws {
    var region = Timeline.region()
    region.presence = PresencePolicy()
    var timeline = Timeline(Timeline.site([region]))
    for second in 0..<6_000 {
      let isAway = 1_000..<4_600 ~= second
      if !isAway { timeline.receive(at: Double(second), address: SharedIdentityTests.tag(1)) }
      timeline.receive(at: Double(second) + 0.4, address: SharedIdentityTests.tag(2))
    }
    timeline.advance(to: 7_000)
    let exit = try #require(timeline.transitions(.regionExit).first)
    #expect((exit.evidence.gap ?? .forever) < .seconds(120))
  }

  @Test("an address that changes by itself is one transmitter")
  func resolvable() throws {
    var region = Timeline.region()
    region.presence = PresencePolicy()
    var timeline = Timeline(Timeline.site([region]))
    for second in 0..<3_000 {
      let bits = 0x40_0000_0000_00 + UInt64(second / 100)
      timeline.receive(at: Double(second), address: DeviceAddress(bits: bits, kind: .random))
    }
    timeline.advance(to: 4_000)
    let exit = try #require(timeline.transitions(.regionExit).first)
    #expect((exit.evidence.gap ?? .forever) < .seconds(40))
  }

  @Test("thresholds in metres are levels: near enters, far leaves, an unknown power never enters")
  func meters() {
    var region = Timeline.region()
    region.presence = PresencePolicy(
      enterDistance: Meters(3),
      exitDistance: Meters(10),
      exitDwell: .seconds(5),
      silence: .fixed(.seconds(60))
    )
    var timeline = Timeline(Timeline.site([region]))
    // Measured power −59 at the site's usual exponent: −59 − 10 n log10(d).
    for second in 0..<20 { timeline.receive(at: Double(second), rssi: -79) }
    #expect(timeline.story().isEmpty, "about ten metres away")
    for second in 20..<60 { timeline.receive(at: Double(second), rssi: -62) }
    for second in 60..<100 { timeline.receive(at: Double(second), rssi: -92) }
    timeline.advance(to: 110)
    #expect(timeline.story().count == 2)
    #expect(timeline.transitions(.regionExit).first?.evidence.rule == .level)
    #expect(timeline.transitions(.regionExit).first?.evidence.distance == 10)
  }
}
