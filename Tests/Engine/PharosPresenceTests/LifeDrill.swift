import PharosModel
import PharosPresence
import PharosTestSupport

/// A gateway, tags that stay or leave, untracked beacons, and faults of the gateway: all at random from a seed, and
/// the truth is known.
struct LifeDrill {
  enum Trouble {
    /// Nothing comes at all, and the boot id stays.
    case dead
    /// Nothing comes, then the boot id is the next one.
    case restarted
    /// Heartbeats come, and no adverts.
    case hung
    /// So much of the adverts comes through.
    case congested(Double)
    /// Nothing comes although the gateway goes on: its datagrams are lost.
    case lost
  }

  var tags = 8
  var interval = 1.0
  /// The share of adverts lost, and how many in a row on average.
  var loss = 0.0
  var meanRun = 1.0
  var passersBy = 1
  var passerByInterval = 1.0
  var heartbeat: Double? = 1
  var countsAdverts = true
  var liveness = ObserverEntry.Liveness.auto
  var troubles: [(kind: Trouble, from: Double, to: Double)] = []
  /// When each of the first tags leaves; those beyond stay.
  var departures: [Double] = []
  var length = 600.0
  var silence = SilenceRule.adaptive

  enum SilenceRule {
    case adaptive
    case fixed(Double)
  }

  /// What came of it.
  struct Outcome {
    /// Exits of tags that were there.
    var falseExits = 0
    /// Enters beyond the first one of each tag.
    var secondEnters = 0
    /// For each tag that left and whose exit was published: how long after its last advert.
    var delays: [Double] = []
    /// Tags that left and whose exit was never published.
    var omitted = 0
    var offline = 0
  }

  private enum Item {
    case advert(Int)
    case heartbeat
    case boot
  }

  func play(seed: UInt64) -> Outcome {
    var random = SeededGenerator(seed: seed &* 7_919 &+ 17)
    var items: [(time: Double, item: Item)] = []
    var lastSent = Array(repeating: -1.0, count: tags)
    for transmitter in 0..<(tags + passersBy) {
      let isTag = transmitter < tags
      let period = isTag ? interval : passerByInterval
      let end = isTag && transmitter < departures.count ? departures[transmitter] : length
      var time = Double.random(in: 0..<period, using: &random)
      var isBad = false
      while time < end {
        if isTag { lastSent[transmitter] = time }
        if meanRun > 1 {
          let leave = 1 / meanRun
          let enter = loss >= 1 ? 1 : leave * loss / (1 - loss)
          isBad = Double.random(in: 0..<1, using: &random) < (isBad ? 1 - leave : enter)
        } else {
          isBad = Double.random(in: 0..<1, using: &random) < loss
        }
        if !isBad, comes(at: time, &random) { items.append((time, .advert(transmitter))) }
        time += period + Double.random(in: 0...0.01, using: &random)
      }
    }
    if let heartbeat {
      var time = Double.random(in: 0..<heartbeat, using: &random)
      while time < length {
        if beats(at: time) { items.append((time, .heartbeat)) }
        time += heartbeat
      }
    }
    for trouble in troubles {
      if case .restarted = trouble.kind { items.append((trouble.to, .boot)) }
    }
    items.sort { $0.time < $1.time }
    return judge(items, lastSent)
  }

  private func comes(at time: Double, _ random: inout SeededGenerator) -> Bool {
    for trouble in troubles where time >= trouble.from && time < trouble.to {
      guard case .congested(let share) = trouble.kind else { return false }
      return Double.random(in: 0..<1, using: &random) < share
    }
    return true
  }

  private func beats(at time: Double) -> Bool {
    for trouble in troubles where time >= trouble.from && time < trouble.to {
      switch trouble.kind {
      case .hung, .congested: return true
      case .dead, .restarted, .lost: return false
      }
    }
    return true
  }

  private func judge(_ items: [(time: Double, item: Item)], _ lastSent: [Double]) -> Outcome {
    let silence: PresencePolicy.Silence =
      switch self.silence {
      case .adaptive: .adaptive
      case .fixed(let seconds): .fixed(.seconds(seconds))
      }
    let regions = (0..<tags).map { tag in
      Region(
        identifier: "\(tag)",
        constraint: .proximity(Timeline.uuid, major: 1, minor: UInt16(tag)),
        presence: PresencePolicy(silence: silence)
      )
    }
    var timeline = Timeline(
      Site(
        applications: [Application(identifier: "gallery", regions: regions, regionLimit: 100)],
        observers: [ObserverEntry(id: Timeline.handset, liveness: liveness)]
      )
    )
    var boot: UInt32 = 1
    var sequence: UInt32 = 0
    var counted: UInt32 = 0
    var offset: UInt32 = 0
    for (time, item) in items {
      // Lost datagrams were numbered: one a second is a gateway's usual way.
      offset = 0
      for trouble in troubles where time >= trouble.to {
        if case .lost = trouble.kind { offset += UInt32(trouble.to - trouble.from) * 4 }
      }
      sequence += 1
      let head = Transmission(bootID: boot, sequence: sequence + offset, uptime: .zero)
      switch item {
      case .boot:
        boot += 1
        counted = 0
        timeline.give(.transmission(Transmission(bootID: boot, sequence: sequence, uptime: .zero)), at: time)
      case .heartbeat:
        timeline.give(.transmission(head), at: time)
        timeline.give(.heartbeat(Heartbeat(advertsHeard: countsAdverts ? counted : nil)), at: time)
        counted = 0
      case .advert(let transmitter):
        counted += 1
        timeline.give(.transmission(head), at: time)
        let address = DeviceAddress(bits: 0xC0_0000_0000 + UInt64(transmitter), kind: .public)
        if transmitter < tags {
          timeline.receive(1, UInt16(transmitter), at: time, address: address)
        } else {
          timeline.advert([0x02, 0x01, 0x06], at: time, address: address)
        }
      }
    }
    timeline.advance(to: length)
    return outcome(timeline.events, lastSent)
  }

  private func outcome(_ events: [Event], _ lastSent: [Double]) -> Outcome {
    var outcome = Outcome()
    var enters: [String: Int] = [:]
    var committed: Set<Int> = []
    for event in events {
      let seconds = (event.decidedAt - Timeline.origin).seconds
      switch event.kind {
      case .observerOffline: outcome.offline += 1
      case .regionEnter:
        enters[event.region, default: 0] += 1
        if enters[event.region, default: 0] > 1 { outcome.secondEnters += 1 }
      case .regionExit:
        guard let tag = Int(event.region), tag < departures.count, seconds > lastSent[tag] else {
          outcome.falseExits += 1
          continue
        }
        if committed.insert(tag).inserted { outcome.delays.append(seconds - lastSent[tag]) }
      default: break
      }
    }
    outcome.omitted = departures.count { $0 < length } - committed.count
    return outcome
  }
}
