import HTTPTypes
import Pharos
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosPublishing
import PharosSite
import PharosSpace

/// What subjects let others learn of where they are: requests, answers, friends and looks.
struct SharingResource: Resource {
  let authorisations: Authorisations
  let feeds: FeedService
  let cache: LiveStateCache
  let tally: HTTPTally
  let names: @Sendable () -> SiteNames
  let clock: @Sendable () -> Timestamp

  var routes: [Route] {
    let path = "/v1/subjects/{subject}"
    return [
      Route(
        .get,
        path + "/shares",
        Operation(
          "listShares",
          .access,
          "What a subject shares with others, and others with it",
          """
          For the operator and for an application that speaks for the subject: one that is authorised, by a \
          decision, to learn where it is.
          """
        )
        .with(.subject)
        .answering(.object([.required("given", .list(.share)), .required("received", .list(.share))])),
        access: .anyToken,
        handler: shares
      ),
      Route(
        .put,
        path + "/shares/{viewer}",
        Operation(
          "putShare",
          .access,
          "Ask to learn where a subject is, or answer",
          """
          An application that speaks for the viewer asks, with the state `asked`. One that speaks for the \
          subject answers `accepted` or `refused`, also unasked; the operator may do both. `accuracy` is how \
          finely the viewer may learn where the subject is, and `until` when that ends. The viewer may be \
          any subject that has a name; it need not be located.
          """
        )
        .with(.subject, .viewer)
        .receiving(.shareDocument)
        .answering(.share),
        access: .anyToken,
        handler: putShare
      ),
      Route(
        .delete,
        path + "/shares/{viewer}",
        Operation(
          "deleteShare",
          .access,
          "End a share, or withdraw the request of one",
          "It takes effect at once, for what waits in open streams as well."
        )
        .with(.subject, .viewer)
        .answering(.nothing()),
        access: .anyToken,
        handler: deleteShare
      ),
      Route(
        .get,
        path + "/friends",
        Operation(
          "listFriends",
          .fixes,
          "Where those are who share it with a subject",
          """
          For an application that speaks for the subject; the operator sees those alone of whom it may learn \
          as well. Each answer is entered in the list of looks of those whom it locates. With \
          `text/event-stream` a live stream of their fixes and of the zones that they enter and leave.
          """
        )
        .with(
          .subject,
          .query(
            "floor",
            each: .pattern("^.+/-?[0-9]+$"),
            "Only on these floors: a building and a floor's number, as `main/0`."
          ),
          .streamTicket
        )
        .answering(
          .done([("application/json", .list("friends", of: .friend)), ("text/event-stream", .text)])
        )
        .failing(.unavailable),
        access: .anyToken,
        handler: friends
      ),
      Route(
        .get,
        path + "/looks",
        Operation(
          "listLooks",
          .access,
          "Who looked where a subject is",
          """
          The looks of those with whom it shares, the newest first: at most 1,000 entries of the last 30 days. \
          Looks of one kind within an hour are one entry. For the operator and for an application that speaks \
          for the subject.
          """
        )
        .with(.subject)
        .answering(.list("looks", of: .look)),
        access: .anyToken,
        handler: looks
      ),
    ]
  }

  // MARK: Shares

  private func shares(_ request: APIRequest) throws -> APIAnswer {
    let subject = try request.subject()
    try check(request.principal, speaksFor: [subject])
    return .json(names: names()) { json in
      json.objects("given", authorisations.shares(of: subject), Share.members)
      json.objects("received", authorisations.shares(with: subject), Share.members)
    }
  }

  private func putShare(_ request: APIRequest) throws -> APIAnswer {
    let (subject, viewer) = (try request.subject(), try viewer(request))
    let now = clock()
    let known = ["state", "accuracy", "until"]
    let share = try BodyDocument.read(request.body, name: "share", known: known) { fields -> Share? in
      let time = ValueForm(expected: "a time to come, as in RFC 3339: 2030-01-01T00:00:00Z") { text in
        Timestamp(text: text).flatMap { $0 > now ? $0 : nil }
      }
      let state = fields.required("state", .word(Share.State.allCases))
      let accuracy = fields.value("accuracy", .word(AccuracyAuthorisation.allCases)) ?? .full
      let until = fields.value("until", time)
      guard viewer != subject else {
        fields.mistake("state", "a subject shares nothing with itself", expected: "another viewer")
        return nil
      }
      return state.map {
        Share(of: subject, with: viewer, $0, accuracy: accuracy, until: until, since: now)
      }
    }
    try check(request.principal, speaksFor: [share.state == .asked ? viewer : subject])
    let before = authorisations.shares(of: subject).first { $0.viewer == viewer }
    if share.state == .asked, let before, before.state == .accepted {
      // To ask for what is granted ends nothing.
      return .json(Share.members, of: before, names: names())
    }
    try authorisations.share(share)
    return .json(Share.members, of: share, names: names())
  }

  private func deleteShare(_ request: APIRequest) throws -> APIAnswer {
    let (subject, viewer) = (try request.subject(), try viewer(request))
    try check(request.principal, speaksFor: [subject, viewer])
    guard try authorisations.endShare(of: subject, with: viewer) else {
      throw Problem.notFound("There is no such share.")
    }
    return .noContent
  }

  private func viewer(_ request: APIRequest) throws -> SubjectID {
    let text = request.parameter("viewer")
    guard let viewer = SubjectID(text), viewer != .none else {
      throw Problem.notFound("\"\(text.shortened)\" is neither an observer nor a beacon as events name them.")
    }
    return viewer
  }

  /// Checks that a client speaks for one of some subjects.
  private func check(_ principal: Principal, speaksFor subjects: [SubjectID]) throws(Problem) {
    guard let application = principal.application else { return }
    let view = authorisations.view
    guard subjects.contains(where: { view.speaks(application, for: $0) }) else {
      throw .forbidden(
        "Application \"\(application)\" does not speak for this subject: it needs an authorisation about it."
      )
    }
  }

  // MARK: Looks

  private func looks(_ request: APIRequest) throws -> APIAnswer {
    let subject = try request.subject()
    try check(request.principal, speaksFor: [subject])
    let looks = authorisations.looks.looks(at: subject, now: clock())
    return .json(names: names()) { json in json.objects("looks", looks, Look.members) }
  }

  private func friends(_ request: APIRequest) async throws -> APIAnswer {
    let viewer = try request.subject()
    var query = request.query
    let floors = query.set(
      "floor",
      expected: "a building and a floor's number, as in main/0; /v1/venues lists them"
    ) {
      FloorID(floor: $0)
    }
    try query.finish()
    try check(request.principal, speaksFor: [viewer])
    guard !request.accepts("text/event-stream") else { return try stream(request, of: viewer, on: floors) }
    let gate = Gate(authorisations.view, for: .viewer(viewer, through: request.principal.application))
    var rows: [FriendRow] = []
    for share in authorisations.shares(with: viewer) {
      guard share.state == .accepted, let accuracy = gate.access(to: share.subject) else { continue }
      let fix = try await cache.fix(of: share.subject, through: gate)
      guard SharingResource.isOn(floors, fix) else { continue }
      if fix != nil {
        try authorisations.looks.record(at: share.subject, by: viewer, .friends, accuracy, now: clock())
      }
      rows.append(FriendRow(share: share, accuracy: accuracy, fix: fix.flatMap(FixRow.init)))
    }
    return APIAnswer.json(names: names()) { json in
      json.objects("friends", rows, FriendRow.members)
    }.unkept()
  }

  private func stream(
    _ request: APIRequest,
    of viewer: SubjectID,
    on floors: Set<FloorID>?
  ) throws -> APIAnswer {
    var answer = APIAnswer.bytes([], type: ServerSentEvents.contentType).unkept()
    answer.headers[named: "X-Accel-Buffering"] = "no"
    guard request.method != .head else { return answer }
    var wanted = FeedRequest(
      filter: EventFilter(kinds: Gate.sharedKinds),
      application: request.principal.application,
      client: request.principal.client
    )
    wanted.viewer = viewer
    let feed = try feeds.open(wanted, counting: tally)
    answer.body = .stream { [authorisations, clock] write in
      try await write(ServerSentEvents.preamble)
      for await items in feed {
        var passed: [FeedItem] = []
        for item in items {
          guard case .event(let published) = item else {
            passed.append(item)
            continue
          }
          let event = published.event
          guard floors == nil || event.kind == .fix && SharingResource.isOn(floors, event),
            let accuracy = authorisations.view.shared(event.subject, with: viewer)
          else { continue }
          try authorisations.looks.record(at: event.subject, by: viewer, .stream, accuracy, now: clock())
          passed.append(item)
        }
        if !passed.isEmpty { try await write(ServerSentEvents.text(for: passed)) }
      }
    }
    return answer
  }

  /// Returns whether a fix is on one of some floors; every one is where no floors are asked for.
  private static func isOn(_ floors: Set<FloorID>?, _ fix: Event?) -> Bool {
    guard let floors else { return true }
    guard case .fix(let detail)? = fix?.detail else { return false }
    return floors.contains(detail)
  }
}

/// A friend, and where it is.
private struct FriendRow {
  let share: Share
  /// How finely the viewer learns now where it is.
  let accuracy: AccuracyAuthorisation
  let fix: FixRow?

  static let members: [DocumentField<FriendRow>] = [
    .subject { $0.share.subject },
    .always("accuracy", .word(AccuracyAuthorisation.allCases)) { $0.accuracy },
    .sometimes("until", .moment, "The end of the share.") { $0.share.until },
    .sometimes("fix", .object(FixRow.members), "Its last fix; missing if it is not located.") { $0.fix },
  ]
}

extension Share {
  fileprivate static let members: [DocumentField<Share>] = [
    .subject { $0.subject },
    .always("viewer", .text) { $0.viewer.description },
    .always("state", .word(Share.State.allCases)) { $0.state },
    .always("accuracy", .word(AccuracyAuthorisation.allCases)) { $0.accuracy },
    .sometimes("until", .moment, "The end.") { $0.until },
    .always("since", .moment, "The time of the last change.") { $0.since },
  ]
}

extension Look {
  fileprivate static let members: [DocumentField<Look>] = [
    .always("viewer", .text) { $0.viewer.description },
    .always("means", .word(Look.Means.allCases), "What the viewer looked at.") { $0.means },
    .always("accuracy", .word(AccuracyAuthorisation.allCases)) { $0.accuracy },
    .always("since", .moment, "The time of the first look.") { $0.since },
    .always("until", .moment, "The time of the last look.") { $0.until },
    .always("count", .count, "The number of looks.") { $0.count },
  ]
}

extension Operation.Parameter {
  /// The viewer of a path.
  fileprivate static let viewer = path("viewer", "The subject that looks, as events write it.")
}

extension Schema {
  static let share = Schema.object(Share.members).named("Share")

  static let look = Schema.object(Look.members).named("Look")

  static let friend = Schema.object(FriendRow.members).named("Friend")

  static let shareDocument = Schema.closed([
    .required("state", .words(of: Share.State.self)),
    .optional(
      "accuracy",
      .words(of: AccuracyAuthorisation.self),
      "How finely the viewer may learn where the subject is. By default `full`."
    ),
    .optional("until", .time, "The end. By default there is none."),
  ]).named("ShareDocument")
}
