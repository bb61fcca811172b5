import HTTPTypes
import NIOCore
import Pharos
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import PharosPresence
import PharosPublishing
import PharosSite
import Synchronization

/// The states of subjects towards the regions of an application.
struct StateResource: Resource {
  let server: PharosServer
  let owner: SiteOwner
  let commitPublisher: CommitPublisher
  let journal: Journal
  let cache: LiveStateCache
  /// The rate of requests for states, by application.
  private let rates = RequestRates()

  var routes: [Route] {
    let path = "/v1/applications/{app}"
    return [
      Route(
        .get,
        path + "/states",
        Operation("listStates", .regions, "Where subjects stand towards an application's regions")
          .with(
            .app,
            .query("region", "Only these regions."),
            .query("subject", "Only these subjects."),
            .query("state", each: .regionState, "Only these states."),
            .cursor,
            .limit
          )
          .answering(.page("states", of: .state))
          .failing(.unavailable),
        access: .application,
        conditional: true,
        handler: states
      ),
      Route(
        .get,
        path + "/regions/{id}/record",
        Operation(
          "getRecord",
          .regions,
          "What is monitored and the last event about a subject, as CLMonitor's record"
        )
        .with(.app, .region, .query("subject", .name, "About this subject; otherwise the latest of all."))
        .answering(.record)
        .failing(.unavailable),
        access: .application,
        conditional: true,
        handler: record
      ),
      Route(
        .post,
        path + "/regions/{id}/requestState",
        Operation("requestState", .regions, "Ask where a subject stands; the answer comes as an event")
          .with(.app, .region)
          .receiving(
            .closed([
              .required("subject", .name)
            ])
          )
          .answering(.accepted(.accepted))
          .failing(.tooManyRequests),
        access: .application,
        handler: requestState
      ),
      Route(
        .get,
        "/v1/regions/{id}/state",
        Operation(
          "getState",
          .regions,
          "Where a subject stands towards a region",
          """
          The state as it was published last, since when, and the evidence of the event that said so. A located \
          subject is outside of every area about which nothing else is published: its `since` is then at the \
          latest when that was said of all of them. `unknown` without `since` says that nothing is decided, or \
          nothing that the client may learn. An application sees its own regions; the operator names one, unless \
          a single application has a region of this name.
          """
        )
        .with(
          .region,
          .query("subject", .name, "The observer or beacon, as events write it.").required,
          .query("application", .name, "The application that the region belongs to.")
        )
        .answering(.subjectState)
        .failing(.unavailable),
        access: .anyToken,
        conditional: true,
        handler: state
      ),
    ]
  }

  private func state(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let name = query.text("subject")
    let subject = name.flatMap { SubjectID($0) } ?? .none
    if subject == .none {
      let flaw = name.map { "\"\($0.shortened)\" is none" } ?? "is missing"
      query.wrong("subject", flaw, expected: "an observer or a beacon as events name them")
    }
    let wanted = query.text("application")
    try query.finish()
    let (application, region) = try self.region(request, of: wanted)
    let gate = commitPublisher.presentGate(for: request.principal)
    let key = RegionKey(application: application, region: region.identifier)
    let row = try await standing(of: subject, in: key, region).flatMap { gate.passed($0) }
    var shown = SubjectStateRow(key: key, record: row)
    if let row { shown.evidence = try await evidence(of: row, region, through: gate) }
    return .json(SubjectStateRow.members, of: shown, names: owner.names)
  }

  /// Returns the region that a request names, and its application: that of an application's token, or the one that the
  /// operator names, or the only one that has such a region.
  private func region(
    _ request: APIRequest,
    of wanted: String?
  ) throws(Problem) -> (application: String, region: Region) {
    let identifier = request.parameter("id")
    if let name = wanted ?? request.principal.application {
      guard request.principal.mayUse(application: name) else {
        throw .forbidden("This token is bound to another application than \"\(name.shortened)\".")
      }
      return (name, try owner.region(identifier, of: name).region)
    }
    let found = owner.applications.flatMap { application in
      application.regions.filter { $0.region.identifier == identifier }
        .map { (application: application.identifier, region: $0.region) }
    }
    guard let first = found.first else {
      throw .notFound("No application has a region \"\(identifier.shortened)\".")
    }
    guard found.count == 1 else {
      let names = found.map(\.application).sorted().joined(separator: ", ")
      throw .badQuery([
        Problem.Field(
          "application",
          "is missing, and several applications have a region of this name",
          expected: "one of \(names.shortened)"
        )
      ])
    }
    return first
  }

  /// Returns where a subject stands towards a region: as it was published, or else as the engine knows it; nil if nothing is
  /// decided.
  private func standing(
    of subject: SubjectID,
    in key: RegionKey,
    _ region: Region
  ) async throws -> PublishedState.RegionRecord? {
    let isArea = region.geofence != nil
    let (own, published) = try await cache.read { cache in
      (
        cache.table.subjects[subject]?.regions[key]?.record,
        cache.table.standing(of: subject, in: key, isArea: isArea)?.record
      )
    }
    if let own { return own }
    // What was said of all other areas holds for those that were monitored by then, which the engine knows.
    guard let known = try await server.state(of: subject, in: key), known.state != .unknown else {
      return nil
    }
    if let published, known.state == published.state { return published }
    return PublishedState.RegionRecord(
      application: key.application,
      region: key.region,
      subject: subject,
      state: known.state,
      lastKnown: known.state,
      enteredAt: known.enteredAt,
      time: .distantPast,
      decidedAt: .distantPast
    )
  }

  /// Returns the evidence of the event that left a record, as the reader may learn it; nil if the journal no longer has it.
  private func evidence(
    of row: PublishedState.RegionRecord,
    _ region: Region,
    through gate: Gate
  ) async throws -> Evidence? {
    guard row.decidedAt != .distantPast else { return nil }
    let filter = EventFilter(
      kinds: [.regionState, .regionsOutside],
      applications: [row.application],
      regions: region.geofence == nil ? [row.region] : [row.region, ""],
      subjects: [row.subject]
    )
    let found = try await BackgroundExecutor.requests.run { [journal] in
      try journal.events(before: .max, matching: filter, limit: StateResource.searched)
    }
    let event = found.lazy.map(\.event).first { event in
      guard case .region(let transition) = event.detail else { return false }
      return !transition.isAnswer && event.decidedAt == row.decidedAt && transition.to == row.state
    }
    guard case .region(let transition)? = event.flatMap({ gate.passed($0) })?.detail else { return nil }
    return transition.evidence
  }

  /// The number of a subject's newest states and answers among which the evidence of the present one is looked for.
  private static let searched = 64

  private func states(_ request: APIRequest) async throws -> APIAnswer {
    let application = try owner.registered(request.parameter("app"))
    var query = request.query
    let regions = query.texts("region")
    let subjects = query.subjects("subject")
    let stateNames = RegionState.allNamed.map(\.name).joined(separator: ", ")
    let states = query.list("state", expected: "one of \(stateNames)") { text in
      RegionState.allNamed.first { $0.name == text }
    }
    let limit = query.limit()
    let after = Page.key(&query, StateKey.init)
    try query.finish()
    let registered = Set(application.regions.map(\.region.identifier))
    let gate = commitPublisher.presentGate(for: request.principal)
    let rows = try await cache.read { cache in
      cache.rows(of: application.identifier) { row in
        // Rows of regions that are no longer registered stay in the journal and are history; a rotation's come and go.
        (application.rotated > 0 || registered.contains(row.region))
          && regions?.contains(row.region) ?? true && subjects?.contains(row.subject) ?? true
          && states?.contains(row.state) ?? true
      }
    }
    .compactMap { gate.passed($0) }.sorted()
    let page = Page.cut(rows, limit: limit, isBehind: after.map { key in { key < StateKey($0) } }) {
      [$0.region, $0.subject.description]
    }
    let nearness = try await Nearness(
      rows: Array(page.entries),
      readings: cache.read { $0.readings(of: application.identifier, through: gate) },
      constraints: Dictionary(
        application.regions.compactMap { entry in
          entry.region.constraint.map { (entry.region.identifier, $0) }
        },
        uniquingKeysWith: { $1 }
      ),
      tracks: { [server] in
        try await server.tracks($0).filter { $0.isShown(through: gate, of: application.identifier) }
      }
    )
    let names = owner.names
    let rooms = try await cache.rooms(of: page.entries.map(\.subject), by: names, through: gate)
    return .json(names: names) { json in
      let rows = page.entries.map { StateRow(record: $0, rooms: rooms, nearest: nearness.nearest($0)) }
      json.objects("states", rows, StateRow.members)
      json.next(page.next)
    }
  }

  /// Answers with the record of a condition, as `CLMonitor` defines it: the condition, and the last event about a
  /// subject.
  private func record(_ request: APIRequest) async throws -> APIAnswer {
    let region = try owner.region(request.parameter("id"), of: request.parameter("app")).region
    let name = request.parameter("app")
    var query = request.query
    let subjects = query.subjects("subject")
    try query.finish()
    let gate = commitPublisher.presentGate(for: request.principal)
    var rows = try await cache.read { cache in
      cache.rows(of: name) { $0.region == region.identifier && subjects?.contains($0.subject) ?? true }
    }
    let known = Set(rows.map(\.subject))
    for subject in subjects ?? [] where !known.contains(subject) {
      let key = RegionKey(application: name, region: region.identifier)
      guard let row = try await standing(of: subject, in: key, region), row.time != .distantPast else {
        continue
      }
      rows.append(row)
    }
    let last = rows.compactMap { gate.passed($0) }.max { ($0.decidedAt, $1) < ($1.decidedAt, $0) }
    let names = owner.names
    let rooms = try await cache.rooms(of: [last?.subject].compactMap(\.self), by: names, through: gate)
    let row = last.map { StateRow(record: $0, rooms: rooms, nearest: nil) }
    return .json(StateResource.record, of: (region, row), names: names)
  }

  fileprivate static let record: [DocumentField<(region: Region, last: StateRow?)>] = [
    .always("identifier", .text) { $0.region.identifier },
    .always("condition", .text) { $0.region.condition.description },
    .always("state", .text(.monitorState)) { "\(MonitorState($0.last?.record.state ?? .unknown))" },
    .sometimes("lastEvent", .object(StateRow.event)) { $0.last },
  ]

  private func requestState(_ request: APIRequest) async throws -> APIAnswer {
    let region = try owner.region(request.parameter("id"), of: request.parameter("app")).region
    let subject = try BodyDocument.read(request.body, name: "request", known: ["subject"]) {
      $0.required(
        "subject",
        ValueForm(expected: "an observer or a beacon as events name it") { SubjectID($0) }
      )
    }
    try rates.record(request.parameter("app"))
    let change = RegionChange.requestState(
      application: request.parameter("app"),
      identifier: region.identifier,
      subject: subject
    )
    try await server.apply(change)
    return .accepted("the state comes as an event of kind pharos.region.state")
  }
}

/// Where the subject that a client asked about stands towards a region.
private struct SubjectStateRow {
  let key: RegionKey
  /// What is known; nil if nothing is decided.
  let record: PublishedState.RegionRecord?
  /// The evidence of the event that said so, if there still is one.
  var evidence: Evidence?

  static let members: [DocumentField<SubjectStateRow>] = [
    .always("application", .text) { $0.key.application },
    .always("region", .text) { $0.key.region },
    .always("state", .text(.regionState)) { ($0.record?.state ?? .unknown).name },
    .always("lastKnown", .text(.regionState), "The state; where it is unmonitored, the one before it.") {
      ($0.record?.lastKnown ?? .unknown).name
    },
    .sometimes("since", .moment, "Since when; missing where no event has said so.") { row in
      row.record.flatMap { $0.time == .distantPast ? nil : $0.time }
    },
    .sometimes("enteredAt", .moment, "When the visit began.") { $0.record?.enteredAt },
    .identity(ofAny: "refinement", "The most specific identity that caused the state.") {
      $0.record?.refinement.map { .beacon($0) }
    },
    .identity(ofAny: "observer", "The observer that settled it, for regions about beacons.") {
      $0.record?.observer.map { .observer($0) }
    },
    .sometimes(
      "evidence",
      evidenceForm,
      "The evidence of the event that said so, as in its `data`; missing where the journal no longer has it."
    ) { $0.evidence },
  ]

  private static let evidenceForm = ValueForm<Evidence>(writing: .anyObject) { evidence, key, json in
    json.openObject(key)
    evidence.write(to: &json)
    json.closeObject()
  }
}

/// Where a subject stands towards a region.
private struct StateRow {
  let record: PublishedState.RegionRecord
  let rooms: SubjectRooms
  let nearest: Nearness.Nearest?

  static let members: [DocumentField<StateRow>] = [
    .always("region", .text) { $0.record.region },
    .part(subject) { $0 },
    .always("state", .text(.regionState)) { $0.record.state.name },
    .always("lastKnown", .text(.regionState), "The state; where it is unmonitored, the one before it.") {
      $0.record.lastKnown.name
    },
    .always("since", .moment, "Since when.") { $0.record.time },
    .sometimes("enteredAt", .moment, "When the visit began.") { $0.record.enteredAt },
    .identity(ofAny: "refinement", "The most specific identity that caused the state.") {
      $0.record.refinement.map { .beacon($0) }
    },
    .identity(ofAny: "observer", "The observer that settled it, for regions about beacons.") {
      $0.record.observer.map { .observer($0) }
    },
    .sometimes("nearest", .object(Nearness.Nearest.members).stated(as: .nearest)) { $0.nearest },
  ]

  /// The last event of a record.
  static let event: [DocumentField<StateRow>] = [
    .part(subject) { $0 },
    .always("state", .text(.monitorState)) { "\(MonitorState($0.record.state))" },
    .always("date", .moment) { $0.record.time },
    .identity(ofAny: "refinement") { $0.record.refinement.map { .beacon($0) } },
  ]

  private static let subject: [DocumentField<StateRow>] = [
    .subject { $0.record.subject },
    .sometimes("room", .text(.presentRoom)) { $0.rooms[$0.record.subject] },
  ]
}

/// The rates of requests that each cost a decision and an event: a token bucket for each application.
final class RequestRates: Sendable {
  /// The sustained rate, in requests a second.
  static let rate = 10.0
  /// The number of requests that may come at once.
  static let burst = 50.0

  private struct Bucket {
    var tokens: Double
    var filledAt: NIODeadline
  }

  private let buckets = Mutex<[String: Bucket]>([:])

  /// Takes a request into account.
  ///
  /// - Throws: 429 if the application has asked too often.
  func record(_ application: String, at now: NIODeadline = .now()) throws(Problem) {
    let isAllowed = buckets.withLock { buckets in
      // A full bucket says the same as none.
      if buckets[application] == nil {
        buckets = buckets.filter { RequestRates.tokens(of: $0.value, at: now) < RequestRates.burst }
      }
      let tokens = buckets[application].map { RequestRates.tokens(of: $0, at: now) } ?? RequestRates.burst
      let isAllowed = tokens >= 1
      buckets[application] = Bucket(tokens: isAllowed ? tokens - 1 : tokens, filledAt: now)
      return isAllowed
    }
    guard !isAllowed else { return }
    throw .tooManyRequests(
      """
      Application "\(application.shortened)" has asked for more than \(Int(RequestRates.rate)) states a \
      second. A GET of 
      """
        + "its states returns all of them at once."
    )
  }

  private static func tokens(of bucket: Bucket, at now: NIODeadline) -> Double {
    let seconds = Double((now - bucket.filledAt).nanoseconds) / 1e9
    return min(bucket.tokens + max(seconds, 0) * rate, burst)
  }
}

/// The sort key of an application's row.
private struct StateKey: Comparable {
  let region: String
  let subject: SubjectID

  init(_ row: PublishedState.RegionRecord) {
    region = row.region
    subject = row.subject
  }

  init?(_ parts: [String]) {
    guard parts.count == 2, let subject = SubjectID(parts[1]) else { return nil }
    region = parts[0]
    self.subject = subject
  }

  static func < (left: StateKey, right: StateKey) -> Bool {
    guard left.region.utf8.elementsEqual(right.region.utf8) else {
      return left.region.utf8.lexicographicallyPrecedes(right.region.utf8)
    }
    return left.subject < right.subject
  }
}

extension RegionState {
  /// All states.
  fileprivate static let allNamed: [RegionState] = [.unknown, .inside, .outside, .unmonitored]
}

extension Operation.Parameter {
  fileprivate static let region = path("id", "The region's identifier.")
}

extension Schema {
  static let nearest = Schema.object(Nearness.Nearest.members).named("Nearest")

  static let state = Schema.object(StateRow.members).named("State")

  static let record = Schema.object(StateResource.record).named("Record")

  static let subjectState = Schema.object(SubjectStateRow.members).named("SubjectState")
}
