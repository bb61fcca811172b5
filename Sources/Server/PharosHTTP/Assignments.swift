package import Pharos
package import PharosDelivery
import PharosDocuments
package import PharosJournal
package import PharosModel
import PharosSite
import ServiceLifecycle

/// The itineraries and the guidance of subjects, which are documents of the journal first and then followed by the engine.
///
/// The documents are what counts: after a start the engine takes over what its checkpoint did not know yet, so that a change
/// asks for no checkpoint. Changes are made one after the other. While the service runs, each change of the authorisations
/// sets again which destinations are withheld.
package final class Assignments: Service, Sendable {
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
  private let authorisations: Authorisations
  private let turns = AsyncMutex()
  /// A value for each change of the authorisations since the last review.
  private let changes: AsyncStream<Void>

  /// Makes the assignments of a server.
  package init(journal: Journal, server: PharosServer, authorisations: Authorisations) {
    self.journal = journal
    self.server = server
    self.authorisations = authorisations
    let (changes, changed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.changes = changes
    authorisations.tap { changed.yield() }
  }

  /// Holds and releases the guidance to subjects as the authorisations change, until the server stops.
  package func run() async throws {
    for await _ in changes.cancelOnGracefulShutdown() {
      // A review that fails is made up for by the next one; until then the gate keeps back what may not be seen.
      try? await review()
    }
  }

  /// Sets again which destinations are withheld.
  private func review() async throws {
    try await turns.withLock {
      let kept = try await BackgroundExecutor.requests.run { [journal] in
        try journal.documents(kind: Kind.guidance.rawValue)
      }
      for (key, document) in kept {
        guard let subject = SubjectID(key), let judged = judged(document, of: subject), judged != document
        else {
          continue
        }
        try await store(.guidance, judged, to: subject)
      }
    }
  }

  /// Returns the document of guidance as the present authorisations allow it.
  private func judged(_ document: [UInt8], of subject: SubjectID) -> [UInt8]? {
    var reader = FieldReader(document[...])
    guard var request = try? GuidanceRequest(from: &reader) else { return nil }
    guard case .subject(var moving) = request.destination else { return document }
    moving.isWithheld = !authorisations.view.guides(subject, to: moving.subject)
    request.destination = .subject(moving)
    return request.encoded
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
    try await turns.withLock {
      let allowed = kind == .guidance ? document.flatMap { judged($0, of: subject) } : document
      try await store(kind, allowed ?? document, to: subject)
    }
  }

  private func store(_ kind: Kind, _ document: [UInt8]?, to subject: SubjectID) async throws {
    guard let change = kind.change(subject, document) else { return }
    let stored = DocumentChange(kind: kind.rawValue, key: subject.description, document: document)
    try await server.change(.changes([change]), with: [stored]) {
      try await BackgroundExecutor.requests.run { [journal] in _ = try journal.change([stored]) }
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
      for (key, document) in try journal.documents(kind: kind.rawValue) {
        guard let subject = SubjectID(key) else { continue }
        let isConcerned =
          if case .setGuidance(_, let request)? = kind.change(subject, document) {
            request?.target.map { traces.contains($0) } ?? false
          } else {
            false
          }
        guard isConcerned || traces.contains(subject) else { continue }
        changes.append(DocumentChange(kind: kind.rawValue, key: key))
      }
    }
    try journal.change(changes)
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
