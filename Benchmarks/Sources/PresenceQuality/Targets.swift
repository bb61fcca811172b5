import PharosModel
import PharosSimulatedWorlds
import PharosSimulation

/// The targets of the project for presence and rooms, held against a run.
struct Targets {
  /// A scene of presence with what came of it.
  typealias Scene = (scene: PresenceScene, result: PresenceResult)

  /// The false exits that the default budget may make, per subject and day.
  static let allowedRate = 0.02

  let tags: [Scene]
  let groups: [Scene]
  let outages: [Scene]
  let rooms: [(scene: RoomScene, result: RoomResult)]
  /// Whether it is the short run, in which no false exit at all is allowed.
  let isQuick: Bool

  /// Pairs the scenes with the results of the same names.
  init(_ results: Results, presence: [PresenceScene], rooms: [RoomScene], isQuick: Bool) {
    func paired(_ entries: [Results.Presence]) -> [Scene] {
      entries.compactMap { entry in
        presence.first { $0.name == entry.name }.map { ($0, entry.result) }
      }
    }
    tags = paired(results.tags)
    groups = paired(results.groups)
    outages = paired(results.outages)
    self.rooms = results.rooms.compactMap { entry in
      rooms.first { $0.name == entry.name }.map { ($0, entry.result) }
    }
    self.isQuick = isQuick
  }

  /// All of them, in the order of the issue.
  var all: [TargetResult] {
    [falseExits, budgetsKept] + exitDelays + [slowest, notDominated] + ratios + ratiosToOracle + [
      enterDelay, spikes,
    ]
      + stillRooms + [carriedRooms, firstRooms] + outageEvents + [groupDepartures]
  }

  /// Scenes of tags with up to half of their adverts lost.
  var judged: [Scene] { tags.filter(\.scene.isJudged) }

  /// What a run without the scenes that a target speaks of says about it.
  static func silent(_ name: String, _ limit: String) -> TargetResult {
    TargetResult(name: name, limit: limit, figure: absent, isMet: nil)
  }

  /// The figure of a target that the run has no scenes for.
  static let absent = "not in this run"

  // MARK: False exits

  private var falseExits: TargetResult {
    let name = "false exits a subject-day, loss up to 50 %, default budget"
    let limit = isQuick ? "0" : "≤ \(Targets.allowedRate)"
    let scenes = reachable + groupsByMode
    guard !scenes.isEmpty else { return Targets.silent(name, limit) }
    let allowed = isQuick ? 0 : Targets.allowedRate
    let over = scenes.filter { Targets.rate($0, row: 0) > allowed }
    let worst = scenes.max { Targets.rate($0, row: 0) < Targets.rate($1, row: 0) }
    let days = scenes.reduce(0) { $0 + $1.result.subjectDays }
    let count = scenes.reduce(0) { $0 + ($1.result.rows.first?.tally.falseExits ?? 0) }
    let figure =
      "worst \(TableWriter.rate(worst.map { Targets.rate($0, row: 0) } ?? 0)), "
      + "all \(TableWriter.rate(Double(count) / max(days, 1e-9))) (\(count) in \(Int(days)) days)"
    return TargetResult(
      name: name,
      limit: limit,
      figure: figure + beyondCeiling,
      isMet: over.isEmpty,
      miss: over.isEmpty
        ? "" : "\(over.count) of \(scenes.count) scenes, worst \(worst?.scene.name ?? "")"
    )
  }

  /// Judged scenes in which the ceiling of 300 s leaves room for the target.
  ///
  /// Where runs of 8 lost adverts at 10 s outlast 300 s several times a day, no rule with that ceiling can keep it.
  private var reachable: [Scene] { judged.filter { !Targets.isBeyondCeiling($0) } }

  private static func isBeyondCeiling(_ scene: Scene) -> Bool {
    guard let gaps = scene.result.gaps.falseExits(of: 300), scene.result.subjectDays > 0 else { return false }
    return Double(gaps) / scene.result.subjectDays > allowedRate && gaps > 1
  }

  private var beyondCeiling: String {
    judged.filter(Targets.isBeyondCeiling).map { scene in
      let rate = TableWriter.rate(Targets.rate(scene, row: 0))
      let fixed = Double(scene.result.gaps.falseExits(of: 300) ?? 0) / scene.result.subjectDays
      return "; set apart: \(scene.scene.name), \(rate) (fixed 300 s: \(TableWriter.rate(fixed)))"
    }.joined()
  }

  /// The groups of each liveness mode as one scene: a group by itself has few subject-days.
  private var groupsByMode: [Scene] {
    var merged: [Scene] = []
    for (scene, result) in groups {
      if let place = merged.firstIndex(where: { $0.scene.liveness == scene.liveness }) {
        merged[place].result.add(result)
      } else {
        merged.append((scene, result))
      }
    }
    return merged
  }

  private var budgetsKept: TargetResult {
    let name = "false exits with budgets of 1 and 10 a day"
    let limit = "≤ 2 × budget"
    guard !judged.isEmpty else { return Targets.silent(name, limit) }
    var over: [String] = []
    var worst = [0.0, 0.0]
    for scene in reachable {
      for row in [1, 2] {
        let rate = Targets.rate(scene, row: row)
        worst[row - 1] = max(worst[row - 1], rate)
        if rate > 2 * PresenceRun.budgets[row] { over.append(scene.scene.name) }
      }
    }
    return TargetResult(
      name: name,
      limit: limit,
      figure: "worst \(TableWriter.rate(worst[0])) and \(TableWriter.rate(worst[1]))",
      isMet: over.isEmpty,
      miss: over.isEmpty ? "" : "\(over.count) times, first \(over[0])"
    )
  }

  static func rate(_ scene: Scene, row: Int) -> Double {
    guard scene.result.rows.indices.contains(row), scene.result.subjectDays > 0 else { return 0 }
    return Double(scene.result.rows[row].tally.falseExits) / scene.result.subjectDays
  }

  // MARK: Enters

  private var enterDelay: TargetResult {
    let name = "enter p95, in received adverts"
    let limit = "≤ 3"
    let figures = tags.compactMap { scene in
      Statistics.quantile(0.95, of: scene.result.rows.first?.tally.enterAdverts ?? []).map { (scene, $0) }
    }
    guard let worst = figures.max(by: { $0.1 < $1.1 }) else { return Targets.silent(name, limit) }
    let over = figures.filter { $0.1 > 3 }
    return TargetResult(
      name: name,
      limit: limit,
      figure: "worst \(TableWriter.number(worst.1, 1))",
      isMet: over.isEmpty,
      miss: over.isEmpty ? "" : "\(over.count) scenes, worst \(worst.0.scene.name)"
    )
  }

  private var spikes: TargetResult {
    let scenes = tags.filter { $0.scene.drill.spikesPerHour > 0 }
    let name = "enters by one spike"
    guard !scenes.isEmpty else { return Targets.silent(name, "0") }
    let ours = scenes.reduce(0) { $0 + ($1.result.rows.first?.tally.ghostEnters ?? 0) }
    let peers = scenes.first?.result.rows.first { $0.policy.hasPrefix("AltBeacon") }?.tally.ghostEnters ?? 0
    return TargetResult(
      name: name,
      limit: "0",
      figure: "\(ours) (AltBeacon \(peers))",
      isMet: ours == 0,
      miss: ours == 0 ? "" : "\(ours) enters"
    )
  }
}
