import PharosModel
import PharosRooms
import PharosTestSupport
import Testing

/// Still beacons between two gateways that lose adverts in runs.
@Suite("Zones where adverts are lost")
struct ZoneLossTests {
  /// Four in ten are lost, four in a row as a rule; levels of two gateways lie 10 dB apart and scatter by about 4 dB.
  private static func links(interval: Double, seconds: Double, seed: UInt64) -> [StageLink] {
    var random = SeededGenerator(seed: seed)
    var isReceiving = [true, true]
    var links: [StageLink] = []
    for step in 0..<Int(seconds / interval) {
      for (gateway, level) in [-65.0, -75].enumerated() {
        let chance = Double.random(in: 0..<1, using: &random)
        isReceiving[gateway] = isReceiving[gateway] ? chance >= 1.0 / 6 : chance < 0.25
        let noise = (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
        guard isReceiving[gateway] else { continue }
        let at = Double(step) * interval
        links.append(LinkScript.summary(["a", "b"][gateway], (level + 4 * noise).rounded(), at: at))
      }
    }
    return links
  }

  @Test("a run of losses at the louder gateway moves no beacon", arguments: [2.0, 5])
  func runs(interval: Double) {
    let zones = ["a", "b"].map { Zone(identifier: $0, observers: [.name($0)]) }
    let site = LinkScript.site([LinkScript.region()], zones: zones)
    var moves = 0
    for seed in 1...6 {
      let links = Self.links(interval: interval, seconds: 1_800, seed: UInt64(seed))
      let events = LinkScript.events(site, links, until: 1_800)
      // The first minute may begin with the wrong one: the louder gateway may not have heard it yet.
      moves += events.count {
        $0.kind == .zoneEnter && $0.move?.from != nil && $0.decidedAt - LinkScript.start > .minutes(1)
      }
    }
    #expect(moves <= 5)
  }
}
