import PharosModel
import PharosPresence
import Testing

/// A column is a second, a digit a level of −50 dBm and ten less for each, and below stands what must come out.
///
/// `n` is a report without level, `-` silence.
@Suite("Presence, drawn as timelines")
struct PresenceTests {
  static let pictures: [(input: String, expected: String, rules: PresencePolicy, why: String)] = [
    (
      "1----------",
      "E--X-------", fixed(samples: 1), "one sample enters eagerly, silence ends the visit at its deadline"
    ),
    ("1----------", "-----------", fixed(samples: 2), "one spike alone never enters"),
    ("11---------", "-E--X------", fixed(samples: 2), "two samples enter"),
    ("1-1----1-1-----", "--E--X---E--X--", fixed(samples: 2), "a gap longer than the silence ends a visit"),
    (
      "n-n--------", "--E--X-----", fixed(samples: 2), "reports without a level count where none is asked for"
    ),
    ("nnnn-------", "-----------", levels, "they do not count where one is"),
    ("555555-----", "-----------", levels, "too weak to enter"),
    ("111-1------", "-E-----X---", fixed(samples: 2), "a shorter gap holds the visit"),
    (
      "1---1---1--", "-----------", fixed(samples: 2, within: .seconds(3)),
      "a window that is given is taken literally"
    ),
    ("1--1-------", "---E--X----", fixed(samples: 2, within: .seconds(3)), "its edge counts"),
    ("1-11-------", "---E--X----", fixed(samples: 3), "three samples"),
    (
      "1111155555555------", "-E-------X---------", levels,
      "a level below the exit level for the dwell ends a visit"
    ),
  ]

  static func fixed(samples: Int, within: TimeSpan? = nil) -> PresencePolicy {
    PresencePolicy(enterSamples: samples, enterWithin: within, silence: .fixed(.seconds(3)))
  }

  static let levels = PresencePolicy(
    enterSamples: 2,
    enterRSSI: -75,
    exitRSSI: -85,
    exitDwell: .seconds(2),
    silence: .fixed(.seconds(3))
  )

  @Test("adverts become enters and exits", arguments: pictures)
  func drawn(input: String, expected: String, rules: PresencePolicy, why: String) {
    var region = Timeline.region()
    region.presence = rules
    var timeline = Timeline(Timeline.site([region]))
    for (second, letter) in input.enumerated() where letter != "-" {
      let level = letter.wholeNumberValue.map { Int8(-50 - 10 * $0) }
      timeline.receive(at: Double(second), rssi: level)
    }
    timeline.advance(to: 100)
    var drawn = Array(repeating: Character("-"), count: input.count)
    for event in timeline.events where event.kind == .regionEnter || event.kind == .regionExit {
      let second = Int((event.time - Timeline.origin).seconds.rounded())
      drawn[second] = event.kind == .regionEnter ? "E" : "X"
    }
    #expect(String(drawn) == expected, "\(why)")
  }

  @Test("reports of one transmission are one sample and the strongest counts")
  func joined() throws {
    var region = Timeline.region(samples: 2, enter: -70)
    region.presence.enterWithin = .seconds(10)
    var timeline = Timeline(Timeline.site([region]))
    timeline.receive(at: 0, rssi: -90)
    timeline.receive(at: 0.005, rssi: -60)
    timeline.receive(at: 0.012, rssi: -61)
    #expect(timeline.story().isEmpty, "three reports within 15 ms are one sample")
    #expect(timeline.engine.counters.joined == 2)
    timeline.receive(at: 1, rssi: -60)
    #expect(timeline.story() == ["regionEnter door 1.0"])
    let evidence = try #require(timeline.transitions(.regionEnter).first).evidence
    #expect(evidence.level == -60)
  }

  @Test("each policy of a beacon states the time span of its own samples")
  func spreads() {
    var regions = [Timeline.region("two", samples: 2), Timeline.region("three", samples: 3)]
    regions[0].presence.enterWithin = .seconds(3)
    regions[1].presence.enterWithin = .seconds(20)
    for index in regions.indices { regions[index].presence.silence = .fixed(.seconds(30)) }
    var timeline = Timeline(Timeline.site(regions))
    for second in [0.0, 10, 11] { timeline.receive(at: second) }
    var spreads: [String: TimeSpan?] = [:]
    for event in timeline.events where event.kind == .regionEnter {
      guard case .region(let transition) = event.detail else { continue }
      #expect(event.time == Timeline.at(11))
      spreads[event.region] = transition.evidence.spread
    }
    #expect(spreads == ["two": .seconds(1), "three": .seconds(11)])
  }

  @Test("a presence fits into six words of memory")
  func size() { #expect(MemoryLayout<Presence>.stride <= 48) }

  @Test("an exit tells what it stood on")
  func evidence() throws {
    var timeline = Timeline(Timeline.site([Timeline.region(samples: 2)]))
    for second in 0..<20 { timeline.receive(at: Double(second)) }
    timeline.advance(to: 60)
    let exit = try #require(timeline.transitions(.regionExit).first)
    #expect(exit.evidence.rule == .fixedSilence)
    #expect(exit.evidence.gap == .seconds(3))
    #expect(exit.evidence.lastHeard == Timeline.at(19))
    #expect(exit.evidence.fixedRuleAt == Timeline.at(49))
    #expect(exit.evidence.receptionShare == 1)
    #expect(abs((exit.evidence.interval ?? .zero).seconds - 1) < 0.01)
    #expect(exit.enteredAt == Timeline.at(1))
    #expect(exit.refinement == Timeline.beacon())
    let enter = try #require(timeline.transitions(.regionEnter).first)
    #expect(enter.evidence.rule == .samples)
    #expect(enter.evidence.samples == 2)
    #expect(enter.from == .unknown)
  }
}
