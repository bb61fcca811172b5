public import PharosReports

/// What an application may learn about a subject, in Core Location's words.
public enum AuthorisationState: UInt8, CaseIterable, Hashable, Sendable {
  /// No decision has been made yet: the application learns nothing.
  case notDetermined
  /// Forbidden by policy, which the subject cannot change: the application learns nothing.
  case restricted
  /// Forbidden by the subject: the application learns nothing.
  case denied
  /// Told while the application has a live stream open, and to that stream alone.
  case whenInUse
  /// Told at any time: streams, webhooks, the journal.
  case always

  /// The state as documents and events spell it.
  public var name: String {
    switch self {
    case .notDetermined: "notDetermined"
    case .restricted: "restricted"
    case .denied: "denied"
    case .whenInUse: "whenInUse"
    case .always: "always"
    }
  }

  /// Reads a state's name, or nil if there is none of that name.
  public init?(name: String) {
    guard let state = AuthorisationState.allCases.first(where: { $0.name == name }) else { return nil }
    self = state
  }
}

/// A change of what an application may learn about a subject.
public struct AuthorisationTransition: Hashable, Sendable {
  /// What was allowed before.
  public var from: AuthorisationState
  /// What is allowed now.
  public var to: AuthorisationState
  /// What the application says that it needs it for; empty where it was never asked to say.
  public var purpose: String

  /// Makes a transition.
  public init(from: AuthorisationState, to: AuthorisationState, purpose: String) {
    self.from = from
    self.to = to
    self.purpose = purpose
  }
}

extension AuthorisationState: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) { writer.write(rawValue) }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let tag = try reader.byte()
    guard let state = AuthorisationState(rawValue: tag) else {
      throw reader.failure(.unknownTag(field: "an authorisation", tag: tag))
    }
    self = state
  }
}

extension AuthorisationTransition: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    from.write(to: &writer)
    to.write(to: &writer)
    writer.write(purpose)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let from = try AuthorisationState(from: &reader)
    let to = try AuthorisationState(from: &reader)
    self.init(from: from, to: to, purpose: try reader.text())
  }
}

extension AuthorisationTransition {
  /// Writes the members of an event's `data`.
  func write(to json: inout JSONText) {
    json.member("from", from.name)
    json.member("to", to.name)
    json.member("purpose", ifPresent: purpose.isEmpty ? nil : purpose)
  }
}
