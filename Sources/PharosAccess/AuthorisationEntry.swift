package import PharosEvents
package import PharosReports

/// What an application may learn about a subject, once somebody has said so.
package struct AuthorisationEntry: Hashable, Sendable {
  /// The application.
  package let application: String
  /// The subject.
  package let subject: SubjectID
  /// What it may learn.
  package let state: AuthorisationState
  /// Since when.
  package let since: Timestamp
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
  package func write(to writer: inout FieldWriter) {
    writer.write(application)
    subject.write(to: &writer)
    state.write(to: &writer)
    since.write(to: &writer)
    writer.write(changes)
  }

  /// Reads the value.
  package init(from reader: inout FieldReader) throws(FieldError) {
    application = try reader.text()
    subject = try SubjectID(from: &reader)
    state = try AuthorisationState(from: &reader)
    since = try Timestamp(from: &reader)
    changes = try reader.number(UInt64.self)
  }
}
