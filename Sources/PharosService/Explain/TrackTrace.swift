import PharosMonitoring
import PharosReports

/// The adverts of one track and what its filter made of them, kept for a picture.
struct TrackTrace {
  /// One sample.
  struct Point {
    var time: Timestamp
    /// The level as heard, with the observer's offset, or not a number.
    var raw: Float
    /// The filtered level, or not a number.
    var level: Float
    /// Its standard deviation.
    var deviation: Float
  }

  /// How many points are kept; beyond, every second one goes.
  ///
  /// A picture has some thousand columns: 65,536 points are over fifty a column.
  static let most = 65_536

  private(set) var points: [Point] = []
  private var stride = 1
  private var skipped = 0

  /// A report of the beacon was taken.
  mutating func hear(from before: TrackInsight?, to after: TrackInsight, level: Double?) {
    let point = Point(
      time: after.lastHeard,
      raw: level.map(Float.init) ?? .nan,
      level: after.level.map(Float.init) ?? .nan,
      deviation: after.levelDeviation.map(Float.init) ?? 0
    )
    guard after.samples != before?.samples else { return join(point) }
    skipped += 1
    // What ends a long silence is kept: it is what one looks for.
    let endsSilence = before.map { after.lastHeard - $0.lastHeard > .seconds(1) } ?? true
    guard skipped >= stride || endsSilence else { return }
    skipped = 0
    points.append(point)
    guard points.count > TrackTrace.most else { return }
    points = points.enumerated().compactMap { $0.offset % 2 == 0 ? $0.element : nil }
    stride *= 2
  }

  /// Another report of the same transmission: the strongest counts.
  private mutating func join(_ point: Point) {
    guard let last = points.last, !(last.raw >= point.raw) else { return }
    points[points.count - 1].raw = point.raw
    points[points.count - 1].level = point.level
    points[points.count - 1].deviation = point.deviation
  }
}
