import PharosModel
import PharosSimulatedWorlds
import PharosSimulation

extension Targets {
  /// No rule has both fewer false exits and a shorter median delay, beyond the 95 % intervals of the run.
  var notDominated: TargetResult {
    let name = "rules with fewer false exits and a shorter median delay"
    guard !tags.isEmpty else { return Targets.silent(name, "none") }
    var better: [String] = []
    for scene in tags {
      guard let own = scene.result.rows.first?.tally else { continue }
      let rate = Statistics.countInterval(own.falseExits)
      guard let median = Statistics.medianInterval(of: own.exitDelays) else { continue }
      for row in scene.result.rows where !row.policy.hasPrefix("Pharos") {
        guard let their = Statistics.medianInterval(of: row.tally.exitDelays) else { continue }
        let count = Statistics.countInterval(row.tally.falseExits)
        if count.upperBound < rate.lowerBound, their.upperBound < median.lowerBound {
          better.append("\(row.policy) at \(scene.scene.name)")
        }
      }
      for span in GapTally.sweep {
        guard let made = scene.result.gaps.falseExits(of: span),
          let their = Statistics.medianInterval(of: scene.result.gaps.delays(of: span))
        else { continue }
        if Statistics.countInterval(made).upperBound < rate.lowerBound, their.upperBound < median.lowerBound {
          better.append("fixed \(Int(span)) s at \(scene.scene.name)")
        }
      }
    }
    return TargetResult(
      name: name,
      limit: "none",
      figure: better.isEmpty ? "none in \(tags.count) scenes" : "\(better.count)",
      isMet: better.isEmpty,
      miss: better.first ?? ""
    )
  }

  /// Our delay over that of fixed time-outs: the best of each scene, and the one that is safe in all.
  var ratios: [TargetResult] { [ratioToBest, ratioToSafe] }

  private var ratioToBest: TargetResult {
    let name = "delay / that of the scene's shortest fixed time-out as safe, median"
    let limit = "≤ 1.0"
    var swept: [Double] = []
    var exact: [Double] = []
    for scene in judged {
      guard let own = scene.result.rows.first?.tally, let delay = Statistics.quantile(0.5, of: own.exitDelays)
      else { continue }
      let gaps = scene.result.gaps
      // Where even the longest one of the sweep is not as safe, the one that is lies beyond it.
      let spans = (gaps.shortest(within: own.falseExits), gaps.exactlyShortest(within: own.falseExits))
      if let span = spans.0 ?? spans.1, let fixed = gaps.delay(of: span, quantile: 0.5), fixed > 0 {
        swept.append(delay / fixed)
      }
      if let span = spans.1, let fixed = gaps.delay(of: span, quantile: 0.5), fixed > 0 {
        exact.append(delay / fixed)
      }
    }
    guard let median = Statistics.median(of: swept), let hindsight = Statistics.median(of: exact) else {
      return Targets.silent(name, limit)
    }
    return TargetResult(
      name: name,
      limit: limit,
      figure:
        "\(TableWriter.number(median, 2)) (to the hundredth of a second: \(TableWriter.number(hindsight, 2)))",
      isMet: median <= 1,
      miss: median <= 1 ? "" : "by \(TableWriter.number(median - 1, 2))"
    )
  }

  private var ratioToSafe: TargetResult {
    let name = "delay / that of the one fixed time-out safe in all scenes, median"
    let limit = "≤ 0.3"
    let spans = judged.map { scene in
      scene.result.gaps.exactlyShortest(within: Int(Targets.allowedRate * scene.result.subjectDays))
    }
    guard !spans.isEmpty, !spans.contains(nil), let safe = spans.compactMap({ $0 }).max() else {
      return Targets.silent(name, limit)
    }
    let ratios = judged.compactMap { scene -> Double? in
      guard let delay = Statistics.quantile(0.5, of: scene.result.rows.first?.tally.exitDelays ?? []),
        let fixed = scene.result.gaps.delay(of: safe, quantile: 0.5)
      else { return nil }
      return delay / fixed
    }
    guard let median = Statistics.median(of: ratios) else { return Targets.silent(name, limit) }
    return TargetResult(
      name: name,
      limit: limit,
      figure: "\(TableWriter.number(median, 2)) (safe is \(TableWriter.seconds(safe)) s)",
      isMet: median <= 0.3,
      miss: median <= 0.3 ? "" : "by \(TableWriter.number(median - 0.3, 2))"
    )
  }
}
