public import PharosDocuments
public import PharosModel

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

/// The reasons for which an event says less than it might, as `CLMonitor.Event` has them since iOS 18.
public struct MonitorDiagnostics: OptionSet, Hashable, Sendable {
  /// The reasons, a bit each.
  public let rawValue: UInt16

  /// Creates a set from its bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The position is less accurate than the area is large.
  public static let accuracyLimited = MonitorDiagnostics(rawValue: 1)
  /// The subject has denied the application its data.
  public static let authorizationDenied = MonitorDiagnostics(rawValue: 1 << 1)
  /// The handset has stopped scanning for all applications.
  public static let authorizationDeniedGlobally = MonitorDiagnostics(rawValue: 1 << 2)
  /// A policy keeps the subject's data from the application.
  public static let authorizationRestricted = MonitorDiagnostics(rawValue: 1 << 3)
  /// Nothing has been decided about the application's access yet.
  public static let authorizationRequestInProgress = MonitorDiagnostics(rawValue: 1 << 4)
  /// The application holds as many conditions as it may.
  public static let conditionLimitExceeded = MonitorDiagnostics(rawValue: 1 << 5)
  /// The server has nothing by which to decide the condition.
  public static let conditionUnsupported = MonitorDiagnostics(rawValue: 1 << 6)
  /// Never set: a program that takes events is in use.
  public static let insufficientlyInUse = MonitorDiagnostics(rawValue: 1 << 7)
  /// The conditions and records of a named monitor cannot be stored.
  public static let persistenceUnavailable = MonitorDiagnostics(rawValue: 1 << 8)
  /// Never set: a server needs no session.
  public static let serviceSessionRequired = MonitorDiagnostics(rawValue: 1 << 9)

  /// The diagnostics of an authorisation, under which nothing may be learnt unless they are empty.
  package init(_ state: AuthorisationState) {
    switch state {
    case .notDetermined: self = .authorizationRequestInProgress
    case .restricted: self = .authorizationRestricted
    case .denied: self = .authorizationDenied
    case .whenInUse, .always: self = []
    }
  }
}

/// A change of a condition's state, as in `CLMonitor.Event`.
public struct MonitorEvent: Hashable, Sendable {
  /// The condition's identifier.
  public let identifier: String
  /// The subject; `none` where the event is about the condition alone.
  public let subject: SubjectID
  /// The state now.
  public internal(set) var state: MonitorState
  /// The time at which it began; before everything where the event is about the condition alone.
  public let date: Timestamp
  /// The most specific identity that caused it.
  public internal(set) var refinement: BeaconID?
  /// The reasons for which the event says less than it might.
  public internal(set) var diagnostics: MonitorDiagnostics = []

  /// Creates an event from a state event or the refusal of a region, or nil for any other event.
  public init?(_ event: Event) {
    subject = event.subject
    date = event.time
    switch (event.kind, event.detail) {
    case (.regionState, .region(let transition)):
      identifier = event.region
      state = MonitorState(transition.to)
      refinement = transition.refinement
      if transition.evidence.rule == .scanOff { diagnostics = .authorizationDeniedGlobally }
    case (.regionLimitExceeded, .regionLimit(_, let refused)):
      identifier = refused
      state = .unmonitored
      diagnostics = .conditionLimitExceeded
    default: return nil
    }
  }

  /// Creates an event about a condition that cannot be decided.
  init(unsupported identifier: String) {
    self.identifier = identifier
    subject = .none
    state = .unmonitored
    date = .distantPast
    diagnostics = .conditionUnsupported
  }
}

/// The diagnostics by their names in Core Location.
extension MonitorEvent {
  /// Indicates whether the position is less accurate than the area is large.
  public var accuracyLimited: Bool { diagnostics.contains(.accuracyLimited) }
  /// Indicates whether the subject has denied the application its data.
  public var authorizationDenied: Bool { diagnostics.contains(.authorizationDenied) }
  /// Indicates whether the handset has stopped scanning for all applications.
  public var authorizationDeniedGlobally: Bool { diagnostics.contains(.authorizationDeniedGlobally) }
  /// Indicates whether a policy keeps the subject's data from the application.
  public var authorizationRestricted: Bool { diagnostics.contains(.authorizationRestricted) }
  /// Indicates whether nothing has been decided about the application's access yet.
  public var authorizationRequestInProgress: Bool { diagnostics.contains(.authorizationRequestInProgress) }
  /// Indicates whether the application holds as many conditions as it may.
  public var conditionLimitExceeded: Bool { diagnostics.contains(.conditionLimitExceeded) }
  /// Indicates whether the server has nothing by which to decide the condition.
  public var conditionUnsupported: Bool { diagnostics.contains(.conditionUnsupported) }
  /// False: a program that takes events is in use.
  public var insufficientlyInUse: Bool { diagnostics.contains(.insufficientlyInUse) }
  /// Indicates whether the conditions and records of the named monitor cannot be stored.
  public var persistenceUnavailable: Bool { diagnostics.contains(.persistenceUnavailable) }
  /// False: a server needs no session.
  public var serviceSessionRequired: Bool { diagnostics.contains(.serviceSessionRequired) }
}

/// A condition and the last event about one subject.
public struct MonitorRecord: Hashable, Sendable {
  /// The condition.
  public let condition: Region.Condition
  /// The last event that was handled, or nil if there was none yet.
  public let lastEvent: MonitorEvent?
}

extension MonitorEvent: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(identifier)
    writer.write(subject)
    writer.write(state.rawValue)
    writer.write(date)
    writer.write(refinement)
    writer.write(diagnostics.rawValue)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    identifier = try reader.text()
    subject = try reader.read()
    let byte = try reader.byte()
    guard let state = MonitorState(rawValue: byte) else {
      throw reader.failure(.unknownTag(field: "a monitor's state", tag: byte))
    }
    self.state = state
    date = try reader.read()
    refinement = try reader.read()
    diagnostics = MonitorDiagnostics(rawValue: try reader.number(UInt16.self))
  }
}
