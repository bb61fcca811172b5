import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

/// Gateways that collect what they hear and send it now and then, of every period, with ages or with times of their own clock.
@Suite("Uploads")
struct UploadTests {
  /// What is drawn of a gateway and its two tags.
  private struct Gateway {
    var period: Double
    var interval: Double
    /// Nil if it gives ages.
    var clock: Double?
    /// The time at which its clock is set back, and by how much.
    var step: (at: Double, by: Double)?

    init(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      period = .random(in: 2...120, using: &random)
      interval = .random(in: 0.5...min(5, period / 2), using: &random)
      guard Bool.random(using: &random) else { return }
      clock = .random(in: -1e6...1e6, using: &random)
      if Bool.random(using: &random) {
        step = (.random(in: 300...600, using: &random), .random(in: 90...3_600, using: &random))
        period = min(period, 60)
      }
    }

    func timing(of heard: Double, sent: Double) -> ReportTiming {
      guard let clock else { return .age(.seconds(sent - heard)) }
      let back = step.map { heard >= $0.at ? $0.by : 0 } ?? 0
      return .sent(Timeline.at(heard + clock - back))
    }

    /// The uploads up to a time, of two tags of which the first leaves.
    func uploads(
      leaves: Double = .infinity,
      end: Double
    ) -> [(sent: Double, heard: [(tag: UInt16, timing: ReportTiming)])] {
      var next = [0.1, 0.3]
      return (1...Int(end / period)).map { upload in
        let sent = Double(upload) * period
        var heard: [(tag: UInt16, timing: ReportTiming)] = []
        while let first = next.min(), first < sent, let tag = next.firstIndex(of: first) {
          if tag > 0 || first < leaves { heard.append((UInt16(tag), timing(of: first, sent: sent))) }
          next[tag] += interval
        }
        return (sent, heard)
      }
    }

    func play(_ timeline: inout Timeline, leaves: Double = .infinity, end: Double) {
      for (sent, heard) in uploads(leaves: leaves, end: end) {
        timeline.advance(to: sent - 0.001)
        for (tag, timing) in heard { timeline.receive(1, tag, at: sent, timing: timing) }
      }
      timeline.advance(to: end)
    }
  }

  @Test(
    "an upload is a witness for the whole time since the one before",
    arguments: Seeds.drawn(0..<200, first: 40)
  )
  func uploads(seed: Int) {
    let gateway = Gateway(seed: UInt64(seed))
    let region = Region(identifier: "tags", constraint: .proximity(Timeline.uuid))
    var timeline = Timeline(Timeline.site([region], liveness: .auto))
    gateway.play(&timeline, end: 1_200)
    let from = Timeline.at(3 * gateway.period)
    let offline = timeline.events.filter { $0.kind == .observerOffline && $0.decidedAt > from }
    #expect(offline.isEmpty, "\(gateway)")
    let enters = timeline.events.filter { $0.kind == .regionEnter }
    #expect(enters.count == 1, "\(gateway)")
    #expect(enters.first.map { $0.decidedAt <= from + .seconds(1) } == true, "\(gateway)")
    #expect(!timeline.events.contains { $0.kind == .regionExit }, "\(gateway)")
  }

  @Test(
    "tags enter with the second upload, and the one that leaves exits once",
    arguments: Seeds.drawn(0..<200, first: 40)
  )
  func departure(seed: Int) {
    let gateway = Gateway(seed: UInt64(seed))
    let regions = (0...1).map { (tag: UInt16) in
      Region(identifier: "tag \(tag)", constraint: .proximity(Timeline.uuid, major: 1, minor: tag))
    }
    var timeline = Timeline(Timeline.site(regions, liveness: .auto))
    gateway.play(&timeline, leaves: 1_200, end: 1_200 + 3 * gateway.period + 120)
    let enters = timeline.events.filter { $0.kind == .regionEnter }
    #expect(enters.count == 2, "\(gateway)")
    #expect(enters.allSatisfy { $0.decidedAt <= Timeline.at(2 * gateway.period + 1) }, "\(gateway)")
    let exits = timeline.events.filter { $0.kind == .regionExit }
    #expect(exits.count == 1, "\(gateway)")
  }

  /// The order in which a gateway lists what it heard since the upload before.
  private enum Order: CaseIterable {
    case newestFirst
    case byTag
    case shuffled

    func sorted(
      _ heard: [(time: Double, tag: UInt16)],
      _ random: inout SeededGenerator
    ) -> [(time: Double, tag: UInt16)] {
      switch self {
      case .newestFirst: heard.reversed()
      case .byTag: heard.sorted { ($0.tag, $0.time) < ($1.tag, $1.time) }
      case .shuffled: heard.shuffled(using: &random)
      }
    }
  }

  @Test(
    "the datagrams of an upload may come in any order",
    arguments: Seeds.drawn(0..<60),
    Order.allCases
  )
  private func order(seed: Int, order: Order) {
    var random = SeededGenerator(seed: UInt64(seed))
    let period = Double.random(in: 2...300, using: &random)
    let interval = [0.1, 0.5, 1, 3][seed % 4]
    let size = Int.random(in: 1...30, using: &random)
    let heartbeat = Bool.random(using: &random) ? Double.random(in: 10...60, using: &random) : .infinity
    let regions = (0...1).map { (tag: UInt16) in
      Region(identifier: "tag \(tag)", constraint: .proximity(Timeline.uuid, major: 1, minor: tag))
    }
    var timeline = Timeline(Timeline.site(regions, liveness: .auto))
    let leaves = 8 * period
    let end = leaves + 3 * period + 120
    var next = [0.02, 0.05]
    var beat = heartbeat
    for upload in 1...Int(end / period) {
      let sent = Double(upload) * period
      while beat < sent {
        timeline.give(.heartbeat(Heartbeat()), at: beat)
        beat += heartbeat
      }
      var heard: [(time: Double, tag: UInt16)] = []
      while let first = next.min(), first < sent, let tag = next.firstIndex(of: first) {
        if tag > 0 || first < leaves { heard.append((first, UInt16(tag))) }
        next[tag] += interval
      }
      let sorted = order.sorted(heard, &random)
      let pause = min(0.1, period * 0.02) / Double(sorted.count / size + 1)
      for (place, advert) in sorted.enumerated() {
        let time = sent + Double(place / size) * pause
        timeline.receive(1, advert.tag, at: time, timing: .age(.seconds(time - advert.time)))
      }
    }
    timeline.advance(to: end)
    let enters = timeline.events.filter { $0.kind == .regionEnter }
    #expect(enters.count == 2, "\(timeline.story())")
    #expect(enters.allSatisfy { $0.decidedAt <= Timeline.at(3 * period + 1) }, "\(timeline.story())")
    let exits = timeline.events.filter { $0.kind == .regionExit }
    #expect(exits.count == 1, "\(timeline.story())")
    #expect(exits.allSatisfy { $0.decidedAt >= Timeline.at(leaves) }, "\(timeline.story())")
    #expect(exits.allSatisfy { $0.decidedAt <= Timeline.at(leaves + period + 75) }, "\(timeline.story())")
  }

  @Test(
    "an upload without times is one look, however many datagrams it takes",
    arguments: Seeds.drawn(0..<200, first: 60)
  )
  func withoutTimes(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let period = Double.random(in: 5...120, using: &random)
    let interval = [0.1, 0.5, 1][seed % 3]
    let tags = Int.random(in: 1...4, using: &random)
    let size = Int.random(in: 2 * tags + 1...30, using: &random)
    let regions = (0..<tags).map { tag in
      Region(identifier: "tag \(tag)", constraint: .proximity(Timeline.uuid, major: 1, minor: UInt16(tag)))
    }
    var timeline = Timeline(Timeline.site(regions, liveness: .auto))
    let leaves = 12 * period
    for upload in 1...20 {
      let sent = Double(upload) * period
      let here = sent <= leaves ? tags : tags - 1
      let count = here * Int((period / interval).rounded(.down))
      let pause = 0.9 / Double(count / size + 1)
      for place in 0..<count {
        timeline.receive(1, UInt16(place % here + tags - here), at: sent + Double(place / size) * pause)
      }
    }
    timeline.advance(to: 20 * period + 1)
    let story = "\(period) s, \(interval) s, \(tags) tags, \(size) a datagram\n\(timeline.story())"
    let enters = timeline.events.filter { $0.kind == .regionEnter }
    #expect(enters.count == tags, "\(story)")
    #expect(enters.allSatisfy { $0.decidedAt <= Timeline.at(3 * period + 1) }, "\(story)")
    let exits = timeline.events.filter { $0.kind == .regionExit }
    #expect(exits.allSatisfy { $0.decidedAt >= Timeline.at(leaves) }, "\(story)")
    // Without times, the one that left is known by the uploads without it: as many as there may be in five minutes.
    #expect(tags == 1 || exits.count == 1 || 8 * period < 330, "\(story)")
    #expect(exits.count <= 1, "\(story)")
  }

  @Test(
    "an upload decides the same in one batch and in several that are received at once",
    arguments: Seeds.drawn(0..<60)
  )
  func split(seed: Int) {
    let gateway = Gateway(seed: UInt64(seed))
    var random = SeededGenerator(seed: UInt64(seed) &+ 1)
    let observer = [Timeline.handset, .name("van")][seed % 2]
    let loss = seed % 3 == 0 ? 0 : 0.05
    let region = Region(identifier: "tags", constraint: .proximity(Timeline.uuid))
    let tags = Region(
      identifier: "tag",
      constraint: .proximity(Timeline.uuid),
      subject: .beacon(observers: nil)
    )
    var whole = MonitoringEngine(site: Timeline.site([region, tags], liveness: .auto))
    var split = whole
    var outputs = (StageOutput(), StageOutput())
    var sequence: UInt32 = 0
    var decided = 0
    for (sent, heard) in gateway.uploads(leaves: 600, end: 1_200) {
      let time = Timeline.at(sent)
      var (batch, part) = (ReportBatch(), ReportBatch())
      func receive(_ body: ReportBody, _ timing: ReportTiming = .received) {
        let index = batch.index(of: observer)
        batch.append(Report(observer: index, received: time, timing: timing, body: body))
      }
      // Numbered datagrams of four adverts each, some of which get lost.
      for start in stride(from: 0, to: heard.count, by: 4) {
        sequence += 1
        guard Double.random(in: 0..<1, using: &random) >= loss else { continue }
        receive(.transmission(Transmission(bootID: 1, sequence: sequence, uptime: .zero)))
        for (tag, timing) in heard[start..<min(start + 4, heard.count)] {
          let payload = batch.append(payload: Timeline.iBeacon(1, tag))
          receive(.advert(Advert(address: nil, rssi: RSSI(dBm: -60), payload: payload)), timing)
        }
      }
      for report in batch.reports {
        part.append(report, from: batch)
        guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
        split.ingest(part, into: &outputs.1)
        part.removeAll()
      }
      whole.ingest(batch, into: &outputs.0)
      split.ingest(part, into: &outputs.1)
      #expect(outputs.0.events == outputs.1.events, "\(gateway)")
      #expect(outputs.0.links == outputs.1.links, "\(gateway)")
      #expect(whole.counters == split.counters, "\(gateway)")
      decided += outputs.0.events.count
      outputs.0.removeAll()
      outputs.1.removeAll()
    }
    #expect(decided > 0, "\(gateway)")
    #expect(whole.observers() == split.observers(), "\(gateway)")
  }
}
