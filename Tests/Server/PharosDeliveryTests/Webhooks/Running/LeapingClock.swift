import PharosDelivery
import PharosModel
import Synchronization

/// A clock that leaps to every alarm as soon as it is set: who waits for a time has it at once, and a day of waits passes
/// in a moment.
final class LeapingClock: DeliveryClock {
  private let state = Mutex(Samples.start)

  var now: Timestamp { state.withLock { $0 } }

  func alarm(at instant: Timestamp, ring: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    state.withLock { $0 = max($0, instant) }
    ring()
    return {}
  }
}

/// A clock that stands still until a test moves it, and lets tests wait until an alarm is set.
final class StandingClock: DeliveryClock {
  private struct State {
    var now = Samples.start
    var alarms: [Int: (at: Timestamp, ring: @Sendable () -> Void)] = [:]
    var nextID = 0
  }

  private let state = Mutex(State())
  private let changes = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  var now: Timestamp { state.withLock { $0.now } }

  func alarm(at instant: Timestamp, ring: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let id: Int? = state.withLock { state in
      guard instant > state.now else { return nil }
      state.nextID += 1
      state.alarms[state.nextID] = (instant, ring)
      return state.nextID
    }
    guard let id else {
      ring()
      return {}
    }
    changes.continuation.yield()
    return { self.state.withLock { $0.alarms[id] = nil } }
  }

  /// Waits until an alarm is set for a time.
  func waitForAlarm(at instant: Timestamp) async {
    func isSet() -> Bool { state.withLock { $0.alarms.values.contains { $0.at == instant } } }
    if isSet() { return }
    for await _ in changes.stream where isSet() { return }
  }

  /// Moves on, and rings what is due.
  func advance(to instant: Timestamp) {
    let due = state.withLock { state in
      state.now = max(state.now, instant)
      let due = state.alarms.filter { $0.value.at <= state.now }
      for id in due.keys { state.alarms[id] = nil }
      return due.values.map(\.ring)
    }
    for ring in due { ring() }
  }
}
