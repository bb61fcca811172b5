public import PharosReports

/// The head of a Pharos datagram, and where its records and its tag lie.
///
/// Ingest reads it before the records: the key id says which key to verify the tag with, and the boot id and
/// sequence feed the replay window and the accounting of gaps.
public struct PharosDatagramHead: Equatable, Sendable {
  /// Who sent the datagram, and reports all records that name nobody else.
  public let observer: ObserverID
  /// Which of the sender's keys made the tag; 0 in a datagram that is not signed.
  public let keyID: UInt32
  /// A number that grows whenever the sender starts anew.
  public let bootID: UInt32
  /// Counts the sender's datagrams since it started.
  public let sequence: UInt32
  /// How long the sender has been up, to the millisecond.
  public let uptime: TimeSpan
  /// Where the records lie.
  public let records: Range<Int>
  /// Where the tag lies, or nil if the datagram is not signed.
  ///
  /// What is signed is every byte before it.
  public let tag: Range<Int>?

  /// Reads the head of a datagram; the records are not looked at.
  ///
  /// - Throws: why the datagram is refused.
  public static func head(of datagram: RawSpan) throws(DatagramRefusal) -> PharosDatagramHead {
    try PharosDatagramHead(datagram)
  }

  /// Where the head ends and the records begin is known only once the observer is read.
  private init(_ bytes: RawSpan) throws(DatagramRefusal) {
    var cursor = ByteCursor(bytes.wholeRange)
    guard try cursor.u32(bytes) == PharosDatagramLayout.magic else { throw .unrecognised }
    guard try cursor.u8(bytes) == PharosDatagramLayout.version else { throw .unsupportedVersion }
    let flags = try cursor.u8(bytes)
    guard flags & ~PharosDatagramLayout.signedFlag == 0 else { throw .unsupportedVersion }
    guard Int(try cursor.u16(bytes)) == bytes.byteCount else { throw .lengthMismatch }
    keyID = try cursor.u32(bytes)
    bootID = try cursor.u32(bytes)
    sequence = try cursor.u32(bytes)
    let milliseconds = try cursor.u64(bytes)
    guard milliseconds <= UInt64(WireLimits.mostMilliseconds) else { throw .badField }
    uptime = .milliseconds(Int64(milliseconds))
    let kind = try cursor.u8(bytes)
    let length = Int(try cursor.u8(bytes))
    observer = try PharosDatagramHead.observer(bytes, kind: kind, in: try cursor.take(length))
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

  /// What the head says of its datagram, as a report.
  var transmission: Transmission { Transmission(bootID: bootID, sequence: sequence, uptime: uptime) }
}
