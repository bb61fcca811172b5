import PharosReports

/// The head of a Pharos datagram as numbers and places: what is read of each one on the way to its reports.
///
/// Free of references, so that it is passed on in registers; the sender's identity is looked at where it lies.
struct PharosDatagramOutline {
  /// Which of the sender's keys made the tag; 0 in a datagram that is not signed.
  let keyID: UInt32
  /// What the head says of its datagram, as a report.
  let transmission: Transmission
  /// What the sender's identity is; see ``PharosDatagramLayout/ObserverKind``.
  let observerKind: UInt8
  /// Where the sender's identity lies.
  let identity: Range<Int>
  /// Where the records lie.
  let records: Range<Int>
  /// Where the tag lies, or nil if the datagram is not signed.
  let tag: Range<Int>?

  /// Reads the head of a datagram; the sender's identity and the records are not looked at.
  init(_ bytes: RawSpan) throws(DatagramRefusal) {
    var cursor = ByteCursor(bytes.wholeRange)
    guard try cursor.u32(bytes) == PharosDatagramLayout.magic else { throw .unrecognised }
    guard try cursor.u8(bytes) == PharosDatagramLayout.version else { throw .unsupportedVersion }
    let flags = try cursor.u8(bytes)
    guard flags & ~PharosDatagramLayout.signedFlag == 0 else { throw .unsupportedVersion }
    guard Int(try cursor.u16(bytes)) == bytes.byteCount else { throw .lengthMismatch }
    keyID = try cursor.u32(bytes)
    let bootID = try cursor.u32(bytes)
    let sequence = try cursor.u32(bytes)
    let milliseconds = try cursor.u64(bytes)
    guard milliseconds <= UInt64(WireLimits.mostMilliseconds) else { throw .badField }
    transmission = Transmission(
      bootID: bootID,
      sequence: sequence,
      uptime: .milliseconds(Int64(milliseconds))
    )
    observerKind = try cursor.u8(bytes)
    let length = Int(try cursor.u8(bytes))
    identity = try cursor.take(length)
    guard flags & PharosDatagramLayout.signedFlag != 0 else {
      guard keyID == 0 else { throw .badField }
      records = cursor.offset..<cursor.end
      tag = nil
      return
    }
    guard cursor.remaining >= PharosDatagramLayout.tagLength else { throw .tooShort }
    records = cursor.offset..<cursor.end - PharosDatagramLayout.tagLength
    tag = records.upperBound..<cursor.end
  }

  /// Reads the identity of an observer.
  static func observer(
    _ bytes: RawSpan,
    kind: UInt8,
    in range: Range<Int>
  ) throws(DatagramRefusal) -> ObserverID {
    guard let kind = PharosDatagramLayout.ObserverKind(rawValue: kind) else { throw .badIdentity }
    switch kind {
    case .eui48:
      guard range.count == 6 else { throw .lengthMismatch }
      return .eui48(bytes.u48(at: range.lowerBound))
    case .eui64:
      guard range.count == 8 else { throw .lengthMismatch }
      return .eui64(bytes.u64(at: range.lowerBound))
    case .uuid:
      guard range.count == 16 else { throw .lengthMismatch }
      return .uuid(UUID128(high: bytes.u64(at: range.lowerBound), low: bytes.u64(at: range.lowerBound + 8)))
    case .name:
      // A name that spells a MAC or a UUID is that identity: one observer never has two.
      return try WireText.observer(bytes, range)
    }
  }
}
