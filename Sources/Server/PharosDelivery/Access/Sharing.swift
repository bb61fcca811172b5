package import PharosDocuments
import PharosJournal
package import PharosModel
import Synchronization

/// What one subject lets another learn of where it is.
///
/// The viewer, or the one who acts for it, asks; the subject's own application answers. An accepted share is a ground on which the
/// ``Gate`` of the viewer shows the subject, until its end or its revocation.
package struct Share: Hashable, Sendable {
  /// The answer to the request of a share.
  package enum State: String, CaseIterable, Hashable, Sendable {
    /// The viewer asked, and has no answer yet.
    case asked
    /// The subject shares.
    case accepted
    /// The subject does not share.
    case refused
  }

  /// The subject that shares, and the one that it shares with.
  struct Key: Hashable {
    let subject: SubjectID
    let viewer: SubjectID

    /// The key of its document.
    var document: String {
      Secret.key { writer in
        subject.write(to: &writer)
        viewer.write(to: &writer)
      }
    }
  }

  /// The subject that shares.
  package let subject: SubjectID
  /// The subject that it shares with, which may be any subject that has a name: it need not be located itself.
  package let viewer: SubjectID
  /// The answer.
  package let state: State
  /// How finely the viewer may learn where the subject is.
  package let accuracy: AccuracyAuthorisation
  /// The end; nil for none.
  package let until: Timestamp?
  /// The time of the last change.
  package let since: Timestamp

  /// Makes a share.
  package init(
    of subject: SubjectID,
    with viewer: SubjectID,
    _ state: State,
    accuracy: AccuracyAuthorisation = .full,
    until: Timestamp? = nil,
    since: Timestamp
  ) {
    (self.subject, self.viewer, self.state) = (subject, viewer, state)
    (self.accuracy, self.until, self.since) = (accuracy, until, since)
  }

  var key: Key { Key(subject: subject, viewer: viewer) }
}

extension Share.State: FieldChoice {
  /// The name of the field.
  package static var fieldName: String { "a state of a share" }
}

extension Share: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let subject = try coder.field(value().subject)
    let viewer = try coder.field(value().viewer)
    return Share(
      of: subject,
      with: viewer,
      try coder.field(value().state),
      accuracy: try coder.field(value().accuracy),
      until: try coder.field(value().until),
      since: try coder.field(value().since)
    )
  }
}

extension Authorisations {
  /// Returns the shares of a subject, ordered by viewer.
  package func shares(of subject: SubjectID) -> [Share] {
    view.shares.values.filter { $0.subject == subject }.sorted { $0.viewer < $1.viewer }
  }

  /// Returns the shares with a viewer, ordered by subject.
  package func shares(with viewer: SubjectID) -> [Share] {
    view.shares.values.filter { $0.viewer == viewer }.sorted { $0.subject < $1.subject }
  }

  /// Makes a share, or replaces the one between the same two.
  ///
  /// - Throws: `AccessError`, in which case nothing has changed.
  package func share(_ share: Share) throws(AccessError) {
    guard share.subject != .none, share.viewer != .none, share.subject != share.viewer else {
      throw .noSubject
    }
    try changing.withLock { _ throws(AccessError) in
      let view = view
      if view.shares[share.key] == nil, view.shares.count >= Authorisations.limit {
        throw .tooMany(what: "shares", limit: Authorisations.limit)
      }
      try store.keep(share, kind: DocumentKind.share, key: share.key.document)
      update { $0.view.setShare(share, of: share.key) }
    }
  }

  /// Ends a share; what waits in open streams is judged without it.
  ///
  /// - Returns: false if there was none.
  /// - Throws: `AccessError.store`, in which case nothing has changed.
  package func endShare(of subject: SubjectID, with viewer: SubjectID) throws(AccessError) -> Bool {
    try changing.withLock { _ throws(AccessError) in
      let key = Share.Key(subject: subject, viewer: viewer)
      guard view.shares[key] != nil else { return false }
      try store.carryOut([DocumentChange(kind: DocumentKind.share, key: key.document)])
      update { $0.view.setShare(nil, of: key) }
      return true
    }
  }

  /// Drops the stored shares that have ended.
  static func dropEndedShares(
    in store: any DocumentStore<JournalError>,
    at now: Timestamp
  ) throws(AccessError) {
    let kept: [(key: String, value: Share)] = try store.decoded(kind: DocumentKind.share)
    let ended = kept.filter { $0.value.until.map { $0 <= now } ?? false }
    try store.carryOut(ended.map { DocumentChange(kind: DocumentKind.share, key: $0.key) })
  }
}
