/// What a tracker did not use, and why.
package struct MotionCounters: Hashable, Sendable {
  /// Samples that were taken.
  package var taken: UInt64 = 0
  /// Samples that are no number, or no value that a sensor can have.
  package var senseless: UInt64 = 0
  /// Samples not later than the one before of their kind.
  package var unordered: UInt64 = 0
  /// Samples that arrived after the movements up to their time had been determined.
  package var late: UInt64 = 0
  /// Samples left out since their kind comes more often than anything needs it.
  package var thinned: UInt64 = 0
  /// Samples that were processed before the caller asked for their time, because a queue was full.
  package var hurried: UInt64 = 0
  /// Movements that were dropped because the caller did not fetch them in time.
  package var forgotten: UInt64 = 0

  /// Nothing yet.
  package init() {}
}
