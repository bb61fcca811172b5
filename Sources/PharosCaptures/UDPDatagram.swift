package import PharosReports

/// A UDP datagram found in a capture, put together from its fragments where it came in several.
package struct UDPDatagram: Sendable, Equatable {
  /// The number of the packet that brought it, of the last fragment where there were several.
  package var frame: Int
  /// When that packet was captured, or nil if the capture does not say.
  package var time: Timestamp?
  /// Who sent it.
  package var source: Endpoint
  /// To whom.
  package var destination: Endpoint
  /// What it carries.
  package var payload: ArraySlice<UInt8>
  /// How long the payload was when it was sent.
  ///
  /// - Units: bytes.
  package var originalLength: Int

  /// Whether the capture holds less than was sent: not to be decoded as a whole.
  package var isSnapped: Bool { payload.count < originalLength }

  /// Makes a datagram; without an original length it counts as whole.
  package init(
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
