package import Logging
package import PharosDocuments
package import PharosModel
import Synchronization

/// The one owner of the site: where the site comes from, how it changes, and who is informed.
///
/// - *Where it comes from.* The site file declares a site (``SiteFile``), and what clients register over HTTP is added to it
///   (``SiteSources``). Of two declarations that have one name the site file's counts. As Core Location's regions outlive the app
///   that registered them, registrations outlive a restart: each is a document of a store.
/// - *How it changes.* A registration, an edited site file and the program that embeds a server all ask for a ``SiteEdit``. Edits
///   are made one after the other, each as a whole or not at all: it is tried on a copy, the engine checks it in its place among
///   all inputs, the store keeps it, and the engine makes it.
/// - *Who is informed.* The engine takes the changes from ``carryOut(_:at:)`` and passes them on to all of its stages in the order of
///   its inputs. All else that depends on the site reads it here when it needs it.
package final class SiteOwner: Sendable {
  /// What the owner holds: a value, so that an edit can be tried first.
  private struct State {
    /// The declarations and registrations.
    var sources: SiteSources
    /// The site that follows from them and counts; its applications are in the order in which they came.
    ///
    /// Programs that embed a server change it without registering anything.
    var site: Site
    /// The names that it gives, and those that it gave.
    var names: SiteNames
    /// The clock that gives the instants of changes of names; nil while former names are not recorded.
    var clock: (@Sendable () -> Timestamp)?
    /// The instant of the edit that is being made, with which its changes of names are stored.
    var instant: Timestamp?

    mutating func carryOut(_ edit: SiteEdit) throws(RegionRefusal) -> [RegionChange] {
      let before = site
      defer {
        if before.observers != site.observers || before.beacons != site.beacons || before.zones != site.zones
        {
          names = names.edited(to: site, at: instant ?? clock?())
        }
      }
      switch edit {
      case .file(let declared):
        var next = sources
        next.declared = declared
        let changes = try site.adopt(next.site, inPlaceOf: sources.site)
        sources = next
        return changes
      case .changes(let changes, let next):
        try site.accept(changes)
        for case .declare(let settings) in changes { sources.declare(settings) }
        if let next { sources = next }
        return changes
      case .logged(let changes, let documents): return try carryOut(changes, documents)
      }
    }

    /// Makes an edit that was asked for elsewhere, of what the sources were there.
    private mutating func carryOut(
      _ changes: [RegionChange],
      _ documents: [DocumentChange]
    ) throws(RegionRefusal) -> [RegionChange] {
      var next = sources
      // What cannot be read has no effect, here as anywhere.
      for document in documents { try? RegistrationDocuments.follow(document, in: &next) }
      var made = changes
      if next.declared != sources.declared {
        try next.site.check()
        made = sources.site.changes(to: next.site) + changes
      } else if next != sources {
        // Others may have registered something since.
        made = changes.map { if case .declare = $0 { .declare(next.settings) } else { $0 } }
      }
      try site.accept(made)
      if next == sources { for case .declare(let settings) in made { next.declare(settings) } }
      sources = next
      return made
    }
  }

  /// A reference that does not keep the engine, which keeps its owner.
  private struct Engine {
    weak var value: (any SiteEngine)?
  }

  private let state: Mutex<State>
  private let engine = Mutex(Engine())
  private let turns = AsyncMutex()
  private let store: (any DocumentStore)?
  private let logger: Logger?

  /// Makes the owner of a site that a program declares, which the server checks when it starts.
  package convenience init(declared: Site) {
    self.init(SiteSources(declared: declared), store: nil, logger: nil)
  }

  /// Makes the owner of the site that a site file declares, with the registrations of a store.
  ///
  /// The server checks it when it starts.
  ///
  /// - Parameters:
  ///   - declared: the site that the site file declares.
  ///   - store: the store of the registrations.
  ///   - logger: logs registrations that the site file hides, and documents that cannot be read.
  /// - Throws: the error of a store that cannot be read.
  package convenience init(declared: Site, store: any DocumentStore, logger: Logger) throws {
    var sources = SiteSources(declared: declared)
    try RegistrationDocuments.read(from: store, into: &sources, logger: logger)
    self.init(sources, store: store, logger: logger)
    warn(of: sources)
  }

  /// Makes the owner of a site that follows from sources, and from what programs have changed since; nil for nothing.
  package init(
    _ sources: SiteSources,
    changedTo site: Site? = nil,
    store: (any DocumentStore)? = nil,
    logger: Logger? = nil
  ) {
    let site = site ?? sources.site
    state = Mutex(State(sources: sources, site: site, names: SiteNames(site)))
    (self.store, self.logger) = (store, logger)
  }

  /// The site that counts.
  package var site: Site { state.withLock { $0.site } }

  /// The names that the site gives, and those that it gave.
  package var names: SiteNames { state.withLock { $0.names } }

  /// The declarations of the site file and the registrations over HTTP.
  package var sources: SiteSources { state.withLock { $0.sources } }

  /// The applications: those of the site file in its order, then those made over HTTP by identifier.
  package var applications: [RegisteredApplication] { sources.applications }

  /// One application, or nil.
  package func application(_ name: String) -> RegisteredApplication? { sources.application(name) }
}

/// How an edit is asked for, by registrations and by the edited site file.
extension SiteOwner {
  /// Sets the engine that makes the edits; called once, before there are any.
  package func attach(to engine: any SiteEngine) { self.engine.withLock { $0.value = engine } }

  /// Changes the registrations: tries the change on a copy, and makes it with its documents.
  ///
  /// - Parameters:
  ///   - whileStopped: indicates whether the change may also be made while there is no engine, for the next start.
  ///   - other: a change of other stores that is made with it, or not at all.
  ///   - change: changes the copy; throws if the change is not allowed. It returns the result, and the changes for the engine.
  /// - Returns: the result of the change.
  /// - Throws: the reason why it was not made.
  package func edit<Value>(
    whileStopped: Bool = false,
    with other: () throws -> PendingChange = { PendingChange() },
    _ change: (inout SiteSources) throws -> (Value, [RegionChange])
  ) async throws -> Value {
    try await inTurn {
      let before = sources
      var after = before
      let (value, changes) = try change(&after)
      var pending = try other()
      guard after != before || !pending.documents.isEmpty else { return value }
      guard whileStopped || engine.withLock({ $0.value != nil }) else { throw RegistrationRefusal.starting }
      pending.documents = RegistrationDocuments.changes(to: after, from: before) + pending.documents
      try await make(.changes(changes, sources: after), committing: pending)
      return value
    }
  }

  /// Takes an edited site file while the server runs: whole, or not at all.
  ///
  /// - Parameters:
  ///   - declared: the current declarations of the file.
  ///   - ending: returns the change that ends the access of an application that the file no longer declares.
  /// - Throws: the error of an engine that refuses it; nothing has changed then.
  package func reload(
    _ declared: Site,
    ending: (_ application: String) -> PendingChange = { _ in PendingChange() }
  ) async throws {
    try await inTurn {
      var next = sources
      next.declared = declared
      try await make(.file(declared), committing: try endings(of: next, ending))
      warn(of: next)
    }
  }

  /// Ends the access of applications that were removed from the site file while the server was stopped.
  ///
  /// - Parameter ending: returns the change that ends the access of an application.
  /// - Throws: the error of the store.
  package func endRemoved(_ ending: (_ application: String) -> PendingChange) throws {
    try commit(try endings(of: sources, ending))
  }

  /// Runs some work while no edit is made.
  package func inTurn<Value>(_ work: () async throws -> Value) async throws -> Value {
    try await turns.withLock(work)
  }

  /// Makes an edit and commits it in one transaction with what belongs to it.
  ///
  /// The engine checks it first. Without an engine, and where the site stays the same, the owner does so by itself.
  private func make(_ edit: SiteEdit, committing pending: PendingChange) async throws {
    guard let engine = engine.withLock({ $0.value }), edit.changesSite || engine.isReplicated else {
      try check(edit)
      try commit(pending)
      _ = try carryOut(edit)
      return
    }
    var pending = pending
    pending.documents += namesChanged(by: edit)
    defer { state.withLock { $0.instant = nil } }
    try await engine.change(edit, with: pending.documents) { try commit(pending) }
  }

  private func commit(_ pending: PendingChange) throws {
    try store?.change(pending.documents)
    pending.adopt()
  }

  /// Returns the change that ends the access of applications that a site file declared and that are gone, and that keeps
  /// the names of those that are declared now.
  ///
  /// An application that was never declared keeps its tokens: it makes itself with its first region.
  private func endings(
    of sources: SiteSources,
    _ ending: (String) -> PendingChange
  ) throws -> PendingChange {
    let kind = RegistrationDocuments.declaredApplication
    let known = Set(try store?.documents(kind: kind).map(\.key) ?? [])
    let declared = Set(sources.declared.applications.map(\.identifier))
    func change(_ name: String, _ isThere: Bool) -> DocumentChange {
      DocumentChange(kind: kind, key: name, document: isThere ? [] : nil)
    }
    let changed = known.symmetricDifference(declared).sorted()
    let gone = known.subtracting(declared).filter { sources.made[$0] == nil }
    return gone.sorted().reduce(
      PendingChange(documents: changed.map { change($0, declared.contains($0)) })
    ) { $0.and(ending($1)) }
  }

  private func warn(of sources: SiteSources) {
    for conflict in sources.conflicts { logger?.warning("\(conflict)") }
  }
}

/// How names are kept that no longer count. Whichever way a thing is renamed, the edit of the site is what renames it.
extension SiteOwner {
  /// Restores the former names from the store, and records those that end from now on.
  ///
  /// What was renamed while the server was stopped counts as renamed now. In a store that never had names, the present ones are
  /// taken to have counted always.
  ///
  /// - Parameters:
  ///   - clock: the clock by which events have their times.
  ///   - logger: logs records that cannot be read.
  /// - Throws: the error of the store.
  package func recordNames(by clock: @escaping @Sendable () -> Timestamp, logger: Logger) throws {
    let records = try store.flatMap { try NameDocuments.read(from: $0, logger: logger) }
    let stored = SiteNames.restored(from: records ?? [])
    let changes = state.withLock { state in
      state.clock = clock
      if records != nil { state.names = stored.edited(to: state.site, at: clock()) }
      return NameDocuments.changes(to: state.names, from: stored)
    }
    try commit(PendingChange(documents: changes + (records == nil ? [NameDocuments.beginning] : [])))
  }

  /// Removes the former names of a subject; also while there is no server.
  ///
  /// - Parameter traces: the subject.
  /// - Returns: the number of identities whose names the store kept.
  /// - Throws: the error of the store; nothing has changed then.
  package func forget(_ traces: SubjectTraces) async throws -> Int {
    try await inTurn {
      let gone = try store.map { try NameDocuments.keys(of: traces, in: $0) } ?? []
      try commit(PendingChange(documents: gone.map(NameDocuments.removal)))
      state.withLock { $0.names = $0.names.changingHistory { $0.forget(traces) } }
      return gone.count
    }
  }

  /// Drops the names that ended at an instant or before, because everything older has been dropped.
  ///
  /// - Parameter instant: a time before which nothing is kept.
  /// - Throws: the error of the store; nothing has changed then.
  package func dropNames(endingBy instant: Timestamp) async throws {
    try await inTurn {
      let names = names
      let kept = names.changingHistory { $0.drop(endingBy: instant) }
      guard kept.history != names.history else { return }
      try commit(PendingChange(documents: NameDocuments.changes(to: kept, from: names)))
      state.withLock { $0.names = $0.names.changingHistory { $0.drop(endingBy: instant) } }
    }
  }

  /// Takes the instant of an edit, and returns the documents of the names that it changes.
  private func namesChanged(by edit: SiteEdit) -> [DocumentChange] {
    state.withLock { state in
      guard let clock = state.clock else { return [] }
      state.instant = clock()
      var next = state
      // The engine says why it refuses an edit.
      guard (try? next.carryOut(edit)) != nil else { return [] }
      return NameDocuments.changes(to: next.names, from: state.names)
    }
  }
}

/// How an edit is made, by the engine.
extension SiteOwner {
  /// Checks the applications of the site that counts.
  ///
  /// - Throws: the first refusal that one of them meets.
  package func check() throws(RegionRefusal) { try site.check() }

  /// Checks an edit.
  ///
  /// - Throws: the refusal that it would meet.
  package func check(_ edit: SiteEdit) throws(RegionRefusal) {
    var trial = state.withLock { $0 }
    _ = try trial.carryOut(edit)
  }

  /// Makes an edit; the engine alone does so while it runs.
  ///
  /// - Parameters:
  ///   - edit: the edit.
  ///   - instant: the instant from which changed names count; nil for that of the request, or for now.
  /// - Returns: the changes for the stages of the engine, in their order.
  /// - Throws: the first refusal that one of them meets; nothing has changed then.
  package func carryOut(
    _ edit: SiteEdit,
    at instant: Timestamp? = nil
  ) throws(RegionRefusal) -> [RegionChange] {
    try state.withLock { (state) throws(RegionRefusal) in
      if let instant { state.instant = instant }
      defer { if instant != nil { state.instant = nil } }
      return try state.carryOut(edit)
    }
  }
}

/// An edit of the site.
package enum SiteEdit: Sendable {
  /// Changes, all of them or none; with the declarations and registrations from which they follow, or nil where a program
  /// asks for them that registers nothing.
  case changes([RegionChange], sources: SiteSources? = nil)
  /// An edited site file.
  case file(Site)
  /// Changes and documents as several servers read them from one log; the declarations and registrations follow from these.
  case logged([RegionChange], [DocumentChange])

  /// The changes that are known beforehand.
  package var changes: [RegionChange] {
    switch self {
    case .changes(let changes, sources: _), .logged(let changes, _): changes
    case .file: []
    }
  }

  /// Indicates whether the site may be another one afterwards.
  package var changesSite: Bool {
    switch self {
    case .changes(let changes, sources: _): changes.contains(where: \.changesSite)
    case .file, .logged: true
    }
  }

  /// Returns the edit as several servers make it alike, with documents that belong to it.
  package func logged(with documents: [DocumentChange]) -> SiteEdit {
    switch self {
    case .changes(let changes, sources: _): .logged(changes, documents)
    case .file(let declared): .logged([], documents + [RegistrationDocuments.declaration(of: declared)])
    case .logged(let changes, let own): .logged(changes, own + documents)
    }
  }
}

/// An engine that makes edits at an instant that has its place among all inputs.
package protocol SiteEngine: AnyObject, Sendable {
  /// Indicates whether edits go through a log that several servers share, and all documents with them.
  var isReplicated: Bool { get }

  /// Makes an edit: checks it, calls `commit`, and makes it.
  ///
  /// An engine that is replicated checks, stores and makes it where it reads it from the log, and does not call `commit`.
  ///
  /// - Parameters:
  ///   - edit: the edit.
  ///   - documents: the documents that belong to it.
  ///   - commit: stores them.
  /// - Throws: the refusal that it meets or the error of the commit, nothing having changed.
  func change(
    _ edit: SiteEdit,
    with documents: [DocumentChange],
    committing commit: () async throws -> Void
  ) async throws
}
