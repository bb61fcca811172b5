import PharosAccess
import PharosReports

/// What the interface does: a method for each operation, and the list of them all.
///
/// An endpoint takes a request whose path, query names, principal and body type have been checked, and gives an answer or
/// throws a ``Problem``.
package struct Endpoints: Sendable {
  /// What is served.
  let backend: HTTPBackend
  /// How things stand.
  let board: LiveBoard

  package init(backend: HTTPBackend, board: LiveBoard) {
    self.backend = backend
    self.board = board
  }

  /// All operations; `/openapi.json` describes each of them.
  package var routes: [Route] {
    pageRoutes + statusRoutes + applicationRoutes + regionRoutes + rangingRoutes + stateRoutes
      + observerRoutes + keyRoutes + hearingRoutes + zoneRoutes + fixRoutes + venueRoutes + eventRoutes
      + webhookRoutes + notificationRoutes + tokenRoutes + authorisationRoutes + advertRoutes + erasingRoutes
  }

  /// The application that a path names.
  ///
  /// - Throws: 404 where there is none.
  func application(_ request: APIRequest) throws(Problem) -> RegisteredApplication {
    let name = request.parameter("app")
    guard let application = backend.registrar.application(name) else {
      throw .notFound(
        "There is no application \"\(name.shortened)\". /v1/applications lists those that there are."
      )
    }
    return application
  }

  /// The observer that a path names.
  ///
  /// - Throws: 404 where the text is none.
  func observer(_ request: APIRequest) throws(Problem) -> ObserverID {
    let text = request.parameter("id")
    guard let observer = ObserverID(text) else {
      throw .notFound(
        "\"\(text.shortened)\" is no observer: an EUI-48, an EUI-64, a UUID or a name of at most 64 bytes."
      )
    }
    return observer
  }
}
