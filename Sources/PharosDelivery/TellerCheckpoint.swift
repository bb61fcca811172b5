public import PharosReports

/// The state of the engine at one instant, not written out yet.
public struct TellerCheckpoint: Sendable {
  /// The instant that the state is of.
  public let instant: Timestamp
  /// How many events the engine had delivered before it since the start.
  public let eventsBefore: UInt64
  /// Writes the state out; called once, on a thread of the teller's own.
  public let encode: @Sendable () -> [UInt8]

  /// Makes a checkpoint to be kept.
  public init(instant: Timestamp, eventsBefore: UInt64, encode: @escaping @Sendable () -> [UInt8]) {
    self.instant = instant
    self.eventsBefore = eventsBefore
    self.encode = encode
  }
}
