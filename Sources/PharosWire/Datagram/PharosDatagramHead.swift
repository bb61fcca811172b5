public import PharosReports

/// The head of a Pharos datagram, and where its records and its tag lie.
///
/// Ingest reads it before the records: the key id says which key to verify the tag with, and the boot id and
/// sequence feed the replay window and the accounting of gaps.
public struct PharosDatagramHead: Equatable, Sendable {
  /// The sender of the datagram, and the observer of every record that names no other.
  public let observer: ObserverID
  /// Which of the sender's keys made the tag; 0 in a datagram that is not signed.
  public let keyID: UInt32
  /// A number that increases with each start of the sender.
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
    let outline = try PharosDatagramOutline(datagram)
    let observer = try PharosDatagramOutline.observer(
      datagram,
      kind: outline.observerKind,
      in: outline.identity
    )
    return PharosDatagramHead(outline, observer: observer)
  }

  private init(_ outline: PharosDatagramOutline, observer: ObserverID) {
    self.observer = observer
    keyID = outline.keyID
    bootID = outline.transmission.bootID
    sequence = outline.transmission.sequence
    uptime = outline.transmission.uptime
    records = outline.records
    tag = outline.tag
  }
}
