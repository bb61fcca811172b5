package import PharosModel

/// A subject that is inside a region.
package struct Standing: Hashable, Sendable {
  /// The application.
  package let application: String
  /// The region's identifier.
  package let region: String
  /// The subject that is inside.
  package let subject: SubjectID
  /// The start of the visit.
  package let since: Timestamp

  /// Takes a state of the engines; nil unless the subject is inside.
  init?(
    _ application: String,
    _ region: String,
    _ subject: SubjectID,
    _ state: RegionState,
    since: Timestamp?
  ) {
    guard state == .inside, let since else { return nil }
    (self.application, self.region, self.subject, self.since) = (application, region, subject, since)
  }
}
