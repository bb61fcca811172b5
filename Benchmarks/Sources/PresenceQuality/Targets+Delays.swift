import PharosModel
import PharosSimulatedWorlds
import PharosSimulation

extension Targets {
  /// The targets on exit delays by interval and loss.
  var exitDelays: [TargetResult] {
    let steady = judged.filter { $0.scene.drill.outages.isEmpty }
    let fast = steady.filter { $0.scene.drill.interval == .steady(.milliseconds(100)) }
    let second = steady.filter { scene in
      scene.scene.drill.interval == .steady(.seconds(1)) && scene.scene.drill.loss.share == 0.3
        && scene.scene.drill.noise == nil && scene.scene.drill.spikesPerHour == 0
    }
    let passing = fast.filter { $0.scene.drill.motion == .passing }
    let still = second.filter { $0.scene.drill.motion == .still }
    let walking = second.filter { $0.scene.drill.motion == .walking }
    return [
      delay("exit at 100 ms, independent loss", fast.filter(Targets.isIndependent), p50: 4, p95: 6),
      delay(
        "exit at 100 ms, runs of 3 lost",
        fast.filter { $0.scene.drill.loss.meanRun == 3 },
        p50: 9,
        p95: 14
      ),
      delay("exit at 1 s, 30 % independent loss", still.filter(Targets.isIndependent), p50: 15, p95: 20),
      delay(
        "exit at 1 s, 30 % in runs of 3",
        still.filter { $0.scene.drill.loss.meanRun == 3 },
        p50: 38,
        p95: 50
      ),
      delay(
        "exit at 1 s, 30 %, after the level fell",
        walking.filter(Targets.isIndependent),
        p50: 10,
        p95: nil
      ),
      delay(
        "exit at 1 s, 30 % in runs of 3, after the level fell",
        walking.filter { $0.scene.drill.loss.meanRun == 3 },
        p50: 20,
        p95: nil
      ),
      delay("exit at 100 ms, passing by", passing, p50: 26, p95: 45),
    ]
  }

  /// At 10 s and half of the adverts lost in runs, exits come within the ceiling and the budget is kept.
  var slowest: TargetResult {
    let name = "exit at 10 s, 50 % in runs of 3: longest delay, false exits a day"
    let limit = "≤ 300 s and \(Int(Targets.reportDelay)) s to be reported, ≤ \(Targets.allowedRate)"
    let scene = judged.first {
      $0.scene.drill.interval == .steady(.seconds(10)) && $0.scene.drill.loss.meanRun == 3
        && $0.scene.drill.loss.share == 0.5
    }
    guard let scene, let tally = scene.result.rows.first?.tally else { return Targets.silent(name, limit) }
    let maximum = tally.exitDelays.last ?? 0
    let rate = Targets.rate(scene, row: 0)
    let isMet = maximum <= 300 + Targets.reportDelay && rate <= Targets.allowedRate
    let missed =
      maximum > 300 + Targets.reportDelay
      ? "late by \(TableWriter.number(maximum - 300, 1)) s" : "\(tally.falseExits) false exits"
    return TargetResult(
      name: name,
      limit: limit,
      figure: "\(TableWriter.seconds(maximum)) s, \(TableWriter.rate(rate))",
      isMet: isMet,
      miss: isMet ? "" : missed
    )
  }

  /// The time from an exit's deadline to its report: the observer's lag, and a heartbeat that proves its life.
  ///
  /// - Units: seconds.
  private static let reportDelay = 2.0

  private static func isIndependent(_ scene: Scene) -> Bool { scene.scene.drill.loss.meanRun == nil }

  /// The scene of some that comes nearest to a limit on delays, or exceeds it most.
  private func worst(
    of scenes: [Scene],
    p50: Double,
    p95: Double
  ) -> (p50: Double, p95: Double, name: String, isOver: Bool)? {
    let figures = scenes.compactMap { scene -> (p50: Double, p95: Double, name: String, isOver: Bool)? in
      let delays = scene.result.rows.first?.tally.exitDelays ?? []
      guard let half = Statistics.quantile(0.5, of: delays),
        let maximum = Statistics.quantile(0.95, of: delays)
      else { return nil }
      return (half, maximum, scene.scene.name, half > p50 || maximum > p95)
    }
    return figures.max { max($0.p50 / p50, $0.p95 / p95) < max($1.p50 / p50, $1.p95 / p95) }
  }

  private func delay(_ name: String, _ scenes: [Scene], p50: Double, p95: Double?) -> TargetResult {
    let limit = "≤ \(Int(p50))" + (p95.map { " / \(Int($0)) s" } ?? " s (p50)")
    guard let all = worst(of: scenes, p50: p50, p95: p95 ?? .infinity) else {
      return Targets.silent(name, limit)
    }
    var figure = "\(TableWriter.seconds(all.p50)) / \(TableWriter.seconds(all.p95)) s"
    let staying = scenes.filter { $0.scene.drill.motion != .passing }
    if staying.count < scenes.count, let stay = worst(of: staying, p50: p50, p95: p95 ?? .infinity) {
      figure += "; of those who stay \(TableWriter.seconds(stay.p50)) / \(TableWriter.seconds(stay.p95)) s"
    }
    return TargetResult(
      name: name,
      limit: limit,
      figure: figure,
      isMet: !all.isOver,
      miss: all.isOver ? all.name : ""
    )
  }
}
