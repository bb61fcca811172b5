public import Logging
public import PharosCaptures
import PharosEvents
public import PharosIngest
package import PharosPipeline
public import PharosPositioning
public import PharosPublishing
public import PharosReports
public import PharosSigning
public import ServiceLifecycle
import Synchronization

/// Pharos inside a program of yours: it listens, decides and publishes while ``run()`` runs.
///
/// Subscribe before or after it runs; region changes wait until it listens.
///
/// ```swift
/// let server = PharosServer(site: site, listening: ["127.0.0.1:50001"])
/// let visits = server.events(in: "museum").sink { @Sendable event in print(event.kind.type, event.subject) }
/// try await server.run()
/// ```
public final class PharosServer: Service, RegionControl, Sendable {
  /// What is declared: the site of the start, or the one that was adopted since.
  public var site: Site { declared.withLock { $0 } }
  /// Where all decisions come out.
  public let hub = EventHub()

  private let declared: Mutex<Site>
  private let grounds: [Ground]
  private let publishesSensings: Bool
  private let configuration: IngestConfiguration
  private let restoration: Mutex<Restoration?>
  private let logger: Logger
  let phase = Phase()

  /// Creates a server that does nothing yet.
  ///
  /// - Parameters:
  ///   - site: applications with their regions, observers, beacons, zones.
  ///   - grounds: the venues in which handsets and tags are located; without venues, nothing is located. They are given
  ///     at the start and do not change.
  ///   - publishesSensings: whether the hub publishes what handsets sense, for programs that locate them in their own
  ///     way.
  ///   - configuration: where to listen, on how many loops, and whether to record and to take checkpoints.
  ///   - logger: where problems are logged; a working server is silent.
  public convenience init(
    site: Site,
    grounds: [Ground] = [],
    publishesSensings: Bool = false,
    configuration: IngestConfiguration,
    logger: Logger = Logger(label: "pharos")
  ) {
    self.init(
      site: site,
      grounds: grounds,
      publishesSensings: publishesSensings,
      configuration: configuration,
      restoring: nil,
      logger: logger
    )
  }

  /// Creates a server that resumes from the state that the previous run has left.
  ///
  /// States resume where they were, and the time between is no evidence of anything. The site must declare all that is to
  /// resume, including regions that applications added at run time.
  package init(
    site: Site,
    grounds: [Ground] = [],
    publishesSensings: Bool = false,
    configuration: IngestConfiguration,
    restoring restoration: Restoration?,
    logger: Logger = Logger(label: "pharos")
  ) {
    declared = Mutex(site)
    self.grounds = grounds
    self.publishesSensings = publishesSensings
    self.configuration = configuration
    self.restoration = Mutex(restoration)
    self.logger = logger
  }

  /// Makes a server that will listen at some addresses.
  ///
  /// - Parameters:
  ///   - site: applications with their regions, observers, beacons, zones.
  ///   - addresses: `HOST:PORT` each; port 0 takes any that is free, which ``addresses()`` then tells.
  public convenience init(site: Site, listening addresses: [ListenAddress]) {
    self.init(site: site, configuration: IngestConfiguration(listeners: addresses))
  }

  /// Listens, decides and publishes until the task is cancelled or its service group shuts down gracefully.
  ///
  /// At the end nothing more is read, what was read is decided and published, and every stream ends.
  ///
  /// - Throws: why it cannot listen, or what is wrong with the site.
  public func run() async throws {
    defer { hub.finish() }
    let ingest: IngestServer
    var sense: (@Sendable ([Sensing]) -> Void)?
    if publishesSensings { sense = { [hub] sensings in hub.publish(sensings: sensings) } }
    do {
      ingest = try await IngestServer.start(
        site: site,
        grounds: grounds,
        configuration: configuration,
        restoring: restoration.withLock { restoration in
          // As large as the checkpoint, and of no use once it has been read.
          defer { restoration = nil }
          return restoration
        },
        logger: logger,
        sense: sense,
        deliver: { [hub] events in hub.publish(events) }
      )
    } catch {
      phase.stop(error)
      throw error
    }
    phase.listen(ingest)
    // Both a graceful shutdown and a cancellation end the wait, and both are a reason to drain.
    try? await gracefulShutdown()
    await ingest.shutdown()
    phase.stop(IngestError.stopped)
  }

  /// The addresses that it listens at, once it does.
  ///
  /// - Throws: why it does not.
  public func addresses() async throws -> [Endpoint] {
    try await phase.ingest().localAddresses
  }

  /// Carries out a change of an application's regions or ranging, once the server listens.
  ///
  /// - Throws: `RegionRefusal` where the change is refused, as the 21st region of an application is.
  public func apply(_ change: RegionChange) async throws {
    try await phase.ingest().apply(change)
  }

  /// Takes over an edited site, once the server listens: what it declares alike goes on as it was.
  ///
  /// What applications have added at run time stays.
  ///
  /// - Throws: `RegionRefusal` where a declared application is refused, nothing having changed.
  public func adopt(_ site: Site) async throws {
    try await phase.ingest().adopt(site)
    declared.withLock { $0 = site }
  }

  /// Takes over other keys for signed datagrams, once the server listens; returns when they count everywhere.
  ///
  /// - Parameter observers: all observers with their keys.
  /// - Throws: `IngestError.stopped`.
  public func adopt(keys observers: [KeyedObserver]) async throws {
    try await phase.ingest().adopt(keys: observers)
  }

  /// What it has counted and heard so far, once it listens.
  package func snapshot() async throws -> IngestSnapshot {
    try await phase.ingest().snapshot()
  }
}
