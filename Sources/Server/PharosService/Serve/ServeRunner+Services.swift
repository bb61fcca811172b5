import Glibc
import Logging
import NIOPosix
import Pharos
import PharosCaptures
import PharosDelivery
import PharosHTTP
import PharosIngest
import PharosJournal
import PharosModel
import PharosSimulation
import PharosSite
import PharosTerminal
package import ServiceLifecycle
import UnixSignals

/// The context of a server: its settings and site, the console, the count of written events, and the start callback.
struct Surroundings: Sendable {
  let settings: ServeSettings
  let configuration: SiteConfiguration
  let console: Console
  let tally: EventTally
  let onListening: @Sendable (Serving) -> Void
}

extension ServeRunner {
  /// The maximum time for draining, after which the server gives up the rest.
  ///
  /// The unit that `pharos systemd-unit` prints allows a minute; a quarter of it is left for ending.
  private static let maximumDrain: Duration = .seconds(45)

  /// Returns the parts as services, in the order in which they start.
  ///
  /// Shutdown runs in reverse order, one service after the other: the demo and the status line end first; the HTTP
  /// interface accepts no further requests and ends its streams; the summaries of the running minute are stored; the
  /// engine drains and hands over its last checkpoint; the event output writes the last events; the commit publisher
  /// commits them; webhooks finish their deliveries in progress; the journal ends last. A service that fails, as one whose
  /// port is in use, begins the same shutdown: cancelling the others would make them report errors of their own.
  func services(
    _ parts: ServerParts,
    http: HTTPService?,
    output: EventOutputService?,
    stop: StopService,
    _ around: Surroundings
  ) -> [ServiceGroupConfiguration.ServiceConfiguration] {
    let notifier = SystemdNotifier(environment: options.environment, processID: getpid())
    let status = StatusService(
      parts: parts,
      http: http,
      console: around.console,
      period: options.statusPeriod ?? (options.isDemo ? StatusService.demoPeriod : StatusService.usualPeriod),
      tally: around.tally,
      banner: Banner(
        settings: around.settings,
        isDemo: options.isDemo,
        configuration: around.configuration,
        sources: parts.owner.sources
      ),
      onListening: { addresses, http in
        around.onListening(Serving(addresses: addresses, http: http, stop: { stop.request() }))
      },
      logger: logger
    )
    let reloader = SiteReloader(
      path: around.settings.site,
      current: { parts.siteFile },
      venues: parts.venues,
      logger: logger,
      adopt: { try await parts.adopt($0) }
    )
    var services: [any Service] = [
      JournalService(
        journal: parts.journal,
        recordings: parts.recordings,
        owner: parts.owner,
        logger: logger
      )
    ]
    services += [parts.webhooks, parts.notifications]
    if let mqtt = parts.mqtt { services.append(mqtt) }
    services += [parts.commitPublisher, parts.feeds] as [any Service]
    if let output { services.append(output) }
    services.append(parts.server)
    services.append(AssignmentService(parts: parts, logger: logger))
    if let node = parts.cluster {
      services.append(node)
      services.append(
        ClusterSiteService(node: node, parts: parts, declared: around.configuration.site, logger: logger)
      )
    }
    if let feed = parts.mqttFeed { services.append(feed) }
    services.append(HistoryUntilShutdown(history: HistoryService(backend: parts, logger: logger)))
    if let http { services.append(http) }
    services.append(status)
    services.append(ReloadService(reloader: reloader, notifier: notifier))
    if let notifier {
      services.append(
        NotifyService(notifier: notifier, server: parts.server, ready: { try await status.places() })
      )
    }
    var configured = services.map { ServeRunner.configured($0) }
    configured.append(ServeRunner.configured(stop, endsGroup: true))
    if options.isDemo {
      let hasOwnSite = around.settings.site == nil
      let demo = DemoService(parts: parts, scene: .demo, hasOwnSite: hasOwnSite, logger: logger)
      configured.append(ServeRunner.configured(demo))
    }
    return configured
  }

  private static func configured(
    _ service: any Service,
    endsGroup: Bool = false
  ) -> ServiceGroupConfiguration.ServiceConfiguration {
    ServiceGroupConfiguration.ServiceConfiguration(
      service: NamedService(service),
      successTerminationBehavior: endsGroup ? .gracefullyShutdownGroup : .cancelGroup,
      failureTerminationBehavior: .gracefullyShutdownGroup
    )
  }

  /// The group that runs them until the ``StopService`` among them ends.
  func group(
    _ services: [ServiceGroupConfiguration.ServiceConfiguration]
  ) -> ServiceGroupConfiguration {
    var configuration = ServiceGroupConfiguration(services: services, logger: logger)
    configuration.maximumGracefulShutdownDuration = ServeRunner.maximumDrain
    return configuration
  }
}

/// A service that describes itself by the name of its type.
///
/// A `ServiceGroup` reads the description of each service when it is created. The default description of a structure
/// lists all stored values by reflection: with a surveyed venue, this takes half a minute before the server listens.
package struct NamedService: Service, CustomStringConvertible {
  private let service: any Service

  package init(_ service: any Service) { self.service = service }

  package var description: String { "\(type(of: service))" }

  package func run() async throws { try await service.run() }
}

/// Keeps the journal and the recordings within their bounds: once a minute what is too old or too much is dropped, and with it the
/// former names that nothing kept can need.
struct JournalService: Service {
  /// The longest time by which an event may lie before those that were kept before it: an hour, as long as a subject may be
  /// unmonitored until its exit is decided.
  private static let maximumDelay = TimeSpan.minutes(60)

  let journal: Journal
  let recordings: Recordings
  let owner: SiteOwner
  let logger: Logger
  var period: Duration = .seconds(60)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var isFailing = false
      while !Task.isCancelled {
        do {
          // Dropping blocks on the disk, which no task may do.
          let (pruned, earliest) = try await NIOThreadPool.singleton.runIfActive { [journal, recordings] in
            // Whatever holds what is heard lasts no longer than the events that follow from it.
            if let age = journal.settings.maximumAge { recordings.prune(before: .wallClock - age) }
            return (try journal.prune(now: .wallClock), try journal.earliestTime())
          }
          try await owner.dropNames(
            endingBy: min(earliest ?? .distantFuture, .wallClock) - JournalService.maximumDelay
          )
          if pruned.events > 0 {
            logger.debug("Old events were dropped.", metadata: [LogKey.count: "\(pruned.events)"])
          }
          isFailing = false
        } catch {
          if !isFailing {
            logger.error("Cannot drop old events.", metadata: [LogKey.reason: "\(error)"])
          }
          isFailing = true
        }
        guard (try? await Task.sleep(for: period)) != nil else { return }
      }
    }
  }
}

/// Gives the engine the itineraries and the guidance that its checkpoint did not know yet, and then those that changed
/// authorisations hold and release.
struct AssignmentService: Service {
  let parts: ServerParts
  let logger: Logger

  func run() async throws {
    do {
      // A server that cannot listen reports the reason itself.
      // The engines of a node have them from the log.
      let isAlone = parts.cluster == nil
      if (try? await parts.server.addresses()) != nil, isAlone { try await parts.assignments.resume() }
    } catch is CancellationError, IngestError.stopped {
      // The server stops; its next start resumes them.
    } catch {
      logger.error("Cannot resume itineraries and guidance.", metadata: [LogKey.reason: "\(error)"])
    }
    try await parts.assignments.run()
    try? await gracefulShutdown()
  }
}

/// The history of a server; where the server cannot listen there is none, and the service waits for the shutdown.
struct HistoryUntilShutdown: Service {
  let history: HistoryService

  func run() async throws {
    try await history.run()
    try? await gracefulShutdown()
  }
}

/// Plays the shop and the day in the mall to a server's own socket, as gateways and handsets on the same machine would, and makes
/// the requests of the day's applications.
package struct DemoService: Service {
  private let parts: ServerParts
  private let scene: Scene
  private let hasOwnSite: Bool
  private let logger: Logger

  /// The seed of the demo: any would do; this one always looks the same.
  package static let seed: UInt64 = 1

  /// Plays a scene without end, and the day in the mall again and again.
  ///
  /// - Parameters:
  ///   - parts: the server.
  ///   - scene: the scene.
  ///   - hasOwnSite: true if the server has the site of the demo, which the requests of the day are about.
  ///   - logger: the logger for problems.
  init(parts: ServerParts, scene: Scene, hasOwnSite: Bool, logger: Logger) {
    self.parts = parts
    self.hasOwnSite = hasOwnSite
    self.logger = logger
    var scene = scene
    scene.duration = .forever
    self.scene = scene
  }

  package func run() async throws {
    guard let endpoint = try await parts.server.addresses().first?.reachable else { return }
    try await cancelWhenGracefulShutdown {
      // Of several nodes one plays: the one that delivers.
      while !Task.isCancelled {
        guard parts.duty.isOn else {
          guard (try? await Task.sleep(for: .milliseconds(200))) != nil else { return }
          continue
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await play(to: endpoint) }
          group.addTask {
            while parts.duty.isOn { try await Task.sleep(for: .milliseconds(200)) }
          }
          defer { group.cancelAll() }
          try await group.next()
        }
      }
    }
  }

  private func play(to endpoint: Endpoint) async throws {
    let simulation = Simulation(scene, seed: DemoService.seed)
    do {
      let sender = try DatagramSender(to: endpoint, sendBuffer: DatagramSender.batchBuffer)
      let visitor = try DatagramSender(to: endpoint, sendBuffer: DatagramSender.batchBuffer)
      async let past: Void = storePast()
      async let day: Void = repeatDay(with: visitor)
      await DemoService.play(
        simulation.lazy.compactMap { item in
          guard case .datagram(let datagram) = item else { return nil }
          return datagram
        },
        from: scene.start,
        with: sender
      )
      await day
      await past
    }
  }

  private func storePast() async {
    do {
      try await DemoHistory(scene: scene, parts: parts).store(endingAt: .wallClock)
    } catch {
      logger.warning("Cannot make the history of the demo.", metadata: [LogKey.reason: "\(error)"])
    }
  }

  /// Plays the day in the mall until the task is cancelled, each time with the next boot id.
  private func repeatDay(with sender: DatagramSender) async {
    let api = API(backend: parts, configuration: HTTPConfiguration(), logger: logger)
    var bootID: UInt32 = 1
    while !Task.isCancelled {
      let scene = MallDay.scene(bootID: bootID)
      guard let simulation = try? IndoorSimulation(scene, seed: UInt64(bootID)) else { return }
      let datagrams = simulation.lazy.compactMap { item -> SimulatedDatagram? in
        guard case .datagram(let datagram) = item else { return nil }
        return datagram
      }
      async let requests: Void = makeRequests(to: api)
      await DemoService.play(datagrams, from: scene.start, with: sender)
      await requests
      bootID &+= 1
    }
  }

  /// Makes the requests of the day at their times.
  private func makeRequests(to api: API) async {
    guard hasOwnSite else { return }
    let clock = ContinuousClock()
    let start = clock.now
    for request in MallDay.requests(startingAt: .wallClock) {
      let due = start + .nanoseconds(request.time.nanoseconds)
      guard (try? await clock.sleep(until: due)) != nil else { return }
      let answer = try? await api.answer(request.method, request.path, json: request.body, logger: logger)
      guard let answer, 200..<300 ~= answer.status else {
        let reason = answer.map { String(decoding: $0.body, as: UTF8.self) } ?? "no answer"
        logger.warning(
          "A request of the demo failed.",
          metadata: [LogKey.path: "\(request.path)", LogKey.reason: "\(reason)"]
        )
        continue
      }
    }
  }

  /// Sends datagrams at the times at which they arrive.
  private static func play(
    _ datagrams: some Sequence<SimulatedDatagram>,
    from begin: Timestamp,
    with sender: DatagramSender
  ) async {
    let clock = ContinuousClock()
    let start = clock.now
    for datagram in datagrams {
      let due = start + .nanoseconds((datagram.received - begin).nanoseconds)
      guard (try? await clock.sleep(until: due)) != nil else { return }
      // A datagram that the system does not take is lost, as on any network.
      _ = try? sender.send(datagram.bytes)
    }
  }
}

extension Endpoint {
  /// The address of a socket that listens everywhere, as a sender on the same machine reaches it.
  fileprivate var reachable: Endpoint {
    switch address.description {
    case "0.0.0.0": Endpoint(IPAddress(v4: 0x7F00_0001), port: port)
    case "::": Endpoint(IPAddress(v6: 0, 1), port: port)
    default: self
    }
  }
}
