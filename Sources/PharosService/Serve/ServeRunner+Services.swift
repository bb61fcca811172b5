import Logging
import Pharos
import PharosHTTP
import PharosReports
import PharosSimulation
import PharosSite
import ServiceLifecycle
import UnixSignals

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The context of a server: its settings and site, the console, the count of written events, and the start callback.
struct Surroundings: Sendable {
  let settings: ServeSettings
  let configuration: SiteConfiguration
  let console: Console
  let tally: EventTally
  let onListening: @Sendable (Serving) -> Void
}

extension ServeRunner {
  /// How long draining may take before what is left is given up.
  ///
  /// A minute is what the unit that `pharos systemd-unit` prints allows; a quarter of it is left for ending.
  private static let longestDrain: Duration = .seconds(45)

  /// Returns the parts as services, in the order in which they start.
  ///
  /// Shutdown runs in reverse order, one service after the other: the demo and the status line end first; the HTTP
  /// interface accepts no more requests and ends its streams; the engine drains and hands over its last checkpoint; the
  /// event output writes the last events; the teller commits them; webhooks finish their deliveries in progress; the
  /// journal ends last.
  func services(
    _ parts: ServerParts,
    http: HTTPService?,
    output: EventOutputService?,
    _ around: Surroundings
  ) -> [ServiceGroupConfiguration.ServiceConfiguration] {
    let stop = StopService()
    let notifier = SystemdNotifier(environment: options.environment, processID: getpid())
    let status = StatusService(
      parts: parts,
      http: http,
      console: around.console,
      period: options.statusPeriod,
      tally: around.tally,
      banner: Banner(
        settings: around.settings,
        isDemo: options.isDemo,
        configuration: around.configuration
      ),
      onListening: { addresses, http in
        around.onListening(Serving(addresses: addresses, http: http, stop: { stop.request() }))
      },
      logger: logger
    )
    let reloader = SiteReloader(
      path: around.settings.site,
      current: around.configuration,
      venues: parts.venues,
      logger: logger,
      adopt: { try await parts.adopt($0) }
    )
    var services: [any Service] = [JournalService(journal: parts.journal, logger: logger)]
    services += [parts.webhooks, parts.notifications, parts.teller, parts.feeds]
    if let output { services.append(output) }
    services.append(parts.server)
    if let http { services.append(http) }
    services.append(status)
    services.append(ReloadService(reloader: reloader, notifier: notifier))
    if let notifier {
      services.append(
        NotifyService(notifier: notifier, server: parts.server, ready: { try await status.places() })
      )
    }
    var configured: [ServiceGroupConfiguration.ServiceConfiguration] = []
    for service in services { configured.append(.init(service: NamedService(service))) }
    configured.append(
      .init(service: NamedService(stop), successTerminationBehavior: .gracefullyShutdownGroup)
    )
    if options.isDemo {
      let demo = DemoService(server: parts.server, scene: .demo)
      configured.append(.init(service: NamedService(demo)))
    }
    return configured
  }

  /// The group that runs them until SIGTERM or SIGINT.
  func group(
    _ services: [ServiceGroupConfiguration.ServiceConfiguration]
  ) -> ServiceGroupConfiguration {
    var configuration = ServiceGroupConfiguration(
      services: services,
      gracefulShutdownSignals: [.sigterm, .sigint],
      logger: logger
    )
    configuration.maximumGracefulShutdownDuration = ServeRunner.longestDrain
    return configuration
  }
}
