import PharosAccess
import PharosDelivery
import PharosEvents
import PharosJournal
import PharosReports

extension Endpoints {
  var eventRoutes: [Route] {
    [
      Route(
        .get,
        "/v1/events",
        access: .anyToken,
        query: [
          "kind", "application", "region", "subject", "observer", "since", "until", "after",
          "before",
          "limit",
          "rate",
        ]
      ) { request in
        try await events(request)
      },
      Route(.get, "/v1/events/{sequence}", access: .anyToken, conditional: true) { request in
        try await event(request)
      },
    ]
  }

  /// How many pages of the journal one request may read when authorisations hide most of what is found.
  private static let mostReads = 8

  private func events(_ request: APIRequest) async throws -> APIAnswer {
    if request.accepts("text/event-stream") { return try stream(request, as: .serverSentEvents) }
    if request.accepts("application/x-ndjson") { return try stream(request, as: .lines) }
    var query = QueryReading(request)
    let filter = try Endpoints.filter(&query, request)
    let after = query.integer("after", in: 0...Int64.max)
    let before = query.integer("before", in: 1...Int64.max)
    if after != nil, before != nil {
      query.wrong("before", "is given together with after", expected: "one of the two")
    }
    if query.text("rate") != nil {
      query.wrong("rate", "is for live streams", expected: "no rate, or Accept: text/event-stream")
    }
    let limit = query.limit()
    try query.finish()
    let view = backend.authorisations.view
    let reader = request.principal.application
    var found: [JournaledEvent] = []
    // Where reading stands: the last sequence that was looked at, hidden or not.
    var place = after ?? before ?? Int64.max
    var isEnd = false
    for _ in 0..<Endpoints.mostReads where found.count < limit && !isEnd {
      let (start, wanted) = (place, limit - found.count)
      let page = try await Blocking.run { [journal = backend.journal] in
        try after == nil
          ? journal.events(before: start, matching: filter, limit: wanted)
          : journal.events(after: start, matching: filter, limit: wanted)
      }
      found += page.filter { view.allows($0.event, to: reader, isLive: false) }
      isEnd = page.count < wanted
      if let last = page.last { place = last.sequence }
    }
    let next: Int64? = isEnd ? nil : place
    let stream = backend.journal.stream
    return .json { json in
      json.openObject()
      json.openArray("events")
      for entry in found { Endpoints.write(entry, stream: stream, to: &json) }
      json.closeArray()
      if let next { json.member("next", next) } else { json.null("next") }
      json.member("head", backend.journal.head)
      json.member("oldest", backend.journal.oldest)
      json.closeObject()
    }
  }

  private func event(_ request: APIRequest) async throws -> APIAnswer {
    let text = request.parameter("sequence")
    let missing = Problem.notFound(
      "There is no event \(text.shortened), or it is not kept any more."
    )
    guard let sequence = Int64(text), sequence > 0 else { throw missing }
    let found = try await Blocking.run { [journal = backend.journal] in try journal.event(sequence)
    }
    let reader = request.principal.application
    guard let found,
      request.principal.mayUse(application: found.event.application) || reader == nil,
      backend.authorisations.view.allows(found.event, to: reader, isLive: false)
    else { throw missing }
    return .json { json in
      json.openObject()
      json.member("sequence", found.sequence)
      found.event.write(to: &json, stream: backend.journal.stream, as: "event")
      json.member("words", backend.narrate(found.event))
      json.closeObject()
    }
  }

  private static func write(_ entry: JournaledEvent, stream: String, to json: inout JSONText) {
    json.openObject()
    json.member("sequence", entry.sequence)
    entry.event.write(to: &json, stream: stream, as: "event")
    json.closeObject()
  }

  /// The filter that a query asks for, within what the asker may see.
  static func filter(
    _ query: inout QueryReading,
    _ request: APIRequest
  ) throws(Problem)
    -> EventFilter
  {
    var filter = EventFilter()
    filter.kinds = query.set("kind", expected: "an event's type, such as pharos.region.enter") {
      EventKind(type: $0)
    }
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
