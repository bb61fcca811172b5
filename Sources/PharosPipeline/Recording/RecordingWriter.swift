package import PharosCaptures
package import PharosReports

/// Writes a recording: every input of a server in its total order, in a pcapng that Wireshark opens.
///
/// Datagrams are packets with made-up IP and UDP headers, stamped with R; all other inputs lie in blocks for local use.
/// The site stands first, so that a recording needs no other file to be processed. The bytes gather here until the caller
/// takes them; whatever was taken is a whole capture, so that a recording that was cut off is good up to there.
///
/// The caller gives the inputs in the order in which the engines took them, and ends with ``finish(through:)``.
package struct RecordingWriter: Sendable {
  /// How many datagrams were written.
  package private(set) var datagrams: UInt64 = 0
  /// How many other inputs were written, the site among them.
  package private(set) var otherInputs: UInt64 = 0

  private var capture: CaptureWriter

  /// Starts a recording with the site that the server runs with.
  ///
  /// - Throws: that the site is larger than a block that is read back, 1 MiB.
  package init(site: Site, application: String = "pharos") throws(CaptureError) {
    capture = CaptureWriter(
      comment: "Pharos recording of stream \(site.stream): all inputs in order",
      application: application
    )
    try write(.site(site))
  }

  /// How many bytes wait to be taken.
  package var pendingCount: Int { capture.pendingCount }

  /// Hands over what was written since the last time and forgets it.
  package mutating func takeBytes() -> [UInt8] { capture.takeBytes() }

  /// Writes a datagram as it was received, whether it decodes or not.
  ///
  /// - Throws: that it is longer than a datagram can be.
  package mutating func write(
    datagram payload: RawSpan,
    from source: Endpoint,
    to destination: Endpoint,
    received: Timestamp
  ) throws(CaptureError) {
    try capture.write(payload: payload, from: source, to: destination, at: received)
    datagrams &+= 1
  }

  /// Writes an input that is no datagram.
  ///
  /// - Throws: that it is larger than a block that is read back, 1 MiB.
  package mutating func write(_ input: RecordedInput) throws(CaptureError) {
    try capture.write(block: RecordedInput.blockType, content: input.encoded.span.bytes)
    otherInputs &+= 1
  }

  /// Writes a region change.
  ///
  /// - Throws: that it is larger than a block that is read back, 1 MiB.
  package mutating func write(_ change: RegionChange, at instant: Timestamp) throws(CaptureError) {
    try write(.change(change, at: instant))
  }

  /// Writes what the server went on from when it started again, in as many blocks as it takes.
  ///
  /// It comes right behind the site, before all other inputs.
  ///
  /// - Throws: nothing in practice; the parts are smaller than a block that is read back.
  package mutating func write(_ restoration: Restoration, at instant: Timestamp) throws(CaptureError) {
    for part in RestorationPart.parts(of: restoration) { try write(.restored(part, at: instant)) }
  }

  /// Ends the recording: the server had all inputs up to this instant, and decided all that was due by then.
  ///
  /// - Throws: nothing in practice; a tick is small.
  package mutating func finish(through instant: Timestamp) throws(CaptureError) {
    try write(.tick(through: instant))
  }
}
