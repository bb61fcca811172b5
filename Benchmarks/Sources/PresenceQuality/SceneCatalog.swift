import PharosModel
import PharosSimulatedWorlds
import PharosSimulation

/// The scenes of the table, in the length that a full run or a quick one gives them.
///
/// A sample of the product of intervals, losses and motions: every interval meets every motion, every sort and share of
/// loss is met by several intervals, and the scenes that a target names are all there. The whole product is five times
/// as long and shows nothing else.
struct SceneCatalog: Sendable {
  /// How many days of presence each scene of tags has.
  let subjectDays: Double
  /// Whether it is the short run.
  let isQuick: Bool

  /// The scenes of single tags.
  var tags: [PresenceScene] {
    SceneCatalog.sample.flatMap { interval, cells in
      cells.map { tagScene(SceneCatalog.drill(interval, $0.loss, $0.motion)) }
    } + SceneCatalog.special.map(tagScene) + uploads
  }

  /// Tags behind a gateway that collects adverts and states no ages.
  private var uploads: [PresenceScene] {
    [10, 30, 60].map { seconds in
      var drill = SceneCatalog.drill(.steady(.seconds(5)), .none, .still)
      drill.name += ", uploads every \(seconds) s"
      drill.heartbeat = nil
      var scene = tagScene(drill)
      scene.upload = .seconds(seconds)
      return scene
    }
  }

  /// Groups of tags that leave together, in every liveness mode.
  var groups: [PresenceScene] {
    let modes: [ObserverEntry.Liveness] = [.auto, .heartbeat, .traffic, .assumed]
    return modes.flatMap { mode in
      [1, 2, 5, 10, 20].map { size in
        let drill = Drill(
          name: "group of \(size) leaves, liveness \(mode.rawValue)",
          loss: Drill.Loss(share: 0.3),
          subjects: size,
          length: .minutes(isQuick ? 12 * 60 : 48 * 60),
          stay: .minutes(15)...(.minutes(40)),
          away: .minutes(8)...(.minutes(15)),
          leavesTogether: true,
          passersBy: 2
        )
        let parts = isQuick ? 1 : size == 1 ? 4 : 2
        return PresenceScene(name: drill.name, section: .groups, drill: drill, liveness: mode, parts: parts)
      }
    }
  }

  /// Observers that fall ill.
  var outages: [PresenceScene] {
    Drill.Outage.Kind.allCases.flatMap { kind in
      [TimeSpan.milliseconds(350), .seconds(2)].map { interval in
        let drill = Drill(
          name: "\(SceneCatalog.text(interval)), observer \(kind.rawValue)",
          interval: .steady(interval),
          loss: Drill.Loss(share: 0.3, meanRun: 3),
          subjects: 10,
          length: .minutes(isQuick ? 12 * 60 : 48 * 60),
          stay: .minutes(10)...(.minutes(4 * 60)),
          away: .minutes(20)...(.minutes(60)),
          passersBy: 2,
          outages: [kind]
        )
        return PresenceScene(name: drill.name, section: .outages, drill: drill, parts: isQuick ? 1 : 4)
      }
    }
  }

  /// The scenes of rooms.
  var rooms: [RoomScene] {
    RoomDrill.all.map { drill in
      var drill = drill
      drill.length = .minutes(isQuick ? 20 : 60)
      return RoomScene(drill: drill, parts: isQuick ? 2 : 12)
    }
  }

  private func tagScene(_ drill: Drill) -> PresenceScene {
    var drill = drill
    let parts = isQuick ? 2 : 4
    let share =
      SceneCatalog.mean(drill.stay) / (SceneCatalog.mean(drill.stay) + SceneCatalog.mean(drill.away))
    // An eighth more than asked: stays that the end cuts off do not count, and chance gives less now and then.
    // Of a short stay much is over before the first advert is within range.
    let surplus = drill.motion == .passing ? 1.3 : 1.125
    let days = surplus * subjectDays / Double(parts) / (Double(drill.subjects) * share)
    drill.length = .seconds(days * 86_400)
    return PresenceScene(name: drill.name, section: .tags, drill: drill, parts: parts)
  }

  /// The mean of a length drawn so that each tenfold length is as likely as the next, in seconds.
  private static func mean(_ range: ClosedRange<TimeSpan>) -> Double {
    let (low, high) = (range.lowerBound.seconds, range.upperBound.seconds)
    return high > low ? (high - low) / RadioMath.naturalLog(high / low) : low
  }
}

extension SceneCatalog {
  /// One cell of the sample.
  private typealias Cell = (loss: Drill.Loss, motion: Drill.Motion)

  private static func single(_ percent: Int, _ motion: Drill.Motion) -> Cell {
    (Drill.Loss(share: Double(percent) / 100), motion)
  }

  private static func runs(of length: Int, _ percent: Int, _ motion: Drill.Motion) -> Cell {
    (Drill.Loss(share: Double(percent) / 100, meanRun: Double(length)), motion)
  }

  private static let sample: [(Drill.Interval, [Cell])] = [
    (
      .steady(.milliseconds(100)),
      [
        single(0, .still), single(50, .still), runs(of: 3, 50, .still), single(30, .walking),
        runs(of: 3, 30, .shadowed), single(10, .passing), runs(of: 8, 50, .walking), runs(of: 3, 70, .still),
      ]
    ),
    (
      .steady(.milliseconds(350)),
      [
        single(30, .still), runs(of: 8, 30, .still), single(0, .walking), runs(of: 3, 50, .walking),
        single(50, .shadowed), runs(of: 8, 70, .shadowed), runs(of: 3, 30, .passing),
      ]
    ),
    (
      .steady(.seconds(1)),
      [
        single(0, .still), single(30, .still), runs(of: 3, 30, .still), runs(of: 8, 50, .still),
        single(70, .still), single(30, .walking), runs(of: 3, 30, .walking), runs(of: 3, 10, .shadowed),
        single(50, .shadowed), single(30, .passing), runs(of: 3, 50, .passing),
      ]
    ),
    (
      .steady(.seconds(2)),
      [
        single(10, .still), runs(of: 3, 50, .still), runs(of: 3, 70, .still), single(50, .walking),
        runs(of: 8, 30, .walking), runs(of: 3, 30, .shadowed), single(0, .passing), single(50, .passing),
      ]
    ),
    (
      .steady(.seconds(5)),
      [
        single(0, .still), single(30, .still), runs(of: 3, 10, .walking), single(70, .walking),
        single(10, .shadowed), runs(of: 8, 50, .shadowed), runs(of: 3, 30, .passing),
      ]
    ),
    (
      .steady(.seconds(10)),
      [
        single(50, .still), runs(of: 3, 50, .still), runs(of: 8, 30, .still), single(70, .still),
        single(0, .walking), single(30, .walking), runs(of: 3, 30, .shadowed), single(10, .passing),
      ]
    ),
    (.steady(.seconds(31)), [single(0, .still), single(30, .still)]),
    (.steady(.seconds(45)), [single(0, .still), single(30, .still)]),
    (.steady(.seconds(60)), [single(0, .still), single(30, .still)]),
    (.steady(.seconds(120)), [single(0, .still), single(30, .still)]),
    (
      .triggered(moving: .milliseconds(100), still: .seconds(10)),
      [single(10, .still), single(30, .walking), runs(of: 3, 50, .shadowed)]
    ),
  ]

  /// Scenes beside the sample: noise that changes slowly, and spikes.
  private static let special: [Drill] = {
    let slow = Drill.Noise(slow: 5, time: .seconds(60), fast: 2)
    var restless = drill(.steady(.seconds(1)), Drill.Loss(share: 0.3), .still)
    restless.name += ", slow noise of 5 dB"
    restless.noise = slow
    var restlessRuns = drill(.steady(.milliseconds(350)), Drill.Loss(share: 0.3, meanRun: 3), .still)
    restlessRuns.name += ", slow noise of 5 dB"
    restlessRuns.noise = slow
    var spiked = drill(.steady(.seconds(1)), Drill.Loss(share: 0.3), .still)
    spiked.name += ", 6 spikes an hour"
    spiked.spikesPerHour = 6
    var quickSpiked = drill(.steady(.milliseconds(350)), Drill.Loss(share: 0.1), .shadowed)
    quickSpiked.name += ", 6 spikes an hour"
    quickSpiked.spikesPerHour = 6
    return [restless, restlessRuns, spiked, quickSpiked]
  }()

  private static func drill(
    _ interval: Drill.Interval,
    _ loss: Drill.Loss,
    _ motion: Drill.Motion
  ) -> Drill {
    var drill = Drill(
      name: "\(text(interval)), \(text(loss)), \(motion.rawValue)",
      interval: interval,
      loss: loss,
      motion: motion
    )
    if motion == .passing {
      drill.subjects = 40
      drill.stay = .seconds(20)...(.minutes(3))
      drill.away = .minutes(8)...(.minutes(30))
    }
    return drill
  }

  private static func text(_ interval: Drill.Interval) -> String {
    switch interval {
    case .steady(let span): text(span)
    case .triggered(let moving, let still): "\(text(moving)) moved/\(text(still)) at rest"
    }
  }

  static func text(_ span: TimeSpan) -> String {
    span.seconds < 1 ? "\(Int(span.milliseconds)) ms" : "\(Int(span.seconds)) s"
  }

  private static func text(_ loss: Drill.Loss) -> String {
    guard loss.share > 0 else { return "no loss" }
    let percent = "\(Int((loss.share * 100).rounded())) % lost"
    guard let run = loss.meanRun else { return percent }
    return "\(percent) in runs of \(Int(run))"
  }
}
