import Foundation
import NIOCore
import ServedProcess

extension Attack {
  /// Clients whose requests are allowed and cost much, and a stop in the middle of others.
  static let overloading: [Attack] = [
    Attack(name: "itineraries, 100 a second", wanted: "taken", keepsLatency: true) { arena in
      let body = #"{"waypoints":[{"latitude":59,"longitude":18},{"latitude":59.001,"longitude":18}]}"#
      return try await ask(arena.tries(1_500, quick: 300), of: arena, answers: [200]) {
        Request("PUT", "/v1/subjects/visitor-\($0 % 8)/itinerary", body)
      }
    },
    Attack(name: "guidance, 100 a second", wanted: "taken", keepsLatency: true) { arena in
      try await ask(arena.tries(1_500, quick: 300), of: arena, answers: [200]) {
        Request("PUT", "/v1/subjects/visitor-\($0 % 8)/guidance", #"{"destination":"p1"}"#)
      }
    },
    Attack(name: "matrices of as many ends as may be", wanted: "bounded", keepsLatency: true) { arena in
      // A name that 32 places have counts 32 times: 50 starts and 50 goals, and 1,600 of each, which are too many.
      let maximum = ["Same"] + (0..<18).map { "p\($0)" }
      let tooMany = Array(repeating: "Same", count: 50)
      return try await ask(arena.tries(400, quick: 100), of: arena, answers: [200, 422, 503], every: 20) {
        let names = $0 % 2 == 0 ? maximum : tooMany
        let query = names.map { "from=\($0)" } + names.map { "to=\($0)" }
        return Request("GET", "/v1/venues/hall/matrix?\(query.joined(separator: "&"))")
      }
    },
    Attack(name: "tiles of floors with plans of 100 MB", wanted: "bounded", keepsLatency: true) { arena in
      try await ask(arena.tries(200, quick: 30), of: arena, answers: [200, 204, 503], every: 20) {
        Request("GET", "/v1/venues/hall/tiles/main/\($0 % Hall.floors)/19/\($0 % 7)/\($0 % 5).png")
      }
    },
    Attack(name: "a bomb of gzip in comparisons", keepsLatency: true) { arena in
      let bomb = arena.bomb
      return try await ask(arena.tries(30, quick: 6), of: arena, answers: [400, 413, 422, 503], every: 200) {
        _ in
        var request = Request("POST", "/v1/comparisons?name=bomb")
        request.bytes = bomb
        return request
      }
    },
    Attack(name: "half bodies that go no further", wanted: "bounded", keepsLatency: true) { arena in
      let (port, group, token) = (arena.http, arena.group, arena.token)
      var clients: [RawClient] = []
      for number in 0..<arena.tries(1_000, quick: 200) {
        guard let client = try? await RawClient(port: port, group: group) else { continue }
        let path = number % 2 == 0 ? "/v1/comparisons" : "/v1/zones/half"
        await client.send(head(number % 2 == 0 ? "POST" : "PUT", path, token, "Content-Length: 1000") + "{")
        clients.append(client)
      }
      try await Task.sleep(for: .seconds(arena.isQuick ? 3 : 35))
      let open = clients.count { $0.isOpen && $0.status == nil }
      for client in clients { client.close() }
      return Outcome(
        tried: clients.count,
        held: arena.isQuick || open == 0 ? clients.count : clients.count - open,
        note: "\(open) still open"
      )
    },
    Attack(name: "ranges and numbers beyond 64 bits", wanted: "answered") { arena in
      let ends = ["9223372036854775807", "18446744073709551615", "99999999999999999999", "-1", "0-0,0-0"]
      let fields = ends.map { "bytes=0-\($0)" } + ends.map { "bytes=\($0)-" } + ends.map { "bytes=-\($0)" }
      let paths = [
        "/v1/venues/hall/bundle", "/v1/events?after=9223372036854775807",
        "/v1/events?limit=99999999999999999999",
      ]
      return try await ask(
        arena.tries(1_000, quick: 100),
        of: arena,
        answers: [200, 206, 400, 416, 422, 503]
      ) {
        var request = Request("GET", paths[$0 % paths.count])
        request.field = "Range: \(fields[$0 % fields.count])"
        return request
      }
    },
    Attack(name: "webhooks to the server itself and to metadata") { arena in
      let hosts = [
        "127.0.0.1:\(arena.http)", "localhost:\(arena.http)", "[::1]:\(arena.http)", "0.0.0.0:\(arena.http)",
        "0x7f.1:\(arena.http)", "2130706433:\(arena.http)", "[::ffff:127.0.0.1]:\(arena.http)",
        "169.254.169.254",
        "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]",
        "[fe80::1]", "metadata.google.internal", "METADATA.", "100.100.100.200", "[fd00:ec2::254]",
      ]
      return try await ask(arena.tries(500, quick: 100), of: arena, answers: [400, 422]) {
        Request("POST", "/v1/webhooks", #"{"url":"http://\#(hosts[$0 % hosts.count])/latest/meta-data/"}"#)
      }
    },
    Attack(name: "requestState as fast as it goes", wanted: "bounded", keepsLatency: true) { arena in
      try await ask(arena.tries(3_000, quick: 500), of: arena, answers: [202, 429, 503], every: 2) {
        let body = #"{"subject":"visitor-\#($0 % 500)"}"#
        return Request("POST", "/v1/applications/bait/regions/bait/requestState", body)
      }
    },
    Attack(name: "a stop while clients hold half of everything", wanted: "in 5 s", endsServer: true) {
      arena in
      let (port, group, token) = (arena.http, arena.group, arena.token)
      var clients: [RawClient] = []
      for text in [
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n",
        head("PUT", "/v1/applications/bait/regions/x", token, "Content-Length: 100") + "{",
        head("POST", "/v1/comparisons", token, "Content-Length: 100") + "x",
        "GET /v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
          + "Authorization: Bearer \(token)\r\n\r\n",
      ] {
        for _ in 0..<8 {
          let client = try await RawClient(port: port, group: group, reads: false)
          await client.send(text)
          clients.append(client)
        }
      }
      try await Task.sleep(for: .seconds(1))
      let start = ContinuousClock.now
      arena.server.stop()
      let time = ContinuousClock.now - start
      for client in clients { client.close() }
      try arena.server.start()
      let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
      let note = String(format: "%.1f s from SIGTERM to the exit", seconds)
      return Outcome(tried: clients.count, held: seconds <= 5 ? clients.count : 0, note: note)
    },
  ]
  /// A request of an attack.
  private struct Request: Sendable {
    var method: String
    var path: String
    var body: String?
    var bytes: [UInt8] = []
    var field: String?

    init(_ method: String, _ path: String, _ body: String? = nil) {
      (self.method, self.path, self.body) = (method, path, body)
    }
  }

  /// Sends requests with so many milliseconds in between, each over a connection of its own, and counts the answers with
  /// the wanted statuses.
  private static func ask(
    _ count: Int,
    of arena: Arena,
    answers wanted: Set<Int>,
    every interval: Int = 10,
    _ request: @escaping @Sendable (Int) -> Request
  ) async throws -> Outcome {
    let (port, group, token) = (arena.http, arena.group, arena.token)
    let statuses = await withTaskGroup(of: Int?.self) { tasks in
      for number in 0..<count {
        tasks.addTask {
          guard let client = try? await RawClient(port: port, group: group) else { return nil }
          defer { client.close() }
          let request = request(number)
          let bytes = request.body.map { Array($0.utf8) } ?? request.bytes
          let field = bytes.isEmpty ? request.field : "Content-Length: \(bytes.count)"
          await client.send(head(request.method, request.path, token, field), bytes)
          for _ in 0..<900 where client.status == nil && client.isOpen {
            try? await Task.sleep(for: .milliseconds(100))
          }
          return client.status
        }
        try? await Task.sleep(for: .milliseconds(interval))
      }
      return await tasks.reduce(into: [Int: Int]()) { $0[$1 ?? 0, default: 0] += 1 }
    }
    let note = statuses.sorted { $0.key < $1.key }.map { "\($0.key == 0 ? "none" : "\($0.key)") \($0.value)" }
    let held = statuses.reduce(0) { wanted.contains($1.key) ? $0 + $1.value : $0 }
    return Outcome(tried: count, held: held, note: note.joined(separator: ", "))
  }
}
