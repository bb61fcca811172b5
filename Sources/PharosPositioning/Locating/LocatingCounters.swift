/// What locating has done so far, all subjects together.
package struct LocatingCounters: Hashable, Sendable {
  /// How many subjects are looked for now.
  package var subjects = 0
  /// Subjects forgotten because there were too many.
  package var evictions: UInt64 = 0
  /// Fixes told.
  package var fixes: UInt64 = 0
  /// Readings and locations that came later than a fix waits, and count for nothing.
  package var late: UInt64 = 0
  /// Readings of emitters that no radio map knows.
  package var unknown: UInt64 = 0
  /// Entries of scans that repeat what was weighed already, or are too old.
  package var repeated: UInt64 = 0
  /// Readings beyond what is held back at a time.
  package var crowded: UInt64 = 0
  /// Locations from outside that are none.
  package var senseless: UInt64 = 0
  /// Times that another place explained a subject's readings much better than the belief, and part of the belief moved
  /// there.
  package var recoveries: UInt64 = 0

  /// Starts at zero.
  package init() {}

  /// Adds what one locator has counted.
  mutating func add(_ counters: Locator.Counters) {
    late &+= counters.late
    unknown &+= counters.unknown
    repeated &+= counters.repeated
    crowded &+= counters.crowded
    senseless &+= counters.senseless
    recoveries &+= counters.recoveries
  }
}
