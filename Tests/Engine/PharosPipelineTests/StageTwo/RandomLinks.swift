import PharosModel
import PharosTestSupport

/// Links of three observers about a few beacons, at random from a seed.
enum RandomLinks {
  static func make(seed: UInt64, count: Int) -> [StageLink] {
    var random = SeededGenerator(seed: seed)
    var links: [StageLink] = []
    for index in 0..<count {
      let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
      let at = Double(Int.random(in: 0..<(count / 4), using: &random))
      let minor = UInt16.random(in: 1...4, using: &random)
      let beacon = BeaconID.proximity(LinkScript.uuid, major: 1, minor: minor)
      switch Int.random(in: 0..<20, using: &random) {
      case 0: links.append(LinkScript.link(name, isUp: false, at: at))
      case 1: links.append(LinkScript.link(name, isUp: true, at: at))
      case 2...7:
        let state: RegionState = [.inside, .outside, .unmonitored].randomElement(using: &random) ?? .inside
        links.append(
          LinkScript.presence(name, state, at: at, beacon: beacon, lastHeard: at - 1, ordinal: UInt64(index))
        )
      default:
        let level = Double.random(in: -95 ... -40, using: &random)
        links.append(LinkScript.summary(name, level, at: at, beacon: beacon))
      }
    }
    return links.sorted(by: StageLink.isOrderedBefore)
  }

  /// Runs of events with the same decision time.
  static func byInstant(_ events: [Event]) -> [[Event]] {
    var groups: [[Event]] = []
    for event in events {
      if groups.last?.last?.decidedAt == event.decidedAt {
        groups[groups.count - 1].append(event)
      } else {
        groups.append([event])
      }
    }
    return groups
  }
}
