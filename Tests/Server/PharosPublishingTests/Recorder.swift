import OpenCombine
import PharosModel
import PharosSampleEvents
import Synchronization

/// A subscriber that demands as much as a test says and records all it receives.
final class Recorder<Input: Sendable, Failure: Error>: Subscriber, Sendable {
  struct Seen {
    var elements: [Input] = []
    var failure: Failure?
    var isComplete = false
    var subscription: Held?
  }

  /// OpenCombine's subscriptions are thread-safe but not annotated; a test hands one from call to call.
  struct Held: @unchecked Sendable {
    let subscription: any Subscription
  }

  let seen = Mutex(Seen())
  private let initial: Int?
  private let each: Int
  private let signal: AsyncStream<Void>.Continuation
  private let signals: AsyncStream<Void>
  private let onElement: (@Sendable (Input) -> Void)?

  /// - Parameters:
  ///   - initial: what is asked for at the start, nil meaning everything.
  ///   - each: what is asked for with each element.
  ///   - onElement: what is done with each element, on the subscription's queue.
  init(initial: Int?, each: Int = 0, onElement: (@Sendable (Input) -> Void)? = nil) {
    self.initial = initial
    self.each = each
    self.onElement = onElement
    (signals, signal) = AsyncStream.makeStream()
  }

  func receive(subscription: any Subscription) {
    let held = Held(subscription: subscription)
    seen.withLock { $0.subscription = held }
    subscription.request(initial.map { .max($0) } ?? .unlimited)
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    onElement?(input)
    seen.withLock { $0.elements.append(input) }
    signal.yield()
    return .max(each)
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    seen.withLock { seen in
      seen.isComplete = true
      if case .failure(let failure) = completion { seen.failure = failure }
    }
    signal.yield()
  }

  func request(_ count: Int) {
    let held = seen.withLock { $0.subscription }
    held?.subscription.request(.max(count))
  }

  func cancel() {
    let held = seen.withLock { $0.subscription }
    held?.subscription.cancel()
  }

  /// Waits until what was seen fulfils a condition.
  func wait(until condition: @Sendable (borrowing Seen) -> Bool) async {
    for await _ in signals where seen.withLock({ condition($0) }) { return }
  }

  var elements: [Input] { seen.withLock { $0.elements } }
}

/// A batch of numbered enter events of one application.
func batch(_ numbers: Range<Int>, region: String = "entrance", application: String = "default") -> [Event] {
  numbers.map { Sample.enter($0, application: application, region: region) }
}
