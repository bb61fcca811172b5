public import Logging
import Pharos
import PharosEvents
import PharosIngest
import PharosReports
import PharosSimulation
import ServiceLifecycle
import UnixSignals

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// `pharos serve`: listens, decides and writes events until it is told to stop, then drains.
public struct ServeRunner: Sendable {
  /// What is served, and how.
  public struct Options: Sendable {
    /// The site file; nil for the demo's site or an empty one.
    public var site: String?
    /// Where to listen; empty for the site's addresses, or for any free port with the demo.
    public var udp: [HostPort]
    /// Whether a bundled scene is played to the server's own socket.
    public var isDemo: Bool
    /// Where events go as JSON lines; `-` is standard output; nil for no events.
    public var output: String?
    /// Which events are written.
    public var selection: KindSelection
    /// Where all inputs are recorded; nil for no recording.
    public var record: String?
    /// On how many loops it reads and decides; nil for one a core, up to four.
    public var loops: Int?
    /// How often one line says how things are.
    public var statusPeriod: Duration

    /// Makes options with the defaults of the command.
    public init(
      site: String? = nil,
      udp: [HostPort] = [],
      isDemo: Bool = false,
      output: String? = nil,
      selection: KindSelection = .usual,
      record: String? = nil,
      loops: Int? = nil,
      statusPeriod: Duration = .seconds(60)
    ) {
      self.site = site
      self.udp = udp
      self.isDemo = isDemo
      self.output = output
      self.selection = selection
      self.record = record
      self.loops = loops
      self.statusPeriod = statusPeriod
    }
  }

  private let options: Options
  private let logger: Logger

  /// Makes a runner.
  public init(_ options: Options, logger: Logger) {
    self.options = options
    self.logger = logger
  }

  /// Serves until SIGTERM or SIGINT, or until the task is cancelled; then drains.
  ///
  /// - Parameters:
  ///   - console: where banner, status and, if asked for, events go.
  ///   - onListening: is told once the server listens.
  /// - Returns: 0; 1 if it cannot listen or write; 78 if the site file is wrong.
  public func run(
    on console: Console,
    onListening: @escaping @Sendable (Serving) -> Void = { _ in }
  ) async -> CommandStatus {
    await console.run {
      let configuration = try siteConfiguration(console)
      let recording = try options.record.map { path throws(CommandFailure) in try FileOutput(path: path) }
      let server = PharosServer(
        site: configuration.site,
        configuration: ingest(configuration, recording: recording),
        logger: logger
      )
      let tally = EventTally()
      let group = try serviceGroup(
        server,
        tally: tally,
        configuration: configuration,
        console: console,
        onListening: onListening
      )
      do {
        try await group.run()
        try recording?.close()
      } catch {
        try? recording?.close()
        throw error
      }
      guard tally.lost == 0 else {
        throw CommandFailure(
          "\(CheckRunner.count(tally.lost, "event")) could not be written to \(options.output ?? "-"). "
            + "Free some space; `pharos process` gives them again from what --record kept."
        )
      }
      return .success
    }
  }

  private func siteConfiguration(_ console: Console) throws(CommandFailure) -> SiteConfiguration {
    var configuration = try SiteFile.load(options.site, console: console)
    if options.isDemo, options.site == nil {
      configuration.site = Scene.demo.site
      configuration.listen = [HostPort(host: "127.0.0.1", port: 0)]
    }
    if !options.udp.isEmpty { configuration.listen = options.udp }
    return configuration
  }

  private func ingest(_ configuration: SiteConfiguration, recording: FileOutput?) -> IngestConfiguration {
    let passed = SocketActivation.listeners(environment: ServeRunner.activation, processID: getpid())
    let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    var ingest = IngestConfiguration(
      listeners: passed.isEmpty ? configuration.listen.map(ListenAddress.init) : passed,
      loops: options.loops ?? IngestConfiguration.defaultLoops(cores: cores)
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

  /// What systemd told this process about sockets.
  private static var activation: [String: String] {
    var variables: [String: String] = [:]
    for name in ["LISTEN_PID", "LISTEN_FDS"] {
      if let value = getenv(name) { variables[name] = String(cString: value) }
    }
    return variables
  }

  /// Later services depend on earlier ones, and shutdown goes backwards: the demo and the status line end first,
  /// then the server drains, and whoever writes events sees the last of them.
  private func serviceGroup(
    _ server: PharosServer,
    tally: EventTally,
    configuration: SiteConfiguration,
    console: Console,
    onListening: @escaping @Sendable (Serving) -> Void
  ) throws(CommandFailure) -> ServiceGroup {
    let stop = StopService()
    var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
    if let output = try eventOutput(server, tally: tally, site: configuration.site, console: console) {
      services.append(.init(service: output))
    }
    services.append(.init(service: server))
    let status = StatusService(
      server: server,
      console: console,
      period: options.statusPeriod,
      tally: tally,
      banner: Banner(options: options, configuration: configuration),
      onListening: { onListening(Serving(addresses: $0, stop: { stop.request() })) }
    )
    services.append(.init(service: status))
    services.append(.init(service: stop, successTerminationBehavior: .gracefullyShutdownGroup))
    if options.isDemo { services.append(.init(service: DemoService(server: server, scene: .demo))) }
    return ServiceGroup(
      configuration: .init(
        services: services,
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger
      )
    )
  }

  private func eventOutput(
    _ server: PharosServer,
    tally: EventTally,
    site: Site,
    console: Console
  ) throws(CommandFailure) -> EventOutputService? {
    let sink: any OutputSink
    var format = EventFormat.jsonl
    switch options.output {
    case "-": sink = console.output
    case let path?: sink = try AppendedFile(path: path)
    case nil:
      guard options.isDemo else { return nil }
      sink = console.output
      format = .table
    }
    let writer = EventWriter(
      format: format,
      selection: options.selection,
      site: site,
      style: console.outputStyle
    )
    return EventOutputService(server: server, sink: sink, writer: writer, tally: tally, logger: logger)
  }
}
