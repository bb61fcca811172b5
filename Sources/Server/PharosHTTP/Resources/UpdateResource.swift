import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosPublishing

/// Live updates of one subject, as Core Location's `CLLocationUpdate` has them.
struct UpdateResource: Resource {
  let feeds: FeedService
  let commitPublisher: CommitPublisher
  let cache: LiveStateCache
  let tally: HTTPTally

  /// The movement below which a subject is stationary.
  private enum Profile: String, CaseIterable {
    case pedestrian, asset

    var motion: LocationUpdate.LiveConfiguration {
      switch self {
      case .pedestrian: .pedestrian
      case .asset: .asset
      }
    }
  }

  var routes: [Route] {
    [
      Route(
        .get,
        "/v1/subjects/{subject}/updates",
        Operation(
          "getUpdates",
          .fixes,
          "The location of a subject while it moves, as a live stream",
          """
          With `text/event-stream` a live stream of events `pharos.update`, each with a document of this \
          kind: the fixes of the subject while it moves, one when it becomes stationary, and none until it \
          has left; one when there is no fix, and one when the application may not learn it. With \
          `Accept: application/json` the last fix, of which it is not known whether the subject is stationary.
          """
        )
        .with(
          .subject,
          .query(
            "profile",
            .words(of: Profile.self).usually(.string("pedestrian")),
            "The slowest movement: 8 m in 20 s of a pedestrian, 6 m in a minute of an asset."
          ),
          .distanceFilter,
          .desiredAccuracy,
          .streamTicket
        )
        .answering(.done([("application/json", .locationUpdate), ("text/event-stream", .text)]))
        .failing(.unavailable),
        access: .anyToken,
        handler: updates
      ),
      Route(
        .get,
        "/v1/subjects/{subject}/significant-changes",
        Operation(
          "getSignificantChanges",
          .fixes,
          "The significant changes of a subject's location, as a live stream",
          """
          With `text/event-stream` a live stream of events `pharos.update`, each with a document of this \
          kind: the first fix of the subject, then at most one in five minutes, once it has moved by 500 m, \
          or has been on another floor, in another building or venue, or in or out of doors for 30 s; and one \
          when the application may not learn it. With `Accept: application/json` the last fix.
          """
        )
        .with(.subject, .streamTicket)
        .answering(.done([("application/json", .locationUpdate), ("text/event-stream", .text)]))
        .failing(.unavailable),
        access: .anyToken,
        handler: significantChanges
      ),
    ]
  }

  private func updates(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    var configuration = (query.word("profile", Profile.self) ?? .pedestrian).motion
    configuration.distanceFilter = query.distanceFilter()
    configuration.desiredAccuracy = query.desiredAccuracy()
    try query.finish()
    return try await answer(request, by: configuration)
  }

  private func significantChanges(_ request: APIRequest) async throws -> APIAnswer {
    try request.query.finish()
    return try await answer(request, by: .significantChanges)
  }

  private func answer(
    _ request: APIRequest,
    by configuration: LocationUpdate.LiveConfiguration
  ) async throws -> APIAnswer {
    let subject = try request.subject()
    let application = request.principal.application
    guard request.accepts("text/event-stream") else {
      let gate = commitPublisher.presentGate(for: request.principal)
      let fix = try await cache.fix(of: subject, through: gate).flatMap { Fix($0) }
      let isReduced = fix?.detail.accuracy.isReduced ?? false
      let update = LocationUpdate(
        subject: subject,
        location: fix,
        diagnostics: isReduced ? .accuracyLimited : []
      )
      let reasons = gate.shows(subject) ? [] : UpdateResource.reasons(subject, application, gate.view)
      return .json(UpdateRow.members, of: UpdateRow(update.learnt(unless: reasons), isStream: false))
    }
    var answer = APIAnswer.bytes([], type: ServerSentEvents.contentType).unkept()
    answer.headers[named: "X-Accel-Buffering"] = "no"
    guard request.method != .head else { return answer }
    let feed = try feeds.open(
      UpdateResource.request(subject, of: request.principal),
      counting: tally
    )
    answer.body = .stream { [commitPublisher, heartbeat = feeds.settings.heartbeat] write in
      var stream = UpdateStream(subject, configuration, heartbeat: heartbeat)
      let view = commitPublisher.presentGate(to: application).view
      let reasons = UpdateResource.reasons(subject, application, view)
      try await write(ServerSentEvents.preamble + stream.begin(reasons))
      for await items in feed {
        let text = stream.text(for: items)
        if !text.isEmpty { try await write(text) }
      }
    }
    return answer
  }

  /// Returns the reasons for which an application may not learn of a subject even while it has a stream open.
  private static func reasons(
    _ subject: SubjectID,
    _ application: String?,
    _ view: AuthorisationView
  ) -> MonitorDiagnostics {
    application.map { MonitorDiagnostics(view.state(application: $0, subject: subject)) } ?? []
  }

  /// Returns the feed of what the updates are made of: fixes, which are for all applications, and the decisions for one.
  private static func request(_ subject: SubjectID, of principal: Principal) -> FeedRequest {
    let fixes = EventFilter(kinds: [.fix], subjects: [subject])
    guard let application = principal.application else {
      return FeedRequest(filter: fixes, client: principal.client)
    }
    return FeedRequest(
      filter: EventFilter(kinds: [.authorisationChanged], applications: [application], subjects: [subject]),
      application: application,
      shared: fixes,
      client: principal.client
    )
  }
}

/// The updates of one stream, made of the items of its feed.
private struct UpdateStream {
  private let subject: SubjectID
  private var updates: LiveUpdateState
  private var reasons: MonitorDiagnostics = []
  /// The time of fixes that make no update after which a sign of life is passed on.
  private let heartbeat: TimeSpan
  /// The number of heartbeats without a fix after which the location is unavailable.
  private let patience: Int
  private var heartbeats = 0
  /// The time of the last fix that was passed on, or in whose place a sign of life was.
  private var lastWritten = Timestamp.distantPast

  init(
    _ subject: SubjectID,
    _ configuration: LocationUpdate.LiveConfiguration,
    heartbeat: Duration
  ) {
    self.subject = subject
    self.heartbeat = .seconds(heartbeat / .seconds(1))
    patience = max(1, Int((configuration.silence / self.heartbeat).rounded(.up)))
    updates = LiveUpdateState(of: subject, configuration)
  }

  /// Begins with the reasons for which nothing may be learnt, if there are some.
  mutating func begin(_ reasons: MonitorDiagnostics) -> [UInt8] {
    self.reasons = reasons
    guard !reasons.isEmpty else { return [] }
    return text(of: LocationUpdate(subject: subject).learnt(unless: reasons))
  }

  /// Returns the text of the updates that items make.
  mutating func text(for items: [FeedItem]) -> [UInt8] { items.flatMap { text(for: $0) } }

  private mutating func text(for item: FeedItem) -> [UInt8] {
    switch item {
    case .event(let published):
      if case .authorisation(let transition) = published.event.detail {
        return begin(MonitorDiagnostics(transition.to))
      }
      let event = published.event
      heartbeats = 0
      if let update = updates.receive(event) {
        lastWritten = event.time
        return text(of: update)
      }
      guard event.time - lastWritten >= heartbeat else { return [] }
      lastWritten = event.time
      return ServerSentEvents.text(for: [.heartbeat])
    case .heartbeat:
      heartbeats += 1
      guard reasons.isEmpty, heartbeats >= patience, let update = updates.expire() else {
        return ServerSentEvents.text(for: [item])
      }
      return text(of: update)
    case .dropped, .gap, .restart: return ServerSentEvents.text(for: [item])
    }
  }

  private func text(of update: LocationUpdate) -> [UInt8] {
    var json = JSONText()
    json.openObject()
    DocumentField.write(UpdateRow.members, of: UpdateRow(update, isStream: true), to: &json)
    json.closeObject()
    return Array("event: pharos.update\ndata: ".utf8) + json.utf8 + Array("\n\n".utf8)
  }
}

extension LocationUpdate {
  /// Returns the update as far as it may be learnt.
  fileprivate func learnt(unless reasons: MonitorDiagnostics) -> LocationUpdate {
    reasons.isEmpty ? self : hidden(for: reasons)
  }
}

/// An update as a document; the client knows the subject, for which it asked.
private struct UpdateRow {
  let update: LocationUpdate
  /// Indicates whether it is known if the subject is stationary.
  let isStream: Bool

  init(_ update: LocationUpdate, isStream: Bool) {
    self.update = update
    self.isStream = isStream
  }

  static let members: [DocumentField<UpdateRow>] = [
    .sometimes("location", .object(LocationRow.members), "Missing where it is unavailable or hidden.") {
      $0.update.location.map(LocationRow.init)
    },
    .sometimes("stationary", .flag, "In streams alone.") { $0.isStream ? $0.update.stationary : nil },
    .sometimes("stationarySince", .moment, "Since when it is stationary.") { $0.update.stationarySince },
    .always("locationUnavailable", .flag, "Whether there is no fix.") { $0.update.locationUnavailable },
    .always(
      "accuracyLimited",
      .flag,
      "Whether the location is reduced, or vaguer than is desired, or than a rest needs."
    ) { $0.update.accuracyLimited },
    .always("authorizationDenied", .flag) { $0.update.authorizationDenied },
    .always("authorizationDeniedGlobally", .flag) { $0.update.authorizationDeniedGlobally },
    .always("authorizationRestricted", .flag) { $0.update.authorizationRestricted },
    .always("authorizationRequestInProgress", .flag) { $0.update.authorizationRequestInProgress },
    .always("insufficientlyInUse", .flag) { $0.update.insufficientlyInUse },
    .always("serviceSessionRequired", .flag) { $0.update.serviceSessionRequired },
  ]
}

/// The fix of an update.
private struct LocationRow {
  let fix: Fix

  static let members: [DocumentField<LocationRow>] = [
    .always("time", .moment, "When the subject was there.") { $0.fix.time },
    .part(FixDetail.members) { $0.fix.detail },
  ]
}

extension Schema {
  static let locationUpdate = Schema.object(UpdateRow.members).named("LocationUpdate")
}
