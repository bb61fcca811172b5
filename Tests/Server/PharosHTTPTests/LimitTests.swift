import Logging
import NIOCore
import PharosDelivery
import PharosHTTP
import PharosModel
import PharosSite
import Synchronization
import Testing

/// Clients that take what others need: each is refused, counted and named once, and others are served.
@Suite("Limits of the HTTP interface", .serialized, .timeLimit(.minutes(20)))
struct LimitTests {
  private func configuration(_ change: (inout HTTPConfiguration) -> Void) -> HTTPConfiguration {
    var configuration = HTTPConfiguration(address: HostPort(host: "127.0.0.1", port: 0))
    change(&configuration)
    return configuration
  }

  /// Whether a request is answered; on a busy machine our client may itself be too slow for the limit under test, and asks again.
  private func isServed(_ service: TestService) async -> Bool {
    for _ in 0..<100 {
      if let answer = try? await service.request("GET", "/healthz") { return answer.status == 200 }
    }
    return false
  }

  @Test("a head that never ends is closed in time, however lively its client is")
  func slowHead() async throws {
    try await TestService.run(configuration: configuration { $0.headSeconds = 1 }, isLive: true) { service in
      do {
        try await WireConnection.with(port: Int(service.address.port)) { connection in
          try await connection.send("GET /healthz HTTP/1.1\r\nHost: \(service.address)\r\nX-Slow: ")
          let isClosed = try await connection.isClosed()
          #expect(isClosed)
        }
      } catch ChannelError.ioOnClosedChannel {
        // On a busy machine the second may be over before our client comes to say anything at all.
      }
      #expect(service.backend.tally.statistics.reached[.headTime] == 1)
      #expect(await isServed(service))
    }
  }

  @Test("a body that never ends is closed in time")
  func slowBody() async throws {
    try await TestService.run(configuration: configuration { $0.bodySeconds = 1 }, isLive: true) { service in
      try await WireConnection.with(port: Int(service.address.port)) { connection in
        let head = service.head(
          "PUT",
          "/v1/applications/gallery/regions/slow",
          headers: ["Content-Length": "1000", "Content-Type": "application/json"]
        )
        try await connection.send(head + "{")
        #expect(try await connection.isClosed())
      }
      #expect(service.backend.tally.statistics.reached[.bodyTime] == 1)
      #expect(await isServed(service))
    }
  }

  @Test("a body without an end is answered, and its connection closed soon afterwards")
  func endlessBody() async throws {
    let configuration = configuration {
      $0.largestBody = 1_000
      $0.unreadBodySeconds = 1
    }
    try await TestService.run(configuration: configuration, isLive: true) { service in
      try await WireConnection.with(port: Int(service.address.port)) { connection in
        let head = "PUT /v1/applications/gallery/regions/endless HTTP/1.1\r\nHost: \(service.address)\r\n"
        try await connection.send(
          head + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n"
            + String(repeating: " ", count: 1_024) + "\r\n"
        )
        #expect(try await connection.answer().status == 413)
        #expect(try await connection.isClosed())
      }
      #expect(service.backend.tally.statistics.reached[.bodySize] == 1)
      #expect(service.backend.tally.statistics.reached[.unreadBody] == 1)
    }
  }

  @Test("a head that is too long is answered with 431", arguments: [1, 2])
  func largeHead(kind: Int) async throws {
    try await TestService.run(isLive: true) { service in
      try await WireConnection.with(port: Int(service.address.port)) { connection in
        let fields =
          kind == 1
          ? "X-Large: \(String(repeating: "a", count: 20_000))\r\n"
          : (0..<200).map { "X-\($0): a\r\n" }.joined()
        try await connection.send("GET /healthz HTTP/1.1\r\nHost: \(service.address)\r\n\(fields)\r\n")
        #expect(try await connection.answer().status == 431)
        #expect(try await connection.isClosed())
      }
      #expect(service.backend.tally.statistics.reached[.headSize] == 1)
      #expect(await isServed(service))
    }
  }

  @Test("waiting connections are closed for a new one")
  func crowd() async throws {
    try await TestService.run(configuration: configuration { $0.maximumConnections = 2 }, isLive: true) {
      service in
      try await WireConnection.with(port: Int(service.address.port)) { first in
        // Who has its answer has its place too, and waits from then on: the first for longer than the second.
        try await first.send(service.head("GET", "/healthz", headers: ["Connection": "keep-alive"]))
        #expect(try await first.answer().status == 200)
        try await first.send("GET /healthz HTTP/1.1\r\n")
        try await WireConnection.with(port: Int(service.address.port)) { second in
          try await second.send(service.head("GET", "/healthz", headers: ["Connection": "keep-alive"]))
          #expect(try await second.answer().status == 200)
          try await second.send("GET /healthz HTTP/1.1\r\n")
          // Both places are taken by clients that do not ask for anything.
          for _ in 0..<4 { #expect(await isServed(service)) }
          #expect(try await first.isClosed())
        }
      }
      #expect((service.backend.tally.statistics.reached[.connections] ?? 0) >= 1)
    }
  }

  @Test("a token has so many streams at most, and the others are for other clients")
  func share() async throws {
    var settings = FeedSettings()
    settings.feeds = 4
    settings.feedsOfOneClient = 2
    var backend = try TestService.parts(site: .gallery)
    backend.feeds = FeedService(
      commitPublisher: backend.commitPublisher,
      history: backend.journal,
      settings: settings
    )
    let one = FeedRequest(client: "token one")
    var feeds = [try backend.feeds.open(one), try backend.feeds.open(one)]
    #expect(throws: FeedRefusal.tooManyOfOne(limit: 2)) { try backend.feeds.open(one) }
    feeds.append(try backend.feeds.open(FeedRequest(client: "token two")))
    feeds.append(try backend.feeds.open(FeedRequest()))
    #expect(throws: FeedRefusal.tooMany(limit: 4)) { try backend.feeds.open(FeedRequest()) }
    #expect(backend.feeds.statistics.refused == 2)
    #expect(backend.feeds.statistics.open == feeds.count)
  }

  @Test("clients without a token share the limit of one")
  func local() {
    #expect(Principal.local.client == Principal.local.client)
    #expect(Principal.local.client != Principal.operator(id: "local").client)
  }

  /// What a client leaves undone when the server stops.
  enum Unfinished: CaseIterable {
    case head, body, upload, stream
  }

  @Test("a shutdown waits for no client, in whatever state it is", arguments: Unfinished.allCases)
  func shutdown(unfinished: Unfinished) async throws {
    // The service's own limits are an hour here: only the grace of the shutdown ends these connections.
    let (sent, source) = AsyncStream<Void>.makeStream()
    var client: Task<Void, any Error>?
    try await TestService.run(isLive: true) { service in
      client = Task {
        try await WireConnection.with(port: Int(service.address.port)) { connection in
          let fields = ["Content-Length": "1000", "Content-Type": "application/json"]
          switch unfinished {
          case .head: try await connection.send("GET /healthz HTTP/1.1\r\nHost: \(service.address)\r\n")
          case .body:
            let head = service.head("PUT", "/v1/applications/gallery/regions/slow", headers: fields)
            try await connection.send(head + "{")
          case .upload:
            try await connection.send(service.head("POST", "/v1/comparisons", headers: fields) + "x")
          case .stream:
            try await connection.send(
              service.head("GET", "/v1/events", headers: ["Accept": "text/event-stream"])
            )
            // The client has the head of the answer, and reads nothing after it.
            _ = try await connection.answer(isHead: true)
          }
          source.finish()
          _ = try await connection.isClosed()
        }
      }
      for await _ in sent {}
      // What was sent is on its way to the server.
      while service.backend.tally.statistics.connections == 0 { await Task.yield() }
    }
    try await client?.value
  }

  @Test("a limit is named once, and again only after an hour of quiet")
  func once() {
    let lines = Lines()
    let tally = HTTPTally(logger: Logger(label: "test") { _ in lines })
    let start = NIODeadline.uptimeNanoseconds(0)
    for minute in 0..<120 {
      tally.reached(.headTime, "10 s", at: start + .minutes(Int64(minute)))
      tally.reached(.streams, "2048", at: start + .minutes(Int64(minute)))
    }
    #expect(lines.count == 2)
    tally.reached(.streams, "2048", at: start + .minutes(179))
    #expect(lines.count == 3)
    #expect(tally.statistics.reached == [.headTime: 120, .streams: 121])
  }
}

/// Counts lines of a log.
private final class Lines: LogHandler, Sendable {
  private let lines = Mutex(0)

  var count: Int { lines.withLock { $0 } }
  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  var logLevel: Logger.Level {
    get { .trace }
    set {}
  }

  subscript(metadataKey _: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }

  func log(event: LogEvent) { lines.withLock { $0 += 1 } }
}
