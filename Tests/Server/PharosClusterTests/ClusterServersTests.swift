import Foundation
import FoundationNetworking
import Logging
import PharosCluster
import PharosConsoleSupport
import PharosIngest
import PharosJournal
import PharosModel
import PharosPipeline
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
    let bus: MemoryBus?
    private let end: Task<CommandStatus, Never>

    /// The reason why a node does not start.
    static func refusal(
      _ broker: MemoryBroker,
      site: String,
      data: String,
      version: String = "1"
    ) async throws -> String {
      let console = KeptConsole()
      let (runner, _) = runner(broker, site: site, data: data, version: version)
      let status = await runner.run(on: console.console)
      #expect(status != .success)
      return console.errors.text
    }

    private static func runner(
      _ broker: MemoryBroker?,
      site: String,
      data: String,
      version: String = "1",
      isShadow: Bool = false
    ) -> (runner: ServeRunner, bus: MemoryBus?) {
      let anyPort = HostPort(host: "127.0.0.1", port: 0)
      let bus = broker.map { MemoryBus($0) }
      var options = ServeRunner.Options(
        site: site,
        udp: [anyPort],
        http: anyPort,
        data: data,
        isShadow: isShadow,
        cluster: bus.map { bus -> Clusters.Connect in { _, _ in bus } }
      )
      options.version = version
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      return (ServeRunner(options, logger: logger), bus)
    }

    init(
      _ broker: MemoryBroker?,
      site: String,
      data: String,
      version: String = "1",
      isShadow: Bool = false
    ) async throws {
      let (runner, bus) = Node.runner(broker, site: site, data: data, version: version, isShadow: isShadow)
      self.bus = bus
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
      self.serving = try #require(serving, "\(console.errors.text)")
    }

    func stop() async {
      serving.stop()
      #expect(await end.value == .success)
    }

    /// Ends it where it has ended to decide by itself, or does so soon.
    func end(afterFailure isAtOnce: Bool) async {
      if isAtOnce { serving.stop() }
      #expect(await end.value == .failure)
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

  /// The position of the log behind which the newest checkpoint of a folder continues.
  private func position(_ folder: String) throws -> UInt64 {
    let journal = try Journal.open(.folder(folder), stream: "pharos")
    defer { journal.leave() }
    let stored = try #require(try journal.latestCheckpoint())
    return try LoggedCheckpoint(decoding: stored.bytes).place.reading.position
  }

  /// Sends a part of the demo's scene.
  private func send(_ range: Range<Int>, to node: Node) throws {
    var scene = Scene.demo
    scene.duration = .minutes(10)
    let sender = try node.sender()
    for (index, input) in Simulation(scene, seed: 4).enumerated() where range.contains(index) {
      if case .datagram(let datagram) = input { _ = try sender.send(datagram.bytes) }
      if index >= range.upperBound { break }
    }
  }

  @Test(
    "one that comes when the log reaches back no longer begins with the journal of another, and decides alike"
  )
  func joins() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let broker = MemoryBroker()
    var first = try await Node(broker, site: site, data: folder.path("a"))
    // This one is away while the log is trimmed.
    let away = try await Node(broker, site: site, data: folder.path("b"))
    for node in [first, away] { try await node.wait(for: "\"status\":\"ready\"", at: "/readyz") }
    await away.stop()
    try send(0..<2_000, to: first)
    let hook = try await first.ask("POST", "/v1/webhooks", #"{"url":"https://example.com/in"}"#)
    #expect(hook.code == 201, "\(hook.text)")
    await first.stop()
    try MemoryBus(broker).trim(through: try position(folder.path("a")))
    first = try await Node(broker, site: site, data: folder.path("a"))
    // Elsewhere, as this process may hold the files of the node that has stopped still.
    try FileManager.default.moveItem(atPath: folder.path("b"), toPath: folder.path("moved"))
    let others = [
      try await Node(broker, site: site, data: folder.path("moved")),
      try await Node(broker, site: site, data: folder.path("c")),
    ]
    for node in others {
      try await node.wait(for: "\"status\":\"ready\"", at: "/readyz")
      #expect(try await node.ask("GET", "/v1/webhooks").text.contains("example.com"))
    }
    try send(2_000..<4_000, to: others[0])
    let made = try await others[1].ask("PUT", "/v1/zones/attic", #"{"observers":["02:00:00:00:00:99"]}"#)
    #expect((200..<300).contains(made.code), "\(made.text)")
    for node in [first] + others { try await node.wait(for: "attic", at: "/v1/zones") }
    for node in [first] + others { await node.stop() }
    let journals = try ["a", "moved", "c"].map { try events(folder.path($0)) }
    let common = journals.map(\.count).min() ?? 0
    #expect(common > 20)
    for journal in journals { #expect(journal.prefix(common) == journals[0].prefix(common)) }
    let names = MemoryBus(broker)
    let records = try names.keys().filter { $0.hasPrefix("node.") }
    #expect(records.count == 3, "each has a name of its own, and keeps it: \(records)")
  }

  @Test("a cluster begins with the journal of a single server, and with no second one")
  func founds() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    for name in ["a", "z"] {
      let single = try await Node(nil, site: site, data: folder.path(name))
      try send(0..<2_000, to: single)
      let zone = try await single.ask("PUT", "/v1/zones/attic", #"{"observers":["02:00:00:00:00:99"]}"#)
      #expect((200..<300).contains(zone.code), "\(zone.text)")
      let hook = try await single.ask("POST", "/v1/webhooks", #"{"url":"https://example.com/in"}"#)
      #expect(hook.code == 201, "\(hook.text)")
      await single.stop()
    }
    let before = try events(folder.path("a"))
    #expect(before.count > 20)
    let broker = MemoryBroker()
    var first = try await Node(broker, site: site, data: folder.path("a"))
    try await first.wait(for: "\"status\":\"ready\"", at: "/readyz")
    #expect(try await first.ask("GET", "/v1/zones").text.contains("attic"))
    // Its first checkpoint of the log comes when it stops, or after half a minute.
    await first.stop()
    first = try await Node(broker, site: site, data: folder.path("a"))
    let refused = try await Node.refusal(broker, site: site, data: folder.path("z"))
    #expect(refused.contains("has the journal of node"), "\(refused)")
    let second = try await Node(broker, site: site, data: folder.path("b"))
    try await second.wait(for: "\"status\":\"ready\"", at: "/readyz")
    #expect(try await second.ask("GET", "/v1/zones").text.contains("attic"))
    #expect(try await second.ask("GET", "/v1/webhooks").text.contains("example.com"))
    try send(2_000..<4_000, to: second)
    let made = try await second.ask("PUT", "/v1/zones/cellar", #"{"observers":["02:00:00:00:00:98"]}"#)
    #expect((200..<300).contains(made.code), "\(made.text)")
    for node in [first, second] { try await node.wait(for: "cellar", at: "/v1/zones") }
    for node in [first, second] { await node.stop() }
    let journals = try ["a", "b"].map { try events(folder.path($0)) }
    #expect(Array(journals[0].prefix(before.count)) == before)
    let common = journals.map(\.count).min() ?? 0
    #expect(common > before.count)
    #expect(journals[0].prefix(common) == journals[1].prefix(common))
  }

  @Test("a change is refused in time while the broker is away, and made once it is back")
  func answersInTime() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let node = try await Node(MemoryBroker(), site: site, data: folder.path("a"))
    try await node.wait(for: "\"status\":\"ready\"", at: "/readyz")
    node.bus?.cut(true)
    async let zone = node.ask("PUT", "/v1/zones/attic", #"{"observers":["02:00:00:00:00:99"]}"#)
    async let hook = node.ask("POST", "/v1/webhooks", #"{"url":"https://example.com/in"}"#)
    for answer in [try await zone, try await hook] {
      #expect(answer.code == 503)
      #expect(
        answer.text.contains("broker of the cluster") && !answer.text.contains("journal"),
        "\(answer.text)"
      )
    }
    node.bus?.cut(false)
    try await node.wait(for: "attic", at: "/v1/zones")
    try await node.wait(for: "example.com", at: "/v1/webhooks")
    await node.stop()
  }

  @Test(
    "a shadow is compared, and decides from a position on once it is promoted, with the journal of the others"
  )
  func shadow() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let (broker, ready) = (MemoryBroker(), "\"status\":\"ready\"")
    var first = try await Node(broker, site: site, data: folder.path("a"))
    try await first.wait(for: ready, at: "/readyz")
    let refused = try await Node.refusal(broker, site: site, data: folder.path("s"), version: "2")
    #expect(refused.contains("--shadow") && refused.contains("version 1"), "\(refused)")
    var second = try await Node(broker, site: site, data: folder.path("s"), version: "2", isShadow: true)
    try await second.wait(for: ready, at: "/readyz")
    try send(0..<2_000, to: first)
    let zone = try await first.ask("PUT", "/v1/zones/attic", #"{"observers":["02:00:00:00:00:99"]}"#)
    #expect((200..<300).contains(zone.code), "\(zone.text)")
    try await second.wait(for: "attic", at: "/v1/zones")
    let change = try await second.ask("PUT", "/v1/zones/cellar", #"{"observers":["02:00:00:00:00:98"]}"#)
    #expect(change.code == 503 && change.text.contains("shadow"), "\(change.text)")

    let bus = MemoryBus(broker)
    while try !ClusterState(of: bus).nodes.allSatisfy({ $0.isCaughtUp && $0.head > 0 }) { await Task.yield() }
    let reports = try await apart { try ShadowReport.all(on: bus, over: .minutes(60)) }
    #expect(reports.map(\.node.version) == ["2"])
    #expect(reports.allSatisfy { $0.report.groups.isEmpty }, "\(reports.flatMap(\.report.lines))")

    #expect(throws: ClusterError.self) { try ClusterVersion.promote("3", on: bus) }
    let position = try ClusterVersion.promote("2", on: bus)
    await second.end(afterFailure: false)
    try FileManager.default.moveItem(atPath: folder.path("s"), toPath: folder.path("moved"))
    second = try await Node(broker, site: site, data: folder.path("moved"), version: "2", isShadow: true)
    try await second.wait(for: ready, at: "/readyz")
    await first.end(afterFailure: true)
    #expect(try self.position(folder.path("a")) == position)
    let late = try await Node.refusal(broker, site: site, data: folder.path("a"), version: "1")
    #expect(late.contains("version 2"), "\(late)")
    first = try await Node(broker, site: site, data: folder.path("a"), version: "2")
    try await first.wait(for: ready, at: "/readyz")
    try send(2_000..<4_000, to: first)
    let made = try await second.ask("PUT", "/v1/zones/cellar", #"{"observers":["02:00:00:00:00:98"]}"#)
    #expect((200..<300).contains(made.code), "\(made.text)")
    for node in [first, second] { try await node.wait(for: "cellar", at: "/v1/zones") }
    for node in [first, second] { await node.stop() }
    let journals = try ["a", "moved"].map { try events(folder.path($0)) }
    let common = journals.map(\.count).min() ?? 0
    #expect(common > 20)
    #expect(journals[0].prefix(common) == journals[1].prefix(common))
  }

  /// Runs a function that waits on a thread of its own.
  private func apart<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try body() }) }.start()
    }
  }

  @Test("a subject that is erased at one node is erased at all, also at one that was away")
  func erases() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let (broker, ready) = (MemoryBroker(), "\"status\":\"ready\"")
    let first = try await Node(broker, site: site, data: folder.path("a"))
    let second = try await Node(broker, site: site, data: folder.path("b"))
    let third = try await Node(broker, site: site, data: folder.path("c"))
    for node in [first, second, third] { try await node.wait(for: ready, at: "/readyz") }
    try send(0..<2_000, to: first)
    let path = "/v1/events?kind=region.enter&limit=1"
    for node in [first, second, third] { try await node.wait(for: "\"subject\":", at: path) }
    let text = try await first.ask("GET", path).text
    let subject = try #require(text.firstMatch(of: /"subject":"([^"]+)"/)?.1)
    let name = try #require(subject.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    await third.stop()
    let answer = try await first.ask("DELETE", "/v1/subjects/\(name)")
    #expect(answer.code == 200, "\(answer.text)")
    let again = try await Node(broker, site: site, data: folder.path("c"))
    for node in [first, second, again] {
      while try await node.ask("GET", "/v1/events?kind=region.enter&subject=\(name)").text.contains(subject) {
        await Task.yield()
      }
    }
    for node in [first, second, again] { await node.stop() }
  }
}
