public import PharosEvents
public import PharosReports

/// What an application may learn about a subject, once somebody has said so.
public struct AuthorisationEntry: Hashable, Sendable {
  /// The application.
  public let application: String
  /// The subject.
  public let subject: SubjectID
  /// What it may learn.
  public let state: AuthorisationState
  /// Since when.
  public let since: Timestamp
  /// How often it has changed, which makes the ids of the events that tell of it.
  let changes: UInt64

  init(
    application: String,
    subject: SubjectID,
    state: AuthorisationState,
    since: Timestamp,
    changes: UInt64
  ) {
    self.application = application
    self.subject = subject
    self.state = state
    self.since = since
    self.changes = changes
  }
}

extension AuthorisationEntry: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(application)
    subject.write(to: &writer)
    state.write(to: &writer)
    since.write(to: &writer)
    writer.write(changes)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    application = try reader.text()
    subject = try SubjectID(from: &reader)
    state = try AuthorisationState(from: &reader)
    since = try Timestamp(from: &reader)
    changes = try reader.number(UInt64.self)
  }
}
