import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

/// A slow and obvious model of presence with fixed silence: whole lists of times, no state, no timers.
enum ReferenceModel {
  struct Heard {
    var time: Double
    var beacon: BeaconID
  }

  /// How long an exit waits for reports that are held back.
  static let lag = 0.5

  /// When each beacon was here, by its own samples alone.
  static func visits(_ times: [Double], samples: Int, within: Double, silence: Double) -> [(Double, Double)] {
    var visits: [(Double, Double)] = []
    var since: Double?
    var counted: [Double] = []
    var last = -Double.infinity
    for time in times {
      if let start = since, time - last > silence + lag {
        visits.append((start, last + silence))
        since = nil
        counted = []
      }
      if since == nil {
        counted.append(time)
        let recent = counted.filter { time - $0 <= within }.count
        if recent >= samples { since = time }
      }
      last = time
    }
    if let since { visits.append((since, last + silence)) }
    return visits
  }

  /// Enters and exits of a region: the union of the visits of its beacons, each lasting until its exit is decided.
  static func story(
    _ heard: [Heard],
    _ region: Region,
    samples: Int,
    within: Double,
    silence: Double
  ) -> [String] {
    var visits: [(Double, Double)] = []
    for beacon in Set(heard.map(\.beacon)) where region.constraint?.matches(beacon) == true {
      let times = heard.filter { $0.beacon == beacon }.map(\.time)
      visits += ReferenceModel.visits(times, samples: samples, within: within, silence: silence)
    }
    var merged: [(Double, Double)] = []
    for visit in visits.sorted(by: { $0.0 < $1.0 }) {
      if let last = merged.last, visit.0 <= last.1 + lag {
        merged[merged.count - 1].1 = max(last.1, visit.1)
      } else {
        merged.append(visit)
      }
    }
    return merged.flatMap { ["E \(round($0.0))", "X \(round($0.1))"] }
  }

  static func round(_ seconds: Double) -> Int { Int((seconds * 1_000).rounded()) }
}

@Suite("The engine against a slow model")
struct ReferenceModelTests {
  @Test("random traces give the model's enters and exits", arguments: Seeds.drawn(0..<40))
  func random(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let samples = Int.random(in: 1...4, using: &generator)
    let within = Double(Int.random(in: 2...9, using: &generator))
    let silence = Double(Int.random(in: 2...8, using: &generator))
    let policy = PresencePolicy(
      enterSamples: samples,
      enterWithin: .seconds(within),
      silence: .fixed(.seconds(silence))
    )
    var regions = [
      Timeline.region("all"), Timeline.region("one", major: 1), Timeline.region("two", major: 1, minor: 2),
    ]
    for index in regions.indices { regions[index].presence = policy }
    var timeline = Timeline(Timeline.site(regions))
    var heard: [ReferenceModel.Heard] = []
    var time = 0.0
    for _ in 0..<300 {
      time += Double.random(in: 0.03...(silence * 0.8), using: &generator)
      time = (time * 1_000).rounded() / 1_000
      let major = UInt16.random(in: 1...2, using: &generator)
      let minor = UInt16.random(in: 1...3, using: &generator)
      heard.append(.init(time: time, beacon: Timeline.beacon(major, minor)))
      timeline.receive(major, minor, at: time)
    }
    timeline.advance(to: time + 1_000)
    for region in regions {
      let expected = ReferenceModel.story(heard, region, samples: samples, within: within, silence: silence)
      let story = timeline.events.compactMap { event -> String? in
        guard event.region == region.identifier else { return nil }
        let at = ReferenceModel.round((event.time - Timeline.origin).seconds)
        return event.kind == .regionEnter ? "E \(at)" : event.kind == .regionExit ? "X \(at)" : nil
      }
      #expect(story == expected, "seed \(seed), region \(region.identifier)")
    }
  }

  @Test("all patterns of ten seconds give the model's enters and exits", arguments: [1, 2, 3])
  func exhaustive(samples: Int) {
    var region = Timeline.region()
    region.presence = PresencePolicy(
      enterSamples: samples,
      enterWithin: .seconds(3),
      silence: .fixed(.seconds(2))
    )
    for pattern in 0..<1_024 {
      var timeline = Timeline(Timeline.site([region]))
      var heard: [ReferenceModel.Heard] = []
      for second in 0..<10 where pattern >> second & 1 == 1 {
        heard.append(.init(time: Double(second), beacon: Timeline.beacon()))
        timeline.receive(at: Double(second))
      }
      timeline.advance(to: 30)
      let story = timeline.story().map { line in
        let second = line.split(separator: " ").last.flatMap { Double($0) } ?? -1
        return (line.hasPrefix("regionEnter") ? "E " : "X ") + "\(ReferenceModel.round(second))"
      }
      let expected = ReferenceModel.story(heard, region, samples: samples, within: 3, silence: 2)
      #expect(story == expected, "pattern \(pattern)")
    }
  }
}
