import PharosDelivery
import PharosDocuments
import PharosHTTP
import PharosJournal
package import PharosModel
package import PharosTerminal
import Yams

/// `pharos token`: makes, lists and revokes the tokens that open the HTTP interface.
package struct TokenRunner: Sendable {
  /// The role of a token's holder.
  package enum Role: Hashable, Sendable {
    /// Sees and changes everything.
    case `operator`
    /// Sees and changes what belongs to one application.
    case application(String)
    /// Posts what one gateway hears, or any if it is nil, and nothing else.
    case gateway(ObserverID?)
  }

  private let access: ServerAccess

  /// Makes a runner for a server.
  package init(_ access: ServerAccess) { self.access = access }

  /// Creates a token and prints its secret, which is not shown again.
  ///
  /// - Parameters:
  ///   - role: the role that the token grants.
  ///   - name: the name of the token in lists.
  ///   - lifetime: the time until the token expires, or nil if it is valid until it is revoked.
  ///   - console: the console; the secret goes to its output alone, the explanation to its error stream.
  /// - Returns: 0, or 1 if no token was created.
  package func create(
    _ role: Role,
    name: String,
    lifetime: TimeSpan?,
    on console: Console
  ) async -> CommandStatus {
    await console.run {
      let now = Timestamp.wallClock
      let expiresAt = lifetime.map { now + $0 }
      let secret: String
      let id: String
      switch access {
      case .folder(let folder, let stream):
        let made = try Tokens(store: DataFolder.open(folder, stream: stream, creatingOn: console))
          .create(name: name, role: role.kept, at: now, expiresAt: expiresAt)
        (secret, id) = (made.secret, made.token.id)
      case .http(let url, let token):
        let body = TokenRunner.document(role, name: name, expiresAt: expiresAt)
        let answer = try await ServerClient(url: url, token: token).ask("POST", "/v1/tokens", body: body)
        let made = try ServerClient.tree(answer)
        (secret, id) = (made["secret"]?.string ?? "", made["id"]?.string ?? "")
      }
      try console.print(secret)
      console.say("Token \(id). Keep the secret: only its hash is kept here, and it is not shown again.")
      return .success
    }
  }

  /// Prints the tokens, the oldest first.
  ///
  /// - Returns: 0, or 1 if they cannot be read.
  package func list(on console: Console) async -> CommandStatus {
    await console.run {
      let tokens: [ListedToken]
      switch access {
      case .folder(let folder, let stream):
        tokens = try Tokens(store: DataFolder.open(folder, stream: stream)).list().map(ListedToken.init)
      case .http(let url, let token):
        let answer = try await ServerClient(url: url, token: token).ask("GET", "/v1/tokens")
        let listed = try ServerClient.tree(answer)["tokens"]?.sequence.map(Array.init) ?? []
        tokens = listed.compactMap(ListedToken.init)
      }
      guard !tokens.isEmpty else {
        console.say("There is no token.")
        return .success
      }
      try console.print(TokenRunner.table.header)
      for token in tokens {
        let cells = [
          token.id, token.name, token.opens,
          token.expired ? "expired" : token.expiresAt.map { String($0.prefix(16)) } ?? "never",
        ]
        try console.print(TokenRunner.table.line(cells))
      }
      return .success
    }
  }

  /// Revokes a token: from now on it opens nothing.
  ///
  /// - Returns: 0, or 1 if there is none.
  package func revoke(_ id: String, on console: Console) async -> CommandStatus {
    await console.run {
      switch access {
      case .folder(let folder, let stream):
        guard try Tokens(store: DataFolder.open(folder, stream: stream)).revoke(id) else {
          throw CommandFailure("There is no token \(id); `pharos token list` shows them.")
        }
      case .http(let url, let token):
        let path = "/v1/tokens/\(PercentCoding.encode(segment: id))"
        _ = try await ServerClient(url: url, token: token).ask("DELETE", path)
      }
      try console.print("Token \(id) is revoked.")
      return .success
    }
  }

  private static let table = TextTable([
    .text("ID", 12), .text("NAME", 24), .text("OPENS", 24), .text("EXPIRES", 16),
  ])

  private static func document(_ role: Role, name: String, expiresAt: Timestamp?) -> [UInt8] {
    var json = JSONText()
    json.openObject()
    json.member("name", name)
    switch role {
    case .operator: json.member("role", "operator")
    case .application(let application): json.member("application", application)
    case .gateway(let observer):
      json.member("role", "gateway")
      json.member("gateway", ifPresent: observer?.description)
    }
    json.member("expiresAt", ifPresent: expiresAt?.rfc3339)
    json.closeObject()
    return json.utf8
  }
}

extension TokenRunner.Role {
  fileprivate var kept: Token.Role {
    switch self {
    case .operator: .operator
    case .application(let name): .application(name)
    case .gateway(let observer): observer.map(Token.Role.gateway) ?? .gateways
    }
  }
}

/// A token, as a list shows it.
private struct ListedToken {
  let id: String
  let name: String
  /// What it opens.
  let opens: String
  let expiresAt: String?
  let expired: Bool

  init(_ token: Token) {
    id = token.id
    name = token.name
    opens =
      switch token.role {
      case .operator: ListedToken.everything
      case .application(let bound): bound
      case .gateway(let observer): ListedToken.posts(of: "\(observer)")
      case .gateways: ListedToken.posts(of: nil)
      }
    expiresAt = token.expiresAt?.rfc3339
    expired = token.hasExpired(at: .wallClock)
  }

  /// Reads what the interface says of a token; nil if it says nothing of the sort.
  init?(_ node: Node) {
    guard let id = node["id"]?.string, let name = node["name"]?.string else { return nil }
    self.id = id
    self.name = name
    let isGateway = node["role"]?.string == "gateway"
    let bound = node["application"]?.string ?? ListedToken.everything
    opens = isGateway ? ListedToken.posts(of: node["gateway"]?.scalar?.string) : bound
    expiresAt = node["expiresAt"]?.scalar?.string
    expired = node["expired"]?.bool ?? false
  }

  private static let everything = "(operator)"

  private static func posts(of observer: String?) -> String {
    observer.map { "adverts of \($0)" } ?? "adverts"
  }
}
