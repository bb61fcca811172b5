import Dispatch
public import PharosModel
import Synchronization

extension EventHub {
  /// Returns decisions in batches, for a program that sleeps between them, as
  /// `allowDeferredLocationUpdates(untilTraveled:timeout:)` of `CLLocationManager` does.
  ///
  /// A batch has all that waits, in order; it is due when its first event has waited for the time, when as many wait as may,
  /// and at the end. The decisions about a subject that moves as far as the distance, or changes the floor, are a batch of
  /// their own. No decision is in two batches.
  ///
  /// - Parameters:
  ///   - kinds: the kinds of decisions; nil for all.
  ///   - distance: the distance that a subject moves until its decisions are due, in metres; nil for any.
  ///   - timeout: the longest time that a decision waits.
  ///   - maximumCount: the number of decisions that wait at most, at least 1.
  /// - Returns: the stream of batches, for OpenCombine and for `for await`.
  public func deferredEvents(
    of kinds: Set<EventKind>? = nil,
    untilTraveled distance: Double? = nil,
    timeout: TimeSpan,
    maximumCount: Int = EventPublisher<Event, Never>.defaultLimit
  ) -> EventPublisher<[Event], Never> {
    let batches = DeferredBatches(kinds: kinds, distance: distance, maximumCount: max(1, maximumCount))
    return deferredEvents(batches, timeout: timeout) { span, work in
      DispatchQueue.global().asyncAfter(deadline: .now() + span.seconds, execute: work)
    }
  }

  /// Returns decisions in batches, with a timer for the time that a decision waits.
  package func deferredEvents(
    _ batches: DeferredBatches,
    timeout: TimeSpan,
    timer: @escaping UpdateTimer
  ) -> EventPublisher<[Event], Never> {
    hub.stream(of: DeferredBatchMaker.self) { deliver in
      DeferredBatchMaker(batches, timeout, timer) { deliver(PendingRun($0)) }
    }
  }
}

/// The decisions that wait for their batch: a value without a clock.
package struct DeferredBatches: Sendable {
  private let kinds: Set<EventKind>?
  private let maximumCount: Int
  private let isMovementFollowed: Bool
  private var movement: FixFilter
  /// The decisions that wait, in order.
  private var waiting: [Event] = []
  /// The number of times that none waited: a timeout is that of one such time.
  package private(set) var round = 0

  /// Creates a value in which nothing waits.
  package init(kinds: Set<EventKind>? = nil, distance: Double? = nil, maximumCount: Int) {
    self.kinds = kinds
    self.maximumCount = maximumCount
    isMovementFollowed = distance != nil
    movement = FixFilter(distance: distance, accuracy: nil)
  }

  /// Indicates whether no decision waits.
  package var isEmpty: Bool { waiting.isEmpty }

  /// Adds decisions, and returns the batches that are due by them.
  package mutating func add(_ events: [Event]) -> [[Event]] {
    var due: [[Event]] = []
    for event in events {
      if kinds?.contains(event.kind) ?? true { waiting.append(event) }
      if isMovementFollowed, movement.hasMoved(by: event) {
        due.append(waiting.filter { $0.subject == event.subject })
        waiting.removeAll { $0.subject == event.subject }
        if waiting.isEmpty { round += 1 }
      }
      if waiting.count >= maximumCount { due.append(flush()) }
    }
    return due.filter { !$0.isEmpty }
  }

  /// Returns all that waits, and empties it.
  package mutating func flush() -> [Event] {
    defer {
      waiting = []
      round += 1
    }
    return waiting
  }
}

/// The maker of the batches of one subscription.
private final class DeferredBatchMaker: StreamMaker {
  typealias Output = [Event]

  private struct State {
    var batches: DeferredBatches
    /// The round whose timeout runs.
    var timedRound: Int?
  }

  private let timeout: TimeSpan
  private let timer: UpdateTimer
  private let state: MutexBox<State>
  /// Beside the state: a subscriber may cancel while a batch is delivered.
  private let isOver = Atomic<Bool>(false)
  private let deliver: @Sendable ([[Event]]) -> Void

  init(
    _ batches: DeferredBatches,
    _ timeout: TimeSpan,
    _ timer: @escaping UpdateTimer,
    deliver: @escaping @Sendable ([[Event]]) -> Void
  ) {
    self.timeout = timeout
    self.timer = timer
    self.deliver = deliver
    state = MutexBox(State(batches: batches))
  }

  /// Stops making batches; what waits is dropped.
  func cancel() { isOver.store(true, ordering: .releasing) }

  /// Adds decisions; the lock orders the batches of the sender and those of the timer.
  func receive(_ events: [Event]) {
    let timed = state.mutex.withLock { state -> Int? in
      let due = state.batches.add(events)
      if !due.isEmpty { deliver(due) }
      guard !state.batches.isEmpty, state.timedRound != state.batches.round else { return nil }
      state.timedRound = state.batches.round
      return state.batches.round
    }
    guard let timed else { return }
    timer(timeout) { [weak self] in self?.expire(timed) }
  }

  /// Delivers what waits since the timeout began.
  private func expire(_ round: Int) {
    guard !isOver.load(ordering: .acquiring) else { return }
    state.mutex.withLock { state in
      guard state.batches.round == round, !state.batches.isEmpty else { return }
      deliver([state.batches.flush()])
    }
  }

  /// Delivers what waits at the end of the hub.
  func finish() {
    state.mutex.withLock { state in
      if !state.batches.isEmpty { deliver([state.batches.flush()]) }
    }
  }
}
