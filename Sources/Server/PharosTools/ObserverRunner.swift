package import Logging
import PharosDelivery
import PharosDocuments
import PharosHTTP
import PharosJournal
package import PharosModel
import PharosSecurity
import PharosSite
package import PharosTerminal
import Yams

/// `pharos observer`: lets observers in, and gives them keys to sign with, now and after every restart.
package struct ObserverRunner: Sendable {
  private let access: ServerAccess

  /// Makes a runner for a server.
  package init(_ access: ServerAccess) { self.access = access }

  /// Accepts an observer.
  ///
  /// - Parameters:
  ///   - observer: the observer to accept.
  ///   - console: the console that receives the outcome.
  ///   - logger: the logger for registrations that cannot be read.
  /// - Returns: 0, or 1 if it could not be accepted.
  package func accept(_ observer: ObserverID, on console: Console, logger: Logger) async -> CommandStatus {
    await console.run {
      switch access {
      case .folder(let folder, let stream):
        try await stores(folder, stream, logger, creatingOn: console).owner.accept(observer)
      case .http(let url, let token):
        _ = try await ServerClient(url: url, token: token).ask("POST", path(observer, "/accept"))
      }
      try console.print("Observer \(observer) is accepted: what it reports counts from now on.")
      return .success
    }
  }

  /// Accepts an observer, creates a key for it and prints the key, which is not shown again.
  ///
  /// - Parameters:
  ///   - observer: the observer that will sign with the key.
  ///   - radios: the further observers whose records it may send; empty to keep the present ones.
  ///   - overlap: the time for which the observer's older keys stay valid.
  ///   - console: the console; the key goes to its output alone, the explanation to its error stream.
  ///   - logger: the logger for registrations that cannot be read.
  /// - Returns: 0, or 1 if no key was created.
  package func add(
    _ observer: ObserverID,
    radios: [ObserverID],
    overlap: TimeSpan,
    on console: Console,
    logger: Logger
  ) async -> CommandStatus {
    await console.run {
      let text: String
      switch access {
      case .folder(let folder, let stream):
        let key = try await stores(folder, stream, logger, creatingOn: console).keys.add(
          for: observer,
          radios: radios.isEmpty ? nil : radios,
          overlap: overlap,
          at: .wallClock
        )
        text = key.text
      case .http(let url, let token):
        let body = ObserverRunner.document(radios: radios, overlap: overlap)
        let answer = try await ServerClient(url: url, token: token).ask(
          "POST",
          path(observer, "/keys"),
          body: body
        )
        text = try ServerClient.tree(answer)["key"]?.string ?? ""
      }
      let key: ObserverKey
      do throws(KeyError) { key = try ObserverKey(text: text) } catch {
        throw CommandFailure("the server's answer holds no key. Is another program at that address?")
      }
      try console.print(key.text)
      console.say(
        "Key \(key.idText) of observer \(observer), fingerprint \(key.fingerprint). Give it to the gateway; it is not "
          + "shown again. Older keys of the observer stay good for \(overlap.written)."
      )
      return .success
    }
  }

  /// Prints the observers with their keys: fingerprints and validity, never secrets.
  ///
  /// - Returns: 0, or 1 if they cannot be read.
  package func list(on console: Console, logger: Logger) async -> CommandStatus {
    await console.run {
      let keys: [ListedKey]
      switch access {
      case .folder(let folder, let stream):
        keys = try stores(folder, stream, logger).keys.observers.flatMap {
          ListedKey.all(of: $0, at: .wallClock)
        }
      case .http(let url, let token):
        let answer = try await ServerClient(url: url, token: token).ask("GET", "/v1/keys")
        let listed = try ServerClient.tree(answer)["observers"]?.sequence.map(Array.init) ?? []
        keys = listed.flatMap(ListedKey.all(of:))
      }
      guard !keys.isEmpty else {
        console.say("No observer has a key. `pharos observer add ID` makes one.")
        return .success
      }
      try console.print(ListedKey.table.header)
      for key in keys { try console.print(ListedKey.table.line(key.cells)) }
      return .success
    }
  }

  /// Revokes a key: from now on it opens nothing.
  ///
  /// - Returns: 0, or 1 if there is none.
  package func revoke(
    _ keyID: UInt32,
    of observer: ObserverID,
    on console: Console,
    logger: Logger
  ) async -> CommandStatus {
    await console.run {
      let text = Hex.text(UInt64(keyID), bytes: 4)
      switch access {
      case .folder(let folder, let stream):
        guard try await stores(folder, stream, logger).keys.revoke(keyID, of: observer) else {
          throw CommandFailure("Observer \(observer) has no key \(text); `pharos observer list` shows them.")
        }
      case .http(let url, let token):
        _ = try await ServerClient(url: url, token: token).ask("DELETE", path(observer, "/keys/\(text)"))
      }
      try console.print("Key \(text) of observer \(observer) is revoked.")
      return .success
    }
  }

  /// Forgets all keys of an observer, so that it no longer needs to sign.
  ///
  /// - Returns: 0, or 1 if it has none.
  package func forget(_ observer: ObserverID, on console: Console, logger: Logger) async -> CommandStatus {
    await console.run {
      switch access {
      case .folder(let folder, let stream):
        guard try await stores(folder, stream, logger).keys.forget(observer) else {
          throw CommandFailure("Observer \(observer) has no keys; `pharos observer list` shows who has.")
        }
      case .http(let url, let token):
        _ = try await ServerClient(url: url, token: token).ask("DELETE", path(observer, "/keys"))
      }
      try console.print("The keys of observer \(observer) are forgotten: it no longer needs to sign.")
      return .success
    }
  }

  /// Opens the registrations and the keys of a server that does not run.
  private func stores(
    _ folder: String,
    _ stream: String,
    _ logger: Logger,
    creatingOn console: Console? = nil
  ) throws -> (owner: SiteOwner, keys: SigningKeys) {
    let store = try DataFolder.open(folder, stream: stream, creatingOn: console)
    let keys = try ObserverKeys(store: store)
    let owner = try SiteOwner(declared: Site(), store: store, logger: logger)
    return (owner, SigningKeys(keys, owner: owner, server: nil))
  }

  private func path(_ observer: ObserverID, _ rest: String) -> String {
    "/v1/observers/\(PercentCoding.encode(segment: observer.description))\(rest)"
  }

  private static func document(radios: [ObserverID], overlap: TimeSpan) -> [UInt8] {
    let text = JSONText.object { json in
      json.member("overlap", overlap.exactlyWritten)
      if !radios.isEmpty { json.strings("radios", radios.map(\.description)) }
    }
    return Array(text.utf8)
  }
}

/// A key, as the list shows it; an observer whose keys were all revoked has a line without one.
private struct ListedKey {
  static let table = TextTable([
    .text("OBSERVER", 26), .text("KEY", 8), .text("FINGERPRINT", 11), .text("EXPIRES", 16),
  ])

  let cells: [String]

  static func all(of observer: KeyedObserver, at now: Timestamp) -> [ListedKey] {
    let keys = observer.keys.map { entry in
      line(
        observer.id.description,
        entry.key.idText,
        entry.key.fingerprint,
        entry.expiresAt?.rfc3339,
        expired: entry.hasExpired(at: now)
      )
    }
    return keys.isEmpty ? [without(observer.id.description)] : keys
  }

  static func all(of node: Node) -> [ListedKey] {
    guard let observer = node["observer"]?.string else { return [] }
    let keys = (node["keys"]?.sequence.map(Array.init) ?? []).compactMap { key -> ListedKey? in
      guard let id = key["id"]?.scalar?.string, let fingerprint = key["fingerprint"]?.scalar?.string else {
        return nil
      }
      let expiresAt = key["expiresAt"]?.scalar?.string
      return line(observer, id, fingerprint, expiresAt, expired: key["expired"]?.bool ?? false)
    }
    return keys.isEmpty ? [without(observer)] : keys
  }

  private static func line(
    _ observer: String,
    _ id: String,
    _ fingerprint: String,
    _ expiresAt: String?,
    expired: Bool
  ) -> ListedKey {
    let end = expired ? "expired" : expiresAt.map { String($0.prefix(16)) } ?? "never"
    return ListedKey(cells: [observer, id, fingerprint, end])
  }

  private static func without(_ observer: String) -> ListedKey {
    ListedKey(cells: [observer, "-", "-", "no key"])
  }
}
