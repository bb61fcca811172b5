package import Logging
package import Pharos
package import PharosAccess
import PharosJournal
package import PharosReports
import PharosSite
import Synchronization

/// Keeps what was registered over HTTP: applications, their regions and ranging, observers that were accepted, and keys.
///
/// As Core Location's regions outlive the app that registered them, these outlive a restart: each is a document of the
/// journal, and the site that the engine starts with is the site file's with them added. Of two that have one name the
/// site file's counts. Changes are made one after the other: kept first, then carried out; one that is refused is not
/// kept.
package final class Registrar: Sendable {
  private let store: any DocumentStore
  private let logger: Logger
  private let register: Mutex<Register>
  private let server = Mutex<PharosServer?>(nil)
  private let turns = Turns()
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
    var register = Register(declared: declared)
    do throws(JournalError) {
      try RegistrarDocuments.read(from: store, into: &register, logger: logger)
    } catch {
      throw .store(error)
    }
    self.register = Mutex(register)
    Registrar.tell(register.conflicts, logger)
  }

  /// The site that the engine adopts: the site file's declarations merged with the registrations over HTTP.
  package var site: Site { register.withLock { $0.site } }

  /// The applications: those of the site file in its order, then those made over HTTP by identifier.
  package var applications: [RegisteredApplication] { register.withLock { $0.applications } }

  /// One application, or nil.
  package func application(_ name: String) -> RegisteredApplication? {
    register.withLock { $0.application(name) }
  }

  /// Says which server carries out the changes; to be called once, before there are any.
  package func attach(to server: PharosServer) { self.server.withLock { $0 = server } }

  /// Takes an edited site file while the server runs: whole, or not at all.
  ///
  /// - Parameter declared: what the file says now.
  /// - Throws: why the engine refuses it; everything is as before then.
  package func reload(_ declared: Site) async throws {
    try await turns.take {
      var next = register.withLock { $0 }
      next.declared = declared
      try await server.withLock { $0 }?.adopt(next.site)
      let settled = next
      register.withLock { $0 = settled }
      Registrar.tell(settled.conflicts, logger)
    }
  }

  /// Changes the register: tried on a copy, kept in the journal, adopted by the engine; undone where that fails.
  ///
  /// - Parameters:
  ///   - whileStopped: whether the change may also be made while there is no server, for the next start.
  ///   - change: changes the copy; throws what stands against it.
  /// - Returns: what the change gives.
  /// - Throws: why it was not made.
  func edit<Value>(
    whileStopped: Bool = false,
    _ change: (inout Register) throws -> Value
  ) async throws -> Value {
    try await turns.take {
      let before = register.withLock { $0 }
      var after = before
      let value = try change(&after)
      guard after != before else { return value }
      let server = self.server.withLock { $0 }
      guard server != nil || whileStopped else {
        throw Problem.unavailable("The server is still starting; try again in a moment.")
      }
      try RegistrarDocuments.write(after, replacing: before, in: store)
      do {
        try await server?.adopt(after.site)
      } catch {
        try RegistrarDocuments.write(before, replacing: after, in: store)
        throw error
      }
      let settled = after
      register.withLock { $0 = settled }
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

  /// Has the engine refuse a region, so that an event tells of it, as Core Location tells its delegate.
  func refuse(_ region: Region, application: String) async throws {
    try await server.withLock { $0 }?.apply(.startMonitoring(application: application, region))
  }

  private static func tell(_ conflicts: [String], _ logger: Logger) {
    for conflict in conflicts { logger.warning("\(conflict)") }
  }
}
