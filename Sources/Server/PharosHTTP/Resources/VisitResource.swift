import HTTPTypes
import Pharos
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import PharosRooms
import PharosSite

/// The visits of subjects, and how long they stay in zones and at places.
struct VisitResource: Resource {
  let server: PharosServer
  let owner: SiteOwner
  let journal: Journal
  let commitPublisher: CommitPublisher
  let cache: LiveStateCache
  let clock: @Sendable () -> Timestamp

  var routes: [Route] {
    [
      Route(
        .get,
        "/v1/visits",
        Operation(
          "listVisits",
          .history,
          "The visits of subjects, the newest decision first",
          """
          Each visit stands once: complete if it has ended, otherwise with its arrival and Core Location's \
          distant future as `departureDate`.
          """
        )
        .with(
          .query("subject", "Only of these subjects."),
          .query(
            "place",
            "Only at these places: identifiers of points of interest and zones, names of areas."
          ),
          .query(
            "since",
            .name,
            """
            Only visits whose last event (arrival or departure) is not before this time: RFC 3339, or \
            seconds since the epoch.
            """
          ),
          .query("until", .name, "Only visits whose last event is before this time."),
          .cursor,
          .limit
        )
        .answering(.page("visits", of: .visit))
        .failing(.unavailable),
        access: .operation,
        conditional: true,
        handler: visits
      ),
      Route(
        .get,
        "/v1/dwell",
        Operation(
          "getDwell",
          .history,
          "How long subjects stay, by place or zone",
          """
          By place: of the visits that ended in the range. By zone: of the stays of beacons that began and \
          ended in it. With `Accept: text/csv` the places as CSV (RFC 4180).
          """
        )
        .with(
          .query("by", .words(["place", "zone"]).usually(.string("place")), "What stays are counted by."),
          .query("place", "Only at these places or in these zones."),
          .query(
            "from",
            .name,
            "The beginning: RFC 3339, or seconds since the epoch; a day before `to` by default."
          ),
          .query("to", .name, "The end; now by default.")
        )
        .answering(.table(.dwell))
        .failing(.unavailable),
        access: .operation,
        conditional: true,
        handler: dwell
      ),
    ]
  }

  /// The maximum number of events that an answer about dwell times reads: a week of 20,000 visits a day, both ends.
  private static let maximumDwellEvents = 300_000
  /// The number of events that are read at a time.
  private static let dwellPage = 4_096
  /// The maximum number of pages that a list of visits reads when authorisations hide most of what it finds.
  private static let maximumVisitReads = 8

  // Visits.

  /// Lists visits, the newest decision first; each stands once: complete, or with its arrival while it lasts.
  private func visits(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    var filter = EventFilter(kinds: [.visitArrive, .visitDepart])
    filter.subjects = query.subjects("subject")
    filter.regions = query.texts("place")
    filter.since = query.time("since")
    filter.until = query.time("until")
    let limit = query.limit()
    let before = Page.key(&query) { parts in
      parts.count == 1 ? Int64(parts[0]).flatMap { $0 > 0 ? $0 : nil } : nil
    }
    try query.finish()
    let gate = commitPublisher.gate(for: request.principal)
    var found: [JournaledEvent] = []
    var place = before ?? Int64.max
    var isEnd = false
    for _ in 0..<VisitResource.maximumVisitReads where found.count < limit && !isEnd {
      let (start, wanted) = (place, limit - found.count)
      let page = try await BackgroundExecutor.requests.run { [journal, filter] in
        try journal.events(before: start, matching: gate.searched(filter), limit: wanted).map { entry in
          // The departure carries the whole visit, so that the arrival is left out.
          (entry, try VisitResource.hasEnded(entry, in: journal))
        }
      }
      found += page.filter { !$0.1 }.compactMap { $0.0.passed(gate, matching: filter) }
      isEnd = page.count < wanted
      if let last = page.last { place = last.0.sequence }
    }
    let names = owner.names
    return .json(names: names) { json in
      json.objects("visits", found) { json, entry in
        json.withNames(asOf: entry.event.time) {
          DocumentField.write(VisitRow.members, ofAny: VisitRow(entry.event, names), to: &$0)
        }
      }
      json.next(isEnd ? nil : Page.cursor(after: ["\(place)"]))
    }
  }

  /// Returns whether the visit of an arrival has ended: the next departure of its subject is its own.
  private static func hasEnded(_ entry: JournaledEvent, in journal: Journal) throws -> Bool {
    guard entry.event.kind == .visitArrive, case .visit(let visit) = entry.event.detail else { return false }
    let filter = EventFilter(kinds: [.visitDepart], subjects: [entry.event.subject])
    let next = try journal.events(after: entry.sequence, matching: filter, limit: 1).first?.event
    guard case .visit(let departed)? = next?.detail else { return false }
    return departed.visit == visit.visit
  }

  // Dwell.

  fileprivate static let dwellColumns: [HistoryTable.Column] = [
    .always("id", .text),
    .always("kind", .words(["pointOfInterest", "area", "zone"])),
    .sometimes("name", .text),
    .always("count", .count, "The stays that ended in the range."),
    .sometimes("median", .number(0...), "Seconds."),
    .sometimes("p90", .number(0...), "Seconds."),
    .always("current", .count, "The subjects that are there now."),
  ]

  /// The dwell times by zone, from the changes of zone, or by place, from the visits, in a range of time.
  private func dwell(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let by = query.text("by") ?? "place"
    if by != "place", by != "zone" { query.wrong("by", "is \"\(by.shortened)\"", expected: "place or zone") }
    let to = query.time("to") ?? clock()
    let from = query.time("from") ?? to - .minutes(24 * 60)
    if from > to { query.wrong("from", "lies after to", expected: "a time before to") }
    let filter = EventFilter(
      kinds: by == "zone" ? [.zoneEnter, .zoneExit] : [.visitDepart],
      regions: query.texts("place"),
      since: from,
      until: to
    )
    try query.finish()
    let gate = commitPublisher.gate(for: request.principal)
    let reading = try await BackgroundExecutor.requests.run { [journal, filter] in
      try DwellTimes(
        in: journal,
        filter,
        limit: VisitResource.maximumDwellEvents,
        page: VisitResource.dwellPage
      ) {
        event in
        gate.passed(event) != nil
      }
    }
    guard var times = reading else {
      throw Problem.badRequest(
        """
        The range holds more than \(VisitResource.maximumDwellEvents) events. Ask for a shorter one, or for \
        fewer places.
        """
      )
    }
    try await addPresent(to: &times, byZone: by == "zone", wanted: filter.regions, request)
    var table = HistoryTable(columns: VisitResource.dwellColumns)
    for (key, entry) in times.sorted {
      table.append([
        .text(key.identifier), .text(key.kind.rawValue), .init(entry.name), .whole(entry.count),
        .init(entry.quantile(0.5), decimals: 1), .init(entry.quantile(0.9), decimals: 1),
        .whole(entry.current),
      ])
    }
    if request.accepts("text/csv") { return table.csv }
    return .json { json in
      json.member("by", by)
      json.member("from", from.rfc3339)
      json.member("to", to.rfc3339)
      table.write("places", to: &json)
    }
  }

  /// Adds who is where now.
  private func addPresent(
    to times: inout DwellTimes,
    byZone: Bool,
    wanted: Set<String>?,
    _ request: APIRequest
  ) async throws {
    guard byZone else {
      let gate = commitPublisher.presentGate(for: request.principal)
      for record in try await cache.read({ $0.table.visits }).values where record.visit.departure == nil {
        guard let place = gate.passed(record.visit, of: record.subject)?.place,
          wanted?.contains(place.identifier) ?? true
        else { continue }
        times.enter(place)
      }
      return
    }
    let zones = owner.site.zones.filter { wanted?.contains($0.identifier) ?? true }
    for zone in zones { times.name(zone) }
    let names = Set(zones.map(\.identifier))
    for tag in try await server.tags(through: commitPublisher.presentGate(for: request.principal)) {
      if let zone = tag.zone, names.contains(zone) {
        times.enter(VisitDetail.Place(kind: .zone, identifier: zone))
      }
    }
  }
}

/// The lengths of stays, by place.
struct DwellTimes: Sendable {
  /// A place.
  struct Key: Hashable, Sendable {
    var identifier: String
    var kind: VisitDetail.Place.Kind
  }

  /// The stays at one place.
  struct Entry: Sendable {
    var name: String?
    /// The lengths of the stays that ended in the range, in seconds.
    var lengths: [Double] = []
    /// The number of subjects that are there now.
    var current = 0

    var count: Int { lengths.count }

    /// The length that a share of the stays does not exceed, interpolated; nil without stays.
    func quantile(_ share: Double) -> Double? {
      let sorted = lengths.sorted()
      guard let last = sorted.last else { return nil }
      let place = share * Double(sorted.count - 1)
      let index = Int(place)
      guard index + 1 < sorted.count else { return last }
      return sorted[index] + (place - Double(index)) * (sorted[index + 1] - sorted[index])
    }
  }

  private var entries: [Key: Entry] = [:]

  /// The places, by identifier and kind.
  var sorted: [(key: Key, value: Entry)] {
    entries.sorted { ($0.key.identifier, $0.key.kind.rawValue) < ($1.key.identifier, $1.key.kind.rawValue) }
  }

  /// Reads the stays that ended in a range; nil if it holds too many events.
  init?(
    in journal: Journal,
    _ filter: EventFilter,
    limit: Int,
    page: Int,
    isShown: (Event) -> Bool
  ) throws {
    var entered: [SubjectID: (zone: String, time: Timestamp)] = [:]
    var (sequence, count) = (Int64(0), 0)
    while true {
      let events = try journal.events(after: sequence, matching: filter, limit: page)
      count += events.count
      guard count <= limit else { return nil }
      for entry in events where isShown(entry.event) { record(entry.event, &entered) }
      guard let last = events.last, events.count == page else { break }
      sequence = last.sequence
    }
  }

  private mutating func record(_ event: Event, _ entered: inout [SubjectID: (zone: String, time: Timestamp)])
  {
    switch (event.kind, event.detail) {
    case (.visitDepart, .visit(let visit)):
      guard let place = visit.place, let duration = visit.duration else { return }
      let key = Key(identifier: place.identifier, kind: place.kind)
      entries[key, default: Entry()].lengths.append(duration.seconds)
      entries[key]?.name = place.name
    case (.zoneEnter, _): entered[event.subject] = (event.region, event.time)
    case (.zoneExit, _):
      // A stay that began before the range is of unknown length.
      guard let entry = entered[event.subject], entry.zone == event.region else { return }
      entered[event.subject] = nil
      let key = Key(identifier: event.region, kind: .zone)
      entries[key, default: Entry()].lengths.append((event.time - entry.time).seconds)
    default: break
    }
  }

  /// Counts a subject that is at a place now.
  mutating func enter(_ place: VisitDetail.Place) {
    let key = Key(identifier: place.identifier, kind: place.kind)
    entries[key, default: Entry()].current += 1
    if let name = place.name { entries[key]?.name = name }
  }

  /// Adds a zone with its name, even if there were no stays in it.
  mutating func name(_ zone: Zone) {
    entries[Key(identifier: zone.identifier, kind: .zone), default: Entry()].name = zone.name
  }
}

/// A visit in a listing, with the name of its zone or place.
private struct VisitRow {
  let subject: SubjectID
  let room: String?
  let visit: VisitDetail

  /// Reads an event; nil if it is about no visit.
  init?(_ event: Event, _ names: SiteNames) {
    guard case .visit(let visit) = event.detail else { return nil }
    (subject, room, self.visit) = (event.subject, visit.room(by: names.asOf(event.time)), visit)
  }

  static let members: [DocumentField<VisitRow>] = [
    .subject { $0.subject },
    .sometimes(
      "room",
      .text,
      "The zone or place of the visit, by the name that it had at the time of the visit's last event."
    ) { $0.room },
    .part(VisitDetail.members) { $0.visit },
  ]
}

extension Schema {
  static let visit = Schema.object(VisitRow.members).named("Visit")

  static let dwell = Schema.object([
    .required("by", .words(["place", "zone"])),
    .required("from", .time),
    .required("to", .time),
    .required(
      "places",
      .rows(VisitResource.dwellColumns)
    ),
  ]).named("Dwell")
}
