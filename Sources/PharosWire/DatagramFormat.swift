public import PharosReports

/// A datagram format: how to tell it from others, and how to read it.
///
/// A format has no state and reads no clock. Each one passes the same conformance suite: any bytes at all are
/// decoded or refused, never more.
public protocol DatagramFormat {
  /// Which format it is.
  static var format: WireFormat { get }

  /// Whether a datagram is in this format, judged by its first bytes.
  ///
  /// No datagram is recognised by two formats.
  static func recognises(_ datagram: RawSpan) -> Bool

  /// Appends the reports of a datagram to a batch.
  ///
  /// All or nothing: a refused datagram leaves the batch exactly as it was.
  ///
  /// - Parameters:
  ///   - datagram: the whole payload of one UDP datagram.
  ///   - received: R, the time at which it was received.
  ///   - batch: what the reports are appended to.
  /// - Throws: why it is refused.
  static func decode(
    _ datagram: RawSpan,
    received: Timestamp,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal)
}
