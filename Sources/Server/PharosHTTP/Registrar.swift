package import Logging
package import Pharos
package import PharosDelivery
import PharosJournal
package import PharosModel
package import PharosSecurity
package import PharosSite
import Synchronization

/// The registrations over HTTP: applications, their regions and ranging requests, observers, zones, and keys.
///
/// As Core Location's regions outlive the app that registered them, these outlive a restart: each is a document of the
/// journal, and the site that the engine starts with is the site file's with them added. Of two that have one name the
/// site file's counts. Changes are made one after the other: the engine checks one, the journal keeps it, the engine makes it.
package final class Registrar: Sendable {
  private let store: any DocumentStore
  private let logger: Logger
  private let state: Mutex<State>
  private let server = Mutex<PharosServer?>(nil)
  private let turns = AsyncMutex()
  /// The keys that observers sign with.
  let keys: ObserverKeys

  /// A register and the site that it merges, which is read far more often than it changes.
  private struct State {
    var register: Register { didSet { site = register.site } }
    private(set) var site: Site

    init(_ register: Register) {
      self.register = register
      site = register.site
    }
  }

  /// Reads the registrations and merges them with a site.
  ///
  /// - Parameters:
  ///   - declared: the site that the site file declares.
  ///   - store: the store of the registrations.
  ///   - logger: logs registrations that the site file hides, and documents that cannot be read.
  /// - Throws: the error of a journal that cannot be read.
  package init(declared: Site, store: any DocumentStore, logger: Logger) throws(AccessError) {
    self.store = store
    self.logger = logger
    keys = try ObserverKeys(store: store)
    var register = Register(declared: declared)
    do throws(JournalError) {
      try RegistrarDocuments.read(from: store, into: &register, logger: logger)
    } catch {
      throw .store(error)
    }
    state = Mutex(State(register))
    Registrar.tell(register.conflicts, logger)
  }

  /// The site that the engine starts with: the site file's declarations merged with the registrations over HTTP.
  package var site: Site { state.withLock { $0.site } }

  private var register: Register { state.withLock { $0.register } }

  private func settle(_ register: Register) { state.withLock { $0.register = register } }

  /// The applications: those of the site file in its order, then those made over HTTP by identifier.
  package var applications: [RegisteredApplication] { register.applications }

  /// One application, or nil.
  package func application(_ name: String) -> RegisteredApplication? {
    register.application(name)
  }

  /// Sets the server that carries out the changes; called once, before there are any.
  package func attach(to server: PharosServer) { self.server.withLock { $0 = server } }

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
    try await turns.take {
      var next = register
      next.declared = declared
      let ends = try Registrar.endings(of: next, store, ending)
      func commit() throws {
        try store.change(ends.documents)
        settle(next)
        ends.adopt()
      }
      if let server = server.withLock({ $0 }) {
        try await server.adopt(next.site, replacing: site, committing: commit)
      } else {
        try commit()
      }
      Registrar.tell(next.conflicts, logger)
    }
  }

  /// Ends the access of applications that were removed from the site file while the server was stopped.
  ///
  /// - Parameter ending: returns the change that ends the access of an application.
  /// - Throws: the error of the store.
  package func endRemoved(_ ending: (_ application: String) -> PendingChange) throws {
    let ends = try Registrar.endings(of: register, store, ending)
    try store.change(ends.documents)
    ends.adopt()
  }

  /// Returns the change that ends the access of applications that a site file declared and that are gone, and that keeps
  /// the names of those that are declared now.
  ///
  /// An application that was never declared keeps its tokens: it makes itself with its first region.
  private static func endings(
    of register: Register,
    _ store: any DocumentStore,
    _ ending: (String) -> PendingChange
  ) throws -> PendingChange {
    let kind = RegistrarDocuments.declaredApplication
    let known = Set(try store.documents(kind: kind).map(\.key))
    let declared = Set(register.declared.applications.map(\.identifier))
    func change(_ name: String, _ isThere: Bool) -> DocumentChange {
      DocumentChange(kind: kind, key: name, document: isThere ? [] : nil)
    }
    let changed = known.symmetricDifference(declared).sorted()
    let gone = known.subtracting(declared).filter { register.made[$0] == nil }
    return gone.sorted().reduce(
      PendingChange(documents: changed.map { change($0, declared.contains($0)) })
    ) { $0.and(ending($1)) }
  }

  /// Changes the register: tries the change on a copy, has the engine check it, writes it to the journal in one transaction,
  /// and has the engine make it.
  ///
  /// - Parameters:
  ///   - whileStopped: indicates whether the change may also be made while there is no server, for the next start.
  ///   - other: a change of other stores that is made with it, or not at all.
  ///   - change: changes the copy; throws if the change is not allowed. It returns the result, and the changes for the server.
  /// - Returns: the result of the change.
  /// - Throws: the reason why it was not made.
  func edit<Value>(
    whileStopped: Bool = false,
    with other: () throws -> PendingChange = { PendingChange() },
    _ change: (inout Register) throws -> (Value, [RegionChange])
  ) async throws -> Value {
    try await turns.take {
      let before = register
      var after = before
      let (value, changes) = try change(&after)
      let other = try other()
      guard after != before || !other.documents.isEmpty else { return value }
      let server = self.server.withLock { $0 }
      guard server != nil || whileStopped else {
        throw Problem.unavailable("The server is still starting; try again in a moment.")
      }
      func commit() throws {
        try store.change(RegistrarDocuments.changes(to: after, from: before) + other.documents)
        settle(after)
        other.adopt()
      }
      if let server, !changes.isEmpty {
        try await server.apply(all: changes, committing: commit)
      } else {
        try commit()
      }
      return value
    }
  }

  /// Changes keys: kept by the change itself, then adopted by the server.
  ///
  /// A server that is stopping adopts nothing; the next start does.
  func changeKeys<Value>(
    _ change: (ObserverKeys) throws(AccessError) -> Value
  ) async throws -> Value {
    try await turns.take {
      let value = try change(keys)
      try await server.withLock { $0 }?.adopt(keys: keys.list())
      return value
    }
  }

  private static func tell(_ conflicts: [String], _ logger: Logger) {
    for conflict in conflicts { logger.warning("\(conflict)") }
  }
}

extension Registrar {
  /// The most applications that may be made over HTTP.
  ///
  /// A thousand, each of which may hold a thousand regions: far beyond any site that was heard of, and still bounded.
  static let maximumApplications = 1_000
  /// The most observers, and the most zones, that may be named over HTTP: a large hospital has some thousand rooms.
  static let maximumPlaces = 10_000
  /// The most ranging requests that an application may make over HTTP; Core Location has no limit, memory does.
  static let maximumRanging = 1_000

  /// Makes an application, or changes its settings.
  ///
  /// - Parameters:
  ///   - name: its identifier.
  ///   - document: its settings.
  ///   - other: a change of other stores that is made with it, or not at all.
  /// - Returns: `true` if it is new.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(
    application name: String,
    _ document: ApplicationDocument,
    with other: () throws -> PendingChange = { PendingChange() }
  ) async throws -> Bool {
    try await edit(with: other) { register in
      try Registrar.refuseDeclared(register, name)
      let isNew = register.made[name] == nil
      try Registrar.makeRoom(in: register, for: name)
      // First, so that a limit that is too low is refused, and no region is left out for it.
      let limit = RegionChange.setRegionLimit(application: name, document.regionLimit)
      let others = register.update(name) { $0.document = document }.filter { $0 != limit }
      return (isNew, [limit] + others)
    }
  }

  /// Removes an application that was made over HTTP, with its regions and ranging requests.
  ///
  /// - Parameters:
  ///   - name: its identifier.
  ///   - other: a change of other stores that is made with it, or not at all.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(
    application name: String,
    with other: () throws -> PendingChange = { PendingChange() }
  ) async throws {
    try await edit(with: other) { register in
      try Registrar.refuseDeclared(register, name)
      guard register.made[name] != nil else {
        throw Problem.notFound("There is no application \"\(name)\".")
      }
      return ((), register.update(name) { $0 = MadeApplication() })
    }
  }

  /// Monitors a region, in place of one with the same identifier.
  ///
  /// - Parameters:
  ///   - region: the region.
  ///   - name: the application, which is made if it is not there.
  /// - Returns: `true` if it is new.
  /// - Throws: the reason for the refusal, such as the 21st region of an application; nothing has changed then.
  package func put(region: Region, application name: String) async throws -> Bool {
    try await edit { register in
      let declared = register.declared.applications.first { $0.identifier == name }
      if let declared, Register.declares(declared, region: region.identifier) {
        throw Problem.conflict(
          "declaredBySite",
          "Region \"\(region.identifier)\" of application \"\(name)\" is declared by the site file; change it there."
        )
      }
      if declared == nil { try Registrar.makeRoom(in: register, for: name) }
      let isNew = register.made[name]?.regions[region.identifier] == nil
      if declared == nil, register.made[name]?.document == nil {
        register.made[name, default: MadeApplication()].document = ApplicationDocument()
      }
      register.made[name, default: MadeApplication()].regions[region.identifier] = region
      return (isNew, [.startMonitoring(application: name, region)])
    }
  }

  /// Stops monitoring a region that was registered over HTTP.
  ///
  /// - Parameters:
  ///   - identifier: the region's identifier.
  ///   - name: the application.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(region identifier: String, application name: String) async throws {
    try await edit { register in
      let declared = register.declared.applications.first { $0.identifier == name }
      if let declared, Register.declares(declared, region: identifier) {
        throw Problem.conflict(
          "declaredBySite",
          "Region \"\(identifier)\" of application \"\(name)\" is declared by the site file; remove it there."
        )
      }
      guard register.made[name]?.regions[identifier] != nil else {
        throw Problem.notFound("Application \"\(name)\" has no region \"\(identifier)\".")
      }
      return ((), register.update(name) { $0.regions[identifier] = nil })
    }
  }

  /// Accepts an observer that is in quarantine, now and after every restart; also while there is no server.
  ///
  /// - Parameter observer: the observer.
  /// - Throws: the error of the store or the engine; the observer is not accepted then.
  package func accept(_ observer: ObserverID) async throws {
    try await edit(whileStopped: true) { register in
      register.accepted.insert(observer)
      return ((), [.acceptObserver(observer)])
    }
  }

  /// Withdraws the acceptance of an observer.
  ///
  /// - Parameter observer: the observer.
  /// - Returns: `true` if it was accepted.
  /// - Throws: the error of the store or the engine; nothing has changed then.
  package func forget(_ observer: ObserverID) async throws -> Bool {
    try await edit(whileStopped: true) { register in
      let wasAccepted = register.accepted.remove(observer) != nil
      let wasNamed = register.observers.removeValue(forKey: observer) != nil
      let changes = wasNamed ? [RegionChange.declare(register.site.settings)] : []
      return (
        wasAccepted || wasNamed, register.declares(observer) ? [] : changes + [.dismissObserver(observer)]
      )
    }
  }

  /// Names and configures an observer, which accepts it.
  ///
  /// - Parameter entry: the observer.
  /// - Returns: `true` if it was neither named nor configured over HTTP.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(observer entry: ObserverEntry) async throws -> Bool {
    try await edit { register in
      guard !register.declares(entry.id) else { throw Registrar.declaredBySite("Observer", "\(entry.id)") }
      try Registrar.makeRoom(
        register.observers.count,
        isNew: register.observers[entry.id] == nil,
        "observers"
      )
      let isNew = register.observers.updateValue(entry, forKey: entry.id) == nil
      return (isNew, [.declare(register.site.settings)])
    }
  }

  /// Makes a zone, in place of one with the same identifier.
  ///
  /// - Parameter zone: the zone.
  /// - Returns: `true` if it is new.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(zone: Zone) async throws -> Bool {
    try await edit { register in
      let identifier = zone.identifier
      guard !register.declares(zone: identifier) else { throw Registrar.declaredBySite("Zone", identifier) }
      for other in zone.adjacent
      where other == identifier || register.zones[other] == nil && !register.declares(zone: other) {
        throw Problem.invalidBody([
          Problem.Field("adjacent", "has \"\(other.shortened)\"", expected: "other zones that there are")
        ])
      }
      try Registrar.makeRoom(register.zones.count, isNew: register.zones[identifier] == nil, "zones")
      let isNew = register.zones.updateValue(zone, forKey: identifier) == nil
      return (isNew, [.declare(register.site.settings)])
    }
  }

  /// Removes a zone that was made over HTTP.
  ///
  /// - Parameter identifier: its identifier.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(zone identifier: String) async throws {
    try await edit { register in
      guard !register.declares(zone: identifier) else { throw Registrar.declaredBySite("Zone", identifier) }
      guard register.zones.removeValue(forKey: identifier) != nil else {
        throw Problem.notFound("There is no zone \"\(identifier.shortened)\".")
      }
      return ((), [.declare(register.site.settings)])
    }
  }

  private static func declaredBySite(_ what: String, _ name: String) -> Problem {
    .conflict(
      "declaredBySite",
      "\(what) \"\(name)\" is declared by the site file; change or remove it there."
    )
  }

  private static func makeRoom(_ count: Int, isNew: Bool, _ what: String) throws {
    guard isNew, count >= maximumPlaces else { return }
    throw Problem.conflict("tooManyPlaces", "\(maximumPlaces) \(what) were made over HTTP, the maximum.")
  }

  static func refuseDeclared(_ register: Register, _ name: String) throws {
    guard register.declared.applications.contains(where: { $0.identifier == name }) else { return }
    throw Problem.conflict(
      "declaredBySite",
      "Application \"\(name)\" is declared by the site file; change or remove it there."
    )
  }

  static func makeRoom(in register: Register, for name: String) throws {
    guard register.made[name] == nil, register.made.count >= maximumApplications else { return }
    throw Problem.conflict(
      "tooManyApplications",
      "\(maximumApplications) applications were made over HTTP, the maximum. Remove one first."
    )
  }
}

extension Registrar {
  /// Returns an application that a client names.
  ///
  /// - Throws: 404 if there is none.
  func registered(_ name: String) throws(Problem) -> RegisteredApplication {
    guard let application = application(name) else {
      throw .notFound(
        "There is no application \"\(name.shortened)\". /v1/applications lists those that there are."
      )
    }
    return application
  }

  /// Returns a region that a client names.
  ///
  /// - Throws: 404 where the application or the region is not there.
  func region(
    _ identifier: String,
    of application: String
  ) throws(Problem) -> RegisteredApplication.RegisteredRegion {
    let application = try registered(application)
    guard let region = application.regions.first(where: { $0.region.identifier == identifier })
    else {
      throw .notFound(
        "Application \"\(application.identifier)\" has no region \"\(identifier.shortened)\"."
      )
    }
    return region
  }
}

extension Registrar {
  /// Registers a ranging request, in place of one with the same name.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - name: the request's name.
  ///   - application: the application, which is made if it is not there.
  /// - Returns: `true` if it is new.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(
    ranging request: RangingRequest,
    name: String,
    application: String
  ) async throws -> Bool {
    try await edit { register in
      let shown = register.application(application)
      if let other = shown?.ranging.first(where: { $0.name == name && $0.source == .site }) {
        throw Registrar.declared(other.name, application)
      }
      if let other = shown?.ranging.first(where: {
        $0.request.constraint == request.constraint && $0.name != name
      }) {
        throw Problem.conflict(
          "alreadyRanged",
          "Application \"\(application)\" ranges \(request.constraint) already, as \"\(other.name)\"."
        )
      }
      if shown == nil { try Registrar.makeRoom(in: register, for: application) }
      let isNew = register.made[application]?.ranging[name] == nil
      guard !isNew || (register.made[application]?.ranging.count ?? 0) < Registrar.maximumRanging
      else {
        throw Problem.conflict(
          "tooManyRangingRequests",
          "Application \"\(application)\" ranges \(Registrar.maximumRanging) constraints, the maximum over HTTP."
        )
      }
      return (isNew, register.update(application) { $0.ranging[name] = request })
    }
  }

  /// Removes a ranging request that was made over HTTP.
  ///
  /// - Parameters:
  ///   - name: the request's name.
  ///   - application: the application.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(ranging name: String, application: String) async throws {
    try await edit { register in
      let shown = register.application(application)?.ranging.first { $0.name == name }
      if let shown, shown.source == .site { throw Registrar.declared(name, application) }
      guard register.made[application]?.ranging[name] != nil else {
        throw Problem.notFound(
          "Application \"\(application)\" ranges nothing by the name \"\(name)\"."
        )
      }
      return ((), register.update(application) { $0.ranging[name] = nil })
    }
  }

  private static func declared(_ name: String, _ application: String) -> Problem {
    .conflict(
      "declaredBySite",
      "What application \"\(application)\" ranges as \"\(name)\" is declared by the site file; change it there."
    )
  }
}

extension Registrar {
  /// The observers with their keys, in order.
  package var keyedObservers: [KeyedObserver] { keys.list() }

  /// One observer with its keys, or nil if it never had any.
  package func keyedObserver(_ id: ObserverID) -> KeyedObserver? { keys.observer(id) }

  /// Makes a key for an observer, which counts from now on, and accepts it; also while there is no server.
  ///
  /// - Parameters:
  ///   - observer: the observer.
  ///   - radios: the further observers whose records it may send, in place of those it has; nil to leave them.
  ///   - overlap: the time for which older keys stay valid.
  ///   - now: the present time.
  /// - Returns: the key; this is the only time that its secret is given out.
  /// - Throws: the reason for the refusal, in which case no key was made, or the error of a server that is stopping.
  package func addKey(
    for observer: ObserverID,
    radios: [ObserverID]? = nil,
    overlap: TimeSpan = ObserverKeys.overlap,
    at now: Timestamp
  ) async throws -> ObserverKey {
    var pending = PendingChange()
    let key = try await edit(whileStopped: true, with: { pending }) { register in
      let (key, change) = try keys.adding(observer, radios: radios, overlap: overlap, at: now)
      pending = change
      let accepted = [observer] + (radios ?? [])
      register.accepted.formUnion(accepted)
      return (key, accepted.map { RegionChange.acceptObserver($0) })
    }
    try await turns.take { try await server.withLock { $0 }?.adopt(keys: keys.list()) }
    return key
  }

  /// Revokes a key: from now on it is not valid; also while there is no server.
  ///
  /// - Parameters:
  ///   - keyID: the key's identifier.
  ///   - observer: the observer that has the key.
  /// - Returns: `true` if there was such a key.
  /// - Throws: the error of the store, in which case the key is still valid, or of a server that is stopping.
  package func revokeKey(_ keyID: UInt32, of observer: ObserverID) async throws -> Bool {
    try await changeKeys { keys throws(AccessError) in try keys.revoke(keyID, of: observer) }
  }

  /// Forgets all keys of an observer, so that it is one without any again; also while there is no server.
  ///
  /// - Parameter observer: the observer.
  /// - Returns: `true` if it had, or had had, any.
  /// - Throws: the error of the store, or of a server that is stopping.
  package func forgetKeys(of observer: ObserverID) async throws -> Bool {
    try await changeKeys { keys throws(AccessError) in try keys.forget(observer) }
  }
}

/// A queue that runs asynchronous work one after the other, in the order of the requests.
final class AsyncMutex: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Runs some work after all work that was requested before it has ended.
  ///
  /// - Parameter work: the work; later callers wait until it has ended.
  /// - Returns: the result of the work.
  /// - Throws: the error of the work.
  func take<Value, Failure: Error>(
    _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.isTaken else {
          state.isTaken = true
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
    defer { pass() }
    return try await work()
  }

  private func pass() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiting.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}

extension Registrar {
  /// Returns the configuration of a site file together with the registrations over HTTP, as one site file declares it.
  ///
  /// - Parameter configuration: the configuration whose site this registrar was given.
  /// - Returns: the configuration, which `SiteFile.text(of:)` writes.
  package func merged(into configuration: SiteConfiguration) -> SiteConfiguration {
    let register = register
    var merged = configuration
    merged.site = register.site
    for (name, made) in register.made
    where !register.declared.applications.contains(where: { $0.identifier == name }) {
      merged.access.purposes[name] = made.document?.purpose
    }
    // A file that lists observers lists all that it mentions. Where all observers count, a line for one changes nothing.
    if merged.site.admission == .open, !merged.site.observers.isEmpty {
      let listed = Set(merged.site.observers.map(\.id))
      merged.site.observers += merged.site.mentionedObservers.subtracting(listed).sorted().map {
        ObserverEntry(id: $0)
      }
    }
    return merged
  }
}

extension Site {
  /// The observers that regions and zones name.
  package var mentionedObservers: Set<ObserverID> {
    let regions = applications.flatMap { $0.regions + $0.rotation.flatMap(\.allRegions) }
    let listening = regions.flatMap { region -> [ObserverID] in
      if case .beacon(let observers?) = region.subject { observers } else { [] }
    }
    return Set(listening).union(zones.flatMap(\.observers))
  }
}
