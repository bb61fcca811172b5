public import PharosModel

/// The slowest movement of a kind of subject: how far it takes the subject, and in which time.
///
/// A subject that gets less far is stationary, as far as the accuracy of its fixes can tell (`StationaryTrack`).
public struct MotionProfile: Hashable, Sendable {
  /// The distance that the slowest movement covers in ``duration``.
  ///
  /// - Units: metres.
  public var distance: Double
  /// The shortest time after which a subject is stationary.
  public var duration: TimeSpan

  /// Creates a profile; a distance and a duration below 0.1 m and 1 s are raised to these.
  public init(distance: Double, duration: TimeSpan) {
    self.distance = distance > 0.1 ? distance : 0.1
    self.duration = max(duration, .seconds(1))
  }

  /// A person on foot: 8 m in 20 s.
  ///
  /// - Source: 0.4 m/s is the speed below which a person hardly walks outside the home: Perry, Garrett, Gronley and Mulroy,
  ///   "Classification of walking handicap in the stroke population", Stroke 26 (1995), DOI 10.1161/01.STR.26.6.982.
  public static let pedestrian = MotionProfile(distance: 8, duration: .seconds(20))

  /// A thing that is moved now and then, on a trolley or a belt: 6 m in a minute.
  ///
  /// A movement at a quarter of a pedestrian's speed still counts, and a stop on the way has to last for a minute.
  public static let asset = MotionProfile(distance: 6, duration: .seconds(60))

  /// The speed of the slowest movement in m/s.
  package var speed: Double { distance / duration.seconds }

  /// Returns whether fixes of an accuracy are too vague to decide within ``duration``.
  ///
  /// - Parameter accuracy: the radius that holds 68 % of truths, in metres.
  /// - Returns: true for fixes of which two have circles that the slowest movement does not separate in that time.
  package func isLimited(by accuracy: Double) -> Bool { 2 * accuracy > distance }
}
