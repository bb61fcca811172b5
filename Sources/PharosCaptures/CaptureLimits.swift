/// The sizes that no honest capture exceeds: what keeps memory bounded whatever a file says.
enum CaptureLimits {
  /// The longest packet unless a pcap header announces longer ones: the largest snap length that libpcap
  /// grants.
  ///
  /// - Units: bytes.
  static let packet = 262_144
  /// The longest packet even where a header announces longer ones.
  ///
  /// - Units: bytes.
  static let announcedPacket = 1 << 24
  /// The longest pcapng block that is looked into: a packet and its options.
  ///
  /// Longer ones for local use are skipped, longer ones of other types are damage.
  ///
  /// - Units: bytes.
  static let block = 1 << 20
  /// How many interfaces one pcapng section may describe.
  static let interfaces = 4_096
  /// The longest comment or name that is kept.
  ///
  /// - Units: bytes.
  static let text = 4_096
}

/// What one step of a format's reader gave.
enum CaptureStep {
  /// Something for the caller.
  case item(CaptureItem)
  /// Something that concerns the reader alone; there may be more.
  case passed
  /// Too few bytes for the next part, which the text names: so many are missing.
  case needsMore(part: String, missing: UInt64)
}
