package import PharosCaptures
package import PharosReports
import PharosWire

/// A gateway without its sockets and pipes: its caller passes packets and times in, and it returns datagrams.
///
/// Adverts are put into parcels, one per datagram; a parcel is sent when it is full or its first advert has waited for
/// ``GatewayLimits/batchDelay``. While the server cannot be reached, parcels wait in a ring; when that is full, the
/// oldest are dropped and counted. When the server is back, the waiting parcels are sent first, oldest first, each
/// advert with its true age: a server that received a fresh heartbeat first would take it as proof that every silent
/// beacon has left.
///
/// The system reports a refusal only after the datagram was sent in vain. So the gateway keeps each datagram for as
/// long as a refusal of it may still arrive; over a fresh socket it sends a single one, and the others only if no
/// refusal follows.
///
/// The caller calls ``next(at:)`` until it returns nil, performs each action, reports the outcome, and calls again at
/// ``deadline(after:)`` or when there is new input. All times are from one clock that never goes back and that counts
/// while the machine is suspended.
package struct Gateway: Sendable {
  /// What is to be done.
  package enum Action: Hashable, Sendable {
    /// Look the server's name up and open a socket; then say ``Gateway/opened(at:)`` or ``Gateway/failed(_:at:hasAlternative:)``.
    case open
    /// Send the datagram; then say ``Gateway/taken(at:)``, ``Gateway/blocked()`` or ``Gateway/failed(_:at:hasAlternative:)``.
    ///
    /// Where there is a key, its last bytes are zero, for the tag.
    case send([UInt8])
    /// Nothing more: the input has ended, and what could be sent was.
    case end
  }

  /// Whether the server can be reached.
  enum Link: Hashable, Sendable {
    /// It could not; a socket is to be opened at this time.
    case down(until: Timestamp)
    /// A socket is being opened.
    case opening
    /// A socket is open, and nothing was sent over it yet.
    case fresh
    /// One datagram was sent, and it may be refused until this time.
    case probing(until: Timestamp)
    /// Nothing speaks against it.
    case up
  }

  /// Who it is.
  package let identity: GatewayIdentity
  /// The times and sizes it goes by.
  package let limits: GatewayLimits
  /// What it has done.
  package internal(set) var counters = GatewayCounters()
  /// What was found in the input, and what was passed over.
  package var captureCounters: CaptureCounters { extractor.counters }
  /// What was last found to be wrong, while the server cannot be reached.
  package var trouble: LinkTrouble? { outage?.trouble }

  var link: Link
  /// The present outage: since when, why, how many tries failed, and what was dropped before it.
  var outage: Outage?
  /// The parcel that is being filled.
  package var filling: Parcel
  /// The ring: parcels that wait to be sent.
  package var waiting = ParcelQueue()
  /// The parcel whose datagram is being handed to the system.
  var inHand: Parcel?
  /// Parcels that were sent and may still come back, oldest first.
  package var recent = ParcelQueue()
  /// Whether the system has room for datagrams.
  var isBlocked = false
  /// When a datagram was sent last.
  var lastSentAt: Timestamp?
  var nextSequence: UInt32 = 0
  var pausedUntil: Timestamp
  var heartbeatAt: Timestamp
  var tally = HeartbeatTally()
  /// Until when to go on once there is nothing more to come.
  var endsAt: Timestamp?
  var hasSaidGoodbye = false
  var notices: [GatewayNotice] = []
  let start: Timestamp
  let lengths: RecordLengths
  private var extractor = AdvertExtractor()
  private var scan = ScanWatch()
  private var found = ReportBatch()

  /// Starts a gateway, which will first ask for a socket.
  package init(_ identity: GatewayIdentity, limits: GatewayLimits = GatewayLimits(), at now: Timestamp) {
    self.identity = identity
    self.limits = limits
    lengths = RecordLengths(of: identity)
    start = now
    link = .down(until: now)
    pausedUntil = now
    heartbeatAt = now
    filling = Parcel(start: now, length: lengths.empty)
  }

  /// Takes a packet of the input that was heard at a time, now or before.
  package mutating func take(_ packet: Packet, heard: Timestamp) {
    scan.look(at: packet, heard: heard)
    var batch = ReportBatch()
    swap(&batch, &found)
    let observer = identity.observer
    extractor.forEachReport(in: packet) { $0.append(to: &batch, observer: observer, received: heard) }
    if !batch.isEmpty { scan.hear(at: heard) }
    for report in batch.reports { add(report, from: batch) }
    batch.removeAll()
    swap(&batch, &found)
  }

  /// Says that there is nothing more to come: what there is will be sent, if it can be within
  /// ``GatewayLimits/endPatience``.
  package mutating func end(at now: Timestamp) {
    guard endsAt == nil else { return }
    endsAt = now + limits.endPatience
  }

  /// Whether more input should be read now; live input always should.
  package func wantsInput(isLive: Bool) -> Bool { isLive || waiting.count < limits.backlog }

  /// What happened since this was called last.
  package mutating func takeNotices() -> [GatewayNotice] {
    defer { notices = [] }
    return notices
  }

  /// The share of time that the radio listened since the last heartbeat, if it can be told.
  mutating func takeScanDuty(at now: Timestamp) -> Float? { scan.takeDuty(at: now) }
}
