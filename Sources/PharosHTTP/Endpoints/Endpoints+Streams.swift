import PharosAccess
import PharosDelivery
import PharosEvents
import PharosReports

extension Endpoints {
  /// How a live stream is written.
  enum StreamFormat {
    /// As server-sent events.
    case serverSentEvents
    /// As lines of JSON.
    case lines
  }

  /// The rates to which ranging and fixes may be held, in readings a second about one thing.
  ///
  /// Ranging comes once a second and fixes up to ten times; once in a thousand seconds is next to never.
  private static let rates = 0.001...50

  /// Opens a live stream: first the journal's events after the client's last sequence number, then those that are
  /// published from now on.
  func stream(_ request: APIRequest, as format: StreamFormat) throws -> APIAnswer {
    var query = QueryReading(request)
    let filter = try Endpoints.filter(&query, request)
    let limits = FeedRequest.limits
    let limit = query.integer("limit", in: Int64(limits.lowerBound)...Int64(limits.upperBound))
    let rate = query.number("rate", in: Endpoints.rates)
    var after = query.integer("after", in: 0...Int64.max)
    if query.text("before") != nil {
      query.wrong(
        "before",
        "is for pages of history",
        expected: "no before, or Accept: application/json"
      )
    }
    // A browser that comes back repeats its address and says in this field what it has seen since.
    if let last = request[header: "last-event-id"], !last.isEmpty {
      guard let sequence = Int64(last), sequence >= 0 else {
        throw Problem.badRequest(
          "Last-Event-ID \"\(last.shortened)\" is none that Pharos gave: a whole number."
        )
      }
      after = sequence
    }
    try query.finish()
    var answer = APIAnswer(status: 200)
    switch format {
    case .serverSentEvents: answer.setHeader("Content-Type", ServerSentEvents.contentType)
    case .lines: answer.setHeader("Content-Type", NDJSON.contentType)
    }
    answer.setHeader("Cache-Control", "no-store")
    // Proxies of nginx's kind would otherwise keep events back until a buffer is full.
    answer.setHeader("X-Accel-Buffering", "no")
    guard request.method != .head else { return answer }
    let wanted = FeedRequest(
      filter: filter,
      after: after,
      interval: rate.map { .seconds(1 / $0) },
      limit: limit.map(Int.init) ?? FeedRequest.defaultLimit,
      application: request.principal.application ?? Endpoints.named(filter),
      shared: Endpoints.fixes(filter, for: request.principal),
      client: request.principal.client
    )
    let feed = try open(wanted)
    answer.body = .stream { write in
      switch format {
      case .serverSentEvents:
        try await write(ServerSentEvents.preamble)
        for await items in feed { try await write(ServerSentEvents.text(for: items)) }
      case .lines:
        for await items in feed { try await write(NDJSON.text(for: items)) }
      }
    }
    return answer
  }

  private func open(_ request: FeedRequest) throws(FeedRefusal) -> Feed {
    do {
      return try backend.feeds.open(request)
    } catch {
      switch error {
      case .tooMany(let limit): backend.tally.reached(.streams, "\(limit)")
      case .tooManyOfOne(let limit): backend.tally.reached(.streamsOfOneClient, "\(limit)")
      case .stopping: break
      }
      throw error
    }
  }

  /// The fixes that an application's stream gets besides its own events; a stream about regions gets none.
  ///
  /// They are for all applications, and who may learn of whom is judged for each as it is handed out.
  private static func fixes(_ filter: EventFilter, for principal: Principal) -> EventFilter? {
    guard principal.application != nil, filter.regions == nil, filter.kinds?.contains(.fix) ?? true else {
      return nil
    }
    var fixes = filter
    fixes.applications = [""]
    fixes.kinds = [.fix]
    return fixes
  }

  /// The application that an operator's stream is for: it counts as in use while the stream is open.
  private static func named(_ filter: EventFilter) -> String? {
    filter.applications.flatMap { $0.count == 1 ? $0.first : nil }
  }
}
