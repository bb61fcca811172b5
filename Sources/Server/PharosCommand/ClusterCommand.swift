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
    subcommands: [Status.self, Rename.self]
  )

  /// `pharos cluster status`.
  struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status",
      abstract: "List the nodes with their places in the log, and who delivers.",
      discussion: "Ends with 1 if the cluster cannot be reached, or if no node delivers."
    )

    @OptionGroup var cluster: ClusterOptions

    @Option(help: ArgumentHelp("The name of the site's stream.", valueName: "name"))
    var stream = "pharos"

    func validate() throws {
      guard cluster.settings != nil else {
        throw ValidationError("--cluster is missing: name the servers of NATS.")
      }
    }

    func run() throws {
      guard let settings = cluster.settings else { return }
      let console = Console.standard()
      try console.run {
        let logger = Logger(label: "pharos.cluster") { _ in SwiftLogNoOpLogHandler() }
        let bus = try Clusters.open(settings, stream: stream, logger: logger)
        defer { bus.close() }
        let state = try ClusterState(of: bus)
        for line in state.lines(at: .wallClock) { try console.output.write(Array((line + "\n").utf8)) }
        let isServed = state.nodes.contains { $0.node == state.holder }
        return isServed ? .success : CommandStatus.failure
      }
      .leave()
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
        let former = try ClusterRename.run(data, stream: stream)
        console.say("\(data) is no copy of node \(former) now; its next start gives it a name of its own.")
        return .success
      }
      .leave()
    }
  }
}
