public import OpenCombine
public import PharosFixes
public import PharosModel
import Synchronization

extension Publisher where Output == Sensing, Failure == Never {
  /// Computes fixes from sensings with the server's own positioning, as an OpenCombine operator.
  ///
  /// ```swift
  /// let fixes = hub.rangings()
  ///   .merge(with: hub.wifiScans, hub.motion)
  ///   .fixes(in: museum)
  ///   .sink { fix in print(fix.subject, fix.detail.horizontalAccuracy) }
  /// ```
  ///
  /// With all of ``EventHub/sensings``, the site's settings and the name of the server's stream, the operator computes
  /// exactly the fixes that the server computes for handsets. Its clock is the time of the sensings: it publishes a fix
  /// once a later sensing shows that the time of the fix and the lag have passed, and publishes pending fixes when
  /// upstream completes. Sensings of merged publishers may overtake each other by up to the lag; later ones are left
  /// out.
  ///
  /// The operator requests everything from upstream, since a handset does not wait. Each subscription computes fixes of
  /// its own, with up to 64 KiB of memory for each handset, and gets the newest of each, as from
  /// ``EventHub/fixes(for:)``.
  ///
  /// - Parameters:
  ///   - ground: the venue, with its radio map.
  ///   - settings: the interval and the lag of fixes, and the number of particles.
  ///   - stream: the seed of the random numbers: the same stream name and input always give the same fixes.
  /// - Returns: the fixes, for OpenCombine and for `for await`.
  public func fixes(
    in ground: LocatableVenue,
    settings: PositioningSettings = PositioningSettings(),
    stream: String = "pharos"
  ) -> EventPublisher<Fix, Never> {
    let site = Site(stream: stream, positioning: settings)
    let upstream = Upstream { self.subscribe($0) }
    let source = StreamSource<Fix> { receive, finish in
      let deliver: @Sendable ([Fix]) -> Void = { receive(PendingRun($0, by: \.subject)) }
      let maker = FixMaker(ground: ground, site: site, deliver: deliver, finish: finish)
      upstream.subscribe(maker)
      return { maker.cancel() }
    }
    return EventPublisher(source: source, overflow: .newest(limit: EventHub.maximumFixSubjects))
  }
}

/// A publisher that subscriptions of any thread subscribe to.
///
/// `@unchecked Sendable` because OpenCombine's publishers are not annotated: they are values that say what to subscribe
/// to, and are only asked for subscriptions.
private struct Upstream: @unchecked Sendable {
  let subscribe: (FixMaker) -> Void
}

/// A subscriber that computes fixes from the sensings of one subscription.
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
    /// The locators of the subjects; nil after the end.
    var locators: Locators?
    /// The latest time at which anything was received.
    var watermark = Timestamp.distantPast
    var subscription: Held?

    var isOver: Bool { locators == nil }
  }

  private let state: Mutex<State>
  /// The time after the last input at which every fix that it allows has been made.
  private let patience: TimeSpan
  private let deliver: @Sendable ([Fix]) -> Void
  private let finish: @Sendable () -> Void

  /// The maximum number of handsets that are located for one subscription; beyond it, those that were silent longest
  /// are forgotten.
  ///
  /// 4,096 of 64 KiB are 256 MiB, and about what one core locates once a second.
  static let maximumSubjects = 4_096

  init(
    ground: LocatableVenue,
    site: Site,
    deliver: @escaping @Sendable ([Fix]) -> Void,
    finish: @escaping @Sendable () -> Void
  ) {
    state = Mutex(
      State(locators: Locators(venues: [ground], site: site, limit: FixMaker.maximumSubjects))
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
      state.locators?.receive(sensing, into: &events)
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

  /// Cancels the subscription to upstream.
  func cancel() {
    let held = state.withLock { state in
      state.locators = nil
      defer { state.subscription = nil }
      return state.subscription
    }
    held?.subscription.cancel()
  }
}
