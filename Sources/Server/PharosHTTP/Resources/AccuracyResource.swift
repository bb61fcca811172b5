import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosSite

/// The accuracy that an application has now, and its requests for full accuracy.
struct AccuracyResource: Resource {
  let owner: SiteOwner
  let authorisations: Authorisations
  let commitPublisher: CommitPublisher
  let clock: @Sendable () -> Timestamp

  var routes: [Route] {
    let path = "/v1/applications/{app}/accuracy"
    return [
      Route(
        .get,
        path,
        Operation("getAccuracy", .access, "How finely an application may learn now where subjects are")
          .with(.app)
          .answering(.accuracy),
        access: .application
      ) { request in
        try answer(owner.registered(request.parameter("app")).identifier)
      },
      Route(
        .post,
        path,
        Operation(
          "requestFullAccuracy",
          .access,
          "Ask for full accuracy for a time",
          """
          As `requestTemporaryFullAccuracyAuthorization(withPurposeKey:)` of Core Location does. The key is one of \
          the application's `temporaryPurposes`; another one is refused. With a `duration` full accuracy ends \
          after it, for streams, webhooks and reads alike. Without one it is for the application's live \
          streams, and for what holds now, and ends when the last of them is closed; with none open the \
          request is refused (409 `noSession`). It ends early when the declaration changes, and when the server \
          stops.
          """
        )
        .with(.app)
        .receiving(.accuracyRequest)
        .answering(.accuracy)
        .failing(.conflict),
        access: .application,
        handler: request
      ),
      Route(
        .delete,
        path,
        Operation("endFullAccuracy", .access, "End the temporary full accuracy of an application")
          .with(.app)
          .answering(.nothing()),
        access: .application
      ) { request in
        let application = try owner.registered(request.parameter("app")).identifier
        authorisations.endTemporaryAccuracy(of: application)
        return .noContent
      },
    ]
  }

  private func request(_ request: APIRequest) throws -> APIAnswer {
    let application = try owner.registered(request.parameter("app")).identifier
    let (key, duration) = try BodyDocument.read(
      request.body,
      name: "request",
      known: ["purposeKey", "duration"]
    ) { fields in
      let key = fields.required("purposeKey", .text(length: 1...128))
      let duration = fields.value(
        "duration",
        .time(in: .seconds(1)...TemporaryAccuracy.maximumDuration)
      )
      return key.map { ($0, duration) }
    }
    try authorisations.requestFullAccuracy(
      application: application,
      purpose: key,
      for: duration,
      isLive: commitPublisher.live.names.contains(application),
      at: clock()
    )
    return answer(application)
  }

  private func answer(_ application: String) -> APIAnswer {
    let row = AccuracyRow(
      application: application,
      accuracy: commitPublisher.presentGate(to: application).access(to: .none) ?? .full,
      temporary: authorisations.temporaryAccuracy(of: application)
    )
    return APIAnswer.json(AccuracyRow.members, of: row).unkept()
  }
}

/// The accuracy of an application now.
private struct AccuracyRow {
  let application: String
  let accuracy: AccuracyAuthorisation
  let temporary: TemporaryAccuracy?

  static let members: [DocumentField<AccuracyRow>] = [
    .always("application", .text) { $0.application },
    .always("accuracy", .word(AccuracyAuthorisation.allCases), "Now, for live streams and what holds now.") {
      $0.accuracy
    },
    .sometimes("purposeKey", .text, "The purpose of temporary full accuracy.") { $0.temporary?.key },
    .sometimes("until", .moment, "The end of temporary full accuracy; missing if it ends with the session.") {
      if case .at(_, let time)? = $0.temporary?.end { time } else { nil }
    },
  ]
}

extension Schema {
  static let accuracy = Schema.object(AccuracyRow.members).named("Accuracy")

  static let accuracyRequest = Schema.closed([
    .required("purposeKey", .text(1...128), "One of the application's `temporaryPurposes`."),
    .optional("duration", .duration, "From `1s` to `1d`; without it, for the session."),
  ]).named("AccuracyRequest")
}
