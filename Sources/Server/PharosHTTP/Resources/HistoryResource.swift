import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import PharosSite

/// The history of subjects, observers, zones and regions, in summaries of minutes.
struct HistoryResource: Resource {
  let journal: Journal
  let owner: SiteOwner
  let commitPublisher: CommitPublisher
  let clock: @Sendable () -> Timestamp

  /// The largest number of steps of an answer: a day of minutes.
  private static let maximumPoints: ClosedRange<Int64> = 1...1_500
  /// The largest number of steps of each series in an answer about many.
  private static let maximumSparkPoints: ClosedRange<Int64> = 1...120
  /// The largest number of rows, of an hour each, that an answer about many subjects reads.
  private static let maximumRows: Int64 = 2_500
  /// The largest number of frames and of positions in an answer.
  private static let (maximumFrames, maximumPositions): (ClosedRange<Int64>, Int) = (1...288, 10_000)
  /// The largest number of transitions beside a subject's or an observer's summaries.
  private static let maximumTransitions = 500
  /// The usual range of an answer.
  private static let day = TimeSpan.minutes(24 * 60)

  var routes: [Route] {
    [
      Route(
        .get,
        "/v1/history/subjects",
        Operation(
          "listSubjectHistories",
          .history,
          "The subjects of which something is stored, with their levels and zones",
          "Summaries are stored every minute. A page times its hours may be 2,500 at most."
        )
        .with(
          .lastHour,
          .end,
          .points(HistoryResource.maximumSparkPoints),
          .query("subject", "Only these subjects."),
          .cursor,
          .limit
        )
        .answering(
          .object(
            Schema.steps + [
              .required("subjects", .list(.historySubject)),
              .required("next", .text.orNull, "The cursor of the next page; null behind the last one."),
            ]
          )
        )
        .failing(.unavailable),
        access: .operation,
        conditional: true,
        handler: historySubjects
      ),
      Route(
        .get,
        "/v1/history/subjects/{subject}",
        Operation(
          "getSubjectHistory",
          .history,
          "Where a subject was: state, zone, level and position over time",
          "With `Accept: text/csv` the points as CSV (RFC 4180), with `application/geo+json` as such points."
        )
        .with(.subject, .lastDay, .end, .points(HistoryResource.maximumPoints))
        .answering(.located(.subjectHistory, points: .subjectFeatures))
        .failing(.unavailable),
        access: .operation,
        conditional: true,
        handler: historyOfSubject
      ),
      Route(
        .get,
        "/v1/history/observers/{id}",
        Operation(
          "getObserverHistory",
          .history,
          "The rates and outages of an observer over time",
          "With `Accept: text/csv` the points as CSV (RFC 4180)."
        )
        .with(.path("id", "The observer."), .lastDay, .end, .points(HistoryResource.maximumPoints))
        .answering(.table(.observerHistory))
        .failing(.unavailable),
        access: .operation,
        conditional: true,
        handler: historyOfObserver
      ),
      Route(
        .get,
        "/v1/history/zones/{id}",
        Operation(
          "getZoneHistory",
          .history,
          "The occupancy of a zone over time",
          "With `Accept: text/csv` the points as CSV (RFC 4180)."
        )
        .with(.path("id", "The zone."), .lastDay, .end, .points(HistoryResource.maximumPoints))
        .answering(.table(.placeHistory))
        .failing(.unavailable),
        access: .operation,
        conditional: true
      ) { request in
        try await history(of: .zone(request.parameter("id")), request)
      },
      Route(
        .get,
        "/v1/history/applications/{app}/regions/{id}",
        Operation(
          "getRegionHistory",
          .history,
          "The occupancy of a region over time",
          "With `Accept: text/csv` the points as CSV (RFC 4180)."
        )
        .with(
          .path("app", "The application."),
          .path("id", "The region."),
          .lastDay,
          .end,
          .points(HistoryResource.maximumPoints)
        )
        .answering(.table(.placeHistory))
        .failing(.unavailable),
        access: .application,
        conditional: true
      ) { request in
        let place = HistoryPlace(
          application: request.parameter("app"),
          identifier: request.parameter("id")
        )
        return try await history(of: place, request)
      },
      Route(
        .get,
        "/v1/history/occupancy",
        Operation(
          "listOccupancy",
          .history,
          "The occupancy of all zones and regions, in few steps each",
          "An application gets that of its own regions."
        )
        .with(.lastHour, .end, .points(HistoryResource.maximumSparkPoints))
        .answering(
          .object(
            Schema.steps + [
              .required("places", .list(.placeOccupancy))
            ]
          )
        )
        .failing(.unavailable),
        access: .anyToken,
        conditional: true,
        handler: occupancy
      ),
      Route(
        .get,
        "/v1/history/positions",
        Operation(
          "listPastPositions",
          .history,
          "Where all subjects were at a time, or at the end of each step of a range",
          """
          An answer has 10,000 positions at most; `next` is the time of the next frame then. With `Accept: \
          text/csv` the positions as CSV (RFC 4180), with `application/geo+json` as points.
          """
        )
        .with(
          .query("at", .name, "One frame, of the minute that contains this time."),
          .lastDay,
          .end,
          .points(HistoryResource.maximumFrames)
        )
        .answering(
          .located(
            .object([.required("frames", .list(.historyFrame)), HistoryResource.nextFrame]),
            points: .positionFeatures
          ).linked
        )
        .failing(.unavailable),
        access: .operation,
        conditional: true,
        handler: positions
      ),
    ]
  }

  // Subjects.

  /// Lists subjects with their levels and zones, in steps that fit a small picture.
  private func historySubjects(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let range = HistoryRange(
      &query,
      now: clock(),
      usual: .minutes(60),
      points: HistoryResource.maximumSparkPoints
    )
    let subjects = query.subjects("subject")
    let limit = query.limit()
    let after = Page.key(&query) { parts in parts.count == 1 ? SubjectID(parts[0]) : nil }
    let hours = (range.minutes.upperBound.number - range.minutes.lowerBound.number) / 60 + 1
    if Int64(min(limit, subjects?.count ?? limit)) * hours > HistoryResource.maximumRows {
      query.wrong(
        "limit",
        "is too large for \(hours) hours",
        expected: "at most \(max(1, HistoryResource.maximumRows / hours)), or a shorter range"
      )
    }
    try query.finish()
    let gate = commitPublisher.gate(for: request.principal)
    let (page, lines) = try await BackgroundExecutor.requests.run { [journal] in
      let all = try journal.historySubjects()
        .filter { subjects?.contains($0.key) ?? true && gate.shows($0.key) }
      let page = Page.cut(all, limit: limit, isBehind: after.map { key in { key < $0.key } }) {
        [$0.key.description]
      }
      let lines = try page.entries.map { try journal.history(of: $0.key, in: range.minutes) }
      return ((Array(page.entries), page.next), lines)
    }
    let now = clock()
    let names = owner.names
    return .json(names: names) { json in
      range.write(to: &json)
      json.objects("subjects", zip(page.0, lines)) { json, entry in
        json.subject(entry.0.key)
        json.member("first", entry.0.first.start.rfc3339)
        // The table knows the end of the hour; the minutes know better where the range goes so far.
        let isRead = entry.0.last.number - 59 <= range.minutes.upperBound.number
        let last = (isRead ? entry.1.last?.minute : nil) ?? entry.0.last
        json.member("last", min(last.start, now).rfc3339)
        var steps: [SubjectStep?] = Array(repeating: nil, count: range.count)
        for (step, minutes) in range.steps(entry.1) { steps[step] = SubjectStep(minutes) }
        json.openArray("rssi")
        for step in steps { json.element(step?.rssi?.mean ?? .nan, decimals: 1) }
        json.closeArray()
        let zones = steps.map { $0?.zone ?? "" }
        if let step = zones.lastIndex(where: { !$0.isEmpty }) {
          json.member("room", names.asOf(range.lastMinute(of: step).start).room(ofZone: zones[step]))
        }
        json.strings("zones", zones)
      }
      json.next(page.1)
    }
  }

  private func historyOfSubject(_ request: APIRequest) async throws -> APIAnswer {
    let text = request.parameter("subject")
    var query = request.query
    let range = range(&query)
    try query.finish()
    let subject = try request.subject()
    let gate = commitPublisher.gate(for: request.principal)
    guard gate.shows(subject) else { throw HistoryResource.noHistory(text) }
    var filter = EventFilter(subjects: [subject])
    filter.kinds = [
      .regionEnter, .regionExit, .regionUnmonitored, .zoneEnter, .zoneExit, .zoneUnmonitored, .zoneMonitored,
    ]
    let events = try await transitions(filter, in: range, through: gate)
    let minutes = try await BackgroundExecutor.requests.run { [journal] in
      guard try journal.historySubjects().contains(where: { $0.key == subject }) else {
        throw HistoryResource.noHistory(text)
      }
      return try journal.history(of: subject, in: range.minutes)
    }
    var table = HistoryTable(columns: HistoryResource.subjectColumns)
    let names = owner.names
    for (step, minutes) in range.steps(minutes) {
      let prevailing = SubjectStep(minutes)
      let names = names.asOf(range.lastMinute(of: step).start)
      table.append(
        [
          .text(range.start(of: step).rfc3339), .whole(minutes.count),
          .init(prevailing.zone.map(names.room(ofZone:))), .init(prevailing.zone),
          HistoryResource.cell(zone: prevailing.zone, prevailing.isZoneUnmonitored),
          .text(prevailing.state.name),
          HistoryResource.cell(nearest: prevailing.nearest, gate),
          .init(prevailing.rssi?.mean, decimals: 1), .init(prevailing.rssi?.lowest),
          .init(prevailing.rssi?.highest),
        ] + HistoryResource.cells(prevailing.position)
      )
    }
    if request.accepts(APIAnswer.featureType) {
      return .features(names: names, table.writeFeatures) { json in
        json.subject(subject)
        range.write(to: &json)
      }
    }
    return answer(request, table) { json in
      json.subject(subject)
      range.write(to: &json)
      table.write("points", to: &json)
      write(events, to: &json)
    }
  }

  /// The state towards a zone; none in no zone.
  private static func cell(zone: String?, _ isUnmonitored: Bool) -> HistoryTable.Cell {
    .init(zone.map { _ in (isUnmonitored ? RegionState.unmonitored : .inside).name })
  }

  // Observers.

  private func historyOfObserver(_ request: APIRequest) async throws -> APIAnswer {
    let observer = try request.observer()
    var query = request.query
    let range = range(&query)
    try query.finish()
    let gate = commitPublisher.gate(for: request.principal)
    guard gate.shows(.observer(observer)) else { throw HistoryResource.noHistory(observer.description) }
    let minutes = try await BackgroundExecutor.requests.run { [journal] in
      guard try journal.historyObservers().contains(where: { $0.key == observer }) else {
        throw HistoryResource.noHistory(observer.description)
      }
      return try journal.history(of: observer, in: range.minutes)
    }
    let filter = EventFilter(
      kinds: [.observerOnline, .observerOffline, .observerRestarted],
      subjects: [.observer(observer)]
    )
    let events = try await transitions(filter, in: range, through: gate)
    var table = HistoryTable(columns: HistoryResource.observerColumns)
    for (step, minutes) in range.steps(minutes) {
      let adverts = minutes.reduce(0) { $0 + Double($1.summary.adverts) }
      let up = minutes.count { $0.summary.isUp }
      table.append([
        .text(range.start(of: step).rfc3339), .whole(minutes.count),
        .number(adverts / Double(minutes.count * 60), decimals: 2),
        .number(Double(up) / Double(minutes.count), decimals: 3),
      ])
    }
    let outages = HistoryResource.outages(minutes)
    return answer(request, table) { json in
      json.member("observer", observer.description)
      json.member("name", ifPresent: json.siteNames?.given(to: .observer(observer)))
      range.write(to: &json)
      table.write("points", to: &json)
      json.objects("outages", outages) { json, outage in
        json.member("from", outage.lowerBound.start.rfc3339)
        json.member("to", HistoryMinute(outage.upperBound.number + 1).start.rfc3339)
      }
      write(events, to: &json)
    }
  }

  /// The runs of minutes in which an observer was down, by their first and last minutes; a minute without summary ends one.
  private static func outages(
    _ minutes: [(minute: HistoryMinute, summary: ObserverMinute)]
  ) -> [ClosedRange<HistoryMinute>] {
    var outages: [ClosedRange<HistoryMinute>] = []
    for (minute, summary) in minutes where !summary.isUp {
      if let last = outages.last, last.upperBound.number + 1 == minute.number {
        outages[outages.count - 1] = last.lowerBound...minute
      } else {
        outages.append(minute...minute)
      }
    }
    return outages
  }

  // Zones and regions.

  private func history(of place: HistoryPlace, _ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let range = range(&query)
    try query.finish()
    let gate = commitPublisher.gate(for: request.principal)
    let minutes = try await BackgroundExecutor.requests.run { [journal] in
      // A number in a region, and later another one, tell more than reduced accuracy.
      guard gate.showsFully(.none), try journal.historyPlaces().contains(where: { $0.key == place }) else {
        throw HistoryResource.noHistory(place.identifier)
      }
      return try journal.history(of: place, in: range.minutes)
    }
    var table = HistoryTable(columns: HistoryResource.placeColumns)
    for (step, minutes) in range.steps(minutes) {
      let occupants = HistoryResource.occupants(minutes)
      table.append([
        .text(range.start(of: step).rfc3339), .whole(minutes.count),
        .init(occupants.inside, decimals: 2), .init(occupants.maximum),
        .number(occupants.unmonitored, decimals: 2),
      ])
    }
    return answer(request, table) { json in
      write(place, to: &json)
      range.write(to: &json)
      table.write("points", to: &json)
    }
  }

  /// Lists the occupancy of all zones and regions, in steps that fit a small picture.
  private func occupancy(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let range = HistoryRange(
      &query,
      now: clock(),
      usual: .minutes(60),
      points: HistoryResource.maximumSparkPoints
    )
    try query.finish()
    let own = request.principal.application
    let isShown = commitPublisher.gate(for: request.principal).showsFully(.none)
    let zones = Set(owner.site.zones.map(\.identifier))
    let regions = Dictionary(
      owner.applications.map { ($0.identifier, Set($0.regions.map(\.region.identifier))) },
      uniquingKeysWith: { $1 }
    )
    let hours = (range.minutes.upperBound.number - range.minutes.lowerBound.number) / 60 + 1
    let maximum = Int(max(1, 4 * HistoryResource.maximumRows / hours))
    let places = try await BackgroundExecutor.requests.run { [journal] in
      try journal.historyPlaces().lazy
        .filter { series in
          guard isShown else { return false }
          let place = series.key
          guard !place.application.isEmpty else { return own == nil && zones.contains(place.identifier) }
          return own ?? place.application == place.application
            && regions[place.application]?.contains(place.identifier) ?? false
        }
        .prefix(maximum)
        .map { ($0.key, try journal.history(of: $0.key, in: range.minutes)) }
    }
    return .json { json in
      range.write(to: &json)
      json.objects("places", places) { json, entry in
        write(entry.0, to: &json)
        var inside = [Double](repeating: .nan, count: range.count)
        for (step, minutes) in range.steps(entry.1) {
          inside[step] = HistoryResource.occupants(minutes).inside ?? .nan
        }
        json.openArray("inside")
        for value in inside { json.element(value, decimals: 1) }
        json.closeArray()
      }
    }
  }

  /// Returns the numbers of subjects at a place; nil where observers were down in all of the minutes.
  private static func occupants(
    _ minutes: some Collection<(minute: HistoryMinute, summary: PlaceMinute)>
  ) -> (inside: Double?, maximum: Int?, unmonitored: Double) {
    let known = minutes.compactMap { $0.summary.inside.map(Int.init) }
    let unmonitored = minutes.reduce(0) { $0 + Int($1.summary.unmonitored) }
    return (
      known.isEmpty ? nil : Double(known.reduce(0, +)) / Double(known.count), known.max(),
      Double(unmonitored) / Double(max(1, minutes.count))
    )
  }

  private func write(_ place: HistoryPlace, to json: inout JSONText) {
    guard place.application.isEmpty else {
      json.member("application", place.application)
      json.member("region", place.identifier)
      return
    }
    json.member("zone", place.identifier)
    let zone = owner.site.zones.first { $0.identifier == place.identifier }
    json.member("name", ifPresent: zone?.name)
  }

  // Positions.

  /// The positions of all subjects at a time, or at the end of each step of a range.
  private func positions(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let at = query.time("at")
    if at != nil, ["from", "to", "points"].contains(where: { query.text($0) != nil }) {
      query.wrong("at", "is given together with a range", expected: "one of the two")
    }
    let range = HistoryRange(
      &query,
      now: clock(),
      usual: HistoryResource.day,
      points: HistoryResource.maximumFrames
    )
    try query.finish()
    let wanted =
      at.map { [HistoryMinute(containing: $0)] }
      ?? (0..<range.count).map(range.lastMinute)
    let gate = commitPublisher.gate(for: request.principal)
    let (frames, next) = try await frames(at: wanted, behind: gate)
    let names = owner.names
    func cells(_ subject: SubjectID, _ summary: SubjectMinute, _ names: SiteNames) -> [HistoryTable.Cell] {
      [
        .text(subject.description), .text(subject.kindName), .init(names.given(to: subject)),
        .init(summary.zone.map(names.room(ofZone:))),
        .init(summary.zone), HistoryResource.cell(zone: summary.zone, summary.isZoneUnmonitored),
        .text(summary.state.name),
        HistoryResource.cell(nearest: summary.nearest, gate), .init(summary.rssi),
      ] + HistoryResource.cells(summary.position)
    }
    let isTable = request.accepts("text/csv")
    if isTable || request.accepts(APIAnswer.featureType) {
      var table = HistoryTable(columns: HistoryResource.timedColumns)
      for frame in frames {
        let time = HistoryTable.Cell.text(frame.minute.start.rfc3339)
        let names = names.asOf(frame.minute.start)
        for (subject, summary) in frame.subjects { table.append([time] + cells(subject, summary, names)) }
      }
      guard isTable else {
        return .features(table.writeFeatures) { $0.next(next?.start.rfc3339) }
      }
      var answer = table.csv
      answer.headers[named: "Link"] = next.map { request.link(toNext: "from", $0.start.rfc3339) }
      return answer
    }
    return .json { json in
      let rows = frames.map { frame in
        var table = HistoryTable(columns: HistoryResource.frameColumns)
        let names = names.asOf(frame.minute.start)
        for (subject, summary) in frame.subjects { table.append(cells(subject, summary, names)) }
        return FrameRow(time: frame.minute.start, table: table)
      }
      json.objects("frames", rows, FrameRow.members)
      json.next(next?.start.rfc3339)
    }
  }

  /// The positions that a gate shows at some minutes, and the minute to go on from where they are too many.
  private func frames(
    at wanted: [HistoryMinute],
    behind gate: Gate
  ) async throws -> ([HistoryFrame], HistoryMinute?) {
    try await BackgroundExecutor.requests.run {
      [journal] () throws -> ([HistoryFrame], HistoryMinute?) in
      var frames: [HistoryFrame] = []
      var count = 0
      var rest = wanted[...]
      // An hour at a time: what is beyond the limit is not read.
      while let hour = rest.first?.hour {
        let own = rest.prefix { $0.hour == hour }
        rest = rest.dropFirst(own.count)
        for frame in try journal.history(at: Array(own)) {
          let shown = frame.subjects.filter { gate.shows($0.subject) }
          if !frames.isEmpty, count + shown.count > HistoryResource.maximumPositions {
            return (frames, frame.minute)
          }
          count += shown.count
          frames.append(HistoryFrame(minute: frame.minute, subjects: shown))
        }
      }
      return (frames, nil)
    }
  }

  /// The nearest observer or beacon; none where that is a person who may not be shown.
  private static func cell(nearest: SubjectID, _ gate: Gate) -> HistoryTable.Cell {
    nearest == .none || !gate.shows(nearest) ? .none : .text(nearest.description)
  }

  /// Of the members of a fix, those that a summary stores.
  private static let positionColumns: [HistoryTable.Column] = [
    "venue", "building", "level", "latitude", "longitude", "horizontalAccuracy",
  ].map { .sometimes($0, of: FixDetail.members) }

  private static let placementColumns: [HistoryTable.Column] = [
    .sometimes("room", .text, "The zone that it was in, by the name that it had then."),
    .sometimes("zone", .text),
    .sometimes("zoneState", .zoneState),
    .always("state", .regionState),
    .sometimes(
      "nearest",
      .text,
      "The observer that hears it loudest, or the beacon that it hears loudest."
    ),
  ]

  private static let stepColumns: [HistoryTable.Column] = [
    .always("time", .time),
    .always("minutes", .integer, "The number of minutes of the step that are stored."),
  ]

  fileprivate static let subjectColumns: [HistoryTable.Column] =
    stepColumns + placementColumns + [
      .sometimes("rssi", .number, "The mean level in dBm."),
      .sometimes("rssiLowest", .integer),
      .sometimes("rssiHighest", .integer),
    ] + positionColumns

  fileprivate static let observerColumns: [HistoryTable.Column] =
    stepColumns + [
      .always("advertsPerSecond", .number),
      .always("up", .number, "The share of the minutes at whose end it was up, 0 to 1."),
    ]

  fileprivate static let placeColumns: [HistoryTable.Column] =
    stepColumns + [
      .sometimes(
        "inside",
        .number,
        "The mean number of subjects inside; absent where it was not known, because observers were down."
      ),
      .sometimes("insideMaximum", .integer, "The largest number; absent likewise."),
      .always("unmonitored", .number, "The mean number of subjects whose observers were down."),
    ]

  fileprivate static let frameColumns: [HistoryTable.Column] =
    [
      .always("subject", .text),
      .always("subjectKind", .subjectKind),
      .sometimes("name", .text),
    ] + placementColumns + [.sometimes("rssi", .integer)] + positionColumns

  /// The columns of a table of the subjects of several frames.
  fileprivate static let timedColumns: [HistoryTable.Column] = [.always("time", .time)] + frameColumns

  /// The member that leads to the following frames.
  fileprivate static let nextFrame = Schema.Member.required(
    "next",
    .text.orNull,
    "Send it as `from` for the following frames; null behind the last one."
  )

  private static func cells(_ position: SubjectMinute.Position?) -> [HistoryTable.Cell] {
    guard let position else { return Array(repeating: .none, count: positionColumns.count) }
    let isIndoors = !position.building.isEmpty
    return [
      .text(position.venue), .init(isIndoors ? position.building : nil),
      .init(isIndoors ? position.level : nil),
      .number(position.latitude, decimals: 6), .number(position.longitude, decimals: 6),
      .number(position.accuracy, decimals: 1),
    ]
  }

  // What they have in common.

  private func range(_ query: inout QueryReading) -> HistoryRange {
    HistoryRange(&query, now: clock(), usual: HistoryResource.day, points: HistoryResource.maximumPoints)
  }

  private func answer(
    _ request: APIRequest,
    _ table: HistoryTable,
    _ build: (inout JSONText) -> Void
  ) -> APIAnswer {
    request.accepts("text/csv") ? table.csv : .json(names: owner.names, build)
  }

  /// The journal's events of a range that match a filter, in order; of too many the last.
  private func transitions(
    _ filter: EventFilter,
    in range: HistoryRange,
    through gate: Gate
  ) async throws -> [JournaledEvent] {
    var filter = filter
    filter.since = range.from
    filter.until = range.to
    let wanted = filter
    let found = try await BackgroundExecutor.requests.run { [journal] in
      try journal.events(before: .max, matching: wanted, limit: HistoryResource.maximumTransitions)
    }
    return found.reversed().compactMap { $0.passed(gate) }
  }

  private func write(_ events: [JournaledEvent], to json: inout JSONText) {
    json.objects("transitions", events) { json, entry in
      json.member("sequence", entry.sequence)
      json.member("time", entry.event.time.rfc3339)
      json.member("type", entry.event.kind.type)
      if !entry.event.application.isEmpty { json.member("application", entry.event.application) }
      if !entry.event.region.isEmpty {
        json.member(entry.event.kind.group == .zone ? "zone" : "region", entry.event.region)
      }
    }
  }

  private static func noHistory(_ text: String) -> Problem {
    .notFound(
      """
      Nothing is stored of "\(text.shortened)". Summaries are stored every minute, as long as the journal \
      keeps events.
      """
    )
  }
}

extension Operation.Parameter {
  fileprivate static func points(_ range: ClosedRange<Int64>) -> Self {
    query(
      "points",
      .integer(Int(range.lowerBound)...Int(range.upperBound))
        .usually(.integer(HistoryRange.usualPoints(range))),
      "How many steps the answer may have at most; a step is a whole number of minutes, hours or days."
    )
  }
  fileprivate static let lastHour = query(
    "from",
    .name,
    "The beginning: RFC 3339, or seconds since the epoch; an hour before `to` by default."
  )
  fileprivate static let end = query("to", .name, "The end; now by default.")
  fileprivate static let lastDay = query(
    "from",
    .name,
    "The beginning: RFC 3339, or seconds since the epoch; a day before `to` by default."
  )
}

extension Schema {
  static let historyTransition = Schema.object([
    .required("sequence", .integer),
    .required("time", .time),
    .required("type", .text),
    .optional("application", .text),
    .optional("region", .text),
    .optional("zone", .text),
  ]).named("HistoryTransition")

  static let historySubject = Schema.object([
    .required("subject", .text),
    .required("subjectKind", .subjectKind),
    .optional("name", .text),
    .optional("room", .text, "The last zone of the steps, by the name that it had then."),
    .required("first", .time),
    .required("last", .time),
    .required(
      "rssi",
      .list(.number.orNull),
      "The mean level of each step in dBm; null where nothing is stored."
    ),
    .required("zones", .list(.text), "The zone of each step; empty where it was in none."),
  ]).named("HistorySubject")

  /// The range of a history and the length of its steps.
  static let steps: [Member] = [
    .required("from", .time),
    .required("to", .time),
    .required("step", .integer, "The length of a step in seconds."),
  ]

  /// A place of a history: a zone, or a region of an application.
  private static let place: [Member] = ["zone", "application", "region", "name"].map { .optional($0, .text) }

  /// The subject of a history.
  private static let subjectMembers: [Member] = [
    .required("subject", .text),
    .required("subjectKind", .subjectKind),
    .optional("name", .text),
  ]

  static let subjectHistory = Schema.object(
    subjectMembers + steps + [
      .required(
        "points",
        .rows(HistoryResource.subjectColumns),
        """
        A step each: what held in most of its minutes, and the last position. Steps of which nothing is stored \
        are left out.
        """
      ),
      .required("transitions", .list(.historyTransition), "The journal's events, at most the last 500."),
    ]
  ).named("SubjectHistory")

  static let subjectFeatures = Schema.points(
    .object(HistoryResource.subjectColumns.map(\.member)),
    beside: subjectMembers + steps
  ).named("SubjectFeatures")

  static let positionFeatures = Schema.points(
    .object(HistoryResource.timedColumns.map(\.member)),
    beside: [HistoryResource.nextFrame]
  ).named("PositionFeatures")

  static let observerHistory = Schema.object(
    [
      .required("observer", .text),
      .optional("name", .text),
    ] + steps + [
      .required(
        "points",
        .rows(HistoryResource.observerColumns)
      ),
      .required(
        "outages",
        .list(
          .object([
            .required("from", .time),
            .required("to", .time),
          ])
        ),
        "Minutes without a break in which it was down."
      ),
      .required("transitions", .list(.historyTransition)),
    ]
  ).named("ObserverHistory")

  static let placeHistory = Schema.object(
    place + steps + [
      .required(
        "points",
        .rows(HistoryResource.placeColumns)
      )
    ]
  ).named("PlaceHistory")

  static let placeOccupancy = Schema.object(
    place + [
      .required(
        "inside",
        .list(.number.orNull),
        "The mean number of subjects inside in each step; null where nothing is stored."
      )
    ]
  ).named("PlaceOccupancy")

  static let historyFrame = Schema.object(FrameRow.members).named("HistoryFrame")
}

/// The subjects at one minute.
private struct FrameRow {
  let time: Timestamp
  let table: HistoryTable

  static let members: [DocumentField<FrameRow>] = [
    .always("time", .moment) { $0.time },
    DocumentField(writing: [.required("subjects", .rows(HistoryResource.frameColumns))]) { row, json in
      row.table.write("subjects", to: &json)
    },
  ]
}
