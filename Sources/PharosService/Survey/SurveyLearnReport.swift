import PharosPositioning

/// A summary of what a survey covered, in lines of text for the surveyor.
struct SurveyLearnReport {
  private let report: SurveyReport
  private let map: RadioMap
  private let damagedLines: Int

  private static let table = TextTable([
    .init("FLOOR", width: 18), .init("WALKS", width: 5, alignment: .right),
    .init("METRES", width: 7, alignment: .right), .init("COVERED", width: 7, alignment: .right),
    .init("WI-FI", width: 8, alignment: .right), .init("BEACONS", width: 8, alignment: .right),
    .init("EMITTERS", width: 8, alignment: .right),
  ])

  init(_ report: SurveyReport, map: RadioMap, damagedLines: Int) {
    self.report = report
    self.map = map
    self.damagedLines = damagedLines
  }

  /// Everything, line by line.
  var lines: [String] {
    var lines = [SurveyLearnReport.table.header]
    for floor in report.floors {
      lines.append(
        SurveyLearnReport.table.line([
          "\(floor.floor)", "\(floor.walks)", Wording.decimal(floor.meters, places: 0),
          floor.surveyedShare.map(Wording.percent) ?? "", "\(floor.accessPointReadings)",
          "\(floor.beaconReadings)", "\(floor.emitters)",
        ])
      )
    }
    lines += [
      "", "COVERED: the share of what is walkable within 3 m of a walk. WI-FI, BEACONS: readings that count.",
    ]
    let walked = "\(Wording.count(report.walks, "walk")), \(Wording.decimal(report.meters, places: 0)) m"
    let known = "\(report.accessPoints) access points and \(report.beacons) beacons"
    lines.append("\(walked): the map knows \(known); of \(report.anchored) it knows the place.")
    let reasons = SurveyReport.Reason.allCases.compactMap { reason in
      report.leftOut[reason].flatMap { $0 > 0 ? "\($0) \(SurveyLearnReport.words(reason))" : nil }
    }
    if !reasons.isEmpty { lines.append("Left out: \(Wording.list(reasons)).") }
    lines += notes
    return lines
  }

  private var notes: [String] {
    var notes: [String] = []
    if report.repeatedReadings > 0 {
      notes.append("\(report.repeatedReadings) entries of scans repeated earlier ones, and count once.")
    }
    if report.evenStretches > 0 {
      let all = report.pacedStretches + report.evenStretches
      notes.append(
        "\(report.evenStretches) of \(all) stretches between waypoints had no steps, and count as an even pace."
      )
    }
    if report.placelessReadings > 0 {
      notes.append("\(report.placelessReadings) readings lie before the first or after the last waypoint.")
    }
    if !report.placelessWalks.isEmpty {
      let some = report.placelessWalks.prefix(3).joined(separator: ", ")
      notes.append("\(Wording.count(report.placelessWalks.count, "walk")) had under two waypoints: \(some).")
    }
    if damagedLines > 0 { notes.append("\(Wording.count(damagedLines, "line")) could not be read.") }
    return notes
  }

  private static func words(_ reason: SurveyReport.Reason) -> String {
    switch reason {
    case .tooFew: "heard too seldom"
    case .fleeting: "heard in passing"
    case .moving: "that move or share an identity"
    case .tooMany: "beyond what a map holds"
    }
  }
}
