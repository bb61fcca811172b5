import PharosEvents
package import PharosJournal

extension DeliverySchedule {
  /// Everything up to here is settled, except what lanes that are behind say.
  package var cursor: Int64 {
    var lowest = Int64.max
    for key in flowing {
      if let first = lanes[key]?.entries.first { lowest = min(lowest, first.sequence) }
    }
    return lowest == .max ? readThrough : lowest - 1
  }

  /// How much has changed since it was written down.
  package var changeCount: Int { settled + changedLanes.count }

  /// Whether something has changed since it was written down that a restart should know of.
  ///
  /// A cursor that has moved over events which the receiver does not want is worth writing too, but not alone and
  /// not at once.
  package var isChanged: Bool {
    changeCount > 0 || !dead.isEmpty || !revived.isEmpty || failingSince != writtenFailingSince
  }

  /// Whether the cursor lies elsewhere than was written down.
  package var isCursorMoved: Bool { cursor != writtenCursor }

  /// What has changed; from now on it counts as written down.
  ///
  /// - Parameter receiver: whom it is about.
  /// - Returns: the change, or nil if there is none at all.
  package mutating func takeUpdate(receiver: String) -> DeliveryUpdate? {
    let cursor = cursor
    guard isChanged || cursor != writtenCursor else { return nil }
    var update = DeliveryUpdate(
      receiver: receiver,
      cursor: cursor,
      delivered: delivered,
      failingSince: failingSince
    )
    for key in changedLanes where !key.isReplay {
      guard let lane = lanes[key], lane.isBehind else {
        update.caughtUp.append(key.subject)
        continue
      }
      var row = DeliveryLedger.Lane(
        subject: key.subject,
        after: lane.after,
        head: lane.head,
        attempts: lane.attempts,
        firstTried: lane.firstTried
      )
      if case .waiting(let until) = lane.state { row.nextAttempt = until }
      update.lanes.append(row)
    }
    update.lanes.sort { $0.subject < $1.subject }
    update.caughtUp.sort()
    update.dead = dead
    update.revived = revived
    changedLanes.removeAll(keepingCapacity: true)
    dead.removeAll()
    revived.removeAll()
    settled = 0
    writtenCursor = cursor
    writtenFailingSince = failingSince
    return update
  }
}
