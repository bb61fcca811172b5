package import PharosModel

/// What finds the significant changes of a subject's location, as Core Location's significant-change service does.
///
/// A change is significant if the subject has moved by 500 m, or has come to another venue, building or floor, or in or out of
/// doors. At most one is reported in five minutes. A change in between is reported after that time, if it is still one.
///
/// - Source: Core Location, `startMonitoringSignificantLocationChanges()`: "a notification as soon as the device moves 500 meters or
///   more from its previous notification", "not more frequently than once every five minutes". Indoors, where no venue is that
///   large, a floor is what a cell is outdoors.
package struct SignificantChangeTrack: Sendable {
  /// The distance that is a significant change.
  ///
  /// - Units: metres.
  package static let distance = 500.0
  /// The shortest time between two changes.
  package static let interval = TimeSpan.minutes(5)
  /// The time for which a subject is on another floor before that is a change: fixes at a staircase go to and fro.
  package static let dwell = TimeSpan.seconds(30)

  /// The last fix that was reported.
  private var last: VisitFix?
  /// The ground of the newest fix, and the time since which fixes are on it.
  private var present: (ground: VisitFix.Ground, since: Timestamp)?

  /// Creates a track that knows nothing yet.
  package init() {}

  /// Returns whether a fix is to be reported; the first one always is.
  package mutating func reports(_ fix: VisitFix) -> Bool {
    if present?.ground != fix.ground { present = (fix.ground, fix.time) }
    guard let last else {
      self.last = fix
      return true
    }
    guard fix.time - last.time >= Self.interval, isFar(fix, from: last) else { return false }
    self.last = fix
    return true
  }

  private func isFar(_ fix: VisitFix, from last: VisitFix) -> Bool {
    if fix.ground != last.ground, let present, fix.time - present.since >= Self.dwell { return true }
    // Where the circles of two fixes meet, the subject may not have moved.
    return fix.distance(to: last) ?? 0 >= max(Self.distance, fix.accuracy + last.accuracy)
  }
}
