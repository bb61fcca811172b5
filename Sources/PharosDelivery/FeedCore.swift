import PharosPublishing
import Synchronization

/// One open stream: its state behind a lock, and the client that waits for it.
final class FeedCore: Sendable {
  private struct Guarded {
    var state: FeedState
    var waiter: CheckedContinuation<Void, Never>?
  }

  /// Tells it from others.
  let id: UInt64
  /// What the client asked for.
  let request: FeedRequest
  private let guarded: Mutex<Guarded>
  private let tally: FeedTally

  init(id: UInt64, request: FeedRequest, tally: FeedTally, at now: Duration) {
    self.id = id
    self.request = request
    self.tally = tally
    guarded = Mutex(Guarded(state: FeedState(request: request, at: now)))
  }

  /// Begins with the present, or behind what the client knows.
  func begin(published: Int64, head: Int64) {
    guarded.withLock { $0.state.begin(after: request.after, published: published, head: head) }
  }

  /// Meets the present.
  func join(published: Int64) {
    guarded.withLock { $0.state.join(published: published) }
  }

  /// Takes an event that the filter wants.
  func take(_ told: ToldEvent) {
    let hasRoom = tally.hasRoom
    let (added, dropped, fellBehind) = guarded.withLock { guarded in
      let before = (guarded.state.waiting, guarded.state.behindAfter == nil)
      let dropped = guarded.state.take(told, hasRoom: hasRoom)
      return (
        guarded.state.waiting - before.0, dropped, before.1 && guarded.state.behindAfter != nil
      )
    }
    tally.count(waiting: added, dropped: dropped, fellBehind: fellBehind)
  }

  /// Events were lost before they could be told to anybody.
  func lose(_ count: Int) { guarded.withLock { $0.state.lose(count) } }

  /// Time has come to a point: wakes the client if something is due.
  func advance(to now: Duration, heartbeat: Duration) {
    resume { state in state.advance(to: now, heartbeat: heartbeat) }
  }

  /// Wakes the client if there is something for it.
  func wake(at now: Duration) {
    resume { state in state.isReady(at: now) }
  }

  /// Nothing follows.
  func finish() {
    resume { state in
      state.isFinished = true
      return true
    }
  }

  /// What comes next.
  func next(at now: Duration) -> FeedState.Step {
    let (step, added) = guarded.withLock { guarded in
      let before = guarded.state.waiting
      return (guarded.state.next(at: now), guarded.state.waiting - before)
    }
    tally.count(waiting: added)
    return step
  }

  /// What the journal had.
  func found(_ events: [ToldEvent], isLast: Bool, oldest: Int64, at now: Duration) -> [FeedItem] {
    guarded.withLock { $0.state.found(events, isLast: isLast, oldest: oldest, at: now) }
  }

  /// Waits until something is due at a time that the clock tells, or the task is cancelled.
  func wait(_ now: @Sendable () -> Duration) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let due = guarded.withLock { guarded -> CheckedContinuation<Void, Never>? in
          if guarded.state.isReady(at: now()) || Task.isCancelled { return continuation }
          // A second consumer is a mistake; the first one then looks again instead of waiting for ever.
          defer { guarded.waiter = continuation }
          return guarded.waiter
        }
        due?.resume()
      }
    } onCancel: {
      resume { _ in true }
    }
  }

  /// Gives up what waits.
  func close() {
    let waiting = guarded.withLock { $0.state.waiting }
    tally.count(waiting: -waiting)
    finish()
  }

  private func resume(if isDue: (inout FeedState) -> Bool) {
    let waiter = guarded.withLock { guarded -> CheckedContinuation<Void, Never>? in
      guard isDue(&guarded.state) else { return nil }
      defer { guarded.waiter = nil }
      return guarded.waiter
    }
    waiter?.resume()
  }
}
