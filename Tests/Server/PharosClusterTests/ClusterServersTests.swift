import Foundation
import FoundationNetworking
import Logging
import PharosCluster
import PharosConsoleSupport
import PharosIngest
import PharosJournal
import PharosModel
import PharosService
import PharosSimulation
import PharosTerminal
import PharosTestSupport
import Synchronization
import Testing

#if canImport(FoundationNetworking)
#endif

/// Whole servers with data folders on one broker in memory.
@Suite("Servers of a cluster", .serialized, .timeLimit(.minutes(20)))
struct ClusterServersTests {
  /// A server that runs.
  private final class Node: Sendable {
    let serving: Serving
    let bus: MemoryBus
    private let end: Task<CommandStatus, Never>

    init(_ broker: MemoryBroker, site: String, data: String) async throws {
      let anyPort = HostPort(host: "127.0.0.1", port: 0)
      let bus = MemoryBus(broker)
      let options = ServeRunner.Options(
        site: site,
        udp: [anyPort],
        http: anyPort,
        data: data,
        cluster: { _, _ in bus }
      )
      self.bus = bus
      let runner = ServeRunner(options, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      let (stream, continuation) = AsyncStream<Serving>.makeStream()
      let console = KeptConsole()
      end = Task {
        let status = await runner.run(on: console.console) { continuation.yield($0) }
        continuation.finish()
        return status
      }
      var serving: Serving?
      for await value in stream {
        serving = value
        break
      }
      self.serving = try #require(serving, "\(console)")
    }

    func stop() async {
      serving.stop()
      #expect(await end.value == .success)
    }

    func sender() throws -> DatagramSender {
      let port = try #require(serving.addresses.first).port
      return try DatagramSender(to: Endpoint(IPAddress(v4: 0x7F00_0001), port: port))
    }

    /// Asks for something over HTTP.
    func ask(
      _ method: String = "GET",
      _ path: String,
      _ body: String? = nil
    ) async throws -> (code: Int, text: String) {
      let address = try #require(serving.http)
      var request = URLRequest(url: try #require(URL(string: "http://\(address)\(path)")))
      request.httpMethod = method
      request.timeoutInterval = 600
      if let body {
        request.httpBody = Data(body.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      }
      let (data, response) = try await URLSession.shared.data(for: request)
      return (try #require(response as? HTTPURLResponse).statusCode, String(decoding: data, as: UTF8.self))
    }

    /// Waits until a path gives a text.
    func wait(for text: String, at path: String) async throws {
      while try await !ask("GET", path).text.contains(text) { await Task.yield() }
    }
  }

  private func events(_ folder: String) throws -> [String] {
    let journal = try Journal.open(.folder(folder), stream: "pharos")
    defer { journal.leave() }
    return try journal.events(after: 0, matching: .init(), limit: 100_000)
      .map { "\($0.sequence) " + $0.event.cloudEvent(stream: "pharos") }
  }

  @Test(
    "decide alike: equal journals, whichever was sent what, and also where one stops and starts again meanwhile"
  )
  func alike() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let broker = MemoryBroker()
    func start(_ index: Int) async throws -> Node {
      try await Node(broker, site: site, data: folder.path("data-\(index)"))
    }
    var nodes: [Node] = []
    for index in 0..<3 { nodes.append(try await start(index)) }
    for node in nodes { try await node.wait(for: "\"status\":\"ready\"", at: "/readyz") }
    var scene = Scene.demo
    scene.duration = .minutes(10)
    var random = SeededGenerator(seed: 1)
    var senders = try nodes.map { try $0.sender() }
    var sent = 0
    for case .datagram(let datagram) in Simulation(scene, seed: 4) {
      _ = try senders[Int.random(in: 0..<3, using: &random)].send(datagram.bytes)
      sent += 1
      if sent == 2_000 {
        await nodes[2].stop()
        nodes[2] = try await start(2)
        senders[2] = try nodes[2].sender()
      }
      guard sent < 4_000 else { break }
    }
    // What was sent last to any is decided once all have read what was published.
    let region = #"{"uuid":"F7826DA6-4FA2-4E98-8024-BC5B71E0893E","major":7}"#
    let made = try await nodes[1].ask("PUT", "/v1/applications/late/regions/door", region)
    #expect(made.code == 201, "\(made.text)")
    for node in nodes { try await node.wait(for: "door", at: "/v1/applications/late/regions") }
    for node in nodes { await node.stop() }
    let journals = try (0..<3).map { try events(folder.path("data-\($0)")) }
    let common = journals.map(\.count).min() ?? 0
    #expect(common > 20)
    #expect(journals[0].prefix(common) == journals[1].prefix(common))
    #expect(journals[0].prefix(common) == journals[2].prefix(common))
  }

  @Test(
    "have the same documents: tokens, webhooks, rules and registrations made at one are there at all, also later"
  )
  func documents() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let broker = MemoryBroker()
    let first = try await Node(broker, site: site, data: folder.path("a"))
    let second = try await Node(broker, site: site, data: folder.path("b"))
    for node in [first, second] { try await node.wait(for: "\"status\":\"ready\"", at: "/readyz") }
    let hook = try await first.ask("POST", "/v1/webhooks", #"{"url":"https://example.com/in"}"#)
    #expect(hook.code == 201, "\(hook.text)")
    let rule = #"{"on":"enter","region":"door","text":"You are there"}"#
    let notified = try await first.ask("PUT", "/v1/applications/shop/notifications/hello", rule)
    #expect((200..<300).contains(notified.code), "\(notified.text)")
    let zone = try await second.ask("PUT", "/v1/zones/attic", #"{"observers":["02:00:00:00:00:99"]}"#)
    #expect((200..<300).contains(zone.code), "\(zone.text)")
    // Each reads what it wrote at once, and the other one soon.
    #expect(try await first.ask("GET", "/v1/webhooks").text.contains("example.com"))
    #expect(try await second.ask("GET", "/v1/zones").text.contains("attic"))
    try await second.wait(for: "example.com", at: "/v1/webhooks")
    try await second.wait(for: "hello", at: "/v1/applications/shop/notifications")
    try await first.wait(for: "attic", at: "/v1/zones")
    // One that comes later has all of it from the log.
    let third = try await Node(broker, site: site, data: folder.path("c"))
    try await third.wait(for: "\"status\":\"ready\"", at: "/readyz")
    try await third.wait(for: "example.com", at: "/v1/webhooks")
    try await third.wait(for: "attic", at: "/v1/zones")
    for node in [first, second, third] { await node.stop() }
  }
}
