public import PharosCaptures
public import PharosWire

/// What was found in a capture, and what became of it.
public struct CaptureFeedCounters: Equatable, Sendable {
  /// Packets of any sort.
  public var packets: UInt64 = 0
  /// Reports that they gave.
  public var reports: UInt64 = 0
  /// Inputs of a recording that are no datagrams, the site among them.
  public var otherInputs: UInt64 = 0
  /// Blocks for local use of other programs.
  public var foreignBlocks: UInt64 = 0
  /// Packets whose time went back, and was held.
  public var backwards: UInt64 = 0
  /// Packets without a time, which took that of the one before.
  public var timeless: UInt64 = 0
  /// What was found in packets that may hold UDP.
  public var udp = CaptureCounters()
  /// What was found in packets that hold Bluetooth.
  public var bluetooth = CaptureCounters()
  /// Datagrams decoded and refused, by format and reason.
  public var datagrams = DatagramCounters()

  /// Starts at zero.
  public init() {}
}
