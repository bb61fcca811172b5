import Dispatch
import Foundation
import PharosCluster
import PharosModel
import PharosTerminal
import Synchronization

/// The demo on several nodes of one machine: three servers of NATS and the nodes as processes of their own, until Ctrl-C.
struct DemoCluster {
  /// The number of servers of NATS.
  private static let brokers = 3

  private let nodes: Int
  private let http: HostPort
  private let console: Console

  /// Makes the demo; the dashboards are at the port of `http` and those that follow it.
  init(nodes: Int, http: HostPort?, console: Console) {
    (self.nodes, self.http, self.console) = (nodes, http ?? HostPort(host: "127.0.0.1", port: 8_080), console)
  }

  /// Runs until it is asked to stop, or until a process ends by itself that was not killed.
  ///
  /// - Returns: the status of the command.
  /// - Throws: `CommandFailure` that says what is missing.
  func run() async throws -> CommandStatus {
    if let missing = Clusters.isMissing { throw CommandFailure(missing) }
    guard let broker = Self.executable("nats-server") else {
      throw CommandFailure("nats-server is missing. Install it (on Debian: apt-get install nats-server).")
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "pharos-demo-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let ports = (0..<2 * Self.brokers).map { 14_222 + $0 }
    // The processes are stopped by this one, however it is asked to end.
    let isStopped = Mutex(false)
    let signals = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { isStopped.withLock { $0 = true } }
      source.resume()
      return source
    }
    var processes: [Process] = []
    defer {
      for source in signals { source.cancel() }
      for process in processes where process.isRunning { process.terminate() }
      for process in processes { process.waitUntilExit() }
    }
    for index in 0..<Self.brokers {
      let routes = (0..<Self.brokers).filter { $0 != index }
        .map { "nats://127.0.0.1:\(ports[Self.brokers + $0])" }.joined(separator: ", ")
      let path = "\(folder)/nats-\(index).conf"
      let text = """
        server_name: demo-\(index)
        listen: 127.0.0.1:\(ports[index])
        jetstream { store_dir: "\(folder)/nats-\(index)", max_file_store: 4GB }
        cluster { name: demo, listen: 127.0.0.1:\(ports[Self.brokers + index]), routes: [\(routes)] }
        """
      try Data(text.utf8).write(to: URL(filePath: path))
      processes.append(try Self.start(broker, ["-c", path, "-l", "\(folder)/nats-\(index).log"]))
    }
    let servers = ports.prefix(Self.brokers).map { "nats://127.0.0.1:\($0)" }.joined(separator: ",")
    var addresses: [String] = []
    for index in 0..<nodes {
      let address = "\(http.host):\(Int(http.port) + index)"
      addresses.append("http://\(address)/")
      let arguments = [
        "serve", "--demo", "--cluster", servers, "--data", "\(folder)/node-\(index)", "--http", address,
        "--output",
        "/dev/null",
      ]
      processes.append(try Self.start("/proc/self/exe", arguments, output: "\(folder)/node-\(index).log"))
    }
    console.say("\(nodes) nodes: \(addresses.joined(separator: " "))")
    for (index, process) in processes.dropFirst(Self.brokers).enumerated() {
      console.say(
        "node \(index + 1) is process \(process.processIdentifier): kill it and see the others go on"
      )
    }
    console.say("See them with: pharos cluster status --cluster \(servers)")
    console.say("Ctrl-C stops all. Logs are in \(folder).")
    while !isStopped.withLock({ $0 }), processes.dropFirst(Self.brokers).contains(where: \.isRunning) {
      guard (try? await Task.sleep(for: .milliseconds(200))) != nil else { break }
    }
    return .success
  }

  private static func start(_ path: String, _ arguments: [String], output: String? = nil) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: path).resolvingSymlinksInPath()
    process.arguments = arguments
    if let output {
      _ = FileManager.default.createFile(atPath: output, contents: nil)
      let file = FileHandle(forWritingAtPath: output) ?? .nullDevice
      (process.standardOutput, process.standardError) = (file, file)
    }
    try process.run()
    return process
  }

  /// Finds a program in the folders where programs are.
  private static func executable(_ name: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return (path.split(separator: ":").map(String.init) + ["/usr/sbin"]).map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
