import PharosFixes
import PharosModel
import PharosPipeline
import PharosTestSupport
import Testing

/// Seconds as observers tell them: all of their beacons at once.
@Suite("Seconds of observers")
struct SecondTests {
  private static let zones = [
    Zone(identifier: "west", observers: [LinkScript.observer("a"), LinkScript.observer("b")]),
    Zone(identifier: "east", observers: [LinkScript.observer("c")]),
  ]

  /// Three observers and up to twelve beacons that come, go and change places, in an order that is shuffled now and then.
  private static func seconds(seed: UInt64) -> [SecondSummary] {
    var random = SeededGenerator(seed: seed)
    var order = Array(1...12)
    var seconds: [SecondSummary] = []
    for second in 0..<240 {
      if second % 20 == 0 { order.shuffle(using: &random) }
      for (place, name) in ["a", "b", "c"].enumerated() {
        let until = LinkScript.time(Double(second) + Double(place) / 4)
        var summary = SecondSummary(
          observer: LinkScript.observer(name),
          until: until,
          decidedAt: until + .milliseconds(500),
          ordinal: UInt64(second * 100)
        )
        for minor in order where Int.random(in: 0..<8, using: &random) > 0 {
          let isNear = (minor + second / 60) % 3 == place
          summary.beacons.append(
            BeaconSummary(
              beacon: .proximity(LinkScript.uuid, major: 1, minor: UInt16(minor)),
              count: UInt32.random(in: 1...4, using: &random),
              mean: (isNear ? -55 : -75) + Double.random(in: -4...4, using: &random),
              variance: 4,
              lastHeard: until
            )
          )
        }
        seconds.append(summary)
      }
    }
    return seconds
  }

  private static func events(_ links: [StageLink]) -> [Event] {
    var stage = StageTwo(site: LinkScript.site(zones: zones))
    var events: [Event] = []
    for link in links { stage.restore(link, into: &events) }
    stage.advance(to: LinkScript.time(400), into: &events)
    return events
  }

  @Test("beacons reported together are decided like single ones", arguments: [1, 2, 3] as [UInt64])
  func together(seed: UInt64) {
    let seconds = Self.seconds(seed: seed)
    let whole = seconds.map { StageLink.second($0) }
    let single = seconds.flatMap { second in
      second.beacons.enumerated().map { index, beacon in
        var part = second
        part.ordinal += UInt64(index)
        part.beacons = [beacon]
        return StageLink.second(part)
      }
    }
    let events = Self.events(whole)
    #expect(events.count > 20)
    #expect(events == Self.events(single))
  }

  @Test("deadlines come up in their order", arguments: [1, 2, 3, 4] as [UInt64])
  func deadlines(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queue = DeadlineQueue()
    var model: [DeadlineQueue.Entry] = []
    for step in 0..<2_000 {
      if Int.random(in: 0..<3, using: &random) > 0 {
        let entry = DeadlineQueue.Entry(
          due: LinkScript.time(Double(Int.random(in: 0..<50, using: &random))),
          slot: Int.random(in: 0..<5, using: &random),
          generation: UInt32(step)
        )
        queue.insert(entry)
        model.append(entry)
      } else {
        let through = LinkScript.time(Double(Int.random(in: 0..<50, using: &random)))
        let earliest = model.indices.min { left, right in
          (model[left].due, model[left].slot, model[left].generation)
            < (model[right].due, model[right].slot, model[right].generation)
        }
        let expected = earliest.flatMap { model[$0].due <= through ? model.remove(at: $0) : nil }
        let found = queue.pop(through: through)
        #expect(found?.due == expected?.due)
        #expect(found?.slot == expected?.slot)
        #expect(found?.generation == expected?.generation)
      }
    }
  }
}
