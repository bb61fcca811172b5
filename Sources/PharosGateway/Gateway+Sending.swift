package import PharosReports
import PharosWire

/// What is sent, and when.
extension Gateway {
  /// What is to be done now, or nil if nothing is until ``deadline(after:)``.
  package mutating func next(at now: Timestamp) -> Action? {
    settle(at: now)
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

  /// Says that the system has taken the datagram.
  package mutating func taken(at now: Timestamp) {
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

  /// Says that the system has no room for the datagram until ``writable()``.
  package mutating func blocked() {
    isBlocked = true
    guard let parcel = inHand else { return }
    inHand = nil
    waiting.prepend(CollectionOfOne(parcel))
  }

  /// Says that the system has room again.
  package mutating func writable() { isBlocked = false }

  /// When to look at ``next(at:)`` again at the latest, if nothing happens before.
  package func deadline(after now: Timestamp) -> Timestamp {
    let end = endsAt.flatMap { $0 > now ? $0 : nil } ?? .distantFuture
    switch link {
    case .down(let time), .probing(let time): return min(time, end)
    case .opening: return end
    case .fresh, .up: return isBlocked ? end : min(sendingDeadline, end)
    }
  }

  /// When there is something to be sent, or to be done at the end.
  private var sendingDeadline: Timestamp {
    guard waiting.isEmpty else { return pausedUntil }
    if hasSaidGoodbye, filling.isEmpty { return endOfWaiting ?? pausedUntil }
    let due = filling.isEmpty ? heartbeatAt : min(heartbeatAt, filling.start + limits.batchDelay)
    return endsAt == nil ? due : pausedUntil
  }

  /// Forgets what cannot come back any more and takes the server as reached once a first datagram was not refused.
  private mutating func settle(at now: Timestamp) {
    while let sentAt = recent.first?.sentAt, now - sentAt > limits.unreachableDelay { _ = recent.popFirst() }
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
