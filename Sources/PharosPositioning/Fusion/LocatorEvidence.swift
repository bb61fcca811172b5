import PharosEvents
import PharosReports

/// What the belief was made from lately.
struct LocatorEvidence: Sendable, Hashable {
  /// What was used since the last fix.
  var sources: FixSources = []
  /// The newest reading of a radio, or location from outside.
  var newest = Timestamp.distantPast
  /// When the last scan was weighed.
  var scanned = Timestamp.distantPast
  /// The floor that the last fix told.
  var toldFloor: Int?
  /// When the belief was last compared with everywhere else.
  var audited = Timestamp.distantPast
  /// How badly readings fit the map where the belief is: the mean of squared deviations from what is expected there, each in
  /// its own standard deviations; begins with what is usual.
  var misfit = LocatorEvidence.usualMisfit

  /// The misfit where all is well: half of the fixes of walks held back have less than 0.7, for a look's readings err together.
  static let usualMisfit: Float = 0.85
  /// How much of the misfit a look renews: five looks, or 10 s.
  private static let renewal: Float = 0.2

  /// Takes the misfit of a look.
  mutating func learn(misfit: Float) { self.misfit += (misfit - self.misfit) * LocatorEvidence.renewal }
}
