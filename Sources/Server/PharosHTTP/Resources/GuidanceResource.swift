import HTTPTypes
import Pharos
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import PharosSite
import PharosSpace
import PharosWays

/// The guidance of subjects to their destinations.
struct GuidanceResource: Resource {
  let owner: SiteOwner
  let assignments: Assignments
  let journal: Journal
  let commitPublisher: CommitPublisher
  let cache: LiveStateCache
  let catalog: VenueCatalog

  var routes: [Route] {
    let path = "/v1/subjects/{subject}/guidance"
    return [
      Route(
        .get,
        "/v1/guidance",
        Operation(
          "listGuidance",
          .fixes,
          "The subjects that are guided",
          "With what was asked for. /v1/subjects/{subject}/guidance tells the way of one."
        )
        .with(.query("subject", "Only of these subjects."), .cursor, .limit)
        .answering(.page("guidance", of: .guidedSubject))
        .failing(.unavailable),
        access: .operation,
        conditional: true,
        handler: guidedSubjects
      ),
      Route(
        .get,
        path,
        Operation(
          "getGuidance",
          .fixes,
          "The guidance of a subject",
          "What was asked for and, if the subject is located, the way from where it is."
        )
        .with(.subject)
        .answering(.guidance)
        .failing(.unavailable),
        access: .operation,
        handler: guidance
      ),
      Route(
        .put,
        path,
        Operation(
          "putGuidance",
          .fixes,
          "Guide a subject to a destination",
          """
          Events of type pharos.guidance tell the next instructions, new routes after the subject has left \
          the old one, and the arrival. The destination may be another subject: the route follows each of its \
          fixes, and the subject arrives within 3 m of it on the same floor, or in the same room. Where it is \
          not known where the destination is, or you may not learn it, an event with the status `held` says so, \
          and there is no route until you may.
          """
        )
        .with(.subject)
        .receiving(.guidanceDocument)
        .answering(.guidance),
        access: .operation,
        handler: startGuidance
      ),
      Route(
        .delete,
        path,
        Operation("deleteGuidance", .fixes, "End the guidance of a subject")
          .with(.subject)
          .answering(.nothing()),
        access: .operation,
        handler: endGuidance
      ),
    ]
  }

  /// Lists the subjects that are guided, with what was asked for.
  private func guidedSubjects(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let subjects = query.subjects("subject")
    let limit = query.limit()
    let after = Page.key(&query) { parts in parts.count == 1 ? SubjectID(parts[0]) : nil }
    try query.finish()
    let documents = try await BackgroundExecutor.requests.run { [journal] in
      try journal.documents(kind: Assignments.Kind.guidance.rawValue)
    }
    let guided = documents.compactMap { key, bytes -> (subject: SubjectID, wanted: GuidanceRequest)? in
      var reader = FieldReader(bytes[...])
      guard let subject = SubjectID(key), subjects?.contains(subject) ?? true,
        let wanted = try? GuidanceRequest(from: &reader)
      else { return nil }
      return (subject, wanted)
    }
    .sorted { $0.subject < $1.subject }
    let gate = commitPublisher.presentGate(for: request.principal)
    let shown = guided.filter { gate.showsFully($0.subject) }.map { subject, wanted in
      (subject: subject, wanted: ShownGuidance(wanted, through: gate))
    }
    let page = Page.cut(shown, limit: limit, isBehind: after.map { key in { key < $0.subject } }) {
      [$0.subject.description]
    }
    let names = owner.names
    let rooms = try await cache.rooms(of: page.entries.map(\.subject), by: names, through: gate)
    return .json(names: names) { json in
      let rows = page.entries.map {
        GuidedRow(subject: $0.subject, wanted: $0.wanted, room: rooms[$0.subject])
      }
      json.objects("guidance", rows, GuidedRow.members)
      json.next(page.next)
    }
  }

  /// Answers what was asked for and, if the subject is located, the way from where it is.
  private func guidance(_ request: APIRequest) async throws -> APIAnswer {
    let subject = try request.subject()
    let wanted = try await storedGuidance(subject)
    let gate = commitPublisher.presentGate(for: request.principal)
    let language = RouteLanguage(rawValue: wanted.language) ?? .english
    let route = try? await route(of: subject, wanted, through: gate)
    return .json { json in
      DocumentField.write(ShownGuidance.members, of: ShownGuidance(wanted, through: gate), to: &json)
      guard let route else { return }
      // The first step only says where the route begins.
      let next = route.steps.dropFirst().first ?? route.steps.first
      json.member("instruction", ifPresent: next?.instruction(in: language))
      json.openObject("route")
      route.write(to: &json, languages: [language])
      json.closeObject()
    }
  }

  private func route(
    of subject: SubjectID,
    _ wanted: GuidanceRequest,
    through gate: Gate
  ) async throws -> WalkingRoute? {
    guard let start = try await position(of: subject, through: gate),
      let served = catalog.venues.first(where: { $0.venue.identifier == start.venue })
    else { return nil }
    var end = Waypoint(wanted.destination)
    if let target = wanted.target {
      guard gate.showsFully(target), let place = try await position(of: target, through: gate),
        place.venue == start.venue
      else { return nil }
      end = place.waypoint
    }
    guard let end else { return nil }
    return try await RouteSearch(served: served).answer { router, budget in
      try router.routes(
        from: start.waypoint,
        to: end,
        options: RouteOptions(isAccessible: wanted.isAccessible),
        budget: budget
      ).first
    }
  }

  /// Returns where a subject is, as the reader of a gate may learn it; nil if it is not located.
  private func position(
    of subject: SubjectID,
    through gate: Gate
  ) async throws -> (venue: String, waypoint: Waypoint)? {
    guard let event = try await cache.fix(of: subject, through: gate), case .fix(let fix) = event.detail,
      let latitude = fix.latitude, let longitude = fix.longitude,
      let coordinate = Coordinate(latitude: latitude, longitude: longitude)
    else { return nil }
    return (fix.venue, .coordinate(coordinate, level: fix.level))
  }

  private func storedGuidance(_ subject: SubjectID) async throws -> GuidanceRequest {
    guard let bytes = try await assignments.document(.guidance, of: subject) else {
      throw Problem.notFound("\"\(subject.description.shortened)\" is not guided.")
    }
    var reader = FieldReader(bytes[...])
    return try GuidanceRequest(from: &reader)
  }

  private func startGuidance(_ request: APIRequest) async throws -> APIAnswer {
    let subject = try request.subject()
    let known = ["destination", "accessible", "language"]
    let wanted = try BodyDocument.read(request.body, name: "guidance", known: known) { fields in
      GuidanceResource.guidance(fields, of: subject)
    }
    try await checkDestination(wanted)
    try await assignments.assign(.guidance, wanted.encoded, to: subject)
    let gate = commitPublisher.presentGate(for: request.principal)
    return .json(ShownGuidance.members, of: ShownGuidance(wanted, through: gate))
  }

  /// Refuses a destination that no venue knows, and makes the venues' routers ready before the engine needs them.
  private func checkDestination(_ wanted: GuidanceRequest) async throws {
    let served = catalog.venues
    guard !served.isEmpty else { throw Problem.notFound("The site has no venue to guide in.") }
    let end = Waypoint(wanted.destination)
    let errors = try await BackgroundExecutor.requests.run {
      served.map { venue in
        let router = venue.router.router
        return end.flatMap { router.problem(with: $0) }
      }
    }
    guard !errors.contains(where: { $0 == nil }), let first = errors.compactMap({ $0 }).first else { return }
    let text = "\(first)"
    throw Problem.notFound(text.prefix(1).uppercased() + text.dropFirst() + ".")
  }

  private func endGuidance(_ request: APIRequest) async throws -> APIAnswer {
    let subject = try request.subject()
    _ = try await storedGuidance(subject)
    try await assignments.assign(.guidance, nil, to: subject)
    return .noContent
  }

  private static func guidance(_ fields: DocumentFields, of subject: SubjectID) -> GuidanceRequest? {
    let isAccessible = fields.value("accessible", .flag) ?? false
    let language = fields.value("language", .word(RouteLanguage.allCases)) ?? .english
    guard let destination = destination(fields, of: subject) else { return nil }
    return GuidanceRequest(to: destination, isAccessible: isAccessible, language: language.rawValue)
  }

  private static func destination(
    _ fields: DocumentFields,
    of subject: SubjectID
  ) -> GuidanceRequest.Destination? {
    let expected =
      "the id or the name of a place, or an object with latitude, longitude and level, or with a subject"
    guard let node = fields["destination"], node.scalar == nil else {
      guard let name = fields.requiredText("destination", expected: expected) else { return nil }
      guard (1...GuidanceRequest.maximumName).contains(name.utf8.count) else {
        fields.mistake("destination", "destination has \(name.utf8.count) bytes", expected: expected)
        return nil
      }
      return .place(name)
    }
    let known = ["latitude", "longitude", "level", "subject"]
    guard let position = fields.fields("destination", known: known) else { return nil }
    if position["subject"] != nil {
      guard let text = position.requiredText("subject", expected: "an observer or a beacon") else {
        return nil
      }
      guard let target = SubjectID(text), target != .none, target != subject else {
        position.mistake(
          "subject",
          "\"\(text.shortened)\" is no other subject",
          expected: "an observer or a beacon, and not the one that is guided"
        )
        return nil
      }
      return .subject(GuidanceRequest.Moving(target))
    }
    let latitude = position.required("latitude", .number(in: -90...90, unit: "degrees"))
    let longitude = position.required("longitude", .number(in: -180...180, unit: "degrees"))
    let level = position.value("level", .integer(in: -1_000...1_000)) ?? 0
    guard let latitude, let longitude else { return nil }
    return .position(Itinerary.Waypoint(latitude: latitude, longitude: longitude, level: level))
  }

}

/// A request of guidance as a reader may learn it.
private struct ShownGuidance {
  let wanted: GuidanceRequest
  /// Indicates whether the destination is a subject of which the reader may not learn where it is.
  let isWithheld: Bool

  init(_ wanted: GuidanceRequest, through gate: Gate) {
    self.wanted = wanted
    isWithheld = wanted.target.map { !gate.showsFully($0) } ?? false
  }

  static let members: [DocumentField<ShownGuidance>] = [
    .always("destination", .text, "Empty if it is withheld.") {
      $0.isWithheld ? "" : $0.wanted.destination.description
    },
    .sometimes("withheld", .flag, "The destination is a subject of which you may not learn where it is.") {
      $0.isWithheld ? true : nil
    },
    .always("accessible", .flag) { $0.wanted.isAccessible },
    .always("language", .text) { $0.wanted.language },
  ]
}

/// A subject in a listing of those that are guided.
private struct GuidedRow {
  let subject: SubjectID
  let wanted: ShownGuidance
  let room: String?

  static let members: [DocumentField<GuidedRow>] = [
    .subject { $0.subject },
    .sometimes("room", .text(.presentRoom)) { $0.room },
    .part(ShownGuidance.members) { $0.wanted },
  ]
}

extension Schema {
  static let guidanceDocument = Schema.closed([
    .required(
      "destination",
      .one(of: [
        .text(1...200),
        .closed([
          .required("latitude", .number(-90...90)),
          .required("longitude", .number(-180...180)),
          .optional("level", .integer(-1_000...1_000), "By default `0`."),
        ]),
        .closed([.required("subject", .text(1...200), "An observer or a beacon.")]),
      ]),
      "The id or the name of a place, a position, or another subject."
    ),
    .optional("accessible", .flag, "Avoid steps. By default `false`."),
    .optional("language", .words(of: RouteLanguage.self), "The language of instructions. By default `en`."),
  ]).named("GuidanceDocument")

  static let guidance = Schema.object(
    .written(ShownGuidance.members) + [
      .optional("instruction", .text, "The next step of the way from where the subject is."),
      .optional(
        "route",
        .someObject,
        "The way from where the subject is, as /v1/venues/{id}/routes answers."
      ),
    ]
  ).named("Guidance")

  static let guidedSubject = Schema.object(GuidedRow.members).named("GuidedSubject")
}
