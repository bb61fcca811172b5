import PharosReports

/// What a full queue does.
enum Overflow<Output: Sendable, Failure: Error>: Sendable {
  /// Drops the oldest elements beyond the limit, counts them and says so.
  case dropOldest(limit: Int, onDrop: (@Sendable (Int) -> Void)?)
  /// Keeps the newest element about each subject, and drops the oldest of them beyond the limit.
  case newest(limit: Int, subject: @Sendable (Output) -> SubjectID)
  /// Delivers what it holds, then ends with the error.
  case fail(limit: Int, Failure)
}
