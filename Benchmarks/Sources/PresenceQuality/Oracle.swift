import Foundation
import PharosModel
import PharosSimulatedWorlds
import PharosSimulation

/// The rule that knows the truth of a scene and applies the shortest safe silence: nothing that learns can be faster.
///
/// It knows the interval T, the chain of losses and the budget. Of λ runs of losses a day, λ·cᵐ are longer than m adverts if
/// a run goes on with the chance c, so the silence is (1 + m)·T with the smallest m for which that is within the budget, and
/// never below the floor of the policy.
enum Oracle {
  /// The greatest delay that is added to each interval.
  ///
  /// - Units: seconds. Bluetooth Core Specification 5.4, Vol 6, Part B, 4.4.2.2.
  private static let advDelay = 0.01
  /// The longest silence that the default policy allows, in seconds.
  static let ceiling = PresencePolicy().silenceCeiling.seconds

  /// The silence that it allows, in seconds, or nil if the chain of losses is not all that matters in a drill.
  static func silence(of drill: Drill, upload: TimeSpan? = nil, falseExitsPerDay budget: Double) -> Double? {
    guard drill.motion == .still, case .steady(let sent) = drill.interval else { return nil }
    // Each upload holds an advert, or the rule waits for losses in the longer of both.
    let interval = max(sent, upload ?? .zero)
    let loss = drill.loss
    var misses = 0.0
    if loss.share > 0 {
      let goesOn = loss.meanRun.map { 1 - 1 / max(1, $0) } ?? loss.share
      let runs = 86_400 / interval.seconds * loss.share * (1 - goesOn)
      misses = max(1, (log(runs / budget) / -log(goesOn)).rounded(.up))
    }
    let floor = PresencePolicy(falseExitsPerDay: budget).silenceFloor.seconds
    return max((1 + misses) * (interval.seconds + advDelay), floor)
  }
}

extension PresenceScene {
  /// The silence that the oracle of the default budget allows, in seconds, if there is one.
  var oracleSilence: Double? {
    section == .tags
      ? Oracle.silence(of: drill, upload: upload, falseExitsPerDay: PresenceRun.budgets[0]) : nil
  }
}

extension Targets {
  /// The median delay over that of the oracle, where nothing but losses matters, with losses and without.
  var ratiosToOracle: [TargetResult] {
    [
      ratioToOracle("with loss", tags.filter { $0.scene.drill.loss.share > 0 }, maximum: 1.25),
      ratioToOracle("without loss", tags.filter { $0.scene.drill.loss.share == 0 }, maximum: 3),
    ]
  }

  private func ratioToOracle(_ name: String, _ scenes: [Scene], maximum: Double) -> TargetResult {
    let name = "still tags \(name): exit p50 / that of the oracle"
    let limit = "≤ \(maximum)"
    let ratios = scenes.compactMap { scene -> (ratio: Double, name: String)? in
      guard let span = scene.scene.oracleSilence, span <= Oracle.ceiling,
        let own = Statistics.quantile(0.5, of: scene.result.rows.first?.tally.exitDelays ?? []),
        let best = scene.result.gaps.delay(of: span, quantile: 0.5), best > 0
      else { return nil }
      return (own / best, scene.scene.name)
    }
    guard let minimum = ratios.min(by: { $0.ratio < $1.ratio }),
      let worst = ratios.max(by: { $0.ratio < $1.ratio })
    else { return Targets.silent(name, limit) }
    let over = ratios.filter { $0.ratio > maximum }
    return TargetResult(
      name: name,
      limit: limit,
      figure:
        "\(TableWriter.number(minimum.ratio, 2)) to \(TableWriter.number(worst.ratio, 2)) in \(ratios.count) scenes",
      isMet: over.isEmpty,
      miss: over.isEmpty ? "" : "\(over.count) scenes, worst \(worst.name)"
    )
  }
}
