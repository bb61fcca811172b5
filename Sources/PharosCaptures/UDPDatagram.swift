public import PharosReports

/// A UDP datagram found in a capture, put together from its fragments where it came in several.
public struct UDPDatagram: Sendable, Equatable {
  /// The number of the packet that brought it, of the last fragment where there were several.
  public var frame: Int
  /// When that packet was captured, or nil if the capture does not say.
  public var time: Timestamp?
  /// Who sent it.
  public var source: Endpoint
  /// To whom.
  public var destination: Endpoint
  /// What it carries.
  public var payload: ArraySlice<UInt8>
  /// How long the payload was when it was sent.
  ///
  /// - Units: bytes.
  public var originalLength: Int

  /// Whether the capture holds less than was sent: not to be decoded as a whole.
  public var isSnapped: Bool { payload.count < originalLength }

  /// Makes a datagram; without an original length it counts as whole.
  public init(
    frame: Int,
    time: Timestamp?,
    source: Endpoint,
    destination: Endpoint,
    payload: ArraySlice<UInt8>,
    originalLength: Int? = nil
  ) {
    self.frame = frame
    self.time = time
    self.source = source
    self.destination = destination
    self.payload = payload
    self.originalLength = originalLength ?? payload.count
  }
}
