import Foundation
import PharosModel

/// False exits and delays on real walks: fixed time-outs and adaptive silence, side by side.
struct RealGaps: Sendable {
  /// What one rule did.
  struct Row: Sendable {
    /// The rule.
    var policy: String
    /// Exits while near, followed by the beacon within the same stretch.
    var falseExits: Int
    /// Exits while near that no further advert refutes.
    var doubtfulExits: Int
    /// The mean time from the last advert to the exit.
    ///
    /// - Units: seconds.
    var meanDelay: Double
    /// How long walkers were near a beacon and heard it.
    ///
    /// - Units: minutes, summed over beacons.
    var minutes: Double
    /// False exits that the fixed time-out with the same mean delay makes, or nil for a fixed one.
    var fixedFalseExits: Double?

    /// False exits a minute.
    var rate: Double { falseExits == 0 ? 0 : Double(falseExits) / minutes }
    /// Our false exits by those of the fixed time-out with the same mean delay, or nil where that one makes none.
    var ratio: Double? { fixedFalseExits.flatMap { $0 > 0 ? Double(falseExits) / $0 : nil } }
  }

  /// The rows of one part of the data.
  struct Part: Sendable {
    /// What was walked, for a heading.
    var name: String
    /// The rules.
    var rows: [Row]
  }

  /// The parts: the walks that the target is about first.
  var parts: [Part]
  /// What is needed to read the figures.
  var notes: [String]

  /// The share of the fixed time-out's false exits that is allowed.
  static let limit = 1.0 / 3
  /// The budgets that are tried, in false exits a day; the first is the default.
  static let budgets = [0.01, 1, 10, 100, 1_000, 10_000]
  /// The fixed time-outs in seconds: close together where false exits are many.
  static let timeouts: [Double] = [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 30]
  /// Those that are printed.
  static let shown: Set<Double> = [2, 3, 5, 7, 10, 14, 20, 30]
}

extension RealGaps.Part {
  /// Plays all rules to the stretches of some walks.
  init(_ name: String, _ walks: [RealWalk], _ stretches: [RealStretch]) {
    let minutes = stretches.reduce(0) { $0 + $1.minutes }
    var curve: [(delay: Double, falseExits: Int)] = []
    var fixed: [RealGaps.Row] = []
    for timeout in RealGaps.timeouts {
      let trial = RealGapsTrial(.fixed(.seconds(timeout)), budget: 1, walks, stretches)
      curve.append((timeout, trial.falseExits))
      guard RealGaps.shown.contains(timeout) else { continue }
      fixed.append(RealGaps.Row("fixed \(Int(timeout)) s", trial, minutes))
    }
    let ours = RealGaps.budgets.map { budget in
      let trial = RealGapsTrial(.adaptive, budget: budget, walks, stretches)
      var row = RealGaps.Row(String(format: "adaptive, %g a day", budget), trial, minutes)
      row.fixedFalseExits = RealGaps.Part.falseExits(at: row.meanDelay, curve)
      return row
    }
    self.init(name: name, rows: ours + fixed)
  }

  /// The false exits of the fixed time-out with a mean delay, by a straight line between those that were played.
  static func falseExits(at delay: Double, _ curve: [(delay: Double, falseExits: Int)]) -> Double {
    guard let after = curve.firstIndex(where: { $0.delay >= delay }) else {
      return Double(curve.last?.falseExits ?? 0)
    }
    guard after > 0 else { return Double(curve[0].falseExits) }
    let (low, high) = (curve[after - 1], curve[after])
    let share = (delay - low.delay) / (high.delay - low.delay)
    return Double(low.falseExits) + share * Double(high.falseExits - low.falseExits)
  }
}

extension RealGaps.Row {
  init(_ policy: String, _ trial: RealGapsTrial, _ minutes: Double) {
    self.init(
      policy: policy,
      falseExits: trial.falseExits,
      doubtfulExits: trial.doubtfulExits,
      meanDelay: trial.meanDelay,
      minutes: minutes
    )
  }
}

/// Plays the real walks, or gives nil and says on standard error why that cannot be.
///
/// The beacons are placed by the survey's walks alone; the target is judged on the walks of devtest. The survey's own
/// walks, each with the beacons placed without it, are five times as many and only shown.
///
/// - Parameters:
///   - directory: the folder that holds `survey` and `devtest`.
///   - isQuick: whether to leave the survey's own walks out.
/// - Returns: what all rules did, or nil without the data.
func realGaps(directory: String, isQuick: Bool) -> RealGaps? {
  let survey: [RealWalk]
  let devtest: [RealWalk]
  do {
    survey = try RealWalk.all(of: "survey", in: directory)
    devtest = try RealWalk.all(of: "devtest", in: directory)
  } catch {
    let reason =
      "real gaps are skipped: the indoor traces in \(directory) cannot be read (\(error)); see --indoor\n"
    FileHandle.standardError.write(Data(reason.utf8))
    return nil
  }
  let map = RealGapsMap(of: survey)
  let places = map.places()
  let errors = map.errors()
  let stretches = devtest.indices.flatMap { RealStretch.all(of: devtest[$0], $0, places) }
  var parts = [RealGaps.Part("devtest: \(devtest.count) walks", devtest, stretches)]
  if !isQuick {
    let own = survey.indices.flatMap { index in
      RealStretch.all(of: survey[index], index, map.places(without: index, near: survey[index]))
    }
    parts.append(RealGaps.Part("survey: \(survey.count) walks, each left out of its map", survey, own))
  }
  let error = errors.isEmpty ? 0 : errors[errors.count / 2]
  let worse = errors.isEmpty ? 0 : errors[errors.count * 9 / 10]
  let notes = [
    String(
      format: "%d of 337 beacons placed; half the distance between places from two halves of the walks: "
        + "median %.1f m, p90 %.1f m.",
      places.count,
      error,
      worse
    ),
    "A walker is taken to go straight and evenly from one waypoint to the next.",
    "A false exit: decided while the walker is within 10 m, and the beacon is heard again before the walker leaves.",
    "Doubtful: decided while the walker is within 10 m, but never heard again: absent, or the map is wrong.",
    "Delay: from the last advert within 10 m to the exit, the beacon being taken away then. All others are "
      + "heard on; when the walk ends they come again from its beginning.",
    "Every walk begins with an engine that knows nothing; both kinds of rules enter alike.",
  ]
  return RealGaps(parts: parts, notes: notes)
}
