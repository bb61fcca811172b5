import Foundation
import NIOCore
import ServedProcess

extension Attack {
  /// Clients of HTTP that want too much, or no good.
  static let connecting: [Attack] = [
    Attack(name: "slow-loris: heads that come byte by byte") { arena in
      try await crowd(arena.tries(1_000, quick: 300), of: arena, counted: "head_time") { client, _ in
        await client.send("GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        return await dribble(client, "a")
      }
    },
    Attack(name: "slow-loris: bodies that come byte by byte") { arena in
      try await crowd(arena.tries(1_000, quick: 300), of: arena, counted: "body_time") { client, token in
        await client.send(head("PUT", "/v1/applications/bait/regions/x", token, "Content-Length: 100000"))
        return await dribble(client, " ")
      }
    },
    Attack(name: "oversized heads: 20 KB, and 200 fields") { arena in
      let long = "X-Long: \(String(repeating: "a", count: 20_000))\r\n"
      let many = (0..<200).map { "X-\($0): a\r\n" }.joined()
      return try await crowd(arena.tries(1_000, quick: 200), of: arena, counted: "head_size") { client, _ in
        await client.send("GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\(Bool.random() ? long : many)\r\n")
        return await client.isTurnedAway(within: 20)
      }
    },
    Attack(name: "oversized bodies: 10 MB, declared beforehand") { arena in
      let body = String(repeating: " ", count: 65_536)
      return try await crowd(arena.tries(500, quick: 100), of: arena, counted: "body_size") { client, token in
        await client.send(head("PUT", "/v1/applications/bait/regions/x", token, "Content-Length: 10000000"))
        for _ in 0..<160 where client.isOpen && client.status == nil { await client.send(body) }
        return await client.isTurnedAway(within: 30)
      }
    },
    Attack(name: "bodies in chunks without an end") { arena in
      let chunk = "4000\r\n\(String(repeating: " ", count: 0x4000))\r\n"
      return try await crowd(arena.tries(100, quick: 20), of: arena, counted: "unread_body") {
        client,
        token in
        await client.send(head("PUT", "/v1/applications/bait/regions/x", token, "Transfer-Encoding: chunked"))
        let end = Date(timeIntervalSinceNow: 60)
        while client.isOpen, Date() < end {
          await client.send(chunk)
          try? await Task.sleep(for: .milliseconds(2))
        }
        return !client.isOpen
      }
    },
    Attack(name: "bytes that are no HTTP") { arena in
      try await crowd(arena.tries(2_000, quick: 300), of: arena) { client, _ in
        await client.send(
          String((0..<200).map { _ in Character(UnicodeScalar(UInt8.random(in: 1...127))) }) + "\r\n\r\n"
        )
        return await client.isTurnedAway(within: 20)
      }
    },
    Attack(name: "bad tokens") { arena in
      let tokens = [
        "pht_", "pht_\(String(repeating: "A", count: 43))", arena.token + "x", String(arena.token.dropLast()),
        "",
      ]
      return try await crowd(arena.tries(5_000, quick: 500), of: arena) { client, _ in
        await client.send(head("GET", "/v1/status", tokens.randomElement() ?? ""))
        return await client.isTurnedAway(within: 20) && client.status == 401
      }
    },
    Attack(name: "a token of one application, asking for what is another's") { arena in
      let paths = ["/v1/status", "/v1/observers", "/metrics", "/v1/applications/good/regions", "/v1/tokens"]
      return try await crowd(arena.tries(5_000, quick: 500), of: arena, token: arena.poorToken) {
        client,
        token in
        await client.send(head("GET", paths.randomElement() ?? "/metrics", token))
        return await client.isTurnedAway(within: 20) && client.status == 403
      }
    },
    Attack(name: "paths that lead out of the folder") { arena in
      let steps = ["../", "..%2f", "%2e%2e/", "..%5c", "....//", "%252e%252e/", "..%c0%af", "/etc/../../"]
      let starts = ["/assets/", "/v1/venues/", "/", "/v1/venues/x/floors/y/0/plan?file="]
      return try await crowd(arena.tries(2_000, quick: 300), of: arena) { client, token in
        let path =
          (starts.randomElement() ?? "/") + String(repeating: steps.randomElement() ?? "../", count: 8)
        await client.send(head("GET", path + "etc/passwd", token))
        return await client.isTurnedAway(within: 20) && !client.text.contains("root:")
      }
    },
    Attack(name: "10,000 live streams with one token", wanted: "bounded") { arena in
      try await streams(arena.tries(10_000, quick: 3_000), of: arena)
    },
    Attack(name: "live streams that are never read", wanted: "bounded", keepsLatency: true) { arena in
      try await unread(arena.tries(500, quick: 100), of: arena)
    },
  ]

  static func head(
    _ method: String,
    _ path: String,
    _ token: String,
    _ field: String? = nil
  ) -> String {
    "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
      + (field.map { "Content-Type: application/json\r\n\($0)\r\n" } ?? "Connection: close\r\n") + "\r\n"
  }

  /// A byte every half second, until the server has had enough; a minute and a half is more than it should have.
  private static func dribble(_ client: RawClient, _ byte: String) async -> Bool {
    let end = Date(timeIntervalSinceNow: 90)
    while client.isOpen, Date() < end {
      await client.send(byte)
      try? await Task.sleep(for: .milliseconds(500))
    }
    return !client.isOpen
  }

  /// Lets many clients do something, a hundred of them new at a time, and counts those that were refused.
  private static func crowd(
    _ count: Int,
    of arena: Arena,
    counted limit: String? = nil,
    token: String? = nil,
    _ body: @escaping @Sendable (_ client: RawClient, _ token: String) async -> Bool
  ) async throws -> Outcome {
    let before = try await arena.metrics()
    let (port, group, token) = (arena.http, arena.group, token ?? arena.token)
    let refused = await withTaskGroup(of: Bool.self) { tasks in
      var refused = 0
      for number in 0..<count {
        tasks.addTask {
          guard let client = try? await RawClient(port: port, group: group) else { return true }
          defer { client.close() }
          return await body(client, token)
        }
        if number % 100 == 99 { try? await Task.sleep(for: .milliseconds(50)) }
      }
      for await isRefused in tasks where isRefused { refused += 1 }
      return refused
    }
    let after = try await arena.metrics()
    return Outcome(tried: count, held: refused, note: record(before, after, limit))
  }

  /// What the server counted: answers by status, and limits.
  private static func record(_ before: Metrics, _ after: Metrics, _ limit: String?) -> String {
    func grown(_ family: String, by label: String) -> [String] {
      let (first, last) = (before.values(family, by: label), after.values(family, by: label))
      return last.sorted { $0.key < $1.key }.compactMap { key, value in
        let count = Int(value - (first[key] ?? 0))
        return count > 0 && key != "200" ? "\(key) \(count)" : nil
      }
    }
    let limits = grown("pharos_http_limits_reached_total", by: "limit")
    let answers = grown("pharos_http_answers_total", by: "status")
    return (limits + answers).joined(separator: ", ")
  }

  /// One token opens streams without end; others must still get theirs.
  private static func streams(_ count: Int, of arena: Arena) async throws -> Outcome {
    let before = try await arena.metrics()
    let (port, group) = (arena.http, arena.group)
    let ask =
      "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
      + "Authorization: Bearer \(arena.poorToken)\r\n\r\n"
    var clients: [RawClient] = []
    for number in 0..<count {
      if let client = try? await RawClient(port: port, group: group) {
        await client.send(ask)
        clients.append(client)
      }
      if number % 100 == 99 { try await Task.sleep(for: .milliseconds(20)) }
    }
    try await Task.sleep(for: .seconds(2))
    let served = clients.count { $0.status == 200 && $0.isOpen }
    let refused = clients.count { $0.status == 503 }
    // Another client connects, while all those are still there.
    let other = try await RawClient(port: port, group: group)
    await other.send(ask.replacing(arena.poorToken, with: arena.token))
    for _ in 0..<100 where other.status == nil { try await Task.sleep(for: .milliseconds(100)) }
    let isOtherServed = other.status == 200
    let after = try await arena.metrics()
    for client in clients + [other] { client.close() }
    let cut = count - served - refused
    return Outcome(
      tried: count,
      held: isOtherServed && served <= 64 ? count : 0,
      note: "\(served) served, \(refused) answered with 503, \(cut) cut off; another token's is "
        + (isOtherServed ? "served" : "NOT served") + "; \(record(before, after, nil))"
    )
  }

  /// Streams that ask for everything and read nothing; they may not make the server hold it for them.
  private static func unread(_ count: Int, of arena: Arena) async throws -> Outcome {
    let before = try await arena.metrics()
    var clients: [RawClient] = []
    for _ in 0..<count {
      guard let client = try? await RawClient(port: arena.http, group: arena.group, reads: false) else {
        continue
      }
      await client.send(
        "GET /v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
          + "Authorization: Bearer \(arena.token)\r\n\r\n"
      )
      clients.append(client)
    }
    try await Task.sleep(for: .seconds(arena.isQuick ? 3 : 60))
    let after = try await arena.metrics()
    for client in clients { client.close() }
    let waiting = Int(after.sum("pharos_feeds_events_waiting"))
    return Outcome(
      tried: count,
      held: waiting <= 65_536 ? count : 0,
      note: "\(waiting) events wait for them (at most 65536); \(record(before, after, nil))"
    )
  }
}
