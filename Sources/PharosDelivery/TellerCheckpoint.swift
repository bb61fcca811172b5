package import PharosReports

/// The state of the engine at one instant, not written out yet.
package struct TellerCheckpoint: Sendable {
  /// The instant that the state is of.
  package let instant: Timestamp
  /// How many events the engine had delivered before it since the start.
  package let eventsBefore: UInt64
  /// Writes the state out; called once, on a thread of the teller's own.
  package let encode: @Sendable () -> [UInt8]

  /// Makes a checkpoint to be kept.
  package init(instant: Timestamp, eventsBefore: UInt64, encode: @escaping @Sendable () -> [UInt8]) {
    self.instant = instant
    self.eventsBefore = eventsBefore
    self.encode = encode
  }
}
