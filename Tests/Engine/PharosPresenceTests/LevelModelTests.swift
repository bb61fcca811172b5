import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

/// A slow and obvious model of presence with levels: whole lists of samples, evaluated again for every one of them.
private struct LevelModel {
  struct Sample {
    var time: Double
    var level: Double
  }

  var samples: Int
  var within: Double
  var enter: Double
  var exit: Double
  var dwell: Double
  var silence: Double

  /// How long an exit waits for reports that are held back.
  static let lag = 0.5

  /// The filtered levels, sample by sample.
  static func filtered(_ heard: [Sample]) -> [Double] {
    var filter: KalmanLevel?
    return heard.indices.map { place in
      let sample = heard[place]
      if filter == nil {
        filter = KalmanLevel(first: sample.level)
      } else {
        filter?.add(sample.level, after: sample.time - heard[place - 1].time)
      }
      return filter?.level ?? sample.level
    }
  }

  /// When a beacon that is inside leaves, given all samples since it entered: by level or by silence.
  private func deadline(
    _ heard: [Sample],
    _ levels: [Double],
    entered: Int,
    last: Int
  ) -> (time: Double, isLevel: Bool) {
    let silent = heard[last].time + silence
    let above = (entered...last).last { levels[$0] >= exit } ?? entered
    // Two samples in a row below, and the dwell since the first of them.
    guard last >= above + 2 else { return (silent, false) }
    let below = max(heard[above + 1].time + dwell, heard[above + 2].time)
    return below < silent ? (below, true) : (silent, false)
  }

  /// Enters and exits, each with its time in milliseconds; an exit by level is `L`, one by silence `S`.
  func story(_ heard: [Sample]) -> [String] {
    let levels = LevelModel.filtered(heard)
    var story: [String] = []
    var entered: Int?
    var forgotten = 0
    for place in heard.indices {
      let time = heard[place].time
      if let since = entered {
        let end = deadline(heard, levels, entered: since, last: place - 1)
        if end.time + LevelModel.lag < time {
          story.append((end.isLevel ? "L " : "S ") + LevelModel.text(end.time))
          entered = nil
          forgotten = place
        }
      }
      guard entered == nil else { continue }
      let counted = (forgotten...place).filter { other in
        min(heard[other].level, levels[other]) >= enter
          && time - heard[other].time <= within
      }
      if counted.count >= samples, counted.last == place {
        story.append("E " + LevelModel.text(time))
        entered = place
      }
    }
    if let since = entered {
      let end = deadline(heard, levels, entered: since, last: heard.count - 1)
      story.append((end.isLevel ? "L " : "S ") + LevelModel.text(end.time))
    }
    return story
  }

  static func text(_ seconds: Double) -> String { "\(Int((seconds * 1_000).rounded()))" }
}

@Suite("Levels, dwell and hysteresis against a slow model")
struct LevelModelTests {
  @Test(
    "random levels give the model's enters and exits, each by the rule that the model says",
    arguments: Seeds.drawn(0..<40)
  )
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let enter = Double(Int.random(in: -78 ... -66, using: &random))
    let model = LevelModel(
      samples: Int.random(in: 1...4, using: &random),
      within: Double(Int.random(in: 2...8, using: &random)),
      enter: enter,
      exit: enter - Double(Int.random(in: 2...10, using: &random)),
      dwell: Double(Int.random(in: 0...6, using: &random)),
      silence: Double(Int.random(in: 3...9, using: &random))
    )
    let heard = LevelModelTests.samples(&random)
    let story = LevelModelTests.play(heard, model)
    #expect(story == model.story(heard), "seed \(seed)")
  }

  @Test("the random levels try every rule")
  func richness() {
    var rules: Set<Character> = []
    for seed in UInt64(0)..<10 {
      var random = SeededGenerator(seed: seed)
      let model = LevelModel(samples: 2, within: 4, enter: -72, exit: -78, dwell: 2, silence: 6)
      rules.formUnion(model.story(LevelModelTests.samples(&random)).compactMap(\.first))
    }
    #expect(rules == ["E", "L", "S"])
  }

  /// A level that wanders between loud and weak, heard at uneven times, with pauses.
  private static func samples(_ random: inout SeededGenerator) -> [LevelModel.Sample] {
    var (time, level) = (0.0, -75.0)
    return (0..<250).map { _ in
      let isPause = Int.random(in: 0..<25, using: &random) == 0
      time +=
        isPause ? Double.random(in: 2...14, using: &random) : Double.random(in: 0.05...1.2, using: &random)
      time = (time * 1_000).rounded() / 1_000
      level = min(max(level + Double.random(in: -5...5, using: &random), -92), -55)
      return LevelModel.Sample(time: time, level: level.rounded())
    }
  }

  private static func play(_ heard: [LevelModel.Sample], _ model: LevelModel) -> [String] {
    var region = Timeline.region()
    region.presence = PresencePolicy(
      enterSamples: model.samples,
      enterWithin: .seconds(model.within),
      enterRSSI: model.enter,
      exitRSSI: model.exit,
      exitDwell: .seconds(model.dwell),
      silence: .fixed(.seconds(model.silence))
    )
    let site = Timeline.site([region])
    var timeline = Timeline(site)
    timeline.engine = MonitoringEngine(site: site)
    for sample in heard { timeline.receive(at: sample.time, rssi: Int8(sample.level)) }
    timeline.advance(to: (heard.last?.time ?? 0) + 100)
    return timeline.events.compactMap { event in
      guard case .region(let transition) = event.detail else { return nil }
      let time = LevelModel.text((event.time - Timeline.origin).seconds)
      switch event.kind {
      case .regionEnter: return "E " + time
      case .regionExit: return (transition.evidence.rule == .level ? "L " : "S ") + time
      default: return nil
      }
    }
  }
}
