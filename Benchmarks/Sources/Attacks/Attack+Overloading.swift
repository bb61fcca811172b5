import Foundation
import NIOCore
import ServedProcess

extension Attack {
  /// Clients whose requests are allowed and cost much, and a stop in the middle of others.
  static let overloading: [Attack] = [
    Attack(name: "itineraries, 100 a second", wanted: "taken", keepsLatency: true) { arena in
      let count = arena.tries(1_500, quick: 500)
      let (port, group, token) = (arena.http, arena.group, arena.token)
      let body = #"{"waypoints":[{"latitude":59,"longitude":18},{"latitude":59.001,"longitude":18}]}"#
      let taken = await withTaskGroup(of: Bool.self) { tasks in
        for number in 0..<count {
          tasks.addTask {
            guard let client = try? await RawClient(port: port, group: group) else { return false }
            defer { client.close() }
            let path = "/v1/subjects/visitor-\(number % 8)/itinerary"
            await client.send(head("PUT", path, token, "Content-Length: \(body.utf8.count)") + body)
            for _ in 0..<200 where client.status == nil { try? await Task.sleep(for: .milliseconds(100)) }
            return client.status == 200
          }
          try? await Task.sleep(for: .milliseconds(10))
        }
        return await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      return Outcome(tried: count, held: taken, note: "\(taken) itineraries taken")
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
}
