import PharosAccess
import PharosReports
import PharosSigning

/// The keys that observers sign with.
extension Endpoints {
  /// The longest overlap that is taken: what is longer is no rotation.
  private static let longestOverlap = TimeSpan.minutes(366 * 24 * 60)

  var keyRoutes: [Route] {
    [
      Route(.get, "/v1/keys", access: .operation) { _ in
        .json { json in
          json.openObject()
          json.openArray("observers")
          for observer in backend.registrar.keyedObservers { write(observer, to: &json) }
          json.closeArray()
          json.closeObject()
        }
      },
      Route(.get, "/v1/observers/{id}/keys", access: .operation) { request in
        let id = try observer(request)
        guard let observer = backend.registrar.keyedObserver(id) else { throw Endpoints.noKeys(id) }
        return .json { json in write(observer, to: &json) }
      },
      Route(.post, "/v1/observers/{id}/keys", access: .operation, body: .json) { request in
        try await addKey(try observer(request), request)
      },
      Route(.delete, "/v1/observers/{id}/keys", access: .operation) { request in
        let id = try observer(request)
        guard try await backend.registrar.forgetKeys(of: id) else { throw Endpoints.noKeys(id) }
        return .noContent
      },
      Route(.delete, "/v1/observers/{id}/keys/{key}", access: .operation) { request in
        let id = try observer(request)
        let text = request.parameter("key")
        guard let key = ObserverKey.id(text), try await backend.registrar.revokeKey(key, of: id) else {
          throw Problem.notFound("Observer \(id) has no key \"\(text.shortened)\".")
        }
        return .noContent
      },
    ]
  }

  private func addKey(_ observer: ObserverID, _ request: APIRequest) async throws -> APIAnswer {
    var fields = try BodyFields(request.body, emptyIsObject: true)
    let overlap = fields.string("overlap").flatMap { text -> TimeSpan? in
      let span = TimeSpan(written: text)
      if let span, span >= .zero, span <= Endpoints.longestOverlap { return span }
      fields.wrong("overlap", "\"\(text.shortened)\" is none", expected: "a time from 0s to 366d, as 7d")
      return nil
    }
    let names = fields.strings("radios", count: 0...KeyedObserver.mostRadios)
    let radios = names?.enumerated().compactMap { index, name -> ObserverID? in
      if let radio = ObserverID(name) { return radio }
      fields.wrong(
        "radios[\(index)]",
        "is no observer",
        expected: "a MAC, a UUID or a name of at most 64 bytes"
      )
      return nil
    }
    try fields.finish()
    let now = backend.clock()
    let key = try await backend.registrar.addKey(
      for: observer,
      radios: radios,
      overlap: overlap ?? ObserverKeys.overlap,
      at: now
    )
    var answer = APIAnswer.json(status: 201) { json in
      json.openObject()
      json.member("observer", observer.description)
      json.member("id", key.idText)
      json.member("fingerprint", key.fingerprint)
      json.member("createdAt", now.rfc3339)
      json.member("key", key.text)
      json.closeObject()
    }
    // The only time that the secret is shown: nothing on the way may keep it.
    answer.setHeader("Cache-Control", "no-store")
    return answer
  }

  private func write(_ observer: KeyedObserver, to json: inout JSONText) {
    let now = backend.clock()
    json.openObject()
    json.member("observer", observer.id.description)
    json.openArray("radios")
    for radio in observer.radios { json.element(radio.description) }
    json.closeArray()
    json.openArray("keys")
    for entry in observer.keys {
      json.openObject()
      json.member("id", entry.key.idText)
      json.member("fingerprint", entry.key.fingerprint)
      json.member("createdAt", entry.createdAt.rfc3339)
      json.member("expiresAt", ifPresent: entry.expiresAt?.rfc3339)
      json.member("expired", entry.hasExpired(at: now))
      json.closeObject()
    }
    json.closeArray()
    json.closeObject()
  }

  private static func noKeys(_ observer: ObserverID) -> Problem {
    .notFound("Observer \(observer) has no keys, and never had any.")
  }
}
