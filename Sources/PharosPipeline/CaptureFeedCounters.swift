package import PharosCaptures
package import PharosWire

/// What was found in a capture, and what became of it.
package struct CaptureFeedCounters: Equatable, Sendable {
  /// Packets of any sort.
  package var packets: UInt64 = 0
  /// Reports that they gave.
  package var reports: UInt64 = 0
  /// Inputs of a recording that are no datagrams, the site among them.
  package var otherInputs: UInt64 = 0
  /// Blocks for local use of other programs.
  package var foreignBlocks: UInt64 = 0
  /// Packets whose time went back, and was held.
  package var backwards: UInt64 = 0
  /// Packets without a time, which took that of the one before.
  package var timeless: UInt64 = 0
  /// What was found in packets that may hold UDP.
  package var udp = CaptureCounters()
  /// What was found in packets that hold Bluetooth.
  package var bluetooth = CaptureCounters()
  /// Datagrams decoded and refused, by format and reason.
  package var datagrams = DatagramCounters()

  /// Starts at zero.
  package init() {}
}
