public import PharosModel
import Synchronization

/// A receiver of changes to an application's region set, such as the server.
public protocol RegionControl: Sendable {
  /// Carries out a change, or throws the reason why it is refused.
  func apply(_ change: RegionChange) async throws
}

/// Region monitoring in the words of Core Location's `CLMonitor`.
///
/// A thin view of the same decisions that the event streams carry: conditions are added under identifiers, events say
/// `satisfied` or `unsatisfied`, and a record keeps the last event of each. As with `CLMonitor`, records move on with
/// the events that are taken, and **while an event is handled the record still shows the one before it**.
public final class RegionMonitor: Sendable {
  /// The application whose regions these are.
  public let application: String

  private struct State {
    var conditions: [String: BeaconConstraint] = [:]
    var lastEvents: [Key: MonitorEvent] = [:]
  }

  private struct Key: Hashable {
    let identifier: String
    let subject: SubjectID
  }

  private let hub: EventHub
  private let control: any RegionControl
  private let state = Mutex(State())

  /// Makes a monitor of an application's regions.
  public init(application: String = "default", hub: EventHub, control: any RegionControl) {
    self.application = application
    self.hub = hub
    self.control = control
  }

  /// The identifiers that were added here, sorted.
  public var identifiers: [String] { state.withLock { $0.conditions.keys.sorted() } }

  /// Monitors a condition, replacing one with the same identifier.
  ///
  /// - Parameters:
  ///   - condition: the beacons.
  ///   - identifier: the name of the condition.
  ///   - assuming: the state to start from; only a difference from it is an event.
  ///   - presence: the policy that decides when a beacon counts as here and when as gone.
  /// - Throws: the server's refusal, such as that of the 21st region of an application.
  public func add(
    _ condition: BeaconConstraint,
    identifier: String,
    assuming: MonitorState = .unknown,
    presence: PresencePolicy = PresencePolicy()
  ) async throws {
    let region = Region(identifier: identifier, constraint: condition, presence: presence)
    try await control.apply(
      .startMonitoring(application: application, region, assuming: assuming.regionState)
    )
    state.withLock { state in
      state.conditions[identifier] = condition
      state.lastEvents = state.lastEvents.filter { $0.key.identifier != identifier }
    }
  }

  /// Stops monitoring the condition with an identifier.
  public func remove(_ identifier: String) async throws {
    try await control.apply(.stopMonitoring(application: application, identifier: identifier))
    state.withLock { state in
      state.conditions[identifier] = nil
      state.lastEvents = state.lastEvents.filter { $0.key.identifier != identifier }
    }
  }

  /// The condition under an identifier and the last event about a subject that was handled, or nil if there is none.
  public func record(for identifier: String, subject: SubjectID) -> MonitorRecord? {
    state.withLock { state in
      guard let condition = state.conditions[identifier] else { return nil }
      return MonitorRecord(
        condition: condition,
        lastEvent: state.lastEvents[Key(identifier: identifier, subject: subject)]
      )
    }
  }

  /// The events of all conditions, for one consumer; taking the next one files the one before.
  public var events: Events {
    Events(monitor: self, base: hub.events(in: nil, application: application).sequence)
  }

  fileprivate func file(_ event: MonitorEvent) {
    state.withLock { state in
      guard state.conditions[event.identifier] != nil else { return }
      state.lastEvents[Key(identifier: event.identifier, subject: event.subject)] = event
    }
  }

  fileprivate func knows(_ identifier: String) -> Bool {
    state.withLock { $0.conditions[identifier] != nil }
  }

  /// The events of a monitor.
  public struct Events: AsyncSequence, Sendable {
    /// The type of the elements.
    public typealias Element = MonitorEvent
    /// The sequence never fails.
    public typealias Failure = Never

    fileprivate let monitor: RegionMonitor
    fileprivate let base: EventSequence<Event, Never>

    /// Begins to take events.
    public func makeAsyncIterator() -> Iterator {
      Iterator(monitor: monitor, base: base.makeAsyncIterator())
    }

    /// Takes events and files them.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let monitor: RegionMonitor
      fileprivate var base: EventSequence<Event, Never>.Iterator
      private var handled: MonitorEvent?

      fileprivate init(monitor: RegionMonitor, base: EventSequence<Event, Never>.Iterator) {
        self.monitor = monitor
        self.base = base
      }

      /// Files the event before and waits for the next one.
      public mutating func next() async -> MonitorEvent? {
        if let handled { monitor.file(handled) }
        handled = nil
        while let event = await base.next() {
          guard let monitored = MonitorEvent(event), monitor.knows(monitored.identifier) else { continue }
          handled = monitored
          return monitored
        }
        return nil
      }
    }
  }
}

/// The state of a subject towards a condition, in the words of `CLMonitor`.
public enum MonitorState: UInt8, Hashable, Sendable {
  /// Not determined yet.
  case unknown
  /// The condition holds: inside.
  case satisfied
  /// The condition does not hold: outside.
  case unsatisfied
  /// No observer that could determine the state is up.
  case unmonitored

  /// The same in the words of `CLRegionState`.
  public var regionState: RegionState {
    switch self {
    case .unknown: .unknown
    case .satisfied: .inside
    case .unsatisfied: .outside
    case .unmonitored: .unmonitored
    }
  }

  /// Creates the state that corresponds to a region state.
  public init(_ state: RegionState) {
    switch state {
    case .unknown: self = .unknown
    case .inside: self = .satisfied
    case .outside: self = .unsatisfied
    case .unmonitored: self = .unmonitored
    }
  }
}

/// A change of a condition's state, as in `CLMonitor.Event`.
public struct MonitorEvent: Hashable, Sendable {
  /// The condition's identifier.
  public let identifier: String
  /// The subject.
  public let subject: SubjectID
  /// The state now.
  public let state: MonitorState
  /// The time at which it began.
  public let date: Timestamp
  /// The most specific identity that caused it.
  public let refinement: BeaconID?

  /// Creates an event from a state event, or nil for any other event.
  public init?(_ event: Event) {
    guard event.kind == .regionState, case .region(let transition) = event.detail else { return nil }
    identifier = event.region
    subject = event.subject
    state = MonitorState(transition.to)
    date = event.time
    refinement = transition.refinement
  }
}

/// A condition and the last event about one subject.
public struct MonitorRecord: Hashable, Sendable {
  /// The condition.
  public let condition: BeaconConstraint
  /// The last event that was handled, or nil if there was none yet.
  public let lastEvent: MonitorEvent?
}
