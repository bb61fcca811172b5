import PharosCaptures
import PharosDocuments
import PharosModel
import PharosSite
import PharosSpace
package import PharosTerminal

/// `pharos survey score`: how far fixes are from the truth that traces hold.
package struct SurveyScoreRunner: Sendable {
  /// The format of the figures.
  package enum Format: String, CaseIterable, Sendable {
    /// A table, for people.
    case table
    /// One JSON object, for machines.
    case json
  }

  /// The options of `pharos survey score`.
  package struct Options: Sendable {
    /// The table of fixes.
    package var fixes: String
    /// Files and folders of traces, all of which are scored.
    package var traces: [String]
    /// Files and folders of the survey, to judge apart where it never was; empty not to.
    package var coverage: [String] = []
    /// The venue's folder, for drawing; nil without pictures.
    package var venue: String?
    /// The folder for the pictures of tracks; nil to draw none.
    package var tracks: String?
    /// True to score each site and each floor separately as well.
    package var byFloor = false
    /// The format of the figures.
    package var format: Format = .table

    /// Makes options with the defaults of the command for all else.
    package init(fixes: String, traces: [String]) {
      (self.fixes, self.traces) = (fixes, traces)
    }
  }

  private let options: Options

  /// Makes a runner.
  package init(_ options: Options) { self.options = options }

  /// Scores the fixes, prints the figures and draws what was asked for.
  ///
  /// - Returns: 0; 1 if a file cannot be read or written; 64 if the options lack something; 78 if the venue is wrong.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      guard options.tracks == nil || options.venue != nil else {
        throw CommandFailure(
          "tracks are drawn over floor plans: name the venue's folder with --venue.",
          status: .usage
        )
      }
      let venue = try options.venue.map { try VenueContents.venue(in: $0, console: console) }
      let fixes = try FixTable(path: options.fixes)
      let files = try TraceFile.find(options.traces)
      var score = SurveyScore()
      var places: [String: FloorID] = [:]
      var bar = ProgressBar("traces", on: console)
      for (index, file) in files.enumerated() {
        let trace = try file.truth()
        score.rows += try TraceScore.waypoints(of: file, trace, fixes: fixes.traces[file.identifier] ?? [])
        if let venue, case .success(let floor) = VenuePlaces(venue).floor(of: file, trace.header) {
          places[file.identifier] = floor
        }
        bar.show(index + 1, of: files.count)
      }
      bar.clear()
      guard !score.rows.isEmpty else {
        throw CommandFailure("no trace of \(options.traces.joined(separator: ", ")) has a waypoint.")
      }
      score.traces = files.count
      let known = Set(files.map(\.identifier))
      score.unmatched = fixes.traces.keys.count { !known.contains($0) }
      try cover(&score)
      try print(score, on: console)
      if let folder = options.tracks, let venue {
        try SurveyPictures(folder: folder, venue: venue, places: places)
          .draw(score.rows, fixes: fixes, console: console)
      }
      return .success
    }
  }

  private func cover(_ score: inout SurveyScore) throws(CommandFailure) {
    guard !options.coverage.isEmpty else { return }
    var coverage = SurveyCoverage()
    for file in try TraceFile.find(options.coverage) { coverage.add(try file.truth()) }
    for index in score.rows.indices { score.rows[index].isCovered = coverage.covers(score.rows[index]) }
  }

  private func print(_ score: SurveyScore, on console: Console) throws {
    switch options.format {
    case .table: for line in score.lines(byFloor: options.byFloor) { try console.print(line) }
    case .json: try console.print(score.json(byFloor: options.byFloor))
    }
    try console.output.flush()
    if score.unmatched > 0 {
      let many = Wording.count(score.unmatched, "trace")
      console.say("\(options.fixes): fixes of \(many) that are not among those scored were passed over.")
    }
  }
}

/// The result at one waypoint: the truth, and the latest fix when the surveyor was there.
struct ScoredWaypoint: Sendable {
  /// The identifier of the trace.
  var trace: String
  /// The site's name, as in the trace.
  var site: String
  /// The floor's name, as in the trace.
  var floor: String
  /// The time of the waypoint.
  var time: Timestamp
  /// The position of the surveyor.
  var truth: Point
  /// Indicates whether it is the first of its trace, before which few methods have a fix.
  var isFirst: Bool
  /// The latest fix that is no later; nil if there was none yet.
  var fix: FixTable.Row?
  /// Indicates whether the fix was on the right floor.
  var isFloorRight: Bool
  /// True if the survey passed within ``SurveyCoverage/reach``; nil if coverage was not requested.
  var isCovered: Bool?

  /// The distance from the fix to the truth in metres, whatever its floor.
  var error: Double? { fix.map { truth.distance(to: $0.point) } }
}

/// A scorer of fixes at the waypoints of traces, by the rule of the data set.
///
/// The fix of a waypoint is the latest one that is no later than the waypoint, whatever its age. A waypoint before the
/// first fix is missed: it has no error, and the score reports the share of such waypoints. Floors and errors are over
/// the same waypoints.
enum TraceScore {
  /// The waypoints of a trace in order of time.
  ///
  /// - Throws: `CommandFailure` if the trace names no floor, or one that is none.
  static func waypoints(
    of file: TraceFile,
    _ trace: IndoorTrace,
    fixes: [FixTable.Row]
  ) throws(CommandFailure) -> [ScoredWaypoint] {
    let floor = FloorWord.trimmed(trace.header.floor ?? "")
    guard let level = FloorWord.level(floor) else {
      let what = floor.isEmpty ? "the header has no FloorName" : "FloorName is \"\(floor)\""
      throw CommandFailure(
        "\(file.path): \(what) (expected F1, B1 or a whole number): the truth is unknown."
      )
    }
    return trace.waypoints.enumerated().map { index, waypoint in
      let fix = latest(in: fixes, at: waypoint.time)
      return ScoredWaypoint(
        trace: file.identifier,
        site: trace.header.siteName ?? "",
        floor: floor,
        time: waypoint.time,
        truth: Point(x: waypoint.x, y: waypoint.y),
        isFirst: index == 0,
        fix: fix,
        isFloorRight: fix?.level == level
      )
    }
  }

  /// The last fix that is no later than a time.
  static func latest(in fixes: [FixTable.Row], at time: Timestamp) -> FixTable.Row? {
    var low = 0
    var high = fixes.count
    while low < high {
      let middle = (low + high) / 2
      if fixes[middle].time <= time { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? fixes[low - 1] : nil
  }
}

/// The figures of some waypoints.
struct ScoreSummary: Hashable, Sendable {
  /// The number of waypoints.
  let waypoints: Int
  /// The number of waypoints with a fix.
  let scored: Int
  /// The number of waypoints without a fix that were the first of their trace.
  let missedFirst: Int
  /// The mean error in metres; nil without a fix, as all that follows.
  let mean: Double?
  /// The errors in metres that half, three quarters and nine in ten stay below.
  let (median, p75, p90): (Double?, Double?, Double?)
  /// The share of fixes on the right floor.
  let floors: Double?
  /// The share of truths within the accuracy that the fix claimed, and within twice it; nil if no fix claimed any.
  let (within, withinTwice): (Double?, Double?)
  /// The median of the accuracies claimed in metres.
  let claimed: Double?

  /// Sums waypoints up.
  init(_ rows: [ScoredWaypoint]) {
    let hits = rows.filter { $0.fix != nil }
    let errors = hits.compactMap(\.error)
    waypoints = rows.count
    scored = errors.count
    missedFirst = rows.count { $0.isFirst && $0.fix == nil }
    mean = errors.isEmpty ? nil : errors.reduce(0, +) / Double(errors.count)
    let sorted = errors.sorted()
    median = ScoreSummary.percentile(50, of: sorted)
    p75 = ScoreSummary.percentile(75, of: sorted)
    p90 = ScoreSummary.percentile(90, of: sorted)
    floors = ScoreSummary.share(hits.count { $0.isFloorRight }, of: hits.count)
    let claims = hits.compactMap { row in row.fix?.accuracy.map { (error: row.error ?? 0, radius: $0) } }
    within = ScoreSummary.share(claims.count { $0.error <= $0.radius }, of: claims.count)
    withinTwice = ScoreSummary.share(claims.count { $0.error <= 2 * $0.radius }, of: claims.count)
    claimed = ScoreSummary.percentile(50, of: claims.map(\.radius).sorted())
  }

  /// The share of waypoints that had no fix.
  var missed: Double? { ScoreSummary.share(waypoints - scored, of: waypoints) }

  /// The value below which so many percent lie, on a straight line between the two around it; nil without any.
  static func percentile(_ percent: Double, of sorted: [Double]) -> Double? {
    guard let last = sorted.last else { return nil }
    let place = Double(sorted.count - 1) * percent / 100
    let low = Int(place)
    guard low + 1 < sorted.count else { return last }
    return sorted[low] + (sorted[low + 1] - sorted[low]) * (place - Double(low))
  }

  private static func share(_ count: Int, of all: Int) -> Double? {
    all > 0 ? Double(count) / Double(all) : nil
  }
}

/// The score of a table of fixes.
struct SurveyScore: Sendable {
  /// Every waypoint of every trace.
  var rows: [ScoredWaypoint] = []
  /// The number of traces that were scored.
  var traces = 0
  /// The number of traces of the table that were not scored, for want of the trace.
  var unmatched = 0

  private static let table = TextTable([
    .text("WAYPOINTS", 19), .number("N", 5), .number("MISSED", 6), .number("MEAN", 6), .number("MEDIAN", 6),
    .number("P75", 5), .number("P90", 5), .number("FLOOR", 6), .number("IN R", 5), .number("IN 2R", 5),
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
    JSONText.object { json in
      json.member("traces", traces)
      json.objects("groups", groups(byFloor: byFloor)) { json, group in
        let summary = group.summary
        json.member("name", FloorWord.trimmed(group.name))
        json.member("waypoints", summary.waypoints)
        json.member("scored", summary.scored)
        json.member("missedFirst", summary.missedFirst)
        let figures: KeyValuePairs<StaticString, Double?> = [
          "missed": summary.missed, "mean": summary.mean, "median": summary.median, "p75": summary.p75,
          "p90": summary.p90, "floor": summary.floors, "withinAccuracy": summary.within,
          "withinTwiceAccuracy": summary.withinTwice, "accuracy": summary.claimed,
        ]
        // What there is no number for is null.
        for (name, figure) in figures { json.member(name, figure ?? .nan, decimals: 6) }
      }
    }
  }

  private static func meters(_ value: Double?) -> String {
    value.map { Wording.decimal($0, places: 2) } ?? ""
  }

  private static func percent(_ share: Double?, places: Int = 1) -> String {
    share.map { Wording.decimal($0 * 100, places: places) } ?? ""
  }
}

/// The paths of a survey: straight lines between consecutive waypoints, floor by floor.
///
/// Waypoints away from these paths are scored separately: their errors are a limit of the survey, not of a method.
struct SurveyCoverage: Sendable {
  private struct Place: Hashable {
    var site: String
    var floor: String
  }

  private var segments: [Place: [Segment]] = [:]

  /// The maximum distance from a walk at which a place counts as covered.
  ///
  /// - Units: metres.
  static let reach = 1.5

  /// Adds a walk.
  mutating func add(_ trace: IndoorTrace) {
    let points = trace.waypoints.map { Point(x: $0.x, y: $0.y) }
    let place = Place(
      site: trace.header.siteName ?? "",
      floor: FloorWord.trimmed(trace.header.floor ?? "")
    )
    let walked =
      points.count == 1
      ? [Segment(from: points[0], to: points[0])]
      : zip(points, points.dropFirst()).map { Segment(from: $0, to: $1) }
    segments[place, default: []] += walked
  }

  /// Returns whether a walk passed within ``reach`` of a waypoint.
  func covers(_ row: ScoredWaypoint) -> Bool {
    segments[Place(site: row.site, floor: row.floor)]?
      .contains { $0.distance(to: row.truth) <= SurveyCoverage.reach } ?? false
  }
}
