import Dispatch
public import PharosModel
import Synchronization

extension EventHub {
  /// Returns the updates of one subject: its fixes while it moves, and one update when it becomes stationary.
  ///
  /// Nothing follows while the subject is stationary. The first fix that shows that it has left is the next update. Without
  /// a fix for the time that the configuration says, one update says that the location is unavailable.
  ///
  /// - Parameters:
  ///   - subject: a handset or a tag.
  ///   - configuration: the movement below which it is stationary, and what the application may learn.
  /// - Returns: the stream, for OpenCombine and for `for await`.
  public func liveUpdates(
    for subject: SubjectID,
    configuration: LocationUpdate.LiveConfiguration = .pedestrian
  ) -> EventPublisher<LocationUpdate, Never> {
    liveUpdates(for: subject, configuration: configuration) { span, work in
      DispatchQueue.global().asyncAfter(deadline: .now() + span.seconds, execute: work)
    }
  }

  /// Returns the significant changes of a subject's location, as `startMonitoringSignificantLocationChanges()` reports them.
  ///
  /// The first fix, then at most one in five minutes, after 500 m or more, or once the subject has been on another floor, in
  /// another building or venue, or in or out of doors for 30 s.
  ///
  /// - Parameters:
  ///   - subject: a handset or a tag.
  ///   - authorisation: returns what the application may learn about a subject; nil where it may learn everything.
  /// - Returns: the stream, for OpenCombine and for `for await`.
  public func significantLocationChanges(
    for subject: SubjectID,
    authorisation: (@Sendable (SubjectID) -> AuthorisationState)? = nil
  ) -> EventPublisher<LocationUpdate, Never> {
    liveUpdates(for: subject, configuration: .significantChanges(authorisation: authorisation))
  }

  /// Returns the updates of one subject, with a timer for the time without a fix.
  ///
  /// - Parameters:
  ///   - subject: a handset or a tag.
  ///   - configuration: the movement below which it is stationary, and what the application may learn.
  ///   - timer: runs a function once, after a time.
  /// - Returns: the stream.
  package func liveUpdates(
    for subject: SubjectID,
    configuration: LocationUpdate.LiveConfiguration,
    timer: @escaping UpdateTimer
  ) -> EventPublisher<LocationUpdate, Never> {
    hub.stream(of: LiveUpdateMaker.self) { deliver in
      let barrier = UpdateBarrier(configuration.authorisation)
      return LiveUpdateMaker(subject, configuration, timer) { updates in
        deliver(PendingRun(updates).compactMap { barrier.pass($0) })
      }
    }
  }
}

/// Runs a function once, after a time.
package typealias UpdateTimer = @Sendable (_ after: TimeSpan, _ work: @escaping @Sendable () -> Void) -> Void

/// What the authorisation lets through to one subscriber; its function is a user's, and runs on the subscriber's queue.
private final class UpdateBarrier: Sendable {
  private let authorisation: (@Sendable (SubjectID) -> AuthorisationState)?
  private let last = MutexBox<MonitorDiagnostics>([])

  init(_ authorisation: (@Sendable (SubjectID) -> AuthorisationState)?) { self.authorisation = authorisation }

  /// Returns an update as far as the application may learn it; nil where it learns nothing, and knows why already.
  func pass(_ update: LocationUpdate) -> LocationUpdate? {
    guard let authorisation else { return update }
    let reasons = MonitorDiagnostics(authorisation(update.subject))
    let isKnown = last.mutex.withLock { last in
      defer { last = reasons }
      return last == reasons
    }
    if reasons.isEmpty { return update }
    return isKnown ? nil : update.hidden(for: reasons)
  }
}

/// The maker of the updates of one subscription.
private final class LiveUpdateMaker: StreamMaker {
  typealias Output = LocationUpdate

  private struct State {
    var updates: LiveUpdateState
    /// The number of timer steps since the last fix.
    var silentSteps = 0
  }

  /// The steps in which the time without a fix is measured, so that a fix need not set a timer.
  private static let steps = 4

  private let subject: SubjectID
  private let configuration: LocationUpdate.LiveConfiguration
  private let state: MutexBox<State>
  /// Beside the state: a subscriber may cancel while an update is delivered.
  private let isOver = Atomic<Bool>(false)
  private let deliver: @Sendable ([LocationUpdate]) -> Void

  /// Creates a maker, and begins to measure the time without a fix.
  init(
    _ subject: SubjectID,
    _ configuration: LocationUpdate.LiveConfiguration,
    _ timer: @escaping UpdateTimer,
    deliver: @escaping @Sendable ([LocationUpdate]) -> Void
  ) {
    self.subject = subject
    self.configuration = configuration
    self.deliver = deliver
    state = MutexBox(State(updates: LiveUpdateState(of: subject, configuration)))
    wait(timer)
  }

  /// Stops making updates.
  func cancel() { isOver.store(true, ordering: .releasing) }

  /// Does nothing: no update waits.
  func finish() {}

  /// Makes the updates of a batch of events.
  func receive(_ batch: [Event]) {
    // Most batches are about others; the lock orders the updates of the sender and those of the timer.
    guard batch.contains(where: { $0.subject == subject }) else { return }
    state.mutex.withLock { state in
      if batch.contains(where: { $0.kind == .fix && $0.subject == subject }) { state.silentSteps = 0 }
      let updates = batch.compactMap { state.updates.receive($0) }
      if !updates.isEmpty { deliver(updates) }
    }
  }

  private func wait(_ timer: @escaping UpdateTimer) {
    timer(configuration.silence * (1 / Double(Self.steps))) { [weak self] in
      guard let self, !isOver.load(ordering: .acquiring) else { return }
      state.mutex.withLock { state in
        state.silentSteps += 1
        if state.silentSteps >= Self.steps, let update = state.updates.expire() { deliver([update]) }
      }
      wait(timer)
    }
  }
}
