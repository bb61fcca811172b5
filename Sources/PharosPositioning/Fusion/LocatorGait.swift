import PharosReports

/// How the subject moves, as far as its sensors tell.
struct LocatorGait: Sendable, Hashable {
  /// When the belief was last spread.
  var spread = Timestamp.distantPast
  /// The last movement of any kind.
  var moved = Timestamp.distantPast
  /// Since when motion has been sensed without a gap: what was heard before is of an unknown place.
  var seenSince = Timestamp.distantPast
  /// What headings are measured from; nil before the first one.
  var reference: Heading.Reference?
  /// The last direction of the sensors in radians; 0 where they never told any.
  var heading: Float = 0
  /// Whether the subject rested when it was last heard of.
  var rests = false
  /// Its speed in m/s over the last steps, and the direction of the sensors in east and north.
  var speed: Float = 0
  var east: Float = 0
  var north: Float = 0
  /// The time of the last step.
  var step = Timestamp.distantPast

  /// How much of the speed a step renews: about four steps.
  private static let renewal: Float = 0.3

  /// Notes a step.
  mutating func walk(length: Float, east: Float, north: Float, at time: Timestamp) {
    let seconds = Float((time - step).seconds)
    let isOn = seconds < 2 && seconds > 0.1
    let latest = isOn ? length / seconds : speed > 0 ? speed : length / 0.55
    speed += (latest - speed) * (speed > 0 ? LocatorGait.renewal : 1)
    if !isOn { (self.east, self.north) = (0, 0) }
    self.east += (east - self.east) * LocatorGait.renewal
    self.north += (north - self.north) * LocatorGait.renewal
    step = time
    rests = false
  }

  /// Notes a rest.
  mutating func rest() {
    rests = true
    (speed, east, north) = (0, 0, 0)
  }
}
