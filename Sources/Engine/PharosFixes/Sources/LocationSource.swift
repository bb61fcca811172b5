import PharosDocuments
package import PharosModel
package import PharosSpace

/// A source of locations of a subject: it turns the reports of a handset into scans and movements with their errors.
///
/// A scan is an absolute pose, a movement a relative one. A source gives scans, movements or both, and knows its
/// state. It takes its reports in order of event time.
package protocol LocationSource: Sendable {
  /// Returns the scan that a fix amounts to, or nil if the source does not make such fixes.
  mutating func receive(_ fix: OutsideFix, at time: Timestamp) -> PoseScan?
  /// Returns the movement that a relative pose amounts to, or nil if it says nothing.
  mutating func receive(_ pose: RelativePose, at time: Timestamp) -> PoseMovement?
  /// Returns the state of the source at a time.
  func state(at time: Timestamp) -> PositioningState
}

extension LocationSource {
  /// Returns nil: most sources give scans only.
  package mutating func receive(_ pose: RelativePose, at time: Timestamp) -> PoseMovement? { nil }
}

/// An absolute pose of a subject.
package struct PoseScan: Hashable, Sendable {
  /// The place.
  package var coordinate: Coordinate
  /// One standard deviation along an axis.
  ///
  /// - Units: metres.
  package var deviation: Float
  /// The direction of the odometry's first sight of north: the angle by which the session's frame is turned, if the
  /// scan tells it.
  ///
  /// - Units: radians clockwise.
  package var turn: Float?

  /// The radius that holds 68 % of truths, in standard deviations along an axis.
  static let radius: Float = 1.5
}

/// A relative pose of a subject, in the frame of the session of its source.
package struct PoseMovement: Hashable, Sendable {
  /// The time at which it ended.
  package var time: Timestamp
  /// The time that it took.
  package var interval: TimeSpan
  /// The way along the frame's two horizontal axes, the second a quarter turn left of the first, and up.
  ///
  /// - Units: metres.
  package var x, y, up: Float
  /// One standard deviation of what drift does not explain: jumps that were left out, gaps, poor tracking.
  ///
  /// - Units: metres.
  package var deviation: Float
  /// Indicates whether it is the first one in a frame of which nothing is known.
  package var startsFrame: Bool
}

/// The satellite receiver of a handset.
package struct SatelliteSource: LocationSource {
  private var seen = Timestamp.distantPast
  private var radius = 0.0

  /// The time for which a fix is valid.
  private static let life = TimeSpan.seconds(30)
  /// The accuracy up to which positions are as good as outdoors.
  ///
  /// - Units: metres.
  private static let clear = 15.0
  /// The least deviation of a fix.
  ///
  /// - Units: metres.
  private static let minimumDeviation: Float = 0.5

  /// Makes a source that has given no fix.
  package init() {}

  /// Takes a fix of satellites.
  package mutating func receive(_ fix: OutsideFix, at time: Timestamp) -> PoseScan? {
    guard fix.source == .gnss, let coordinate = Coordinate(latitude: fix.latitude, longitude: fix.longitude)
    else { return nil }
    seen = time
    radius = fix.horizontalAccuracy.value
    return PoseScan(
      coordinate: coordinate,
      deviation: max(SatelliteSource.minimumDeviation, Float(radius) / PoseScan.radius)
    )
  }

  /// Returns the state: degraded while fixes are worse than outdoors.
  package func state(at time: Timestamp) -> PositioningState {
    guard time - seen <= SatelliteSource.life else { return .notPositioning }
    return radius <= SatelliteSource.clear ? .accuratePositioning : .degradedPositioning
  }
}

extension SatelliteSource {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&seen)
    try coder.code(&radius)
  }
}
