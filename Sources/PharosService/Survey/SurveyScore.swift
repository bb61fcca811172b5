import PharosReports

/// The score of a table of fixes.
struct SurveyScore: Sendable {
  /// Every waypoint of every trace.
  var rows: [ScoredWaypoint] = []
  /// How many traces were scored.
  var traces = 0
  /// How many traces of the table were not scored, for want of the trace.
  var strangers = 0

  private static let table = TextTable([
    .init("WAYPOINTS", width: 19), .init("N", width: 5, alignment: .right),
    .init("MISSED", width: 6, alignment: .right), .init("MEAN", width: 6, alignment: .right),
    .init("MEDIAN", width: 6, alignment: .right), .init("P75", width: 5, alignment: .right),
    .init("P90", width: 5, alignment: .right), .init("FLOOR", width: 6, alignment: .right),
    .init("IN R", width: 5, alignment: .right), .init("IN 2R", width: 5, alignment: .right),
  ])

  /// Returns the groups of waypoints, each with its name and figures; groups without a waypoint are left out.
  func groups(byFloor: Bool) -> [(name: String, summary: ScoreSummary)] {
    var groups = [("all", rows)]
    if rows.contains(where: { $0.isCovered != nil }) {
      groups.append(("covered", rows.filter { $0.isCovered == true }))
      groups.append(("not covered", rows.filter { $0.isCovered == false }))
    }
    if byFloor {
      for site in Set(rows.map(\.site)).sorted() {
        let some = rows.filter { $0.site == site }
        groups.append((site.isEmpty ? "(no site)" : site, some))
        for floor in Set(some.map(\.floor)).sorted() {
          groups.append(("  \(site) \(floor)", some.filter { $0.floor == floor }))
        }
      }
    }
    return groups.filter { !$0.1.isEmpty }.map { ($0.0, ScoreSummary($0.1)) }
  }

  /// Everything for people, line by line.
  func lines(byFloor: Bool) -> [String] {
    var lines = [SurveyScore.table.header]
    for (name, summary) in groups(byFloor: byFloor) {
      lines.append(
        SurveyScore.table.line([
          name, "\(summary.waypoints)", SurveyScore.percent(summary.missed),
          SurveyScore.meters(summary.mean), SurveyScore.meters(summary.median),
          SurveyScore.meters(summary.p75), SurveyScore.meters(summary.p90),
          SurveyScore.percent(summary.floors, places: 2), SurveyScore.percent(summary.within),
          SurveyScore.percent(summary.withinTwice),
        ])
      )
    }
    let all = ScoreSummary(rows)
    lines.append("")
    lines.append(
      "Errors in metres, all else in percent: \(Wording.count(traces, "trace")), the latest fix at each"
    )
    lines.append(
      "waypoint. MISSED: no fix yet (the first of their trace: \(all.missedFirst) of \(all.waypoints - all.scored))."
    )
    if let claimed = all.claimed {
      lines.append(
        "IN R: truths within the accuracy that the fix claimed (68 is meant; median \(Wording.meters(claimed))),"
      )
      lines.append("IN 2R: within twice it.")
    }
    return lines
  }

  /// One JSON object: an object of figures for each group.
  func json(byFloor: Bool) -> String {
    var json = JSONText()
    json.openObject()
    json.member("traces", traces)
    json.openArray("groups")
    for (name, summary) in groups(byFloor: byFloor) {
      json.openObject()
      json.member("name", FloorWord.trimmed(name))
      json.member("waypoints", summary.waypoints)
      json.member("scored", summary.scored)
      json.member("missedFirst", summary.missedFirst)
      // What there is no number for is null.
      json.member("missed", summary.missed ?? .nan, decimals: 6)
      json.member("mean", summary.mean ?? .nan, decimals: 6)
      json.member("median", summary.median ?? .nan, decimals: 6)
      json.member("p75", summary.p75 ?? .nan, decimals: 6)
      json.member("p90", summary.p90 ?? .nan, decimals: 6)
      json.member("floor", summary.floors ?? .nan, decimals: 6)
      json.member("withinAccuracy", summary.within ?? .nan, decimals: 6)
      json.member("withinTwiceAccuracy", summary.withinTwice ?? .nan, decimals: 6)
      json.member("accuracy", summary.claimed ?? .nan, decimals: 6)
      json.closeObject()
    }
    json.closeArray()
    json.closeObject()
    return json.text
  }

  private static func meters(_ value: Double?) -> String {
    value.map { Wording.decimal($0, places: 2) } ?? ""
  }

  private static func percent(_ share: Double?, places: Int = 1) -> String {
    share.map { Wording.decimal($0 * 100, places: places) } ?? ""
  }
}
