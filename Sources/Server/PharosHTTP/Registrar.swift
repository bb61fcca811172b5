package import Logging
package import Pharos
package import PharosDelivery
package import PharosIngest
import PharosJournal
package import PharosModel
import PharosPresence
package import PharosSecurity
package import PharosSite
import Synchronization

/// The changes of the site that a running server takes: the registrations over HTTP (applications, their regions and ranging
/// requests, observers, beacons, zones), and the edited site file.
///
/// As Core Location's regions outlive the app that registered them, registrations outlive a restart: each is a document of
/// the journal. Of two declarations that have one name the site file's counts. Changes are made one after the other, all of
/// them by one function: the registry checks one, the journal keeps it, the engine makes it. The registry owns the site.
package final class Registrar: Sendable {
  /// The owner of the site.
  package let registry: SiteRegistry
  private let store: any DocumentStore
  private let logger: Logger
  private let server = Mutex<PharosServer?>(nil)
  private let turns = AsyncMutex()
  /// The keys that observers sign with.
  let keys: ObserverKeys

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
    var sources = SiteSources(declared: declared)
    do throws(JournalError) {
      try RegistrationDocuments.read(from: store, into: &sources, logger: logger)
    } catch {
      throw .store(error)
    }
    registry = SiteRegistry(RegisteredSite(sources))
    warn(of: sources)
  }

  /// The site that counts.
  package var site: Site { registry.site }

  /// The names that the site gives.
  package var names: SiteNames { registry.names }

  /// The declarations of the site file and the registrations over HTTP.
  package var sources: SiteSources { registry.value.sources }

  /// The applications: those of the site file in its order, then those made over HTTP by identifier.
  package var applications: [RegisteredApplication] { sources.applications }

  /// One application, or nil.
  package func application(_ name: String) -> RegisteredApplication? { sources.application(name) }

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
    try await turns.withLock {
      var next = sources
      next.declared = declared
      try await carryOut(.file(declared), committing: try Registrar.endings(of: next, store, ending))
      warn(of: next)
    }
  }

  /// Ends the access of applications that were removed from the site file while the server was stopped.
  ///
  /// - Parameter ending: returns the change that ends the access of an application.
  /// - Throws: the error of the store.
  package func endRemoved(_ ending: (_ application: String) -> PendingChange) throws {
    try commit(try Registrar.endings(of: sources, store, ending))
  }

  /// Returns the change that ends the access of applications that a site file declared and that are gone, and that keeps
  /// the names of those that are declared now.
  ///
  /// An application that was never declared keeps its tokens: it makes itself with its first region.
  private static func endings(
    of sources: SiteSources,
    _ store: any DocumentStore,
    _ ending: (String) -> PendingChange
  ) throws -> PendingChange {
    let kind = RegistrationDocuments.declaredApplication
    let known = Set(try store.documents(kind: kind).map(\.key))
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

  /// Changes the registrations: tries the change on a copy, and carries it out with its documents.
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
    _ change: (inout SiteSources) throws -> (Value, [RegionChange])
  ) async throws -> Value {
    try await turns.withLock {
      let before = sources
      var after = before
      let (value, changes) = try change(&after)
      var pending = try other()
      guard after != before || !pending.documents.isEmpty else { return value }
      guard whileStopped || server.withLock({ $0 != nil }) else {
        throw Problem.unavailable("The server is still starting; try again in a moment.")
      }
      pending.documents = RegistrationDocuments.changes(to: after, from: before) + pending.documents
      try await carryOut(.changes(changes, sources: after), committing: pending)
      return value
    }
  }

  /// Changes the site: the registry checks the edit, the journal commits it in one transaction with what belongs to it, and
  /// the engine makes it.
  private func carryOut(_ edit: SiteEdit, committing pending: PendingChange) async throws {
    guard let server = server.withLock({ $0 }), edit.changesSite else {
      try registry.check(edit)
      try commit(pending)
      _ = try registry.carryOut(edit)
      return
    }
    try await server.change(edit) { try commit(pending) }
  }

  private func commit(_ pending: PendingChange) throws {
    try store.change(pending.documents)
    pending.adopt()
  }

  /// Changes keys: kept by the change itself, then adopted by the server.
  ///
  /// A server that is stopping adopts nothing; the next start does.
  func changeKeys<Value>(
    _ change: (ObserverKeys) throws(AccessError) -> Value
  ) async throws -> Value {
    try await turns.withLock {
      let value = try change(keys)
      try await server.withLock { $0 }?.adopt(keys: keys.list())
      return value
    }
  }

  private func warn(of sources: SiteSources) {
    for conflict in sources.conflicts { logger.warning("\(conflict)") }
  }
}

extension Registrar {
  /// The most applications that may be made over HTTP.
  ///
  /// A thousand, each of which may hold a thousand regions: far beyond any site that was heard of, and still bounded.
  static let maximumApplications = 1_000
  /// The most observers, the most beacons, and the most zones, that may be named over HTTP: a large hospital has some thousand rooms.
  static let maximumPlaces = 10_000
  /// The most ranging requests that an application may make over HTTP; Core Location has no limit, memory does.
  static let maximumRanging = 1_000

  /// Makes an application, or changes its settings.
  ///
  /// - Parameters:
  ///   - name: its identifier.
  ///   - settings: its settings.
  ///   - other: a change of other stores that is made with it, or not at all.
  /// - Returns: `true` if it is new.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(
    application name: String,
    _ settings: ApplicationSettings,
    with other: () throws -> PendingChange = { PendingChange() }
  ) async throws -> Bool {
    try await edit(with: other) { sources in
      try Registrar.refuseDeclared(sources, name)
      let isNew = sources.made[name] == nil
      try Registrar.makeRoom(in: sources, for: name)
      // First, so that a limit that is too low is refused, and no region is left out for it.
      let limit = RegionChange.setRegionLimit(application: name, settings.regionLimit)
      let others = sources.update(name) { $0.settings = settings }.filter { $0 != limit }
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
    try await edit(with: other) { sources in
      try Registrar.refuseDeclared(sources, name)
      guard sources.made[name] != nil else {
        throw Problem.notFound("There is no application \"\(name)\".")
      }
      return ((), sources.update(name) { $0 = MadeApplication() })
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
    try await edit { sources in
      try Registrar.refuseDeclared(region: region.identifier, of: name, in: sources)
      let isDeclared = sources.declaration(of: name) != nil
      if !isDeclared { try Registrar.makeRoom(in: sources, for: name) }
      let isNew = sources.made[name]?.regions[region.identifier] == nil
      if !isDeclared, sources.made[name]?.settings == nil {
        sources.made[name, default: MadeApplication()].settings = ApplicationSettings()
      }
      sources.made[name, default: MadeApplication()].regions[region.identifier] = region
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
    try await edit { sources in
      try Registrar.refuseDeclared(region: identifier, of: name, in: sources)
      guard sources.made[name]?.regions[identifier] != nil else {
        throw Problem.notFound("Application \"\(name)\" has no region \"\(identifier)\".")
      }
      return ((), sources.update(name) { $0.regions[identifier] = nil })
    }
  }

  /// Accepts an observer that is in quarantine, now and after every restart; also while there is no server.
  ///
  /// - Parameter observer: the observer.
  /// - Throws: the error of the store or the engine; the observer is not accepted then.
  package func accept(_ observer: ObserverID) async throws {
    try await edit(whileStopped: true) { sources in
      sources.accepted.insert(observer)
      return ((), [.acceptObserver(observer)])
    }
  }

  /// Withdraws the name and the acceptance of an observer that is not declared by the site file.
  ///
  /// - Parameter observer: the observer.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(observer: ObserverID) async throws {
    guard !sources.declares(observer) else { throw Registrar.declaredBySite("Observer", "\(observer)") }
    guard try await forget(observer) else {
      throw Problem.notFound("Observer \(observer) was neither named nor accepted over HTTP.")
    }
  }

  /// Withdraws the acceptance of an observer.
  ///
  /// - Parameter observer: the observer.
  /// - Returns: `true` if it was accepted.
  /// - Throws: the error of the store or the engine; nothing has changed then.
  package func forget(_ observer: ObserverID) async throws -> Bool {
    try await edit(whileStopped: true) { sources in
      let wasAccepted = sources.accepted.remove(observer) != nil
      let wasNamed = sources.observers.removeValue(forKey: observer) != nil
      let changes = wasNamed ? [RegionChange.declare(sources.settings)] : []
      return (
        wasAccepted || wasNamed, sources.declares(observer) ? [] : changes + [.dismissObserver(observer)]
      )
    }
  }

  /// Names and configures an observer, which accepts it.
  ///
  /// - Parameter entry: the observer.
  /// - Returns: `true` if it was neither named nor configured over HTTP.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(observer entry: ObserverEntry) async throws -> Bool {
    try await edit { sources in
      guard !sources.declares(entry.id) else { throw Registrar.declaredBySite("Observer", "\(entry.id)") }
      try Registrar.makeRoom(
        sources.observers.count,
        isNew: sources.observers[entry.id] == nil,
        "observers"
      )
      let isNew = sources.observers.updateValue(entry, forKey: entry.id) == nil
      return (isNew, [.declare(sources.settings)])
    }
  }

  /// Names and describes a beacon.
  ///
  /// - Parameters:
  ///   - id: the beacon.
  ///   - entry: its description.
  /// - Returns: `true` if it had no description over HTTP before.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(beacon id: BeaconID, _ entry: BeaconEntry) async throws -> Bool {
    try await edit { sources in
      guard !sources.declares(id) else { throw Registrar.declaredBySite("Beacon", "\(id)") }
      try Registrar.makeRoom(sources.beacons.count, isNew: sources.beacons[id] == nil, "beacons")
      let isNew = sources.beacons.updateValue(entry, forKey: id) == nil
      return (isNew, [.declare(sources.settings)])
    }
  }

  /// Removes the description of a beacon that was made over HTTP.
  ///
  /// - Parameter id: the beacon.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(beacon id: BeaconID) async throws {
    try await edit { sources in
      guard !sources.declares(id) else { throw Registrar.declaredBySite("Beacon", "\(id)") }
      guard sources.beacons.removeValue(forKey: id) != nil else {
        throw Problem.notFound("Beacon \(id) was not named over HTTP.")
      }
      return ((), [.declare(sources.settings)])
    }
  }

  /// Removes the descriptions made over HTTP of the beacons of a subject that is erased; also while there is no server.
  ///
  /// - Parameter traces: the subject.
  /// - Returns: the number of beacons.
  /// - Throws: the error of the store or the engine; nothing has changed then.
  package func forgetBeacons(_ traces: SubjectTraces) async throws -> Int {
    try await edit(whileStopped: true) { sources in
      let gone = sources.beacons.keys.filter { traces.contains($0) }
      for beacon in gone { sources.beacons[beacon] = nil }
      return (gone.count, gone.isEmpty ? [] : [.declare(sources.settings)])
    }
  }

  /// Makes a zone, in place of one with the same identifier.
  ///
  /// - Parameter zone: the zone.
  /// - Returns: `true` if it is new.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(zone: Zone) async throws -> Bool {
    try await edit { sources in
      let identifier = zone.identifier
      guard !sources.declares(zone: identifier) else { throw Registrar.declaredBySite("Zone", identifier) }
      for other in zone.adjacent
      where other == identifier || sources.zones[other] == nil && !sources.declares(zone: other) {
        throw Problem.invalidBody([
          Problem.Field("adjacent", "has \"\(other.shortened)\"", expected: "other zones that there are")
        ])
      }
      try Registrar.makeRoom(sources.zones.count, isNew: sources.zones[identifier] == nil, "zones")
      let isNew = sources.zones.updateValue(zone, forKey: identifier) == nil
      return (isNew, [.declare(sources.settings)])
    }
  }

  /// Removes a zone that was made over HTTP.
  ///
  /// - Parameter identifier: its identifier.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(zone identifier: String) async throws {
    try await edit { sources in
      guard !sources.declares(zone: identifier) else { throw Registrar.declaredBySite("Zone", identifier) }
      guard sources.zones.removeValue(forKey: identifier) != nil else {
        throw Problem.notFound("There is no zone \"\(identifier.shortened)\".")
      }
      return ((), [.declare(sources.settings)])
    }
  }

  private static func declaredBySite(_ what: String, _ name: String, of application: String? = nil) -> Problem
  {
    let owner = application.map { " of application \"\($0)\"" } ?? ""
    return .conflict(
      "declaredBySite",
      "\(what) \"\(name)\"\(owner) is declared by the site file; change or remove it there."
    )
  }

  private static func makeRoom(_ count: Int, isNew: Bool, _ what: String) throws {
    guard isNew, count >= maximumPlaces else { return }
    throw Problem.conflict("tooManyPlaces", "\(maximumPlaces) \(what) were made over HTTP, the maximum.")
  }

  private static func refuseDeclared(_ sources: SiteSources, _ name: String) throws {
    guard sources.declaration(of: name) != nil else { return }
    throw Registrar.declaredBySite("Application", name)
  }

  private static func refuseDeclared(
    region identifier: String,
    of application: String,
    in sources: SiteSources
  ) throws {
    guard sources.declares(region: identifier, of: application) else { return }
    throw Registrar.declaredBySite("Region", identifier, of: application)
  }

  private static func makeRoom(in sources: SiteSources, for name: String) throws {
    guard sources.made[name] == nil, sources.made.count >= maximumApplications else { return }
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
    try await edit { sources in
      let shown = sources.application(application)
      if let other = shown?.ranging.first(where: { $0.name == name && $0.source == .site }) {
        throw Registrar.declaredBySite("Ranging request", other.name, of: application)
      }
      if let other = shown?.ranging.first(where: {
        $0.request.constraint == request.constraint && $0.name != name
      }) {
        throw Problem.conflict(
          "alreadyRanged",
          "Application \"\(application)\" ranges \(request.constraint) already, as \"\(other.name)\"."
        )
      }
      if shown == nil { try Registrar.makeRoom(in: sources, for: application) }
      let isNew = sources.made[application]?.ranging[name] == nil
      guard !isNew || (sources.made[application]?.ranging.count ?? 0) < Registrar.maximumRanging
      else {
        throw Problem.conflict(
          "tooManyRangingRequests",
          "Application \"\(application)\" ranges \(Registrar.maximumRanging) constraints, the maximum over HTTP."
        )
      }
      return (isNew, sources.update(application) { $0.ranging[name] = request })
    }
  }

  /// Removes a ranging request that was made over HTTP.
  ///
  /// - Parameters:
  ///   - name: the request's name.
  ///   - application: the application.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(ranging name: String, application: String) async throws {
    try await edit { sources in
      let shown = sources.application(application)?.ranging.first { $0.name == name }
      if let shown, shown.source == .site {
        throw Registrar.declaredBySite("Ranging request", name, of: application)
      }
      guard sources.made[application]?.ranging[name] != nil else {
        throw Problem.notFound(
          "Application \"\(application)\" ranges nothing by the name \"\(name)\"."
        )
      }
      return ((), sources.update(application) { $0.ranging[name] = nil })
    }
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
    let key = try await edit(whileStopped: true, with: { pending }) { sources in
      let (key, change) = try keys.adding(observer, radios: radios, overlap: overlap, at: now)
      pending = change
      let accepted = [observer] + (radios ?? [])
      sources.accepted.formUnion(accepted)
      return (key, accepted.map { RegionChange.acceptObserver($0) })
    }
    try await turns.withLock { try await server.withLock { $0 }?.adopt(keys: keys.list()) }
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
    var isLocked = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Runs some work after all work that was requested before it has ended.
  ///
  /// - Parameter work: the work; later callers wait until it has ended.
  /// - Returns: the result of the work.
  /// - Throws: the error of the work.
  func withLock<Value, Failure: Error>(
    _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.isLocked else {
          state.isLocked = true
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
        state.isLocked = false
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
    let sources = sources
    var merged = configuration
    merged.site = sources.site
    for (name, made) in sources.made where sources.declaration(of: name) == nil {
      merged.access.purposes[name] = made.settings?.purpose
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
