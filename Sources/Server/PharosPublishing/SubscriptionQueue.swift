package import PharosModel
import Synchronization

/// The bounded queue of one subscription: batches in, runs of elements out.
///
/// The queue has no thread and no task. It calls `wake` when there is something to take; a consumer may instead wait
/// in ``next()``.
final class SubscriptionQueue<Output: Sendable, Failure: Error>: Sendable {
  /// The result of ``removeFirst(upTo:)``.
  enum Batch {
    /// Elements, in order; none if the operators of the stream left out all that were taken.
    case elements(ArraySlice<Output>)
    /// Nothing now.
    case nothing
    /// Nothing now or ever.
    case finished(Failure?)
  }

  private struct State {
    /// Runs of elements, oldest first; `head` is the first one that is not taken.
    var runs: [PendingRun<Output>] = []
    var head = 0
    var count = 0
    /// The waiting elements, instead of runs, if only the newest element about each subject is wanted.
    var newest = NewestElements<PendingRun<Output>>()
    var dropped = 0
    /// Set once nothing more is accepted.
    var end: End?
    var waiter: CheckedContinuation<Void, Never>?

    /// Indicates whether no element waits.
    var isEmpty: Bool { head == runs.count && newest.count == 0 }
  }

  private enum End {
    case finished
    case overflowed(Failure)
  }

  private let state = Mutex(State())
  private let overflow: Overflow<Failure>
  private let wake: @Sendable () -> Void

  init(
    overflow: Overflow<Failure>,
    wake: @escaping @Sendable () -> Void
  ) {
    self.overflow = overflow
    self.wake = wake
  }

  /// The number of elements that were dropped because the subscriber did not take them in time.
  var dropped: Int { state.withLock { $0.dropped } }

  /// Appends a run, whose elements wait until a consumer takes them.
  func offer(_ run: PendingRun<Output>) {
    guard run.count > 0 else { return }
    let (waiter, dropped) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Int) in
      guard state.end == nil else { return (nil, 0) }
      let dropped = append(run, to: &state)
      defer { state.waiter = nil }
      return (state.waiter, dropped)
    }
    waiter?.resume()
    wake()
    if dropped > 0, case .dropOldest(_, let onDrop) = overflow { onDrop?(dropped) }
  }

  /// Ends the queue: later elements are ignored, waiting ones are still delivered.
  func finish() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.end == nil { state.end = .finished }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
    wake()
  }

  /// Takes up to so many elements, and makes them on the caller's thread; of 0 it learns only whether anything is left.
  func removeFirst(upTo limit: Int) -> Batch {
    let (runs, end) = state.withLock { state -> (ArraySlice<PendingRun<Output>>, End?) in
      removeEnded(&state)
      guard !state.isEmpty else { return ([], state.end) }
      guard limit > 0 else { return ([], nil) }
      if state.newest.count > 0 { return (state.newest.removeFirst(upTo: limit), nil) }
      let slice = state.runs[state.head].removeFirst(limit)
      state.count -= slice.count
      if state.runs[state.head].count == 0 {
        state.head += 1
        compact(&state)
      }
      return ([slice], nil)
    }
    // Outside the lock: the operators of the stream run here, and they are a user's.
    switch end {
    case .finished: return .finished(nil)
    case .overflowed(let failure): return .finished(failure)
    case nil where runs.isEmpty: return .nothing
    case nil where runs.count == 1: return .elements(runs[runs.startIndex].elements)
    case nil: return .elements(runs.flatMap(\.elements)[...])
    }
  }

  /// Waits for elements; nil once there will be none.
  func next() async throws(Failure) -> ArraySlice<Output>? {
    while true {
      switch removeFirst(upTo: .max) {
      case .elements(let elements) where elements.isEmpty: break
      case .elements(let elements): return elements
      case .finished(nil): return nil
      case .finished(let failure?): throw failure
      case .nothing: await waitForOffer()
      }
      if Task.isCancelled { return nil }
    }
  }

  private func waitForOffer() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let resumeNow = state.withLock { state in
          if !state.isEmpty || state.end != nil || Task.isCancelled { return true }
          state.waiter = continuation
          return false
        }
        if resumeNow { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume()
    }
  }

  /// Appends a run, and makes room by the overflow policy.
  ///
  /// - Returns: the number of dropped elements; 0 for the policy ``Overflow/fail(limit:_:)``.
  private func append(_ run: PendingRun<Output>, to state: inout State) -> Int {
    switch overflow {
    case .newest(let limit) where run.subject != nil:
      var dropped = 0
      for (element, subject) in run.single {
        state.newest.put(element, about: subject)
        guard state.newest.count > limit else { continue }
        state.newest.dropOldest()
        dropped += 1
      }
      state.dropped += dropped
      return dropped
    case .dropOldest(let limit, _), .newest(let limit):
      var kept = run
      var dropped = kept.removeFirst(run.count - limit).count
      state.runs.append(kept)
      state.count += kept.count
      while state.count > limit {
        let excess = state.runs[state.head].removeFirst(state.count - limit).count
        state.count -= excess
        dropped += excess
        if state.runs[state.head].count == 0 { state.head += 1 }
      }
      compact(&state)
      state.dropped += dropped
      return dropped
    case .fail(let limit, let failure):
      var rest = run
      let kept = rest.removeFirst(limit - state.count)
      if kept.count > 0 {
        state.runs.append(kept)
        state.count += kept.count
      }
      if rest.count > 0 {
        state.dropped += rest.count
        state.end = .overflowed(failure)
      }
      return 0
    }
  }

  /// Removes the runs of streams that have ended by an operator of theirs.
  private func removeEnded(_ state: inout State) {
    while state.newest.oldest?.isEnded == true { state.newest.dropOldest() }
    while state.head < state.runs.count, state.runs[state.head].isEnded {
      state.count -= state.runs[state.head].count
      state.head += 1
    }
    compact(&state)
  }

  /// Gives back the room of taken runs once they are the larger part, so that taking stays cheap on average.
  private func compact(_ state: inout State) {
    guard state.head == state.runs.count || state.head > 32 && state.head * 2 > state.runs.count else {
      return
    }
    state.runs.removeFirst(state.head)
    state.head = 0
  }
}

/// The policy of a full queue.
enum Overflow<Failure: Error>: Sendable {
  /// Drops the oldest elements beyond the limit, counts them and reports them to `onDrop`.
  case dropOldest(limit: Int, onDrop: (@Sendable (Int) -> Void)?)
  /// Keeps the newest element about each subject, and drops the oldest of them beyond the limit.
  case newest(limit: Int)
  /// Delivers what it holds, then ends with the error.
  case fail(limit: Int, Failure)
}

/// The waiting elements of a subscriber that wants only the present: one element about each subject, the newest.
///
/// A subject keeps the place that it got when its first element came, so that one which moves often does not push back
/// those that move seldom.
package struct NewestElements<Output: Sendable>: Sendable {
  private var elements: [SubjectID: Output] = [:]
  /// The subjects in the order in which they began to wait; `head` is the first one whose element is not taken.
  private var order: [SubjectID] = []
  private var head = 0

  package init() {}

  /// The number of waiting elements.
  package var count: Int { elements.count }

  /// Adds an element, which replaces the waiting one about the same subject.
  package mutating func put(_ element: Output, about subject: SubjectID) {
    if elements.updateValue(element, forKey: subject) == nil { order.append(subject) }
  }

  /// Removes and returns up to a number of elements, those that wait longest first.
  package mutating func removeFirst(upTo maximum: Int) -> ArraySlice<Output> {
    let end = min(order.count, maximum < order.count - head ? head + maximum : order.count)
    let slice = order[head..<end].compactMap { elements.removeValue(forKey: $0) }
    head = end
    compact()
    return slice[...]
  }

  /// The element that waits longest.
  package var oldest: Output? { head < order.count ? elements[order[head]] : nil }

  /// Drops the element that waits longest.
  package mutating func dropOldest() {
    guard head < order.count else { return }
    elements[order[head]] = nil
    head += 1
    compact()
  }

  /// Gives back the room of taken places once they are the larger part, so that taking stays cheap on average.
  private mutating func compact() {
    guard head == order.count || head > 32 && head * 2 > order.count else { return }
    order.removeFirst(head)
    head = 0
  }
}
