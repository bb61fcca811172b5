package import Pharos
import PharosDelivery
import PharosDocuments
package import PharosJournal
package import PharosModel
import PharosSite

/// The itineraries and the guidance of subjects, which are documents of the journal first and then followed by the engine.
///
/// The documents are what counts: after a start the engine takes over what its checkpoint did not know yet, so that a change
/// asks for no checkpoint. Changes are made one after the other.
package final class Assignments: Sendable {
  /// The kinds of documents; the key of each is the subject.
  package enum Kind: String, CaseIterable, Sendable {
    /// An itinerary.
    case itinerary
    /// A request of guidance.
    case guidance

    /// Returns the change that assigns a document to a subject, or nothing; nil for one that cannot be read.
    fileprivate func change(_ subject: SubjectID, _ document: [UInt8]?) -> RegionChange? {
      guard let document else {
        return self == .itinerary ? .setItinerary(subject: subject, nil) : .setGuidance(subject: subject, nil)
      }
      var reader = FieldReader(document[...])
      switch self {
      case .itinerary: return (try? Itinerary(from: &reader)).map { .setItinerary(subject: subject, $0) }
      case .guidance: return (try? GuidanceRequest(from: &reader)).map { .setGuidance(subject: subject, $0) }
      }
    }
  }

  private let journal: Journal
  private let server: PharosServer
  private let turns = AsyncMutex()

  /// Makes the assignments of a server.
  package init(journal: Journal, server: PharosServer) {
    self.journal = journal
    self.server = server
  }

  /// Gives the engine what the documents say and its checkpoint does not, and takes from it what has no document.
  package func resume() async throws {
    try await turns.withLock {
      let known = try await server.assignments()
      let wanted = try await BackgroundExecutor.requests.run { [journal] in try Assignments.all(in: journal) }
      let missing = wanted.subtracting(known)
      let replaced = Set(missing.compactMap(\.assigned))
      let ended = known.subtracting(wanted).compactMap(\.assigned).filter { !replaced.contains($0) }
      let changes = missing + ended.compactMap { $0.kind.change($0.subject, nil) }
      if !changes.isEmpty { try await server.apply(all: changes) }
    }
  }

  /// Assigns an itinerary or guidance to a subject, or ends it with nil.
  ///
  /// - Throws: the error of the journal or the engine, in which case nothing has changed; if the server is stopping, the next
  ///   start may find the document.
  package func assign(_ kind: Kind, _ document: [UInt8]?, to subject: SubjectID) async throws {
    guard let change = kind.change(subject, document) else { return }
    try await turns.withLock {
      try await server.change(.changes([change])) { try await put(document, kind, of: subject) }
    }
  }

  /// Returns the document of a subject, or nil.
  func document(_ kind: Kind, of subject: SubjectID) async throws -> [UInt8]? {
    try await BackgroundExecutor.requests.run { [journal] in
      try journal.document(kind: kind.rawValue, key: subject.description)
    }
  }

  /// Removes what is assigned to a subject that is erased; the engine has forgotten it.
  static func erase(_ traces: SubjectTraces, in journal: Journal) throws {
    var changes: [DocumentChange] = []
    for kind in Kind.allCases {
      for (key, _) in try journal.documents(kind: kind.rawValue) {
        guard let subject = SubjectID(key), traces.contains(subject) else { continue }
        changes.append(DocumentChange(kind: kind.rawValue, key: key))
      }
    }
    try journal.change(changes)
  }

  private func put(_ document: [UInt8]?, _ kind: Kind, of subject: SubjectID) async throws {
    let change = DocumentChange(kind: kind.rawValue, key: subject.description, document: document)
    try await BackgroundExecutor.requests.run { [journal] in _ = try journal.change([change]) }
  }

  private static func all(in journal: Journal) throws -> Set<RegionChange> {
    var changes: Set<RegionChange> = []
    for kind in Kind.allCases {
      for (key, document) in try journal.documents(kind: kind.rawValue) {
        if let change = SubjectID(key).flatMap({ kind.change($0, document) }) { changes.insert(change) }
      }
    }
    return changes
  }
}

/// The kind of an assignment, and whose it is.
private struct Assigned: Hashable {
  let kind: Assignments.Kind
  let subject: SubjectID
}

extension RegionChange {
  /// The assignment that the change makes; nil for any other change.
  fileprivate var assigned: Assigned? {
    switch self {
    case .setItinerary(let subject, _): Assigned(kind: .itinerary, subject: subject)
    case .setGuidance(let subject, _): Assigned(kind: .guidance, subject: subject)
    default: nil
    }
  }
}
