import ArgumentParser
import PharosCluster
import PharosLab
import PharosModel
import PharosService
import PharosTerminal
import PharosTools

/// `pharos serve`.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Run the server.",
    usage: "pharos serve [--site <file>] [--http <host:port>] [--data <dir>] [--demo] [options]",
    discussion: """
      pharos serve --demo
          plays a day in a mall and its shop to itself: regions, rooms, the failure of a gateway and fixes on \
      the floor plan. Enters and exits appear within seconds, and a dashboard at http://127.0.0.1:8080.
      pharos serve --site site.yaml --data pharos-data
          listens where site.yaml says, keeps states and events in a folder, and goes on \
      from there after a restart.
      pharos serve --site site.yaml --output - --record run.pharos
          writes events as JSON lines and records all inputs, so that `pharos process \
      run.pharos` gives the same events again, byte for byte.

      Flags take precedence over the environment (PHAROS_SITE, PHAROS_UDP, PHAROS_HTTP, PHAROS_DATA, \
      PHAROS_LOG_LEVEL …), and the environment over the site file. SIGHUP reloads the site file. At SIGTERM \
      and Ctrl-C the server first decides, stores and publishes what it has received.
      """
  )

  @Option(help: ArgumentHelp("The site file; see `pharos init`.", valueName: "file"))
  var site: String?

  @Option(
    help: ArgumentHelp(
      "Where to listen instead of where the site says; may be repeated.",
      valueName: "host:port"
    )
  )
  var udp: [HostPort] = []

  @Option(
    help: ArgumentHelp(
      "Where the dashboard and the HTTP interface are served; beyond this machine a token is needed.",
      valueName: "host:port"
    )
  )
  var http: HostPort?

  @Option(
    help: ArgumentHelp(
      "The folder where states and events are kept. (default: in memory)",
      valueName: "dir"
    )
  )
  var data: String?

  @Flag(help: "Ask for a token even where only this machine can reach the HTTP interface.")
  var requireToken = false

  @Flag(help: "Play a day in a mall to the server's own socket.")
  var demo = false

  @Option(
    help: ArgumentHelp(
      "With --demo: on so many nodes of a cluster on this machine, with three servers of NATS.",
      valueName: "n"
    )
  )
  var nodes: Int?

  @Option(
    help: ArgumentHelp("Add events as JSON lines to a file; - is standard output.", valueName: "file")
  )
  var output: String?

  @Option(
    help: ArgumentHelp(
      KindSelection.help
        + " (default: all but states; with --demo on the terminal, neither distances nor fixes)",
      valueName: "kinds"
    )
  )
  var kinds: KindSelection?

  @Option(help: ArgumentHelp("Record all inputs to a file, overwriting it.", valueName: "file"))
  var record: String?

  @Option(
    help: ArgumentHelp("On how many loops to read and decide. (default: one a core, up to 4)", valueName: "n")
  )
  var loops: Int?

  @OptionGroup var cluster: ClusterOptions

  @Flag(help: "With --cluster: decide for this node alone, to be compared by `pharos cluster shadow`.")
  var shadow = false

  @OptionGroup var log: LogOptions

  func validate() throws {
    guard !shadow || cluster.settings != nil else {
      throw ValidationError("--shadow is for --cluster.")
    }
    guard nodes == nil || demo && cluster.settings == nil && data == nil else {
      throw ValidationError("--nodes is for --demo, and comes without --cluster and --data.")
    }
    guard nodes.map({ (1...9).contains($0) }) ?? true else {
      throw ValidationError("--nodes is \(nodes ?? 0); expected 1 to 9.")
    }
    guard loops.map({ (1...16).contains($0) }) ?? true else {
      throw ValidationError("--loops is \(loops ?? 0); expected 1 to 16.")
    }
  }

  func run() async throws {
    if let nodes {
      let console = try log.settings().console()
      return try await console.run { try await DemoCluster(nodes: nodes, http: http, console: console).run() }
        .leave()
    }
    let options = ServeRunner.Options(
      site: site,
      udp: udp,
      http: http,
      data: data,
      isDemo: demo,
      output: output,
      selection: kinds,
      record: record,
      loops: loops,
      requiresToken: requireToken,
      environment: ProcessEnvironment.variables(),
      isShadow: shadow,
      cluster: cluster.connect
    )
    let settings = try log.settings()
    try await ServeRunner(options, logger: settings.logger()).run(on: settings.console()).leave()
  }
}

/// `pharos listen`.
struct ListenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "listen",
    abstract: "Show everything that is received, configured or not: for the first minute with a new gateway.",
    usage: "pharos listen [--udp <host:port> ...] [options]",
    discussion: """
      pharos listen --udp 0.0.0.0:50001
          shows every observer and every transmitter that it hears, with level and rate.
      pharos listen --udp 0.0.0.0:50001 | head -3
          prints one JSON line for each as it is heard first.

      What does not decode is named with its sender and the reason.
      """
  )

  @Option(help: .udp)
  var udp: [HostPort] = []

  @Option(help: ArgumentHelp("A site file, for the names in it.", valueName: "file"))
  var site: String?

  @Option(
    name: [.customLong("for")],
    help: ArgumentHelp("End after a time, such as 30s.", valueName: "time"),
    transform: TimeSpan.option
  )
  var duration: TimeSpan?

  @OptionGroup var log: LogOptions

  func run() async throws {
    let runner = ListenRunner(site: site, udp: udp, duration: duration)
    let settings = try log.settings()
    try await runner.run(on: settings.console(), logger: settings.logger()).leave()
  }
}

/// `pharos systemd-unit`.
struct SystemdUnitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "systemd-unit",
    abstract: "Print a hardened systemd unit, or the unit of its socket.",
    discussion: """
      pharos systemd-unit > /etc/systemd/system/pharos.service
          a user of its own, the system read-only, /var/lib/pharos for data, a restart when \
      it shows no sign of life; `systemctl reload pharos` reads the site file again.
      pharos systemd-unit --socket > /etc/systemd/system/pharos.socket
          systemd opens the port, so that no datagram is lost while the service restarts.
      """
  )

  @Flag(help: "Print the unit of the socket.")
  var socket = false

  @Option(help: ArgumentHelp("Where the program is.", valueName: "path"))
  var program = SystemdUnit.Options().program

  @Option(help: ArgumentHelp("Where the site file is.", valueName: "file"))
  var site = SystemdUnit.Options().site

  @Option(help: ArgumentHelp("Where the socket listens; may be repeated.", valueName: "host:port"))
  var udp: [HostPort] = []

  @Option(
    help: ArgumentHelp(
      "The user that the service runs as. (default: one that exists only while it runs)",
      valueName: "name"
    )
  )
  var user: String?

  func run() throws {
    var options = SystemdUnit.Options(program: program, site: site, user: user)
    if !udp.isEmpty { options.udp = udp.map(\.description) }
    let console = Console.standard()
    try console.run {
      try console.print(socket ? SystemdUnit.socket(options) : SystemdUnit.service(options))
      return .success
    }
    .leave()
  }
}

/// `pharos alerts`.
struct AlertsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "alerts",
    abstract: "Print alerting rules for Prometheus.",
    discussion: """
      pharos alerts > /etc/prometheus/pharos.rules.yml
          name the file under rule_files in prometheus.yml; each rule says what to do.
      """
  )

  @OptionGroup var scrape: ScrapeOptions

  func run() throws {
    let console = Console.standard()
    try console.run {
      try console.print(AlertRules.text(job: scrape.job))
      return .success
    }
    .leave()
  }
}

/// `pharos grafana`.
struct GrafanaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grafana",
    abstract: "Print a dashboard for Grafana.",
    discussion: """
      pharos grafana > pharos.json
          import the file in Grafana: Dashboards, New, Import.
      """
  )

  @OptionGroup var scrape: ScrapeOptions

  func run() throws {
    let console = Console.standard()
    try console.run {
      try console.print(GrafanaDashboard.text(job: scrape.job))
      return .success
    }
    .leave()
  }
}

/// How Prometheus scrapes the server.
struct ScrapeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The job name of the server in Prometheus' scrape configuration.", valueName: "name")
  )
  var job = AlertRules.defaultJob
}

/// The broker of a cluster.
struct ClusterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Take part in a cluster by these servers of NATS, with commas between them.",
      valueName: "nats://host:port"
    )
  )
  var cluster: String?

  @Option(help: ArgumentHelp("The seed of the NKey that the servers of NATS know.", valueName: "file"))
  var clusterKey: String?

  @Option(help: ArgumentHelp("The certificates that those of the servers descend from.", valueName: "file"))
  var clusterAuthorities: String?

  @Option(
    help: ArgumentHelp(
      "On how many servers of NATS the log is stored. (default: 3, or 1 where there is one)",
      valueName: "n"
    )
  )
  var clusterReplicas: Int?

  /// Connects to the broker; nil for a single server.
  var connect: Clusters.Connect? {
    guard let settings else { return nil }
    return { stream, logger in try Clusters.open(settings, stream: stream, logger: logger) }
  }

  /// The settings; nil for a single server.
  var settings: ClusterSettings? {
    guard let cluster else { return nil }
    var settings = ClusterSettings(servers: cluster.split(separator: ",").map(String.init))
    let environment = ProcessEnvironment.variables()
    (settings.seed, settings.authorities, settings.replicas) = (
      clusterKey, clusterAuthorities, clusterReplicas
    )
    settings.user = environment["PHAROS_CLUSTER_USER"]
    settings.passwordFile = environment["PHAROS_CLUSTER_PASSWORD_FILE"]
    return settings
  }
}
