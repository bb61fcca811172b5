import PharosDelivery
import Synchronization

extension BackgroundExecutor {
  /// The threads on which the work of requests runs: of the journal's four readers, one is left for live streams.
  static let requests = BackgroundExecutor(threads: FairQueue<Void>.running)
}

/// The order in which requests are worked on: a bounded number at a time, in turns of their clients.
///
/// Every route runs under it, except those that `Route.isImmediate` names.
package final class RequestScheduler: Sendable {
  /// The work of one request.
  package struct Work: Sendable {
    /// The client: a token, or the address of a client without one.
    let client: String
    /// Indicates whether it may take seconds.
    let isLong: Bool

    package init(client: String, isLong: Bool = false) {
      self.client = client
      self.isLong = isLong
    }
  }

  private typealias Turn = CheckedContinuation<Void, any Error>

  /// The number of requests that wait or run.
  package var count: Int { queue.withLock { $0.count } }

  private let queue = Mutex(FairQueue<Turn>())
  private let tally: HTTPTally

  /// Makes a scheduler with nothing to do.
  ///
  /// - Parameter tally: counts refused requests.
  package init(tally: HTTPTally) { self.tally = tally }

  /// Runs work when it is its client's turn, on the threads of requests.
  ///
  /// - Parameters:
  ///   - work: the work's client and length.
  ///   - watch: takes a function to call when the client has left: the request is dropped then if it still waits.
  ///   - body: the work.
  /// - Returns: the result of the work.
  /// - Throws: a ``Problem`` if too many requests wait, `CancellationError` if the task is cancelled before the work begins,
  ///   or the error of the work.
  package func run<Value: Sendable>(
    _ work: Work,
    watching watch: (@escaping @Sendable () -> Void) -> Void = { _ in },
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await wait(for: work, watch)
    defer {
      queue.withLock { $0.finish(client: work.client, isLong: work.isLong) }
      advance()
    }
    try Task.checkCancellation()
    return try await BackgroundExecutor.requests.run(body)
  }

  private func wait(for work: Work, _ watch: (@escaping @Sendable () -> Void) -> Void) async throws {
    let number = queue.withLock { $0.nextNumber() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (turn: Turn) in
        let isAccepted = queue.withLock { $0.enter(turn, number, client: work.client, isLong: work.isLong) }
        guard isAccepted else {
          tally.reached(.requests, "\(FairQueue<Turn>.waitingOfOne)")
          return turn.resume(throwing: Problem.busy)
        }
        // A task that was cancelled before it entered leaves here; one that is cancelled later, in the handler below.
        if Task.isCancelled { leave(number, work, CancellationError()) }
        advance()
        watch { [self] in leave(number, work, Problem.clientLeft) }
      }
    } onCancel: {
      leave(number, work, CancellationError())
    }
  }

  private func leave(_ number: UInt64, _ work: Work, _ error: any Error) {
    queue.withLock { $0.remove(number, client: work.client) }?.resume(throwing: error)
  }

  /// Begins all work that may begin.
  private func advance() {
    while let turn = queue.withLock({ $0.next() }) { turn.resume() }
  }
}

/// Work that waits for its turn, by client: a value without effects.
///
/// The clients take turns. One client never holds every place, and long work never does, so that a short request of another
/// client always finds one soon.
package struct FairQueue<Element> {
  private struct Waiting {
    let number: UInt64
    let isLong: Bool
    let element: Element
  }

  private struct Lane {
    var waiting: [Waiting] = []
    var running = 0
  }

  /// The maximum number of requests that are worked on at a time.
  package static var running: Int { 3 }
  /// The maximum number of those that are of one client, and of those that are long.
  package static var runningOfOne: Int { running - 1 }
  /// The maximum number of requests of one client that wait.
  package static var waitingOfOne: Int { 256 }
  /// The maximum number of requests that wait.
  package static var waiting: Int { 4_096 }

  private var lanes: [String: Lane] = [:]
  /// The clients whose requests wait, in the order of their turns.
  private var turns: [String] = []
  private var waitingCount = 0
  private var runningCount = 0
  private var longCount = 0
  private var lastNumber: UInt64 = 0

  package init() {}

  /// The number of requests that wait or run.
  package var count: Int { waitingCount + runningCount }

  /// Returns a number that no other request has.
  package mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Adds a request at the end of its client's; false if too many wait.
  package mutating func enter(_ element: Element, _ number: UInt64, client: String, isLong: Bool) -> Bool {
    guard waitingCount < FairQueue.waiting, lanes[client]?.waiting.count ?? 0 < FairQueue.waitingOfOne else {
      return false
    }
    lanes[client, default: Lane()].waiting.append(Waiting(number: number, isLong: isLong, element: element))
    if lanes[client]?.waiting.count == 1 { turns.append(client) }
    waitingCount += 1
    return true
  }

  /// Takes the next request that may begin, if there is one and a place for it.
  package mutating func next() -> Element? {
    guard runningCount < FairQueue.running else { return nil }
    for (index, client) in turns.enumerated() {
      guard var lane = lanes[client], lane.running < FairQueue.runningOfOne,
        let first = lane.waiting.firstIndex(where: { !$0.isLong || longCount < FairQueue.runningOfOne })
      else { continue }
      let removed = lane.waiting.remove(at: first)
      lane.running += 1
      turns.remove(at: index)
      if !lane.waiting.isEmpty { turns.append(client) }
      lanes[client] = lane
      waitingCount -= 1
      runningCount += 1
      if removed.isLong { longCount += 1 }
      return removed.element
    }
    return nil
  }

  /// Removes a request that waits; nil if it does not.
  package mutating func remove(_ number: UInt64, client: String) -> Element? {
    guard let index = lanes[client]?.waiting.firstIndex(where: { $0.number == number }) else { return nil }
    let removed = lanes[client]?.waiting.remove(at: index)
    waitingCount -= 1
    if lanes[client]?.waiting.isEmpty == true { turns.removeAll { $0 == client } }
    forget(client)
    return removed?.element
  }

  /// Frees the place of a request that was taken by ``next()``.
  package mutating func finish(client: String, isLong: Bool) {
    lanes[client]?.running -= 1
    runningCount -= 1
    if isLong { longCount -= 1 }
    forget(client)
  }

  private mutating func forget(_ client: String) {
    if let lane = lanes[client], lane.waiting.isEmpty, lane.running == 0 { lanes[client] = nil }
  }
}
