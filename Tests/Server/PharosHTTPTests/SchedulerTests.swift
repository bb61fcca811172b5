import Glibc
import Logging
import PharosDelivery
import PharosHTTP
import PharosModel
import PharosTestSupport
import Synchronization
import Testing

/// The order in which requests are worked on.
@Suite("Turns of requests", .timeLimit(.minutes(20)))
struct SchedulerTests {
  /// One request of a drawn history.
  private struct Request: Hashable {
    let number: UInt64
    let client: String
    let isLong: Bool
  }

  @Test("no client and no long work ever holds every place, and what may begin begins", arguments: 0..<20)
  func bounds(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let clients = (0..<Int.random(in: 1...40, using: &random)).map { "client \($0)" }
    let longShare = Double.random(in: 0...1, using: &random)
    var queue = FairQueue<Request>()
    var waiting: [Request] = []
    var running: [Request] = []
    for _ in 0..<4_000 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        let request = Request(
          number: queue.nextNumber(),
          client: clients.randomElement(using: &random) ?? "",
          isLong: Double.random(in: 0..<1, using: &random) < longShare
        )
        let own = waiting.count { $0.client == request.client }
        let isAccepted = queue.enter(request, request.number, client: request.client, isLong: request.isLong)
        #expect(isAccepted == (own < FairQueue<Request>.waitingOfOne))
        if isAccepted { waiting.append(request) }
      case 2:
        guard let request = waiting.randomElement(using: &random) else { break }
        let removed = queue.remove(request.number, client: request.client)
        let again = queue.remove(request.number, client: request.client)
        #expect(removed == request && again == nil)
        waiting.removeAll { $0 == request }
      default:
        guard let request = running.randomElement(using: &random) else { break }
        queue.finish(client: request.client, isLong: request.isLong)
        running.removeAll { $0 == request }
      }
      while let request = queue.next() {
        // Of one client, the oldest comes first among those of its kind.
        let older = waiting.filter { $0.client == request.client && $0.isLong == request.isLong }
        #expect(older.map(\.number).min() == request.number)
        waiting.removeAll { $0 == request }
        running.append(request)
      }
      #expect(queue.count == waiting.count + running.count)
      let limit = FairQueue<Request>.runningOfOne
      let longCount = running.count(where: \.isLong)
      #expect(running.count <= FairQueue<Request>.running && longCount <= limit)
      for client in clients { #expect(running.count { $0.client == client } <= limit) }
      let mayBegin = waiting.contains { request in
        running.count { $0.client == request.client } < limit && (!request.isLong || longCount < limit)
      }
      #expect(!mayBegin || running.count == FairQueue<Request>.running)
    }
  }

  @Test("clients take turns, however many requests one of them sends")
  func turns() {
    var queue = FairQueue<String>()
    for client in ["a", "a", "a", "a", "b", "c", "b"] {
      let number = queue.nextNumber()
      let isAccepted = queue.enter(client, number, client: client, isLong: false)
      #expect(isAccepted)
    }
    var served: [String] = []
    while let client = queue.next() {
      served.append(client)
      queue.finish(client: client, isLong: false)
    }
    #expect(served == ["a", "b", "c", "a", "b", "a", "a"])
  }

  @Test("work runs on threads of low priority, behind each wait as well")
  func threads() async throws {
    let scheduler = RequestScheduler(
      tally: HTTPTally(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    )
    @Sendable func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
    let before = niceness()
    let found = try await scheduler.run(RequestScheduler.Work(client: "a")) {
      let first = niceness()
      await Task.yield()
      return [first, niceness()]
    }
    #expect(found == [BackgroundExecutor.niceness, BackgroundExecutor.niceness])
    #expect(before == 0 && niceness() == 0)
    #expect(scheduler.count == 0)
  }

  @Test("a client that fills its share waits, is refused beyond it, and does not hold up others")
  func shares() async throws {
    let tally = HTTPTally(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let scheduler = RequestScheduler(tally: tally)
    let gates = (0..<FairQueue<Void>.runningOfOne).map { _ in AsyncStream<Void>.makeStream() }
    let (begun, beginning) = AsyncStream<Void>.makeStream()
    let greedy = RequestScheduler.Work(client: "greedy", isLong: true)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for (gate, _) in gates {
        tasks.addTask {
          try await scheduler.run(greedy) {
            beginning.yield()
            for await _ in gate {}
          }
        }
      }
      var starts = begun.makeAsyncIterator()
      for _ in gates { _ = await starts.next() }
      let waiting = (0..<FairQueue<Void>.waitingOfOne).map { _ in
        Task { try await scheduler.run(greedy) { Issue.record("its turn never came") } }
      }
      while scheduler.count < FairQueue<Void>.runningOfOne + waiting.count { await Task.yield() }
      await #expect(throws: Problem.busy) { try await scheduler.run(greedy) {} }
      #expect(tally.statistics.reached == [.requests: 1])
      // Another client finds a place at once, though 258 requests came before.
      #expect(try await scheduler.run(RequestScheduler.Work(client: "other")) { true })
      // Clients that leave are worked for no longer.
      for task in waiting { task.cancel() }
      for task in waiting {
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      #expect(scheduler.count == FairQueue<Void>.runningOfOne)
      for (_, source) in gates { source.finish() }
      try await tasks.waitForAll()
    }
    #expect(scheduler.count == 0)
  }

  @Test("a client that closes its half of the connection behind a request gets its answer")
  func halfClosed() async throws {
    try await TestService.run(isLive: true) { service in
      for path in ["/v1/observers", "/v1/status", "/v1/site", "/v1/events", "/", "/healthz"] {
        for _ in 0..<5 {
          let status = try await WireConnection.with(port: Int(service.address.port)) { connection in
            try await connection.send(service.head("GET", path))
            connection.endSending()
            return try await connection.answer().status
          }
          #expect(status == 200, "\(path)")
        }
      }
    }
  }

  @Test("every operation waits for its turn, except the checks of the server's health")
  func allRoutes() throws {
    let backend = try TestService.parts(site: .gallery)
    let routes = Endpoints(backend: backend, cache: backend.states).routes
    #expect(routes.count > 100)
    #expect(routes.filter(\.isImmediate).map(\.path) == ["/healthz", "/readyz"])
  }
}
