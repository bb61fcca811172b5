import HTTPTypes
import NIOCore
import Pharos
import PharosDelivery
import PharosDocuments
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
    ]
  }

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
    let last = try await cache.read { cache in
      cache.rows(of: name) { $0.region == region.identifier && subjects?.contains($0.subject) ?? true }
    }
    .compactMap { gate.passed($0) }.max { ($0.decidedAt, $1) < ($1.decidedAt, $0) }
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
}
