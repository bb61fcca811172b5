public import PharosEvents
public import PharosReports

/// Where a subject stands towards a condition, in the words of `CLMonitor`.
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

  /// The state that a region state is.
  public init(_ state: RegionState) {
    switch state {
    case .unknown: self = .unknown
    case .inside: self = .satisfied
    case .outside: self = .unsatisfied
    case .unmonitored: self = .unmonitored
    }
  }
}

/// A change of a condition's state, as `CLMonitor.Event` tells it.
public struct MonitorEvent: Hashable, Sendable {
  /// The condition's identifier.
  public let identifier: String
  /// Whom it is about.
  public let subject: SubjectID
  /// The state now.
  public let state: MonitorState
  /// When it began.
  public let date: Timestamp
  /// The most specific identity that caused it.
  public let refinement: BeaconID?

  /// What a state event tells, or nil for any other event.
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
  /// What is monitored.
  public let condition: BeaconConstraint
  /// The last event that was handled, or nil if there was none yet.
  public let lastEvent: MonitorEvent?
}
