import ArgumentParser
import Foundation
import Logging
import PharosCluster
import PharosModel
import PharosService
import PharosTerminal

/// `pharos cluster`.
struct ClusterCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cluster",
    abstract: "Look at the nodes of a site on several machines.",
    subcommands: [Status.self, Shadow.self, Promote.self, Rename.self]
  )

  /// `pharos cluster status`.
  struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status",
      abstract: "List the nodes with their places in the log, and who delivers.",
      discussion: "Ends with 1 if the cluster cannot be reached, or if no node delivers."
    )

    @OptionGroup var place: ClusterPlace

    func run() throws {
      try place.run { bus, console in
        let state = try ClusterState(of: bus)
        for line in state.lines(at: .wallClock) { try console.print(line) }
        let isServed = state.nodes.contains { $0.node == state.holder }
        return isServed ? .success : .failure
      }
    }
  }

  /// `pharos cluster shadow`.
  struct Shadow: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "shadow",
      abstract: "Compare what the shadows decide with what the cluster decides.",
      discussion: """
        Lists the differences by kind and cause. Ends with 0 if there are none, and with 1 if there are some, or if there is no \
        shadow.
        """
    )

    @OptionGroup var place: ClusterPlace

    @Option(
      name: [.customLong("for")],
      help: ArgumentHelp("Compare the decisions of so long a time at most.", valueName: "time"),
      transform: TimeSpan.option
    )
    var duration = TimeSpan.minutes(60)

    func run() throws {
      try place.run { bus, console in
        let reports = try ShadowReport.all(on: bus, over: duration)
        guard !reports.isEmpty else {
          throw CommandFailure("There is no shadow. Start a node with --shadow, on a folder of its own.")
        }
        for (node, report) in reports {
          try console.print("shadow \(node.node), version \(node.version):")
          for line in report.lines { try console.print("  " + line) }
        }
        return reports.allSatisfy(\.report.groups.isEmpty) ? .success : .failure
      }
    }
  }

  /// `pharos cluster promote`.
  struct Promote: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "promote",
      abstract: "Have the shadows of a version decide from now on, in place of the nodes that do.",
      discussion: """
        The change is an input in the log: behind it nothing is decided by the former version, and nothing before it by the new \
        one. The nodes that decided hand their journal over and end; the shadows end too, and decide once they are started \
        again, which a service manager does.
        """
    )

    @OptionGroup var place: ClusterPlace

    @Argument(help: "The version, as `pharos cluster status` lists it.")
    var version: String

    func run() throws {
      try place.run { bus, console in
        let position = try ClusterVersion.promote(version, on: bus)
        try console.print("Version \(version) decides behind position \(position) of the log.")
        return .success
      }
    }
  }

  /// `pharos cluster rename`.
  struct Rename: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rename",
      abstract: "Give the copy of a node's data folder a name of its own.",
      discussion: "A node that is new, or was away for longer than the log reaches, begins with such a copy."
    )

    @Option(help: ArgumentHelp("The copy.", valueName: "dir"))
    var data: String

    @Option(help: ArgumentHelp("The name of the site's stream.", valueName: "name"))
    var stream = "pharos"

    func run() throws {
      let console = Console.standard()
      try console.run {
        let former = try NodeFolder.rename(data, stream: stream)
        console.say("\(data) is no copy of node \(former) now; its next start gives it a name of its own.")
        return .success
      }
      .leave()
    }
  }
}

/// The site whose cluster is looked at.
struct ClusterPlace: ParsableArguments {
  @OptionGroup var cluster: ClusterOptions

  @Option(help: ArgumentHelp("The name of the site's stream.", valueName: "name"))
  var stream = "pharos"

  func validate() throws {
    guard cluster.settings != nil else {
      throw ValidationError("--cluster is missing: name the servers of NATS.")
    }
  }

  /// Calls a function with a connection to the broker, and ends the command.
  func run(_ body: (any ClusterBus, Console) throws -> CommandStatus) throws {
    guard let settings = cluster.settings else { return }
    let console = Console.standard()
    try console.run {
      let logger = Logger(label: "pharos.cluster") { _ in SwiftLogNoOpLogHandler() }
      let bus = try Clusters.open(settings, stream: stream, logger: logger)
      defer { bus.close() }
      return try body(bus, console)
    }
    .leave()
  }
}
