import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import PharosPublishing

/// The events of the journal, in pages and as live streams.
struct EventResource: Resource {
  let journal: Journal
  let commitPublisher: CommitPublisher
  let feeds: FeedService
  let tally: HTTPTally
  let names: @Sendable () -> SiteNames
  let narrate: @Sendable (Event) -> String

  var routes: [Route] {
    [
      Route(
        .get,
        "/v1/events",
        Operation(
          "listEvents",
          .events,
          "Events: pages of history, or a live stream",
          """
          With `Accept: application/json` a page of history, the newest first unless `after` is given. With \
          `text/event-stream` or `application/x-ndjson` a live stream: first the journal's events after \
          `Last-Event-ID` or `after`, then new events as they are published, without gap or repeat.
          """
        )
        .with(
          .query(
            "kind",
            each: .kinds(EventKind.allCases, or: EventKind.Group.allCases),
            """
            Only these types, with or without `pharos.` before them, or groups of types: `visit` stands for \
            `visit.arrive` and `visit.depart`, `region` for all types of regions but `region.state`.
            """
          ),
          .query("application", "Only for these applications."),
          .query("region", "Only about these regions or zones."),
          .query("subject", "Only about these subjects."),
          .query("observer", "Only about or by these observers."),
          .query("since", .name, "At this time or later: RFC 3339, or seconds since the epoch."),
          .query("until", .name, "Before this time."),
          .query("after", .count, "Behind this sequence number, the oldest first."),
          .query("before", .integer(1...), "Before this sequence number, the newest first."),
          .query(
            "limit",
            .integer(1...4_096),
            "How many events a page may have; for live streams, how many may wait (16 to 4096)."
          ),
          .query(
            "rate",
            .number(EventResource.rates),
            "For live streams: how many readings (ranging, fixes) a second about one thing at most."
          ),
          .distanceFilter,
          .desiredAccuracy,
          .streamTicket,
          .header(
            "Last-Event-ID",
            "For live streams: the last sequence number seen; what follows it comes first."
          )
        )
        .answering(
          .done([
            (
              "application/json",
              .object([
                .required("events", .list(.journaledEvent)),
                .required(
                  "next",
                  .integer.orNull,
                  "The value for `after` or `before` of the next page; null at the end."
                ),
                .required("head", .count),
                .required("oldest", .count),
                .optional(
                  "gap",
                  .object([
                    .required("from", .integer(1...)),
                    .required("to", .integer(1...)),
                    .optional(
                      "restarted",
                      .flag,
                      """
                      True if the journal never had these numbers, as after a restore: the page begins with \
                      the oldest event.
                      """
                    ),
                  ]),
                  "Sequence numbers behind `after` that the journal does not have."
                ),
              ])
            ), ("text/event-stream", .text), ("application/x-ndjson", .text),
          ])
        )
        .failing(.unavailable),
        access: .anyToken,
        handler: events
      ),
      Route(
        .get,
        "/v1/events/{sequence}",
        Operation("getEvent", .events, "One event and its evidence in words")
          .with(.path("sequence", "The event's sequence number.", .integer(1...)))
          .answering(
            .object([
              .required("sequence", .integer(1...)),
              .required("event", .cloudEvent),
              .required("words", .text),
            ])
          )
          .failing(.unavailable),
        access: .anyToken,
        conditional: true,
        handler: event
      ),
    ]
  }

  /// The maximum number of journal pages that one request reads when authorisations hide most of the events found.
  private static let maximumReads = 8

  private func events(_ request: APIRequest) async throws -> APIAnswer {
    if request.accepts("text/event-stream") { return try stream(request, as: .serverSentEvents) }
    if request.accepts("application/x-ndjson") { return try stream(request, as: .lines) }
    var query = request.query
    let filter = try EventResource.filter(&query, request)
    let after = query.integer("after", in: 0...Int64.max)
    let before = query.integer("before", in: 1...Int64.max)
    if after != nil, before != nil {
      query.wrong("before", "is given together with after", expected: "one of the two")
    }
    for name in ["rate", "distanceFilter", "desiredAccuracy"] where query.text(name) != nil {
      query.wrong(name, "is for live streams", expected: "no \(name), or Accept: text/event-stream")
    }
    let limit = query.limit()
    try query.finish()
    let gate = commitPublisher.gate(for: request.principal)
    var found: [JournaledEvent] = []
    let head = journal.head
    // Where reading stands: the last sequence that was looked at, hidden or not. A client that knows a number beyond the
    // head knows another journal, as before a restore: it gets all events, as from a live stream.
    let isRestarted = after.map { $0 > head } ?? false
    var place = isRestarted ? 0 : after ?? before ?? Int64.max
    var isEnd = false
    for _ in 0..<EventResource.maximumReads where found.count < limit && !isEnd {
      let (start, wanted) = (place, limit - found.count)
      let page = try await BackgroundExecutor.requests.run { [journal] in
        try after == nil
          ? journal.events(before: start, matching: gate.searched(filter), limit: wanted)
          : journal.events(after: start, matching: gate.searched(filter), limit: wanted)
      }
      found += page.compactMap { $0.passed(gate, matching: filter) }
      isEnd = page.count < wanted
      if let last = page.last { place = last.sequence }
    }
    let oldest = journal.oldest
    return .json(names: names()) { json in
      json.objects("events", found) { EventResource.write($1, stream: journal.stream, to: &$0) }
      json.next(isEnd ? nil : place)
      json.member("head", journal.head)
      json.member("oldest", oldest)
      guard let after, isRestarted || oldest > after + 1 else { return }
      json.openObject("gap")
      json.member("from", isRestarted ? head + 1 : after + 1)
      json.member("to", isRestarted ? after : oldest - 1)
      if isRestarted { json.member("restarted", true) }
      json.closeObject()
    }
  }

  private func event(_ request: APIRequest) async throws -> APIAnswer {
    let text = request.parameter("sequence")
    let missing = Problem.notFound("There is no event \(text.shortened), or it is no longer kept.")
    guard let sequence = Int64(text), sequence > 0 else { throw missing }
    let found = try await BackgroundExecutor.requests.run { [journal] in try journal.event(sequence) }
    guard request.principal.mayUse(application: found?.event.application ?? ""),
      let found = found?.passed(commitPublisher.gate(for: request.principal))
    else { throw missing }
    return .json(names: names()) { json in
      EventResource.write(found, stream: journal.stream, to: &json)
      json.member("words", narrate(found.event))
    }
  }

  private static func write(_ entry: JournaledEvent, stream: String, to json: inout JSONText) {
    json.member("sequence", entry.sequence)
    entry.event.write(to: &json, stream: stream, as: "event")
  }

  /// Returns the filter that a query asks for, limited to what the client may see.
  private static func filter(
    _ query: inout QueryReading,
    _ request: APIRequest
  ) throws(Problem) -> EventFilter {
    var filter = EventFilter()
    let kinds = query.list(
      "kind",
      "is neither an event type nor a group of them",
      expected: "one of \(EventKind.names.joined(separator: ", "))",
      EventKind.named
    )
    filter.kinds = kinds?.reduce(into: []) { $0.formUnion($1) }
    filter.applications = query.texts("application")
    filter.regions = query.texts("region")
    filter.subjects = query.subjects("subject")
    filter.observers = query.observers("observer")
    filter.since = query.time("since")
    filter.until = query.time("until")
    guard let own = request.principal.application else { return filter }
    if let wanted = filter.applications,
      !wanted.allSatisfy({ request.principal.mayUse(application: $0) })
    {
      throw .forbidden(
        "This token is bound to application \"\(own)\" and sees the events of no other."
      )
    }
    filter.applications = [own]
    return filter
  }
}

extension EventResource {
  /// The format of a live stream.
  private enum StreamFormat {
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
  private func stream(_ request: APIRequest, as format: StreamFormat) throws -> APIAnswer {
    var query = request.query
    let filter = try EventResource.filter(&query, request)
    let limits = FeedRequest.limits
    let limit = query.integer("limit", in: Int64(limits.lowerBound)...Int64(limits.upperBound))
    let rate = query.number("rate", in: EventResource.rates)
    let filters = FixFilter(distance: query.distanceFilter(), accuracy: query.desiredAccuracy())
    var after = query.integer("after", in: 0...Int64.max)
    if query.text("before") != nil {
      query.wrong(
        "before",
        "is for pages of history",
        expected: "no before, or Accept: application/json"
      )
    }
    // A browser that comes back repeats its address and says in this field what it has seen since.
    if let last = request.head.headerFields[named: "Last-Event-ID"], !last.isEmpty {
      guard let sequence = Int64(last), sequence >= 0 else {
        throw Problem.badRequest(
          "Last-Event-ID \"\(last.shortened)\" is not an id of this stream: expected a whole number."
        )
      }
      after = sequence
    }
    try query.finish()
    let type = format == .serverSentEvents ? ServerSentEvents.contentType : NDJSON.contentType
    var answer = APIAnswer.bytes([], type: type).unkept()
    // Proxies of nginx's kind would otherwise keep events back until a buffer is full.
    answer.headers[named: "X-Accel-Buffering"] = "no"
    guard request.method != .head else { return answer }
    let wanted = FeedRequest(
      filter: filter,
      after: after,
      interval: rate.map { .seconds(1 / $0) },
      limit: limit.map(Int.init) ?? FeedRequest.defaultLimit,
      application: request.principal.application ?? EventResource.named(filter),
      shared: EventResource.fixes(filter, for: request.principal),
      client: request.principal.client
    )
    let feed = try feeds.open(wanted, counting: tally)
    answer.body = .stream { write in
      var filters = filters
      if format == .serverSentEvents { try await write(ServerSentEvents.preamble) }
      for await items in feed {
        let passed = items.filter { item in
          if case .event(let published) = item { filters.passes(published.event) } else { true }
        }
        guard !passed.isEmpty else { continue }
        switch format {
        case .serverSentEvents: try await write(ServerSentEvents.text(for: passed))
        case .lines: try await write(NDJSON.text(for: passed))
        }
      }
    }
    return answer
  }

  /// Returns the filter of the fixes that an application's stream gets besides its own events; nil for a stream about
  /// regions.
  ///
  /// Fixes are for all applications; authorisations are checked for each fix as it is delivered.
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

extension FeedService {
  /// Opens a stream, and counts the refusal for which it cannot.
  func open(_ request: FeedRequest, counting tally: HTTPTally) throws(FeedRefusal) -> Feed {
    do {
      return try open(request)
    } catch {
      switch error {
      case .tooMany(let limit): tally.reached(.streams, "\(limit)")
      case .tooManyOfOne(let limit): tally.reached(.streamsOfOneClient, "\(limit)")
      case .stopping: break
      }
      throw error
    }
  }
}

extension JournaledEvent {
  /// Returns the event as the reader of a gate may learn it, or nil.
  func passed(_ gate: Gate, matching filter: EventFilter = .all) -> JournaledEvent? {
    gate.passed(event, matching: filter).map { JournaledEvent(sequence: sequence, event: $0) }
  }
}
