import PharosModel
import PharosSimulatedWorlds
import PharosSimulation

extension Targets {
  /// A gateway's outage, restart or hung radio causes no event, and exits during it are reported soon after.
  var outageEvents: [TargetResult] {
    let name = "events caused by an observer's outage, restart, hang or jam"
    let limit = "0 enter, 0 exit"
    guard !outages.isEmpty else { return [Targets.silent(name, limit)] }
    let exits = outages.reduce(0) { $0 + ($1.result.rows.first?.tally.falseExits ?? 0) }
    let enters = outages.reduce(0) { sum, scene in
      let tally = scene.result.rows.first?.tally ?? PresenceTally()
      return sum + tally.returns + tally.ghostEnters
    }
    let count = outages.reduce(0) { $0 + $1.result.outages.values.reduce(0, +) }
    let worst = outages.max { left, right in
      (left.result.rows.first?.tally.falseExits ?? 0) < (right.result.rows.first?.tally.falseExits ?? 0)
    }
    let isMet = exits == 0 && enters == 0
    let events = TargetResult(
      name: name,
      limit: limit,
      figure: "\(enters) enters, \(exits) exits in \(count) outages",
      isMet: isMet,
      miss: isMet ? "" : "most at \(worst?.scene.name ?? "")"
    )
    return [events, departuresDuringOutages]
  }

  /// What an observer may take to be believed again: the floor of its learned gap where heartbeats come each second.
  private static let livenessGap = 10.0

  private var departuresDuringOutages: TargetResult {
    let name = "departures during an outage, reported after it: p95 over the usual p95"
    let limit = "≤ one liveness gap (10 s)"
    var worst: (excess: Double, name: String)?
    for scene in outages {
      guard let tally = scene.result.rows.first?.tally,
        let usual = Statistics.quantile(0.95, of: tally.exitDelays),
        let after = Statistics.quantile(0.95, of: tally.exitDelaysAfterOutage)
      else { continue }
      if after - usual > worst?.excess ?? -.infinity { worst = (after - usual, scene.scene.name) }
    }
    guard let worst else { return Targets.silent(name, limit) }
    let missed = outages.reduce(0) { $0 + ($1.result.rows.first?.tally.missedDepartures ?? 0) }
    let isMet = worst.excess <= Targets.livenessGap && missed == 0
    return TargetResult(
      name: name,
      limit: limit,
      figure: "worst \(TableWriter.number(worst.excess, 1)) s, \(missed) never reported",
      isMet: isMet,
      miss: isMet ? "" : worst.name
    )
  }

  /// All exits of a group that leaves are reported, hardly later than a single one.
  var groupDepartures: TargetResult {
    let name = "groups of 1 to 20 that leave, every liveness mode: p95 over the single tag's"
    let limit = "≤ 2 s, all exits"
    guard let single = groups.first(where: { $0.scene.drill.subjects == 1 }),
      let base = Statistics.quantile(0.95, of: single.result.rows.first?.tally.exitDelays ?? [])
    else { return Targets.silent(name, limit) }
    var worst = (excess: -Double.infinity, name: "")
    var missed = 0
    var committed = 0
    for scene in groups {
      guard let tally = scene.result.rows.first?.tally else { continue }
      missed += tally.missedDepartures
      committed += tally.exits
      let maximum = Statistics.quantile(0.95, of: tally.exitDelays) ?? .infinity
      if maximum - base > worst.excess { worst = (maximum - base, scene.scene.name) }
    }
    let isMet = worst.excess <= 2 && missed == 0
    return TargetResult(
      name: name,
      limit: limit,
      figure:
        "worst \(TableWriter.number(worst.excess, 1)) s over \(TableWriter.seconds(base)) s, \(committed) reported, \(missed) missed",
      isMet: isMet,
      miss: isMet ? "" : worst.name
    )
  }

  /// A still tag in the house stays in its room.
  var stillRooms: [TargetResult] {
    let changes = "still tag in the house: room changes an hour"
    let wrong = "still tag in the house: share of time in a wrong room"
    guard let house = rooms.first(where: { $0.scene.drill.name == RoomDrill.house.name }),
      let own = house.result.rows.first?.tally,
      let best = house.result.rows.dropFirst().min(by: { $0.tally.wrongShare < $1.tally.wrongShare })
    else { return [Targets.silent(changes, "0"), Targets.silent(wrong, "≤ half of the best peer's")] }
    let limit = best.tally.wrongShare / 2
    let isRight = own.wrongShare <= limit
    let figure = "\(TableWriter.percent(own.wrongShare)), \(TableWriter.percent(own.unsureShare)) not sure"
    return [
      TargetResult(
        name: changes,
        limit: "0",
        figure:
          "\(TableWriter.number(own.changesPerHour, 2)) (\(own.changes) in \(Int(own.hours)) tag-hours)",
        isMet: own.changes == 0,
        miss: own.changes == 0 ? "" : "\(own.changes) changes"
      ),
      TargetResult(
        name: wrong,
        limit: "≤ \(TableWriter.percent(limit)): half of \(best.policy)",
        figure: figure,
        isMet: isRight,
        miss: isRight ? "" : "by \(TableWriter.percent(own.wrongShare - limit))"
      ),
    ]
  }

  /// The first room of a tag is named soon, whether the tag is carried or not.
  var firstRooms: TargetResult {
    let (name, limit) = ("first room of a tag, carried or not: p95", "≤ 5 s")
    let tallies = rooms.compactMap { $0.result.rows.first?.tally }
    let delays = tallies.flatMap(\.firstDelays).sorted()
    guard let p50 = Statistics.quantile(0.5, of: delays), let p95 = Statistics.quantile(0.95, of: delays)
    else {
      return Targets.silent(name, limit)
    }
    let wrong = tallies.reduce(0) { $0 + $1.wrongFirsts }
    return TargetResult(
      name: name,
      limit: limit,
      figure:
        "\(TableWriter.seconds(p95)) s (p50 \(TableWriter.seconds(p50)) s; \(wrong) of \(delays.count) wrong)",
      isMet: p95 <= 5,
      miss: p95 <= 5 ? "" : "by \(TableWriter.seconds(p95 - 5)) s"
    )
  }

  /// A tag that is carried to the next room is there soon.
  var carriedRooms: TargetResult {
    let name = "tag carried to the next room: change p50 / p95"
    let limit = "≤ 5 / 10 s"
    guard let scene = rooms.first(where: { $0.scene.drill.name == RoomDrill.carried.name }),
      let tally = scene.result.rows.first?.tally,
      let p50 = Statistics.quantile(0.5, of: tally.changeDelays),
      let p95 = Statistics.quantile(0.95, of: tally.changeDelays)
    else { return Targets.silent(name, limit) }
    let isMet = p50 <= 5 && p95 <= 10
    return TargetResult(
      name: name,
      limit: limit,
      figure:
        "\(TableWriter.seconds(p50)) / \(TableWriter.seconds(p95)) s, \(tally.missedChanges) not noticed",
      isMet: isMet,
      miss: isMet ? "" : "by \(TableWriter.seconds(max(p50 - 5, p95 - 10))) s"
    )
  }
}
