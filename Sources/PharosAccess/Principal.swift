/// Who asks.
package enum Principal: Hashable, Sendable {
  /// Somebody on the same machine, where the server listens to the loopback alone and asks for no tokens.
  case local
  /// The operator, by the name of the token.
  case `operator`(name: String)
  /// An application, by the id of its token and the application's identifier.
  case application(id: String, name: String)

  /// The application that it is bound to, or nil for who may see and change all.
  package var application: String? {
    switch self {
    case .local, .operator: nil
    case .application(_, let name): name
    }
  }

  /// What tells it from other clients, for limits that hold for each; nil for somebody of this very machine.
  package var client: String? {
    switch self {
    case .local: nil
    case .operator(let name): "operator \(name)"
    case .application(let id, _): "token \(id)"
    }
  }

  /// Whether it may see and change what belongs to all.
  package var isOperator: Bool { application == nil }

  /// Whether it may see and change what belongs to an application.
  package func mayUse(application name: String) -> Bool {
    application.map { $0.utf8.elementsEqual(name.utf8) } ?? true
  }
}
