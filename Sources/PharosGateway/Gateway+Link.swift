package import PharosReports

/// How a gateway finds out that the server cannot be reached, and that it can be again.
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

  /// Says that a socket is open towards the server.
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
  ///   - hasAlternative: whether the server has another address, not tried yet: it is tried at once, without a notice.
  package mutating func failed(_ trouble: LinkTrouble, at now: Timestamp, hasAlternative: Bool = false) {
    takeBack(since: now - delay(of: trouble))
    guard !hasAlternative else {
      link = .down(until: now)
      return
    }
    if outage == nil {
      outage = Outage(start: now, trouble: trouble, droppedBefore: counters.dropped)
      counters.outages += 1
      notices.append(.lost(trouble))
    } else if outage?.trouble != trouble {
      outage?.trouble = trouble
      notices.append(.stillLost(trouble))
    }
    let tries = outage?.tries ?? 0
    outage?.tries = tries + 1
    let wait = min(limits.longestRetry, limits.firstRetry * Double(1 << min(tries, 16)))
    link = .down(until: now + wait)
  }

  /// How long after a first datagram others may follow: as long as a failure like the last one may take to show.
  var probeDelay: TimeSpan { outage.map { delay(of: $0.trouble) } ?? limits.refusalDelay }

  private func delay(of trouble: LinkTrouble) -> TimeSpan {
    trouble.isSlow ? limits.unreachableDelay : limits.refusalDelay
  }

  /// Puts what is in hand and what was sent since a time back to the front of the ring, in its order.
  private mutating func takeBack(since time: Timestamp) {
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

  /// Until when a refusal of what was sent last may still come.
  var endOfWaiting: Timestamp? { lastSentAt.map { $0 + limits.refusalDelay } }

  /// Whether there is nothing left to do.
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
