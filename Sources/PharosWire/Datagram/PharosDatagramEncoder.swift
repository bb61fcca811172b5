public import PharosReports

/// Builds Pharos datagrams, version 1, from the reports of batches.
///
/// Append reports until one does not fit, finish, send, append it again to the next datagram:
///
/// ```swift
/// if !encoder.append(report, from: batch) {
///   send(encoder.finish(uptime: uptime))
///   _ = encoder.append(report, from: batch)
/// }
/// ```
///
/// The buffer is kept from one datagram to the next.
public struct PharosDatagramEncoder: Sendable {
  /// Who sends; reports of others are preceded by a record that names them.
  public let observer: ObserverID
  /// A number that increases with each start of the sender.
  public let bootID: UInt32
  /// The key that will sign, or nil for unsigned datagrams.
  ///
  /// With a key, the last ``PharosDatagramLayout/tagLength`` bytes of a datagram are zero; the holder of the key
  /// writes the tag over them.
  public let signingKeyID: UInt32?
  /// The number of the datagram that is being built.
  public private(set) var sequence: UInt32

  /// The datagram so far, without its tag; lengths and the like are filled in at the end.
  var bytes: [UInt8] = []
  private var headLength = 0
  /// Whose records are being written.
  private var current: ObserverID

  /// Starts the first datagram of a sender.
  ///
  /// - Parameters:
  ///   - observer: the sender.
  ///   - bootID: a number that increases with each start of the sender.
  ///   - sequence: the number of the first datagram.
  ///   - signingKeyID: the key that will sign, or nil.
  public init(observer: ObserverID, bootID: UInt32, sequence: UInt32 = 0, signingKeyID: UInt32? = nil) {
    self.observer = observer
    self.bootID = bootID
    self.sequence = sequence
    self.signingKeyID = signingKeyID
    current = observer
    bytes.reserveCapacity(PharosDatagramLayout.longest)
    appendHead()
  }

  /// Whether no record was appended since the datagram was begun.
  public var isEmpty: Bool { bytes.count == headLength }

  /// How many bytes the datagram has so far, its tag included.
  public var byteCount: Int { bytes.count + tagLength }

  /// Appends a report, or says that it does not fit any more and leaves the datagram as it was.
  ///
  /// What does not even fit into an empty datagram (some 1,300 bytes of payload, 100 access points or 79
  /// motion samples) never will: split it. Heads of datagrams (`.transmission`) count as appended: every
  /// datagram has its own.
  ///
  /// - Parameters:
  ///   - report: what to append.
  ///   - batch: the batch that holds it.
  ///   - sent: when the datagram will be sent, by the clock of the report's times; the age written is the
  ///     time from when the report's thing happened until then. Without it the time of receipt stands for it,
  ///     so that a report keeps the age it has.
  /// - Returns: whether it was appended.
  public mutating func append(
    _ report: Report,
    from batch: borrowing ReportBatch,
    sent: Timestamp? = nil
  ) -> Bool {
    if case .transmission = report.body { return true }
    let before = bytes.count
    let reporter = batch.observers[Int(report.observer)]
    if reporter != current { appendObserverRecord(reporter) }
    let age = (sent ?? report.received) - report.sendersTime
    appendRecord(report.body, from: batch, milliseconds: PharosDatagramEncoder.milliseconds(age))
    guard byteCount <= PharosDatagramLayout.longest else {
      bytes.removeSubrange(before...)
      return false
    }
    current = reporter
    return true
  }

  /// Ends the datagram and begins the next one, whose number is one higher.
  ///
  /// - Parameters:
  ///   - uptime: how long the sender has been up.
  ///   - datagram: replaced by the finished datagram; its storage is reused.
  public mutating func finish(uptime: TimeSpan, into datagram: inout [UInt8]) {
    for _ in 0..<tagLength { bytes.append(0) }
    bytes.put(UInt64(bytes.count), bytes: 2, at: PharosDatagramLayout.lengthOffset)
    bytes.put(UInt64(sequence), bytes: 4, at: PharosDatagramLayout.sequenceOffset)
    let milliseconds = UInt64(max(0, uptime.nanoseconds)) / 1_000_000
    bytes.put(milliseconds, bytes: 8, at: PharosDatagramLayout.uptimeOffset)
    datagram.removeAll(keepingCapacity: true)
    datagram.append(contentsOf: bytes)
    sequence &+= 1
    current = observer
    bytes.removeSubrange(headLength...)
  }

  /// Ends the datagram, begins the next one, and returns the finished one.
  public mutating func finish(uptime: TimeSpan) -> [UInt8] {
    var datagram: [UInt8] = []
    finish(uptime: uptime, into: &datagram)
    return datagram
  }

  private var tagLength: Int { signingKeyID == nil ? 0 : PharosDatagramLayout.tagLength }

  private mutating func appendHead() {
    bytes.append(u32: PharosDatagramLayout.magic)
    bytes.append(PharosDatagramLayout.version)
    bytes.append(signingKeyID == nil ? 0 : PharosDatagramLayout.signedFlag)
    bytes.append(u16: 0)
    bytes.append(u32: signingKeyID ?? 0)
    bytes.append(u32: bootID)
    bytes.append(u32: sequence)
    bytes.append(u64: 0)
    bytes.append(PharosDatagramEncoder.kind(of: observer).rawValue)
    bytes.append(0)
    appendIdentity(observer)
    bytes[PharosDatagramLayout.observerOffset + 1] = UInt8(
      bytes.count - PharosDatagramLayout.observerOffset - 2
    )
    headLength = bytes.count
  }
}
