public import PharosModel

/// A datagram format: how to tell it from others, and how to read it.
///
/// A format has no state and reads no clock. Each one passes the same conformance suite: any bytes at all are
/// decoded or refused, never more.
public protocol DatagramFormat: SendableMetatype {
  /// The name in metrics, logs and site files.
  static var name: String { get }
  /// The first bytes, for the message to an operator whose datagrams begin with none of these.
  static var beginning: String { get }

  /// Returns whether a datagram is in this format, judged by its first bytes.
  ///
  /// No two formats recognise the same datagram.
  static func recognises(_ datagram: RawSpan) -> Bool

  /// Returns whether a datagram that no format recognises by its first bytes is in this format further on, as text is that
  /// begins in the middle of a line.
  static func recognisesWithin(_ datagram: RawSpan) -> Bool

  /// Appends the reports of a datagram to a batch.
  ///
  /// An element that cannot be read (an advert, a line, a record) costs itself alone: it is counted in the notes, and the
  /// others are read. A datagram is refused if nothing in it can be read, or if it is signed and anything in it cannot; a
  /// refused datagram leaves the batch exactly as it was.
  ///
  /// - Parameters:
  ///   - datagram: the whole payload of one UDP datagram, or of one message.
  ///   - context: what is known about it apart from its bytes.
  ///   - batch: the batch to append the reports to.
  ///   - notes: what was skipped.
  /// - Throws: the reason for the refusal.
  static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal)
}

extension DatagramFormat {
  /// It is not: without its first bytes nothing of it can be read.
  public static func recognisesWithin(_ datagram: RawSpan) -> Bool { false }

  /// Appends the reports of a datagram of which nothing is known but when it was received.
  ///
  /// - Throws: the reason for the refusal.
  public static func decode(
    _ datagram: RawSpan,
    received: Timestamp,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    var notes = DecodingNotes()
    try decode(datagram, within: MessageContext(received: received), into: &batch, notes: &notes)
  }
}

/// What is known about a datagram apart from its bytes.
public struct MessageContext: Sendable {
  /// R, the time at which it was received.
  public var received: Timestamp
  /// The observer that holds where the datagram names none, as the topic of an MQTT message states it.
  public var observer: ObserverID?
  /// The address of the device that was heard, where the datagram names none.
  public var address: DeviceAddress?

  /// Makes a context.
  public init(received: Timestamp, observer: ObserverID? = nil, address: DeviceAddress? = nil) {
    self.received = received
    self.observer = observer
    self.address = address
  }

  /// Appends a report of an observer about the moment at which the datagram was received.
  func append(_ body: ReportBody, of observer: ObserverID, to batch: inout ReportBatch) {
    let index = batch.index(of: observer)
    batch.append(Report(observer: index, received: received, timing: .received, body: body))
  }
}

/// What was skipped in datagrams that were decoded.
public struct DecodingNotes: Equatable, Sendable {
  /// The numbers of elements that could not be read, by reason.
  public private(set) var skipped: [DatagramRefusal: UInt64] = [:]
  /// The reason for which the first of them could not be read.
  public private(set) var firstReason: DatagramRefusal?
  /// The members of JSON objects that look like the identity of a beacon and were ignored.
  package internal(set) var ignored = IgnoredIdentities()
  /// The age of the oldest advert, in milliseconds, where the format states nothing else about their times.
  var oldestAge: UInt32?

  /// Notes nothing.
  public init() {}

  /// Counts an element that cannot be read.
  mutating func skip(_ reason: DatagramRefusal, count: UInt64 = 1) {
    firstReason = firstReason ?? reason
    skipped[reason, default: 0] &+= count
  }

  /// Reads one element of a batch; counts it if it cannot be read, and leaves the batch as it was.
  ///
  /// - Returns: whether it was read.
  @discardableResult
  mutating func attempt(
    _ batch: inout ReportBatch,
    _ read: (inout ReportBatch) throws(DatagramRefusal) -> Void
  ) -> Bool {
    let mark = batch.mark
    do throws(DatagramRefusal) {
      try read(&batch)
      return true
    } catch {
      batch.removeAll(behind: mark)
      skip(error)
      return false
    }
  }
}
