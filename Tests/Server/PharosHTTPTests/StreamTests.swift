import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosPublishing
import PharosSite
import PharosTestSupport
import Testing

/// Live streams, as browsers and programs read them.
@Suite("Live streams over HTTP", .serialized, .timeLimit(.minutes(20)))
struct StreamTests {
  /// One server-sent event as a client understands it.
  private struct Received: Equatable {
    var id: Int?
    var type: String
    var data: String
  }

  /// The events in a text of server-sent events; comments and the preamble are passed over.
  private func parse(_ text: String) -> [Received] {
    text.split(separator: "\n\n").compactMap { block in
      var received = Received(type: "", data: "")
      for line in block.split(separator: "\n") {
        if line.hasPrefix("id: ") { received.id = Int(line.dropFirst(4)) }
        if line.hasPrefix("event: ") { received.type = String(line.dropFirst(7)) }
        if line.hasPrefix("data: ") { received.data = String(line.dropFirst(6)) }
      }
      return received.type.isEmpty ? nil : received
    }
  }

  private func marks(_ range: ClosedRange<Int>) -> [Event] {
    range.map { number in
      Event(
        stream: Site.gallery.stream,
        kind: .clockStepped,
        time: Timestamp(seconds: 1_700_000_000 + Int64(number)),
        decidedAt: Timestamp(seconds: 1_700_000_000 + Int64(number)),
        stage: 0,
        subject: .none,
        counter: UInt64(number),
        detail: .clockStep(.seconds(Double(number)))
      )
    }
  }

  @Test("a stream begins with the present and tells what is decided, with the journal's numbers")
  func live() async throws {
    try await TestService.run(isLive: true) { service in
      service.backend.commitPublisher.publish(marks(1...3))
      await service.backend.commitPublisher.drain()
      try await WireConnection.with(port: Int(service.address.port)) { connection in
        let target = "/v1/events?kind=clock.stepped"
        try await connection.send(
          service.head("GET", target, headers: ["Accept": "text/event-stream"])
        )
        let head = try await connection.head()
        #expect(head.status == 200)
        #expect(head.headers["content-type"] == "text/event-stream")
        #expect(head.headers["cache-control"] == "no-store")
        #expect(head.headers["transfer-encoding"] == "chunked")
        let preamble = try #require(try await connection.chunk())
        #expect(String(decoding: preamble, as: UTF8.self) == "retry: 2000\n\n")
        service.backend.commitPublisher.publish(marks(4...5))
        var received: [Received] = []
        while received.count < 2, let chunk = try await connection.chunk() {
          received += parse(String(decoding: chunk, as: UTF8.self))
        }
        #expect(received.map(\.id) == [4, 5])
        #expect(received.map(\.type) == ["pharos.clock.stepped", "pharos.clock.stepped"])
        let page = try await service.request("GET", "/v1/events/4")
        #expect(page.text.contains(received[0].data))
        #expect(try page.json["words"].string == "An event of kind pharos.clock.stepped.")
      }
    }
  }

  @Test("lines of JSON tell the same, and resume behind a number")
  func lines() async throws {
    try await TestService.run(isLive: true) { service in
      service.backend.commitPublisher.publish(marks(1...9))
      await service.backend.commitPublisher.drain()
      try await WireConnection.with(port: Int(service.address.port)) { connection in
        let head = service.head(
          "GET",
          "/v1/events?after=6",
          headers: ["Accept": "application/x-ndjson"]
        )
        try await connection.send(head)
        #expect(try await connection.head().headers["content-type"] == "application/x-ndjson")
        var sequences: [Int?] = []
        while sequences.count < 3, let chunk = try await connection.chunk() {
          for line in chunk.split(separator: UInt8(ascii: "\n")) {
            sequences.append(try JSON(Array(line))["sequence"].integer)
          }
        }
        #expect(sequences == [7, 8, 9])
      }
    }
  }

  @Test("a client that is cut off at random, again and again, gets every number once and in order")
  func cutOff() async throws {
    let count = 5_000
    try await TestService.run(isLive: true) { service in
      var generator = SeededGenerator(seed: 7)
      async let publishing: Void = {
        for start in stride(from: 1, through: count, by: 100) {
          service.backend.commitPublisher.publish(marks(start...start + 99))
          await service.backend.commitPublisher.drain()
        }
      }()
      var sequences: [Int] = []
      while sequences.count < count {
        let patience = Int.random(in: 1...300, using: &generator)
        try await WireConnection.with(port: Int(service.address.port)) { connection in
          var fields = ["Accept": "text/event-stream"]
          fields["Last-Event-ID"] = "\(sequences.last ?? 0)"
          try await connection.send(
            service.head("GET", "/v1/events?kind=clock.stepped", headers: fields)
          )
          _ = try await connection.head()
          let wanted = min(count, sequences.count + patience)
          while sequences.count < wanted, let chunk = try await connection.chunk() {
            sequences += parse(String(decoding: chunk, as: UTF8.self)).compactMap(\.id)
          }
        }
      }
      await publishing
      #expect(sequences == Array(1...count))
    }
  }

  @Test("a client that goes away ends its stream")
  func goingAway() async throws {
    try await TestService.run(isLive: true) { service in
      for _ in 0..<20 {
        try await WireConnection.with(port: Int(service.address.port)) { connection in
          try await connection.send(
            service.head("GET", "/v1/events", headers: ["Accept": "text/event-stream"])
          )
          _ = try await connection.head()
          _ = try await connection.chunk()
          #expect(service.backend.feeds.statistics.open >= 1)
        }
      }
      // A stream is let go when the server has seen its connection end; nothing else tells of it.
      while service.backend.feeds.statistics.open > 0 { await Task.yield() }
      #expect(service.backend.feeds.statistics.opened == 20)
    }
  }

  @Test("streams end cleanly when the server shuts down, those of readers that take nothing too")
  func shutdown() async throws {
    let (ports, port) = AsyncStream<Int>.makeStream()
    let (stops, stop) = AsyncStream<Void>.makeStream()
    let served = Task {
      try await TestService.run(isLive: true) { service in
        port.yield(Int(service.address.port))
        for await _ in stops { break }
        // More than a socket buffers: the reader that takes nothing blocks its stream.
        for start in stride(from: 1, through: 60_000, by: 4_000) {
          service.backend.commitPublisher.publish(marks(start...start + 3_999))
          await service.backend.commitPublisher.drain()
        }
      }
    }
    var iterator = ports.makeAsyncIterator()
    let number = try #require(await iterator.next())
    try await WireConnection.with(port: number) { idle in
      try await WireConnection.with(port: number) { reader in
        for connection in [idle, reader] {
          let request =
            "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
          try await connection.send(request)
          _ = try await connection.head()
        }
        stop.yield()
        var last = 0
        while let chunk = try await reader.chunk() {
          last = parse(String(decoding: chunk, as: UTF8.self)).compactMap(\.id).last ?? last
        }
        #expect(last > 0)
        #expect(try await reader.isClosed())
      }
      try await served.value
    }
  }

  @Test("a reader that takes nothing delays no other reader")
  func slowReader() async throws {
    try await TestService.run(isLive: true) { service in
      try await WireConnection.with(port: Int(service.address.port)) { idle in
        try await idle.send(
          service.head("GET", "/v1/events", headers: ["Accept": "text/event-stream"])
        )
        _ = try await idle.head()
        try await WireConnection.with(port: Int(service.address.port)) { reader in
          try await reader.send(
            service.head("GET", "/v1/events?after=0", headers: ["Accept": "text/event-stream"])
          )
          _ = try await reader.head()
          let count = 40_000
          for start in stride(from: 1, through: count, by: 4_000) {
            service.backend.commitPublisher.publish(marks(start...start + 3_999))
          }
          var sequences: [Int] = []
          // A chunk may end inside of a frame, which ends with an empty line.
          var rest: [UInt8] = []
          while sequences.last ?? 0 < count, let chunk = try await reader.chunk() {
            rest += chunk
            let end = rest.indices.last { $0 > 0 && rest[$0] == 0x0A && rest[$0 - 1] == 0x0A }
            guard let end else { continue }
            sequences += parse(String(decoding: rest[...end], as: UTF8.self)).compactMap(\.id)
            rest.removeSubrange(...end)
          }
          #expect(sequences == Array(1...count))
        }
      }
    }
  }

  @Test("pages of history hold every event once, either way")
  func pages() async throws {
    try await TestService.run(isLive: true) { service in
      service.backend.commitPublisher.publish(marks(1...250))
      await service.backend.commitPublisher.drain()
      var up: [Int] = []
      var after: Int? = 0
      while let start = after {
        let page = try await service.request("GET", "/v1/events?after=\(start)&limit=99").json
        up += page["events"].elements.compactMap { $0["sequence"].integer }
        after = page["next"].integer
      }
      var down: [Int] = []
      var target: String? = "/v1/events?limit=70"
      while let next = target {
        let page = try await service.request("GET", next).json
        down += page["events"].elements.compactMap { $0["sequence"].integer }
        target = page["next"].integer.map { "/v1/events?limit=70&before=\($0)" }
      }
      #expect(up == Array(1...250))
      #expect(down == (1...250).reversed())
      let span = "since=2023-11-14T22:15:00Z&until=1700000110.5"
      let some = try await service.request("GET", "/v1/events?\(span)&after=0").json
      #expect(some["events"].elements.compactMap { $0["sequence"].integer } == Array(100...110))
    }
  }

  @Test("a page after a number beyond the journal begins with its oldest event and says so")
  func restored() async throws {
    try await TestService.run(isLive: true) { service in
      service.backend.commitPublisher.publish(marks(1...3))
      await service.backend.commitPublisher.drain()
      let page = try await service.request("GET", "/v1/events?after=9&limit=2").json
      #expect(page["events"].elements.compactMap { $0["sequence"].integer } == [1, 2])
      #expect(page["next"].integer == 2)
      #expect(page["gap"]["from"].integer == 4 && page["gap"]["to"].integer == 9)
      #expect(page["gap"]["restarted"].bool == true)
      let end = try await service.request("GET", "/v1/events?after=3").json
      #expect(end["events"].elements.isEmpty && end["gap"].value == nil)
    }
  }

  @Test(
    "events that are not there are not found",
    arguments: ["0", "-1", "7", "x", "99999999999999999999"]
  )
  func missing(sequence: String) async throws {
    try await TestService.run(isLive: true) { service in
      let answer = try await service.request("GET", "/v1/events/\(sequence)")
      #expect(answer.status == 404)
    }
  }

  @Test("queries of streams are as strict as those of pages")
  func strictness() async throws {
    try await TestService.run(isLive: true) { service in
      for (query, field) in [
        ("before=3", "before"), ("limit=5", "limit"), ("rate=0", "rate"), ("rate=x", "rate"),
        ("distanceFilter=-1", "distanceFilter"), ("desiredAccuracy=x", "desiredAccuracy"),
      ] {
        let headers = ["Accept": "text/event-stream"]
        let answer = try await service.request("GET", "/v1/events?\(query)", headers: headers)
        #expect(answer.status == 400)
        #expect(answer.text.contains(#""field":"\#(field)""#))
      }
      let headers = ["Accept": "text/event-stream", "Last-Event-ID": "seven"]
      #expect(try await service.request("GET", "/v1/events", headers: headers).status == 400)
    }
  }
}
