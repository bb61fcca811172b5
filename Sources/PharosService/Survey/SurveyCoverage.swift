import PharosCaptures
import PharosPlaces

/// The paths of a survey: straight lines between consecutive waypoints, floor by floor.
///
/// Waypoints away from these paths are scored separately: their errors are a limit of the survey, not of a method.
struct SurveyCoverage: Sendable {
  private struct Place: Hashable {
    var site: String
    var floor: String
  }

  private var segments: [Place: [Segment]] = [:]

  /// How near a walk must pass for a place to count as covered.
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

  /// Whether a place was walked past.
  func covers(_ row: ScoredWaypoint) -> Bool {
    segments[Place(site: row.site, floor: row.floor)]?
      .contains { $0.distance(to: row.truth) <= SurveyCoverage.reach } ?? false
  }
}
