import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosSite

/// The applications and what they have stated.
struct ApplicationResource: Resource {
  let owner: SiteOwner
  let authorisations: Authorisations
  let endingAccess: @Sendable (_ application: String) -> PendingChange

  var routes: [Route] {
    let path = "/v1/applications/{app}"
    return [
      Route(
        .get,
        "/v1/applications",
        Operation("listApplications", .applications, "The applications")
          .answering(.list("applications", of: .application)),
        access: .anyToken,
        conditional: true,
        handler: listApplications
      ),
      Route(
        .get,
        path,
        Operation("getApplication", .applications, "One application")
          .with(.app)
          .answering(.application),
        access: .application,
        conditional: true
      ) { request in
        let application = try owner.registered(request.parameter("app"))
        return .json(ApplicationRow.members, of: row(application))
      },
      Route(
        .put,
        path,
        Operation("putApplication", .applications, "Make an application, or change what it says of itself")
          .with(.app)
          .receiving(.applicationDocument, isRequired: false)
          .answering(put: .application)
          .failing(.conflict),
        access: .operation,
        handler: putApplication
      ),
      Route(
        .delete,
        path,
        Operation(
          "deleteApplication",
          .applications,
          """
          Remove an application that was made over HTTP, with its regions, tokens, webhooks, authorisations \
          and notification rules
          """
        )
        .with(.app)
        .answering(.nothing())
        .failing(.conflict),
        access: .operation
      ) { request in
        let name = request.parameter("app")
        try await owner.delete(application: name) { endingAccess(name) }
        return .noContent
      },
    ]
  }

  private func listApplications(_ request: APIRequest) -> APIAnswer {
    let applications = owner.applications
      .filter { request.principal.mayUse(application: $0.identifier) }
    return .json { $0.objects("applications", applications.map(row), ApplicationRow.members) }
  }

  private func putApplication(_ request: APIRequest) async throws -> APIAnswer {
    let name = request.parameter("app")
    var document = try ApplicationSettings(json: request.body, identifier: name)
    // A document that does not speak of accuracy leaves it as it is, so that it raises none by chance.
    document.accuracy = document.accuracy ?? authorisations.policyOverHTTP(of: name)
    let isNew = try await owner.put(application: name, document) { [document] in
      let purpose = try document.purpose.map { try authorisations.settingPurpose($0, application: name) }
      let accuracy = document.accuracy.map { authorisations.settingAccuracy($0, application: name) }
      return (purpose ?? PendingChange()).and(accuracy ?? PendingChange())
    }
    let application = try owner.registered(request.parameter("app"))
    return .put(isNew: isNew, at: "applications", name) {
      DocumentField.write(ApplicationRow.members, of: row(application), to: &$0)
    }
  }

  private func row(_ application: RegisteredApplication) -> ApplicationRow {
    ApplicationRow(
      application: application,
      purpose: authorisations.purpose(of: application.identifier),
      accuracy: authorisations.accuracyPolicy(of: application.identifier)
    )
  }
}

/// An application in a listing.
private struct ApplicationRow {
  let application: RegisteredApplication
  let purpose: String?
  let accuracy: AccuracyPolicy

  static let members: [DocumentField<ApplicationRow>] = [
    .always("id", .text) { $0.application.identifier },
    .always("source", .text(.source)) { $0.application.source.rawValue },
    .always("regions", .count, "How many regions it holds.") { $0.application.regions.count },
    .sometimes("rotated", .count, "How many regions its rotation holds.") {
      $0.application.rotated > 0 ? $0.application.rotated : nil
    },
    .always("ranging", .count, "How many constraints it ranges.") { $0.application.ranging.count },
    .always("regionLimit", .count, "How many regions it may hold.") { $0.application.regionLimit },
    .sometimes("purpose", .text, "What it wants to know where people are for.") { $0.purpose },
    .part(AccuracyPolicy.properties) { $0.accuracy },
  ]
}

/// The regions of an application, with the numbers of subjects in each state.
struct RegionResource: Resource {
  let owner: SiteOwner
  let commitPublisher: CommitPublisher
  let cache: LiveStateCache

  var routes: [Route] {
    let path = "/v1/applications/{app}/regions"
    return [
      Route(
        .get,
        path,
        Operation("listRegions", .regions, "An application's regions")
          .with(.app)
          .answering(.list("regions", of: .region))
          .failing(.unavailable),
        access: .application,
        conditional: true
      ) { request in
        let application = try owner.registered(request.parameter("app"))
        let counts = try await counts(of: application.identifier, request)
        return .json { json in
          json.objects("regions", application.regions) { write($1, counts[$1.region.identifier], to: &$0) }
        }
      },
      Route(
        .get,
        path + "/{id}",
        Operation("getRegion", .regions, "One region")
          .with(.app, .region)
          .answering(.region)
          .failing(.unavailable),
        access: .application,
        conditional: true
      ) { request in
        let region = try owner.region(request.parameter("id"), of: request.parameter("app"))
        let counts = try await counts(of: request.parameter("app"), request)
        return .json { write(region, counts[region.region.identifier], to: &$0) }
      },
      Route(
        .put,
        path + "/{id}",
        Operation(
          "putRegion",
          .regions,
          "Monitor a region, in place of one with the same identifier",
          """
          An application may hold twenty regions unless its limit says otherwise; one more is refused with \
          409 `regionLimitExceeded`. The application is made if it is not there.
          """
        )
        .with(.app, .region)
        .receiving(.regionDocument)
        .answering(put: .region)
        .failing(.conflict),
        access: .application,
        handler: putRegion
      ),
      Route(
        .delete,
        path + "/{id}",
        Operation("deleteRegion", .regions, "Stop monitoring a region that was registered over HTTP")
          .with(.app, .region)
          .answering(.nothing())
          .failing(.conflict),
        access: .application
      ) { request in
        let name = request.parameter("app")
        try await owner.delete(region: request.parameter("id"), application: name)
        return .noContent
      },
    ]
  }

  /// Returns the number of subjects in each state, by those regions of an application that have any.
  private func counts(of application: String, _ request: APIRequest) async throws -> [String: StateCounts] {
    let gate = commitPublisher.presentGate(for: request.principal)
    return try await cache.read { $0.counts(of: application, through: gate) }
  }

  private func putRegion(_ request: APIRequest) async throws -> APIAnswer {
    let (name, identifier) = (request.parameter("app"), request.parameter("id"))
    try ApplicationSettings.check(name)
    let region = try RegionDocument.region(json: request.body, identifier: identifier)
    let isNew = try await owner.put(region: region, application: name)
    let counts = try await counts(of: name, request)
    return .put(isNew: isNew, at: "applications", name, "regions", identifier) { json in
      let registered = RegisteredApplication.RegisteredRegion(region: region, source: .http)
      write(registered, counts[identifier], to: &json)
    }
  }

  private func write(
    _ registered: RegisteredApplication.RegisteredRegion,
    _ counts: StateCounts?,
    to json: inout JSONText
  ) {
    let counts = counts ?? StateCounts()
    RegionDocument.write(registered.region, to: &json)
    json.member("source", registered.source.rawValue)
    json.openObject("states")
    json.member("inside", counts.inside)
    json.member("outside", counts.outside)
    json.member("unmonitored", counts.unmonitored)
    json.closeObject()
  }
}

/// The ranging requests of an application.
struct RangingResource: Resource {
  let owner: SiteOwner

  var routes: [Route] {
    let path = "/v1/applications/{app}/ranging"
    return [
      Route(
        .get,
        path,
        Operation("listRanging", .ranging, "What an application ranges")
          .with(.app)
          .answering(.list("ranging", of: .rangingRequest)),
        access: .application,
        conditional: true
      ) { request in
        let application = try owner.registered(request.parameter("app"))
        return .json { $0.objects("ranging", application.ranging) { RangingResource.write($1, to: &$0) } }
      },
      Route(
        .get,
        path + "/{name}",
        Operation("getRanging", .ranging, "One ranging request")
          .with(.app, .rangingName)
          .answering(.rangingRequest),
        access: .application,
        conditional: true
      ) { request in
        let application = try owner.registered(request.parameter("app"))
        let name = request.parameter("name")
        guard let ranging = application.ranging.first(where: { $0.name == name }) else {
          throw Problem.notFound(
            "Application \"\(application.identifier)\" ranges nothing as \"\(name.shortened)\"."
          )
        }
        return .json { RangingResource.write(ranging, to: &$0) }
      },
      Route(
        .put,
        path + "/{name}",
        Operation("putRanging", .ranging, "Range beacons once a second")
          .with(.app, .rangingName)
          .receiving(.rangingDocument)
          .answering(put: .rangingRequest)
          .failing(.conflict),
        access: .application,
        handler: putRanging
      ),
      Route(
        .delete,
        path + "/{name}",
        Operation("deleteRanging", .ranging, "Stop ranging what was asked for over HTTP")
          .with(.app, .rangingName)
          .answering(.nothing())
          .failing(.conflict),
        access: .application
      ) { request in
        let application = request.parameter("app")
        try await owner.delete(ranging: request.parameter("name"), application: application)
        return .noContent
      },
    ]
  }

  private func putRanging(_ request: APIRequest) async throws -> APIAnswer {
    let (application, name) = (request.parameter("app"), request.parameter("name"))
    try ApplicationSettings.check(application)
    guard name.utf8.count <= 128, !PlainText.hasControls(name) else {
      let expected = "at most 128 without control characters"
      throw Problem.invalidBody([
        Problem.Field("name", "has \(name.utf8.count) bytes", expected: expected)
      ])
    }
    let ranging = try RangingDocument.request(json: request.body)
    let isNew = try await owner.put(ranging: ranging, name: name, application: application)
    return .put(isNew: isNew, at: "applications", application, "ranging", name) { json in
      RangingResource.write(.init(name: name, request: ranging, source: .http), to: &json)
    }
  }

  private static func write(
    _ ranging: RegisteredApplication.RegisteredRanging,
    to json: inout JSONText
  ) {
    json.member("name", ranging.name)
    json.member("source", ranging.source.rawValue)
    RangingDocument.write(ranging.request, to: &json)
  }
}

extension ApplicationSettings {
  /// Refuses names that no application may have, before one is made by registering something for it.
  fileprivate static func check(_ name: String) throws {
    _ = try ApplicationSettings(json: Array("{}".utf8), identifier: name)
  }
}

extension Operation.Parameter {
  fileprivate static let region = path("id", "The region's identifier.")
  fileprivate static let rangingName = path("name", "The request's name.")
}

extension Schema {
  static let application = Schema.object(ApplicationRow.members).named("Application")

  static let region = Schema.object(
    .region + [
      .required("source", .source),
      .required(
        "states",
        .object([.required("inside", .count), .required("outside", .count), .required("unmonitored", .count)]
        ),
        "How many subjects stand where."
      ),
    ]
  ).named("Region")

  static let rangingRequest = Schema.object(
    [.required("name", .text), .required("source", .source)] + .ranging
  ).named("RangingRequest")
}

extension SiteOwner {
  /// Returns an application that a client names.
  ///
  /// - Throws: 404 if there is none.
  func registered(_ name: String) throws(Problem) -> RegisteredApplication {
    guard let application = application(name) else {
      throw .notFound(
        "There is no application \"\(name.shortened)\". /v1/applications lists those that there are."
      )
    }
    return application
  }

  /// Returns a region that a client names.
  ///
  /// - Throws: 404 where the application or the region is not there.
  func region(
    _ identifier: String,
    of application: String
  ) throws(Problem) -> RegisteredApplication.RegisteredRegion {
    let application = try registered(application)
    guard let region = application.regions.first(where: { $0.region.identifier == identifier })
    else {
      throw .notFound(
        "Application \"\(application.identifier)\" has no region \"\(identifier.shortened)\"."
      )
    }
    return region
  }
}
