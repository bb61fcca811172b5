public import Logging
public import PharosCaptures
import PharosEvents
public import PharosIngest
public import PharosPublishing
public import PharosReports
public import ServiceLifecycle

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
  /// What is monitored at the start.
  public let site: Site
  /// Where all decisions come out.
  public let hub = EventHub()

  private let configuration: IngestConfiguration
  private let logger: Logger
  private let phase = Phase()

  /// Makes a server that does nothing yet.
  ///
  /// - Parameters:
  ///   - site: applications with their regions, observers, beacons, zones.
  ///   - configuration: where to listen, on how many loops, and whether to record.
  ///   - logger: where problems are logged; a working server is silent.
  public init(
    site: Site,
    configuration: IngestConfiguration,
    logger: Logger = Logger(label: "pharos")
  ) {
    self.site = site
    self.configuration = configuration
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
    do {
      ingest = try await IngestServer.start(
        site: site,
        configuration: configuration,
        logger: logger,
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

  /// What it has counted and heard so far, once it listens.
  public func snapshot() async throws -> IngestSnapshot {
    try await phase.ingest().snapshot()
  }
}
