import Foundation
import FoundationNetworking
import Logging
import PharosConsoleSupport
import PharosJournal
import PharosLab
import PharosModel
import PharosService
import PharosSimulation
import PharosSite
import PharosTerminal
import PharosTestSupport
import PharosTools
import Synchronization
import Testing

#if canImport(FoundationNetworking)
#endif

/// Runs whole servers with data folders, as an operator does: real sockets, real files, one test at a time.
@Suite("A server as its operator sees it", .serialized, .timeLimit(.minutes(20)))
struct OperatedServerTests {
  private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  private let anyPort = HostPort(host: "127.0.0.1", port: 0)

  private func serving(
    _ options: ServeRunner.Options,
    on kept: KeptConsole,
    _ body: @escaping @Sendable (Serving) async throws -> Void
  ) async throws -> CommandStatus {
    let runner = ServeRunner(options, logger: quiet)
    let (stream, continuation) = AsyncStream<Serving>.makeStream()
    async let status = {
      let status = await runner.run(on: kept.console) { continuation.yield($0) }
      continuation.finish()
      return status
    }()
    for await serving in stream {
      defer { serving.stop() }
      try await body(serving)
      break
    }
    return await status
  }

  /// Asks as patiently as the suite does: on a busy machine a server's tasks may wait for minutes for their turn.
  private static let patient = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 3_600
    configuration.timeoutIntervalForResource = 3_600
    return URLSession(configuration: configuration)
  }()

  private func get(_ path: String, from serving: Serving, token: String? = nil) async throws -> (Int, String)
  {
    let address = try #require(serving.http)
    var request = URLRequest(url: try #require(URL(string: "http://\(address)\(path)")))
    if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    let (data, response) = try await Self.patient.data(for: request)
    let status = try #require(response as? HTTPURLResponse).statusCode
    return (status, String(decoding: data, as: UTF8.self))
  }

  /// Replays the demo's scene to a server.
  private func replay(_ capture: String, to serving: Serving, speed: Double) async throws {
    let address = try #require(serving.addresses.first)
    let status = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let replay = ReplayRunner(.init(capture: capture, pace: .captured(speed: speed)))
        continuation.resume(returning: replay.run(to: address, console: KeptConsole().console))
      }
    }
    #expect(status == .success)
  }

  private func demoCapture(in folder: TemporaryFolder) -> String {
    let capture = folder.path("demo.pcapng")
    let made = SimulateRunner.run(
      scene: "demo",
      seed: 3,
      output: capture,
      truth: nil,
      console: KeptConsole().console
    )
    #expect(made == .success)
    return capture
  }

  /// Returns the contents of the journal in a folder that is no longer in use.
  private func journal(_ folder: String) throws -> (head: Int64, ids: [String], states: [String]) {
    let journal = try Journal.open(.folder(folder), stream: "pharos")
    let events = try journal.events(after: 0, matching: .init(), limit: 100_000)
    #expect(events.map(\.sequence) == Array(journal.oldest..<journal.head + 1))
    let committed = try journal.publishedState()
    return (
      journal.head,
      events.map { "\($0.event.id)" },
      committed.regions.map { "\($0.region) \($0.subject) \($0.state)" }.sorted()
    )
  }

  @Test("events are kept, a restart continues after them, and nothing is published twice or taken for gone")
  func restart() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let capture = demoCapture(in: folder)
    let data = folder.path("data")
    let options = ServeRunner.Options(site: site, udp: [anyPort], http: anyPort, data: data)
    let first = KeptConsole()
    let status = try await serving(options, on: first) { serving in
      try await replay(capture, to: serving, speed: 10)
      let (code, text) = try await get("/readyz", from: serving)
      #expect(code == 200, "\(text)")
    }
    #expect(status == .success)
    let before = try journal(data)
    #expect(before.head > 0)
    #expect(!before.states.isEmpty)
    let again = try await serving(options, on: KeptConsole()) { serving in
      let (_, text) = try await get("/v1/events?limit=1000", from: serving)
      #expect(text.contains("\"head\":\(before.head)"), "\(text.suffix(200))")
    }
    #expect(again == .success)
    let after = try journal(data)
    // The second run heard nothing at all, so that it may have published only events about itself, and, if it took
    // long, that subjects are unmonitored: no subject exits and none enters.
    #expect(Array(after.ids.prefix(before.ids.count)) == before.ids)
    #expect(Set(after.ids).count == after.ids.count)
    for (earlier, later) in zip(before.states, after.states) where later != earlier {
      #expect(later.hasSuffix("unmonitored"), "\(earlier) became \(later)")
    }
    #expect(after.states.count == before.states.count)
  }

  @Test("metrics, readiness and status are served, and the numbers are those of the traffic")
  func metrics() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let capture = demoCapture(in: folder)
    let options = ServeRunner.Options(site: site, udp: [anyPort], http: anyPort)
    let status = try await serving(options, on: KeptConsole()) { serving in
      try await replay(capture, to: serving, speed: 50)
      let (code, text) = try await get("/metrics", from: serving)
      #expect(code == 200)
      let line = text.split(separator: "\n").first { $0.hasPrefix("pharos_ingest_datagrams_total ") }
      let count = try #require(line.flatMap { Double($0.split(separator: " ")[1]) })
      #expect(count > 100)
      #expect(text.contains("pharos_build_info{version=\"\(PharosVersion.text)\"} 1"))
      #expect(try await get("/healthz", from: serving).0 == 200)
      #expect(try await get("/", from: serving).1.contains("<html"))
    }
    #expect(status == .success)
  }

  @Test("beyond this machine nothing is served until there is a token, and then only with it")
  func tokens() async throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data")
    let everywhere = HostPort(host: "0.0.0.0", port: 0)
    let options = ServeRunner.Options(udp: [anyPort], http: everywhere, data: data, loops: 1)
    let refused = KeptConsole()
    #expect(await ServeRunner(options, logger: quiet).run(on: refused.console) == .failure)
    #expect(refused.errors.text.contains("will not serve HTTP on 0.0.0.0:0"))
    let runner = TokenRunner(.folder(data, stream: "pharos"))
    let missing = KeptConsole()
    let absent = TokenRunner(.folder(folder.path("typo"), stream: "pharos"))
    #expect(await absent.list(on: missing.console) == .failure)
    #expect(missing.errors.text.contains("typo holds no journal"))
    #expect(!FileManager.default.fileExists(atPath: folder.path("typo")))
    let made = KeptConsole()
    #expect(await runner.create(.operator, name: "me", lifetime: nil, on: made.console) == .success)
    let secret = made.output.text.filter { !$0.isWhitespace }
    #expect(secret.hasPrefix("pht_"))
    let status = try await serving(options, on: KeptConsole()) { serving in
      let reachable = Serving(
        addresses: serving.addresses,
        http: HostPort(host: "127.0.0.1", port: try #require(serving.http).port),
        stop: serving.stop
      )
      #expect(try await get("/v1/status", from: reachable).0 == 401)
      #expect(try await get("/v1/status", from: reachable, token: secret).0 == 200)
      #expect(try await get("/healthz", from: reachable).0 == 200)
      let url = "http://127.0.0.1:\(try #require(serving.http).port)"
      let access = ServerAccess.http(url: url, token: secret)
      let listed = KeptConsole()
      #expect(await TokenRunner(access).list(on: listed.console) == .success)
      #expect(listed.output.text.contains("(operator)"))
      let without = KeptConsole()
      let outsider = TokenRunner(.http(url: url, token: nil))
      #expect(await outsider.list(on: without.console) == .failure)
      #expect(without.errors.text.contains("set PHAROS_TOKEN"))
      let locked = KeptConsole()
      #expect(await runner.list(on: locked.console) == .failure)
      #expect(locked.errors.text.contains("--url http://HOST:PORT"))
    }
    #expect(status == .success)
    let listed = KeptConsole()
    #expect(await runner.list(on: listed.console) == .success)
    let id = try #require(listed.output.text.split(separator: "\n").last?.prefix(12))
    #expect(await runner.revoke(String(id), on: KeptConsole().console) == .success)
    #expect(await runner.revoke(String(id), on: KeptConsole().console) == .failure)
  }

  @Test("an observer is accepted on a server that runs, and by the folder of one that does not")
  func acceptance() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write("ingest: { policy: allowlist }\nobservers: [{ id: desk }]\n", to: "site.yaml")
    let data = folder.path("data")
    let options = ServeRunner.Options(site: site, udp: [anyPort], http: anyPort, data: data, loops: 1)
    let status = try await serving(options, on: KeptConsole()) { serving in
      let access = ServerAccess.http(url: "http://\(try #require(serving.http))", token: nil)
      let kept = KeptConsole()
      let runner = ObserverRunner(access)
      #expect(await runner.accept(.name("door 1/2"), on: kept.console, logger: quiet) == .success)
      #expect(kept.output.text.contains("door 1/2 is accepted"))
    }
    #expect(status == .success)
    let runner = ObserverRunner(.folder(data, stream: "pharos"))
    #expect(await runner.accept(.name("yard"), on: KeptConsole().console, logger: quiet) == .success)
    let journal = try Journal.open(.folder(data), stream: "pharos")
    #expect(try journal.documents(kind: "http.acceptedObserver").map(\.key).sorted() == ["door 1/2", "yard"])
  }

  @Test("a server that cannot be reached is reported with the reason in plain words")
  func unreachable() async {
    for (url, reason) in [
      ("http://127.0.0.1:1", "the connection was refused: nothing listens there. Is it running"),
      ("http://no-such-host.invalid", "the name no-such-host.invalid leads to no address. Is it running"),
    ] {
      let kept = KeptConsole()
      let runner = ObserverRunner(.http(url: url, token: nil))
      #expect(await runner.accept(.name("yard"), on: kept.console, logger: quiet) == .failure)
      #expect(kept.errors.text.contains("cannot reach \(url): \(reason)"), "\(kept.errors.text)")
    }
  }

  @Test("a folder that another server uses, or that belongs to another stream, is reported with advice")
  func wrongFolder() async throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data")
    let options = ServeRunner.Options(udp: [anyPort], data: data, loops: 1)
    let status = try await serving(options, on: KeptConsole()) { _ in
      let second = KeptConsole()
      #expect(await ServeRunner(options, logger: quiet).run(on: second.console) == .failure)
      #expect(second.errors.text.contains("uses this journal"), "\(second.errors.text)")
    }
    #expect(status == .success)
    let site = try folder.write("stream: other\n", to: "site.yaml")
    let third = KeptConsole()
    let other = ServeRunner.Options(site: site, udp: [anyPort], data: data, loops: 1)
    #expect(await ServeRunner(other, logger: quiet).run(on: third.console) == .failure)
    #expect(third.errors.text.contains("belongs to the stream \"pharos\""))
  }

  @Test("a port in use is reported with advice, and nothing is left running")
  func portInUse() async throws {
    let options = ServeRunner.Options(udp: [anyPort], http: anyPort, loops: 1)
    let status = try await serving(options, on: KeptConsole()) { serving in
      let second = KeptConsole()
      let accepted = ServeRunner.Options(udp: [anyPort], http: serving.http, loops: 1)
      #expect(await ServeRunner(accepted, logger: quiet).run(on: second.console) == .failure)
      #expect(second.errors.text.contains("cannot serve HTTP on"), "\(second.errors.text)")
    }
    #expect(status == .success)
  }

  /// A console whose standard error is a log of the format.
  private func logged(_ kept: KeptConsole, _ format: LogFormat) -> (console: Console, logger: Logger) {
    let logger = Logger(label: "pharos") { LineLogHandler(label: $0, format: format, sink: kept.errors) }
    return (format == .json ? kept.console.logging(to: logger) : kept.console, logger)
  }

  @Test("a server that cannot listen writes one line: what, which port and what to do")
  func oneLine() async throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data")
    let options = ServeRunner.Options(udp: [anyPort], http: anyPort, data: data, loops: 1)
    let status = try await serving(options, on: KeptConsole()) { serving in
      let udp = try #require(serving.addresses.first)
      let attempts: [(options: ServeRunner.Options, line: String)] = [
        (
          .init(udp: [udp], http: anyPort, loops: 2),
          "cannot listen on udp \(udp): address in use. Another process holds the port; "
            + "change listen.udp or stop it.\n"
        ),
        (
          .init(udp: [anyPort], http: serving.http, loops: 1),
          "cannot serve HTTP on \(try #require(serving.http)): the address is in use. "
            + "Change listen.http or --http, or stop the process on that port.\n"
        ),
        (
          .init(udp: [anyPort], data: data, loops: 1),
          "\(data): process \(ProcessInfo.processInfo.processIdentifier) uses this journal. "
            + "Stop it, or give this one another folder with --data.\n"
        ),
      ]
      for attempt in attempts {
        let kept = KeptConsole()
        let (console, logger) = logged(kept, .text)
        #expect(await ServeRunner(attempt.options, logger: logger).run(on: console) == .failure)
        #expect(kept.errors.text == attempt.line)
      }
    }
    #expect(status == .success)
  }

  @Test("with a log in JSON, the banner, the status lines and a fatal error are objects as well")
  func objects() async throws {
    let folder = try TemporaryFolder()
    let site = try folder.write(
      "observers: [{ id: desk }]\nzones: [{ id: hall, observers: [desk] }]\n",
      to: "site.yaml"
    )
    let options = ServeRunner.Options(
      site: site,
      udp: [anyPort],
      http: anyPort,
      loops: 1,
      statusPeriod: .milliseconds(1)
    )
    let kept = KeptConsole()
    let (console, logger) = logged(kept, .json)
    let (stream, continuation) = AsyncStream<Serving>.makeStream()
    async let status = ServeRunner(options, logger: logger).run(on: console) { continuation.yield($0) }
    for await serving in stream {
      while !kept.errors.text.contains("datagrams/s") { await Task.yield() }
      let accepted = ServeRunner.Options(udp: serving.addresses, loops: 1)
      #expect(await ServeRunner(accepted, logger: logger).run(on: console) == .failure)
      serving.stop()
      break
    }
    #expect(await status == .success)
    let lines = try kept.errors.text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)")
    }
    let messages = lines.compactMap { $0["message"] as? String }
    #expect(messages.count == lines.count)
    let banner = try #require(messages.firstIndex { $0.hasPrefix("Pharos is listening on udp 127.0.0.1:") })
    #expect((lines[banner]["metadata"] as? [String: String])?["site"]?.hasPrefix(site) == true)
    #expect(messages.contains { $0.hasPrefix("cannot listen on udp") })
  }
}
