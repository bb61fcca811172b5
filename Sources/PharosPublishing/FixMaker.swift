import OpenCombine
import PharosEvents
import PharosPositioning
import PharosReports
import Synchronization

/// Makes fixes of the sensings that one subscription gets.
///
/// Whatever thread upstream calls from, sensings are taken one at a time.
final class FixMaker: Subscriber, Sendable {
  typealias Input = Sensing
  typealias Failure = Never

  /// Upstream's subscription.
  ///
  /// `@unchecked Sendable` because OpenCombine's are not annotated: they may be asked and cancelled from any thread.
  private struct Held: @unchecked Sendable {
    let subscription: any Subscription
  }

  private struct State {
    /// Who is being located; nil once it is over.
    var locators: Locators?
    /// The latest time at which anything was received.
    var watermark = Timestamp.distantPast
    var subscription: Held?

    var isOver: Bool { locators == nil }
  }

  private let state: Mutex<State>
  /// How long after the last input every fix that it allows has been made.
  private let patience: TimeSpan
  private let deliver: @Sendable ([Fix]) -> Void
  private let finish: @Sendable () -> Void

  /// How many handsets are located for one subscription at most; beyond, those that were silent longest are forgotten.
  ///
  /// 4,096 of 64 KiB are 256 MiB, and about what one core locates once a second.
  static let mostSubjects = 4_096

  init(
    ground: Ground,
    site: Site,
    deliver: @escaping @Sendable ([Fix]) -> Void,
    finish: @escaping @Sendable () -> Void
  ) {
    state = Mutex(
      State(locators: Locators(grounds: [ground], site: site, limit: FixMaker.mostSubjects))
    )
    patience = site.positioning.lag + site.positioning.interval
    self.deliver = deliver
    self.finish = finish
  }

  func receive(subscription: any Subscription) {
    let held = Held(subscription: subscription)
    let isWanted = state.withLock { state in
      guard !state.isOver, state.subscription == nil else { return false }
      state.subscription = held
      return true
    }
    if isWanted { subscription.request(.unlimited) } else { subscription.cancel() }
  }

  func receive(_ sensing: Sensing) -> Subscribers.Demand {
    // Delivered behind the lock, so that the order of fixes is that of their making; a queue only puts them aside.
    state.withLock { state in
      guard !state.isOver else { return }
      var events: [Event] = []
      if sensing.decidedAt > state.watermark {
        state.watermark = sensing.decidedAt
        state.locators?.advance(to: sensing.decidedAt - .oneNanosecond, into: &events)
      }
      state.locators?.take(sensing, into: &events)
      deliver(events.compactMap { Fix($0) })
    }
    return .none
  }

  func receive(completion: Subscribers.Completion<Never>) {
    let isEnd = state.withLock { state in
      guard !state.isOver else { return false }
      var events: [Event] = []
      if state.watermark != .distantPast {
        state.locators?.advance(to: state.watermark + patience, into: &events)
      }
      state.locators = nil
      state.subscription = nil
      deliver(events.compactMap { Fix($0) })
      return true
    }
    if isEnd { finish() }
  }

  /// Wants nothing more.
  func cancel() {
    let held = state.withLock { state in
      state.locators = nil
      defer { state.subscription = nil }
      return state.subscription
    }
    held?.subscription.cancel()
  }
}

/// The makers of a publisher of fixes: one for each subscription.
final class FixMakers: Sendable {
  typealias Deliver = @Sendable ([Fix]) -> Void
  typealias Finish = @Sendable () -> Void

  private struct State {
    var makers: [UInt64: FixMaker] = [:]
    var nextID: UInt64 = 0
  }

  private let state = Mutex(State())
  private let make: @Sendable (@escaping Deliver, @escaping Finish) -> FixMaker

  init(_ make: @escaping @Sendable (@escaping Deliver, @escaping Finish) -> FixMaker) { self.make = make }

  /// Begins to make fixes.
  func attach(_ deliver: @escaping Deliver, _ finish: @escaping Finish) -> UInt64 {
    let maker = make(deliver, finish)
    return state.withLock { state in
      state.nextID += 1
      state.makers[state.nextID] = maker
      return state.nextID
    }
  }

  /// Makes no more.
  func detach(_ id: UInt64) {
    let maker = state.withLock { $0.makers.removeValue(forKey: id) }
    maker?.cancel()
  }
}
