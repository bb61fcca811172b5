import Logging
import PharosAccess
import PharosEvents
import PharosJournal
import PharosPublishing
import Synchronization

extension Teller {
  /// Lets those go on who wait for the end, once the last checkpoint is kept.
  func settle() {
    let waiting = state.withLock { state in
      defer { state.drained = [] }
      if !state.drained.isEmpty { state.work.isDraining = false }
      return state.drained
    }
    guard !waiting.isEmpty else { return }
    threads.keep { for drained in waiting { drained() } }
  }

  func judge(_ events: [Event]) -> [GateVerdict] {
    let view = authorisations.view
    guard !view.isOpen else { return Array(repeating: .always, count: events.count) }
    let applications = live.names
    return events.map { view.gate($0, liveApplications: applications) }
  }

  func commit(_ group: Backlog.Group) {
    let judged = judge(group.events)
    let entries = zip(group.events, judged).compactMap { event, verdict in
      event.kind.isJournalled ? Journal.Entry(event: event, isTold: verdict == .always) : nil
    }
    do {
      let sequences = entries.isEmpty ? [] : try store.append(entries)
      publish(group.events, judged: judged, sequences: sequences)
      settle(group, last: sequences.last { $0 != nil } ?? nil)
    } catch {
      refuse(group, judged: judged, error: "\(error)")
    }
  }

  private func settle(_ group: Backlog.Group, last: Int64?) {
    let (isNews, lost, isKeeping) = state.withLock { state in
      let isNews = state.work.committed(group, last: last, at: elapsed)
      var isKeeping = false
      if let checkpoint = group.checkpoint {
        isKeeping = state.checkpoint == nil
        state.checkpoint = (checkpoint, state.work.through(checkpoint, behind: group))
      }
      return (isNews, state.work.statistics.lost, isKeeping)
    }
    if isKeeping { threads.keep { self.keepCheckpoint() } }
    if isNews {
      logger.notice("The journal takes events again.", metadata: [LogKey.events: "\(lost) lost so far"])
    }
  }

  private func refuse(_ group: Backlog.Group, judged: [GateVerdict], error: String) {
    let kept = group.events.filter(\.kind.isJournalled)
    if kept.count < group.events.count {
      let passing = zip(group.events, judged).filter { !$0.0.kind.isJournalled }
      publish(passing.map(\.0), judged: passing.map(\.1), sequences: [])
    }
    let (isNews, lost) = state.withLock { state in
      var group = group
      group.events = kept
      let isNews = state.work.failed(group, error: error, at: elapsed)
      return (isNews, state.work.giveUp())
    }
    if isNews {
      logger.error(
        "The journal refuses events, so they are not told but wait; it is tried again until it takes them.",
        metadata: [LogKey.error: "\(error)"]
      )
    }
    if let lost {
      logger.error(
        "The server stops while the journal refuses events: these were not told.",
        metadata: [LogKey.events: "\(lost)", LogKey.error: "\(error)"]
      )
    }
  }

  /// Passes on what may be told; the sequence numbers are those of the journalled ones, in order.
  func publish(_ events: [Event], judged: [GateVerdict], sequences: [Int64?]) {
    var telling: [ToldEvent] = []
    telling.reserveCapacity(events.count)
    var (told, passed, withheld) = (0 as UInt64, 0 as UInt64, 0 as UInt64)
    var next = sequences.startIndex
    for (event, verdict) in zip(events, judged) {
      var sequence: Int64?
      if event.kind.isJournalled, next < sequences.endIndex {
        sequence = sequences[next]
        next += 1
      }
      guard verdict != .withhold else {
        withheld += 1
        continue
      }
      if sequence == nil { passed += 1 } else { told += 1 }
      telling.append(
        ToldEvent(sequence: sequence, event: event, isLiveOnly: verdict == .live, stream: stream)
      )
    }
    state.withLock { state in
      state.work.statistics.told += told
      state.work.statistics.passed += passed
      state.work.statistics.withheld += withheld
    }
    self.told.publish(telling)
  }

  private func keepCheckpoint() {
    let pending = state.withLock { state in
      defer { state.checkpoint = nil }
      return state.checkpoint
    }
    guard let (checkpoint, through) = pending else { return }
    do {
      try store.save(checkpoint: checkpoint.encode(), instant: checkpoint.instant, through: through)
      state.withLock { $0.work.statistics.checkpoints += 1 }
    } catch {
      state.withLock { $0.work.statistics.failedCheckpoints += 1 }
      logger.error(
        "A checkpoint could not be kept; the one before it stays, the next one is tried in its time.",
        metadata: [LogKey.error: "\(error)"]
      )
    }
  }
}
