import PharosEvents
package import PharosJournal
package import PharosReports

extension DeliverySchedule {
  /// Notes the time: lanes whose wait is over have to be loaded.
  package mutating func advance(to now: Timestamp) {
    while let (at, key) = waiting.first, at <= now {
      _ = waiting.removeFirst()
      unload(key, waitingUntil: at)
    }
    // A receiver that is down is probed when its own time has come, with whatever would be due first.
    guard let probeAt, probeAt <= now, inFlight == 0, ready.isEmpty else { return }
    while unloaded.isEmpty, let (at, key) = waiting.removeFirst() { unload(key, waitingUntil: at) }
  }

  /// A lane has to be loaded, unless what was noted about it is outdated.
  mutating func unload(_ key: DeliveryLane, waitingUntil at: Timestamp) {
    if lanes[key]?.state == .waiting(until: at) { unload(key) }
  }

  /// What to read from the journal now, or nil if there is enough to do.
  ///
  /// Lanes come first: they are what everybody waits for longest. Before the lane of a replay is read, everything must
  /// be written down.
  package mutating func nextLoad() -> DeliveryLoad? {
    guard !isStopped, ready.count + inFlight < 2 * concurrency else { return nil }
    while let (sequence, key) = unloaded.first {
      guard let lane = lanes[key], lane.state == .unloaded, lane.loadableFrom == sequence else {
        _ = unloaded.removeFirst()
        continue
      }
      guard sequence <= readThrough else { break }
      return .lane(key, after: lane.after, limit: settings.laneReadAhead)
    }
    guard lanes.count < settings.laneLimit, loadedCount < settings.readAhead else { return nil }
    return .onward(after: readThrough, limit: settings.readAhead - loadedCount)
  }

  /// Takes what follows in the journal.
  ///
  /// - Parameters:
  ///   - events: the next events that the receiver wants, in order.
  ///   - through: the sequence up to which there are no others.
  package mutating func loadOnward(_ events: [JournaledEvent], through: Int64) {
    for entry in events {
      let key = DeliveryLane(entry.event.subject)
      if let lane = lanes[key] {
        guard !lane.isBehind else { continue }
        guard lane.entries.count < settings.laneReadAhead else {
          lanes[key]?.isBehind = true
          flowing.remove(key)
          lanes[key]?.after = (lane.entries.first?.sequence ?? entry.sequence) - 1
          changedLanes.insert(key)
          continue
        }
        lanes[key]?.entries.append(entry)
      } else {
        lanes[key] = Lane(state: .ready, isBehind: false, after: entry.sequence - 1, entries: [entry])
        flowing.insert(key)
        ready.insert(key, at: entry.sequence)
      }
      loadedCount += 1
    }
    readThrough = max(readThrough, through)
  }

  /// Takes what follows of one lane; without any event, it is behind no longer.
  package mutating func load(_ key: DeliveryLane, _ events: [JournaledEvent]) {
    guard var lane = lanes[key], lane.state == .unloaded else { return }
    lane.entries = key.isReplay ? events : events.filter { $0.sequence <= max(readThrough, lane.head) }
    guard let first = lane.entries.first else {
      lanes[key] = nil
      changedLanes.insert(key)
      return
    }
    // The journal no longer has the event that was tried: the attempts of the next one are counted from zero.
    if lane.head != first.sequence { lane.forgetAttempts() }
    lane.state = .ready
    loadedCount += lane.entries.count
    lanes[key] = lane
    ready.insert(key, at: first.sequence)
  }

  /// There is nothing up to a sequence: the journal had to drop it.
  package mutating func skip(to sequence: Int64) { readThrough = max(readThrough, sequence) }
}
