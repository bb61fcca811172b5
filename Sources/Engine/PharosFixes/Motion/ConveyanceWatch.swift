import PharosDocuments
package import PharosModel

/// Detects that a subject is carried: it moves and takes no steps.
///
/// A moving walkway carries on the level, an escalator up or down as well. Who stands in a lift moves up or down only,
/// which is no conveyance. Without odometry nothing is detected: radio places a subject too roughly for it.
package struct ConveyanceWatch: Hashable, Sendable {
  /// What carries the subject.
  package private(set) var conveyance = PositioningTransition.Conveyance.none
  /// The way and the time without a step, and the way up.
  private var way: Float = 0
  private var up: Float = 0
  private var seconds: Float = 0
  private var stepped = Timestamp.distantPast
  private var steps = 0
  private var moved = Timestamp.distantPast

  /// The time after a step during which a movement is the step's.
  private static let stride = TimeSpan.seconds(1.2)
  /// The way and the time without steps that show a conveyance.
  ///
  /// - Units: metres and seconds. An escalator of 0.5 m/s, 0.43 m/s on the level, covers the way in 1.4 s.
  private static let minimumWay: Float = 0.6
  private static let minimumTime: Float = 1.5
  /// The speed up to which people are carried, and the time that a faster movement without steps must last: steps of a
  /// walk are missed now and then.
  ///
  /// - Units: m/s and seconds. Walkways and escalators run at 0.5 to 0.75 m/s (EN 115-1).
  private static let usualSpeed: Float = 0.95
  private static let longTime: Float = 3.5
  /// The speed at which things carry: below it, odometry drifts, above it, one drives.
  ///
  /// - Units: m/s.
  private static let speeds: ClosedRange<Float> = 0.2...2.5
  /// The time at rest that ends a conveyance, and the number of steps that do.
  private static let rest = TimeSpan.seconds(2)
  private static let minimumSteps = 3
  /// The vertical speed from which a conveyance is an escalator.
  ///
  /// - Units: m/s. Escalators rise by 0.25 and more, sloping walkways by a tenth of that.
  private static let escalatorSpeed: Float = 0.12

  /// Makes a watch of a subject that nothing carries.
  package init() {}

  /// Takes a step.
  package mutating func step(at time: Timestamp) {
    steps = time - stepped <= ConveyanceWatch.stride ? steps + 1 : 1
    stepped = time
    (way, up, seconds) = (0, 0, 0)
    // Who shifts a foot on an escalator is still on it.
    if steps >= ConveyanceWatch.minimumSteps { conveyance = .none }
  }

  /// Takes a movement of the odometry.
  ///
  /// - Parameters:
  ///   - way: the way in metres.
  ///   - up: the way up in metres.
  ///   - seconds: the time that it took.
  ///   - time: the time at which it ended.
  ///   - isSensed: indicates whether a step would have been detected.
  package mutating func move(way: Float, up: Float, seconds: Float, at time: Timestamp, isSensed: Bool) {
    guard seconds > 0, isSensed, time - stepped > ConveyanceWatch.stride else { return }
    guard ConveyanceWatch.speeds.contains(way / seconds) else {
      if way / seconds > ConveyanceWatch.speeds.upperBound || time - moved >= ConveyanceWatch.rest {
        (self.way, self.up, self.seconds) = (0, 0, 0)
        conveyance = .none
      }
      return
    }
    moved = time
    self.way += way
    self.up += up
    self.seconds += seconds
    let isUsual = self.way <= ConveyanceWatch.usualSpeed * self.seconds
    let minimum = isUsual ? ConveyanceWatch.minimumTime : ConveyanceWatch.longTime
    guard self.way >= ConveyanceWatch.minimumWay, self.seconds >= minimum else { return }
    let rises = self.up.magnitude >= ConveyanceWatch.escalatorSpeed * self.seconds
    if conveyance == .none || rises { conveyance = rises ? .escalator : .conveyor }
  }
}

extension ConveyanceWatch {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&conveyance)
    try coder.code(&way)
    try coder.code(&up)
    try coder.code(&seconds)
    try coder.code(&stepped)
    try coder.code(&steps)
    try coder.code(&moved)
  }
}
