import DequeModule
package import PharosCaptures
package import PharosModel
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
  /// An action for the caller.
  package enum Action: Hashable, Sendable {
    /// Look the server's name up and open a socket; then call ``Gateway/opened(at:)`` or
    /// ``Gateway/failed(_:at:hasAlternative:)``.
    case open
    /// Send the datagram; then call ``Gateway/sent(at:)``, ``Gateway/blocked()`` or
    /// ``Gateway/failed(_:at:hasAlternative:)``.
    ///
    /// With a key, its last bytes are zero; the caller writes the tag over them.
    case send([UInt8])
    /// Nothing more: the input has ended, and what could be sent was.
    case end
  }

  /// The state of the link to the server.
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

  /// The identity of the gateway.
  package let identity: GatewayIdentity
  /// The times and sizes that apply to it.
  package let limits: GatewayLimits
  /// The counts of its work so far.
  package internal(set) var counters = GatewayCounters()
  /// The counts of packets found and skipped in the input.
  package var captureCounters: CaptureCounters { extractor.counters }
  /// The trouble found last, while the server cannot be reached.
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
  /// The counts of parcels that the ring had no room for after they were sent, oldest first: a failure that concerns their
  /// datagrams shows that they are lost.
  var released: Deque<ReleasedParcel> = []
  /// Indicates whether the system has no room for datagrams.
  var isBlocked = false
  /// The time at which a datagram was sent last.
  var lastSentAt: Timestamp?
  var nextSequence: UInt32 = 0
  var pausedUntil: Timestamp
  var heartbeatAt: Timestamp
  var tally = HeartbeatTally()
  /// The deadline for the remaining work, set when the input has ended.
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
  package mutating func receive(_ packet: Packet, heard: Timestamp) {
    let filtered = scan.filtersDuplicates
    scan.look(at: packet, heard: heard)
    if scan.filtersDuplicates, !filtered, !notices.contains(.filtersDuplicates) {
      notices.append(.filtersDuplicates)
    }
    var batch = ReportBatch()
    swap(&batch, &found)
    let observer = identity.observer
    extractor.forEachReport(in: packet) { $0.append(to: &batch, observer: observer, received: heard) }
    if !batch.isEmpty { scan.receive(at: heard) }
    for report in batch.reports { add(report, from: batch) }
    batch.removeAll()
    swap(&batch, &found)
  }

  /// Marks the end of the input: the gateway sends what is left, if it can within ``GatewayLimits/endPatience``.
  package mutating func end(at now: Timestamp) {
    guard endsAt == nil else { return }
    endsAt = now + limits.endPatience
  }

  /// Returns whether more input should be read now; live input always should.
  package func wantsInput(isLive: Bool) -> Bool { isLive || waiting.count < limits.backlog }

  /// Returns the notices since the last call and clears them.
  package mutating func drainNotices() -> [GatewayNotice] {
    defer { notices = [] }
    return notices
  }

  /// Returns the share of time that the radio listened since the last heartbeat, if it is known.
  mutating func drainScanDuty(at now: Timestamp) -> Float? { scan.drainDuty(at: now) }
}

/// The path of adverts into parcels and of parcels into the ring.
extension Gateway {
  /// Puts an advert of a batch into the parcel that is being filled.
  package mutating func add(_ report: Report, from batch: borrowing ReportBatch) {
    guard case .advert(var advert) = report.body else { return }
    counters.heard += 1
    tally.receive()
    let room = PharosDatagramLayout.maximumLength - lengths.empty - lengths.advert
    if advert.payload.count > room {
      counters.shortened += 1
      advert.payload = Gateway.shortened(advert.payload, to: room, in: batch)
    }
    let length = lengths.advert + advert.payload.count
    if filling.length + length > PharosDatagramLayout.maximumLength { close() }
    var report = report
    report.body = .advert(advert)
    filling.append(report, from: batch, length: length)
    makeRoom()
  }

  /// Appends a heartbeat after everything that was heard and closes its datagram.
  mutating func addHeartbeat(at now: Timestamp) {
    if filling.length + lengths.heartbeat > PharosDatagramLayout.maximumLength { close() }
    let heartbeat = tally.drain(scanDuty: drainScanDuty(at: now))
    filling.append(heartbeat, of: identity.observer, at: now, length: lengths.heartbeat)
    heartbeatAt = now + limits.heartbeatPeriod
    close()
  }

  /// Ends the parcel that is being filled: it waits to be sent.
  mutating func close() {
    guard !filling.isEmpty else { return }
    waiting.append(filling)
    filling = Parcel(start: filling.start, length: lengths.empty)
  }

  /// Drops the oldest parcels until the rest fits in the ring.
  ///
  /// Parcels sent so long ago that they will hardly be taken back go first: as far as is known, dropping them loses
  /// nothing. If a failure shows later that it did, they are counted then.
  private mutating func makeRoom() {
    while recent.memory + waiting.memory + filling.memory > limits.ring {
      if let sentAt = recent.first?.sentAt, let lastSentAt, lastSentAt - sentAt > limits.refusalDelay {
        release()
      } else if let oldest = waiting.popFirst() {
        drop(oldest.adverts, oldest.heartbeat)
      } else if recent.first != nil {
        release()
      } else {
        return
      }
    }
  }

  /// Gives up the contents of the parcel that was sent first.
  private mutating func release() {
    guard let parcel = recent.popFirst(), let sentAt = parcel.sentAt else { return }
    released.append(ReleasedParcel(sentAt: sentAt, adverts: parcel.adverts, heartbeat: parcel.heartbeat))
  }

  private mutating func drop(_ adverts: UInt64, _ heartbeat: Heartbeat?) {
    counters.dropped += adverts
    tally.drop(adverts)
    if let heartbeat { tally.restore(heartbeat) }
    guard outage?.isDropping == false else { return }
    outage?.isDropping = true
    notices.append(.dropping)
  }

  /// The AD structures from the first one on that fit whole.
  private static func shortened(
    _ payload: Range<UInt32>,
    to room: Int,
    in batch: borrowing ReportBatch
  ) -> Range<UInt32> {
    let bytes = batch.payloads[Int(payload.lowerBound)..<Int(payload.upperBound)]
    var structures = ADStructures()
    var end = 0
    while let structure = structures.next(in: bytes.span.bytes), structure.payload.upperBound <= room {
      end = structure.payload.upperBound
    }
    return payload.lowerBound..<payload.lowerBound + UInt32(end)
  }
}

/// The lengths of records in the datagrams of a gateway, found by encoding each of them once.
struct RecordLengths: Sendable {
  /// A datagram without records, its tag included.
  let empty: Int
  /// An advert without data.
  let advert: Int
  /// A heartbeat.
  let heartbeat: Int

  init(of identity: GatewayIdentity) {
    var batch = ReportBatch()
    let time = Timestamp(nanoseconds: 0)
    let observer = batch.index(of: identity.observer)
    let bodies: [ReportBody] = [
      .advert(Advert(address: nil, rssi: nil, payload: 0..<0)),
      .heartbeat(Heartbeat(advertsHeard: 0, scanDuty: nil, dropped: 0)),
    ]
    for body in bodies {
      batch.append(Report(observer: observer, received: time, timing: .received, body: body))
    }
    var encoder = PharosDatagramEncoder(
      observer: identity.observer,
      bootID: 0,
      signingKeyID: identity.signingKeyID
    )
    empty = encoder.byteCount
    let lengths = batch.reports.map { report in
      let before = encoder.byteCount
      _ = encoder.append(report, from: batch)
      return encoder.byteCount - before
    }
    advert = lengths[0]
    heartbeat = lengths[1]
  }
}

/// The sending of datagrams and its timing.
extension Gateway {
  /// Returns the next action, or nil if there is none until ``deadline(after:)``.
  package mutating func next(at now: Timestamp) -> Action? {
    discardConfirmed(at: now)
    if isOver(at: now) { return .end }
    switch link {
    case .down(let time):
      guard now >= time else { return nil }
      link = .opening
      return .open
    case .opening, .probing:
      return nil
    case .fresh, .up:
      fill(at: now)
      return send(at: now)
    }
  }

  /// Records that the system has taken the datagram.
  package mutating func sent(at now: Timestamp) {
    guard var parcel = inHand else { return }
    inHand = nil
    if link == .fresh {
      outage?.kept = counters.unsent
      link = .probing(until: now + probeDelay)
    }
    parcel.sentAt = now
    lastSentAt = now
    recent.append(parcel)
    counters.datagrams += 1
    counters.sent += parcel.adverts
    if parcel.heartbeat != nil { counters.heartbeats += 1 }
    pausedUntil = now + limits.pause
  }

  /// Records that the system has no room for the datagram until ``writable()``.
  package mutating func blocked() {
    isBlocked = true
    guard let parcel = inHand else { return }
    inHand = nil
    waiting.prepend(CollectionOfOne(parcel))
  }

  /// Records that the system has room again.
  package mutating func writable() { isBlocked = false }

  /// Returns the time by which ``next(at:)`` must be called again, if nothing happens before.
  package func deadline(after now: Timestamp) -> Timestamp {
    let end = endsAt.flatMap { $0 > now ? $0 : nil } ?? .distantFuture
    switch link {
    case .down(let time), .probing(let time): return min(time, end)
    case .opening: return end
    case .fresh, .up: return isBlocked ? end : min(sendingDeadline, end)
    }
  }

  /// The time at which there is something to send, or to do at the end.
  private var sendingDeadline: Timestamp {
    guard waiting.isEmpty else { return pausedUntil }
    if hasSaidGoodbye, filling.isEmpty { return endOfWaiting ?? pausedUntil }
    let due = filling.isEmpty ? heartbeatAt : min(heartbeatAt, filling.start + limits.batchDelay)
    return endsAt == nil ? due : pausedUntil
  }

  /// Forgets what can no longer be returned, and takes the server as reached once a first datagram was not refused.
  private mutating func discardConfirmed(at now: Timestamp) {
    while let sentAt = recent.first?.sentAt, now - sentAt > limits.unreachableDelay { _ = recent.popFirst() }
    while let first = released.first, now - first.sentAt > limits.unreachableDelay { released.removeFirst() }
    guard case .probing(let time) = link, now >= time else { return }
    link = .up
    guard let outage else { return }
    notices.append(
      .reached(
        after: now - outage.start,
        kept: outage.kept,
        dropped: counters.dropped - outage.droppedBefore
      )
    )
    self.outage = nil
  }

  /// Ends the parcel that is being filled if its time has come, and adds a heartbeat if that is due.
  private mutating func fill(at now: Timestamp) {
    // A heartbeat comes behind all that was heard before it: it proves that who is silent was silent.
    if waiting.isEmpty, !hasSaidGoodbye, endsAt != nil || now >= heartbeatAt {
      hasSaidGoodbye = endsAt != nil
      addHeartbeat(at: now)
    } else if !filling.isEmpty, endsAt != nil || now - filling.start >= limits.batchDelay {
      close()
    }
  }

  private mutating func send(at now: Timestamp) -> Action? {
    guard !isBlocked, now >= pausedUntil, inHand == nil, var parcel = waiting.popFirst() else { return nil }
    if parcel.sequence == nil {
      parcel.sequence = nextSequence
      nextSequence &+= 1
    }
    inHand = parcel
    return .send(encoded(parcel, at: now))
  }

  /// The datagram of a parcel that is sent now.
  private func encoded(_ parcel: Parcel, at now: Timestamp) -> [UInt8] {
    var encoder = PharosDatagramEncoder(
      observer: identity.observer,
      bootID: identity.bootID,
      sequence: parcel.sequence ?? 0,
      signingKeyID: identity.signingKeyID
    )
    for report in parcel.batch.reports {
      let fits = encoder.append(report, from: parcel.batch, sent: now)
      precondition(fits, "a parcel is closed before it is longer than a datagram")
    }
    return encoder.finish(uptime: now - start)
  }
}

/// The detection of outages of the server and of their end.
extension Gateway {
  /// A time during which the server cannot be reached.
  struct Outage: Hashable, Sendable {
    var start: Timestamp
    var trouble: LinkTrouble
    var tries = 0
    var droppedBefore: UInt64
    /// Adverts that waited when a socket was open again.
    var kept: UInt64 = 0
    var isDropping = false
  }

  /// Records that a socket to the server is open.
  package mutating func opened(at now: Timestamp) {
    link = .fresh
    isBlocked = false
  }

  /// Handles a failure: no socket could be opened, the system refused a datagram, or an earlier datagram did not
  /// arrive.
  ///
  /// The caller closes the socket, and ``next(at:)`` asks for another. Datagrams that were sent so shortly before that
  /// the failure may concern them go back into the ring.
  ///
  /// - Parameters:
  ///   - trouble: the failure.
  ///   - now: the time.
  ///   - hasAlternative: indicates whether the server has another address that was not tried yet: the gateway tries it
  ///     at once, without a notice.
  package mutating func failed(_ trouble: LinkTrouble, at now: Timestamp, hasAlternative: Bool = false) {
    let droppedBefore = counters.dropped
    let start = now - delay(of: trouble)
    requeue(since: start)
    defer { dropReleased(since: start) }
    guard !hasAlternative else {
      link = .down(until: now)
      return
    }
    if outage == nil {
      outage = Outage(start: now, trouble: trouble, droppedBefore: droppedBefore)
      counters.outages += 1
      notices.append(.lost(trouble))
    } else if outage?.trouble != trouble {
      outage?.trouble = trouble
      notices.append(.stillLost(trouble))
    }
    let tries = outage?.tries ?? 0
    outage?.tries = tries + 1
    let wait = min(limits.maximumRetry, limits.firstRetry * Double(1 << min(tries, 16)))
    link = .down(until: now + wait)
  }

  /// The delay after a first datagram before others may follow: as long as a failure like the last one may take to
  /// show.
  var probeDelay: TimeSpan { outage.map { delay(of: $0.trouble) } ?? limits.refusalDelay }

  private func delay(of trouble: LinkTrouble) -> TimeSpan {
    trouble.isSlow ? limits.unreachableDelay : limits.refusalDelay
  }

  /// Puts what is in hand and what was sent since a time back to the front of the ring, in its order.
  private mutating func requeue(since time: Timestamp) {
    var parcels: [Parcel] = []
    while let parcel = recent.popFirst() {
      guard let sentAt = parcel.sentAt, sentAt >= time else { continue }
      counters.sent -= parcel.adverts
      counters.repeats += 1
      if parcel.heartbeat != nil { counters.heartbeats -= 1 }
      parcels.append(parcel)
    }
    if let parcel = inHand { parcels.append(parcel) }
    inHand = nil
    waiting.prepend(parcels)
  }

  /// Counts as dropped what was sent since a time and given up meanwhile.
  private mutating func dropReleased(since time: Timestamp) {
    for parcel in released where parcel.sentAt >= time {
      counters.sent -= parcel.adverts
      if parcel.heartbeat != nil { counters.heartbeats -= 1 }
      drop(parcel.adverts, parcel.heartbeat)
    }
    released.removeAll()
  }

  /// The time until which a refusal of the last datagram may still arrive.
  var endOfWaiting: Timestamp? { lastSentAt.map { $0 + limits.refusalDelay } }

  /// Returns whether there is nothing left to do.
  func isOver(at now: Timestamp) -> Bool {
    guard let endsAt else { return false }
    switch link {
    case .down, .opening, .fresh, .probing:
      return now >= endsAt
    case .up:
      let isEmpty = waiting.isEmpty && filling.isEmpty && inHand == nil && hasSaidGoodbye
      return isEmpty ? endOfWaiting.map { now >= $0 } ?? true : isBlocked && now >= endsAt
    }
  }
}

/// The counts for the next heartbeat.
package struct HeartbeatTally: Sendable {
  /// Adverts heard since the last one.
  private var heard: UInt64 = 0
  /// Adverts lost since the last one.
  private var dropped: UInt64 = 0

  package init() {}

  package mutating func receive() { heard += 1 }

  package mutating func drop(_ adverts: UInt64) { dropped += adverts }

  /// A heartbeat that was never sent gives back what it would have said.
  package mutating func restore(_ heartbeat: Heartbeat) {
    heard += UInt64(heartbeat.advertsHeard ?? 0)
    dropped += UInt64(heartbeat.dropped)
  }

  /// Returns the heartbeat to send now; the counts restart at what did not fit into it.
  package mutating func drain(scanDuty: Float?) -> Heartbeat {
    // The highest number stands for "not counted".
    let reported = (heard: min(heard, UInt64(UInt32.max - 1)), dropped: min(dropped, UInt64(UInt32.max)))
    heard -= reported.heard
    dropped -= reported.dropped
    return Heartbeat(
      advertsHeard: UInt32(reported.heard),
      scanDuty: scanDuty,
      dropped: UInt32(reported.dropped)
    )
  }
}
