import PharosCaptures
import PharosPlaces
import PharosReports

/// What became of one waypoint: the truth, and the fix that stood when the surveyor was there.
struct ScoredWaypoint: Sendable {
  /// Which trace.
  var trace: String
  /// The site's name, as the trace tells it.
  var site: String
  /// The floor's name, as the trace tells it.
  var floor: String
  /// When.
  var time: Timestamp
  /// Where the surveyor stood.
  var truth: Point
  /// Whether it is the first of its trace, before which few methods have a fix.
  var isFirst: Bool
  /// The latest fix that is no later; nil if there was none yet.
  var fix: FixTable.Row?
  /// Whether the fix was on the right floor.
  var isFloorRight: Bool
  /// True if the survey passed within ``SurveyCoverage/reach``; nil if coverage was not requested.
  var isCovered: Bool?

  /// How far the fix was from the truth in metres, whatever its floor.
  var error: Double? { fix.map { truth.distance(to: Point(x: $0.x, y: $0.y)) } }
}

/// A scorer of fixes at the waypoints of traces, by the rule of the data set.
///
/// The fix of a waypoint is the latest one that is no later than the waypoint, whatever its age. A waypoint before the
/// first fix is missed: it has no error, and the score reports the share of such waypoints. Floors and errors are over
/// the same waypoints.
enum TraceScore {
  /// The waypoints of a trace in order of time.
  ///
  /// - Throws: that the trace names no floor, or one that is none.
  static func waypoints(
    of file: TraceFile,
    _ trace: IndoorTrace,
    fixes: [FixTable.Row]
  ) throws(CommandFailure) -> [ScoredWaypoint] {
    let floor = FloorWord.trimmed(trace.header.floor ?? "")
    guard let level = FloorWord.level(floor) else {
      let what = floor.isEmpty ? "the header has no FloorName" : "FloorName is \"\(floor)\""
      throw CommandFailure(
        "\(file.path): \(what) (expected F1, B1 or a whole number): nothing tells the truth."
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
  /// How many waypoints there are.
  let waypoints: Int
  /// How many had a fix.
  let scored: Int
  /// How many of the others were the first of their trace.
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
