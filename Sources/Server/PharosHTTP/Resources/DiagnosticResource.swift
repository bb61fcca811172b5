import HTTPTypes
import Pharos
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosPublishing
import PharosSite

/// The reasons for which an application gets nothing, as Core Location's `CLServiceSession` reports them.
struct DiagnosticResource: Resource {
  let server: PharosServer
  let owner: SiteOwner
  let commitPublisher: CommitPublisher
  let authorisations: Authorisations
  let cache: LiveStateCache
  let clock: @Sendable () -> Timestamp

  var routes: [Route] {
    [
      Route(
        .get,
        "/v1/applications/{app}/diagnostics",
        Operation(
          "listDiagnostics",
          .applications,
          "Why an application gets nothing, or less than it might",
          """
          Each diagnostic says what is so, what it concerns, what would be right, and what to do. Without \
          `subject`, those that concern all subjects. About a subject that the application may not learn of, \
          the authorisation is all that is stated.
          """
        )
        .with(.app, .query("subject", .name, "Those about this subject, as events name it."))
        .answering(.list("diagnostics", of: .diagnostic))
        .failing(.unavailable),
        access: .application,
        conditional: true,
        handler: diagnostics
      )
    ]
  }

  private func diagnostics(_ request: APIRequest) async throws -> APIAnswer {
    let application = try owner.registered(request.parameter("app")).identifier
    var query = request.query
    let subjects = query.subjects("subject") ?? []
    if subjects.count > 1 { query.wrong("subject", "is given more than once", expected: "one subject") }
    try query.finish()
    let gate = commitPublisher.presentGate(for: request.principal)
    var facts = try await server.serviceFacts(of: application, subject: subjects.first) {
      gate.shows($0, of: application)
    }
    facts.accuracy = gate.access(to: .none, of: application) ?? .full
    if let subject = subjects.first {
      facts.subject?.authorisation = gate.view.state(application: application, subject: subject)
      facts.subject?.location = try await location(of: subject, through: gate)
    } else {
      for entry in authorisations.list(application: application) {
        facts.withheld[entry.state, default: 0] += 1
      }
    }
    return .json { $0.objects("diagnostics", facts.diagnostics(), DiagnosticResource.members) }
  }

  /// Returns the last fix, unless it is so old that an update would say that there is none.
  private func location(of subject: SubjectID, through gate: Gate) async throws -> ServiceFacts.Location {
    guard let fix = try await cache.fix(of: subject, through: gate).flatMap({ Fix($0) }),
      clock() - fix.time <= LocationUpdate.LiveConfiguration.pedestrian.silence
    else { return .unavailable }
    return .within(fix.detail.horizontalAccuracy)
  }

  /// The members of a diagnostic: identities stand without the names that the site gives them.
  fileprivate static let members: [DocumentField<ServiceDiagnostic>] = [
    .always("reason", .word(ServiceDiagnostic.Reason.allCases)) { $0.reason },
    .sometimes("region", .text, "The region that it concerns; absent where it concerns all.") { $0.region },
    .sometimes("subject", .text, "The subject that it concerns; absent where it concerns all.") {
      $0.subject == .none ? nil : $0.subject.description
    },
    .sometimes("observers", .list(.text), "The observers that it concerns: at most 20 of them.") {
      $0.observers.isEmpty ? nil : $0.observers.map(\.description)
    },
    .always("message", .text, "What is so.") { $0.message },
    .always("expected", .text, "What would be right.") { $0.expected },
    .always("remedy", .text, "What to do.") { $0.remedy },
  ]
}

extension Schema {
  static let diagnostic = Schema.object(DiagnosticResource.members).named("Diagnostic")
}
