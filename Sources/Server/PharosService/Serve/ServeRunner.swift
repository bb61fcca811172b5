import CPharos
import Glibc
package import Logging
import Pharos
package import PharosCluster
import PharosDelivery
import PharosDocuments
import PharosHTTP
import PharosIngest
import PharosJournal
package import PharosModel
import PharosSimulation
import PharosSite
package import PharosTerminal
import ServiceLifecycle
import Synchronization
import UnixSignals

/// `pharos serve`: receives datagrams, decides, and journals and publishes events until a request to stop, then drains.
package struct ServeRunner: Sendable {
  /// The options of `pharos serve`.
  ///
  /// The environment and the site file supply the settings that the flags leave open.
  package struct Options: Sendable {
    /// The settings from the command line.
    package var flags: ServeSettings
    /// Indicates whether the server plays the demo to its own socket.
    package var isDemo: Bool
    /// The kinds of events that are written; nil for the usual ones.
    package var selection: KindSelection?
    /// Indicates whether every request needs a token even where only this machine can ask.
    package var requiresToken: Bool
    /// The interval between status lines; nil for the usual one.
    package var statusPeriod: Duration?
    /// The variables of the process.
    package var environment: [String: String]
    /// Indicates whether the server decides for itself alone, to be compared with the nodes of the cluster.
    package var isShadow: Bool
    /// The version by which it decides, as it tells the other nodes of a cluster.
    package var version = PharosVersion.text
    /// Connects to the broker of the cluster that the server is a node of; nil for a single server.
    package var cluster: Clusters.Connect?

    /// Makes options with the defaults of the command.
    package init(
      site: String? = nil,
      udp: [HostPort] = [],
      http: HostPort? = nil,
      data: String? = nil,
      isDemo: Bool = false,
      output: String? = nil,
      selection: KindSelection? = nil,
      record: String? = nil,
      loops: Int? = nil,
      requiresToken: Bool = false,
      statusPeriod: Duration? = nil,
      environment: [String: String] = [:],
      isShadow: Bool = false,
      cluster: Clusters.Connect? = nil
    ) {
      flags = ServeSettings()
      flags.site = site
      flags.udp = udp
      flags.http = http
      flags.data = data
      flags.output = output
      flags.record = record
      flags.loops = loops
      self.isDemo = isDemo
      self.selection = selection
      self.requiresToken = requiresToken
      self.statusPeriod = statusPeriod
      self.environment = environment
      (self.isShadow, self.cluster) = (isShadow, cluster)
    }
  }

  let options: Options
  let logger: Logger

  /// Makes a runner.
  package init(_ options: Options, logger: Logger) {
    self.options = options
    self.logger = logger
  }

  /// Serves until SIGTERM or SIGINT, or until the task is cancelled; then drains.
  ///
  /// - Parameters:
  ///   - console: the console for the banner, the status lines and, if requested, the events.
  ///   - onListening: a callback that the server calls once it listens.
  /// - Returns: 0; 1 if it cannot listen, journal or write, or if accepted events were not published; 78 if the site file or a
  ///   variable is wrong.
  package func run(
    on console: Console,
    onListening: @escaping @Sendable (Serving) -> Void = { _ in }
  ) async -> CommandStatus {
    await console.run {
      pharos_limit_heaps()
      DescriptorLimit.raise()
      // First of all: a signal that comes while it starts is kept until there is something to end.
      let stop = await StopService()
      defer { withExtendedLifetime(stop) {} }
      let (settings, configuration) = try resolvedSettings(console)
      let around = Surroundings(
        settings: settings,
        configuration: configuration,
        console: console,
        tally: EventTally(),
        onListening: onListening
      )
      let bus = try await connectedBus(stream: configuration.site.stream, stop: stop)
      defer { bus?.close() }
      let folder = bus.flatMap { bus in
        settings.data.map { path in
          NodeFolder(
            path: path,
            stream: configuration.site.stream,
            version: options.version,
            bus: bus,
            logger: logger
          ) {
            stop.isRequested
          }
        }
      }
      try await folder?.fill()
      guard !stop.isRequested else { return .success }
      let recording = try settings.record.map { path throws(CommandFailure) in try FileOutput(path: path) }
      do {
        try await serve(around, bus: bus, recording: recording, stop: stop)
        try recording?.close()
      } catch {
        try? recording?.close()
        throw try await folder?.end(error) ?? error
      }
      guard around.tally.lost == 0 else {
        throw CommandFailure(
          "\(Wording.count(around.tally.lost, "event")) could not be written to \(settings.output ?? "-"). "
            + "Free some space; `pharos process` gives them again from what --record kept."
        )
      }
      return .success
    }
  }

  private func serve(
    _ around: Surroundings,
    bus: (any ClusterBus)?,
    recording: FileOutput?,
    stop: StopService
  ) async throws {
    let (settings, configuration) = (around.settings, around.configuration)
    let parts = try ServerParts(
      ServerParts.Plan(
        configuration: configuration,
        venues: options.isDemo && settings.site == nil
          ? LoadedVenues(built: [Scene.demoVenue, SimulatedMall.venue()])
          : try LoadedVenues(configuration.venues, visitors: configuration.visitors, console: around.console),
        settings: settings,
        ingest: ingest(settings, configuration, recording: recording),
        links: try MQTTLinks(configuration, environment: options.environment),
        ownPorts: Set([settings.http].compactMap { $0.map { Int($0.port) } }),
        isDemo: options.isDemo,
        isShadow: options.isShadow,
        version: options.version,
        bus: bus
      ),
      logger: logger
    )
    defer { parts.cluster?.close() }
    // The journal's folder is released last, after all services that write to it have ended.
    defer { parts.journal.leave() }
    let http = try httpService(settings, configuration, parts)
    let output = try eventOutput(parts, around)
    let group = ServiceGroup(
      configuration: group(services(parts, http: http, output: output, stop: stop, around))
    )
    try await group.run()
    let counters = parts.commitPublisher.statistics
    guard counters.lost == 0 else {
      throw CommandFailure(
        "\(Wording.count(Int(clamping: counters.lost), "event")) were dropped: the journal could not be written when the server stopped"
          + (counters.lastFailure.map { " (\($0))" } ?? "") + "."
      )
    }
  }

  /// The time for which a start waits for the broker of its cluster, which may just start as well.
  private static let patience: Duration = .seconds(60)

  /// Connects to the broker of the cluster; nil for a single server, or if the end is requested before it answers.
  private func connectedBus(stream: String, stop: StopService) async throws -> (any ClusterBus)? {
    guard let connect = options.cluster else { return nil }
    let start = ContinuousClock.now
    var isKnown = false
    while !stop.isRequested {
      do {
        return try connect(stream, logger)
      } catch ClusterError.away(let reason) where start.duration(to: .now) < ServeRunner.patience {
        if !isKnown {
          logger.warning("Waiting for the broker of the cluster.", metadata: [LogKey.reason: "\(reason)"])
        }
        isKnown = true
        try await Task.sleep(for: .seconds(1))
      }
    }
    return nil
  }

  private func resolvedSettings(_ console: Console) throws -> (ServeSettings, SiteConfiguration) {
    var (settings, configuration) = try ServeSettings.resolved(
      flags: options.flags,
      environment: options.environment
    ) { path throws(CommandFailure) in
      try SiteLoader.load(path, console: console)
    }
    var tried = configuration
    (tried.tls, tried.data) = (settings.tls, settings.data)
    let mistakes = NamedFiles.mistakes(of: tried)
    guard mistakes.isEmpty else {
      let path = settings.site ?? "the environment"
      throw CommandFailure(
        mistakes.map { $0.text(in: path) }.joined(separator: "\n"),
        status: .configuration
      )
    }
    if options.isDemo {
      if settings.site == nil {
        configuration.site = try SiteFile.parse(Scene.demo.siteYAML, path: "demo").site
        let mall = try SiteFile.parse(MallDay.siteYAML, path: "demo").site
        configuration.site.applications += mall.applications
        configuration.site.observers += mall.observers
        configuration.site.beacons += mall.beacons
        configuration.site.visits = mall.visits
        configuration.site.positioning.isSimulated = true
        configuration.listen = [HostPort(host: "127.0.0.1", port: 0)]
      }
      if settings.http == nil { settings.http = FreePort.http(console) }
    }
    return (settings, configuration)
  }

  private func ingest(
    _ settings: ServeSettings,
    _ configuration: SiteConfiguration,
    recording: FileOutput?
  ) -> IngestConfiguration {
    let passed = SocketActivation.listeners(environment: options.environment, processID: getpid())
    let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let named = settings.udp.isEmpty ? configuration.listen : settings.udp
    // A policy that the file gives to a listener holds wherever its address is named; all else goes by the site's.
    let listeners =
      passed.isEmpty
      ? named.map { ListenAddress($0, policy: ListenPolicy(configuration.policy(of: $0))) }
      : passed.map { $0.under(ListenPolicy(configuration.policy)) }
    var ingest = IngestConfiguration(
      listeners: listeners,
      loops: settings.loops ?? IngestConfiguration.defaultLoops(cores: cores)
    )
    if let recording {
      ingest.record = { bytes in
        try recording.write(bytes)
        // So that a recording cut off by a crash holds all but the last moment.
        try recording.flush()
      }
    }
    return ingest
  }

  /// Returns the HTTP service, or nil if no address is set.
  ///
  /// An address of this machine alone needs no token unless the options require one; any other address does.
  private func httpService(
    _ settings: ServeSettings,
    _ site: SiteConfiguration,
    _ parts: ServerParts
  ) throws -> HTTPService? {
    guard let address = settings.http else { return nil }
    var configuration = HTTPConfiguration(
      address: address,
      tls: settings.tls,
      allowedOrigins: { parts.allowedOrigins },
      allowedHosts: site.allowedHosts
    )
    configuration.validator = site.meraki?.validator
    configuration.postSecret = try StatedSecret(
      file: site.meraki?.secretFile,
      variable: site.meraki?.secretVariable
    )
    .read(MerakiPosts.secretName, options.environment)
    // Only an address of this machine alone passes without a token.
    if let connections = settings.connections { configuration.maximumConnections = connections }
    let isOpen = (try? configuration.check(hasTokens: false)) == nil
    configuration.tokensRequired = isOpen || options.requiresToken
    try configuration.check(hasTokens: !parts.tokens.isEmpty)
    return HTTPService(configuration, backend: parts, logger: logger)
  }

  private func eventOutput(
    _ parts: ServerParts,
    _ around: Surroundings
  ) throws(CommandFailure) -> EventOutputService? {
    let sink: any OutputSink
    var format = EventFormat.jsonl
    var selection = KindSelection.usual
    switch around.settings.output {
    case "-": sink = around.console.output
    case let path?: sink = try AppendedFile(path: path)
    case nil:
      guard options.isDemo else { return nil }
      sink = around.console.output
      format = .table
      selection = .decisions
    }
    let writer = EventWriter(
      format: format,
      selection: options.selection ?? selection,
      site: parts.owner.site,
      style: around.console.outputStyle,
      names: { parts.owner.names }
    )
    return EventOutputService(
      server: parts.server,
      sink: sink,
      writer: writer,
      tally: around.tally,
      logger: logger
    )
  }
}

/// A handle to a running server for the code that started it: its addresses, and a way to stop it.
package struct Serving: Sendable {
  /// The addresses at which the server receives datagrams.
  package let addresses: [HostPort]
  /// The address at which the server serves HTTP, if it does.
  package let http: HostPort?
  /// Makes it drain and end, as SIGTERM does.
  package let stop: @Sendable () -> Void

  package init(addresses: [HostPort], http: HostPort?, stop: @escaping @Sendable () -> Void) {
    self.addresses = addresses
    self.http = http
    self.stop = stop
  }
}

/// A service that ends its group gracefully on SIGTERM, on SIGINT or on request.
///
/// Signals count from the moment it is made, long before its group runs: until then they wait.
final class StopService: Service {
  // One request is enough: further ones replace it.
  private let requests = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  private let requested = Atomic<Bool>(false)
  private let listening = Mutex<Task<Void, Never>?>(nil)

  /// Indicates whether the end was requested, by a signal too.
  var isRequested: Bool { requested.load(ordering: .relaxed) }

  /// Installs the handlers of the signals, which remain as long as the service exists.
  init() async {
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    listening.withLock { task in
      task = Task { [weak self] in
        for await _ in signals { self?.request() }
      }
    }
  }

  deinit { listening.withLock { $0?.cancel() } }

  /// Requests the end.
  func request() {
    requested.store(true, ordering: .relaxed)
    requests.continuation.yield()
  }

  func run() async throws {
    for await _ in requests.stream.cancelOnGracefulShutdown() { break }
  }
}

/// The choice of the port of the demo's dashboard: the usual one, or any other that is free.
enum FreePort {
  /// The address that the demo serves HTTP at.
  static func http(_ console: Console) -> HostPort {
    let usual = HostPort(host: "127.0.0.1", port: 8_080)
    guard !isFree(usual.port) else { return usual }
    console.say("Port \(usual.port) is in use; the dashboard takes another one.", .warning)
    return HostPort(host: usual.host, port: 0)
  }

  /// Returns whether a listener can bind a TCP port of this machine now.
  static func isFree(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var reuse: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
