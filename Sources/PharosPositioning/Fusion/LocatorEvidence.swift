import PharosEvents
import PharosReports

/// What the belief was made from lately.
struct LocatorEvidence: Sendable, Hashable {
  /// What was used since the last fix.
  var sources: FixSources = []
  /// The newest reading of a radio, or location from outside.
  var newest = Timestamp.distantPast
  /// When the belief was last compared with everywhere else.
  var audited = Timestamp.distantPast
}
