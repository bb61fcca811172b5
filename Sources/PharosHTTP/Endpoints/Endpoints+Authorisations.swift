import PharosAccess
import PharosDelivery
import PharosEvents
import PharosReports

extension Endpoints {
  var authorisationRoutes: [Route] {
    [
      Route(.get, "/v1/applications/{app}/authorisations", access: .application, conditional: true) {
        request in
        try listAuthorisations(request)
      },
      Route(
        .put,
        "/v1/applications/{app}/authorisations/{subject}",
        access: .operation,
        body: .json
      ) { request in
        try putAuthorisation(request)
      },
    ]
  }

  private func listAuthorisations(_ request: APIRequest) throws -> APIAnswer {
    let application = try application(request)
    return .json { json in
      json.openObject()
      json.member("application", application.identifier)
      json.member("purpose", ifPresent: purpose(of: application))
      json.openArray("authorisations")
      for entry in backend.authorisations.list(application: application.identifier) {
        json.openObject()
        write(entry.subject, entry.state, to: &json)
        json.member("since", entry.since.rfc3339)
        json.closeObject()
      }
      json.closeArray()
      json.closeObject()
    }
  }

  private func putAuthorisation(_ request: APIRequest) throws -> APIAnswer {
    let application = try application(request)
    let text = request.parameter("subject")
    guard let subject = SubjectID(text) else {
      throw Problem.notFound("\"\(text.shortened)\" is neither an observer nor a beacon.")
    }
    var fields = try BodyFields(request.body)
    let state = fields.choice("state", AuthorisationState.allCases.map { ($0.name, $0) })
    let isPerson = fields.bool("person")
    if isPerson == nil {
      let states = AuthorisationState.allCases.map(\.name).joined(separator: ", ")
      fields.require("state", expected: "one of \(states)")
    }
    try fields.finish()
    if let isPerson { try backend.authorisations.mark(subject, isPerson: isPerson) }
    if let state {
      let event = try backend.authorisations.set(
        state,
        application: application.identifier,
        subject: subject,
        by: request.principal,
        stream: backend.registrar.site.stream,
        at: backend.clock()
      )
      if let event { backend.teller.tell([event]) }
    }
    let now = backend.authorisations.state(application: application.identifier, subject: subject)
    return .json { json in
      json.openObject()
      write(subject, now, to: &json)
      json.closeObject()
    }
  }

  /// What an application says that it wants to know for.
  func purpose(of application: RegisteredApplication) -> String? {
    backend.authorisations.purpose(of: application.identifier)
  }

  private func write(_ subject: SubjectID, _ state: AuthorisationState, to json: inout JSONText) {
    json.member("subject", subject.description)
    json.member("subjectKind", subject.kindName)
    json.member("state", state.name)
    json.member("person", backend.authorisations.isPerson(subject))
  }
}

extension SubjectID {
  /// What a subject is, as events spell it.
  var kindName: String {
    switch self {
    case .none: "none"
    case .observer: "observer"
    case .beacon: "beacon"
    }
  }
}
